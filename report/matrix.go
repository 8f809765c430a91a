package report

// Matrix is a run at a glance: items by lanes, in each cell the verdict. Heads and cells lead further.
type Matrix struct {
	Caption string
	Item    MatrixHead // of the first column
	Lanes   []MatrixHead
	Rows    []MatrixRow
	Legend  []string // what the signs mean
	Notes   []string
}

// MatrixHead is the head of a column.
type MatrixHead struct {
	Name string
	Link string // sorts by it; empty: nothing does
	Sort string // ascending or descending, where the rows are sorted by it
}

// MatrixRow is one item.
type MatrixRow struct {
	Item  string
	Link  string
	Cells []MatrixCell
	Is    []string // what is to be seen of it, in words
}

// MatrixCell is the verdict on one lane's answer. Shade says the same as the sign does.
type MatrixCell struct {
	Shade string // h0, the worse end, to h10; empty: none
	Sign  string
	Flips string // one sign for each place at which an answer may have been taken back
	Also  string // signs for judges that are split, and for answers that were cut or refused
	Tip   string // all of it in words
	Link  string
	Was   *MatrixCell // in the run before; nil: one run is shown
	Worse bool        // than it was
}
