package analysis

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/assay"
)

// Style holds the formatting features of a text, whatever its content.
type Style struct {
	Known    bool  // it was read
	Length   int32 // characters, markup left out
	Headings int32
	Bold     int32 // passages
	Lists    int32 // items of lists
	Code     int32 // blocks
}

// Controls are the features of style that an analysis takes out, as a set.
type Controls uint8

// The features.
const (
	ControlLength Controls = 1 << iota
	ControlMarkdown
	ControlLists
	ControlHeadings
	ControlBold
	ControlCode
)

// Feature is one feature by its name.
type Feature struct {
	Name  string
	Bit   Controls
	Count func(*Style) int32
}

// controls lists the features.
func controls() []Feature {
	return []Feature{
		{"length", ControlLength, func(s *Style) int32 { return s.Length }},
		{"markdown", ControlMarkdown, func(s *Style) int32 { return s.Headings + s.Bold + s.Code }},
		{"lists", ControlLists, func(s *Style) int32 { return s.Lists }},
		{"headings", ControlHeadings, func(s *Style) int32 { return s.Headings }},
		{"bold", ControlBold, func(s *Style) int32 { return s.Bold }},
		{"code", ControlCode, func(s *Style) int32 { return s.Code }},
	}
}

// ParseControls reads the names of features.
func ParseControls(names []string) (Controls, error) {
	var out Controls
	var known []string
	for _, c := range controls() {
		known = append(known, c.Name)
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return 0, fmt.Errorf("control: no feature of style is called %q (%s)", name, assay.Choices(name, known))
		}
		out |= controls()[i].Bit
	}
	if out&ControlMarkdown != 0 && out&(ControlHeadings|ControlBold|ControlCode) != 0 {
		return 0, fmt.Errorf("control: markdown is headings, bold and code together: name it, or them")
	}
	return out, nil
}

// Features returns the features of a set, in their order.
func (c Controls) Features() []Feature {
	return slices.DeleteFunc(controls(), func(f Feature) bool { return c&f.Bit == 0 })
}

// StyleOf counts what a text looks like. Markup is Markdown's: headings with #, bold between two stars or underscores,
// list items, and blocks of code between fences.
func StyleOf(text string) Style {
	s := Style{Known: true}
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " \t")
		mark := fenceOf(bare)
		switch {
		case fence != "" && strings.HasPrefix(bare, fence):
			fence = ""
			continue
		case fence != "":
			s.Length += int32(utf8.RuneCountInString(line))
			continue
		case mark != "":
			fence = mark
			s.Code++
			continue
		}
		if rest, ok := headingOf(bare); ok {
			s.Headings++
			bare = rest
		} else if rest, ok := listed(bare); ok {
			s.Lists++
			bare = rest
		}
		n := boldIn(bare)
		s.Bold += n
		s.Length += int32(utf8.RuneCountInString(strings.TrimLeft(bare, " \t"))) - 4*n
	}
	return s
}

// fenceOf returns the mark with which a block of code begins; empty: the line begins none.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// headingOf returns the text of a heading.
func headingOf(line string) (string, bool) {
	rest := strings.TrimLeft(line, "#")
	marks := len(line) - len(rest)
	return rest, marks >= 1 && marks <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// listed returns the text of an item of a list.
func listed(line string) (string, bool) {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	marked := digits > 0 && digits < 10 && len(line) > digits && (line[digits] == '.' || line[digits] == ')')
	if !marked {
		digits = 0
		marked = line != "" && strings.ContainsRune("-*+•", rune(line[0]))
		if rest, ok := strings.CutPrefix(line, "•"); ok {
			return rest, rest != "" && rest[0] == ' '
		}
	}
	if !marked || len(line) < digits+2 || line[digits+1] != ' ' && line[digits+1] != '\t' {
		return line, false
	}
	return line[digits+1:], true
}

// boldIn counts the bold passages of a line.
func boldIn(line string) int32 {
	n := int32(0)
	for _, mark := range []string{"**", "__"} {
		rest := line
		for {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			inside, last, ok := strings.Cut(after, mark)
			if !ok {
				break
			}
			if strings.TrimSpace(inside) != "" {
				n++
			}
			rest = last
		}
	}
	return n
}
