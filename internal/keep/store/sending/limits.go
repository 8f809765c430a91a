package sending

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// ShutGate closes a gate until a moment; each time in a row counts as one more failure.
func (s *Limits) ShutGate(ctx context.Context, g store.Gate) error {
	return s.db.Tx(ctx, "shut gate", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO gates (account, model, until_ms, failures, reason) VALUES ($1, $2, $3, 1, $4)
			ON CONFLICT (account, model) DO UPDATE SET until_ms = excluded.until_ms, failures = gates.failures + 1,
			reason = excluded.reason`,
			g.Account, g.Model, g.Until.UnixMilli(), db.Clean(g.Reason))
		return err
	})
}

// OpenGate opens a gate: the model takes requests again. How many tokens it takes at a time is remembered.
func (s *Limits) OpenGate(ctx context.Context, account, model string) error {
	return s.db.Tx(ctx, "open gate", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE gates SET until_ms = 0, failures = 0, reason = '' WHERE account = $1 AND model = $2`,
			account, model)
		return err
	})
}

// GateOf reads a gate; one that was never shut is the zero value.
func (s *Limits) GateOf(ctx context.Context, account, model string) (store.Gate, error) {
	g := store.Gate{Account: account, Model: model}
	var until int64
	err := s.db.QueryRow(ctx, `SELECT until_ms, failures, reason FROM gates WHERE account = $1 AND model = $2 AND until_ms > 0`,
		account, model).
		Scan(&until, &g.Failures, &g.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return g, nil
	}
	if err != nil {
		return g, fmt.Errorf("read gate: %w", err)
	}
	g.Until = time.UnixMilli(until).UTC()
	return g, nil
}

// Enqueued sums up the tokens of other segments that wait or are worked on at an account for a model, in all runs.
func (s *Limits) Enqueued(ctx context.Context, account, model string, but int64) (int64, error) {
	var n int64
	err := s.db.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) FROM segments
		WHERE account = $1 AND model = $2 AND no <> $3 AND mode = 'batch' AND state IN ('intended', 'launched')`,
		account, model, but).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("sum up enqueued tokens: %w", err)
	}
	return n, nil
}

// LearnLimit notes until a moment how many tokens an account may have waiting for a model.
func (s *Limits) LearnLimit(ctx context.Context, account, model string, tokens int64, until time.Time) error {
	return s.db.Tx(ctx, "learn limit", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO gates (account, model, until_ms, failures, reason, limit_tokens, limit_until_ms)
			VALUES ($1, $2, 0, 0, '', $3, $4)
			ON CONFLICT (account, model) DO UPDATE SET limit_tokens = excluded.limit_tokens, limit_until_ms = excluded.limit_until_ms`,
			account, model, tokens, until.UnixMilli())
		return err
	})
}

// mostAhead is how many workers may have leased moments of one cap. What lies further ahead was leased before the clock was set back.
const mostAhead = 32

// Lease takes the next n moments of a cap that all workers share, so far apart from each other, and returns how long it is
// until the first of them. No other worker gets the same moments; those that are not used are lost.
func (s *Limits) Lease(ctx context.Context, scope string, every time.Duration, n int64) (time.Duration, error) {
	var wait time.Duration
	err := s.db.Tx(ctx, "lease", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		now *= 1000
		long := n * every.Microseconds()
		var next int64
		err = t.QueryRowContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ($1, CAST($2 AS BIGINT) + CAST($3 AS BIGINT))
			ON CONFLICT (scope) DO UPDATE SET next_us =
				CASE WHEN quotas.next_us BETWEEN $2 AND $4 THEN quotas.next_us ELSE $2 END + $3
			RETURNING next_us`,
			scope, now, long, now+mostAhead*long+time.Minute.Microseconds()).Scan(&next)
		wait = time.Duration(next-long-now) * time.Microsecond
		return err
	})
	return wait, err
}

// Share gives a worker its share: all that is free, or an equal part where others want some too. What it has in flight it
// keeps, unless the cap was lowered since: then it gets fewer, and sends when so many have come back. A worker that wants nothing leaves.
func (s *Limits) Share(ctx context.Context, w store.CapShare) (int64, error) {
	var has int64
	err := s.db.Tx(ctx, "share", db.Relaxed, func(t *db.Txn) error {
		// The row of the scope keeps others out until this is written.
		if _, err := t.ExecContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ($1, 0) ON CONFLICT (scope) DO UPDATE SET next_us = 0`,
			w.Scope); err != nil {
			return err
		}
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `DELETE FROM shares WHERE scope = $1 AND (until_ms <= $2 OR holder = $3)`,
			w.Scope, now, w.Holder); err != nil {
			return err
		}
		var others, taken, hungry int64
		err = t.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(has), 0), COALESCE(SUM(CASE WHEN has < wants THEN 1 ELSE 0 END), 0)
			FROM shares WHERE scope = $1`, w.Scope).Scan(&others, &taken, &hungry)
		if err != nil {
			return err
		}
		has = min(w.Wants, w.Cap-taken)
		if hungry > 0 {
			has = min(has, max(w.Cap/(others+1), 1))
		}
		takes := max(has, w.Uses, 0)
		if has = takes; taken+w.Uses > w.Cap { // the cap was lowered: it has to let some of them end
			has = min(w.Uses, max(w.Cap-taken, w.Cap/(others+1), 1))
		}
		if w.Wants == 0 && w.Uses == 0 {
			return nil
		}
		_, err = t.ExecContext(ctx, `INSERT INTO shares (scope, holder, wants, has, until_ms) VALUES ($1, $2, $3, $4, $5)`,
			w.Scope, w.Holder, w.Wants, takes, now+w.For.Milliseconds())
		return err
	})
	return has, err
}
