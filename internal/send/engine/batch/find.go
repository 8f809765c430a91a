package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/provider"
)

// find learns what became of a create call of unknown outcome.
func (w *work) find(ctx context.Context) error {
	finder, ok := w.Access.Batch.(provider.Finder)
	if !ok {
		return w.Ledger.Work.Hold(ctx, w.Lease, "the fate of the create call is unknown, and "+w.Seg.Provider+" cannot list its jobs")
	}
	began, here := w.Clock.Now(), w.Own()
	found, err := w.search(ctx, finder, provider.Search{Handle: provider.Handle(w.Seg.Handle), Cursor: w.Seg.Cursor,
		NotBefore: w.Seg.Intended})
	if w.Access.Fingerprint != w.Seg.Account {
		if err == nil && found.Sighting == provider.Located { // seen is seen: of the same account
			return errors.Join(w.adopt(ctx, found.Jobs), takeKey(ctx, w.Work))
		}
		return w.keyElsewhere(ctx, "made with another key ("+w.Seg.Account+"): only that one can tell")
	}
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
		return w.absent(ctx, began, here)
	}
	now := w.Clock.Now()
	if longest := w.Access.Batch.Limits().Longest; longest > 0 && now.Sub(w.Seg.Intended) > longest+w.Timing.Gone {
		return w.Ledger.Work.Hold(ctx, w.Lease, "cannot tell whether the create call made a job: "+found.Why)
	}
	return w.Ledger.Work.Wake(ctx, w.Lease, now.Add(w.Poll(now.Sub(w.Seg.Intended))), found.Why)
}

// search looks for jobs of the segment among those that the ledger does not know to be others, or to have failed.
func (w *work) search(ctx context.Context, finder provider.Finder, s provider.Search) (provider.Found, error) {
	taken, err := w.Ledger.Work.TakenJobs(ctx, w.Seg.Provider, w.Seg.No)
	if err != nil {
		return provider.Found{}, &ledgerError{err}
	}
	also := s.Taken
	s.Taken = func(job string) bool { return taken[job] || also != nil && also(job) }
	for _, h := range w.Seg.LostHandles {
		s.Lost = append(s.Lost, provider.Handle(h))
	}
	s.Stamp, s.Nonce, s.Model, s.Wire, s.Count = w.Stamp(), w.Seg.Nonce, w.Seg.Model, w.Route.Wire, int(w.Seg.Requests)
	return finder.Find(ctx, s)
}

// unfound decides about a Find that failed: nothing is sent until one works.
func (w *work) unfound(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultDenied && w.Seg.Failures >= maxDenied {
		return w.Ledger.Work.Hold(ctx, w.Lease, "the fate of the create call is unknown, and the provider refuses the key: "+f.Error())
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: w.Clock.Now().Add(w.Backoff(w.Seg.Failures+2, 0)),
		Reason: "looking for the job: " + err.Error()})
}

// adopt takes the job that was found for our own. Further ones are doubles: they are noted, then cancelled.
func (w *work) adopt(ctx context.Context, jobs []string) error {
	for _, double := range jobs[1:] {
		if err := reconcile.Double(ctx, w.Work, double); err != nil {
			return err
		}
	}
	return w.launched(ctx, jobs[0], "adopted")
}

// absent counts reads that see no job, by when they began: what a slow one saw is as old. The first counts when the create
// call is over on our side; after a second, the provider's lag later, the same bytes may go again. That the call may still
// be on its way is met by a fence; if none can be built, by far more time. The lag has passed by this process's own clock, too: the
// ledger's may have been set.
func (w *work) absent(ctx context.Context, began, here time.Time) error {
	lag := w.Timing.Lag(w.Access.Batch.Limits().Lag, w.Seg.Stamped)
	now := w.Clock.Now()
	waited := w.jobs.absentFor(w.Seg, here)
	if w.Seg.Absents == 0 {
		if over := w.Seg.Intended.Add(w.Timing.Create); began.Before(over) {
			return w.Ledger.Work.Wake(ctx, w.Lease, over.Add(time.Millisecond), "no job is visible yet")
		}
		return w.Ledger.Work.Absent(ctx, w.Lease, now.Add(lag+w.Jitter(lag/10)))
	}
	next := w.Seg.Absent.Add(lag)
	if own := now.Add(lag - waited); waited < lag && next.Before(own) {
		next = earlier(own, next.Add(mostStep))
	}
	if began.Before(next) {
		return w.Ledger.Work.Wake(ctx, w.Lease, next.Add(time.Millisecond), "no job is visible; looking once more")
	}
	if over := w.Seg.Intended.Add(w.Timing.Unfenced); !fences(w.Access.Batch) && began.Before(over) {
		next := now.Add(w.Poll(now.Sub(w.Seg.Intended)))
		if next.After(over) {
			next = over.Add(time.Millisecond)
		}
		why := "no job is visible; the create call may still be on its way, and cannot be called back before " + over.Format(time.RFC3339)
		return w.Ledger.Work.Wake(ctx, w.Lease, next, why)
	}
	return w.Ledger.Work.GoBack(ctx, w.Lease,
		store.Back{To: store.Staged, Reason: "no job was made: absent in two reads", Due: now, Lost: true,
			Capped: w.Policy.ReserveHigh})
}

