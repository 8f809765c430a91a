package engine

import (
	"context"
	"fmt"

	"assay"
	"assay/store"
)

// leastEnded is how many requests of a lane have to end before its share of errors says anything.
const leastEnded = 20

// stopForErrors stops a lane when too many of its requests end without an answer. It reports whether it did.
func (e *Engine) stopForErrors(ctx context.Context, l store.Lane, above float64) (bool, error) {
	if above <= 0 || l.State != store.LaneOpen {
		return false, nil
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
	return true, e.Ledger.SetLane(ctx, l.Run, l.Stage, l.Name, store.LaneStopped, why)
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
