package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
)

// State is where a segment stands. The picture is in the package comment.
type State string

// The states of a segment.
const (
	Planned   State = "planned"   // its attempts are being written; scratch until it is staged
	Staged    State = "staged"    // its bytes are made
	Uploaded  State = "uploaded"  // its bytes are at the provider; nothing is paid
	Intended  State = "intended"  // the create call is about to go, or went, and its fate is not known
	Launched  State = "launched"  // the job is known; live: its requests are being asked
	Ended     State = "ended"     // the job has come to an end
	Fetched   State = "fetched"   // the results are here
	Settled   State = "settled"   // every attempt has an outcome
	Failed    State = "failed"    // the job as a whole was refused or failed
	Cancelled State = "cancelled" // never launched
	Held      State = "held"      // a person has to decide
)

// Terminal reports whether a segment will not move any more.
func (s State) Terminal() bool { return s == Settled || s == Failed || s == Cancelled }

// SegmentMode is how a segment travels.
type SegmentMode string

// The modes of a segment.
const (
	Batch SegmentMode = "batch"
	Live  SegmentMode = "live"
	Reuse SegmentMode = "reuse" // answers of another run, at no cost

	// Imported segments hold answers made elsewhere. They are settled from the start.
	Imported SegmentMode = "import"
)

// Purpose is why a segment exists.
type Purpose string

// The purposes of a segment.
const (
	ForWave   Purpose = "wave"
	ForCanary Purpose = "canary"
	ForAgain  Purpose = "again"
)

// NewSegment is what a segment begins with.
type NewSegment struct {
	Run int64
	GroupKey
	Mode            SegmentMode
	Purpose         Purpose
	Provider, Model string
	Nonce           assay.Nonce
	Recuts          int // how often its requests were cut out of a failed job
}

// Segment is requests of one group that travel together.
type Segment struct {
	NewSegment
	No            int64
	State         State
	MovedFrom     State
	Moved         time.Time
	Created       time.Time
	Due           time.Time
	Reason        string
	Requests      int64
	MaxTry        int64
	Expected      assay.Money
	Unpriced      int64 // requests without an expected price
	Tokens        int64 // of its prompts, as estimated
	Input         string
	InputBytes    int64
	InputSHA256   string
	Handle        string
	Account       string // whose key: a fingerprint
	Stamped       bool
	Cursor        string
	Intended      time.Time
	Intends       int64
	LostCreates   int64  // create calls that were taken for lost: their jobs may show yet
	Audited       int64  // of these, those whose jobs were looked for once more
	Fence         string // the handle of what a lost call names: to be deleted before anything is sent again
	Absents       int64
	Absent        time.Time
	Reserved      assay.Money
	Job           string
	Launched      time.Time
	JobState      string
	JobWord       string
	JobCounts     string // JSON
	Parts         string // JSON
	CollectBefore time.Time
	CancelCause   CancelCause
	CancelAsked   time.Time
	EndedAt       time.Time
	FetchedAt     time.Time
	Refetches     int64
	SettledAt     time.Time
	Failures      int64
	HeldFrom      State
	Removed       time.Time // when what the job left at its provider was deleted there
	Lease         Lease
	Endings       map[assay.Ending]int64
	Late, Surplus int64
	Cost          assay.Cost
	CacheHits     int64
	InputTokens   int64 // these are sums of what replies said
	CachedTokens  int64
	OutputTokens  int64
	Reasoning     int64
	UsageUnknown  int64 // replies that did not say how many tokens they took
}

// Done is how many attempts have an outcome.
func (g Segment) Done() int64 {
	return ended(g.Endings)
}

func ended(endings map[assay.Ending]int64) int64 {
	var n int64
	for _, m := range endings {
		n += m
	}
	return n
}

// Open is how many attempts have none yet.
func (g Segment) Open() int64 { return g.Requests - g.Done() }

