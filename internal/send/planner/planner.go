// Package planner decides what the engine sends for a run: of a study, from its script and the results so far; of a
// plain batch file, from the file.
package planner

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/script"
	"assay/internal/send/script/conditions"
	"assay/internal/study"
)

// Planner plans every run of a ledger. It is safe for concurrent use.
type Planner struct {
	*script.Library
	Results *results.Reader // answers the gates of studies
	Batches *batchrun.Planner
}

var (
	_ engine.Planner  = (*Planner)(nil)
	_ engine.Rereader = (*Planner)(nil)
)

// Study returns the study that a run works from; of a batch file, one that only names its provider.
func (p *Planner) Study(ctx context.Context, run store.Run) (*study.Study, error) {
	if b, ok := batchrun.Of(run); ok {
		return b.Study(), nil
	}
	return p.Library.Study(ctx, run)
}

// Absorb reads the newest answers into verdicts, decides the gates that wait for them, and looks at rounds of comparisons that are done.
func (p *Planner) Absorb(ctx context.Context, run store.Run) error {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Absorb(ctx, run)
	}
	s, err := p.Open(ctx, run)
	if err != nil {
		return err
	}
	for {
		if err := s.Verdicts.Absorb(ctx); err != nil {
			return err
		}
		due, err := s.Verdicts.Close(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		decided := false
		for _, d := range due {
			done, err := p.decide(ctx, run, s, d)
			if err != nil {
				return err
			}
			decided = decided || done
		}
		if !decided {
			return nil
		}
	}
}

// decide is false if nothing can be decided yet.
func (p *Planner) decide(ctx context.Context, run store.Run, s *script.Script, d conditions.Due) (bool, error) {
	if d.Round > 0 {
		found, err := findings.Look(ctx, p.Results, run, d.Reads[0])
		if err != nil {
			return false, fmt.Errorf("look at round %d of stage %s in run %s: %w", d.Round, d.Reads[0], run.ID, err)
		}
		return s.Look(ctx, d, found)
	}
	found, err := findings.Gates(ctx, p.Results, run, d.Reads)
	if err != nil {
		return false, fmt.Errorf("compute what a gate of run %s looks at: %w", run.ID, err)
	}
	return true, s.Conditions.DecideGate(ctx, d, found)
}

// Groups lists what can be asked.
func (p *Planner) Groups(ctx context.Context, run store.Run) ([]engine.Group, error) {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Groups(ctx, run)
	}
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	all, err := s.Groups(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]engine.Group, len(all))
	for i, g := range all {
		out[i] = engine.Group(g)
	}
	return out, nil
}

// Requests walks over the requests of a group.
func (p *Planner) Requests(ctx context.Context, run store.Run, g engine.Group, sent engine.Sent) iter.Seq2[engine.Planned, error] {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Requests(ctx, run, g, sent)
	}
	return func(yield func(engine.Planned, error) bool) {
		s, err := p.Open(ctx, run)
		if err != nil {
			yield(engine.Planned{}, err)
			return
		}
		for r, err := range s.Requests(ctx, g.GroupKey, g.Mode, script.Sent(sent)) {
			if !yield(engine.Planned(r), err) {
				return
			}
		}
	}
}

// Build makes requests again from their coordinates, in the same order.
func (p *Planner) Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]engine.Planned, error) {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Build(ctx, run, mode, at)
	}
	all, err := p.Library.Build(ctx, run, mode, at)
	if err != nil {
		return nil, err
	}
	out := make([]engine.Planned, len(all))
	for i, r := range all {
		out[i] = engine.Planned(r)
	}
	return out, nil
}

// Redo counts what one more draw of an item adds to a run.
func (p *Planner) Redo(ctx context.Context, run store.Run, r store.Redo) ([]store.Share, error) {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Redo(ctx, run, r)
	}
	return p.Library.Redo(ctx, run, r)
}

// Retries counts what judges are asked again.
func (p *Planner) Retries(ctx context.Context, run store.Run, what []string) ([]store.Share, error) {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Retries(ctx, run, what)
	}
	again, _, err := p.Library.Retries(ctx, run, what)
	return again, err
}
