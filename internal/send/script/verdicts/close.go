package verdicts

import (
	"context"
	"slices"

	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/stages"
	"assay/internal/study"
)

// Close goes through the stages in their order, after Absorb: it returns what can be decided now, and writes, for every judge and
// compare stage that nothing more can come for, the verdicts that no judge was asked for or that no judge gave: ties of
// identical answers, answers that are missing, judges that failed. They are states of their own, so that no table has to
// guess why a verdict is not there.
func (v *Verdicts) Close(ctx context.Context) ([]conditions.Due, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, err := v.progress(ctx)
	if err != nil {
		return nil, err
	}
	if n := v.Stages.Orders.Count(); n != v.closedAt { // something was ordered since they were closed
		v.Conditions.Reopen()
		v.spared, v.closedAt = map[string]bool{}, n
	}
	var due []conditions.Due
	for st, rec := range v.Stages.InOrder() {
		if !v.Settings.Wants(st.Name) {
			continue
		}
		due = append(due, v.Conditions.DueGates(st, rec)...)
		if a, ok := rec.(*stages.Asking); ok {
			if err := v.spareAsked(ctx, st, a); err != nil {
				return nil, err
			}
			continue
		}
		j, ok := rec.(stages.Judging)
		if !ok || v.Conditions.Closed(st.Name) || now.Moving[st.Name] || !v.Ready(st, rec, now) {
			continue
		}
		done, err := v.closeStage(ctx, st, j)
		if err != nil {
			return nil, err
		}
		if round, open := v.openRound(st); open {
			if done {
				due = append(due, round)
			}
			continue
		}
		v.Conditions.Close(st.Name, done)
	}
	return due, nil
}

// closeStage looks at every request of a stage. It is false when one of them has yet to go out, or to be decided about.
func (v *Verdicts) closeStage(ctx context.Context, st *study.Stage, rec stages.Judging) (bool, error) {
	w := &writer{Verdicts: v, ctx: ctx, final: true}
	judges := rec.Judges()
	for _, l := range rec.Lanes() {
		if !slices.Contains(judges, l.Name) { // it is asked in their place
			judges = append(judges, l.Name)
		}
	}
	for _, name := range judges {
		asked := int64(0)
		for _, g := range stages.GroupsOf(rec, st.Name, name) {
			if g.Again != again.FirstAsked { // what is asked again follows from the verdicts before
				if err := w.flush(); err != nil {
					return false, err
				}
			}
			for block, err := range v.Stages.Blocks(ctx, rec, g) {
				if err != nil {
					return false, err
				}
				if rec.By().NeedsNoModel() {
					if err := w.silently(rec, block); err != nil {
						return false, err
					}
					continue
				}
				n, done, err := w.closeBlock(rec, block)
				if !done || err != nil {
					return false, err
				}
				asked += n
			}
		}
		if !v.over(st) {
			continue // how much is spared is known when the last round is
		}
		if err := v.spare(ctx, st.Name, name, asked); err != nil {
			return false, err
		}
	}
	return true, w.flush()
}

// closeBlock writes the verdicts that no judge gives. It counts the requests that a judge is needed for, and is false
// where one of them has yet to go out.
func (w *writer) closeBlock(rec stages.Judging, block []stages.Wanted) (int64, bool, error) {
	block, certain, err := w.Conditions.Keep(w.ctx, rec, block)
	if err != nil {
		return 0, false, err
	}
	if !certain {
		return 0, false, w.flush()
	}
	answered, err := w.Answers.For(w.ctx, rec, block)
	if err != nil {
		return 0, false, err
	}
	sent, err := w.reader.AnswersTo(w.ctx, w.Run.No, stages.RefsOf(block))
	if err != nil {
		return 0, false, err
	}
	asked := int64(0)
	for _, b := range block {
		a, ok := sent[b.At.Key()]
		_, makeable, err := rec.Prompt(b.Item, b.At, answered)
		switch {
		case err != nil:
			return 0, false, err
		case ok && a.Ended && !a.Outcome.Ending.Stands():
			err = w.judged(rec, a)
			asked++
		case ok:
			asked++
		case makeable:
			return 0, false, w.flush() // it has yet to go out
		default:
			var needed bool
			needed, err = w.unasked(rec, b, answered)
			if needed {
				asked++
			}
		}
		if err != nil {
			return 0, false, err
		}
	}
	return asked, true, nil
}

// unasked writes the verdict of a request that will never go out: one that is known without a judge, or nothing to judge.
// It reports whether the request is missed.
func (w *writer) unasked(rec stages.Judging, b stages.Wanted, answered stages.Answers) (bool, error) {
	if b.At.Again > 0 {
		return true, nil
	}
	v, err := rec.Frame(b.At)
	if err != nil {
		return false, err
	}
	given, known, err := rec.Known(b.At, answered)
	if err != nil {
		return false, err
	}
	if known {
		return false, w.add(v, given)
	}
	return true, w.add(v, judge.Missing("there is no answer to judge"))
}

// spareAsked counts what the conditions of a stage that asks leave of its plan, once they are all decided.
func (v *Verdicts) spareAsked(ctx context.Context, st *study.Stage, a *stages.Asking) error {
	if v.spared[st.Name] || a.Imported() || !narrowed(a) {
		return nil
	}
	for _, before := range a.Continues() {
		for _, l := range a.Lanes() {
			if !v.Conditions.Certain(before, l.Name) {
				return nil
			}
		}
	}
	for _, l := range a.Lanes() {
		asked := int64(0)
		for _, g := range stages.GroupsOf(a, st.Name, l.Name) {
			for block, err := range v.Stages.Blocks(ctx, a, g) {
				if err != nil {
					return err
				}
				kept, certain, err := v.Conditions.Keep(ctx, a, block)
				if err != nil || !certain {
					return err
				}
				asked += int64(len(kept))
			}
		}
		if err := v.spare(ctx, st.Name, l.Name, asked); err != nil {
			return err
		}
	}
	v.spared[st.Name] = true
	return nil
}

// spare writes how many of a lane's planned requests need no asking, given how many do.
func (v *Verdicts) spare(ctx context.Context, stage, lane string, asked int64) error {
	lanes, err := v.reader.Lanes(ctx, v.Run.No)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if l.Stage == stage && l.Name == lane && max(0, l.Planned-asked) != l.Spared {
			return v.Snapshots.Runs.SetSpared(ctx, v.Run.No, stage, lane, max(0, l.Planned-asked))
		}
	}
	return nil
}

// narrowed reports whether a conversation, or one that it goes on with, has conditions.
func narrowed(a *stages.Asking) bool {
	return a.Conditional() || slices.ContainsFunc(a.Continues(), func(st *study.Stage) bool { return st.Keep != nil })
}

// openRound returns the round of a stage that is done and was not looked at: all its requests have gone out, and
// nothing more comes of them.
func (v *Verdicts) openRound(st *study.Stage) (conditions.Due, bool) {
	if v.over(st) {
		return conditions.Due{}, false
	}
	looks, _ := v.Stages.Rounds(st.Name).Done()
	return conditions.Due{Reads: []string{st.Name}, Round: looks + 1, Stage: st}, true
}

// over reports whether a stage buys nothing more.
func (v *Verdicts) over(st *study.Stage) bool {
	r := v.Stages.Rounds(st.Name)
	if r == nil || v.Conditions.Gate(st, "") == conditions.Dropped {
		return true
	}
	_, stop := r.Done()
	return stop != store.StopNone
}
