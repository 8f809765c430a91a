// Package again lists what is asked again in a run. What a judge was asked in vain may be asked again: of the same judge after a malformed
// verdict (second_try), of another lane in its place (fallback), and of the judge once more for every retry that a person orders after
// the run. Each is a request of its own, in a group of its own. Its verdict takes the place of the one before. A redo asks for one more
// draw or vote.
package again

import (
	"slices"
	"strings"
	"sync"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study"
)

// How often the same was asked before, by what it is asked again for.
const (
	FirstAsked = iota
	SecondTry
	Fallback
	FirstRetry // and so on: the retries of a run
)

// Retry is a retry of verdicts that a person ordered: which of them are asked for again.
type Retry struct {
	Verdicts []string `json:"verdicts"`
}

// What a retry of verdicts may ask for again.
const (
	RetryMalformed = "malformed" // nothing could be read from the reply
	RetryRefused   = "refused"   // the judge, or the provider's filter, declined
)

// Retriable lists what a retry of verdicts may ask for again.
func Retriable() []string { return []string{RetryMalformed, RetryRefused} }

// Asks reports whether the retry asks for a verdict again. Whether a judge refused is known by the ending of its reply, which is among the
// answers to some requests.
func (r Retry) Asks(v store.Verdict, sent map[assay.Key]store.Answer) bool {
	switch {
	case v.Segment == 0:
		return false // no model gave it
	case v.State == assay.VerdictMalformed:
		return slices.Contains(r.Verdicts, RetryMalformed)
	case v.State == assay.VerdictFailed:
		a, ok := sent[GivenBy(v).Key()]
		return slices.Contains(r.Verdicts, RetryRefused) && ok && a.Ended && a.Outcome.Ending == assay.Refused
	}
	return false
}

// Orders are the redos and retries that people ordered. They are safe for concurrent use.
type Orders struct {
	mu      sync.RWMutex
	redos   map[redoKey][]store.Redo
	n       int // redos
	retries []Retry
}

type redoKey struct{ stage, lane, item string }

// Set replaces the orders by all that there are now.
func (o *Orders) Set(redos []store.Redo, retries []Retry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.retries = retries
	if len(redos) == o.n {
		return
	}
	o.redos, o.n = map[redoKey][]store.Redo{}, len(redos)
	for _, r := range redos {
		key := redoKey{r.Stage, r.Lane, r.Item}
		o.redos[key] = append(o.redos[key], r)
	}
}

// Count returns how many orders there are.
func (o *Orders) Count() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.n + len(o.retries)
}

// Of lists the further draws of an item that a lane has to make in a stage.
func (o *Orders) Of(stage, lane, item string) []store.Redo {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.redos[redoKey{stage, lane, item}]
}

// Retries counts the retries of verdicts.
func (o *Orders) Retries() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return len(o.retries)
}

// Try returns what a further try asks for again.
func (o *Orders) Try(try int) Retry {
	switch try {
	case SecondTry:
		return Retry{Verdicts: []string{RetryMalformed}}
	case Fallback:
		return Retry{Verdicts: Retriable()}
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if n := try - FirstRetry; n < len(o.retries) {
		return o.retries[n]
	}
	return Retry{}
}

// Redoes reports whether a redo is about a branch and a draw.
func Redoes(r store.Redo, branch string, draw int) bool {
	return (r.Branch == "" || r.Branch == branch || strings.HasPrefix(branch, r.Branch+"/")) && (r.Draw == 0 || r.Draw == draw)
}

// FirstTry returns the request that a further try repeats; of any other, itself.
func FirstTry(at assay.Coordinates) assay.Coordinates {
	at.Again, at.By = FirstAsked, ""
	return at
}

// GivenBy returns the request whose reply gave a verdict.
func GivenBy(v store.Verdict) assay.Coordinates {
	at := FirstTry(v.At)
	at.Again, at.By = v.Again, v.By
	return at
}

// MayFollow reports whether a verdict of a stage may still be replaced before the stage is closed: a further try of the study's is
// to come.
func MayFollow(st *study.Stage, v store.Verdict) bool {
	if v.Again != FirstAsked || v.Segment == 0 {
		return false
	}
	second := HasSecondTry(st) && judge.AskAgain(assay.Verdict{State: v.State}, 1)
	return second || st.Fallback != "" && (v.State == assay.VerdictMalformed || v.State == assay.VerdictFailed)
}

// HasSecondTry reports whether judges of a stage are asked once more after a malformed verdict.
func HasSecondTry(st *study.Stage) bool { return st.SecondTry != nil && *st.SecondTry }
