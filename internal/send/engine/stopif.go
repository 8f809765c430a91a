package engine

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// leastEnded is how many requests of a lane have to end before its share of errors says anything.
const leastEnded = 20

// stopForErrors stops a lane when too many of its requests end without an answer. It reports whether it did.
func (e *Engine) stopForErrors(ctx context.Context, l store.Lane, above float64) (bool, error) {
	if l.State != store.LaneOpen {
		return false, nil
	}
	if above <= 0 {
		return e.stopForNothing(ctx, l)
	}
	var ended, errors int64
	for ending, n := range l.Endings {
		switch {
		case ending == assay.Cancelled:
		case ending.Stands():
			ended += n
		default:
			ended, errors = ended+n, errors+n
		}
	}
	if ended < leastEnded || float64(errors) <= above*float64(ended) {
		return false, nil
	}
	why := fmt.Sprintf("stop_if: %d of %d requests ended without an answer, more than %g", errors, ended, above)
	return true, e.Ledger.SetLane(ctx, l.Run, l.Stage, l.Name, store.LaneStop{State: store.LaneStopped, Reason: why})
}

// stopForNothing stops a lane whose study sets no share, when not one of its first answers is good: all are empty, cut,
// refused or rejected. What a person sent again all the same goes on.
func (e *Engine) stopForNothing(ctx context.Context, l store.Lane) (bool, error) {
	var ended, bad int64
	for ending, n := range l.Endings {
		switch ending {
		case assay.Cancelled:
		case assay.Empty, assay.Cut, assay.Refused, assay.Rejected:
			ended, bad = ended+n, bad+n
		default:
			ended += n
		}
	}
	if ended < leastEnded || bad < ended || ended >= l.Planned-l.Spared {
		return false, nil
	}
	again, err := e.Ledger.Ordered(ctx, l.Run, store.OrderRetry)
	if err != nil || again {
		return false, err
	}
	why := fmt.Sprintf("all of the first %d answers are empty, cut, refused or rejected (`assay retry` sends the rest anyway)", ended)
	if err := e.Ledger.SetLane(ctx, l.Run, l.Stage, l.Name, store.LaneStop{State: store.LaneStopped, Cause: store.CauseNothingGood, Reason: why}); err != nil {
		return true, err
	}
	return true, e.Ledger.HurryLane(ctx, l.Run, l.Stage, l.Name)
}

// stopLanes stops every lane that has too many errors.
func (x *extension) stopLanes(ctx context.Context) error {
	for _, l := range x.lanes {
		if _, err := x.stopForErrors(ctx, l, x.policy.StopAbove[l.Name]); err != nil {
			return err
		}
	}
	return x.reload(ctx)
}
