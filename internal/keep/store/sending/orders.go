package sending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// Note writes a line into a run's history. A segment of 0 means the run as a whole.
func (s *Store) Note(ctx context.Context, run, segment int64, kind, text string) error {
	return s.db.Tx(ctx, "note", db.Relaxed, func(t *db.Txn) error { return t.Event(ctx, run, segment, kind, db.Clean(text)) })
}

// NoteLostLog writes into a run's history, once, that calls in a live log may be billed whose segment is not in this ledger. What they cost
// at most is perhaps spent.
func (s *Store) NoteLostLog(ctx context.Context, run int64, name string, most assay.Money, text string) error {
	return s.db.Tx(ctx, "note lost log", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
			fmt.Sprintf("lost log %d %s", run, name), most.String())
		if err != nil || n == 0 {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE runs SET perhaps_nano = perhaps_nano + $2 WHERE no = $1`, run, int64(most)); err != nil {
			return err
		}
		return t.Event(ctx, run, 0, store.DoubleEvent, db.Clean(text))
	})
}

// FinishOrder marks an order as done, with an answer for the one who gave it; once.
func (s *Store) FinishOrder(ctx context.Context, no int64, answer string) error {
	return s.db.Tx(ctx, "obey order", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE orders SET obeyed_ms = $2, answer = $3 WHERE no = $1 AND obeyed_ms IS NULL`,
			no, s.db.Millis(), answer)
		return err
	})
}

// SendAgain puts requests of a run on the queue that ended in one of these ways and have no answer, as a person asked.
// It returns how many.
func (s *Store) SendAgain(ctx context.Context, run int64, a store.Again, endings ...assay.Ending) (int64, error) {
	var n int64
	err := s.db.Tx(ctx, "send again", db.Relaxed, func(t *db.Txn) error {
		n = 0
		for _, e := range endings {
			m, err := t.Change(ctx, `INSERT INTO resends (run_no, key, try, segment_no, ord, mode, not_before_ms, cause)
				SELECT a.run_no, a.key, a.try + 1, a.segment_no, a.ord, CASE WHEN $3 <> '' THEN $3 ELSE `+laneMode+` END, $4, $5
				FROM outcomes o JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord
				WHERE o.run_no = $1 AND o.stands = 0 AND o.surplus = 0 AND o.ending = $2
				AND NOT `+db.Answered("a")+`
				AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late)
				AND NOT EXISTS (SELECT 1 FROM attempts b WHERE `+db.SameRequest("b", "a")+` AND b.try > a.try)
				ON CONFLICT DO NOTHING`, run, string(e), string(a.Mode), a.After.UnixMilli(), a.Cause)
			if err != nil {
				return err
			}
			n += m
		}
		if n > 0 { // what they bring may be asked about in turn
			if _, err := t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, run); err != nil {
				return err
			}
		}
		return state.Wake(ctx, t, run)
	})
	return n, err
}

// laneMode is how the lane of an attempt travels: live where none of its segments in the stage was a job, and one that is no canary was
// asked live.
const laneMode = `(SELECT CASE WHEN EXISTS (SELECT 1 FROM segments l WHERE l.run_no = g.run_no AND l.stage = g.stage AND l.lane = g.lane
		AND l.mode = 'live' AND l.purpose <> 'canary')
	AND NOT EXISTS (SELECT 1 FROM segments l WHERE l.run_no = g.run_no AND l.stage = g.stage AND l.lane = g.lane AND l.mode = 'batch')
	THEN 'live' ELSE 'batch' END FROM segments g WHERE g.no = a.segment_no)`

// AddRedo writes a redo that an order asked for, with the requests that it adds to the plan, and opens the run again. Its
// number is the next one of the item. The same order again adds nothing.
func (s *Store) AddRedo(ctx context.Context, order int64, r store.Redo, adds []store.Share) error {
	return s.db.Tx(ctx, "add redo", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `INSERT INTO redos (run_no, stage, lane, item, nth, branch, draw, order_no, at_ms)
			SELECT o.run_no, $2, $3, $4, 1 + COALESCE((SELECT MAX(nth) FROM redos
			WHERE run_no = o.run_no AND stage = $2 AND lane = $3 AND item = $4), 0),
			$5, $6, o.no, $7 FROM orders o WHERE o.no = $1 AND NOT EXISTS (SELECT 1 FROM redos WHERE order_no = $1)`,
			order, r.Stage, r.Lane, r.Item, r.Branch, int64(r.Draw), s.db.Millis())
		if err != nil || n == 0 {
			return err
		}
		if err := state.AddPlanned(ctx, t, r.Run, adds); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, r.Run); err != nil {
			return err
		}
		return state.Reopen(ctx, t, r.Run, "redo of item "+r.Item+" in lane "+r.Lane+" of stage "+r.Stage)
	})
}

// AddRetried adds to the plan what lanes of a run are asked again, and opens the run.
func (s *Store) AddRetried(ctx context.Context, run int64, adds []store.Share) error {
	return s.db.Tx(ctx, "retry verdicts", db.Durable, func(t *db.Txn) error {
		if err := state.AddPlanned(ctx, t, run, adds); err != nil {
			return err
		}
		return state.Reopen(ctx, t, run, "retry of verdicts")
	})
}

// CloseRun ends a run. ErrWoken: it was woken since it was seen to be due at a moment, and stays open. The lease is the
// run's.
func (s *Store) CloseRun(ctx context.Context, l store.Lease, seen time.Time, r store.Result) error {
	was := int64(-1)
	if !seen.IsZero() {
		was = seen.UnixMilli()
	}
	return s.db.Tx(ctx, "close run", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `UPDATE runs SET state = 'closed', result = $3, closed_ms = $4, due_ms = NULL
			WHERE no = $1 AND epoch = $2 AND state = 'open' AND COALESCE(due_ms, -1) = $5`, l.No, l.Epoch, string(r), s.db.Millis(), was)
		if err != nil {
			return err
		}
		if n == 1 {
			return t.Event(ctx, l.No, 0, "closed", string(r))
		}
		var ours int
		err = t.QueryRowContext(ctx, `SELECT COUNT(*) FROM runs WHERE no = $1 AND epoch = $2 AND state = 'open'`, l.No, l.Epoch).Scan(&ours)
		if err == nil && ours == 1 {
			return store.ErrWoken
		}
		return errors.Join(err, store.ErrLeaseLost)
	})
}

// ReopenRun makes a closed run due again: something is to be sent again, or came late.
func (s *Store) ReopenRun(ctx context.Context, no int64, why string) error {
	return s.db.Tx(ctx, "reopen run", db.Relaxed, func(t *db.Txn) error { return state.Reopen(ctx, t, no, why) })
}
