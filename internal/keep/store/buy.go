package store

import (
	"context"

	"assay/internal/assay"
)

// Extension is what a person buys for a stage beyond its plan: comparisons, with the look that decides so, or items for some of its lanes.
type Extension struct {
	Run    int64
	Look   *Look        // nil: items are bought
	Items  MoreItems    // of one input
	Was    string       // the settings of the run, which say which lanes the items are for: as they were
	Is     string       // and as they are with them
	Adds   []Share      // to the plan, by lane
	Budget *assay.Money // what the run may spend at least, where it has a budget; nil: as it is
	Cap    *assay.Money // what the run may spend from now on; nil: as it is
	What   string       // in words
	Lease  Lease        // of the run
}

// Buy writes what a person buys for a stage of a run: all of it at once, or nothing. The run is open after it. It reports whether the
// look was the next one, or the settings as expected: another process may have been first.
func (s *Ledger) Buy(ctx context.Context, e Extension) (bool, error) {
	bought, what := false, "comparisons"
	if e.Look == nil {
		what = "items"
	}
	err := s.tx(ctx, "buy "+what, durable, func(t *txn) error {
		err := t.one(ctx, ErrLeaseLost, `UPDATE runs SET holder = holder WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`, e.Run, e.Lease.Epoch)
		if err != nil {
			return err
		}
		if bought, err = t.take(ctx, e); err != nil || !bought {
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
		if e.Cap != nil {
			if _, err := t.ExecContext(ctx, `UPDATE runs SET budget_nano = $2 WHERE no = $1`, e.Run, nanos(e.Cap)); err != nil {
				return err
			}
		}
		if err := t.event(ctx, e.Run, 0, "settle", clean(e.What)); err != nil {
			return err
		}
		return t.reopen(ctx, e.Run, what+" were bought")
	})
	return bought, err
}

// take writes the look or the items of an extension. It is false where another process was first.
func (t *txn) take(ctx context.Context, e Extension) (bool, error) {
	if e.Look != nil {
		n, err := t.putLook(ctx, *e.Look)
		return n > 0, err
	}
	n, err := t.change(ctx, `UPDATE runs SET settings = $3 WHERE no = $1 AND settings = $2`, e.Run, e.Was, e.Is)
	if err != nil || n == 0 {
		return false, err
	}
	return true, itemBlocks(e.Run, e.Items, func(block [][]any) error { return t.putItems(ctx, e.Items.Input, block) })
}
