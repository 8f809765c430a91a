// Package workers drives the runs of a shared ledger, and shows what waits for a worker that is not there.
package workers

import (
	"context"
	"log/slog"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/send/dispatch/river"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/workspace"
)

// Alive reports whether workers are alive that drive the runs of a shared ledger.
func Alive(ctx context.Context, h *workspace.Home) (bool, error) {
	if !h.Ledger.Postgres() {
		return false, nil
	}
	return river.Alive(ctx, h.Ledger.Reader.Query)
}

// ErrUnseen is the error of a role that may not read who takes work.
var ErrUnseen = river.ErrUnseen

// Share returns how many of a worker's connections to PostgreSQL its queue takes; the ledger has the others.
func Share(most int) int { return river.Share(most) }

// Options are how a worker takes work from a shared ledger.
type Options struct {
	Connections int  // to PostgreSQL, for the queue: river.Share of all
	Concurrency int  // pieces of work at a time, for each provider
	Programs    bool // judging programs may be run here
	Log         *slog.Logger
	Ready       func()
	Closed      func(ctx context.Context, run store.Run)
	Woken       <-chan store.Work // what became due before its time; nil: nothing
}

// Work drives all open runs of a shared ledger until the context ends.
func Work(ctx context.Context, h *workspace.Home, o Options) error {
	name, err := h.Holder()
	if err != nil {
		return err
	}
	if !o.Programs {
		h.Planner.Library.Programs = nil
	}
	d := &river.Driver{
		Programs: o.Programs, Judged: func(ctx context.Context, run store.Run) (bool, error) { return judged(ctx, h, run) },
		Ledger: engine.Ledger{Work: h.Ledger.Work, Leases: h.Ledger.Leases, Reader: h.Ledger.Reader}, URL: h.Where, Clock: h.Clock(),
		Timing: h.Timing(), Name: name, Gone: h.Gone, Concurrency: o.Concurrency, Connections: o.Connections,
		Log: o.Log, Ready: o.Ready, Closed: o.Closed, Woken: o.Woken,
		Engine: func(ctx context.Context, run store.Run) (*runs.Engine, error) { return engineOf(ctx, h, run) },
	}
	return d.Drive(ctx)
}

// engineOf returns an engine for one run, from the run's own snapshot.
func engineOf(ctx context.Context, h *workspace.Home, run store.Run) (*runs.Engine, error) {
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return nil, err
	}
	return e.Engine, nil // there is nothing to close but a rehearsal's simulator, and no rehearsal is shared
}

// judged reports whether a program judges in a run.
func judged(ctx context.Context, h *workspace.Home, run store.Run) (bool, error) {
	s, err := h.Planner.Study(ctx, run)
	return err == nil && len(s.JudgedByPrograms()) > 0, err
}

// WaitingForProgram names the stages of a shared run that wait for a worker which may run their judging programs. Such a run is
// extended by no other.
func WaitingForProgram(ctx context.Context, h *workspace.Home, run store.Run) ([]string, error) {
	now := h.World.Now()
	if !h.Ledger.Postgres() || run.State != store.RunOpen || run.Due.IsZero() || run.Due.Add(h.Timing().Lease).After(now) ||
		run.Lease.Until.After(now) {
		return nil, nil
	}
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	stages := s.JudgedByPrograms()
	if len(stages) == 0 {
		return nil, nil
	}
	if may, err := h.Ledger.Leases.MayJudge(ctx, run.No); may || err != nil {
		return nil, err
	}
	return stages, nil
}

// Stranded lists the segments of a shared run, or of a gateway's, that no living worker or gateway can work on, and the lanes that
// have none yet. What has just come due is not among them: a worker needs a sweep to take it.
func Stranded(ctx context.Context, h *workspace.Home, run store.Run) ([]store.Stranded, error) {
	if !h.Ledger.Postgres() && run.Study != workspace.GatewayStudy {
		return nil, nil
	}
	return h.Ledger.Pages.Stranded(ctx, run.No, h.Timing().Lease)
}

// WaitingForKey are segments that wait for a worker with one key.
type WaitingForKey struct {
	Provider string
	Account  string // fingerprint of the key; empty: any key of the provider
	Variable string // that holds such a key; empty: not known
	Segments []int64
	Lanes    []string // that have no segment yet
}

// WaitingForKeys groups the stranded segments of a run by the key that they wait for.
func WaitingForKeys(ctx context.Context, h *workspace.Home, run store.Run) ([]WaitingForKey, error) {
	all, err := Stranded(ctx, h, run)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	groups := byKey(all)
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return groups, nil // the variables are a help, no more
	}
	for i := range groups {
		groups[i].Variable = h.World.Accounts(s).KeyName(groups[i].Provider)
	}
	return groups, nil
}

// byKey groups stranded segments, in the order of their first.
func byKey(all []store.Stranded) []WaitingForKey {
	var out []WaitingForKey
	for _, g := range all {
		i := slices.IndexFunc(out, func(k WaitingForKey) bool { return k.Provider == g.Provider && k.Account == g.Account })
		if i < 0 {
			i = len(out)
			out = append(out, WaitingForKey{Provider: g.Provider, Account: g.Account})
		}
		if g.Segment != 0 {
			out[i].Segments = append(out[i].Segments, g.Segment)
		} else if !slices.Contains(out[i].Lanes, g.Lane) {
			out[i].Lanes = append(out[i].Lanes, g.Lane)
		}
	}
	return out
}
