// Package term turns values into the text of a terminal: tables, bars, lines that are drawn in place, and what it reads there.
// It knows no ledger and no study.
package term

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Table is rows of text under a head.
type Table struct {
	Head  []string
	Right map[int]bool // columns of numbers stand to the right
	Least map[int]int  // how narrow a column may become, where that is more than usual: names to type again
	Spare []string     // columns that go first where the table is too wide, in this order
	rows  [][]string
}

// maxCell is how many bytes of a value a table shows.
const maxCell = 200

// Add appends a row.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = assay.Clean(fmt.Sprint(c), maxCell)
	}
	t.rows = append(t.rows, row)
}

// Len returns how many rows there are.
func (t *Table) Len() int { return len(t.rows) }

// Compact returns the table without those of the named columns that are empty in every row.
func (t *Table) Compact(names ...string) *Table {
	return t.without(func(i int) bool {
		return slices.Contains(names, t.Head[i]) && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" })
	})
}

// Write prints the table with aligned columns. On a [Glass] it is as wide as fits.
func (t *Table) Write(w io.Writer) error {
	g, _ := w.(Glass)
	t, left := t.fitted(g.columns())
	width := t.widths()
	var b strings.Builder
	for n, row := range append([][]string{t.Head}, t.rows...) {
		var line strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-textWidth(c))
			if g.Colour && n > 0 && alarming(t.Head[i], c) {
				c = red(c)
			}
			if i > 0 {
				line.WriteString(strings.Repeat(" ", gap))
			}
			if t.Right[i] {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String()+leftOut(left, g.columns()))
	return err
}

// WriteJSON prints a value for programs.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
