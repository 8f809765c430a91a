package workspace

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/keep/store"
)

// PutOrder writes an order for the process that drives a run.
func (h *Home) PutOrder(ctx context.Context, run store.Run, o store.Order) (no int64, err error) {
	o.Run, o.By = run.No, h.World.User()
	if o.Args == "" {
		o.Args = "{}"
	}
	return h.Ledger.Runs.PutOrder(ctx, o)
}

// UndecidableError reports a segment of a run that has nothing to decide.
type UndecidableError struct {
	Run     string
	Segment int64
	State   store.State // empty: the run has no such segment
}

// Error returns the reason.
func (e *UndecidableError) Error() string {
	if e.State == "" {
		return fmt.Sprintf("run %s has no segment %d", e.Run, e.Segment)
	}
	return fmt.Sprintf("segment %d is %s, not held: there is nothing to decide", e.Segment, e.State)
}

// Decidable wants the segment of an order to be one of the run, and to wait for a decision.
func (h *Home) Decidable(ctx context.Context, run store.Run, o store.Order) error {
	if o.Segment == 0 {
		return nil
	}
	g, err := h.Ledger.Reader.Segment(ctx, o.Segment)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && g.Run != run.No:
		return &UndecidableError{Run: run.ID, Segment: o.Segment}
	case err != nil:
		return err
	case g.State != store.Held:
		return &UndecidableError{Run: run.ID, Segment: g.No, State: g.State}
	}
	return nil
}
