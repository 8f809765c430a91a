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