// AddSegment begins a segment in state planned, held by its maker.
func (s *Ledger) AddSegment(ctx context.Context, n NewSegment, holder string, ttl time.Duration) (Segment, error) {
	var no int64
	err := s.tx(ctx, "add segment", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		return t.QueryRowContext(ctx, `INSERT INTO segments
			(run_no, stage, lane, turn, second_try, mode, purpose, provider, model, nonce, recuts, state, moved_ms, created_ms, holder, epoch, lease_until_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'planned', $12, $12, $13, $15, $14) RETURNING no`,
			n.Run, n.Stage, n.Lane, n.Turn, n.Again, string(n.Mode), string(n.Purpose), n.Provider, n.Model, string(n.Nonce), n.Recuts,
			s.millis(), holder, now+ttl.Milliseconds(), now).Scan(&no)
	})
	if err != nil {
		return Segment{}, err
	}
	return s.Segment(ctx, no)
}

// Discard takes a planned segment away as if it had never been: nothing of it left this machine.
func (s *Ledger) Discard(ctx context.Context, l Lease) error {
	return s.tx(ctx, "discard segment", relaxed, func(t *txn) error {
		err := t.one(ctx, ErrLeaseLost, `DELETE FROM segments WHERE no = $1 AND epoch = $2 AND state = 'planned'`, l.No, l.Epoch)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `DELETE FROM attempts WHERE segment_no = $1`, l.No)
		return err
	})
}

// Segment reads one segment.
func (s *Reader) Segment(ctx context.Context, no int64) (Segment, error) {
	all, err := s.segments(ctx, `WHERE no = $1`, no)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Segment{}, fmt.Errorf("segment %d: %w", no, err)
	}
	return all[0], nil
}

// Segments reads the segments of a run, in the order they were made: those in the given states, or all.
func (s *Reader) Segments(ctx context.Context, run int64, states ...State) ([]Segment, error) {
	all, err := s.segments(ctx, `WHERE run_no = $1`+inStates(states)+` ORDER BY no`, run)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	return all, nil
}

// OpenSegments is how many segments of a run are staged and not at their end.
type OpenSegments struct {
	Held    int // wait for a person
	Asleep  int // wait for a lane, a canary or money
	Moving  int // move by themselves
	Blocked int // of the last two: for a reason that is asked for
}

// OpenSegments counts them.
func (s *Reader) OpenSegments(ctx context.Context, run int64, reason string) (n OpenSegments, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT COUNT(CASE WHEN state = 'held' THEN 1 END), COUNT(CASE WHEN state <> 'held' AND due_ms IS NULL THEN 1 END),
		COUNT(CASE WHEN state <> 'held' AND due_ms IS NOT NULL THEN 1 END), COUNT(CASE WHEN state <> 'held' AND reason = $2 THEN 1 END)
		FROM segments WHERE run_no = $1`+inStates([]State{Staged, Uploaded, Intended, Launched, Ended, Fetched, Held}), run, reason).
		Scan(&n.Held, &n.Asleep, &n.Moving, &n.Blocked)
	if err != nil {
		return n, fmt.Errorf("count segments: %w", err)
	}
	return n, nil
}

// Canaries reads the segments of a run that were sent ahead, but for those that an edit of the study superseded.
func (s *Reader) Canaries(ctx context.Context, run int64) ([]Segment, error) {
	all, err := s.segments(ctx, `WHERE run_no = $1 AND purpose = 'canary'
		AND EXISTS (SELECT 1 FROM attempts a WHERE a.segment_no = segments.no AND a.superseded = 0) ORDER BY no`, run)
	if err != nil {
		return nil, fmt.Errorf("read canaries: %w", err)
	}
	return all, nil
}

func inStates(states []State) string {
	if len(states) == 0 {
		return ""
	}
	quoted := make([]string, len(states))
	for i, st := range states {
		quoted[i] = "'" + string(st) + "'" // constants of this package
	}
	return " AND state IN (" + strings.Join(quoted, ", ") + ")"
}

// WakeLane makes the sleeping segments of a lane in a stage due: what they waited for may be there. What failed before is
// forgotten.
func (s *Ledger) WakeLane(ctx context.Context, run int64, stage, lane string) error {
	return s.tx(ctx, "rouse", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $4, failures = 0 WHERE run_no = $1 AND stage = $2 AND lane = $3 AND due_ms IS NULL
			AND state IN ('staged', 'uploaded', 'launched')`, run, stage, lane, s.millis())
		return err
	})
}

