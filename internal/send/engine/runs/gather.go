package runs

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/keep/store"
)

// Gather fetches and settles what providers have ready of a run's jobs, and closes the run where nothing is left to do. Nothing is
// sent: what has not gone out stays as it is. It returns what went wrong with single jobs.
func (e *Engine) Gather(ctx context.Context, run int64) (wrong []error, err error) {
	all, err := e.Ledger.Reader.Segments(ctx, run, store.Launched, store.Ended, store.Fetched)
	if err != nil {
		return nil, fmt.Errorf("gather run %d: %w", run, err)
	}
	for _, g := range all {
		if !cameBack(g) {
			continue
		}
		var err error
		if g.State == store.Launched { // a job that has ended is awake after this
			_, err = e.jobs.Collect(ctx, g.No)
		}
		if err == nil {
			err = e.advance(ctx, g.No, cameBack)
		}
		if ctx.Err() != nil {
			return wrong, ctx.Err()
		}
		if unlessHeld(err) != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong, e.conclude(ctx, run)
}

// cameBack reports whether a segment has a job, so that its next step sends no request.
func cameBack(g store.Segment) bool {
	return g.Mode == store.Batch && (g.State == store.Launched || g.State == store.Ended || g.State == store.Fetched)
}

// conclude extends a run until it is closed or waits for something: this stages requests, and sends none.
func (e *Engine) conclude(ctx context.Context, run int64) error {
	for range maxSteps {
		st, err := e.Extend(ctx, run)
		if err != nil {
			return unlessHeld(err)
		}
		r, err := e.Ledger.Reader.Run(ctx, run)
		if err != nil || st.Closed || st.Made > 0 || r.Due.IsZero() || r.Due.After(e.Clock.Now()) {
			return err
		}
	}
	return nil
}

// unlessHeld returns an error, unless it is that another process is at the work: that process does what is asked for.
func unlessHeld(err error) error {
	var other *store.HeldError
	if errors.As(err, &other) || errors.Is(err, store.ErrLeaseLost) {
		return nil
	}
	return err
}
