package store

import (
	"iter"

	"assay/internal/assay"
)

// Extension is what a person buys for a stage beyond its plan: comparisons, with the look that decides so.
type Extension struct {
	Run    int64
	Look   Look
	Adds   []Share      // to the plan, by lane
	Budget *assay.Money // what the run may spend at least, where it has a budget; nil: as it is
	What   string       // in words
	Lease  Lease        // of the run
}

// Revision is a study that was changed after its run began: in what its requests do not depend on, or by what it adds to them.
type Revision struct {
	Run      int64
	Was, Is  string            // digests of the study, before and now
	Settings string            // JSON, as in NewRun
	Parts    map[string][]byte // of the snapshot, by name: those that are new or others
	Gone     []string          // names of parts that are no longer
	Labels   map[string]string // of lanes, by their names
	Budget   *NewBudget        // nil leaves it as it is
	What     string            // changed, in words
	More     *More             // what the run asks besides from now on; nil: nothing
	Lease    Lease             // of the run, where it asks more
}

// NewBudget is what a run may spend from now on, where it might spend so much before; nil: anything. One that was changed meanwhile
// stays as it is.
type NewBudget struct{ Was, Is *assay.Money }

// More is what a run asks besides.
type More struct {
	Lanes []Lane // all of the plan, with what they are planned to ask now
	Items []MoreItems
}

// MoreItems are items of one input, from a place on.
type MoreItems struct {
	Input string
	From  int64 // the place of the first, from 0
	Items iter.Seq2[assay.Item, error]
}
