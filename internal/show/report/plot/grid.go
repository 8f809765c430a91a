package plot

import "slices"

// Grid is a table of text.
type Grid struct {
	Caption   string
	Head      []Column
	Rows      [][]Cell
	Footnotes []Footnote
	Notes     []string
}

// Footnote is the note of the cells with its mark.
type Footnote struct{ Mark, Text string }

// Column is the head of a column.
type Column struct {
	Text    string
	Number  bool // aligned to the right
	Wide    bool // prose
	Foreign bool
}

// Cell is one place of a grid.
type Cell struct {
	Text    string
	Link    string
	Soft    bool // less ink: unknown, nothing, zero
	Strong  bool
	Foreign bool // words that others wrote
	Tip     string
	Marks   []string // of footnotes
}

// Number returns a cell that holds a number.
func Number(text string) Cell {
	return Cell{Text: text, Soft: text == "0" || text == NoneText || text == UnknownText}
}

// Foreign returns a cell with words that are not the program's own.
func Foreign(text string) Cell { return Cell{Text: text, Foreign: true} }

// Trimmed leaves out the columns in which no row has anything.
func (g *Grid) Trimmed() *Grid {
	for i := len(g.Head) - 1; i >= 0; i-- {
		if slices.ContainsFunc(g.Rows, func(row []Cell) bool { return row[i].Text != "" || len(row[i].Marks) > 0 }) {
			continue
		}
		g.Head = slices.Delete(g.Head, i, i+1)
		for k, row := range g.Rows {
			g.Rows[k] = slices.Delete(row, i, i+1)
		}
	}
	return g
}
