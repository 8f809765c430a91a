package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// Auditor compares the providers' lists of jobs with the ledger at the end of a run: jobs with the run's stamp that the ledger
// does not know are reported, and cancelled if they are doubles.
type Auditor struct {
	*engine.Config
	Leases *hold.Leases

	seen   sync.Map // of *sight, by place
	unread sync.Map // how often a list could not be read at the end, by run
}

// place is an account as one run sees it.
type place struct {
	run      int64
	provider string
}

// sight holds what a list showed, and when.
type sight struct {
	free      chan struct{} // holds one while nobody reads the list: waiting for that can be called off, as for a lock it cannot
	at        time.Time
	strangers []provider.Status
}

func newSight() *sight {
	s := &sight{free: make(chan struct{}, 1)}
	s.free <- struct{}{}
	return s
}

// Seen returns the jobs with the stamp of a run that the ledger does not know, as the list showed them within the last minute: it is
// not read for each of many create calls.
func (r *Auditor) Seen(ctx context.Context, run store.Run, access engine.Access) ([]provider.Status, error) {
	kept, _ := r.seen.LoadOrStore(place{run.No, access.Name}, newSight())
	s := kept.(*sight)
	select {
	case <-s.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.free <- struct{}{} }()
	now := r.Clock.Now()
	if !s.at.IsZero() && engine.Elapsed(s.at, now) < r.Timing.LagStamped {
		return s.strangers, nil
	}
	all, err := Strangers(ctx, r.Config, run, access)
	if err == nil {
		s.at, s.strangers = now, all
	}
	return all, err
}

// audit is one comparison of a run.
type audit struct {
	*Auditor
	run      store.Run
	own      *hold.Work // a segment that is ours already; nil: none is
	segments []store.Segment
}

// Run audits every provider that a run has sent batches to. What needs a key that is not here, or a list that could not be read a few
// times, is left to a settled segment that is due for it, and keeps the run from closing no longer. *UnreadError: try again soon.
func (r *Auditor) Run(ctx context.Context, run store.Run) error {
	a := &audit{Auditor: r, run: run}
	var err error
	if a.segments, err = a.Ledger.Reader.Segments(ctx, run.No); err != nil {
		return err
	}
	looked := map[string]bool{}
	for _, g := range a.segments {
		if g.Mode != store.Batch || g.Intends == 0 || looked[g.Provider] {
			continue
		}
		looked[g.Provider] = true
		var unread *UnreadError
		err := a.with(ctx, g.Provider)
		if errors.As(err, &unread) && r.patient(run.No) {
			return err
		}
		if errors.Is(err, engine.ErrNoKey) || errors.As(err, &unread) {
			err = a.leave(ctx, g.Provider, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mostUnread is how often in a row the list of a provider may be unreadable before the run closes without it.
const mostUnread = 3

// patient reports whether a list that could not be read is tried again before the run closes.
func (r *Auditor) patient(run int64) bool {
	n, _ := r.unread.LoadOrStore(run, new(atomic.Int64))
	return n.(*atomic.Int64).Add(1) < mostUnread
}

// leave makes a settled segment of a provider due for a process that has the key, or for a time when the list can be read.
func (a *audit) leave(ctx context.Context, name string, why error) error {
	due := a.Clock.Now()
	if !errors.Is(why, engine.ErrNoKey) {
		due = due.Add(a.Timing.BackoffMax)
	}
	for _, g := range a.segments {
		if g.Provider != name || g.Mode != store.Batch || g.State != store.Settled {
			continue
		}
		err := a.Leases.Segment(ctx, g.No, func(ctx context.Context, h *hold.LeaseHolder) error {
			return a.Ledger.Work.Wake(ctx, h.Lease, due, string(store.AwaitsAudit))
		})
		var held *store.HeldError
		if errors.As(err, &held) {
			continue // late results are being looked for in it
		}
		return errors.Join(err, a.Ledger.Work.Note(ctx, a.run.No, g.No, "reconcile", why.Error()))
	}
	return a.Ledger.Work.Note(ctx, a.run.No, 0, "reconcile", "the jobs of "+name+" could not be listed: "+why.Error())
}

// Owed does what was left to a settled segment. A list that cannot be read is read again later.
func (r *Auditor) Owed(ctx context.Context, w *hold.Work) error {
	a := &audit{Auditor: r, run: w.Run, own: w}
	var err error
	if a.segments, err = a.Ledger.Reader.Segments(ctx, w.Run.No); err != nil {
		return err
	}
	var unread *UnreadError
	switch err := a.with(ctx, w.Seg.Provider); {
	case errors.As(err, &unread):
		return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: w.Clock.Now().Add(w.Backoff(w.Seg.Failures+2, 0)),
			Reason: string(store.AwaitsAudit)})
	case err != nil:
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
	strangers, unread := Strangers(ctx, a.Config, a.run, access)
	for _, st := range strangers {
		if err := a.stranger(ctx, name, st); err != nil {
			return err
		}
	}
	if errors.Is(unread, provider.ErrPartial) { // it never shows more
		return a.Ledger.Work.Note(ctx, a.run.No, 0, "reconcile", unread.Error())
	}
	return unread
}

// stranger deals with a job that carries our stamp and is not in the ledger.
func (a *audit) stranger(ctx context.Context, name string, st provider.Status) error {
	for _, g := range a.segments {
		if g.Provider != name || !MadeBy(a.run, g, st.Stamp) {
			continue
		}
		if a.own != nil && g.No == a.own.Seg.No {
			return Double(ctx, a.own, st.Job)
		}
		return a.Leases.Work(ctx, g.No, func(ctx context.Context, w *hold.Work) error { return Double(ctx, w, st.Job) })
	}
	if err := a.Ledger.Work.OweReconcile(ctx, a.run.No, Older(st.Job, name)); err != nil || a.run.State != store.RunClosed {
		return err
	}
	return a.Ledger.Work.ReopenRun(ctx, a.run.No, "a job of it is not in the ledger")
}

// Older returns why a run has to be reconciled that a job belongs to.
func Older(job, name string) string {
	return fmt.Sprintf("job %s at %s belongs to this run and is not in this ledger, which is older than the job or a copy", job, name)
}

// MadeBy reports whether a stamp is that of a segment with the same bytes, whichever create call made the job.
func MadeBy(run store.Run, g store.Segment, s provider.Stamp) bool {
	return g.Mode == store.Batch && g.InputSHA256 != "" &&
		s.Same(provider.Stamp{Run: run.ID, Segment: fmt.Sprintf("s%d", g.No), SHA256: g.InputSHA256})
}