// HurryLane makes the jobs of a lane in a stage due: something is to be done about them at once.
func (s *Ledger) HurryLane(ctx context.Context, run int64, stage, lane string) error {
	return s.tx(ctx, "hurry", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $4 WHERE run_no = $1 AND stage = $2 AND lane = $3 AND state = 'launched' AND mode = 'batch'`,
			run, stage, lane, s.millis())
		return err
	})
}

// Work is something that is due.
type Work struct {
	Run     int64
	Segment int64       // 0: the run itself is to be extended
	Mode    SegmentMode // of the segment
	Due     time.Time   // zero: its holder's lease ended while it worked
}

// liveAtOnce is how many live segments of one lane are worked on at a time: enough that the next one flies while the last
// requests of another come back, and few enough that no lane takes the places of the others.
const liveAtOnce = "2"

// Due lists what may be worked on now, longest due first: no process holds it. With run > 0 of that run only.
func (s *Reader) Due(ctx context.Context, run int64, limit int) ([]Work, error) {
	now := s.millis()
	rows, err := s.read.QueryContext(ctx, `SELECT run_no, no, due_ms, mode FROM (
			SELECT run_no, no, due_ms, mode, holder, lease_until_ms, ROW_NUMBER() OVER (PARTITION BY run_no, stage, lane, mode ORDER BY no) AS place
			FROM segments WHERE due_ms <= $1 AND ($2 = 0 OR run_no = $2)) AS d
		WHERE (mode <> 'live' OR place <= `+liveAtOnce+`) AND (holder IS NULL OR lease_until_ms <= `+s.engine.clockText("$1")+`)
		UNION ALL SELECT no, 0, due_ms, '' FROM runs
		WHERE due_ms <= $1 AND ($2 = 0 OR no = $2) AND (holder IS NULL OR lease_until_ms <= `+s.engine.clockText("$1")+`)
		ORDER BY 3, 2 LIMIT CAST($3 AS BIGINT)`, now, run, limit)
	if err != nil {
		return nil, fmt.Errorf("read what is due: %w", err)
	}
	defer rows.Close()
	var all []Work
	for rows.Next() {
		var w Work
		var due sql.NullInt64
		if err := rows.Scan(&w.Run, &w.Segment, &due, &w.Mode); err != nil {
			return nil, fmt.Errorf("read what is due: %w", err)
		}
		w.Due = fromMillis(due)
		all = append(all, w)
	}
	return all, rows.Err()
}

// RunsDue lists the runs that became due after a moment and are held by no process, and returns the moment at which it looked.
func (s *Reader) RunsDue(ctx context.Context, after time.Time) ([]Work, time.Time, error) {
	now := s.millis()
	rows, err := s.read.QueryContext(ctx, `SELECT no FROM runs WHERE due_ms > $1 AND due_ms <= $2
		AND (holder IS NULL OR lease_until_ms <= `+s.engine.clockText("$2")+`) ORDER BY no`, after.UnixMilli(), now)
	if err != nil {
		return nil, after, fmt.Errorf("read runs that are due: %w", err)
	}
	defer rows.Close()
	var all []Work
	for rows.Next() {
		var w Work
		if err := rows.Scan(&w.Run); err != nil {
			return nil, after, fmt.Errorf("read runs that are due: %w", err)
		}
		all = append(all, w)
	}
	return all, time.UnixMilli(now), rows.Err()
}

// NextDue is when the next thing of a run is due, held or not; zero: nothing is. With run = 0 of all runs.
func (s *Reader) NextDue(ctx context.Context, run int64) (time.Time, error) {
	var due sql.NullInt64
	err := s.read.QueryRowContext(ctx, `SELECT MIN(due_ms) FROM (
		SELECT due_ms FROM (SELECT due_ms FROM segments WHERE due_ms IS NOT NULL AND ($1 = 0 OR run_no = $1) ORDER BY due_ms LIMIT 1) AS first
		UNION ALL SELECT due_ms FROM runs WHERE due_ms IS NOT NULL AND ($1 = 0 OR no = $1)) AS d`, run).Scan(&due)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the next due time: %w", err)
	}
	return fromMillis(due), nil
}

// NextDueAfter is when the next thing of a run becomes due after a moment; zero: nothing does.
func (s *Reader) NextDueAfter(ctx context.Context, run int64, after time.Time) (time.Time, error) {
	var due sql.NullInt64
	err := s.read.QueryRowContext(ctx, `SELECT MIN(due_ms) FROM (
		SELECT due_ms FROM (SELECT due_ms FROM segments WHERE due_ms > $2 AND ($1 = 0 OR run_no = $1) ORDER BY due_ms LIMIT 1) AS first
		UNION ALL SELECT due_ms FROM runs WHERE due_ms > $2 AND no = $1) AS d`, run, after.UnixMilli()).Scan(&due)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the next due time: %w", err)
	}
	return fromMillis(due), nil
}

func (s *Reader) segments(ctx context.Context, where string, args ...any) ([]Segment, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT no, run_no, stage, lane, turn, second_try, CASE WHEN imported = '' THEN mode ELSE 'import' END, purpose, provider, model, nonce, recuts, state,
		moved_from, moved_ms, created_ms, due_ms, reason, requests, max_try, expected_nano, unpriced, tokens, input, input_bytes, input_sha256,
		handle, account, COALESCE(stamped, 0), cursor_mark, intended_ms, intends, lost_creates, audited, COALESCE(fence, ''), absents, absent_ms, reserved_nano, job, launched_ms,
		job_state, job_word, job_counts, parts, collect_before_ms, cancel_cause, cancel_ms, ended_ms, fetched_ms,
		refetches, settled_ms, failures, held_from, removed_ms, holder, epoch, lease_until_ms,
		n_answered, n_cut, n_empty, n_refused, n_rejected, n_errored, n_expired, n_cancelled, n_lost, n_late, n_surplus,
		cost_nano, cost_priced, cost_unknown, cache_hits, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_unknown
		FROM segments `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Segment
	for rows.Next() {
		g, err := scanSegment(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, rows.Err()
}

func scanSegment(rows *sql.Rows) (Segment, error) {
	var g Segment
	var moved, created, due, bytes, intended, absent, launched, before, cancel, ended, fetched, settled, removed, until sql.NullInt64
	var input, sum, handle, account, cursor, job, jobState, jobWord, counts, parts, held, holder sql.NullString
	n := make([]int64, len(assay.Endings()))
	err := rows.Scan(&g.No, &g.Run, &g.Stage, &g.Lane, &g.Turn, &g.Again, &g.Mode, &g.Purpose, &g.Provider, &g.Model, &g.Nonce, &g.Recuts, &g.State,
		&g.MovedFrom, &moved, &created, &due, &g.Reason, &g.Requests, &g.MaxTry, &g.Expected, &g.Unpriced, &g.Tokens, &input, &bytes, &sum,
		&handle, &account, &g.Stamped, &cursor, &intended, &g.Intends, &g.LostCreates, &g.Audited, &g.Fence, &g.Absents, &absent, &g.Reserved, &job, &launched,
		&jobState, &jobWord, &counts, &parts, &before, &g.CancelCause, &cancel, &ended, &fetched,
		&g.Refetches, &settled, &g.Failures, &held, &removed, &holder, &g.Lease.Epoch, &until,
		&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &g.Late, &g.Surplus,
		&g.Cost.Sum, &g.Cost.Priced, &g.Cost.Unknown, &g.CacheHits, &g.InputTokens, &g.CachedTokens, &g.OutputTokens, &g.Reasoning, &g.UsageUnknown)
	if err != nil {
		return g, err
	}
	g.Moved, g.Created, g.Due = fromMillis(moved), fromMillis(created), fromMillis(due)
	g.Input, g.InputBytes, g.InputSHA256 = input.String, bytes.Int64, sum.String
	g.Handle, g.Account, g.Cursor, g.Job = handle.String, account.String, cursor.String, job.String
	g.Intended, g.Absent, g.Launched = fromMillis(intended), fromMillis(absent), fromMillis(launched)
	g.JobState, g.JobWord, g.JobCounts, g.Parts = jobState.String, jobWord.String, counts.String, parts.String
	g.CollectBefore, g.CancelAsked, g.EndedAt = fromMillis(before), fromMillis(cancel), fromMillis(ended)
	g.FetchedAt, g.SettledAt, g.HeldFrom = fromMillis(fetched), fromMillis(settled), State(held.String)
	g.Removed = fromMillis(removed)
	g.Lease.No, g.Lease.Holder, g.Lease.Until = g.No, holder.String, fromMillis(until)
	g.Endings = byEnding(n)
	return g, nil
}
