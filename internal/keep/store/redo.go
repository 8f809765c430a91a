package store

import (
	"context"
	"fmt"
)

// Redo is a person's word to ask again, as one more draw, what a lane was asked about an item in a stage.
type Redo struct {
	Run    int64
	Stage  string
	Lane   string // that answers: a judge's, where a judge is asked again
	Item   string
	Nth    int    // the further draw it makes, from 1
	Branch string // only this branch; empty: all
	Draw   int    // only this draw; 0: all
}

// Share is how many requests belong to a lane in a stage.
type Share struct {
	Stage, Lane string
	Requests    int64
}

// AddRedo writes a redo that an order asked for, with the requests that it adds to the plan, and opens the run again. Its
// number is the next one of the item. The same order again adds nothing.
func (s *Ledger) AddRedo(ctx context.Context, order int64, r Redo, adds []Share) error {
	return s.tx(ctx, "add redo", durable, func(t *txn) error {
		n, err := t.change(ctx, `INSERT INTO redos (run_no, stage, lane, item, nth, branch, draw, order_no, at_ms)
			SELECT o.run_no, $2, $3, $4, 1 + COALESCE((SELECT MAX(nth) FROM redos WHERE run_no = o.run_no AND stage = $2 AND lane = $3 AND item = $4), 0),
			$5, $6, o.no, $7 FROM orders o WHERE o.no = $1 AND NOT EXISTS (SELECT 1 FROM redos WHERE order_no = $1)`,
			order, r.Stage, r.Lane, r.Item, r.Branch, int64(r.Draw), s.millis())
		if err != nil || n == 0 {
			return err
		}
		if err := t.addPlanned(ctx, r.Run, adds); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, r.Run); err != nil {
			return err
		}
		return t.reopen(ctx, r.Run, "redo of item "+r.Item+" in lane "+r.Lane+" of stage "+r.Stage)
	})
}

// Redos reads what a run was ordered to ask again, oldest first.
func (s *Reader) Redos(ctx context.Context, run int64) ([]Redo, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT run_no, stage, lane, item, nth, branch, draw FROM redos WHERE run_no = $1 ORDER BY order_no`, run)
	if err != nil {
		return nil, fmt.Errorf("read redos: %w", err)
	}
	defer rows.Close()
	var all []Redo
	for rows.Next() {
		var r Redo
		if err := rows.Scan(&r.Run, &r.Stage, &r.Lane, &r.Item, &r.Nth, &r.Branch, &r.Draw); err != nil {
			return nil, fmt.Errorf("read redos: %w", err)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// AddRetried adds to the plan what lanes of a run are asked again, and opens the run.
func (s *Ledger) AddRetried(ctx context.Context, run int64, adds []Share) error {
	return s.tx(ctx, "retry verdicts", durable, func(t *txn) error {
		if err := t.addPlanned(ctx, run, adds); err != nil {
			return err
		}
		return t.reopen(ctx, run, "retry of verdicts")
	})
}

// addPlanned adds requests to what lanes of a run are to be asked.
func (t *txn) addPlanned(ctx context.Context, run int64, adds []Share) error {
	for _, a := range adds {
		err := t.one(ctx, fmt.Errorf("lane %s in stage %s of run %d: %w", a.Lane, a.Stage, run, ErrNotFound),
			`UPDATE lanes SET planned = planned + $4 WHERE run_no = $1 AND stage = $2 AND lane = $3`, run, a.Stage, a.Lane, a.Requests)
		if err != nil {
			return err
		}
	}
	return nil
}
