package sending

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

func addJob(ctx context.Context, t *db.Txn, segment int64, job string, role store.JobRole) error {
	n, err := t.Change(ctx, `INSERT INTO jobs (provider, job, segment_no, account, role, created_ms)
		SELECT provider, $2, no, COALESCE(account, ''), $3, $4 FROM segments WHERE no = $1
		ON CONFLICT (provider, job) DO UPDATE SET role = excluded.role WHERE jobs.segment_no = excluded.segment_no`,
		segment, job, role, t.Millis())
	if err == nil && n == 0 {
		err = fmt.Errorf("job %s belongs to another segment: %w", job, store.ErrDuplicate)
	}
	return err
}

// AddDouble notes that a segment was launched more than once, and later how the job ended.
func (s *Store) AddDouble(ctx context.Context, l store.Lease, d store.Double) error {
	role := store.JobDouble
	if d.Over {
		role = store.JobSurplus
	}
	return s.db.Tx(ctx, "double", db.Durable, func(t *db.Txn) error {
		var run int64
		if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run); err != nil {
			return whyNot(ctx, t, l, err)
		}
		if err := addJob(ctx, t, l.No, d.Job, role); err != nil {
			return err
		}
		return errors.Join(billDouble(ctx, t, l.No, run, d),
			t.Event(ctx, run, l.No, store.DoubleEvent, "job "+d.Job+" was made for the same segment: "+d.What))
	})
}

