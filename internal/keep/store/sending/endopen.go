package sending

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// AddStrays keeps strange lines aside; the same line again is the same stray, and the line that an outcome was read from
// is none.
func (s *Store) AddStrays(ctx context.Context, l store.Lease, strays []store.Stray) error {
	if len(strays) == 0 {
		return nil
	}
	return s.db.Tx(ctx, "add strays", db.Relaxed, func(t *db.Txn) error {
		for _, y := range strays {
			id := db.Clean(y.CustomID)
			if len(id) > 200 {
				id = db.Clean(id[:200])
			}
			_, err := t.ExecContext(ctx, `INSERT INTO strays (segment_no, artifact_no, line_offset, line_length, kind, custom_id, at_ms)
				SELECT no, $3, $4, $5, $6, $7, $8 FROM segments WHERE no = $1 AND epoch = $2
				AND NOT ($6 = 'duplicate' AND EXISTS (SELECT 1 FROM outcomes
				WHERE segment_no = $1 AND ord = $9 AND artifact_no = $3 AND line_offset = $4))
				ON CONFLICT DO NOTHING`,
				l.No, l.Epoch, y.Artifact, y.Offset, y.Length, string(y.Kind), id, s.db.Millis(), y.Ord)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// EndOpen gives every attempt without an outcome this one, at no cost.
func (s *Store) EndOpen(ctx context.Context, l store.Lease, e store.EndOpen) error {
	return s.db.Tx(ctx, "end open", db.Relaxed, func(t *db.Txn) error {
		_, err := endOpen(ctx, t, l, e)
		return err
	})
}

func endOpen(ctx context.Context, t *db.Txn, l store.Lease, e store.EndOpen) (int64, error) {
	var d state.LaneDelta
	err := t.QueryRowContext(ctx, `SELECT run_no, stage, lane FROM segments WHERE no = $1 AND epoch = $2`,
		l.No, l.Epoch).Scan(&d.Run, &d.Stage, &d.Lane)
	if err != nil {
		return 0, whyNot(ctx, t, l, err)
	}
	const open = `FROM attempts a WHERE a.segment_no = $1 AND NOT EXISTS (SELECT 1 FROM outcomes o
		WHERE o.segment_no = a.segment_no AND o.ord = a.ord)`
	unanswered := ` AND NOT ` + db.Answered("a")
	var n, moves int64
	if err := t.QueryRowContext(ctx, `SELECT COUNT(*) `+open, l.No).Scan(&n); err != nil || n == 0 {
		return d.Run, err
	}
	if err := t.QueryRowContext(ctx, `SELECT COUNT(*) `+open+unanswered, l.No).Scan(&moves); err != nil {
		return 0, err
	}
	if e.Again != nil {
		_, err := t.ExecContext(ctx, `INSERT INTO resends (run_no, key, try, segment_no, ord, mode, not_before_ms, cause)
			SELECT a.run_no, a.key, a.try + 1, a.segment_no, a.ord, $2, $3, $4 `+open+unanswered+`
			AND $5 > `+endedAs("$6")+`
			ON CONFLICT DO NOTHING`,
			l.No, string(e.Again.Mode), e.Again.After.UnixMilli(), e.Again.Cause, e.Again.Cap, string(e.Ending))
		if err != nil {
			return 0, err
		}
	}
	_, err = t.ExecContext(ctx, `INSERT INTO outcomes (segment_no, ord, late, run_no, key, ending, stands, surplus, over, finish, model,
		request_id, tier, cost_nano, fault_class, fault_message, at_ms)
		SELECT a.segment_no, a.ord, 0, a.run_no, a.key, $2, 0, 0, 0, '', '', '', '', 0, 'unknown', $3, $4 `+open,
		l.No, string(e.Ending), db.Clean(e.Message), t.Millis())
	if err != nil {
		return 0, err
	}
	err = t.One(ctx, store.ErrLeaseLost, `UPDATE segments SET n_`+string(e.Ending)+` = n_`+string(e.Ending)+` + $3,
		cost_priced = cost_priced + $3
		WHERE no = $1 AND epoch = $2`+db.InStates([]store.State{store.Staged, store.Uploaded, store.Intended, store.Launched, store.Ended,
		store.Fetched, store.Held}), l.No, l.Epoch, n)
	if err != nil {
		return 0, err
	}
	d.Open = -moves
	d.Add(e.Ending, moves)
	return d.Run, state.AddToLane(ctx, t, d)
}
