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
		lines = append(lines, n.moved(run, lanes)...)
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

// moved returns lines about lanes that stopped, are held, or go on; those with one reason share a line.
func (n *notices) moved(run store.Run, lanes []store.Lane) []string {
	type change struct {
		stage  string
		state  store.LaneState
		reason string
	}
	var changes []change
	names := map[change][]string{}
	for _, l := range lanes {
		n.open = n.open || unfinished(l)
		name := fmt.Sprintf("%s %s %s", run.ID, l.Stage, l.Name)
		before, known := n.lanes[name]
		n.lanes[name] = l.State
		if l.State == before || !known && l.State == store.LaneOpen {
			continue
		}
		c := change{l.Stage, l.State, l.Reason}
		if l.State == store.LaneOpen {
			c.reason = ""
		}
		if names[c] == nil {
			changes = append(changes, c)
		}
		names[c] = append(names[c], l.Name)
	}
	lines := make([]string, len(changes))
	for i, c := range changes {
		line := fmt.Sprintf("%s %s in stage %s: %s", runs.LanesAre(names[c]...), c.state, c.stage, c.reason)
		if c.state == store.LaneOpen {
			line = fmt.Sprintf("%s open again in stage %s", runs.LanesAre(names[c]...), c.stage)
		}
		lines[i] = assay.Clean(line, 500)
	}
	return lines
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
