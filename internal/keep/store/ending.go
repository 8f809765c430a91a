package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Sighting is where a provider says a job stands.
type Sighting struct {
	State         string
	Word          string // the provider's own
	Counts        string // JSON
	Parts         string // JSON
	CollectBefore time.Time
	Due           time.Time
}

// Checked keeps what a check of a job said.
func (s *Ledger) Checked(ctx context.Context, l Lease, c Sighting) error {
	return s.touch(ctx, "checked", l, relaxed, []State{Launched},
		`job_state = $3, job_word = $4, job_counts = $5, collect_before_ms = COALESCE($6, collect_before_ms), due_ms = $7, reason = '', failures = 0, still_ms = NULL`,
		c.State, c.Word, c.Counts, millis(c.CollectBefore), millis(c.Due))
}

// Ended notes that a job has come to an end, and what can be fetched of it.
func (s *Ledger) Ended(ctx context.Context, l Lease, c Sighting) error {
	return s.move(ctx, l, move{op: "ended", to: Ended, from: []State{Launched}, due: c.Due, note: c.Word,
		set: `job_state = $6, job_word = $7, job_counts = $8, parts = $9, ended_ms = $4,
			collect_before_ms = COALESCE(CAST($10 AS BIGINT), collect_before_ms), reason = ''`,
		args:      []any{c.State, c.Word, c.Counts, c.Parts, millis(c.CollectBefore)},
		alongside: func(ctx context.Context, t *txn, _ int64) error { return t.roomMade(ctx, l.No) }})
}

// RecordStatus keeps what a later look at an ended job said: parts may appear, counts may change.
func (s *Ledger) RecordStatus(ctx context.Context, l Lease, c Sighting) error {
	return s.touch(ctx, "looked", l, relaxed, []State{Ended, Settled}, `job_counts = $3, parts = $4, due_ms = $5, still_ms = NULL`, c.Counts, c.Parts, millis(c.Due))
}

// Removed notes that what a job left at its provider was deleted there: nothing is left to look at.
func (s *Ledger) Removed(ctx context.Context, l Lease) error {
	return s.touch(ctx, "removed", l, relaxed, []State{Settled, Failed, Cancelled}, `removed_ms = $3, due_ms = NULL, reason = ''`, s.millis())
}

// Artifact is a file of raw bytes that belongs to a segment.
type Artifact struct {
	No     int64
	Name   string
	Kind   string // input, results, errors or live
	Part   string // the provider's part it holds
	Size   int64
	SHA256 string
}

// AddArtifact enters a file of results and returns its number. The same name again is the same artifact.
func (s *Ledger) AddArtifact(ctx context.Context, l Lease, a Artifact) (int64, error) {
	d := relaxed
	if a.Kind == "live" { // what is sent under it is known from it alone
		d = durable
	}
	err := s.tx(ctx, "add artifact", d, func(t *txn) error {
		var run int64
		err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run)
		if err != nil {
			return t.whyNot(ctx, l, err)
		}
		return t.QueryRowContext(ctx, `INSERT INTO artifacts (run_no, segment_no, name, kind, part, bytes, sha256, created_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (segment_no, name) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256 RETURNING no`,
			run, l.No, a.Name, a.Kind, a.Part, a.Size, a.SHA256, s.millis()).Scan(&a.No)
	})
	return a.No, err
}

