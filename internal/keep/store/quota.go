package store

import (
	"context"
	"time"
)

// Lease takes the next n moments of a cap that all workers share, so far apart from each other, and returns how long it is
// until the first of them. No other worker gets the same moments; those that are not used are lost.
func (s *Ledger) Lease(ctx context.Context, scope string, every time.Duration, n int64) (time.Duration, error) {
	var wait time.Duration
	err := s.tx(ctx, "lease", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		now *= 1000
		long := n * every.Microseconds()
		var next int64
		err = t.QueryRowContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ($1, CAST($2 AS BIGINT) + CAST($3 AS BIGINT))
			ON CONFLICT (scope) DO UPDATE SET next_us = CASE WHEN quotas.next_us > $2 THEN quotas.next_us ELSE $2 END + $3 RETURNING next_us`,
			scope, now, long).Scan(&next)
		wait = time.Duration(next-long-now) * time.Microsecond
		return err
	})
	return wait, err
}

// Portion is what one worker wants of a cap on requests in flight.
type Portion struct {
	Scope  string
	Holder string
	Cap    int64         // of all workers together
	Uses   int64         // requests that it has in flight
	Wants  int64         // as many as it could have in flight
	For    time.Duration // how long the share is its own, unless it asks again
}

// Portion gives a worker its share: all that is free, or an equal part where others want some too. What it has in flight it
// keeps, unless the cap was lowered since: then it gets fewer, and sends when so many have come back. A worker that wants nothing leaves.
func (s *Ledger) Portion(ctx context.Context, w Portion) (int64, error) {
	var has int64
	err := s.tx(ctx, "share", relaxed, func(t *txn) error {
		// The row of the scope keeps others out until this is written.
		if _, err := t.ExecContext(ctx, `INSERT INTO quotas (scope, next_us) VALUES ($1, 0) ON CONFLICT (scope) DO UPDATE SET next_us = 0`, w.Scope); err != nil {
			return err
		}
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `DELETE FROM shares WHERE scope = $1 AND (until_ms <= $2 OR holder = $3)`, w.Scope, now, w.Holder); err != nil {
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
