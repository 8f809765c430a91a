package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// launch commits the intent, then makes the one call that costs money.
func (w *work) launch(ctx context.Context) error {
	if ok, err := w.mayGo(ctx); !ok || err != nil {
		return err
	}
	in := store.Intent{Account: w.access.Fingerprint, Reserve: w.g.Expected}
	if finder, ok := w.access.Batch.(provider.Finder); ok {
		cursor, err := finder.Cursor(ctx)
		if err != nil {
			return w.stumble(ctx, err)
		}
		in.Cursor, in.Stamped = cursor, finder.Stamped()
	}
	began := w.Clock.Now()
	if _, err := w.Ledger.Renew(ctx, w.l, w.Timing.Lease); err != nil {
		return err
	}
	in.Due = began.Add(w.Timing.Create)
	if err := w.Ledger.Intend(ctx, w.l, in); err != nil {
		return w.unintended(ctx, err)
	}
	// Asleep between the intent and here? Then the lease may be another's, who looks for a job that is yet to come.
	if elapsed(began, w.Clock.Now()) > w.Timing.Lease-w.Timing.Create {
		return w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Uploaded, Reason: "the create call came too late and was not sent", Due: w.Clock.Now()})
	}
	call, cancel := w.inTime(ctx, began)
	defer cancel()
	r := w.access.Batch.Launch(call, w.parcel(call), provider.Handle(w.g.Handle))
	return w.received(context.WithoutCancel(ctx), r)
}

// elapsed is how long it is from one moment to another. A machine that sleeps stops the one clock, and one that is set
// stops the other: the longer time is the truer one.
func elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// inTime is the context of a create call, which ends when the call may take no longer: timers stand still while a machine
// sleeps, and the next holder of the lease has to be sure that nothing is in flight any more.
func (w *work) inTime(ctx context.Context, began time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.Create)
	tick := time.NewTicker(time.Second)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if elapsed(began, w.Clock.Now()) > w.Timing.Create {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// unintended decides about an intent that the ledger refused. Nothing was sent.
func (w *work) unintended(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, store.ErrBudget):
		return errors.Join(w.Ledger.Wake(ctx, w.l, time.Time{}, blockedByBudget),
			w.Ledger.Note(ctx, w.run.No, w.g.No, "budget", "needs "+w.g.Expected.String()))
	case errors.Is(err, store.ErrRoom):
		return w.Ledger.Wake(ctx, w.l, w.Clock.Now().Add(w.Timing.PollMax+w.jitter(w.Timing.PollMax)), store.AwaitsRoom)
	case errors.Is(err, store.ErrAnswered):
		return w.dropAnswered(ctx)
	}
	return err
}

// OverBudget reports whether a segment waits because the budget does not cover it.
func OverBudget(g store.Segment) bool { return g.Reason == blockedByBudget && g.Due.IsZero() }

// blockedByBudget is the reason of segments that do not fit into the budget.
const blockedByBudget = "the budget does not cover it"

// dropAnswered gives a segment up in which a request was answered late; the others go out again in a new one.
func (w *work) dropAnswered(ctx context.Context) error {
	end := store.EndOpen{Ending: assay.Cancelled, Message: "not sent: a late answer came for a request beside it",
		Again: &store.Again{Mode: w.g.Mode, After: w.Clock.Now(), Cause: "not sent", Cap: noCap}}
	return errors.Join(w.Ledger.EndOpen(ctx, w.l, end), w.Ledger.Drop(ctx, w.l, "an answer came late"))
}

// received decides about the receipt of the create call.
func (w *work) received(ctx context.Context, r provider.Receipt) error {
	now := w.Clock.Now()
	switch r.Fate {
	case provider.Accepted:
		return w.launched(ctx, r.Job, r.Warning)
	case provider.Refused:
		return w.refused(ctx, r.Err)
	}
	why := "the fate of the create call is unknown"
	if r.Err != nil {
		why += ": " + r.Err.Error()
	}
	return errors.Join(w.Ledger.Wake(ctx, w.l, now.Add(w.poll(0)), why), w.Ledger.Note(ctx, w.run.No, w.g.No, "unknown", why))
}

func (w *work) launched(ctx context.Context, job, note string) error {
	now := w.Clock.Now()
	return w.Ledger.Launched(ctx, w.l, store.Launch{Job: job, At: now, Due: now.Add(w.pollJob(0)), Note: note})
}

// refused decides by class about a create call that surely made no job.
func (w *work) refused(ctx context.Context, err error) error {
	f := provider.FaultOf(err)
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Message: fmt.Sprint(err)}
	}
	back := store.Back{To: store.Uploaded, Reason: f.Error(), Due: w.Clock.Now().Add(w.backoff(w.g.Failures, f.RetryAfter))}
	switch f.Class {
	case assay.FaultGone:
		back.To = store.Staged
		if w.g.Intends > maxBusy {
			return errors.Join(w.Ledger.GoBack(ctx, w.l, back), w.stopLane(ctx, held("what was uploaded is gone again and again: "+f.Error())))
		}
	case assay.FaultQuota, assay.FaultDenied:
		return errors.Join(w.Ledger.GoBack(ctx, w.l, back), w.stopLane(ctx, stoppedBy(f)))
	case assay.FaultInvalid, assay.FaultLarge:
		back.To = store.Staged
		return errors.Join(w.Ledger.GoBack(ctx, w.l, back), w.stopLane(ctx, held(f.Error())))
	}
	if w.tooBusy(f) {
		return errors.Join(w.Ledger.GoBack(ctx, w.l, back), w.stopLane(ctx, held(busyFor(f))))
	}
	return w.Ledger.GoBack(ctx, w.l, back)
}

