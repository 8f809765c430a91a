package batch

import (
	"context"
	"errors"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/provider"
)

// A create call that shows in no list is taken for lost and sent again. It may have been slow instead. So what it names is
// deleted first: a call that arrives after that makes a job which fails at once and costs nothing. And when the segment is
// settled, the jobs of lost calls are looked for once more: what was billed twice is reported.

// fence deletes what a lost create call names, before anything is uploaded anew. If it cannot be deleted, the call gets
// as long to arrive as one that names nothing.
func (w *work) fence(ctx context.Context) error {
	now := w.Clock.Now()
	f, ok := w.Access.Batch.(provider.Fencer)
	if !ok {
		return w.Ledger.Work.Fenced(ctx, w.Lease, now)
	}
	err := f.Fence(ctx, provider.Handle(w.Seg.Fence))
	switch {
	case err == nil:
		return w.Ledger.Work.Fenced(ctx, w.Lease, now)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if at := w.Seg.Moved.Add(w.Timing.Unfenced); now.Before(at) {
		next := now.Add(min(w.Backoff(w.Seg.Failures+2, 0), at.Sub(now)))
		return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: next,
			Reason: "deleting what the lost create call names: " + err.Error()})
	}
	return errors.Join(w.Ledger.Work.Fenced(ctx, w.Lease, now),
		w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "unfenced", "what the lost create call names could not be deleted: "+err.Error()))
}

// fences reports whether a create call at a provider can be kept from making a job when it arrives late.
func fences(p provider.Provider) bool {
	_, ok := p.(provider.Fencer)
	return ok
}

// owesAudit reports whether jobs of lost create calls are to be looked for once more.
func owesAudit(g store.Segment) bool { return g.LostCreates > g.Audited }

// auditLost looks for jobs of create calls that were taken for lost, when they have had time to show, and reports what was
// billed twice.
func (w *work) auditLost(ctx context.Context) error {
	now := w.Clock.Now()
	if at := w.Seg.SettledAt.Add(w.Timing.Audit); now.Before(at) {
		return w.Ledger.Work.Wake(ctx, w.Lease, at, "")
	}
	finder, ok := w.Access.Batch.(provider.Finder)
	if !ok || w.Access.Fingerprint != w.Seg.Account {
		return errors.Join(w.Ledger.Work.Audited(ctx, w.Lease, store.Audit{Due: now, Unclear: true}),
			w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "reconcile",
				"a create call was repeated, and the provider's jobs cannot be listed with this key"))
	}
	found, err := w.search(ctx, finder, provider.Search{NotBefore: w.Seg.Created, Taken: func(job string) bool { return job == w.Seg.Job }})
	if err != nil || found.Sighting == provider.Unclear {
		return w.auditLater(ctx, found, err)
	}
	for _, job := range found.Jobs {
		if err := reconcile.Double(ctx, w.Work, job); err != nil {
			return err
		}
	}
	open, err := w.reportDoubles(ctx)
	if err != nil {
		return err
	}
	if open > 0 {
		return w.auditLater(ctx, provider.Found{Why: "a job that is one too many has not ended"}, nil)
	}
	return w.Ledger.Work.Audited(ctx, w.Lease, store.Audit{Due: now})
}

// unintended decides about an intent that the ledger refused. Where a hard budget covers the segment once, and its lost create call may
// have made a job, that is looked for first: if there is none, the money is free.
func unintended(ctx context.Context, w *work, err error) error {
	if w.Seg.LostMost == 0 || !errors.Is(err, store.ErrBudget) {
		return w.Unintended(ctx, err)
	}
	switch seen, looked := lookForLost(ctx, w, "the budget covers it once, and its lost create call may have made a job"); {
	case looked != nil || seen == jobSought || seen == jobTaken:
		return looked
	case seen == jobUnclear:
		return w.Unintended(ctx, err)
	}
	return w.Ledger.Work.Audited(ctx, w.Lease, store.Audit{Due: w.Clock.Now()})
}

// seenAgain is the result of another look for the job of a lost create call, before anything is sent.
type seenAgain int

// The results of a look.
const (
	jobSought  seenAgain = iota // not known yet: the segment waits for the next look
	jobTaken                    // it was there, and is the segment's now
	jobAbsent                   // there is none
	jobUnclear                  // it cannot be told, and never will be
)

