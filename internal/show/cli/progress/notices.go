package progress

import (
	"context"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// notices hold what a person has to know of a run while it goes on: a lane that stops, a job that cannot be looked at.
type notices struct {
	lanes    map[string]store.LaneState // as they were last seen
	compares map[string]string          // why runs compare the jobs at their providers, as last seen
	printed  map[string]time.Time       // when a trouble of a lane was printed last
	past     map[int64]store.Reason     // by segment: what had gone wrong before the first look
	looked   time.Time
	open     bool          // some requests had not ended then
	took     time.Duration // how long the last look took, or longer
}

const (
	noticeEvery = time.Second     // how often is looked for something to say
	troubleRest = 5 * time.Minute // how long a lane's next trouble waits after one was printed
	MaxTroubles = 20              // that are printed at once
)

// news are lines about what changed since the last look.
func (n *notices) news(ctx context.Context, l *ledger.Ledger, all []store.Run, now time.Time) ([]string, error) {
	if !n.looked.IsZero() && now.Sub(n.looked).Abs() < max(noticeEvery, parts*n.took) {
		return nil, nil
	}
	first := n.looked.IsZero()
	n.looked, n.open = now, false
	var lines []string
	for _, run := range all {
		lanes, err := l.Reader.Lanes(ctx, run.No)
		if err != nil {
			return nil, err
		}
		for _, lane := range lanes {
			n.open = n.open || unfinished(lane)
			lines = append(lines, n.lane(run, lane)...)
		}
		current, err := l.Reader.Run(ctx, run.No)
		if err != nil {
			return nil, err
		}
		lines = append(lines, n.reconcile(run, current.Reconcile)...)
		troubles, err := l.Pages.Troubles(ctx, run.No, MaxTroubles)
		if err != nil {
			return nil, err
		}
		for _, t := range troubles {
			name := fmt.Sprintf("%s %s %s", run.ID, t.Stage, t.Lane)
			at, ok := n.printed[name]
			if first { // it is tried again now, and may not be wrong any more
				n.past[t.Segment] = t.Reason
			}
			if ok && now.Sub(at) < troubleRest || n.lanes[name] != store.LaneOpen || n.isPast(t, now) {
				continue
			}
			n.printed[name] = now
			lines = append(lines, TroubleLine(t, now))
		}
	}
	return lines, nil
}

// isPast reports whether a trouble is from before the first look, and it is tried again before the next one.
func (n *notices) isPast(t store.Trouble, now time.Time) bool {
	return n.past[t.Segment] == t.Reason && t.State != store.Held && !t.Wait.After(now) && !t.Due.After(now.Add(noticeEvery))
}

// lane returns a line about a lane that stopped, is held, or goes on.
func (n *notices) lane(run store.Run, l store.Lane) []string {
	name := fmt.Sprintf("%s %s %s", run.ID, l.Stage, l.Name)
	before, known := n.lanes[name]
	n.lanes[name] = l.State
	switch {
	case l.State == before, !known && l.State == store.LaneOpen:
		return nil
	case l.State == store.LaneOpen:
		return []string{assay.Clean(fmt.Sprintf("lane %s of %s goes on", l.Name, l.Stage), 500)}
	}
	return []string{assay.Clean(fmt.Sprintf("lane %s of %s is %s: %s", l.Name, l.Stage, l.State, l.Reason), 500)}
}

// reconcile returns a line about a run that sends nothing before the jobs at its providers were compared, or that goes on after it.
func (n *notices) reconcile(run store.Run, why string) []string {
	before := n.compares[run.ID]
	n.compares[run.ID] = why
	switch {
	case why == before:
		return nil
	case why == "":
		return []string{"run " + run.ID + ": the jobs at its providers were compared with the ledger; it goes on"}
	}
	return []string{assay.Clean(fmt.Sprintf("run %s: nothing is sent before the jobs at its providers were compared: %s", run.ID, why),
		500)}
}

// TroubleLine returns why a segment does not move, and when it is tried again.
func TroubleLine(t store.Trouble, now time.Time) string {
	return assay.Clean(fmt.Sprintf("segment %d (%s %s, %s): %s", t.Segment, t.Stage, t.Lane, t.State, runs.Why(t, now)), 500)
}
