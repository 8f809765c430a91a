package read

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Decisions walks over what the gates of a run have decided, by stage and lane.
func (s *Reader) Decisions(ctx context.Context, run int64) iter.Seq2[store.Decision, error] {
	return db.Walk(ctx, s.db, "read decisions", func(rows *sql.Rows) (store.Decision, error) {
		var d store.Decision
		var at int64
		err := rows.Scan(&d.Run, &d.Stage, &d.Lane, &d.Condition, &d.Passed, &d.Why, &at)
		d.Given = time.UnixMilli(at).UTC()
		return d, err
	}, `SELECT run_no, stage, lane, condition, passed, why, at_ms FROM decisions WHERE run_no = $1 ORDER BY stage, lane`, run)
}

// Events reads a run's history after a line, oldest first.
func (s *Reader) Events(ctx context.Context, run, after int64, limit int) ([]store.Event, error) {
	return db.Collect(db.Walk(ctx, s.db, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text
		FROM events
		WHERE run_no = $1 AND no > $2 ORDER BY no LIMIT CAST($3 AS BIGINT)`, run, after, limit))
}

// EventsOf reads the events of a run that are of one kind, the oldest first.
func (s *Reader) EventsOf(ctx context.Context, run int64, kind string) ([]store.Event, error) {
	return db.Collect(db.Walk(ctx, s.db, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text
		FROM events
		WHERE run_no = $1 AND kind = $2 ORDER BY no`, run, kind))
}

// Looks walks over the looks of a run, by stage and number.
func (s *Reader) Looks(ctx context.Context, run int64) iter.Seq2[store.Look, error] {
	return db.Walk(ctx, s.db, "read looks", func(rows *sql.Rows) (store.Look, error) {
		var l store.Look
		var at int64
		err := rows.Scan(&l.Run, &l.Stage, &l.Number, &l.Planned, &l.Level, &l.Bought, &l.Found, &l.Next, &l.Stop, &at)
		l.Given = time.UnixMilli(at).UTC()
		return l, err
	}, `SELECT run_no, stage, number, planned, level, bought, found, next, stop, at_ms FROM looks WHERE run_no = $1 ORDER BY stage, number`,
		run)
}

// Ordered reports whether an order of a kind was ever given about a run.
func (s *Reader) Ordered(ctx context.Context, run int64, kind store.OrderKind) (bool, error) {
	all, err := s.orders(ctx, `WHERE run_no = $1 AND kind = $2`, run, kind)
	return len(all) > 0, err
}

// Orders reads the orders of a run that no process has obeyed yet, oldest first.
func (s *Reader) Orders(ctx context.Context, run int64) ([]store.Order, error) {
	return s.orders(ctx, `WHERE run_no = $1 AND obeyed_ms IS NULL ORDER BY no`, run)
}

// OrdersOf reads the orders of a kind about a run, obeyed or not, oldest first.
func (s *Reader) OrdersOf(ctx context.Context, run int64, kind store.OrderKind) ([]store.Order, error) {
	return s.orders(ctx, `WHERE run_no = $1 AND kind = $2 ORDER BY no`, run, string(kind))
}

// Order reads one order.
func (s *Reader) Order(ctx context.Context, no int64) (store.Order, error) {
	all, err := s.orders(ctx, `WHERE no = $1`, no)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("order %d: %w", no, store.ErrNotFound)
	}
	if err != nil {
		return store.Order{}, err
	}
	return all[0], nil
}

func (s *Reader) orders(ctx context.Context, where string, args ...any) ([]store.Order, error) {
	rows, err := s.db.Query(ctx, `SELECT no, run_no, COALESCE(segment_no, 0), kind, args, given_by, given_ms, obeyed_ms, COALESCE(answer,
		'') FROM orders `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	defer rows.Close()
	var all []store.Order
	for rows.Next() {
		var o store.Order
		var given, obeyed sql.NullInt64
		if err := rows.Scan(&o.No, &o.Run, &o.Segment, &o.Kind, &o.Args, &o.By, &given, &obeyed, &o.Answer); err != nil {
			return nil, fmt.Errorf("read orders: %w", err)
		}
		o.Given, o.Obeyed = db.FromMillis(given), db.FromMillis(obeyed)
		all = append(all, o)
	}
	return all, rows.Err()
}

func scanEvent(rows *sql.Rows) (store.Event, error) {
	var e store.Event
	var at int64
	err := rows.Scan(&e.No, &e.Run, &e.Segment, &at, &e.Kind, &e.Text)
	e.At = time.UnixMilli(at).UTC()
	return e, err
}

// Redos reads what a run was ordered to ask again, oldest first.
func (s *Reader) Redos(ctx context.Context, run int64) ([]store.Redo, error) {
	rows, err := s.db.Query(ctx, `SELECT run_no, stage, lane, item, nth, branch, draw FROM redos WHERE run_no = $1 ORDER BY order_no`, run)
	if err != nil {
		return nil, fmt.Errorf("read redos: %w", err)
	}
	defer rows.Close()
	var all []store.Redo
	for rows.Next() {
		var r store.Redo
		if err := rows.Scan(&r.Run, &r.Stage, &r.Lane, &r.Item, &r.Nth, &r.Branch, &r.Draw); err != nil {
			return nil, fmt.Errorf("read redos: %w", err)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}
