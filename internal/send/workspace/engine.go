package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"assay/internal/keep/store"
	"assay/internal/send/dispatch/river"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/script/snapshot"
	"assay/internal/simulator"
	"assay/internal/study"
)

// rehearsalSpeed is how many times faster than life a rehearsal waits.
const rehearsalSpeed = 2000

// Engine is an engine for the runs of one study.
type Engine struct {
	*runs.Engine
	sim *simulator.Server // a rehearsal's; nil: none
}

// Close ends what the engine started.
func (e *Engine) Close() error {
	if e.sim == nil {
		return nil
	}
	return e.sim.Close()
}

// Engine returns an engine for a run. A rehearsal's works against a simulator in this process, with the luck it began with.
func (h *Home) Engine(ctx context.Context, run store.Run, s *study.Study) (*Engine, error) {
	holder, err := h.Holder()
	if err != nil {
		return nil, err
	}
	rng, err := h.World.newRand()
	if err != nil {
		return nil, err
	}
	e := &Engine{Engine: runs.New(engine.Config{
		Ledger: engine.Ledger{Work: h.Ledger.Work, Leases: h.Ledger.Leases, Limits: h.Ledger.Limits, Uploads: h.Ledger.Uploads,
			Reuse: h.Ledger.Reuse, Reader: h.Ledger.Reader},
		Files: h.Files, Planner: h.Planner, Clock: h.Clock(), Own: h.World.Now, Timing: h.Timing(), Random: rng, Holder: holder,
	})}
	a := h.World.Accounts(s)
	a.deadline, a.stall = e.Timing.Call, e.Timing.Stall
	if h.Rehearsal {
		seed, err := luck(run)
		if err != nil {
			return nil, err
		}
		if e.sim, err = simulator.New(simulator.Options{Seed: cmp.Or(seed, 1), Dir: filepath.Dir(h.Where)}); err != nil {
			return nil, fmt.Errorf("start the simulator: %w", err)
		}
		a.sim = e.sim
	}
	e.Accounts = a.Known
	return e, ctx.Err()
}

// luck returns the seed of the simulator that a rehearsal began with; 0: the usual one.
func luck(run store.Run) (uint64, error) {
	if run.Settings == "" {
		return 0, nil
	}
	var s snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return 0, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	return s.Luck, nil
}

// Clock returns the time by which the ledger's work waits.
func (h *Home) Clock() engine.Clock { return clock{h.Ledger.Now, h.World.Sleep} }

// Timing returns how long everything waits. Leases of a shared ledger are short, so that other processes can soon go on.
func (h *Home) Timing() engine.Timing {
	t := engine.DefaultTiming()
	if h.Rehearsal {
		t = t.Scaled(rehearsalSpeed)
	}
	if h.Ledger.Postgres() {
		t = river.Leases(t)
	}
	if h.World.Timing != nil {
		t = h.World.Timing(t)
	}
	return t
}
