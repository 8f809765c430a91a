package store

import (
	"context"
	"database/sql"
	"errors"
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
		WHERE run_no = $1 AND no > $2 ORDER BY no LIMIT CAST($3 AS BIGINT)`, run, after, limit))
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