// billDouble books what a double has done: what its results cost, or as much for a request as those of its segment cost on average, or were
// expected to. What it was expected to cost when it was found is corrected once answers have a price.
func billDouble(ctx context.Context, t *db.Txn, segment, run int64, d store.Double) error {
	var more, booked int64
	err := t.QueryRowContext(ctx, `SELECT j.cost_nano, $3 * CASE WHEN g.cost_priced > 0
		THEN g.cost_nano - CAST((SELECT SUM(o.cost_nano) FROM jobs o WHERE o.segment_no = g.no) AS BIGINT) ELSE g.expected_nano END
		/ CASE WHEN g.cost_priced > 0 THEN g.cost_priced ELSE g.requests END - j.cost_nano
		FROM segments g JOIN jobs j ON j.segment_no = g.no AND j.provider = g.provider AND j.job = $2 WHERE g.no = $1`,
		segment, d.Job, d.Done).Scan(&booked, &more)
	if d.Cost != nil {
		more = int64(*d.Cost) - booked
	}
	if err != nil || more == 0 || more < 0 && d.Done == 0 && d.Cost == nil { // what it did is not known
		return err
	}
	if _, err := t.ExecContext(ctx, `UPDATE jobs SET cost_nano = cost_nano + $3 WHERE segment_no = $1 AND job = $2`,
		segment, d.Job, more); err != nil {
		return err
	}
	// What is not settled yet is spent with its segment.
	if _, err := t.ExecContext(ctx, `UPDATE runs SET spent_nano = spent_nano + $2 WHERE no = $1 AND EXISTS
		(SELECT 1 FROM segments WHERE no = $3 AND state IN ('settled', 'failed', 'cancelled'))`, run, more, segment); err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE segments SET cost_nano = cost_nano + $2 WHERE no = $1`, segment, more)
	return err
}

// TakenJobs reads the jobs at a provider that a create call of a segment cannot have made: those of other segments, and
// its own that have failed or are doubles.
func (s *Store) TakenJobs(ctx context.Context, provider string, segment int64) (map[string]bool, error) {
	rows, err := s.db.Query(ctx, `SELECT job FROM jobs WHERE provider = $1 AND (segment_no <> $2 OR role <> 'current')`, provider, segment)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	defer rows.Close()
	all := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read jobs: %w", err)
		}
		all[id] = true
	}
	return all, rows.Err()
}

// UnsentSizes counts the batch segments at a provider that have no job yet, by their number of requests.
func (s *Store) UnsentSizes(ctx context.Context, provider string) (map[int64]int, error) {
	rows, err := s.db.Query(ctx, `SELECT requests, COUNT(*) FROM segments
		WHERE provider = $1 AND mode = 'batch' AND state IN ('staged', 'uploaded', 'intended', 'held') GROUP BY requests`, provider)
	if err != nil {
		return nil, fmt.Errorf("read sizes: %w", err)
	}
	defer rows.Close()
	all := map[int64]int{}
	for rows.Next() {
		var size int64
		var n int
		if err := rows.Scan(&size, &n); err != nil {
			return nil, fmt.Errorf("read sizes: %w", err)
		}
		all[size] = n
	}
	return all, rows.Err()
}

// Intend commits, durably and before the create call, that it is about to go, and reserves its money. ErrBudget: it
// does not fit. ErrRoom: the provider has as much waiting as it takes. ErrAnswered: a late answer came for a request in it.
func (s *Store) Intend(ctx context.Context, l store.Lease, in store.Intent) error {
	return s.move(ctx, l, move{op: "intend", to: store.Intended, from: []store.State{store.Uploaded}, due: in.Due, durable: db.Durable,
		set: `account = $6, stamped = $7, cursor_mark = $8, reserved_nano = $9, intended_ms = $4, intends = intends + 1,
			absents = 0, absent_ms = NULL, reason = ''`,
		args: []any{in.Account, db.Flag(in.Stamped), in.Cursor, int64(in.Reserve)},
		note: "reserve " + in.Reserve.String(),
		alongside: func(ctx context.Context, t *db.Txn, run int64) error {
			return errors.Join(unanswered(ctx, t, l.No), room(ctx, t, l.No), reserve(ctx, t, run, in.Reserve))
		}})
}

// unanswered makes sure that no request of a segment has an answer by now.
func unanswered(ctx context.Context, t *db.Txn, segment int64) error {
	var n int64
	err := t.QueryRowContext(ctx, `SELECT COUNT(*) FROM attempts a
		WHERE a.segment_no = $1 AND EXISTS (SELECT 1 FROM segments WHERE no = $1 AND max_try > 1) AND a.try > 1
		AND `+db.Answered("a"), segment).Scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("segment %d, %d requests: %w", segment, n, store.ErrAnswered)
	}
	return err
}

// reserve takes money out of what a run may still spend.
func reserve(ctx context.Context, t *db.Txn, run int64, m assay.Money) error {
	return t.One(ctx, fmt.Errorf("run %d, %s: %w", run, m, store.ErrBudget), `UPDATE runs SET reserved_nano = reserved_nano + $2
		WHERE no = $1 AND (budget_nano IS NULL OR spent_nano + reserved_nano + perhaps_nano + $2 <= budget_nano)`, run, int64(m))
}

// Launched notes, durably, the job that a segment became.
func (s *Store) Launched(ctx context.Context, l store.Lease, j store.Launch) error {
	return s.move(ctx, l, move{op: "launched", to: store.Launched, from: []store.State{store.Intended, store.Held}, due: j.Due,
		durable: db.Durable, set: `job = $6, launched_ms = $7, held_from = NULL, fence = NULL, failures = 0, reason = ''`,
		args: []any{j.Job, j.At.UnixMilli()}, note: strings.TrimSpace("job " + j.Job + " " + j.Note),
		alongside: func(ctx context.Context, t *db.Txn, _ int64) error {
			// One that is not wanted any more is looked at, and so cancelled, at once.
			if _, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = launched_ms WHERE no = $1 AND cancel_cause = 'user'`,
				l.No); err != nil {
				return err
			}
			// The job it had, if any, is lost: a person has found another.
			if _, err := t.ExecContext(ctx, `UPDATE jobs SET role = 'failed' WHERE segment_no = $1 AND role = 'current' AND job <> $2`,
				l.No, j.Job); err != nil {
				return err
			}
			return addJob(ctx, t, l.No, j.Job, store.JobCurrent)
		}})
}

// GoLive starts a live segment: reserves its money before the first request is asked.
func (s *Store) GoLive(ctx context.Context, l store.Lease, account string, most assay.Money, due time.Time) error {
	return s.move(ctx, l, move{op: "go live", to: store.Launched, from: []store.State{store.Staged}, due: due, durable: db.Durable,
		set:  `account = $6, launched_ms = $4, reserved_nano = $7, reason = ''`,
		args: []any{account, int64(most)},
		note: "live, reserve " + most.String(),
		alongside: func(ctx context.Context, t *db.Txn, run int64) error {
			return errors.Join(unanswered(ctx, t, l.No), reserve(ctx, t, run, most))
		}})
}

// ReserveMore takes more money for a live segment whose answers cost more than was expected. ErrBudget: there is none.
func (s *Store) ReserveMore(ctx context.Context, l store.Lease, m assay.Money) error {
	return s.db.Tx(ctx, "reserve more", db.Durable, func(t *db.Txn) error {
		var run int64
		err := t.QueryRowContext(ctx, `UPDATE segments SET reserved_nano = reserved_nano + $3, reason = ''
			WHERE no = $1 AND epoch = $2 AND state = 'launched'
			RETURNING run_no`, l.No, l.Epoch, int64(m)).Scan(&run)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		return reserve(ctx, t, run, m)
	})
}
