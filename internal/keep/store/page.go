package store

import (
	"errors"
	"time"

	"assay/internal/assay"
)

// Attention lists the parts of a run that a person may have to look at, and its jobs.
type Attention struct {
	Held          int64 // segments and lanes that wait for a person
	Stopped       int64 // lanes that a provider, or a person, stopped
	Segments      int64
	Cost          assay.Cost // so far, without what was imported
	CollectBefore time.Time  // the earliest of what has not been collected; zero: nothing waits
	Owed          int64      // settled segments whose provider's list of jobs is to be read once more
	OwedFrom      time.Time  // when the first of them is due
}

// Pulse reports whether a process drives a run.
type Pulse struct {
	Holder string    // who works on it right now; empty: no process
	Due    time.Time // when the next thing is due; zero: nothing is
}

// AnswerFilter narrows a page of answers; what is empty does not.
type AnswerFilter struct {
	Stage, Lane, Item string
	Ending            assay.Ending
	Open              bool // only those without an outcome; not together with an ending
}

// Mark is a place in the order in which requests were sent. A page begins after one; the zero mark is before all.
type Mark struct{ Segment, Ord int64 }

// JobFilter narrows a list of jobs; what is empty does not.
type JobFilter struct {
	Run      int64
	Study    string
	Provider string
	Job      string // the provider's id
	Open     bool   // only those whose results are still to come
	Ended    bool   // only the others
}

// RunJob is a job with the segment it was made for and its run.
type RunJob struct {
	Job
	Part Segment
	Run  Run
}

// Open reports whether results of the job are still to come.
func (j RunJob) Open() bool { return j.Role == JobCurrent && !j.Part.State.Terminal() }

// VerdictFilter narrows a page of verdicts. Stage, lane and pairs are found by an index; the database looks at label, state and item of
// every verdict that is left, and Keep at those that pass.
type VerdictFilter struct {
	Stage string
	Lane  string              // whose answer; empty: any
	Pairs [][2]string         // which pairs of lanes, as they are shown; empty: any
	Label string              // empty: any
	State string              // empty: any
	Says  string              // the label, or the state of one without a label; empty: any
	Item  string              // empty: any
	Keep  func(*Verdict) bool // nil: all
}

// VerdictsPage is a few verdicts, and where to go on.
type VerdictsPage struct {
	Verdicts []Verdict
	Next     int64 // the page after this one begins after this verdict; 0: there is none
	Seen     int   // verdicts looked at
}

// ErrNoQuery is the error for a text that is no query.
var ErrNoQuery = errors.New("only queries are taken: SELECT, WITH, VALUES, EXPLAIN")
