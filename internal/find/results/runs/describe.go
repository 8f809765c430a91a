package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// Unsent returns the segments of a run that are staged and that no provider works on yet, without those of lanes that
// are stopped or held.
func Unsent(ctx context.Context, r *results.Reader, run store.Run, lanes []store.Lane) ([]store.Segment, error) {
	all, err := r.Ledger.Segments(ctx, run.No, store.Staged, store.Uploaded)
	return slices.DeleteFunc(all, func(g store.Segment) bool {
		return !slices.ContainsFunc(lanes, func(l store.Lane) bool {
			return l.Stage == g.Stage && l.Name == g.Lane && l.State == store.LaneOpen
		})
	}), err
}

// Reported returns how many requests of a segment its provider counts as done, while their results are not all here.
// Not every provider counts.
func Reported(g store.Segment) (done int64, known bool) {
	var c provider.Counts
	away := g.State == store.Launched || g.State == store.Ended || g.State == store.Fetched
	if !away || g.JobCounts == "" || json.Unmarshal([]byte(g.JobCounts), &c) != nil || !c.Known {
		return 0, false
	}
	return min(c.Done(), g.Requests), true
}

// Waiting returns how many requests of segments have no outcome.
func Waiting(segments []store.Segment) int64 {
	n := int64(0)
	for _, g := range segments {
		n += g.Open()
	}
	return n
}

// Why returns why a segment does not move as it should, and when it is tried again.
func Why(t store.Trouble, now time.Time) string {
	switch {
	case t.Wait.After(now):
		return fmt.Sprintf("%s asks to wait until %s: %s", t.Provider, clockOf(t.Wait, now), t.Reason)
	case t.Due.Sub(now) > soon:
		return fmt.Sprintf("%s; tried again at %s", t.Reason, clockOf(t.Due, now))
	}
	return t.Reason.String()
}

// soon is how soon a step is that is not announced.
const soon = 5 * time.Second

// clockOf returns a moment as people read it now.
func clockOf(at, now time.Time) string {
	if at, now := at.Local(), now.Local(); at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Local().Format(time.DateTime)
}

// LaneNote returns what is special about a lane.
func LaneNote(l store.Lane, redos []store.Redo) string {
	var notes []string
	if l.Reason != "" {
		notes = append(notes, l.Reason)
	}
	if l.Canary == store.CanaryShown {
		notes = append(notes, "its first answer waits for a yes")
	}
	if l.Spared > 0 {
		notes = append(notes, assay.Thousands(l.Spared)+" spared")
	}
	if l.Imported > 0 {
		notes = append(notes, assay.Thousands(l.Imported)+" imported")
	}
	if l.Reused > 0 {
		notes = append(notes, assay.Thousands(l.Reused)+" reused")
	}
	if n := redone(redos, l); n > 0 {
		notes = append(notes, assay.Thousands(n)+" redone")
	}
	if l.Unread > 0 {
		notes = append(notes, assay.Thousands(l.Unread)+" without a verdict that can be read")
	}
	if l.Surplus > 0 {
		notes = append(notes, assay.Thousands(l.Surplus)+" paid twice")
	}
	return strings.Join(notes, "; ")
}

// redone counts the redos of a lane in a stage.
func redone(redos []store.Redo, l store.Lane) int64 {
	n := int64(0)
	for _, r := range redos {
		if r.Stage == l.Stage && r.Lane == l.Name {
			n++
		}
	}
	return n
}

// NeverSent is how many requests of a lane in a stage were not asked, and why.
type NeverSent struct {
	Stage  string `json:"stage"`
	Lane   string `json:"lane"`
	Count  int64  `json:"unasked"`
	Reason string `json:"reason"`
}

// Unaskable lists, of a run that is closed, the requests that were never sent: what they follow has no answer, or their
// lane was stopped.
func Unaskable(run store.Run, lanes []store.Lane) []NeverSent {
	var out []NeverSent
	if run.State != store.RunClosed {
		return out
	}
	for _, l := range lanes {
		n := l.Planned - l.Spared - l.Open
		for _, ended := range l.Endings {
			n -= ended
		}
		if n <= 0 {
			continue
		}
		why := l.Reason
		switch {
		case why != "":
		case run.Result == store.ResultCancelled:
			why = "the run was cancelled before they were sent"
		default:
			why = "the answer that they follow or judge, or the row of an import, is missing"
		}
		out = append(out, NeverSent{l.Stage, l.Name, n, why})
	}
	return out
}

// Spent returns what a run has cost so far.
func Spent(ctx context.Context, r *results.Reader, run store.Run) (assay.Cost, error) {
	lanes, err := r.Ledger.Spending(ctx, run.No)
	var sum assay.Cost
	for _, l := range lanes {
		sum = sum.Add(l.Cost)
	}
	return sum, err
}
