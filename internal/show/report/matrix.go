package report

import (
	"slices"
	"unicode/utf8"

	"assay/internal/assay"
)

// Matrix is a run at a glance: items by lanes, in each cell the verdict. Heads and cells lead further.
type Matrix struct {
	Caption string
	Item    MatrixHead // of the first column
	Lanes   []MatrixHead
	Rows    []MatrixRow
	Texts   bool     // cells show answers, not only signs
	Legend  []string // what the signs mean
	Notes   []string
}

// upright is how many letters the heads of lanes may have together to be written horizontally; longer ones are written
// vertically.
const upright = 90

// OnEnd reports whether the heads of the lanes are written vertically: side by side they would break into many short
// lines.
func (m *Matrix) OnEnd() bool {
	n := 0
	for _, l := range m.Lanes {
		n += max(4, utf8.RuneCountInString(l.Name))
	}
	return n > upright
}

// Item is one item of the matrix with what was asked, answered and judged. Texts are short; what is left out is
// counted.
type Item struct {
	ID       string // its anchor
	Name     string
	Question string
	Shown    []Picture
	Lanes    []ItemLane
	Screen   bool // it is left out on paper
}

// ItemLane holds one lane's answers to an item.
type ItemLane struct {
	ID      string // its anchor
	Name    string
	Cell    MatrixCell
	Answers []ItemAnswer
	More    int // answers that are left out
}

// All returns how many answers there are.
func (l ItemLane) All() int { return len(l.Answers) + l.More }

// ItemAnswer is an answer with the verdicts on it.
type ItemAnswer struct {
	Place    string // turn, branch, draw
	Text     string
	Calls    []assay.ToolCall // of tools, behind the text
	Ending   string           // where the answer is not a whole one
	Verdicts []ItemVerdict
	More     int // verdicts that are left out
}

// Last reports whether what was left out is to be named after a verdict.
func (a ItemAnswer) Last(i int) bool { return a.More > 0 && i == len(a.Verdicts)-1 }

// ItemVerdict is the verdict of a judge of a stage.
type ItemVerdict struct {
	Stage string
	Verdict
}

// MatrixHead is the head of a column. What a lane has no number for is empty.
type MatrixHead struct {
	Name    string
	Link    string // sorts by it; empty: nothing does
	Sort    string // ascending or descending, where the rows are sorted by it
	Value   string // what the stage measured of the lane
	Between string // the interval of it
	Cost    string // of 1,000 answers
}

// Rank puts the columns in the order of some heads, and takes their numbers. Lanes without a head stay behind them, as they were.
func (m *Matrix) Rank(heads []MatrixHead) {
	place := map[string]int{}
	for i, h := range heads {
		place[h.Name] = i
	}
	at := func(column int) int {
		if i, ok := place[m.Lanes[column].Name]; ok {
			return i
		}
		return len(heads)
	}
	order := make([]int, len(m.Lanes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return at(a) - at(b) })
	lanes := make([]MatrixHead, len(order))
	for i, column := range order {
		lanes[i] = m.Lanes[column]
		if k := at(column); k < len(heads) {
			lanes[i].Value, lanes[i].Between, lanes[i].Cost = heads[k].Value, heads[k].Between, heads[k].Cost
		}
	}
	for r := range m.Rows {
		cells := make([]MatrixCell, len(order))
		for i, column := range order {
			cells[i] = m.Rows[r].Cells[column]
		}
		m.Rows[r].Cells = cells
	}
	m.Lanes = lanes
}

// longHead is how many letters of a name a head shows.
const longHead = 26

// Short returns the name with its middle left out where it is long: names of lanes often differ in their ends alone.
func (h MatrixHead) Short() string {
	r := []rune(h.Name)
	if len(r) <= longHead {
		return h.Name
	}
	return string(r[:longHead/2]) + "…" + string(r[len(r)-longHead/2:])
}

// MatrixRow is one item.
type MatrixRow struct {
	Item  string
	Says  string // the first words of the question; empty: they are not shown
	Link  string
	Cells []MatrixCell
	Is    []string // what is to be seen of it, in words
}

// MatrixPick is a label that the reader may give a cell.
type MatrixPick struct {
	Value string // of its button
	Text  string
	On    bool // the reader gave it
}

// MatrixCell is the verdict on one lane's answer. Shade means the same as the sign.
type MatrixCell struct {
	Shade string // h0, the worse end, to h10; empty: none
	Sign  string
	Flips string // one sign for each place at which an answer may have been taken back
	Also  string // signs for judges that are split, and for answers that were cut or refused
	Tip   string // all of it in words
	Link  string
	Text  string // the first lines of the answer, where texts are shown
	Key   string // of the answer, where it can be labelled or has comments
	Picks []MatrixPick
	Notes int         // comments on it
	Was   *MatrixCell // in the run before; nil: one run is shown
	Worse bool        // than it was
}
