package verdicts

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/send/script/stages"
	"assay/internal/study"
)

// Progress lists the parts of a run that have come to their end.
type Progress struct {
	// Settled are the groups of which nothing more will come: all of it was staged, every segment has come to its end and was
	// absorbed, and nothing waits to be sent again. A lane that was stopped brings nothing more either. What settled since the
	// last Absorb does not count yet: its verdicts are not there, and what they call for would be taken for nothing.
	Settled map[store.GroupKey]bool
	// Moving are the stages that have requests in flight or waiting to be sent again, or answers that no Absorb has read.
	Moving map[string]bool
}

// Progress returns the parts of the run that have come to their end.
func (v *Verdicts) Progress(ctx context.Context) (Progress, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.progress(ctx)
}

func (v *Verdicts) progress(ctx context.Context) (Progress, error) {
	out := Progress{Settled: map[store.GroupKey]bool{}, Moving: map[string]bool{}}
	groups, err := v.reader.Groups(ctx, v.Run.No)
	if err != nil {
		return out, err
	}
	for _, g := range groups {
		out.Settled[g.GroupKey] = g.Complete
	}
	lanes, err := v.reader.Lanes(ctx, v.Run.No)
	if err != nil {
		return out, err
	}
	for _, l := range lanes {
		if rec, ok := v.Stages.Of(l.Stage); ok && l.State == store.LaneStopped {
			for _, g := range stages.GroupsOf(rec, l.Stage, l.Name) {
				out.Settled[g] = true
			}
		}
	}
	// The queue is read before the segments: what leaves it meanwhile is in one of them.
	for r, err := range v.reader.Resends(ctx, v.Run.No) {
		if err != nil {
			return out, err
		}
		out.Settled[r.Group()], out.Moving[r.At.Stage] = false, true
	}
	segments, err := v.reader.Segments(ctx, v.Run.No)
	if err != nil {
		return out, err
	}
	for _, g := range segments {
		if v.unread(g) {
			out.Settled[g.GroupKey], out.Moving[g.Stage] = false, true
		}
	}
	for st, rec := range v.Stages.InOrder() {
		settleTurns(st.Name, rec, out.Settled)
	}
	return out, nil
}

// unread reports whether a segment may bring verdicts that are not written yet: it is in flight, or it settled since the
// last Absorb read the answers.
func (v *Verdicts) unread(g store.Segment) bool {
	return !g.State.Terminal() || g.State == store.Settled && !v.absorbed[g.No]
}

// settleTurns leaves a turn settled only if those before it are; what is imported was there before the run.
func settleTurns(stage string, rec stages.Stage, settled map[store.GroupKey]bool) {
	a, asks := rec.(*stages.Asking)
	for _, l := range rec.Lanes() {
		all := stages.GroupsOf(rec, stage, l.Name)
		for i, g := range all {
			settled[g] = (settled[g] || asks && a.Imported()) && (i == 0 || settled[all[i-1]])
		}
	}
}

// Ready reports whether all that a stage reads is there, and all that its conditions look at.
func (v *Verdicts) Ready(st *study.Stage, rec stages.Stage, now Progress) bool {
	for turn := 1; turn <= rec.Turns(); turn++ {
		for _, before := range rec.After("", turn) {
			if !now.Settled[before] {
				return false
			}
		}
	}
	return v.Conditions.Certain(st, "")
}
