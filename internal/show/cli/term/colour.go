package term

import (
	"slices"
	"strings"
)

// Colours reports whether a terminal of a kind ($TERM) shows colours, where $NO_COLOR is this: any text in it asks for none.
func Colours(kind, none string) bool { return kind != "dumb" && none == "" }

// red returns a text that stands out. It says nothing that its words do not.
func red(text string) string { return "\x1b[31m" + text + "\x1b[0m" }

// alarming reports whether a cell needs a person: a state that nothing leads out of by itself, or
// requests that were lost.
func alarming(head, cell string) bool {
	switch strings.ToUpper(head) {
	case "STATE":
		return slices.Contains([]string{"stopped", "held", "failed", "incomplete", "judges failed"}, cell)
	case "FAILED", "REJECTED", "ERRORED", "EXPIRED", "LOST", "PAID TWICE":
		return says(cell)
	}
	return false
}
