package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"assay/internal/keep/store"
	"assay/internal/study/declare"
	"assay/internal/study/plan"
)

// Beginning has all that a run begins with.
type Beginning struct {
	Run      store.NewRun
	Input    *plan.Input
	Plan     *plan.Plan
	Files    fs.FS  // the study's folder
	Prices   []byte // the price file of the command line; nil: none
	Settings Settings
	Claim    *store.Claim   // nil: it begins whatever else there is
	Locked   *Locked        // the study as it was locked, with what was changed since; nil: it was not
	Looked   []declare.Look // looks at the runs whose answers it takes over
	Check    func() error   // returns an error where what was copied differs from what was planned; nil: no check
}

// Begin writes a run and the snapshot it works from: the study, its texts, its items and its lanes.
func (s *Store) Begin(ctx context.Context, b Beginning) (store.Run, error) {
	for i := range b.Input.Study.Stages {
		if st := &b.Input.Study.Stages[i]; st.Import != nil {
			b.Settings.Imports = append(b.Settings.Imports, st.Name)
		}
	}
	settings, err := json.Marshal(b.Settings)
	if err != nil {
		return store.Run{}, err
	}
	b.Run.Settings = string(settings)
	run, stop, err := s.create(ctx, b)
	defer stop()
	if err != nil {
		return store.Run{}, fmt.Errorf("begin a run: %w", err)
	}
	if err := s.prepare(ctx, run, b); err != nil {
		stop()
		_ = s.Leases.Release(context.WithoutCancel(ctx), run.Lease) // the claim ends by itself, too
		return store.Run{}, fmt.Errorf("begin run %s: %w", run.ID, err)
	}
	return s.Reader.Run(ctx, run.No)
}

// prepare writes the snapshot of a run, and opens it.
func (s *Store) prepare(ctx context.Context, run store.Run, b Beginning) error {
	for _, name := range append([]string{b.Settings.File}, b.Input.Study.Loaded...) {
		if err := s.keep(ctx, run.No, b.Files, name); err != nil {
			return err
		}
	}
	if b.Prices != nil {
		if err := s.Runs.PutPart(ctx, run.No, pricesPart, bytes.NewReader(b.Prices)); err != nil {
			return err
		}
	}
	if err := s.keepGold(ctx, run.No, b); err != nil {
		return err
	}
	rates, err := ratesOf(b.Input)
	if err != nil {
		return err
	}
	if err := s.Runs.PutPart(ctx, run.No, ratesPart, bytes.NewReader(rates)); err != nil {
		return err
	}
	for _, e := range b.Input.Study.Inputs {
		items := s.keepShown(ctx, b.Files, b.Input.FirstItems(ctx, e.Name, b.Settings.Limit))
		if err := s.Runs.PutItems(ctx, run.No, e.Name, items); err != nil {
			return fmt.Errorf("keep input %s: %w", e.Name, err)
		}
	}
	if err := s.Runs.PutLanes(ctx, LanesOf(run.No, b)); err != nil {
		return err
	}
	if err := s.importAll(ctx, run, b); err != nil {
		return err
	}
	if err := s.keepDeclared(ctx, run, b); err != nil {
		return err
	}
	if b.Check != nil {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return s.Runs.OpenRun(ctx, run.No)
}

// create writes the run itself, and keeps its claim until stop is called.
func (s *Store) create(ctx context.Context, b Beginning) (run store.Run, stop func(), err error) {
	stop = func() {}
	if b.Claim == nil {
		run, err = s.Runs.CreateRun(ctx, b.Run)
		return run, stop, err
	}
	if run, err = s.Runs.ClaimRun(ctx, b.Run, *b.Claim); err != nil {
		return run, stop, err
	}
	return run, s.Renewing(ctx, run.Lease, b.Claim.TTL), nil
}

// Renewing renews a lease until stop is called. Who holds it finds out at the next write that it was lost.
func (s *Store) Renewing(ctx context.Context, l store.Lease, ttl time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := s.Leases.Renew(ctx, l, ttl); errors.Is(err, store.ErrLeaseLost) {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (s *Store) keep(ctx context.Context, run int64, files fs.FS, name string) error {
	f, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	defer f.Close()
	return s.Runs.PutPart(ctx, run, filePart+name, f)
}

func (s *Store) keepGold(ctx context.Context, run int64, b Beginning) error {
	parts := map[string][]byte{}
	if err := goldParts(parts, b.Input.Study, b.Files); err != nil {
		return err
	}
	for name, text := range parts {
		if err := s.Runs.PutPart(ctx, run, name, bytes.NewReader(text)); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return nil
}