// lookForLost looks once more for the job of a lost create call of a segment that is not sent again yet, as long after the loss as an audit
// does it. One that shows is taken. Why is the reason for the wait.
func lookForLost(ctx context.Context, w *work, why string) (seenAgain, error) {
	now := w.Clock.Now()
	finder, ok := w.Access.Batch.(provider.Finder)
	if !ok {
		return jobUnclear, nil
	}
	if at := w.Seg.Moved.Add(w.Timing.Audit); now.Before(at) {
		return jobSought, w.Ledger.Work.Wake(ctx, w.Lease, at, why+": looked for again at "+at.Format(time.RFC3339))
	}
	found, err := w.search(ctx, finder, provider.Search{NotBefore: w.Seg.Created})
	switch {
	case err != nil:
		return jobSought, w.stumble(ctx, err)
	case found.Sighting == provider.Located:
		_, err := w.take(ctx, found.Jobs[0])
		return jobTaken, err
	case found.Sighting == provider.Unclear && now.Sub(w.Seg.Moved) > w.Access.Batch.Limits().Longest+w.Timing.Gone+w.Timing.Audit:
		return jobUnclear, nil
	case found.Sighting == provider.Unclear:
		return jobSought, w.Ledger.Work.Wake(ctx, w.Lease, now.Add(w.Poll(now.Sub(w.Seg.Moved))), found.Why)
	}
	return jobAbsent, nil
}

// inputWhole makes sure that what is sent are the bytes that were cut. A file that is gone or changed is not sent: its requests are
// made again, in a new segment. Where a lost create call may have made a job of it, that is looked for first.
func inputWhole(ctx context.Context, w *work) (bool, error) {
	ok, err := whole(ctx, w.Work, w.Seg.Input, w.Seg.InputSHA256)
	if ok || err != nil {
		return ok, err
	}
	why := "its file " + w.Seg.Input + " is gone or was changed on the disk"
	if owesAudit(w.Seg) {
		seen, err := lookForLost(ctx, w, why+", and a lost create call may have made a job of it")
		if err != nil || seen == jobSought || seen == jobTaken {
			return false, err
		}
		if err := w.Ledger.Work.Audited(ctx, w.Lease, store.Audit{Due: w.Clock.Now(), Unclear: seen == jobUnclear}); err != nil {
			return false, err
		}
	}
	return false, errors.Join(w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "damaged", why), w.TakeBack(ctx, "not sent: "+why))
}

// auditLater puts off an audit without a result, as long as the list cannot be read. One that cannot tell is given up when every job of
// that time is over, with an event.
func (w *work) auditLater(ctx context.Context, found provider.Found, err error) error {
	var ours *ledgerError
	if ctx.Err() != nil || errors.As(err, &ours) {
		return err
	}
	why := found.Why
	if err != nil {
		why = err.Error()
	}
	now := w.Clock.Now()
	if err == nil && now.Sub(w.Seg.SettledAt) > w.Access.Batch.Limits().Longest+w.Timing.Gone+w.Timing.Audit {
		return errors.Join(w.Ledger.Work.Audited(ctx, w.Lease, store.Audit{Due: now, Unclear: true}),
			w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "reconcile",
				"a create call was repeated, and whether its job was made cannot be told: "+why))
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: now.Add(w.Timing.Audit),
		Reason: "looking for the job of a lost create call: " + why})
}

// reportDoubles notes what the doubles of the segment have done in the end, and returns how many have not ended.
func (w *work) reportDoubles(ctx context.Context) (open int, err error) {
	jobs, err := w.Ledger.Reader.SegmentJobs(ctx, w.Seg.No)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		if j.Role != store.JobDouble {
			continue
		}
		job := w.Job()
		job.ID = j.ID
		st, err := w.Access.Batch.Check(ctx, job)
		switch f := provider.FaultOf(err); {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case f != nil && f.Class == assay.FaultGone:
			continue // the first note about it stays
		case err != nil || !st.State.Terminal():
			open++
			continue
		}
		d, err := reconcile.Surplus(ctx, w.Work, job, st)
		if err != nil {
			return 0, err
		}
		if err := w.Ledger.Work.AddDouble(ctx, w.Lease, d); err != nil {
			return 0, err
		}
	}
	return open, nil
}
