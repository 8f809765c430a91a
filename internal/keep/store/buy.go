package store

import (
	"context"

	"assay/internal/assay"
)

// Extension is what a person buys for a stage beyond its plan: comparisons, with the look that decides so.
type Extension struct {
	Run    int64
	Look   Look
	Adds   []Share      // to the plan, by lane
	Budget *assay.Money // what the run may spend at least, where it has a budget; nil: as it is
	What   string       // in words
	Lease  Lease        // of the run
}

// Buy writes what a person buys for a stage of a run: all of it at once, or nothing. The run is open after it. It reports whether the
// look was the next one: another process may have been first.
func (s *Ledger) Buy(ctx context.Context, e Extension) (bool, error) {
	bought := false
	err := s.tx(ctx, "buy comparisons", durable, func(t *txn) error {
		err := t.one(ctx, ErrLeaseLost, `UPDATE runs SET holder = holder WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`, e.Run, e.Lease.Epoch)
		if err != nil {
			return err
		}
		n, err := t.putLook(ctx, e.Look)
		if bought = n > 0; err != nil || !bought {
			return err
		}
		if err := t.addPlanned(ctx, e.Run, e.Adds); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, e.Run); err != nil {
			return err
		}
		if e.Budget != nil {
			if _, err := t.ExecContext(ctx, `UPDATE runs SET budget_nano = $2 WHERE no = $1 AND budget_nano < $2`, e.Run, nanos(e.Budget)); err != nil {
				return err
			}
		}
		if err := t.event(ctx, e.Run, 0, "settle", clean(e.What)); err != nil {
			return err
		}
		return t.reopen(ctx, e.Run, "comparisons were bought")
	})
	return bought, err
}
