package term

import (
	"fmt"
	"io"
	"strings"
)

// Screen keeps a few lines at the end of a terminal up to date.
type Screen struct {
	to    io.Writer
	drawn int // lines that are there now
}

// NewScreen draws on a terminal.
func NewScreen(to io.Writer) *Screen { return &Screen{to: to} }

// Draw puts lines where the last ones are. What is printed above them stays; without lines, nothing but that is left.
func (s *Screen) Draw(above, lines []string) error {
	if s.drawn == 0 && len(above)+len(lines) == 0 {
		return nil
	}
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA", s.drawn)
	}
	if len(above) > 0 {
		b.WriteString("\x1b[J") // one that is wider than the terminal goes on in the next line, where a bar may be
	}
	for _, line := range above {
		b.WriteString("\x1b[2K" + line + "\n")
	}
	for _, line := range lines {
		b.WriteString("\x1b[2K" + line + "\n")
	}
	b.WriteString("\x1b[J") // fewer lines than before, or what the terminal echoed
	s.drawn = len(lines)
	_, err := io.WriteString(s.to, b.String())
	return err
}

// Fitting returns the first lines that a terminal of this size has space for, each cut to its width. 0: the usual size.
func Fitting(lines []string, width, height int) []string {
	if width <= 0 {
		width = usualWidth
	}
	if height <= 0 {
		height = usualHeight
	}
	lines = lines[:min(len(lines), max(1, height-1))]
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = clipped(line, width-1) // a full line would wrap on some terminals
	}
	return out
}
