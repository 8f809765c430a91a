package store

import (
	"iter"

	"assay/internal/assay"
)

// Extension is a purchase for a stage beyond its plan: comparisons, with the interim analysis that decides so.
type Extension struct {
	Run    int64
	Look   Look
	Adds   []Share      // to the plan, by lane
	Budget *assay.Money // least budget of the run, if it has one; nil: unchanged
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
	Budget   *NewBudget        // nil: unchanged
	What     string            // changed, in words
	More     *More             // what the run asks besides from now on; nil: nothing
	Lease    Lease             // of the run, where it asks more
}

// NewBudget replaces a budget of a run by another; nil: no limit. One that is not Was any more is left alone.
type NewBudget struct{ Was, Is *assay.Money }

// More is the set of further requests of a run.
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
