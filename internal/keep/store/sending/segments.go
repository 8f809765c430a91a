package sending

import (
	"context"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// AddSegment begins a segment in state planned, held by its maker.
func (s *Store) AddSegment(ctx context.Context, n store.NewSegment, holder string, ttl time.Duration) (store.Segment, error) {
	var no int64
	err := s.db.Tx(ctx, "add segment", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		return t.QueryRowContext(ctx, `INSERT INTO segments
			(run_no, stage, lane, turn, second_try, mode, purpose, provider, model, nonce, recuts, state, moved_ms, created_ms, holder,
			epoch, lease_until_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'planned', $12, $12, $13, $14, $15) RETURNING no`,
			n.Run, n.Stage, n.Lane, n.Turn, n.Again, string(n.Mode), string(n.Purpose), n.Provider, n.Model, string(n.Nonce), n.Recuts,
			s.db.Millis(), holder, now, now+ttl.Milliseconds()).Scan(&no)
	})
	if err != nil {
		return store.Segment{}, err
	}
	return s.reader.Segment(ctx, no)
}

// SkipSegments makes the next segment's number higher than one that is in use where the ledger does not see it: in names of artifacts,
// or in stamps of jobs. The number itself becomes that of a segment that is over and has nothing in it.
func (s *Store) SkipSegments(ctx context.Context, n store.NewSegment, used int64, why string) error {
	return s.db.Tx(ctx, "skip segments", db.Durable, func(t *db.Txn) error {
		var newest int64
		if err := t.QueryRowContext(ctx, `SELECT COALESCE(MAX(no), 0) FROM segments`).Scan(&newest); err != nil || newest >= used {
			return err
		}
		_, err := t.ExecContext(ctx, `INSERT INTO segments
			(no, run_no, stage, lane, turn, second_try, mode, purpose, provider, model, nonce, state, moved_from, moved_ms, created_ms, reason)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 'cancelled', 'planned', $11, $11, $12)`,
			used, n.Run, n.Stage, n.Lane, n.Turn, n.Again, string(n.Mode), string(n.Purpose), n.Provider, n.Model, s.db.Millis(), why)
		if err != nil {
			return err
		}
		if s.db.Postgres() {
			if _, err := t.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence('segments', 'no'), $1)`, used); err != nil {
				return err
			}
		}
		return t.Event(ctx, n.Run, used, "segments skipped", why)
	})
}

// Discard takes a planned segment away as if it had never been: nothing of it left this machine.
func (s *Store) Discard(ctx context.Context, l store.Lease) error {
	return s.db.Tx(ctx, "discard segment", db.Relaxed, func(t *db.Txn) error {
		err := t.One(ctx, store.ErrLeaseLost, `DELETE FROM segments WHERE no = $1 AND epoch = $2 AND state = 'planned'`, l.No, l.Epoch)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `DELETE FROM attempts WHERE segment_no = $1`, l.No)
		return err
	})
}

// OpenSegments counts the open segments of a run by what they wait for.
func (s *Store) OpenSegments(ctx context.Context, run int64) (n store.OpenSegments, err error) {
	err = s.db.QueryRow(ctx, `SELECT COUNT(CASE WHEN state = 'held' THEN 1 END), COUNT(CASE WHEN state <> 'held'
		AND due_ms IS NULL THEN 1 END),
		COUNT(CASE WHEN state <> 'held' AND due_ms IS NOT NULL THEN 1 END), COUNT(CASE WHEN state <> 'held' AND reason = $2 THEN 1 END)
		FROM segments WHERE run_no = $1`+db.InStates([]store.State{store.Staged, store.Uploaded, store.Intended, store.Launched,
		store.Ended, store.Fetched, store.Held}), run, string(store.AwaitsMoney)).
		Scan(&n.Held, &n.Asleep, &n.Moving, &n.Blocked)
	if err != nil {
		return n, fmt.Errorf("count segments: %w", err)
	}
	return n, nil
}