// Artifacts reads the files of a segment in the order they came.
func (s *Reader) Artifacts(ctx context.Context, segment int64) ([]Artifact, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT no, name, kind, part, bytes, sha256 FROM artifacts WHERE segment_no = $1 ORDER BY no`, segment)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Artifact
	for rows.Next() {
		var a Artifact
		if err := rows.Scan(&a.No, &a.Name, &a.Kind, &a.Part, &a.Size, &a.SHA256); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// Fetched notes that every part is here.
func (s *Ledger) Fetched(ctx context.Context, l Lease, due time.Time) error {
	return s.move(ctx, l, move{op: "fetched", to: Fetched, from: []State{Ended}, due: due, set: `fetched_ms = $4`})
}

// Refetch goes back to the provider, because results are missing.
func (s *Ledger) Refetch(ctx context.Context, l Lease, why string, due time.Time) error {
	return s.move(ctx, l, move{op: "refetch", to: Ended, from: []State{Fetched}, due: due, note: why,
		set: `refetches = refetches + 1, fetched_ms = NULL, reason = $6`, args: []any{why}})
}

// Finish settles a segment for good: every attempt has its outcome; the reservation becomes what was spent. The run is
// due, because what these answers make possible can go out. A due time asks for a look at what may come late.
func (s *Ledger) Finish(ctx context.Context, l Lease, due time.Time) error {
	return s.move(ctx, l, move{op: "finish", to: Settled, from: []State{Fetched, Launched}, due: due, set: `settled_ms = $4, reason = ''`,
		before:    func(ctx context.Context, t *txn) error { return t.spend(ctx, l.No) },
		alongside: func(ctx context.Context, t *txn, run int64) error { return t.wakeRun(ctx, run) }})
}

// spend turns a segment's reservation into what it did cost. It goes before the move: no terminal state has a reservation.
func (t *txn) spend(ctx context.Context, segment int64) error {
	_, err := t.ExecContext(ctx, `UPDATE runs SET
		reserved_nano = reserved_nano - (SELECT reserved_nano FROM segments WHERE no = $1),
		spent_nano = spent_nano + (SELECT cost_nano FROM segments WHERE no = $1),
		spent_unknown = spent_unknown + (SELECT cost_unknown FROM segments WHERE no = $1)
		WHERE no = (SELECT run_no FROM segments WHERE no = $1)`, segment)
	if err == nil {
		_, err = t.ExecContext(ctx, `UPDATE segments SET reserved_nano = 0 WHERE no = $1`, segment)
	}
	return err
}

// wakeRun makes an open run due now.
func (t *txn) wakeRun(ctx context.Context, run int64) error {
	// One that is due is moved too, so that SleepRun can see that it was woken again.
	_, err := t.ExecContext(ctx, `UPDATE runs SET due_ms = CASE WHEN due_ms <= $2 THEN due_ms - 1 ELSE $2 END WHERE no = $1 AND state = 'open'`, run, t.s.millis())
	return err
}

// Back is a step back: surely no job was made, or the job failed without doing anything.
type Back struct {
	To     State // Staged: prepare again; Uploaded: create again
	Reason string
	Due    time.Time
	Lost   bool // the create call was taken for lost: what it names is fenced off, and its job is looked for once more
}

// GoBack makes a segment ready to be sent again, as its next attempt, and gives its reservation back. A call of unknown fate
// that a person has sent again counts as lost.
func (s *Ledger) GoBack(ctx context.Context, l Lease, b Back) error {
	handle, args := "", []any{l.No, l.Epoch, string(b.To), s.millis(), millis(b.Due), b.Reason}
	if b.To == Staged {
		args = append(args, flag(b.Lost))
		handle = `fence = CASE WHEN held_from = 'intended' OR $7 = 1 THEN NULLIF(handle, '') ELSE fence END, handle = NULL,
			lost_creates = lost_creates + CASE WHEN held_from = 'intended' OR $7 = 1 THEN 1 ELSE 0 END, `
	}
	// The reservation has to be read before the row says 0.
	return s.tx(ctx, "go back", durable, func(t *txn) error {
		var run, reserved int64
		err := t.QueryRowContext(ctx, `SELECT run_no, reserved_nano FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run, &reserved)
		if err != nil {
			return t.whyNot(ctx, l, err)
		}
		n, err := t.change(ctx, `UPDATE segments SET moved_from = state, state = $3, moved_ms = $4, due_ms = $5, reason = $6, `+handle+`
			reserved_nano = 0, intended_ms = NULL, cursor_mark = NULL, account = NULL, stamped = NULL, absents = 0, absent_ms = NULL, job = NULL,
			launched_ms = NULL, job_state = NULL, job_word = NULL, job_counts = NULL, parts = NULL, ended_ms = NULL,
			fetched_ms = NULL, cancel_cause = CASE WHEN cancel_cause = 'user' THEN 'user' ELSE '' END,
			cancel_ms = CASE WHEN cancel_cause = 'user' THEN cancel_ms END, held_from = NULL, failures = failures + 1, still_ms = NULL
			WHERE no = $1 AND epoch = $2`+inStates([]State{Uploaded, Intended, Launched, Ended, Held}),
			args...)
		if err == nil && n == 0 {
			err = t.whyNot(ctx, l, sql.ErrNoRows)
		}
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE runs SET reserved_nano = reserved_nano - $2 WHERE no = $1`, run, reserved); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE jobs SET role = 'failed' WHERE segment_no = $1 AND role = 'current'`, l.No); err != nil {
			return err
		}
		return t.event(ctx, run, l.No, string(b.To), b.Reason)
	})
}

