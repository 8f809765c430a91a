package sending

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// Checked records the result of a poll of a job.
func (s *Store) Checked(ctx context.Context, l store.Lease, c store.Sighting) error {
	return s.touch(ctx, "checked", l, db.Relaxed, []store.State{store.Launched},
		`job_state = $3, job_word = $4, job_counts = $5, collect_before_ms = COALESCE($6, collect_before_ms), due_ms = $7, reason = '',
			failures = 0, still_ms = NULL, wait_ms = NULL, progress_ms = CASE WHEN job_counts IS DISTINCT FROM $5 THEN $8 ELSE progress_ms END`,
		c.State, c.Word, c.Counts, db.Millis(c.CollectBefore), db.Millis(c.Due), s.db.Millis())
}

// Ended notes that a job has come to an end, and what can be fetched of it.
func (s *Store) Ended(ctx context.Context, l store.Lease, c store.Sighting) error {
	return s.move(ctx, l, move{op: "ended", to: store.Ended, from: []store.State{store.Launched}, due: c.Due, note: c.Word,
		set: `job_state = $6, job_word = $7, job_counts = $8, parts = $9, ended_ms = $4,
			collect_before_ms = COALESCE(CAST($10 AS BIGINT), collect_before_ms), reason = ''`,
		args:      []any{c.State, c.Word, c.Counts, c.Parts, db.Millis(c.CollectBefore)},
		alongside: func(ctx context.Context, t *db.Txn, _ int64) error { return roomMade(ctx, t, l.No) }})
}

// RecordStatus records a later poll of an ended job: parts may appear, counts may change.
func (s *Store) RecordStatus(ctx context.Context, l store.Lease, c store.Sighting) error {
	return s.touch(ctx, "looked", l, db.Relaxed, []store.State{store.Ended, store.Settled}, `job_counts = $3, parts = $4, due_ms = $5,
		still_ms = NULL`, c.Counts, c.Parts, db.Millis(c.Due))
}

// Removed notes that what a job left at its provider was deleted there: nothing is left to look at.
func (s *Store) Removed(ctx context.Context, l store.Lease) error {
	return s.touch(ctx, "removed", l, db.Relaxed, []store.State{store.Settled, store.Failed, store.Cancelled}, `removed_ms = $3,
		due_ms = NULL, reason = ''`, s.db.Millis())
}

// Fetched notes that every part is here.
func (s *Store) Fetched(ctx context.Context, l store.Lease, due time.Time) error {
	return s.move(ctx, l, move{op: "fetched", to: store.Fetched, from: []store.State{store.Ended}, due: due, set: `fetched_ms = $4`})
}

// Refetch goes back to the provider, because results are missing.
func (s *Store) Refetch(ctx context.Context, l store.Lease, why string, due time.Time) error {
	return s.move(ctx, l, move{op: "refetch", to: store.Ended, from: []store.State{store.Fetched}, due: due, note: why,
		set: `refetches = refetches + 1, fetched_ms = NULL, reason = $6`, args: []any{why}})
}

// Finish settles a segment for good: every attempt has its outcome; the reservation becomes what was spent. The run is
// due, because what these answers make possible can go out. A due time asks for a look at what may come late.
func (s *Store) Finish(ctx context.Context, l store.Lease, due time.Time) error {
	return s.FinishUnpriced(ctx, l, due, 0)
}

// FinishUnpriced is Finish for a segment with answers whose cost is not known: the most that they may cost stays set aside, as perhaps
// spent.
func (s *Store) FinishUnpriced(ctx context.Context, l store.Lease, due time.Time, most assay.Money) error {
	return s.move(ctx, l, move{op: "finish", to: store.Settled, from: []store.State{store.Fetched, store.Launched}, due: due,
		set: `settled_ms = $4, reason = '', aside_nano = $6`, args: []any{int64(most)},
		before: func(ctx context.Context, t *db.Txn) error { return spend(ctx, t, l.No) },
		alongside: func(ctx context.Context, t *db.Txn, run int64) error {
			_, err := t.ExecContext(ctx, `UPDATE runs SET perhaps_nano = perhaps_nano + $2 WHERE no = $1`, run, int64(most))
			return errors.Join(err, state.Wake(ctx, t, run))
		}})
}

