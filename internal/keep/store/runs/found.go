package runs

import (
	"context"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Decide writes the decision of a condition and returns the valid one: the first decision is kept, whatever is found
// later.
func (s *Store) Decide(ctx context.Context, d store.Decision) (store.Decision, error) {
	err := s.db.Tx(ctx, "decide", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `INSERT INTO decisions (run_no, stage, lane, condition, passed, why, at_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT DO NOTHING`, d.Run, d.Stage, d.Lane, d.Condition, db.Flag(d.Passed), db.Clean(d.Why), s.db.Millis())
		if err != nil || n == 0 {
			return err
		}
		text := "stage " + d.Stage
		if d.Lane != "" {
			text += ", lane " + d.Lane
		}
		word := "gate opened"
		if !d.Passed {
			word, text = "gate closed", text+": "+d.Why
		}
		return t.Event(ctx, d.Run, 0, word, text)
	})
	if err != nil {
		return d, err
	}
	for stands, err := range s.reader.Decisions(ctx, d.Run) {
		if err != nil || stands.Stage == d.Stage && stands.Lane == d.Lane {
			return stands, err
		}
	}
	return d, fmt.Errorf("decision of stage %s: %w", d.Stage, store.ErrNotFound)
}

// SetSpared sets how many of a lane's planned requests in a stage need no asking: a condition left them out, or their
// result is known.
func (s *Store) SetSpared(ctx context.Context, run int64, stage, lane string, n int64) error {
	return s.db.Tx(ctx, "set spared", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE lanes SET spared = $4 WHERE run_no = $1 AND stage = $2 AND lane = $3 AND spared <> $4`,
			run, stage, lane, n)
		return err
	})
}

// PutHeadline keeps what a run found, so that a list of runs has it without computing anything. It replaces the one before.
func (s *Store) PutHeadline(ctx context.Context, run int64, h store.Headline) error {
	return s.db.Tx(ctx, "keep a headline", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO headlines (run_no, version, text, leader, leader_score, leader_range, leader_value)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (run_no) DO UPDATE SET version = excluded.version, text = excluded.text,
			leader = excluded.leader, leader_score = excluded.leader_score, leader_range = excluded.leader_range,
			leader_value = excluded.leader_value`,
			run, h.Version, h.Text, h.Lead.Leader, h.Lead.Score, h.Lead.Range, h.Lead.Value)
		return err
	})
}

// PutLook writes the result of an interim analysis and returns the valid one: the first of a number is kept, whatever
// is found later.
func (s *Store) PutLook(ctx context.Context, l store.Look) (store.Look, error) {
	err := s.db.Tx(ctx, "put look", db.Durable, func(t *db.Txn) error {
		n, err := putLook(ctx, t, l)
		if err != nil || n == 0 {
			return err
		}
		return t.Event(ctx, l.Run, 0, "look", fmt.Sprintf("stage %s, round %d of %d: %s", l.Stage, l.Number, l.Planned, l.Stop.Words()))
	})
	if err != nil {
		return l, err
	}
	for stands, err := range s.reader.Looks(ctx, l.Run) {
		if err != nil || stands.Stage == l.Stage && stands.Number == l.Number {
			return stands, err
		}
	}
	return l, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, store.ErrNotFound)
}

func putLook(ctx context.Context, t *db.Txn, l store.Look) (int64, error) {
	return t.Change(ctx, `INSERT INTO looks (run_no, stage, number, planned, level, bought, found, next, stop, at_ms)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT DO NOTHING`, l.Run, l.Stage, l.Number, l.Planned, l.Level, l.Bought, db.Clean(l.Found), db.Clean(l.Next),
		string(l.Stop), t.Millis())
}
