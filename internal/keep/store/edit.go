package store

import (
	"errors"
	"iter"
	"time"

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

// Revision is a study that was changed after its run began: in what its requests do not depend on, by what it adds to them, or in
// what they ask.
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

// More is what a run asks besides, or in the place of what it asked before.
type More struct {
	Lanes []Lane // all of the plan, with what they are planned to ask now
	Items []MoreItems

	Edited     []EditedItem // items that are others by now
	Supersedes *Superseding // what is asked and read anew; nil: nothing
}

// EditedItem is an item of an input that keeps its id and its place.
type EditedItem struct {
	Input string
	Item  assay.Item
}

// MoreItems are items of one input, from a place on.
type MoreItems struct {
	Input string
	From  int64 // the place of the first, from 0
	Items iter.Seq2[assay.Item, error]
}

// ErrInFlight says that a request is in flight: what is asked in its place is decided when it has come back.
var ErrInFlight = errors.New("it is in flight")

// Superseding is what an edit of the study changes of what a run has asked and read.
type Superseding struct {
	Requests []assay.Key // asked again, as other requests under the same keys
	Verdicts []assay.Key // given again; those on answers to the requests are so anyway
	Subjects []assay.Key // besides answers: all verdicts on these are given again
	Stages   []string    // all verdicts of these are given again, but for those of people
}

// SupersededAnswer is an answer that stood until an edit of the study.
type SupersededAnswer struct {
	Answer
	Edit  int64     // its number
	What  string    // changed, in words
	Since time.Time // when
}

// Edit is an edit of the study after which requests of a run were asked again.
type Edit struct {
	Number   int64
	What     string // changed, in words
	At       time.Time
	Requests int64 // that it superseded
	Verdicts int64
}