// spend turns a segment's reservation into what it did cost. It goes before the move: no terminal state has a reservation. What jobs of
// another copy cost a second time, before the provider had a segment here, the run has spent already: it belongs to this segment now.
func spend(ctx context.Context, t *db.Txn, segment int64) error {
	_, err := t.ExecContext(ctx, `UPDATE runs SET
		reserved_nano = reserved_nano - (SELECT reserved_nano FROM segments WHERE no = $1),
		spent_nano = spent_nano + (SELECT cost_nano FROM segments WHERE no = $1),
		spent_unknown = spent_unknown + (SELECT cost_unknown FROM segments WHERE no = $1)
		WHERE no = (SELECT run_no FROM segments WHERE no = $1)`, segment)
	if err == nil {
		_, err = t.ExecContext(ctx, `UPDATE segments SET reserved_nano = 0, cost_nano = cost_nano + `+unplaced+` WHERE no = $1`, segment)
	}
	if err == nil {
		_, err = t.ExecContext(ctx, `UPDATE taken_jobs SET segment_no = $1 WHERE segment_no IS NULL
			AND run_no = (SELECT run_no FROM segments WHERE no = $1) AND provider = (SELECT provider FROM segments WHERE no = $1)`, segment)
	}
	return err
}

// unplaced is what jobs of another copy cost a second time that belong to no segment yet, and may to this one.
const unplaced = `CAST(COALESCE((SELECT SUM(k.cost_nano) FROM taken_jobs k WHERE k.segment_no IS NULL AND k.run_no = segments.run_no
	AND k.provider = segments.provider), 0) AS BIGINT)`

// GoBack makes a segment ready to be sent again, as its next attempt, and gives its reservation back. A call of unknown fate
// that a person has sent again counts as lost; under a hard budget what was reserved for it stays, as perhaps spent, until Audited.
func (s *Store) GoBack(ctx context.Context, l store.Lease, b store.Back) error {
	handle, args := "", []any{l.No, l.Epoch, string(b.To), s.db.Millis(), db.Millis(b.Due), b.Reason, asked(b.Asked, b.Due)}
	if b.To == store.Staged {
		args = append(args, db.Flag(b.Lost), db.Flag(b.Capped))
		handle = `fence = CASE WHEN held_from = 'intended' OR $8 = 1 THEN NULLIF(handle, '') ELSE fence END, handle = NULL,
			lost_creates = lost_creates + CASE WHEN held_from = 'intended' OR $8 = 1 THEN 1 ELSE 0 END,
			lost_nano = lost_nano + CASE WHEN (held_from = 'intended' OR $8 = 1) AND $9 = 1 THEN reserved_nano ELSE 0 END, `
	}
	// The reservation has to be read before it is set to 0.
	return s.db.Tx(ctx, "go back", db.Durable, func(t *db.Txn) error {
		var run, reserved, lost int64
		err := t.QueryRowContext(ctx, `SELECT run_no, reserved_nano, lost_nano FROM segments WHERE no = $1 AND epoch = $2`,
			l.No, l.Epoch).Scan(&run, &reserved, &lost)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		n, err := t.Change(ctx, `UPDATE segments SET moved_from = state, state = $3, moved_ms = $4, due_ms = $5, reason = $6, `+handle+`
			reserved_nano = 0, intended_ms = NULL, cursor_mark = NULL, account = NULL, stamped = NULL, absents = 0, absent_ms = NULL,
			job = NULL,
			launched_ms = NULL, job_state = NULL, job_word = NULL, job_counts = NULL, parts = NULL, ended_ms = NULL,
			fetched_ms = NULL, cancel_cause = CASE WHEN cancel_cause = 'user' THEN 'user' ELSE '' END,
			cancel_ms = CASE WHEN cancel_cause = 'user' THEN cancel_ms END, held_from = NULL, failures = failures + 1, still_ms = NULL,
			wait_ms = $7
			WHERE no = $1 AND epoch = $2`+
			db.InStates([]store.State{store.Uploaded, store.Intended, store.Launched, store.Ended, store.Held}),
			args...)
		if err == nil && n == 0 {
			err = whyNot(ctx, t, l, sql.ErrNoRows)
		}
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE runs SET reserved_nano = reserved_nano - $2,
			perhaps_nano = perhaps_nano - $3 + (SELECT lost_nano FROM segments WHERE no = $4) WHERE no = $1`,
			run, reserved, lost, l.No); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE jobs SET role = 'failed' WHERE segment_no = $1 AND role = 'current'`, l.No); err != nil {
			return err
		}
		return t.Event(ctx, run, l.No, string(b.To), b.Reason)
	})
}

