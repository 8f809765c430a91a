package store

import (
	"context"
	"fmt"

	"assay/internal/assay"
)

// Allowance is what a user of a gateway may spend, and what all users may spend together; nil: anything.
type Allowance struct {
	Owner    string
	Own, All *assay.Money
}

// Bounded reports whether a budget holds.
func (a Allowance) Bounded() bool { return a.Own != nil || a.All != nil }

// AllowanceError says that a budget does not cover something. It is an ErrBudget.
type AllowanceError struct {
	Most assay.Money // the budget
	Left assay.Money // of it; not above 0: it is spent
	Need assay.Money
}

// Error says so.
func (e *AllowanceError) Error() string {
	return fmt.Sprintf("%s is needed, and %s of %s is left", e.Need, e.Left, e.Most)
}

// Unwrap is ErrBudget.
func (e *AllowanceError) Unwrap() error { return ErrBudget }

// takenByRuns is what the runs of clients have taken: what was spent, and what is open may still cost at most.
const takenByRuns = `CAST(COALESCE(SUM(CASE WHEN state = 'open' AND COALESCE(budget_nano, 0) > spent_nano + perhaps_nano + reserved_nano THEN budget_nano
		WHEN state = 'open' THEN spent_nano + perhaps_nano + reserved_nano ELSE spent_nano + perhaps_nano END), 0) AS BIGINT)`

// allow makes sure that the budgets cover something more, of which the ledger knows nothing yet. Whatever spends under a
// budget comes by here, one after the other, on whatever machine.
func (t *txn) allow(ctx context.Context, a Allowance, need assay.Money) error {
	left, most, err := t.left(ctx, a)
	if err == nil && left != nil && (*left <= 0 || need > *left) {
		err = &AllowanceError{Most: most, Left: *left, Need: need}
	}
	return err
}

// left is what the narrower of two budgets leaves, and that budget; nil: none holds. Others that ask wait until this is written.
func (t *txn) left(ctx context.Context, a Allowance) (left *assay.Money, most assay.Money, err error) {
	if !a.Bounded() {
		return nil, 0, nil
	}
	if _, err := t.ExecContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ('gateway budgets', 0) ON CONFLICT (scope) DO UPDATE SET next_us = 0`); err != nil {
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
		if err := t.QueryRowContext(ctx, `SELECT `+takenByRuns+` FROM runs WHERE `+clientRuns+` AND ($1 = '' OR started_by = $1)`, b.owner).Scan(&runs); err != nil {
			return nil, 0, err
		}
		if err := t.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(taken_nano), 0) AS BIGINT) FROM client_sums WHERE $1 = '' OR owner = $1`, b.owner).Scan(&calls); err != nil {
			return nil, 0, err
		}
		if rest := *b.most - runs - calls; left == nil || rest < *left {
			left, most = &rest, *b.most
		}
	}
	return left, most, nil
}

// OpenClientRun ends the preparation of a client's run, as OpenRun does, if the budgets cover the run's own. *AllowanceError:
// they do not, and it stays as it is.
func (s *Ledger) OpenClientRun(ctx context.Context, no int64, a Allowance) error {
	return s.tx(ctx, "open run", durable, func(t *txn) error {
		var need assay.Money
		if err := t.QueryRowContext(ctx, `SELECT COALESCE(budget_nano, 0) FROM runs WHERE no = $1`, no).Scan(&need); err != nil {
			return err
		}
		if need > 0 { // a file in which nothing can be sent costs nothing
			if err := t.allow(ctx, a, need); err != nil {
				return err
			}
		}
		return t.openRun(ctx, no)
	})
}

// RaiseClientBudget gives an open run more of what its user may spend, twice as much at most, and wakes it. It reports whether
// there was any.
func (s *Ledger) RaiseClientBudget(ctx context.Context, no int64, a Allowance) (raised bool, err error) {
	err = s.tx(ctx, "raise budget", durable, func(t *txn) error {
		raised = false
		left, _, err := t.left(ctx, a)
		if err != nil || left != nil && *left <= 0 {
			return err
		}
		var more any // NULL: no budget holds any more
		if left != nil {
			more = int64(*left)
		}
		n, err := t.change(ctx, `UPDATE runs SET budget_nano = budget_nano + CASE WHEN CAST($2 AS BIGINT) < budget_nano THEN CAST($2 AS BIGINT) WHEN CAST($2 AS BIGINT) IS NULL THEN NULL ELSE budget_nano END
			WHERE no = $1 AND state = 'open' AND budget_nano IS NOT NULL`, no, more)
		if err != nil || n == 0 {
			return err
		}
		raised = true
		return t.wakeRun(ctx, no)
	})
	return raised, err
}
