package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
)

// RunState is where a run stands.
type RunState string

// The states of a run.
const (
	RunPreparing RunState = "preparing" // its snapshot is being written
	RunOpen      RunState = "open"
	RunClosed    RunState = "closed"
)

// Result is how a closed run ended.
type Result string

// The results of a run.
const (
	ResultDone       Result = "done"       // every planned request has an answer
	ResultIncomplete Result = "incomplete" // some have none, and nothing more will be sent
	ResultCancelled  Result = "cancelled"
)

// NewRun is what a run begins with.
type NewRun struct {
	ID        string // opaque, unique in the world
	Study     string
	Folder    string // where the study file lies
	Digest    string // of the study: shows whether it was edited since
	Settings  string // JSON: what the command line said
	Note, By  string
	Rehearsal bool
	Budget    *assay.Money // nil: none
}

// Run is one execution of one study.
type Run struct {
	NewRun
	No       int64
	Tuned    string // limits that were set while it went on, as JSON: Limits reads it
	State    RunState
	Result   Result
	Reserved assay.Money
	Spent    assay.Money // of settled segments
	Perhaps  assay.Money // what live calls cost at most that may be billed without an answer: the budget counts them
	Unpriced int64       // settled attempts without a known price
	Edits    int64       // edits of its study that superseded something
	Created  time.Time
	Due      time.Time // when to extend it next; zero: when a segment settles
	Closed   time.Time
	Idle     time.Duration // how long, in all, no process drove it while no job was in flight
	Unseen   time.Duration // the longest time in which no process drove it while one was
	Driven   time.Time     // since when it has been driven again after the last such time; zero: there was none
	Lease    Lease         // zero: no process holds it
}

// CreateRun begins a run in state preparing.
func (s *Ledger) CreateRun(ctx context.Context, n NewRun) (Run, error) {
	return s.createRun(ctx, n, func(int64) []any { return []any{nil, nil, int64(0), nil} })
}

// Claim is what one of several processes that want to begin the same run has to win.
type Claim struct {
	After  int64 // the newest run of the study in its folder that was seen; 0: none
	Holder string
	TTL    time.Duration
}

// ClaimRun begins a run in state preparing, held by its maker, unless another process has begun one after the same run:
// ErrDuplicate.
func (s *Ledger) ClaimRun(ctx context.Context, n NewRun, c Claim) (Run, error) {
	return s.createRun(ctx, n, func(now int64) []any { return []any{c.After, c.Holder, now, now + c.TTL.Milliseconds()} })
}

func (s *Ledger) createRun(ctx context.Context, n NewRun, claim func(now int64) []any) (Run, error) {
	var no int64
	err := s.tx(ctx, "create run", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		args := append([]any{n.ID, n.Study, n.Folder, n.Digest, n.Settings, n.Note, n.By, flag(n.Rehearsal), nanos(n.Budget), s.millis()}, claim(now)...)
		err = t.QueryRowContext(ctx, `INSERT INTO runs
			(id, study, folder, digest, settings, note, started_by, rehearsal, state, budget_nano, created_ms, follows, holder, epoch, lease_until_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'preparing', $9, $10, $11, $12, $13, $14) RETURNING no`, args...).Scan(&no)
		if s.engine.unique(err) {
			return fmt.Errorf("run %s: %w", n.ID, ErrDuplicate)
		}
		return err
	})
	if err != nil {
		return Run{}, err
	}
	return s.Run(ctx, no)
}

// Abandoned reports whether a run in preparation was given up: it can never be opened.
func (r Run) Abandoned() bool {
	return r.State == RunPreparing && r.Lease.Holder == "" && r.Lease.Epoch > 0
}

// AbandonRun takes a run in preparation for dead whose holder has not renewed its lease: it can never be opened. It reports
// whether it is dead.
func (s *Ledger) AbandonRun(ctx context.Context, no int64) (bool, error) {
	dead := false
	err := s.tx(ctx, "bury run", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `UPDATE runs SET holder = NULL, lease_until_ms = NULL, epoch = epoch + 1
			WHERE no = $1 AND state = 'preparing' AND (holder IS NULL OR lease_until_ms <= $2)`, no, now)
		if err != nil {
			return err
		}
		return t.QueryRowContext(ctx, `SELECT COUNT(*) > 0 FROM runs WHERE no = $1 AND state = 'preparing' AND holder IS NULL`, no).Scan(&dead)
	})
	return dead, err
}

