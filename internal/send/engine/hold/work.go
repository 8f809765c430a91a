package hold

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// Work is one segment under our lease, with all it takes to move it.
type Work struct {
	*engine.Config
	*engine.Waits
	Held   *LeaseHolder
	Lease  store.Lease // that of its holder
	Seg    store.Segment
	Run    store.Run
	Policy engine.Policy
	Route  engine.Route
	Access engine.Access
}

// Work does something with a segment under its lease, as Segment does.
func (s *Leases) Work(ctx context.Context, segment int64, do func(ctx context.Context, w *Work) error) error {
	return s.Segment(ctx, segment, func(ctx context.Context, h *LeaseHolder) error {
		w, err := s.Look(ctx, h, nil)
		if err != nil {
			return err
		}
		return do(ctx, w)
	})
}

// Look reads a segment, at first or again after a step. Where it sleeps now, which is the end of nearly every poll of a job,
// nothing else has to be read.
func (s *Leases) Look(ctx context.Context, h *LeaseHolder, before *Work) (*Work, error) {
	g, err := s.from.Ledger.Reader.Segment(ctx, h.No)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if before.Seg = g; g.State == store.Launched && before.Asleep() {
			return before, nil
		}
	}
	w := &Work{Config: s.from, Waits: s.waits, Held: h, Lease: h.Lease, Seg: g}
	if w.Run, err = w.Ledger.Reader.Run(ctx, g.Run); err != nil {
		return nil, err
	}
	if w.Policy, err = w.Planner.Policy(ctx, w.Run); err != nil {
		return nil, err
	}
	if w.Route, err = w.Planner.Route(ctx, w.Run, g.Stage, g.Lane, g.Mode); err != nil {
		return nil, err
	}
	if g.Mode == store.Reuse {
		return w, nil
	}
	w.Access, err = w.Usable(g.Provider)
	return w, err
}

// Asleep reports whether there is nothing to do now.
func (w *Work) Asleep() bool { return w.Seg.Due.IsZero() || w.Seg.Due.After(w.Clock.Now()) }

// Job returns the segment as the calls after Launch need it.
func (w *Work) Job() provider.Job {
	return provider.Job{ID: w.Seg.Job, Handle: provider.Handle(w.Seg.Handle), Stamp: w.Stamp(), Model: w.Seg.Model, Wire: w.Route.Wire,
		Count: int(w.Seg.Requests)}
}

// Stamp returns the stamp of the create call that is meant: the one to come, or the last there was.
func (w *Work) Stamp() provider.Stamp {
	attempt := int(w.Seg.Intends)
	if w.Seg.State == store.Staged || w.Seg.State == store.Uploaded {
		attempt++
	}
	return provider.Stamp{Run: w.Run.ID, Segment: fmt.Sprintf("s%d", w.Seg.No), Attempt: attempt, SHA256: w.Seg.InputSHA256}
}

// Bill returns what an outcome cost; nil: unknown.
func (w *Work) Bill(o assay.Outcome) *assay.Money { return w.Route.Bill(w.Seg.Mode, o) }

// MayGo reports whether anything may be sent in this lane now. If not, the segment waits: for a gate until it opens, for a
// canary or a person until Extend wakes it.
func (w *Work) MayGo(ctx context.Context) (bool, error) {
	lane, err := w.Lane(ctx)
	if err != nil {
		return false, err
	}
	if w.Seg.CancelCause == store.ByUser || engine.CancelledByUser(lane) {
		return false, w.cancelUnsent(ctx)
	}
	if why := waitsFor(w.Seg, lane, w.Run); why != "" {
		return false, Rest(ctx, w, why)
	}
	gate, err := w.Ledger.Limits.GateOf(ctx, w.Access.Fingerprint, w.Seg.Model)
	if err != nil {
		return false, err
	}
	if gate.Until.After(w.Clock.Now()) {
		return false, w.Ledger.Work.Wake(ctx, w.Lease, gate.Until.Add(w.Jitter(w.Timing.PollMin)), gate.Reason)
	}
	return true, nil
}

// waitsFor returns what keeps the segment from going until somebody else changes it; empty: nothing.
func waitsFor(g store.Segment, lane store.Lane, run store.Run) store.Reason {
	switch {
	case run.Reconcile != "":
		return "waits until the jobs of its run at the providers were compared"
	case lane.State != store.LaneOpen:
		return store.Reason("the lane is " + string(lane.State) + ": " + lane.Reason)
	case g.Purpose != store.ForCanary && lane.Canary != store.CanaryOff && lane.Canary != store.CanaryPassed:
		return "waits for the lane's canary"
	}
	return ""
}

// Rest has the segment sleep until Extend wakes it. Extend passes over what does not sleep yet, so the reason is looked at once
// more when it does: one that went away meanwhile makes the segment due.
func Rest(ctx context.Context, w *Work, why store.Reason) error {
	if err := w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, string(why)); err != nil {
		return err
	}
	still, err := stillWaits(ctx, w, why)
	if still || err != nil {
		return err
	}
	return w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now(), string(why))
}