// Absent notes that a Find saw no job of the segment.
func (s *Store) Absent(ctx context.Context, l store.Lease, due time.Time) error {
	return s.touch(ctx, "absent", l, db.Relaxed, []store.State{store.Intended}, `absents = absents + 1, absent_ms = $3, due_ms = $4`,
		s.db.Millis(), db.Millis(due))
}

// Hold stops a segment until a person decides. Its reservation stays: it may have been paid for.
func (s *Store) Hold(ctx context.Context, l store.Lease, why string) error {
	return s.move(ctx, l, move{op: "hold", to: store.Held, from: []store.State{store.Staged, store.Uploaded, store.Intended, store.Launched,
		store.Ended, store.Fetched}, note: why, durable: db.Durable, set: `held_from = state, reason = $6`, args: []any{why},
		alongside: func(ctx context.Context, t *db.Txn, run int64) error { return state.Wake(ctx, t, run) }})
}

// Secure makes everything that was written before survive the power: what a provider is asked to forget has to be here for
// good. A commit carries all before it.
func (s *Store) Secure(ctx context.Context, l store.Lease) error {
	return s.touch(ctx, "secure", l, db.Durable, nil, `moved_ms = moved_ms`)
}

// WishCancel keeps that a person wants a segment stopped that other work holds: it sees the wish when its step is over.
// An ended segment is left alone.
func (s *Store) WishCancel(ctx context.Context, segment int64) error {
	return s.db.Tx(ctx, "wish cancel", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE segments SET cancel_cause = 'user', cancel_ms = COALESCE(cancel_ms, $2), due_ms = $2
			WHERE no = $1`+db.InStates([]store.State{store.Staged, store.Uploaded, store.Intended, store.Launched}), segment, s.db.Millis())
		return err
	})
}

// AskCancel keeps that a job was asked to stop, before it is asked; the first cause stays.
func (s *Store) AskCancel(ctx context.Context, l store.Lease, c store.CancelCause, due time.Time) error {
	return s.touch(ctx, "ask cancel", l, db.Durable, []store.State{store.Launched},
		`cancel_cause = CASE WHEN cancel_cause = '' THEN $3 ELSE cancel_cause END, cancel_ms = COALESCE(cancel_ms, $4), due_ms = $5`,
		string(c), s.db.Millis(), db.Millis(due))
}

// Fail ends a segment whose job as a whole was refused or failed. Every attempt has to have its outcome.
func (s *Store) Fail(ctx context.Context, l store.Lease, why string) error {
	return s.move(ctx, l, move{op: "fail", to: store.Failed,
		from: []store.State{store.Staged, store.Uploaded, store.Intended, store.Launched, store.Ended, store.Fetched}, note: why,
		set: `reason = $6`, args: []any{why}, before: func(ctx context.Context, t *db.Txn) error { return spend(ctx, t, l.No) },
		alongside: func(ctx context.Context, t *db.Txn, run int64) error { return state.Wake(ctx, t, run) }})
}

// Drop ends a segment that never was launched, or that a person gives up. Attempts without an outcome are cancelled.
func (s *Store) Drop(ctx context.Context, l store.Lease, why string) error {
	return s.db.Tx(ctx, "drop", db.Durable, func(t *db.Txn) error {
		run, err := endOpen(ctx, t, l, store.EndOpen{Ending: "cancelled", Message: why})
		if err != nil {
			return err
		}
		if err := spend(ctx, t, l.No); err != nil {
			return err
		}
		n, err := t.Change(ctx, `UPDATE segments SET moved_from = state, state = 'cancelled', moved_ms = $3, due_ms = NULL, reason = $4,
			held_from = NULL
			WHERE no = $1 AND epoch = $2`+db.InStates([]store.State{store.Staged, store.Uploaded, store.Held}), l.No, l.Epoch,
			s.db.Millis(), why)
		if err == nil && n == 0 {
			err = whyNot(ctx, t, l, sql.ErrNoRows)
		}
		if err != nil {
			return err
		}
		return errors.Join(state.Wake(ctx, t, run), t.Event(ctx, run, l.No, string(store.Cancelled), why))
	})
}
