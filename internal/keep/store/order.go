package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"assay/internal/assay"
)

// OrderKind is what a person or process wants of the holder of a run.
type OrderKind string

// The orders.
const (
	OrderCancel  OrderKind = "cancel"  // stop jobs, keep what the provider hands out, send nothing more
	OrderRetry   OrderKind = "retry"   // send again what ended without an answer
	OrderResolve OrderKind = "resolve" // decide about a held segment
	OrderCollect OrderKind = "collect" // fetch what is ready now
	OrderProceed OrderKind = "proceed" // a yes to the canaries shown
	OrderRedo    OrderKind = "redo"    // ask again what has an answer
)

// Ordered reports whether an order of a kind was ever given about a run.
func (s *Reader) Ordered(ctx context.Context, run int64, kind OrderKind) (bool, error) {
	all, err := s.orders(ctx, `WHERE run_no = $1 AND kind = $2`, run, kind)
	return len(all) > 0, err
}

// Order is a wish that the holder of a run obeys.
type Order struct {
	No      int64
	Run     int64
	Segment int64 // 0: the whole run
	Kind    OrderKind
	Args    string // JSON, by kind
	By      string
	Given   time.Time
	Obeyed  time.Time
	Answer  string
}

// PutOrder writes an order and wakes the run, so that its holder sees it. A closed run is opened again, unless the order
// is to stop it.
func (s *Ledger) PutOrder(ctx context.Context, o Order) (int64, error) {
	var no int64
	err := s.tx(ctx, "give order", durable, func(t *txn) error {
		err := t.QueryRowContext(ctx, `INSERT INTO orders (run_no, segment_no, kind, args, given_by, given_ms) VALUES ($1, $2, $3, $4, $5, $6) RETURNING no`,
			o.Run, null(o.Segment), string(o.Kind), o.Args, o.By, s.millis()).Scan(&no)
		if err != nil {
			return err
		}
		if err := t.event(ctx, o.Run, o.Segment, "order "+string(o.Kind), o.By); err != nil {
			return err
		}
		if o.Kind == OrderCancel {
			return t.wakeRun(ctx, o.Run)
		}
		return t.reopen(ctx, o.Run, "order "+string(o.Kind))
	})
	return no, err
}

// Orders reads the orders of a run that no process has obeyed yet, oldest first.
func (s *Reader) Orders(ctx context.Context, run int64) ([]Order, error) {
	return s.orders(ctx, `WHERE run_no = $1 AND obeyed_ms IS NULL ORDER BY no`, run)
}

// OrdersOf reads the orders of a kind about a run, obeyed or not, oldest first.
func (s *Reader) OrdersOf(ctx context.Context, run int64, kind OrderKind) ([]Order, error) {
	return s.orders(ctx, `WHERE run_no = $1 AND kind = $2 ORDER BY no`, run, string(kind))
}

// Order reads one order.
func (s *Reader) Order(ctx context.Context, no int64) (Order, error) {
	all, err := s.orders(ctx, `WHERE no = $1`, no)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("order %d: %w", no, ErrNotFound)
	}
	if err != nil {
		return Order{}, err
	}
	return all[0], nil
}

func (s *Reader) orders(ctx context.Context, where string, args ...any) ([]Order, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT no, run_no, COALESCE(segment_no, 0), kind, args, given_by, given_ms, obeyed_ms, COALESCE(answer, '') FROM orders `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	defer rows.Close()
	var all []Order
	for rows.Next() {
		var o Order
		var given, obeyed sql.NullInt64
		if err := rows.Scan(&o.No, &o.Run, &o.Segment, &o.Kind, &o.Args, &o.By, &given, &obeyed, &o.Answer); err != nil {
			return nil, fmt.Errorf("read orders: %w", err)
		}
		o.Given, o.Obeyed = fromMillis(given), fromMillis(obeyed)
		all = append(all, o)
	}
	return all, rows.Err()
}

// FinishOrder marks an order as done, with an answer for the one who gave it; once.
func (s *Ledger) FinishOrder(ctx context.Context, no int64, answer string) error {
	return s.tx(ctx, "obey order", durable, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE orders SET obeyed_ms = $2, answer = $3 WHERE no = $1 AND obeyed_ms IS NULL`, no, s.millis(), answer)
		return err
	})
}

// SendAgain puts requests of a run on the queue that ended in one of these ways and have no answer, as a person asked.
// It returns how many.
func (s *Ledger) SendAgain(ctx context.Context, run int64, a Again, endings ...assay.Ending) (int64, error) {
	var n int64
	err := s.tx(ctx, "send again", relaxed, func(t *txn) error {
		n = 0
		for _, e := range endings {
			m, err := t.change(ctx, `INSERT INTO resends (run_no, key, try, segment_no, ord, mode, not_before_ms, cause)
				SELECT a.run_no, a.key, a.try + 1, a.segment_no, a.ord, $3, $4, $5
				FROM outcomes o JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord
				WHERE o.run_no = $1 AND o.stands = 0 AND o.surplus = 0 AND o.superseded = 0 AND o.ending = $2
				AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.run_no = o.run_no AND u.key = o.key AND u.stands = 1)
				AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late)
				AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = a.run_no AND b.key = a.key AND b.superseded = 0 AND b.try > a.try)
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
		return t.wakeRun(ctx, run)
	})
	return n, err
}
