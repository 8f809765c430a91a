package clients

import (
	"context"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// takenByRuns sums the amounts of clients' runs: spent amounts, and the most that open ones may still cost.
const takenByRuns = `CAST(COALESCE(SUM(CASE WHEN state = 'open'
	AND COALESCE(budget_nano, 0) > spent_nano + perhaps_nano + reserved_nano THEN budget_nano
		WHEN state = 'open' THEN spent_nano + perhaps_nano + reserved_nano ELSE spent_nano + perhaps_nano END), 0) AS BIGINT)`

// allow makes sure that the budgets cover something more, of which the ledger knows nothing yet. Whatever spends under a
// budget comes by here, one after the other, on whatever machine.
func allow(ctx context.Context, t *db.Txn, a store.Allowance, need assay.Money) error {
	left, most, err := left(ctx, t, a)
	if err == nil && left != nil && (*left <= 0 || need > *left) {
		err = &store.AllowanceError{Most: most, Left: *left, Need: need}
	}
	return err
}

// left returns what the narrower of two budgets leaves, and that budget; nil: none holds. Others that ask wait until this is written.
func left(ctx context.Context, t *db.Txn, a store.Allowance) (left *assay.Money, most assay.Money, err error) {
	if !a.Bounded() {
		return nil, 0, nil
	}
	if _, err := t.ExecContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ('gateway budgets', 0)
		ON CONFLICT (scope) DO UPDATE SET next_us = 0`); err != nil {
		return nil, 0, err
	}
	for _, b := range []struct {
		most  *assay.Money
		owner string // empty: all
	}{{a.Own, a.Owner}, {a.All, ""}} {
		if b.most == nil {
			continue
		}
		var runs, calls assay.Money
		if err := t.QueryRowContext(ctx, `SELECT `+takenByRuns+` FROM runs WHERE `+clientRuns+` AND ($1 = '' OR started_by = $1)`,
			b.owner).Scan(&runs); err != nil {
			return nil, 0, err
		}
		if err := t.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(taken_nano), 0) AS BIGINT) FROM client_sums WHERE $1 = '' OR owner = $1`,
			b.owner).Scan(&calls); err != nil {
			return nil, 0, err
		}
		if rest := *b.most - runs - calls; left == nil || rest < *left {
			left, most = &rest, *b.most
		}
	}
	return left, most, nil
}

// OpenClientRun ends the preparation of a client's run, as OpenRun does, if the budgets cover the run's own. Otherwise
// it returns an *AllowanceError and leaves the run in preparation.
func (s *Store) OpenClientRun(ctx context.Context, no int64, a store.Allowance) error {
	return s.db.Tx(ctx, "open run", db.Durable, func(t *db.Txn) error {
		var need assay.Money
		if err := t.QueryRowContext(ctx, `SELECT COALESCE(budget_nano, 0) FROM runs WHERE no = $1`, no).Scan(&need); err != nil {
			return err
		}
		if need > 0 { // a file in which nothing can be sent costs nothing
			if err := allow(ctx, t, a, need); err != nil {
				return err
			}
		}
		return state.Open(ctx, t, no)
	})
}

// RaiseClientBudget gives an open run more of what its user may spend, twice as much at most, and wakes it. It reports whether
// there was any.
func (s *Store) RaiseClientBudget(ctx context.Context, no int64, a store.Allowance) (raised bool, err error) {
	err = s.db.Tx(ctx, "raise budget", db.Durable, func(t *db.Txn) error {
		raised = false
		left, _, err := left(ctx, t, a)
		if err != nil || left != nil && *left <= 0 {
			return err
		}
		var more any // NULL: no budget holds any more
		if left != nil {
			more = int64(*left)
		}
		n, err := t.Change(ctx, `UPDATE runs SET budget_nano = budget_nano + CASE
			WHEN CAST($2 AS BIGINT) < budget_nano THEN CAST($2 AS BIGINT) WHEN CAST($2 AS BIGINT) IS NULL THEN NULL ELSE budget_nano END
			WHERE no = $1 AND state = 'open' AND budget_nano IS NOT NULL`, no, more)
		if err != nil || n == 0 {
			return err
		}
		raised = true
		return state.Wake(ctx, t, no)
	})
	return raised, err
}

// clientRuns selects the runs that clients of a gateway began, by their settings.
const clientRuns = `study = 'gateway' AND settings LIKE '%"client":{%' AND state <> 'preparing'`
