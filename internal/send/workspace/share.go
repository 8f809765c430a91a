package workspace

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"assay/internal/keep/store"
	"assay/internal/send/dispatch/river"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
)

// artifactsMark is what the ledger calls the place that its artifacts are in.
const artifactsMark = "artifacts"

// ForeignPlaceError says that a place is not the one with the artifacts of a shared ledger.
type ForeignPlaceError struct{ Place, Here, Known string } // the place, its mark, and the mark that the ledger knows

// Error says it.
func (e *ForeignPlaceError) Error() string {
	return fmt.Sprintf("%s is not the place of this ledger's artifacts: its mark is %s, the ledger knows %s", e.Place, e.Here, e.Known)
}

// sharesArtifacts makes sure that all processes that work on a shared ledger see the same artifacts. A place is marked before
// the ledger knows the mark; where two processes mark a new one at once, it has both marks, and the ledger one of them.
func (h *Home) sharesArtifacts(ctx context.Context) error {
	id, err := NewID()
	if err != nil {
		return err
	}
	here, err := h.Files.Probe(ctx, id)
	if err != nil {
		return &ArtifactsError{err}
	}
	known, err := h.Ledger.Runs.SetMeta(ctx, artifactsMark, here)
	if err != nil || known == here {
		return err
	}
	if here, err = h.Files.Probe(ctx, known); err != nil {
		return &ArtifactsError{err}
	}
	if known != here {
		return &ForeignPlaceError{Place: h.Files.String(), Here: here, Known: known}
	}
	return nil
}

// Workers reports whether workers are alive that drive the runs of a shared ledger.
func (h *Home) Workers(ctx context.Context) (bool, error) {
	if !h.Ledger.Postgres() {
		return false, nil
	}
	return river.Alive(ctx, h.Where)
}

// Worker is how a worker takes work from a shared ledger.
type Worker struct {
	Concurrency int  // pieces of work at a time, for each provider
	Programs    bool // judging programs may be run here
	Log         *slog.Logger
	Ready       func()
	Closed      func(ctx context.Context, run store.Run)
}

// Work drives all open runs of a shared ledger until the context ends.
func (h *Home) Work(ctx context.Context, o Worker) error {
	name, err := h.holder()
	if err != nil {
		return err
	}
	if !o.Programs {
		h.Planner.Library.Programs = nil
	}
	d := &river.Driver{
		Programs: o.Programs, Judged: h.judged,
		Ledger: engine.Ledger{Work: h.Ledger.Work, Leases: h.Ledger.Leases, Reader: h.Ledger.Reader}, URL: h.Where, Clock: h.Clock(), Timing: h.Timing(), Name: name, Gone: h.Gone,
		Concurrency: o.Concurrency, Log: o.Log, Ready: o.Ready, Closed: o.Closed, Engine: h.workerEngine,
	}
	return d.Drive(ctx)
}

// workerEngine is an engine for one run, from the run's own snapshot.
func (h *Home) workerEngine(ctx context.Context, run store.Run) (*runs.Engine, error) {
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
func (h *Home) judged(ctx context.Context, run store.Run) (bool, error) {
	s, err := h.Planner.Study(ctx, run)
	return err == nil && len(s.JudgedByPrograms()) > 0, err
}

// WaitingForProgram names the stages of a shared run that wait for a worker which may run their judging programs. Such a run is
// extended by no other.
func (h *Home) WaitingForProgram(ctx context.Context, run store.Run) ([]string, error) {
	now := h.World.Now()
	if !h.Ledger.Postgres() || run.State != store.RunOpen || run.Due.IsZero() || run.Due.Add(h.Timing().Lease).After(now) || run.Lease.Until.After(now) {
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

// IsShared reports whether the URL of a ledger is one that several processes can share.
func IsShared(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Stranded lists the segments of a shared run, or of a gateway's, that no living worker or gateway can work on. What has just come
// due is not among them: a worker needs a sweep to take it.
func (h *Home) Stranded(ctx context.Context, run store.Run) ([]store.Stranded, error) {
	if !h.Ledger.Postgres() && run.Study != GatewayStudy {
		return nil, nil
	}
	return h.Ledger.Leases.Stranded(ctx, run.No, h.Timing().Lease)
}

// WaitingForKey are segments that wait for a worker with one key.
type WaitingForKey struct {
	Provider string
	Account  string // fingerprint of the key; empty: any key of the provider
	Variable string // that holds such a key; empty: not known
	Segments []int64
}

// WaitingForKeys groups the stranded segments of a run by the key that they wait for.
func (h *Home) WaitingForKeys(ctx context.Context, run store.Run) ([]WaitingForKey, error) {
	all, err := h.Stranded(ctx, run)
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
		out[i].Segments = append(out[i].Segments, g.Segment)
	}
	return out
}
