package words

// manyRows is from how many rows on they are drawn close to each other.
const manyRows = 20

// Dense reports whether there are so many rows that each has one line.
func (b *Board) Dense() bool { return len(b.Rows) > manyRows }

// Drawn reports whether the first column is drawn.
func (b *Board) Drawn() bool { return len(b.Columns) > 0 && len(b.Columns[0].Axis) > 0 }

// Leads returns how many columns stand before what is drawn.
func (b *Board) Leads() int {
	if b.Tiers {
		return b.Brackets + 2
	}
	return 1
}

// Trails returns how many columns of the picture stand behind what is drawn.
func (b *Board) Trails() int {
	n := 1
	for _, there := range []bool{b.Columns[0].Corrected, b.Costs} {
		if there {
			n++
		}
	}
	return n
}

// Multiple is one more stage, drawn small.
type Multiple struct {
	BoardColumn
	Rows []MultipleRow
	More int // rows that are left out
}

// MultipleRow is a lane in one more stage.
type MultipleRow struct {
	Name string
	Cell BoardCell
}

// maxMultiple is how many rows a small drawing has.
const maxMultiple = 15

// Multiples returns the further columns, each as a small drawing in the order of the board.
func (b *Board) Multiples() []Multiple {
	var out []Multiple
	for i, c := range b.Columns[1:] {
		m := Multiple{BoardColumn: c}
		for _, r := range b.Rows {
			if cell := r.Cells[i+1]; !cell.None {
				m.Rows = append(m.Rows, MultipleRow{r.Name, cell})
			}
		}
		if m.More = len(m.Rows) - maxMultiple; m.More > 0 {
			m.Rows = m.Rows[:maxMultiple]
		}
		out = append(out, m)
	}
	return out
}
