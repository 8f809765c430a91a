package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// Buy writes what a person buys for a stage of a run: all of it at once, or nothing. The run is open after it. It reports whether the
// look was the next one: another process may have been first.
func (s *Store) Buy(ctx context.Context, e store.Extension) (bool, error) {
	bought := false
	err := s.db.Tx(ctx, "buy comparisons", db.Durable, func(t *db.Txn) error {
		held := `UPDATE runs SET holder = holder WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`
		if err := t.One(ctx, store.ErrLeaseLost, held, e.Run, e.Lease.Epoch); err != nil {
			return err
		}
		n, err := putLook(ctx, t, e.Look)
		if bought = n > 0; err != nil || !bought {
			return err
		}
		if err := state.AddPlanned(ctx, t, e.Run, e.Adds); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, e.Run); err != nil {
			return err
		}
		if e.Budget != nil {
			raise := `UPDATE runs SET budget_nano = $2 WHERE no = $1 AND budget_nano < $2`
			if _, err := t.ExecContext(ctx, raise, e.Run, db.Nanos(e.Budget)); err != nil {
				return err
			}
		}
		if err := t.Event(ctx, e.Run, 0, "settle", db.Clean(e.What)); err != nil {
			return err
		}
		return state.Reopen(ctx, t, e.Run, "comparisons were bought")
	})
	return bought, err
}

// PutOrder writes an order and wakes the run, so that its holder sees it. A closed run is opened again, unless the order
// is to stop it.
func (s *Store) PutOrder(ctx context.Context, o store.Order) (int64, error) {
	var no int64
	err := s.db.Tx(ctx, "give order", db.Durable, func(t *db.Txn) error {
		err := t.QueryRowContext(ctx, `INSERT INTO orders (run_no, segment_no, kind, args, given_by, given_ms)
			VALUES ($1, $2, $3, $4, $5, $6) RETURNING no`,
			o.Run, db.Null(o.Segment), string(o.Kind), o.Args, o.By, s.db.Millis()).Scan(&no)
		if err != nil {
			return err
		}
		if err := t.Event(ctx, o.Run, o.Segment, "order "+string(o.Kind), o.By); err != nil {
			return err
		}
		if o.Kind == store.OrderCancel {
			return state.Wake(ctx, t, o.Run)
		}
		return state.Reopen(ctx, t, o.Run, "order "+string(o.Kind))
	})
	return no, err
}

// SetBudget changes what a run may spend; nil lifts the limit.
func (s *Store) SetBudget(ctx context.Context, no int64, budget *assay.Money) error {
	return s.db.Tx(ctx, "set budget", db.Durable, func(t *db.Txn) error {
		return t.One(ctx, fmt.Errorf("run %d: %w", no, store.ErrNotFound), `UPDATE runs SET budget_nano = $2 WHERE no = $1`,
			no, db.Nanos(budget))
	})
}

// Tune changes what a run may send, at once for every process that works on it, and wakes it if it is open. It reports whether
// the limits were still as they were seen: another person may have been first.
func (s *Store) Tune(ctx context.Context, r store.Retuning) (bool, error) {
	text, err := json.Marshal(r.Is)
	if err != nil {
		return false, err
	}
	is := string(text)
	if is == "{}" {
		is = ""
	}
	other := errors.New("the limits are others by now")
	err = s.db.Tx(ctx, "tune run", db.Durable, func(t *db.Txn) error {
		if err := t.One(ctx, other, `UPDATE runs SET tuned = $3 WHERE no = $1 AND tuned = $2`, r.Run, r.Was, is); err != nil {
			return err
		}
		if r.Budget != nil {
			if _, err := t.ExecContext(ctx, `UPDATE runs SET budget_nano = $2 WHERE no = $1`, r.Run, db.Nanos(r.Budget)); err != nil {
				return err
			}
		}
		for _, lane := range r.Pause {
			_, err := t.ExecContext(ctx, `UPDATE lanes SET state = 'paused', reason = $3
				WHERE run_no = $1 AND lane = $2 AND state = 'open'`, r.Run, lane, store.PausedByUser)
			if err != nil {
				return err
			}
			// What waited for money is not looked at again before the lane goes on, and more money does not change that.
			_, err = t.ExecContext(ctx, `UPDATE segments SET reason = $4
				WHERE run_no = $1 AND lane = $2 AND due_ms IS NULL AND reason = $3 AND EXISTS (SELECT 1 FROM lanes l
				WHERE l.run_no = segments.run_no AND l.stage = segments.stage AND l.lane = segments.lane AND l.state = 'paused')`,
				r.Run, lane, string(store.AwaitsMoney), store.PausedByUser)
			if err != nil {
				return err
			}
		}
		for _, lane := range r.Unpause {
			if _, err := t.ExecContext(ctx, `UPDATE lanes SET state = 'open', reason = ''
				WHERE run_no = $1 AND lane = $2 AND state = 'paused'`, r.Run, lane); err != nil {
				return err
			}
		}
		return errors.Join(t.Event(ctx, r.Run, 0, store.TunedEvent, db.Clean(r.What)), state.Wake(ctx, t, r.Run))
	})
	if errors.Is(err, other) {
		return false, nil
	}
	return err == nil, err
}
