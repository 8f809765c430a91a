package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Job is a job that a provider made for one of our segments.
type Job struct {
	Provider string
	ID       string
	Segment  int64
	Account  string // whose key
	Role     string // current, failed, double, or surplus: a double whose end is reported
	Created  time.Time
}

func (t *txn) addJob(ctx context.Context, segment int64, job, role string) error {
	n, err := t.change(ctx, `INSERT INTO jobs (provider, job, segment_no, account, role, created_ms)
		SELECT provider, $2, no, COALESCE(account, ''), $3, $4 FROM segments WHERE no = $1
		ON CONFLICT (provider, job) DO UPDATE SET role = excluded.role WHERE jobs.segment_no = excluded.segment_no`, segment, job, role, t.s.millis())
	if err == nil && n == 0 {
		err = fmt.Errorf("job %s belongs to another segment: %w", job, ErrDuplicate)
	}
	return err
}

// Double is a job that is one too many for its segment.
type Double struct {
	Job  string
	What string // what it has done, and what becomes of it
	Over bool   // it is over: nothing more can be said of it
}

// AddDouble notes that a segment was launched more than once, and later how the job ended.
func (s *Ledger) AddDouble(ctx context.Context, l Lease, d Double) error {
	role := "double"
	if d.Over {
		role = "surplus"
	}
	return s.tx(ctx, "double", durable, func(t *txn) error {
		var run int64
		if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run); err != nil {
			return t.whyNot(ctx, l, err)
		}
		return errors.Join(t.addJob(ctx, l.No, d.Job, role),
			t.event(ctx, run, l.No, DoubleEvent, "job "+d.Job+" was made for the same segment: "+d.What))
	})
}

// DoubleEvent is the kind of events about jobs that are one too many.
const DoubleEvent = "double"

// Doubles reads what is known of jobs of a run that are one too many.
func (s *Reader) Doubles(ctx context.Context, run int64) ([]Event, error) {
	return collect(walk(ctx, s, "read doubles", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text FROM events
		WHERE run_no = $1 AND kind = $2 ORDER BY no`, run, DoubleEvent))
}

// Jobs reads the jobs of a run, or of all runs with run = 0.
func (s *Reader) Jobs(ctx context.Context, run int64) ([]Job, error) {
	return s.jobs(ctx, `$1 = 0 OR g.run_no = $1`, run)
}

// SegmentJobs reads the jobs of one segment: that which counts, and others that were made for it.
func (s *Reader) SegmentJobs(ctx context.Context, segment int64) ([]Job, error) {
	return s.jobs(ctx, `j.segment_no = $1`, segment)
}

func (s *Reader) jobs(ctx context.Context, where string, no int64) ([]Job, error) {
	return collect(walk(ctx, s, "read jobs", scanJob, `SELECT j.provider, j.job, j.segment_no, j.account, j.role, j.created_ms
		FROM jobs j JOIN segments g ON g.no = j.segment_no WHERE `+where+` ORDER BY j.segment_no, j.created_ms`, no))
}

// TakenJobs reads the jobs at a provider that a create call of a segment cannot have made: those of other segments, and
// its own that have failed or are doubles.
func (s *Reader) TakenJobs(ctx context.Context, provider string, segment int64) (map[string]bool, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT job FROM jobs WHERE provider = $1 AND (segment_no <> $2 OR role <> 'current')`, provider, segment)
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
func (s *Reader) UnsentSizes(ctx context.Context, provider string) (map[int64]int, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT requests, COUNT(*) FROM segments
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

// Stray is a result line that belongs to no open attempt of its segment.
type Stray struct {
	Artifact, Offset, Length int64
	Kind                     StrayKind
	CustomID                 string
	Ord                      int64 // with StrayDuplicate: the attempt that has an outcome
}

// StrayKind is what is strange about a line.
type StrayKind string

// The kinds of strays.
const (
	StrayUnknown   StrayKind = "unknown"   // its id is not one of ours
	StrayDuplicate StrayKind = "duplicate" // its attempt has an outcome
	StrayForeign   StrayKind = "foreign"   // its id is ours, of another segment
)

// AddStrays keeps strange lines aside; the same line again is the same stray, and the line that an outcome was read from
// is none.
func (s *Ledger) AddStrays(ctx context.Context, l Lease, strays []Stray) error {
	if len(strays) == 0 {
		return nil
	}
	return s.tx(ctx, "add strays", relaxed, func(t *txn) error {
		for _, y := range strays {
			id := clean(y.CustomID)
			if len(id) > 200 {
				id = clean(id[:200])
			}
			_, err := t.ExecContext(ctx, `INSERT INTO strays (segment_no, artifact_no, line_offset, line_length, kind, custom_id, at_ms)
				SELECT no, $3, $4, $5, $6, $7, $8 FROM segments WHERE no = $1 AND epoch = $2
				AND NOT ($6 = 'duplicate' AND EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1 AND ord = $9 AND artifact_no = $3 AND line_offset = $4))
				ON CONFLICT DO NOTHING`,
				l.No, l.Epoch, y.Artifact, y.Offset, y.Length, string(y.Kind), id, s.millis(), y.Ord)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