// find learns what became of a create call of unknown fate.
func (w *work) find(ctx context.Context) error {
	finder, ok := w.access.Batch.(provider.Finder)
	if !ok {
		return w.Ledger.Hold(ctx, w.l, "the fate of the create call is unknown, and "+w.g.Provider+" cannot list its jobs")
	}
	if w.access.Fingerprint != w.g.Account {
		return w.Ledger.Wake(ctx, w.l, w.otherKey(), "made with another key ("+w.g.Account+"): only that one can tell")
	}
	began := w.Clock.Now()
	found, err := w.search(ctx, finder, provider.Search{Handle: provider.Handle(w.g.Handle), Cursor: w.g.Cursor, NotBefore: w.g.Intended})
	var ours *ledgerError
	if errors.As(err, &ours) {
		return err
	}
	if err != nil {
		return w.unfound(ctx, err)
	}
	switch found.Sighting {
	case provider.Located:
		return w.adopt(ctx, found.Jobs)
	case provider.Absent:
		return w.absent(ctx, began)
	}
	now := w.Clock.Now()
	if longest := w.access.Batch.Limits().Longest; longest > 0 && now.Sub(w.g.Intended) > longest+w.Timing.Gone {
		return w.Ledger.Hold(ctx, w.l, "cannot tell whether the create call made a job: "+found.Why)
	}
	return w.Ledger.Wake(ctx, w.l, now.Add(w.poll(now.Sub(w.g.Intended))), found.Why)
}

// search looks for jobs of the segment among those that the ledger does not know to be others, or to have failed.
func (w *work) search(ctx context.Context, finder provider.Finder, s provider.Search) (provider.Found, error) {
	taken, err := w.Ledger.TakenJobs(ctx, w.g.Provider, w.g.No)
	if err != nil {
		return provider.Found{}, &ledgerError{err}
	}
	also := s.Taken
	s.Taken = func(job string) bool { return taken[job] || also != nil && also(job) }
	s.Stamp, s.Nonce, s.Model, s.Wire, s.Count = w.stamp(), w.g.Nonce, w.g.Model, w.route.Wire, int(w.g.Requests)
	return finder.Find(ctx, s)
}

// unfound decides about a Find that failed: nothing is sent until one works.
func (w *work) unfound(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultDenied && w.g.Failures >= maxDenied {
		return w.Ledger.Hold(ctx, w.l, "the fate of the create call is unknown, and the provider refuses the key: "+f.Error())
	}
	return w.Ledger.RetryLater(ctx, w.l, w.Clock.Now().Add(w.backoff(w.g.Failures+2, 0)), "looking for the job: "+err.Error())
}

// adopt takes the job that was found for our own. Further ones are doubles: they are noted, then cancelled.
func (w *work) adopt(ctx context.Context, jobs []string) error {
	for _, double := range jobs[1:] {
		if err := w.double(ctx, double); err != nil {
			return err
		}
	}
	return w.launched(ctx, jobs[0], "adopted")
}

// absent counts reads that see no job, by when they began: what a slow one saw is as old. The first counts when the create
// call is over on our side; after a second, the provider's lag later, the same bytes may go again. That the call may still
// be on its way is met by a fence; where none can be built, by far more time.
func (w *work) absent(ctx context.Context, began time.Time) error {
	lag := w.Timing.lag(w.access.Batch.Limits().Lag, w.g.Stamped)
	now := w.Clock.Now()
	if w.g.Absents == 0 {
		if over := w.g.Intended.Add(w.Timing.Create); began.Before(over) {
			return w.Ledger.Wake(ctx, w.l, over.Add(time.Millisecond), "no job is visible yet")
		}
		return w.Ledger.Absent(ctx, w.l, now.Add(lag+w.jitter(lag/10)))
	}
	if next := w.g.Absent.Add(lag); began.Before(next) {
		return w.Ledger.Wake(ctx, w.l, next.Add(time.Millisecond), "no job is visible; looking once more")
	}
	if over := w.g.Intended.Add(w.Timing.Unfenced); !w.fenced() && began.Before(over) {
		next := now.Add(w.poll(now.Sub(w.g.Intended)))
		if next.After(over) {
			next = over.Add(time.Millisecond)
		}
		return w.Ledger.Wake(ctx, w.l, next, "no job is visible; the create call may still be on its way, and cannot be called back before "+over.Format(time.RFC3339))
	}
	return w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Staged, Reason: "no job was made: absent in two reads", Due: now, Lost: true})
}
