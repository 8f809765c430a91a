// Package reconcile compares a run with the lists of its providers: it finds jobs with the run's stamp that the ledger does not
// know, and notes and stops jobs that are one too many.
package reconcile

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
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
		if d, err = Surplus(ctx, w, j, st); err != nil {
			return err
		}
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

// Surplus returns what a job that is one too many has done, with what that cost by its results. Where these cannot be had, and the provider
// does not count, all of its requests are taken for done.
func Surplus(ctx context.Context, w *hold.Work, job provider.Job, st provider.Status) (store.Double, error) {
	d := store.Double{Job: job.ID, Over: st.State.Terminal(), Done: st.Counts.Succeeded}
	switch {
	case !d.Over:
		d.What = "it is cancelled; what it has done by then is billed"
		return d, nil
	case st.State == provider.StateFailed && len(st.Parts) == 0:
		d.What = "it failed and did nothing"
		return d, nil
	}
	b, err := results(ctx, w, job, st.Parts)
	switch {
	case err != nil && provider.FaultOf(err) == nil:
		return d, err
	case err == nil && !b.unreadable && b.answers >= st.Counts.Succeeded: // all that it counts is there
		d.Done, d.Cost = b.answers, b.cost()
	case !st.Counts.Known:
		d.Done = int64(job.Count)
		d.What = fmt.Sprintf("it is over; the provider does not count, so all of it (%s) is taken for billed twice",
			assay.Count(d.Done, "request"))
		return d, nil
	}
	d.What = fmt.Sprintf("it is over; %s of its %d were done, and are billed twice", assay.Count(d.Done, "request"), job.Count)
	if d.Done == 1 {
		d.What = fmt.Sprintf("it is over; 1 request of its %d was done, and is billed twice", job.Count)
	}
	return d, nil
}

// bill counts what answers cost.
type bill struct {
	answers, unpriced int64
	sum               assay.Money
	unreadable        bool // some of the results
}

// cost returns what all answers cost; nil: some have no price.
func (b *bill) cost() *assay.Money {
	if b.unpriced > 0 {
		return nil
	}
	return &b.sum
}

// results fetches the results of a job that is one too many, and returns what they cost. They are not kept: the answers of the segment
// are those of its own job.
func results(ctx context.Context, w *hold.Work, job provider.Job, parts []provider.Part) (b bill, err error) {
	for _, part := range parts {
		name := fmt.Sprintf("s%d-double-%s-%s", w.Seg.No, artifacts.Name(job.ID), artifacts.Name(part.Name))
		if err := w.Files.Remove(ctx, w.Run.ID, name); err != nil { // of a process that was killed here
			return b, err
		}
		sink, err := w.Files.Sink(ctx, w.Run.ID, name)
		if err != nil {
			return b, err
		}
		if err := w.Access.Batch.Fetch(ctx, job, part, sink); err != nil {
			return b, errors.Join(err, sink.Discard())
		}
		if sink.Size() == 0 {
			if err := sink.Discard(); err != nil {
				return b, err
			}
			continue
		}
		if _, err := sink.Commit(); err != nil {
			return b, err
		}
		if err := errors.Join(b.read(ctx, w, job, part, name), w.Files.Remove(ctx, w.Run.ID, name)); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (b *bill) read(ctx context.Context, w *hold.Work, job provider.Job, part provider.Part, name string) error {
	file, err := w.Files.Open(ctx, w.Run.ID, name)
	if err != nil {
		return err
	}
	defer file.Close()
	for line, err := range w.Access.Batch.Decode(job, part, file) {
		if err != nil { // by their bytes: it is not tried for ever
			b.unreadable = true
			return nil
		}
		cost := w.Bill(line.Outcome)
		switch {
		case cost != nil:
			b.sum += *cost
		case line.Outcome.Ending.Stands():
			b.unpriced++
		}
		if line.Outcome.Ending.Stands() {
			b.answers++
		}
	}
	return nil
}
