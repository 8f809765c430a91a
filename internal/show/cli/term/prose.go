package term

import (
	"bytes"
	"io"
	"strings"
)

// Prose is a writer of sentences for a terminal: lines that are too wide are broken between words. What steers the terminal passes as
// it is, and so do commands to copy, which begin with four spaces.
type Prose struct {
	To      io.Writer
	Columns func() int // how wide it is now; 0: as wide as lines are
}

// Write passes lines on.
func (p *Prose) Write(text []byte) (int, error) {
	out := text
	if width := p.Columns(); width > 0 && !bytes.ContainsAny(text, "\x1b\r") {
		out = []byte(Broken(string(text), width))
	}
	if _, err := p.To.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// toCopy is what a command to copy begins with.
const toCopy = "    "

// Broken returns lines of which none is wider than so many columns, broken between words; 0: as they are. What is left of a line stands
// two columns to the right of it. Commands to copy stay whole.
func Broken(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, toCopy) {
			b.WriteString(line)
			continue
		}
		line, ended := strings.CutSuffix(line, "\n")
		b.WriteString(Wrapped(line, width, leading(line)+"  "))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// leading returns the spaces that a line begins with.
func leading(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

// Folded returns the help of a command for so many columns; 0: as it is. Lines of a paragraph are joined and broken anew; what explains
// a flag or a command stays in its column.
func Folded(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			b.WriteString(Wrapped(paragraph, width, "") + "\n")
			paragraph = ""
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, " "):
			flush()
			b.WriteString(Wrapped(line, width, strings.Repeat(" ", min(hang(line), width/2))) + "\n")
			continue
		case paragraph == "":
			paragraph = line
		default:
			paragraph += " " + line
		}
		if strings.HasSuffix(line, ":") {
			flush()
		}
	}
	flush()
	return b.String()
}

// hang returns the column in which the explanation of an indented line begins, behind two or more spaces; else where the line does.
func hang(line string) int {
	lead := len(leading(line))
	if gap := strings.LastIndex(line, "   "); gap > lead {
		return gap + 3
	}
	if gap := strings.Index(line[lead:], "  "); gap > 0 {
		return lead + gap + 2
	}
	return lead + min(lead, 2)
}
