package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Glass is a writer that a person looks at: tables written to it fit its width.
type Glass struct {
	io.Writer
	Columns func() int // how wide it is now; 0: not known, or all is to be shown
	Colour  bool       // what a reader has to look after stands out
}

// columns returns how wide a table may be; 0: as wide as it is.
func (g Glass) columns() int {
	if g.Columns == nil {
		return 0
	}
	return g.Columns()
}

// shortest is how far a text is cut; gap is put between columns.
const (
	shortest = 12
	gap      = 2
)

// fitted returns the table for a width, and the heads of the columns that it had to leave out. Columns that say nothing
// in any row go first, then long texts are cut, then columns go: those that can be spared, then from the right.
func (t *Table) fitted(width int) (*Table, []string) {
	if width <= 0 || t.wide() <= width {
		return t, nil
	}
	out := t.without(func(i int) bool {
		return i > 0 && !slices.ContainsFunc(t.rows, func(row []string) bool { return says(row[i]) })
	})
	if out.wide() <= width {
		return out, nil
	}
	out, left := out.narrowed(width)
	out.shrink(width)
	return out, left
}

// narrowed leaves out as many columns as it has to.
func (t *Table) narrowed(width int) (out *Table, left []string) {
	out = t
	drop := func(i int) {
		left = append(left, out.Head[i])
		out = out.without(func(k int) bool { return k == i })
	}
	for _, name := range t.Spare {
		if i := slices.Index(out.Head, name); i > 0 && out.least() > width {
			drop(i)
		}
	}
	for len(out.Head) > 2 && out.least() > width {
		drop(len(out.Head) - 1)
	}
	slices.SortFunc(left, func(a, b string) int { return slices.Index(t.Head, a) - slices.Index(t.Head, b) })
	return out, left
}

// least returns how wide the table is with its texts cut as far as they can be.
func (t *Table) least() int {
	sum := gap * (len(t.Head) - 1)
	for i, w := range t.widths() {
		sum += min(w, t.leastOf(i))
	}
	return sum
}

// leastOf returns how narrow a column can be.
func (t *Table) leastOf(i int) int {
	if t.Right[i] {
		return t.widths()[i]
	}
	return max(shortest, textWidth(t.Head[i]), t.Least[i])
}

// says reports whether a cell has something to say.
func says(cell string) bool { return strings.Trim(cell, "0.$–") != "" }

// without returns the table without some columns.
func (t *Table) without(gone func(i int) bool) *Table {
	out := &Table{Right: map[int]bool{}, Least: map[int]int{}, Spare: t.Spare, rows: make([][]string, len(t.rows))}
	for i, name := range t.Head {
		if gone(i) {
			continue
		}
		out.Right[len(out.Head)], out.Least[len(out.Head)] = t.Right[i], t.Least[i]
		out.Head = append(out.Head, name)
		for k, row := range t.rows {
			out.rows[k] = append(out.rows[k], row[i])
		}
	}
	return out
}

// widths returns how wide the columns are.
func (t *Table) widths() []int {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.rows...) {
		for i, c := range row {
			width[i] = max(width[i], textWidth(c))
		}
	}
	return width
}

// wide returns how wide the table is.
func (t *Table) wide() int {
	sum := gap * (len(t.Head) - 1)
	for _, w := range t.widths() {
		sum += w
	}
	return sum
}

// shrink cuts the longest texts, column by column, as far as that is needed and they can be.
func (t *Table) shrink(width int) {
	w := t.widths()
	over := t.wide() - width
	for over > 0 {
		longest := -1
		for i := range w {
			if !t.Right[i] && w[i] > t.leastOf(i) && (longest < 0 || w[i] > w[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			break
		}
		w[longest]--
		over--
	}
	for _, row := range t.rows {
		for i := range row {
			row[i] = shortened(row[i], w[i])
		}
	}
}

// leftOut returns which columns are not there.
func leftOut(names []string, width int) string {
	if len(names) == 0 {
		return ""
	}
	return Wrapped(fmt.Sprintf("(left out at this width: %s; --wide prints all)", strings.Join(names, ", ")), width, " ") + "\n"
}
