package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// audit compares the providers' lists of jobs with the ledger at the end of a run: jobs with our stamp that the ledger
// does not know are reported, and cancelled if they are doubles.
type audit struct {
	*engine.Config
	jobs     *Jobs
	run      store.Run
	own      *work // a segment that is ours already; nil: none is
	segments []store.Segment
	known    map[string]bool // jobs, by provider and id
}

// Reconcile audits every provider that a run has sent batches to. What needs a key that is not here is left to a
// process that has it, and keeps the run from closing no longer.
func (s *Jobs) Reconcile(ctx context.Context, run store.Run) error {
	a := &audit{Config: s.from, jobs: s, run: run}
	if err := a.read(ctx); err != nil {
		return err
	}
	looked := map[string]bool{}
	for _, g := range a.segments {
		if g.Mode != store.Batch || g.Intends == 0 || looked[g.Provider] {
			continue
		}
		looked[g.Provider] = true
		err := a.with(ctx, g.Provider)
		if errors.Is(err, engine.ErrNoKey) {
			err = a.leave(ctx, g.Provider)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *audit) read(ctx context.Context) (err error) {
	if a.segments, err = a.Ledger.Reader.Segments(ctx, a.run.No); err != nil {
		return err
	}
	jobs, err := a.Ledger.Reader.Jobs(ctx, a.run.No)
	a.known = make(map[string]bool, len(jobs))
	for _, j := range jobs {
		a.known[j.Provider+"\x00"+j.ID] = true
	}
	return err
}

// awaitsAudit is the reason of a settled segment that is due so that a process with its key compares the provider's jobs
// with the ledger.
const awaitsAudit = "the provider's list of jobs is to be compared with the ledger"

// leave makes a settled segment of a provider due for a process that has the key.
func (a *audit) leave(ctx context.Context, name string) error {
	for _, g := range a.segments {
		if g.Provider != name || g.Mode != store.Batch || g.State != store.Settled {
			continue
		}
		err := a.jobs.leases.Segment(ctx, g.No, func(ctx context.Context, h *hold.LeaseHolder) error {
			return a.Ledger.Work.Wake(ctx, h.Lease, a.Clock.Now(), awaitsAudit)
		})
		var held *store.HeldError
		if errors.As(err, &held) {
			continue // late results are being looked for in it
		}
		return err
	}
	return a.Ledger.Work.Note(ctx, a.run.No, 0, "reconcile", "the jobs of "+name+" could not be listed: no key here")
}

// audit does what was left to a settled segment, then goes on as usual.
func (w *work) audit(ctx context.Context) error {
	a := &audit{Config: w.Config, jobs: w.jobs, run: w.Run, own: w}
	if err := a.read(ctx); err != nil {
		return err
	}
	if err := a.with(ctx, w.Seg.Provider); err != nil {
		return err
	}
	return w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now(), "")
}

// with audits one provider.
func (a *audit) with(ctx context.Context, name string) error {
	access, err := a.Usable(name)
	if err != nil {
		return err
	}
	lister, ok := access.Batch.(provider.Lister)
	if !ok {
		return nil
	}
	strangers, err := a.strangers(ctx, name, lister)
	if err != nil {
		return err
	}
	for _, st := range strangers {
		if err := a.stranger(ctx, name, st); err != nil {
			return err
		}
	}
	return nil
}

// strangers lists the jobs with this run's stamp that the ledger does not know. A list that breaks off is noted, and what
// it showed is used.
func (a *audit) strangers(ctx context.Context, name string, lister provider.Lister) ([]provider.Status, error) {
	oldest := a.run.Created.Add(-24 * time.Hour) // clocks differ
	var all []provider.Status
	for st, err := range lister.List(ctx) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return all, a.Ledger.Work.Note(ctx, a.run.No, 0, "reconcile", "the jobs of "+name+" could not be listed: "+err.Error())
		}
		if !st.Created.IsZero() && st.Created.Before(oldest) {
			break
		}
		if st.State == provider.StateFailed { // nothing came of it, and nothing is billed
			continue
		}
		if st.Stamp.Run == a.run.ID && !a.known[name+"\x00"+st.Job] {
			all = append(all, st)
		}
	}
	return all, nil
}

// stranger deals with a job that carries our stamp and is not in the ledger.
func (a *audit) stranger(ctx context.Context, name string, st provider.Status) error {
	for _, g := range a.segments {
		if fmt.Sprintf("s%d", g.No) != st.Stamp.Segment || g.Provider != name {
			continue
		}
		if a.own != nil && g.No == a.own.Seg.No {
			return a.own.double(ctx, st.Job)
		}
		return a.jobs.at(ctx, g.No, func(ctx context.Context, w *work) error { return w.double(ctx, st.Job) })
	}
	return a.Ledger.Work.Note(ctx, a.run.No, 0, "stranger", "job "+st.Job+" at "+name+" carries our stamp and is not in the ledger")
}
