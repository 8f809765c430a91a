package sending

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// SetLane opens, stops or holds a lane in a stage, and writes the reason into the history. If to.From is set, it changes only
// a lane that was stopped for it.
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

// WakeLane makes the sleeping segments of a lane in a stage due: what they waited for may be there. What failed before is
// forgotten.
func (s *Store) WakeLane(ctx context.Context, run int64, stage, lane string) error {
	return s.db.Tx(ctx, "wake lane", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $4, failures = 0
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND due_ms IS NULL
			AND state IN ('staged', 'uploaded', 'launched')`, run, stage, lane, s.db.Millis())
		return err
	})
}

// HurryLane makes the jobs of a lane in a stage due: something is to be done about them at once.
func (s *Store) HurryLane(ctx context.Context, run int64, stage, lane string) error {
	return s.db.Tx(ctx, "hurry lane", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $4
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND state = 'launched' AND mode = 'batch'`,
			run, stage, lane, s.db.Millis())
		return err
	})
}
