// Package reconcile compares a run with the lists of its providers: it finds jobs with the run's stamp that the ledger does not
// know, and notes and stops jobs that are one too many.
package reconcile

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// Double notes a job that was made twice with what it has done, and cancels it if it is still at work and a create call of the
// segment was taken for lost. Any other was made by a copy of the ledger, which waits for it.
func Double(ctx context.Context, w *hold.Work, job string) error {
	j := w.Job()
	j.ID = job
	st, err := w.Access.Batch.Check(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ours := w.Seg.LostCreates > 0 || w.Seg.State == store.Intended
	d := store.Double{Job: job, What: "what it did may be billed"}
	if err == nil {
		d = Surplus(j, st)
		if !d.Over && !ours {
			d.What = "it was not made from here, and is left alone: a copy of this ledger may be at work elsewhere"
		}
	}
	if err := w.Ledger.Work.AddDouble(ctx, w.Lease, d); err != nil {
		return err
	}
	c, ok := w.Access.Batch.(provider.Canceler)
	if !ok || d.Over || !ours {
		return nil
	}
	if err := c.Cancel(ctx, j); err != nil {
		return w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, store.DoubleEvent, "could not cancel "+job+": "+err.Error())
	}
	return nil
}

// Surplus returns what a job that is one too many has done. Where it is over and the provider does not count, all of its requests are taken
// for done.
func Surplus(job provider.Job, st provider.Status) store.Double {
	d := store.Double{Job: job.ID, Over: st.State.Terminal(), Done: st.Counts.Succeeded}
	switch {
	case !d.Over:
		d.What = "it is cancelled; what it has done by then is billed"
	case st.State == provider.StateFailed && len(st.Parts) == 0:
		d.What = "it failed and did nothing"
	case !st.Counts.Known:
		d.Done = int64(job.Count)
		d.What = fmt.Sprintf("it is over; the provider does not count, so all of it (%s) is taken for billed twice",
			assay.Count(d.Done, "request"))
	case d.Done == 1:
		d.What = fmt.Sprintf("it is over; 1 request of its %d was done, and is billed twice", st.Counts.Total)
	default:
		d.What = fmt.Sprintf("it is over; %s of its %d were done, and are billed twice", assay.Count(d.Done, "request"), st.Counts.Total)
	}
	return d
}
