package store

import (
	"bytes"
	"time"

	"assay/internal/assay"
)

// ItemFact is one thing that the ledger knows about an item: its place among the items, a verdict on it, or how an answer ended.
type ItemFact struct {
	Item    string
	Ord     int64        // in its input; -1: the fact is another
	Verdict *Verdict     // as VerdictRows has it; nil: the fact is another
	Lane    string       // that answered
	Ending  assay.Ending // of its answer; empty: the fact is another
}

// FactsAsked selects the facts of a run to walk over.
type FactsAsked struct {
	Input   string   // whose items
	Judging []string // stages whose verdicts
	Asking  []string // stages whose answers
	Whole   bool     // answers that are whole too, not only those that were cut or refused
}

// FirstAnswer is the beginning of a lane's first answer to an item.
type FirstAnswer struct {
	Key        assay.Key
	Item, Lane string
	Text       string
	Ending     assay.Ending
}

// Decision is the decision of a condition of a run.
type Decision struct {
	Run       int64
	Stage     string
	Lane      string // empty: the stage as a whole
	Condition string
	Passed    bool
	Why       string // the numbers that opened or closed it
	Given     time.Time
}

// TakenLabel is a person's label that is taken over from another run.
type TakenLabel struct {
	Verdict Verdict
	Others  []assay.Key // under which the same person may have labelled the same
}

// Look is the result of an interim analysis: what was found after a round of a stage that buys its pairs in rounds, and
// the decision.
type Look struct {
	Run     int64
	Stage   string
	Number  int     // from 1
	Planned int     // looks in all
	Level   float64 // the error that it might spend
	Bought  int     // comparisons until it
	Found   string  // strengths, claims and what is given up, as JSON
	Next    string  // the comparisons of the next round, as JSON; empty: there is none
	Stop    Stop
	Given   time.Time
}

// Stop is why there is no further round.
type Stop string

// The reasons.
const (
	StopNone      Stop = ""
	StopSettled   Stop = "settled"   // all that bears on the goal is known
	StopHopeless  Stop = "hopeless"  // what is not known is not worth the rest of the rounds
	StopBudget    Stop = "budget"    // the money of the rounds is spent
	StopRounds    Stop = "rounds"    // the rounds are used up
	StopExhausted Stop = "exhausted" // there is nothing left to compare
	StopBought    Stop = "bought"    // what was bought to settle a pair did not
)

// Words returns a reason in words, as the end of a sentence.
func (s Stop) Words() string {
	switch s {
	case StopSettled:
		return "the goal is settled"
	case StopHopeless:
		return "the rest of its rounds would hardly settle what is open"
	case StopBudget:
		return "its budget is spent"
	case StopRounds:
		return "its rounds are used up"
	case StopExhausted:
		return "there is nothing left to compare"
	case StopBought:
		return "what was bought to settle a pair did not settle it"
	}
	return "it goes on"
}

// Verdict is a judge's reading of an answer or a pair.
type Verdict struct {
	No        int64
	Run       int64
	At        assay.Coordinates // of the judge's request, or of the person's label
	Direction string            // which of a pair was first
	Subject   assay.Key
	Against   assay.Key // the other answer of a pair; zero: none
	State     assay.VerdictState
	Label     string // with a valid verdict: a label, a score, or both
	Score     *float64
	Reason    string
	Fields    string // JSON: what else the rubric asked for
	Segment   int64  // of the attempt the verdict was read from; 0: no model gave it
	Ord       int64
	Again     int    // how often the same was asked before: the verdict took the place of those
	By        string // the lane that gave it in the judge's place; empty: the judge
	Stale     bool   // the answer was replaced since

	Given time.Time
}

// Task holds what a verdict is about, whichever way round a pair was shown.
type Task struct {
	low, high assay.Key
	trait     string
}

// Answers returns the answers that the verdict is about: one, or the two of a pair; none of a pair of items.
func (v *Verdict) Answers() []assay.Ref {
	var refs []assay.Ref
	for _, key := range []assay.Key{v.Subject, v.Against} {
		if key != (assay.Key{}) {
			refs = append(refs, assay.Ref{Item: v.At.Item, Key: key})
		}
	}
	return refs
}

// Task returns what the verdict is about.
func (v *Verdict) Task() Task {
	t := Task{v.Subject, v.Against, v.At.Trait}
	if v.Against != (assay.Key{}) && bytes.Compare(t.low[:], t.high[:]) > 0 {
		t.low, t.high = t.high, t.low
	}
	return t
}

// Subjects selects whether a walk over verdicts reads the answers they are about.
type Subjects uint8

// The two.
const (
	WithoutSubjects Subjects = iota
	WithSubjects
)