// OpenRun ends the preparation: the snapshot is whole, and the run is due now. Its maker's lease is given back.
func (s *Ledger) OpenRun(ctx context.Context, no int64) error {
	return s.tx(ctx, "open run", durable, func(t *txn) error { return t.openRun(ctx, no) })
}

func (t *txn) openRun(ctx context.Context, no int64) error {
	err := t.one(ctx, fmt.Errorf("run %d is not in preparation", no),
		`UPDATE runs SET state = 'open', due_ms = $2, holder = NULL, lease_until_ms = NULL
		WHERE no = $1 AND state = 'preparing' AND (holder IS NOT NULL OR epoch = 0)`, no, t.s.millis())
	if err != nil {
		return err
	}
	return t.event(ctx, no, 0, "opened", "")
}

// RunDue says when the run is to be extended next; the zero time means when a segment settles.
func (s *Ledger) RunDue(ctx context.Context, no int64, at time.Time) error {
	return s.tx(ctx, "run due", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE runs SET due_ms = $2 WHERE no = $1 AND state = 'open'`, no, millis(at))
		return err
	})
}

// SleepRun says when a run that was extended is to be extended next; the zero time means when a segment settles. A run that
// was woken since it was seen to be due at a moment stays due: the process that extended it may not have seen what woke it.
func (s *Ledger) SleepRun(ctx context.Context, no int64, seen, at time.Time) error {
	was := int64(-1)
	if !seen.IsZero() {
		was = seen.UnixMilli()
	}
	return s.tx(ctx, "rest run", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE runs SET due_ms = $2 WHERE no = $1 AND state = 'open' AND COALESCE(due_ms, -1) = $3`, no, millis(at), was)
		return err
	})
}

// CloseRun ends a run. ErrWoken: it was woken since it was seen to be due at a moment, and stays open. The lease is the
// run's.
func (s *Ledger) CloseRun(ctx context.Context, l Lease, seen time.Time, r Result) error {
	was := int64(-1)
	if !seen.IsZero() {
		was = seen.UnixMilli()
	}
	return s.tx(ctx, "close run", durable, func(t *txn) error {
		n, err := t.change(ctx, `UPDATE runs SET state = 'closed', result = $3, closed_ms = $4, due_ms = NULL
			WHERE no = $1 AND epoch = $2 AND state = 'open' AND COALESCE(due_ms, -1) = $5`, l.No, l.Epoch, string(r), s.millis(), was)
		if err != nil {
			return err
		}
		if n == 1 {
			return t.event(ctx, l.No, 0, "closed", string(r))
		}
		var ours int
		err = t.QueryRowContext(ctx, `SELECT COUNT(*) FROM runs WHERE no = $1 AND epoch = $2 AND state = 'open'`, l.No, l.Epoch).Scan(&ours)
		if err == nil && ours == 1 {
			return ErrWoken
		}
		return errors.Join(err, ErrLeaseLost)
	})
}

// ReopenRun makes a closed run due again: something is to be sent again, or came late.
func (s *Ledger) ReopenRun(ctx context.Context, no int64, why string) error {
	return s.tx(ctx, "reopen run", relaxed, func(t *txn) error { return t.reopen(ctx, no, why) })
}

// reopen opens a closed run, and makes an open one due.
func (t *txn) reopen(ctx context.Context, run int64, why string) error {
	n, err := t.change(ctx, `UPDATE runs SET state = 'open', result = '', closed_ms = NULL, due_ms = $2
		WHERE no = $1 AND state = 'closed'`, run, t.s.millis())
	if err != nil || n == 0 {
		return errors.Join(err, t.wakeRun(ctx, run))
	}
	return t.event(ctx, run, 0, "reopened", why)
}

// SetBudget changes what a run may spend; nil lifts the limit.
func (s *Ledger) SetBudget(ctx context.Context, no int64, budget *assay.Money) error {
	return s.tx(ctx, "set budget", durable, func(t *txn) error {
		return t.one(ctx, fmt.Errorf("run %d: %w", no, ErrNotFound), `UPDATE runs SET budget_nano = $2 WHERE no = $1`, no, nanos(budget))
	})
}

