package sending

import (
	"context"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// SetLane opens, stops or holds a lane in a stage, and writes the reason into the history.
func (s *Store) SetLane(ctx context.Context, run int64, stage, lane string, to store.LaneStop) error {
	return s.db.Tx(ctx, "set lane", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `UPDATE lanes SET state = $4, reason = $5, cause = $6
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND (state <> $4 OR reason <> $5 OR cause <> $6) AND ($7 = ''
			OR state = 'stopped' AND cause = $7)`,
			run, stage, lane, string(to.State), to.Reason, string(to.Cause), string(to.From))
		if err != nil || n == 0 {
			return err
		}
		return t.Event(ctx, run, 0, "lane "+string(to.State), lane+" in "+stage+": "+to.Reason)
	})
}

// SetCanary moves a lane's canary on from a state; it reports whether it was there.
func (s *Store) SetCanary(ctx context.Context, run int64, stage, lane string, from, to store.Canary) (bool, error) {
	var moved int64
	err := s.db.Tx(ctx, "set canary", db.Durable, func(t *db.Txn) (err error) {
		moved, err = t.Change(ctx, `UPDATE lanes SET canary = $5 WHERE run_no = $1 AND stage = $2 AND lane = $3 AND canary = $4`,
			run, stage, lane, string(from), string(to))
		if err != nil || moved == 0 {
			return err
		}
		return t.Event(ctx, run, 0, "canary "+string(to), lane+" in "+stage)
	})
	return moved == 1, err
}

// PutGroup writes what is known about a group.
func (s *Store) PutGroup(ctx context.Context, g store.Group) error {
	return s.db.Tx(ctx, "put group", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO groups (run_no, stage, lane, turn, second_try, first_ms, complete)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (run_no, stage, lane, turn, second_try) DO UPDATE SET first_ms = excluded.first_ms, complete = excluded.complete`,
			g.Run, g.Stage, g.Lane, g.Turn, g.Again, db.Millis(g.First), db.Flag(g.Complete))
		return err
	})
}

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
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'planned', $12, $12, $13, $15, $14) RETURNING no`,
			n.Run, n.Stage, n.Lane, n.Turn, n.Again, string(n.Mode), string(n.Purpose), n.Provider, n.Model, string(n.Nonce), n.Recuts,
			s.db.Millis(), holder, now+ttl.Milliseconds(), now).Scan(&no)
	})
	if err != nil {
		return store.Segment{}, err
	}
	return s.reader.Segment(ctx, no)
}

// SkipSegments makes the next segment's number higher than one that is in use where the ledger does not see it: in names of artifacts,
// or in stamps of jobs. The number itself becomes that of a segment that is over and has nothing in it.
func (s *Store) SkipSegments(ctx context.Context, n store.NewSegment, above int64, why string) error {
	return s.db.Tx(ctx, "skip segments", db.Durable, func(t *db.Txn) error {
		var newest int64
		if err := t.QueryRowContext(ctx, `SELECT COALESCE(MAX(no), 0) FROM segments`).Scan(&newest); err != nil || newest >= above {
			return err
		}
		_, err := t.ExecContext(ctx, `INSERT INTO segments
			(no, run_no, stage, lane, turn, second_try, mode, purpose, provider, model, nonce, state, moved_from, moved_ms, created_ms, reason)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 'cancelled', 'planned', $11, $11, $12)`,
			above, n.Run, n.Stage, n.Lane, n.Turn, n.Again, string(n.Mode), string(n.Purpose), n.Provider, n.Model, s.db.Millis(), why)
		if err != nil {
			return err
		}
		if s.db.Postgres() {
			if _, err := t.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence('segments', 'no'), $1)`, above); err != nil {
				return err
			}
		}
		return t.Event(ctx, n.Run, above, "older", why)
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

// OpenSegments counts them.
func (s *Store) OpenSegments(ctx context.Context, run int64, reason string) (n store.OpenSegments, err error) {
	err = s.db.QueryRow(ctx, `SELECT COUNT(CASE WHEN state = 'held' THEN 1 END), COUNT(CASE WHEN state <> 'held'
		AND due_ms IS NULL THEN 1 END),
		COUNT(CASE WHEN state <> 'held' AND due_ms IS NOT NULL THEN 1 END), COUNT(CASE WHEN state <> 'held' AND reason = $2 THEN 1 END)
		FROM segments WHERE run_no = $1`+db.InStates([]store.State{store.Staged, store.Uploaded, store.Intended, store.Launched,
		store.Ended, store.Fetched, store.Held}), run, reason).
		Scan(&n.Held, &n.Asleep, &n.Moving, &n.Blocked)
	if err != nil {
		return n, fmt.Errorf("count segments: %w", err)
	}
	return n, nil
}

// WakeLane makes the sleeping segments of a lane in a stage due: what they waited for may be there. What failed before is
// forgotten.
func (s *Store) WakeLane(ctx context.Context, run int64, stage, lane string) error {
	return s.db.Tx(ctx, "rouse", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $4, failures = 0
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND due_ms IS NULL
			AND state IN ('staged', 'uploaded', 'launched')`, run, stage, lane, s.db.Millis())
		return err
	})
}

// HurryLane makes the jobs of a lane in a stage due: something is to be done about them at once.
func (s *Store) HurryLane(ctx context.Context, run int64, stage, lane string) error {
	return s.db.Tx(ctx, "hurry", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $4
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND state = 'launched' AND mode = 'batch'`,
			run, stage, lane, s.db.Millis())
		return err
	})
}
