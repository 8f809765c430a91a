package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/provider"
	"assay/store"
)

// reconcile compares the providers' lists of jobs with the ledger at the end of a run: jobs with our stamp that the
// ledger does not know are reported, and cancelled where they are doubles.
func (x *extension) reconcile(ctx context.Context) error {
	segments, err := x.Ledger.Segments(ctx, x.run.No)
	if err != nil {
		return err
	}
	jobs, err := x.Ledger.Jobs(ctx, x.run.No)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, j := range jobs {
		known[j.Provider+"\x00"+j.ID] = true
	}
	looked := map[string]bool{}
	for _, g := range segments {
		if g.Mode != store.Batch || g.Intends == 0 || looked[g.Provider] {
			continue
		}
		looked[g.Provider] = true
		if err := x.reconcileWith(ctx, g.Provider, segments, known); err != nil {
			return err
		}
	}
	return nil
}

func (x *extension) reconcileWith(ctx context.Context, name string, segments []store.Segment, known map[string]bool) error {
	access, err := x.Accounts(name)
	if errors.Is(err, ErrNoKey) {
		return nil
	}
	if err != nil {
		return err
	}
	lister, ok := access.Batch.(provider.Lister)
	if !ok {
		return nil
	}
	strangers, err := x.strangers(ctx, name, lister, known)
	if err != nil {
		return err
	}
	for _, st := range strangers {
		if err := x.stranger(ctx, name, st, segments); err != nil {
			return err
		}
	}
	return nil
}

// strangers lists the jobs with this run's stamp that the ledger does not know. A list that breaks off is noted, and what
// it showed is used.
func (x *extension) strangers(ctx context.Context, name string, lister provider.Lister, known map[string]bool) ([]provider.Status, error) {
	oldest := x.run.Created.Add(-24 * time.Hour) // clocks differ
	var all []provider.Status
	for st, err := range lister.List(ctx) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return all, x.Ledger.Note(ctx, x.run.No, 0, "reconcile", "the jobs of "+name+" could not be listed: "+err.Error())
		}
		if !st.Created.IsZero() && st.Created.Before(oldest) {
			break
		}
		if st.Stamp.Run == x.run.ID && !known[name+"\x00"+st.Job] {
			all = append(all, st)
		}
	}
	return all, nil
}

// stranger deals with a job that carries our stamp and is not in the ledger.
func (x *extension) stranger(ctx context.Context, name string, st provider.Status, segments []store.Segment) error {
	for _, g := range segments {
		if fmt.Sprintf("s%d", g.No) != st.Stamp.Segment || g.Provider != name {
			continue
		}
		l, err := x.Ledger.HoldSegment(ctx, g.No, x.Holder, x.Timing.Lease)
		if err != nil {
			return err
		}
		w, err := x.look(ctx, l)
		if err == nil {
			err = w.double(ctx, st.Job)
		}
		return errors.Join(err, x.Ledger.Release(ctx, l))
	}
	return x.Ledger.Note(ctx, x.run.No, 0, "stranger", "job "+st.Job+" at "+name+" carries our stamp and is not in the ledger")
}
