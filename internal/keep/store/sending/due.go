package sending

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// RunDue sets when the run is to be extended next; the zero time means when a segment settles.
func (s *Leases) RunDue(ctx context.Context, no int64, at time.Time) error {
	return s.db.Tx(ctx, "run due", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE runs SET due_ms = $2 WHERE no = $1 AND state = 'open'`, no, db.Millis(at))
		return err
	})
}

// SleepRun sets when a run that was extended is to be extended next; the zero time means when a segment settles. A run
// that was woken after the time seen stays due: the process that extended it may not have seen the reason.
func (s *Leases) SleepRun(ctx context.Context, no int64, seen, at time.Time) error {
	was := int64(-1)
	if !seen.IsZero() {
		was = seen.UnixMilli()
	}
	return s.db.Tx(ctx, "rest run", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE runs SET due_ms = $2 WHERE no = $1 AND state = 'open' AND COALESCE(due_ms, -1) = $3`,
			no, db.Millis(at), was)
		return err
	})
}

// liveAtOnce is how many live segments of one lane are worked on at a time: enough that the next one flies while the last
// requests of another come back, and few enough that no lane takes the places of the others.
const liveAtOnce = "2"

// Due lists what may be worked on now, longest due first: no process holds it. With run > 0 of that run only.
func (s *Leases) Due(ctx context.Context, run int64, limit int) ([]store.Work, error) {
	now := s.db.Millis()
	rows, err := s.db.Query(ctx, `SELECT run_no, no, due_ms, mode FROM (
			SELECT run_no, no, due_ms, mode, holder, lease_until_ms, ROW_NUMBER() OVER (PARTITION BY run_no, stage, lane, mode
			ORDER BY no) AS place
			FROM segments WHERE due_ms <= $1 AND ($2 = 0 OR run_no = $2)) AS d
		WHERE (mode <> 'live' OR place <= `+liveAtOnce+`) AND (holder IS NULL OR lease_until_ms <= `+s.db.ClockText("$1")+`)
		UNION ALL SELECT no, 0, due_ms, '' FROM runs
		WHERE due_ms <= $1 AND ($2 = 0 OR no = $2) AND (holder IS NULL OR lease_until_ms <= `+s.db.ClockText("$1")+`)
		ORDER BY 3, 2 LIMIT CAST($3 AS BIGINT)`, now, run, limit)
	if err != nil {
		return nil, fmt.Errorf("read what is due: %w", err)
	}
	defer rows.Close()
	var all []store.Work
	for rows.Next() {
		var w store.Work
		var due sql.NullInt64
		if err := rows.Scan(&w.Run, &w.Segment, &due, &w.Mode); err != nil {
			return nil, fmt.Errorf("read what is due: %w", err)
		}
		w.Due = db.FromMillis(due)
		all = append(all, w)
	}
	return all, rows.Err()
}

// RunsDue lists the runs that became due after a moment and are held by no process, and returns the moment at which it looked.
func (s *Leases) RunsDue(ctx context.Context, after time.Time) ([]store.Work, time.Time, error) {
	now := s.db.Millis()
	rows, err := s.db.Query(ctx, `SELECT no FROM runs WHERE due_ms > $1 AND due_ms <= $2
		AND (holder IS NULL OR lease_until_ms <= `+s.db.ClockText("$2")+`) ORDER BY no`, after.UnixMilli(), now)
	if err != nil {
		return nil, after, fmt.Errorf("read runs that are due: %w", err)
	}
	defer rows.Close()
	var all []store.Work
	for rows.Next() {
		var w store.Work
		if err := rows.Scan(&w.Run); err != nil {
			return nil, after, fmt.Errorf("read runs that are due: %w", err)
		}
		all = append(all, w)
	}
	return all, time.UnixMilli(now), rows.Err()
}

// NextDueAfter returns when the next thing of a run becomes due after a moment; zero: nothing does.
func (s *Leases) NextDueAfter(ctx context.Context, run int64, after time.Time) (time.Time, error) {
	var due sql.NullInt64
	err := s.db.QueryRow(ctx, `SELECT MIN(due_ms) FROM (
		SELECT due_ms FROM (SELECT due_ms FROM segments WHERE due_ms > $2 AND ($1 = 0 OR run_no = $1) ORDER BY due_ms LIMIT 1) AS first
		UNION ALL SELECT due_ms FROM runs WHERE due_ms > $2 AND no = $1) AS d`, run, after.UnixMilli()).Scan(&due)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the next due time: %w", err)
	}
	return db.FromMillis(due), nil
}

// PollNow makes the next poll of a job due, and returns the segments it belongs to. It changes nothing where we have made no such job,
// where it has ended, where a process is at it, or where its provider asked to wait. A name may lack the folder that ours has before it.
func (s *Leases) PollNow(ctx context.Context, job string) (all []store.Work, err error) {
	err = s.db.Tx(ctx, "poll now", db.Relaxed, func(t *db.Txn) error {
		now := s.db.Millis()
		rows, err := t.QueryContext(ctx, `UPDATE segments SET due_ms = $2 WHERE mode = 'batch' AND state = 'launched'
			AND (job = $1 OR job = 'batches/' || $1) AND due_ms > $2 AND COALESCE(wait_ms, 0) <= $2
			AND (holder IS NULL OR lease_until_ms <= `+s.db.ClockText("$2")+`) RETURNING run_no, no`, job, now)
		if err != nil {
			return err
		}
		defer rows.Close()
		all = nil
		for rows.Next() {
			w := store.Work{Mode: store.Batch, Due: time.UnixMilli(now)}
			if err := rows.Scan(&w.Run, &w.Segment); err != nil {
				return err
			}
			all = append(all, w)
		}
		return rows.Err()
	})
	return all, err
}
