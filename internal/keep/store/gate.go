package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Gate closes a model at an account for a while: nothing is sent to it before it opens.
type Gate struct {
	Account, Model string
	Until          time.Time
	Failures       int64 // in a row
	Reason         string
}

// ShutGate closes a gate until a moment; each time in a row counts as one more failure.
func (s *Ledger) ShutGate(ctx context.Context, g Gate) error {
	return s.tx(ctx, "shut gate", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO gates (account, model, until_ms, failures, reason) VALUES ($1, $2, $3, 1, $4)
			ON CONFLICT (account, model) DO UPDATE SET until_ms = excluded.until_ms, failures = gates.failures + 1, reason = excluded.reason`,
			g.Account, g.Model, g.Until.UnixMilli(), clean(g.Reason))
		return err
	})
}

// OpenGate opens a gate: the model takes requests again. How many tokens it takes at a time is remembered.
func (s *Ledger) OpenGate(ctx context.Context, account, model string) error {
	return s.tx(ctx, "open gate", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE gates SET until_ms = 0, failures = 0, reason = '' WHERE account = $1 AND model = $2`, account, model)
		return err
	})
}

// GateOf reads a gate; one that was never shut is the zero value.
func (s *Reader) GateOf(ctx context.Context, account, model string) (Gate, error) {
	g := Gate{Account: account, Model: model}
	var until int64
	err := s.read.QueryRowContext(ctx, `SELECT until_ms, failures, reason FROM gates WHERE account = $1 AND model = $2 AND until_ms > 0`, account, model).
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

// AwaitsRoom is the reason of a segment that waits until jobs before it have made room at the provider.
const AwaitsRoom = "the provider has as many tokens waiting as it takes at a time: goes as soon as one of the jobs before it has ended"

// Enqueued sums up the tokens of other segments that wait or are worked on at an account for a model, in all runs.
func (s *Reader) Enqueued(ctx context.Context, account, model string, but int64) (int64, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(tokens), 0) AS BIGINT) FROM segments
		WHERE account = $1 AND model = $2 AND no <> $3 AND state IN ('intended', 'launched')`, account, model, but).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("sum up enqueued tokens: %w", err)
	}
	return n, nil
}

// LearnLimit notes until a moment how many tokens an account may have waiting for a model.
func (s *Ledger) LearnLimit(ctx context.Context, account, model string, tokens int64, until time.Time) error {
	return s.tx(ctx, "learn limit", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO gates (account, model, until_ms, failures, reason, limit_tokens, limit_until_ms) VALUES ($1, $2, 0, 0, '', $3, $4)
			ON CONFLICT (account, model) DO UPDATE SET limit_tokens = excluded.limit_tokens, limit_until_ms = excluded.limit_until_ms`,
			account, model, tokens, until.UnixMilli())
		return err
	})
}

// room makes sure that a segment which is about to go fits beside what waits at its provider already. The first of all fits
// in any case: only the provider knows.
func (t *txn) room(ctx context.Context, segment int64) error {
	var limit, out, own int64
	// The row keeps others out until this is written.
	err := t.QueryRowContext(ctx, `UPDATE gates SET failures = failures WHERE limit_until_ms > $2 AND EXISTS
		(SELECT 1 FROM segments g WHERE g.no = $1 AND g.account = gates.account AND g.model = gates.model) RETURNING limit_tokens`,
		segment, t.s.millis()).Scan(&limit)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	err = t.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(CASE WHEN h.no <> g.no THEN h.tokens END), 0) AS BIGINT), CAST(MAX(g.tokens) AS BIGINT) FROM segments g
		JOIN segments h ON h.account = g.account AND h.model = g.model AND h.state IN ('intended', 'launched') WHERE g.no = $1`, segment).Scan(&out, &own)
	if err == nil && out > 0 && out+own > limit {
		err = fmt.Errorf("segment %d, %d tokens beside %d of at most %d: %w", segment, own, out, limit, ErrRoom)
	}
	return err
}

// roomMade makes those segments due that waited until a job had ended.
func (t *txn) roomMade(ctx context.Context, segment int64) error {
	_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $2 WHERE state = 'uploaded' AND reason = $3
		AND provider = (SELECT provider FROM segments WHERE no = $1) AND model = (SELECT model FROM segments WHERE no = $1)`, segment, t.s.millis(), AwaitsRoom)
	return err
}