// Absent notes that a Find saw no job of the segment.
func (s *Ledger) Absent(ctx context.Context, l Lease, due time.Time) error {
	return s.touch(ctx, "absent", l, relaxed, []State{Intended}, `absents = absents + 1, absent_ms = $3, due_ms = $4`, s.millis(), millis(due))
}

// Hold stops a segment until a person decides. Its reservation stays: it may have been paid for.
func (s *Ledger) Hold(ctx context.Context, l Lease, why string) error {
	return s.move(ctx, l, move{op: "hold", to: Held, from: []State{Staged, Uploaded, Intended, Launched, Ended, Fetched}, note: why, durable: durable,
		set: `held_from = state, reason = $6`, args: []any{why},
		alongside: func(ctx context.Context, t *txn, run int64) error { return t.wakeRun(ctx, run) }})
}

// CancelCause is why a job was asked to stop.
type CancelCause string

// The causes of a cancel.
const (
	ByUser     CancelCause = "user"
	ByDeadline CancelCause = "deadline"
	ByRule     CancelCause = "rule" // no answer of the lane is good
)

// Secure makes everything that was written before survive the power: what a provider is asked to forget has to be here for
// good. A commit carries all before it.
func (s *Ledger) Secure(ctx context.Context, l Lease) error {
	return s.touch(ctx, "secure", l, durable, nil, `moved_ms = moved_ms`)
}

// WishCancel keeps that a person wants a segment stopped that other work holds: it sees the wish when its step is over. What
// has ended is left as it is.
func (s *Ledger) WishCancel(ctx context.Context, segment int64) error {
	return s.tx(ctx, "wish cancel", durable, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET cancel_cause = 'user', cancel_ms = COALESCE(cancel_ms, $2), due_ms = $2
			WHERE no = $1`+inStates([]State{Staged, Uploaded, Intended, Launched}), segment, s.millis())
		return err
	})
}

// AskCancel keeps that a job was asked to stop, before it is asked; the first cause stays.
func (s *Ledger) AskCancel(ctx context.Context, l Lease, c CancelCause, due time.Time) error {
	return s.touch(ctx, "ask cancel", l, durable, []State{Launched},
		`cancel_cause = CASE WHEN cancel_cause = '' THEN $3 ELSE cancel_cause END, cancel_ms = COALESCE(cancel_ms, $4), due_ms = $5`,
		string(c), s.millis(), millis(due))
}

// Fail ends a segment whose job as a whole was refused or failed. Every attempt has to have its outcome.
func (s *Ledger) Fail(ctx context.Context, l Lease, why string) error {
	return s.move(ctx, l, move{op: "fail", to: Failed, from: []State{Staged, Uploaded, Intended, Launched, Ended, Fetched}, note: why,
		set: `reason = $6`, args: []any{why},
		before:    func(ctx context.Context, t *txn) error { return t.spend(ctx, l.No) },
		alongside: func(ctx context.Context, t *txn, run int64) error { return t.wakeRun(ctx, run) }})
}

// Drop ends a segment that never was launched, or that a person gives up. Attempts without an outcome are cancelled.
func (s *Ledger) Drop(ctx context.Context, l Lease, why string) error {
	return s.tx(ctx, "drop", durable, func(t *txn) error {
		run, err := t.endOpen(ctx, l, EndOpen{Ending: "cancelled", Message: why})
		if err != nil {
			return err
		}
		if err := t.spend(ctx, l.No); err != nil {
			return err
		}
		n, err := t.change(ctx, `UPDATE segments SET moved_from = state, state = 'cancelled', moved_ms = $3, due_ms = NULL, reason = $4, held_from = NULL
			WHERE no = $1 AND epoch = $2`+inStates([]State{Staged, Uploaded, Held}), l.No, l.Epoch, s.millis(), why)
		if err == nil && n == 0 {
			err = t.whyNot(ctx, l, sql.ErrNoRows)
		}
		if err != nil {
			return err
		}
		return errors.Join(t.wakeRun(ctx, run), t.event(ctx, run, l.No, string(Cancelled), why))
	})
}
