// Package grid shows a run item by item: a row for each item, a column for each lane, and in each cell what judges
// gave.
package grid

import (
	"iter"
	"slices"

	"assay/internal/assay"
)

// Matrix is a run at a glance: a row for each item, a column for each lane, and in each cell the verdicts of one stage.
// It is made once and kept as bytes, in a file where there are many, so that memory does not grow with the run. It is
// safe for concurrent use.
type Matrix struct {
	Stage  string   // whose verdicts are shown; of a stage without judges, how its answers ended
	Source string   // the stage whose answers these are
	Judged bool     // false: nothing was judged, cells hold endings
	Pairs  bool     // verdicts are about pairs of lanes: a cell is how many a lane won
	Scored bool     // verdicts have a better and a worse end
	Flips  []string // stages that judge whether an answer was taken back
	Stages []string // that a matrix can be made of
	Lanes  []string // the columns
	Rows   int
	Counts map[Kind]int // rows of each kind
	// Unshown is how many places at which an answer may have been taken back cells do not show; kinds of rows count
	// them.
	Unshown int

	ranged      bool // scores are shown as they are, from low to high
	low, high   float64
	best, worst string // labels

	Input     string
	Answers   []string         // the stages whose answers were judged
	Later     []string         // the stages whose answers may take those back
	flipScale map[string]scale // by the stages in Flips
	labels    []string
	marks     []markOf
	order     []int // of marks, as they are shown
	bytes     *spool
}

// markOf is a place of a conversation at which an answer may have been taken back.
type markOf struct {
	turn   int
	branch string
}

// Kind is a class of rows; a row may be of several.
type Kind uint16

// The kinds of rows.
const (
	Disagree Kind = 1 << iota // lanes were judged differently
	AllWrong                  // every lane that was judged is in the worse half
	Flipped                   // a lane took an answer back
	Split                     // judges of one answer do not agree
	Refused                   // an answer was refused
	Cut                       // an answer was cut short
	Unjudged                  // a lane has no verdict yet
)

// KindName is a kind and what it is called in addresses and on chips.
type KindName struct {
	Kind       Kind
	Name, Says string
}

// Kinds lists the kinds of rows.
func Kinds() []KindName {
	return []KindName{
		{Disagree, "disagree", "models disagree"}, {AllWrong, "all-wrong", "all wrong"}, {Flipped, "flipped", "flipped"},
		{Split, "split", "judges split"}, {Refused, "refused", "refused"}, {Cut, "cut", "cut"}, {Unjudged, "unjudged", "not judged"},
	}
}

// Row is one item.
type Row struct {
	Item  string
	Ord   int64 // in the input
	Is    Kind
	Cells []Cell // one for each lane
}

// Cell is the state of one item in one lane.
type Cell struct {
	Value   *float64     // from 0, the worse end, to 1; nil: there is none
	Label   string       // the majority's label; empty: none
	N       int          // verdicts that count, at most 255
	Invalid bool         // there are verdicts, and none counts
	Split   bool         // judges of one answer do not agree
	Ending  assay.Ending // refused or cut, where an answer was; of a stage without judges, how it ended
	Flips   []Flip       // one for each place at which an answer may have been taken back
	Flipped bool         // it was at any place, shown or not
}

// Flip is whether an answer was taken back.
type Flip uint8

// What is known of it.
const (
	NotAsked Flip = iota
	Kept
	TakenBack
)

// Marks returns the places of a conversation, in the order of every cell's flips.
func (m *Matrix) Marks() []string {
	var out []string
	for _, i := range m.order {
		name := "turn " + assay.Thousands(m.marks[i].turn)
		if b := m.marks[i].branch; b != "" {
			name = b + ", " + name
		}
		out = append(out, name)
	}
	return out
}

// All walks over the rows, ids in the order of their bytes.
func (m *Matrix) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for raw, err := range m.bytes.records() {
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !yield(m.decode(raw), nil) {
				return
			}
		}
	}
}

// Column returns the number of a lane's column; -1: there is none.
func (m *Matrix) Column(lane string) int { return slices.Index(m.Lanes, lane) }
