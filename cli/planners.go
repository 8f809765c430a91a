package cli

import (
	"context"
	"iter"

	"assay"
	"assay/batchrun"
	"assay/engine"
	"assay/store"
	"assay/study"
	"assay/waves"
)

// planners plans every run of a ledger: those of studies, and those of batch files.
type planners struct {
	*waves.Planner
	batches *batchrun.Planner
}

var _ engine.Planner = (*planners)(nil)

func (p *planners) of(run store.Run) engine.Planner {
	if _, ok := batchrun.Of(run); ok {
		return p.batches
	}
	return p.Planner
}

// Study is the study that a run works from; of a batch file, one that only names its provider.
func (p *planners) Study(ctx context.Context, run store.Run) (*study.Study, error) {
	if b, ok := batchrun.Of(run); ok {
		return b.Study(), nil
	}
	return p.Planner.Study(ctx, run)
}

// Policy is how the run is to be driven.
func (p *planners) Policy(ctx context.Context, run store.Run) (engine.Policy, error) {
	return p.of(run).Policy(ctx, run)
}

// Route is how a lane's requests of a stage travel in a mode.
func (p *planners) Route(ctx context.Context, run store.Run, stage, lane string, mode store.SegmentMode) (engine.Route, error) {
	return p.of(run).Route(ctx, run, stage, lane, mode)
}

// Absorb reads the newest answers.
func (p *planners) Absorb(ctx context.Context, run store.Run) error {
	return p.of(run).Absorb(ctx, run)
}

// Groups lists what can be asked.
func (p *planners) Groups(ctx context.Context, run store.Run) ([]engine.Group, error) {
	return p.of(run).Groups(ctx, run)
}

// Requests walks over the requests of a group.
func (p *planners) Requests(ctx context.Context, run store.Run, g engine.Group) iter.Seq2[engine.Planned, error] {
	return p.of(run).Requests(ctx, run, g)
}

// Redo counts what one more draw of an item adds to a run.
func (p *planners) Redo(ctx context.Context, run store.Run, r store.Redo) ([]store.Share, error) {
	return p.of(run).Redo(ctx, run, r)
}

// Build makes requests again from their coordinates.
func (p *planners) Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]engine.Planned, error) {
	return p.of(run).Build(ctx, run, mode, at)
}
