package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Event is a line of a run's history.
type Event struct {
	No      int64
	Run     int64
	Segment int64 // 0: the run as a whole
	At      time.Time
	Kind    string
	Text    string
}

// Note writes a line into a run's history. A segment of 0 means the run as a whole.
func (s *Ledger) Note(ctx context.Context, run, segment int64, kind, text string) error {
	return s.tx(ctx, "note", relaxed, func(t *txn) error { return t.event(ctx, run, segment, kind, clean(text)) })
}

// Events reads a run's history after a line, oldest first.
func (s *Reader) Events(ctx context.Context, run, after int64, limit int) ([]Event, error) {
	return collect(walk(ctx, s, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text FROM events
		WHERE run_no = $1 AND no > $2 ORDER BY no LIMIT $3`, run, after, limit))
}

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

// OpenGate opens a gate: the model takes requests again.
func (s *Ledger) OpenGate(ctx context.Context, account, model string) error {
	return s.tx(ctx, "open gate", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `DELETE FROM gates WHERE account = $1 AND model = $2`, account, model)
		return err
	})
}

// GateOf reads a gate; one that was never shut is the zero value.
func (s *Reader) GateOf(ctx context.Context, account, model string) (Gate, error) {
	g := Gate{Account: account, Model: model}
	var until int64
	err := s.read.QueryRowContext(ctx, `SELECT until_ms, failures, reason FROM gates WHERE account = $1 AND model = $2`, account, model).
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

// Meta reads a named value of the ledger as a whole; empty: not set.
func (s *Reader) Meta(ctx context.Context, name string) (string, error) {
	var v string
	err := s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = $1`, name).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v, err
}

// SetMeta sets a named value if it is not set, and returns the value that holds.
func (s *Ledger) SetMeta(ctx context.Context, name, value string) (string, error) {
	err := s.tx(ctx, "set meta", durable, func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
		return err
	})
	if err != nil {
		return "", err
	}
	return s.Meta(ctx, name)
}