// Run reads a run by its number.
func (s *Reader) Run(ctx context.Context, no int64) (Run, error) {
	return s.oneRun(ctx, fmt.Sprint(no), `WHERE no = $1`, no)
}

// FindRun reads the run that a reference means: an id, a unique beginning of one, a study's name (its newest run) or
// "latest". A folder narrows study names and "latest" to runs of that folder; empty: all.
func (s *Reader) FindRun(ctx context.Context, ref, folder string) (Run, error) {
	if ref == "latest" || ref == "" {
		return s.oneRun(ctx, "latest", `WHERE $1 = '' OR folder = $1 ORDER BY no DESC LIMIT 1`, folder)
	}
	// A name that was given in full goes before the beginning of an id: a user who names a study never means another one's run.
	all, err := s.runs(ctx, `WHERE id = $1 OR id LIKE $2 ESCAPE '\' OR study = $1 AND ($3 = '' OR folder = $3)
		ORDER BY (id = $1) DESC, (study = $1) DESC, no DESC LIMIT 2`, ref, likePrefix(ref), folder)
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("find run %s: %w", ref, err)
	case len(all) == 0:
		return Run{}, fmt.Errorf("find run %s: %w", ref, ErrNotFound)
	case all[0].ID == ref || all[0].Study == ref || len(all) == 1:
		return all[0], nil
	}
	return Run{}, fmt.Errorf("%w %q: %s, %s", ErrAmbiguous, ref, all[0].ID, all[1].ID)
}

func likePrefix(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

// Runs reads runs, newest first: those of a study, or of all studies where it is empty.
func (s *Reader) Runs(ctx context.Context, study string, states ...RunState) ([]Run, error) {
	all, err := s.runs(ctx, `WHERE ($1 = '' OR study = $1) ORDER BY no DESC`, study)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	if len(states) == 0 {
		return all, nil
	}
	var some []Run
	for _, r := range all {
		for _, st := range states {
			if r.State == st {
				some = append(some, r)
			}
		}
	}
	return some, nil
}

func (s *Reader) oneRun(ctx context.Context, name, where string, args ...any) (Run, error) {
	all, err := s.runs(ctx, where, args...)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Run{}, fmt.Errorf("run %s: %w", name, err)
	}
	return all[0], nil
}

func (s *Reader) runs(ctx context.Context, where string, args ...any) ([]Run, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT no, id, study, folder, digest, settings, tuned, note, started_by, rehearsal, state,
		result, budget_nano, reserved_nano, spent_nano, spent_unknown, perhaps_nano, created_ms, due_ms, closed_ms, idle_ms, unseen_ms, driven_ms, holder, epoch, lease_until_ms,
		(SELECT COUNT(*) FROM edits WHERE edits.run_no = runs.no)
		FROM runs `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Run
	for rows.Next() {
		var r Run
		var idle, unseen int64
		var budget, created, due, closed, driven, until sql.NullInt64
		var holder sql.NullString
		err := rows.Scan(&r.No, &r.ID, &r.Study, &r.Folder, &r.Digest, &r.Settings, &r.Tuned, &r.Note, &r.By, &r.Rehearsal, &r.State,
			&r.Result, &budget, &r.Reserved, &r.Spent, &r.Unpriced, &r.Perhaps, &created, &due, &closed, &idle, &unseen, &driven, &holder, &r.Lease.Epoch, &until, &r.Edits)
		if err != nil {
			return nil, err
		}
		if budget.Valid {
			m := assay.Money(budget.Int64)
			r.Budget = &m
		}
		r.Created, r.Due, r.Closed = fromMillis(created), fromMillis(due), fromMillis(closed)
		r.Idle, r.Unseen, r.Driven = time.Duration(idle)*time.Millisecond, time.Duration(unseen)*time.Millisecond, fromMillis(driven)
		r.Lease.No, r.Lease.Holder, r.Lease.Until, r.Lease.run = r.No, holder.String, fromMillis(until), true
		all = append(all, r)
	}
	return all, rows.Err()
}

func nanos(m *assay.Money) any {
	if m == nil {
		return nil
	}
	return int64(*m)
}

// notFound turns an empty answer into the error callers decide by.
func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