func stillWaits(ctx context.Context, w *Work, why store.Reason) (bool, error) {
	g, err := w.Ledger.Reader.Segment(ctx, w.Seg.No)
	if err != nil {
		return false, err
	}
	lane, err := w.Lane(ctx)
	if err != nil {
		return false, err
	}
	run, err := w.Ledger.Reader.Run(ctx, w.Run.No)
	if err != nil || g.CancelCause == store.ByUser || engine.CancelledByUser(lane) {
		return false, err
	}
	return waitsFor(w.Seg, lane, run) != "" || why == store.AwaitsMoney && sameMoney(run, w.Run), nil
}

// sameMoney reports whether as much is left of a run's budget as before.
func sameMoney(a, b store.Run) bool {
	left := func(r store.Run) assay.Money { return r.Spent + r.Reserved + r.Perhaps }
	return left(a) == left(b) && (a.Budget == nil) == (b.Budget == nil) && (a.Budget == nil || *a.Budget == *b.Budget)
}

// Cancelled is the reason of what a person cancelled.
const Cancelled = "cancelled"

// cancelUnsent ends a segment that has not gone because a person cancelled the run.
func (w *Work) cancelUnsent(ctx context.Context) error {
	if w.Seg.State == store.Launched { // a live one: what was asked is kept
		return w.StopAsking(ctx, Cancelled)
	}
	return w.Ledger.Work.Drop(ctx, w.Lease, Cancelled)
}

// StopAsking ends what has not been asked.
func (w *Work) StopAsking(ctx context.Context, why string) error {
	if err := w.Ledger.Work.EndOpen(ctx, w.Lease, store.EndOpen{Ending: assay.Cancelled, Message: why}); err != nil {
		return err
	}
	return Finish(ctx, w, time.Time{})
}

// Finish settles a segment. The most that answers of unknown cost may cost stays set aside: a budget is one for them, too.
func Finish(ctx context.Context, w *Work, due time.Time) error {
	most, err := unpriced(ctx, w)
	if err != nil {
		return err
	}
	return w.Ledger.Work.FinishUnpriced(ctx, w.Lease, due, most)
}

// unpriced returns the most that the answers of unknown cost may cost, as far as there is a price for them, and those that were done and
// never handed out.
func unpriced(ctx context.Context, w *Work) (assay.Money, error) {
	g, err := w.Ledger.Reader.Segment(ctx, w.Seg.No)
	if err != nil || g.Cost.Unknown == 0 && (g.Mode != store.Batch || g.Endings[assay.Lost] == 0) {
		return 0, err
	}
	var sum assay.Money
	err = most(ctx, w, w.Ledger.Reader.UnpricedAttempts(ctx, g.No), func(p engine.Planned) { sum += p.High.Sum })
	return sum, err
}

// Aside returns what was set aside for attempts of a segment that were given up.
func Aside(ctx context.Context, w *Work, of map[assay.Key]int64) (map[assay.Key]assay.Money, error) {
	if w.Seg.Aside == 0 {
		return nil, nil
	}
	given := func(yield func(store.Attempt, error) bool) {
		for a, err := range w.Ledger.Reader.Attempts(ctx, w.Seg.No) {
			if _, is := of[a.Key]; (is || err != nil) && !yield(a, err) {
				return
			}
		}
	}
	all := make(map[assay.Key]assay.Money, len(of))
	err := most(ctx, w, given, func(p engine.Planned) { all[p.At.Key()] = p.High.Sum })
	return all, err
}

// most makes the requests of attempts again, for what they cost at most.
func most(ctx context.Context, w *Work, attempts iter.Seq2[store.Attempt, error], each func(engine.Planned)) error {
	var at []assay.Coordinates
	for a, err := range attempts {
		if err != nil {
			return err
		}
		at = append(at, a.At)
	}
	for some := range slices.Chunk(at, unpricedPiece) {
		made, err := w.Planner.Build(ctx, w.Run, w.Seg.Mode, some)
		if err != nil {
			return err
		}
		for _, p := range made {
			each(p)
		}
	}
	return nil
}

// unpricedPiece is how many requests are made again at once.
const unpricedPiece = 500

// Unintended decides about an intent that the ledger refused. Nothing was sent.
func (w *Work) Unintended(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, store.ErrBudget):
		return errors.Join(Rest(ctx, w, store.AwaitsMoney),
			w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, store.BudgetEvent, "the next job needs "+w.Seg.Expected.String()))
	case errors.Is(err, store.ErrRoom):
		return w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now().Add(w.Timing.PollMax+w.Jitter(w.Timing.PollMax)), string(store.AwaitsRoom))
	case errors.Is(err, store.ErrAnswered):
		return w.TakeBack(ctx, "not sent: a late answer came for a request beside it")
	}
	return err
}

// NoCap lets a request go again whatever happened before: it was never sent.
const NoCap = int64(1) << 30

// TakeBack gives a segment up that is not sent; its requests are to go out again in a new one.
func (w *Work) TakeBack(ctx context.Context, why string) error {
	end := store.EndOpen{Ending: assay.Cancelled, Message: why,
		Again: &store.Again{Mode: w.Seg.Mode, After: w.Clock.Now(), Cause: "not sent", Cap: NoCap}}
	return errors.Join(w.Ledger.Work.EndOpen(ctx, w.Lease, end), w.Ledger.Work.Drop(ctx, w.Lease, why))
}

// The causes of requests that were cut out of a job which failed because of others.
const (
	CauseRecut  = "recut"  // without the lines at fault
	CauseBisect = "bisect" // in two halves
)
