package runs

import (
	"context"
	"fmt"

	"assay/internal/keep/store"
)

// Refresh polls the jobs of a run that are under way, and keeps what their providers report. Nothing is sent,
// fetched or decided: that is for the driver of the run. Only where a create call was repeated are its jobs looked for once
// more, when that is due. It returns how many were asked, and what went wrong with the others.
func (e *Engine) Refresh(ctx context.Context, run int64) (asked int, wrong []error, err error) {
	all, err := e.Ledger.Reader.Segments(ctx, run, store.Launched, store.Settled)
	if err != nil {
		return 0, nil, fmt.Errorf("refresh run %d: %w", run, err)
	}
	for _, g := range all {
		if g.State == store.Settled && g.LostCreates > g.Audited && !g.Due.IsZero() && !g.Due.After(e.Clock.Now()) {
			if err := e.Advance(ctx, g.No); err != nil {
				wrong = append(wrong, err)
			}
			continue
		}
		if g.Mode != store.Batch || g.State != store.Launched {
			continue
		}
		switch err := e.jobs.Poll(ctx, g.No); {
		case ctx.Err() != nil:
			return asked, wrong, ctx.Err()
		case err != nil:
			wrong = append(wrong, fmt.Errorf("segment %d: %w", g.No, err))
		default:
			asked++
		}
	}
	return asked, wrong, nil
}
