package batch

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
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
		return w.Ledger.Work.RetryLater(ctx, w.Lease, next, "deleting what the lost create call names: "+err.Error())
	}
	return errors.Join(w.Ledger.Work.Fenced(ctx, w.Lease, now),
		w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "unfenced", "what the lost create call names could not be deleted: "+err.Error()))
}

// fences reports whether a create call at a provider can be kept from making a job when it arrives late.
func fences(p provider.Provider) bool {
	_, ok := p.(provider.Fencer)
	return ok
}

// double notes a job that was made twice with what it has done, and cancels it if it is still at work.
func (w *work) double(ctx context.Context, job string) error {
	j := w.Job()
	j.ID = job
	st, err := w.Access.Batch.Check(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d := store.Double{Job: job, What: "what it did may be billed"}
	if err == nil {
		d.What, d.Over = surplusOf(st), st.State.Terminal()
	}
	if err := w.Ledger.Work.AddDouble(ctx, w.Lease, d); err != nil {
		return err
	}
	c, ok := w.Access.Batch.(provider.Canceler)
	if !ok || d.Over {
		return nil
	}
	if err := c.Cancel(ctx, j); err != nil {
		return w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, store.DoubleEvent, "could not cancel "+job+": "+err.Error())
	}
	return nil
}

// surplusOf describes what a job that is one too many has done.
func surplusOf(st provider.Status) string {
	switch {
	case !st.State.Terminal():
		return "it is cancelled; what it has done by then is billed"
	case st.State == provider.StateFailed && len(st.Parts) == 0:
		return "it failed and did nothing"
	case !st.Counts.Known:
		return "it is over; what it did may be billed"
	}
	if st.Counts.Succeeded == 1 {
		return fmt.Sprintf("it is over; 1 request of its %d was done, and is billed twice", st.Counts.Total)
	}
	return fmt.Sprintf("it is over; %s of its %d were done, and are billed twice", assay.Count(st.Counts.Succeeded, "request"),
		st.Counts.Total)
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
		return errors.Join(w.Ledger.Work.Audited(ctx, w.Lease, now),
			w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "reconcile",
				"a create call was repeated, and the provider's jobs cannot be listed with this key"))
	}
	found, err := w.search(ctx, finder, provider.Search{NotBefore: w.Seg.Created, Taken: func(job string) bool { return job == w.Seg.Job }})
	if err != nil || found.Sighting == provider.Unclear {
		return w.auditLater(ctx, found, err)
	}
	for _, job := range found.Jobs {
		if err := w.double(ctx, job); err != nil {
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
	return w.Ledger.Work.Audited(ctx, w.Lease, now)
}

// auditLater puts off an audit without a result. It is given up when every job of that time is over, with an event.
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
	if now.Sub(w.Seg.SettledAt) > w.Access.Batch.Limits().Longest+w.Timing.Gone+w.Timing.Audit {
		return errors.Join(w.Ledger.Work.Audited(ctx, w.Lease, now),
			w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "reconcile",
				"a create call was repeated, and whether its job was made cannot be told: "+why))
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, now.Add(w.Timing.Audit), "looking for the job of a lost create call: "+why)
}

// reportDoubles notes what the doubles of the segment have done in the end, and returns how many have not ended.
func (w *work) reportDoubles(ctx context.Context) (open int, err error) {
	jobs, err := w.Ledger.Reader.SegmentJobs(ctx, w.Seg.No)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		if j.Role != "double" {
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
		if err := w.Ledger.Work.AddDouble(ctx, w.Lease, store.Double{Job: j.ID, What: surplusOf(st), Over: true}); err != nil {
			return 0, err
		}
	}
	return open, nil
}