// mostStep is how far a clock may have been set: what is older by so much is old by any.
const mostStep = 15 * time.Minute

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Adopt takes a job with our stamp for a segment that the ledger has not launched: the ledger is older than the job, or
// what became of its create call was never learned. It reports whether the segment could take it.
func (s *Jobs) Adopt(ctx context.Context, segment int64, job string) (taken bool, err error) {
	err = s.at(ctx, segment, func(ctx context.Context, w *work) error {
		taken, err = w.take(ctx, job)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("adopt job %s: %w", job, err)
	}
	return taken, nil
}

// take takes a job that was made before for the segment's own, where it has none.
func (w *work) take(ctx context.Context, job string) (taken bool, err error) {
	now := w.Clock.Now()
	switch w.Seg.State {
	case store.Staged:
		err = w.Ledger.Work.Upload(ctx, w.Lease, w.Seg.Handle, now)
	case store.Uploaded, store.Intended, store.Held:
	default:
		return false, nil
	}
	if err == nil && (w.Seg.State == store.Staged || w.Seg.State == store.Uploaded) {
		// This ledger never sent it: it may be older than other jobs, too.
		// What a lost create call may cost is set aside already.
		err = errors.Join(w.Ledger.Work.OweReconcile(ctx, w.Run.No, reconcile.Older(job, w.Seg.Provider)), w.Ledger.Work.Intend(ctx,
			w.Lease, store.Intent{Account: w.Access.Fingerprint, Stamped: true, Reserve: max(w.Seg.Expected-w.Seg.LostMost, 0), Due: now}))
	}
	if err == nil {
		err = w.launched(ctx, job, "adopted")
	}
	return err == nil, err
}

// madeBefore looks for a job of the segment before its first create call: a copy of the ledger may have made it. It reports whether
// nothing is to be sent now.
func (w *work) madeBefore(ctx context.Context) (bool, error) {
	finder, ok := w.Access.Batch.(provider.Finder)
	switch {
	case !ok:
		return false, nil
	case finder.Stamped():
		return w.stampedBefore(ctx)
	case !w.Seg.Created.Before(w.jobs.began): // its ids were made after this process began
		return false, nil
	}
	found, err := w.search(ctx, finder, provider.Search{NotBefore: w.Seg.Created})
	switch {
	case err != nil:
		return true, w.stumble(ctx, err)
	case found.Sighting == provider.Located:
		_, err := w.take(ctx, found.Jobs[0])
		return true, err
	case found.Sighting == provider.Unclear:
		return true, w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now().Add(w.Poll(0)), "not sent yet: "+found.Why)
	}
	return false, nil
}

// stampedBefore looks among the jobs with the run's stamp that the ledger does not know. One of this segment is taken; where one is of no
// segment here, the ledger is older than the job, and the run is reconciled first.
func (w *work) stampedBefore(ctx context.Context) (bool, error) {
	strangers, err := w.jobs.auditor.Seen(ctx, w.Run, w.Access)
	if err != nil || len(strangers) == 0 {
		if err != nil {
			err = w.stumble(ctx, err)
			return true, err
		}
		return false, nil
	}
	segments, err := w.Ledger.Reader.Segments(ctx, w.Run.No)
	if err != nil {
		return true, err
	}
	for _, st := range strangers {
		if reconcile.MadeBy(w.Run, w.Seg, st.Stamp) {
			_, err := w.take(ctx, st.Job)
			return true, err
		}
	}
	for _, st := range strangers {
		if slices.ContainsFunc(segments, func(g store.Segment) bool { return reconcile.MadeBy(w.Run, g, st.Stamp) }) {
			continue // its own create call looks for it, or the audit does
		}
		why := reconcile.Older(st.Job, w.Seg.Provider)
		return true, errors.Join(w.Ledger.Work.OweReconcile(ctx, w.Run.No, why), hold.Rest(ctx, w.Work, store.Reason(why)))
	}
	return false, nil
}
