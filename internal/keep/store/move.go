package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
)

// StateError says that a segment is not where a move has to begin.
type StateError struct {
	Segment int64
	Have    State
}

// Error names the segment and its state.
func (e *StateError) Error() string { return fmt.Sprintf("segment %d is %s", e.Segment, e.Have) }

// move is one step of a segment: from where, to where, and what is written with it.
type move struct {
	op        string
	to        State
	from      []State
	set       string // further assignments; their arguments begin at $6
	args      []any
	due       time.Time // zero: nothing is to be done by itself
	note      string
	durable   durability
	before    func(ctx context.Context, t *txn) error            // in the same transaction, before the move
	alongside func(ctx context.Context, t *txn, run int64) error // in the same transaction, after the move
}

// move makes one step by compare-and-set, and writes it into the history.
func (s *Ledger) move(ctx context.Context, l Lease, m move) error {
	return s.tx(ctx, m.op, m.durable, func(t *txn) error {
		set := ""
		if m.set != "" {
			set = ", " + m.set
		}
		if m.before != nil {
			if err := m.before(ctx, t); err != nil {
				return err
			}
		}
		var run int64
		args := append([]any{l.No, l.Epoch, string(m.to), s.millis(), millis(m.due)}, m.args...)
		err := t.QueryRowContext(ctx, `UPDATE segments SET moved_from = state, state = $3, moved_ms = $4, due_ms = CAST($5 AS BIGINT), still_ms = NULL`+set+
			` WHERE no = $1 AND epoch = $2`+inStates(m.from)+` RETURNING run_no`, args...).Scan(&run)
		if err != nil {
			return t.whyNot(ctx, l, err)
		}
		if m.alongside != nil {
			if err := m.alongside(ctx, t, run); err != nil {
				return err
			}
		}
		return t.event(ctx, run, l.No, string(m.to), m.note)
	})
}

// whyNot explains a compare-and-set that changed nothing.
func (t *txn) whyNot(ctx context.Context, l Lease, err error) error {
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var epoch int64
	var st State
	if err := t.QueryRowContext(ctx, `SELECT epoch, state FROM segments WHERE no = $1`, l.No).Scan(&epoch, &st); err != nil {
		return fmt.Errorf("segment %d: %w", l.No, notFound(err))
	}
	if epoch != l.Epoch {
		return fmt.Errorf("segment %d: %w", l.No, ErrLeaseLost)
	}
	return &StateError{l.No, st}
}

// Bytes are what a batch segment sends.
type Bytes struct {
	Name   string // of the artifact
	Size   int64
	SHA256 string
	Tokens int64 // of the prompts, as estimated
}

// Stage fixes a segment: its attempts are complete and its bytes are made. From here its requests count as open.
func (s *Ledger) Stage(ctx context.Context, l Lease, b Bytes, expected assay.Money, unpriced int64, due time.Time) error {
	return s.move(ctx, l, move{op: "stage", to: Staged, from: []State{Planned}, due: due,
		set:  `input = $6, input_bytes = $7, input_sha256 = $8, expected_nano = $9, unpriced = $10, tokens = $11`,
		args: []any{null(b.Name), null(b.Size), null(b.SHA256), int64(expected), unpriced, b.Tokens},
		alongside: func(ctx context.Context, t *txn, run int64) error {
			if b.Name != "" {
				_, err := t.ExecContext(ctx, `INSERT INTO artifacts (run_no, segment_no, name, kind, part, bytes, sha256, created_ms)
					VALUES ($1, $2, $3, 'input', '', $4, $5, $6)`, run, l.No, b.Name, b.Size, b.SHA256, s.millis())
				if err != nil {
					return err
				}
			}
			return t.countStaged(ctx, l.No)
		}})
}

// countStaged moves the requests of a staged segment from where they stood in the lane's counters to open, and takes
// those that are sent again off the queue.
func (t *txn) countStaged(ctx context.Context, segment int64) error {
	var d laneDelta
	var again int64
	err := t.QueryRowContext(ctx, `SELECT run_no, stage, lane, requests, (SELECT COUNT(*) FROM attempts WHERE segment_no = $1 AND try > 1)
		FROM segments WHERE no = $1`, segment).Scan(&d.run, &d.stage, &d.lane, &d.open, &again)
	if err != nil {
		return err
	}
	if again > 0 {
		if err := t.takeResends(ctx, segment, again, &d); err != nil {
			return err
		}
	}
	return t.addToLane(ctx, d)
}

func (t *txn) takeResends(ctx context.Context, segment, again int64, d *laneDelta) error {
	rows, err := t.QueryContext(ctx, `SELECT o.ending, COUNT(*) FROM attempts a
		JOIN resends r ON r.run_no = a.run_no AND r.key = a.key AND r.try = a.try
		JOIN outcomes o ON o.segment_no = r.segment_no AND o.ord = r.ord AND o.late = 0
		WHERE a.segment_no = $1 AND a.try > 1 GROUP BY o.ending`, segment)
	if err != nil {
		return err
	}
	defer rows.Close()
	var queued int64
	for rows.Next() {
		var e assay.Ending
		var n int64
		if err := rows.Scan(&e, &n); err != nil {
			return err
		}
		queued += n
		d.add(e, -n)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if queued != again {
		return fmt.Errorf("segment %d: %d of its %d requests to send again are not on the queue: %w", segment, again-queued, again, ErrAnswered)
	}
	_, err = t.ExecContext(ctx, `DELETE FROM resends WHERE EXISTS (SELECT 1 FROM attempts a WHERE a.segment_no = $1
		AND a.run_no = resends.run_no AND a.key = resends.key AND a.try = resends.try)`, segment)
	return err
}

// Upload notes that the bytes are at the provider.
func (s *Ledger) Upload(ctx context.Context, l Lease, handle string, due time.Time) error {
	return s.move(ctx, l, move{op: "upload", to: Uploaded, from: []State{Staged}, due: due, set: `handle = $6, failures = 0, reason = ''`, args: []any{handle}})
}

// SaveHandle keeps what a vendor wants to remember in the middle of its preparations.
func (s *Ledger) SaveHandle(ctx context.Context, l Lease, handle string, due time.Time) error {
	return s.touch(ctx, "save handle", l, relaxed, []State{Staged}, `handle = $3, due_ms = $4, failures = 0, still_ms = NULL`, handle, millis(due))
}

// touch changes a segment without moving it.
func (s *Ledger) touch(ctx context.Context, op string, l Lease, d durability, in []State, set string, args ...any) error {
	return s.tx(ctx, op, d, func(t *txn) error {
		n, err := t.change(ctx, `UPDATE segments SET `+set+` WHERE no = $1 AND epoch = $2`+inStates(in), slices.Concat([]any{l.No, l.Epoch}, args)...)
		if err == nil && n == 0 {
			err = t.whyNot(ctx, l, sql.ErrNoRows)
		}
		return err
	})
}

// Wake says when a segment is to be worked on next, and why not before; the zero time: not by itself.
func (s *Ledger) Wake(ctx context.Context, l Lease, at time.Time, reason string) error {
	return s.touch(ctx, "wake", l, relaxed, nil, `due_ms = $3, reason = $4`, millis(at), reason)
}

// RetryLater notes a step that did not work, and when it is tried again. Since when none works is kept.
func (s *Ledger) RetryLater(ctx context.Context, l Lease, at time.Time, reason string) error {
	return s.touch(ctx, "stumble", l, relaxed, nil, `due_ms = $3, reason = $4, failures = failures + 1, still_ms = COALESCE(still_ms, $5)`,
		millis(at), clean(reason), s.millis())
}

// Intent is what is known just before the create call.
type Intent struct {
	Account string // fingerprint of the key
	Stamped bool   // whether the job will carry our stamp
	Cursor  string // the provider's newest job; empty: there was none
	Reserve assay.Money
	Due     time.Time // when the fate is looked into if nothing is heard
}

// Intend commits, durably and before the create call, that it is about to go, and reserves its money. ErrBudget: it
// does not fit. ErrRoom: the provider has as much waiting as it takes. ErrAnswered: a late answer came for a request in it.
func (s *Ledger) Intend(ctx context.Context, l Lease, in Intent) error {
	return s.move(ctx, l, move{op: "intend", to: Intended, from: []State{Uploaded}, due: in.Due, durable: durable,
		set: `account = $6, stamped = $7, cursor_mark = $8, reserved_nano = $9, intended_ms = $4, intends = intends + 1,
			absents = 0, absent_ms = NULL, reason = ''`,
		args: []any{in.Account, flag(in.Stamped), in.Cursor, int64(in.Reserve)},
		note: "reserve " + in.Reserve.String(),
		alongside: func(ctx context.Context, t *txn, run int64) error {
			return errors.Join(t.unanswered(ctx, l.No), t.room(ctx, l.No), t.reserve(ctx, run, in.Reserve))
		}})
}

// Fenced notes that what a lost create call names is deleted: nothing can come of it any more.
func (s *Ledger) Fenced(ctx context.Context, l Lease, due time.Time) error {
	return s.touch(ctx, "fenced", l, relaxed, []State{Staged}, `fence = NULL, due_ms = $3, failures = 0, still_ms = NULL, reason = ''`, millis(due))
}

// Audited notes that the jobs of create calls which were taken for lost were looked for once more.
func (s *Ledger) Audited(ctx context.Context, l Lease, due time.Time) error {
	return s.touch(ctx, "audited", l, relaxed, []State{Settled}, `audited = lost_creates, due_ms = $3, failures = 0, still_ms = NULL, reason = ''`, millis(due))
}

// unanswered makes sure that no request of a segment has an answer by now.
func (t *txn) unanswered(ctx context.Context, segment int64) error {
	var n int64
	err := t.QueryRowContext(ctx, `SELECT COUNT(*) FROM attempts a WHERE a.segment_no = $1 AND a.try > 1
		AND EXISTS (SELECT 1 FROM outcomes o WHERE o.run_no = a.run_no AND o.key = a.key AND o.stands = 1)`, segment).Scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("segment %d, %d requests: %w", segment, n, ErrAnswered)
	}
	return err
}

// reserve takes money out of what a run may still spend.
func (t *txn) reserve(ctx context.Context, run int64, m assay.Money) error {
	return t.one(ctx, fmt.Errorf("run %d, %s: %w", run, m, ErrBudget), `UPDATE runs SET reserved_nano = reserved_nano + $2
		WHERE no = $1 AND (budget_nano IS NULL OR spent_nano + reserved_nano + perhaps_nano + $2 <= budget_nano)`, run, int64(m))
}

// Rekey says with which key the job of a segment is looked at from now on: a person says that it can be.
func (s *Ledger) Rekey(ctx context.Context, l Lease, account string, due time.Time) error {
	return s.touch(ctx, "rekey", l, durable, []State{Launched}, `account = $3, due_ms = $4, failures = 0, still_ms = NULL, reason = ''`, account, millis(due))
}

// Launch is an accepted create call, or an adopted job.
type Launch struct {
	Job  string
	At   time.Time
	Due  time.Time
	Note string
}

// Launched notes, durably, the job that a segment became.
func (s *Ledger) Launched(ctx context.Context, l Lease, j Launch) error {
	return s.move(ctx, l, move{op: "launched", to: Launched, from: []State{Intended, Held}, due: j.Due, durable: durable,
		set:  `job = $6, launched_ms = $7, held_from = NULL, fence = NULL, failures = 0, reason = ''`,
		args: []any{j.Job, j.At.UnixMilli()},
		note: strings.TrimSpace("job " + j.Job + " " + j.Note),
		alongside: func(ctx context.Context, t *txn, _ int64) error {
			// One that is not wanted any more is looked at, and so cancelled, at once.
			if _, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = launched_ms WHERE no = $1 AND cancel_cause = 'user'`, l.No); err != nil {
				return err
			}
			// The job it had, if any, is lost: a person has found another.
			if _, err := t.ExecContext(ctx, `UPDATE jobs SET role = 'failed' WHERE segment_no = $1 AND role = 'current' AND job <> $2`, l.No, j.Job); err != nil {
				return err
			}
			return t.addJob(ctx, l.No, j.Job, "current")
		}})
}

// GoLive starts a live segment: reserves its money before the first request is asked.
func (s *Ledger) GoLive(ctx context.Context, l Lease, account string, reserve assay.Money, due time.Time) error {
	return s.move(ctx, l, move{op: "go live", to: Launched, from: []State{Staged}, due: due, durable: durable,
		set:  `account = $6, launched_ms = $4, reserved_nano = $7, reason = ''`,
		args: []any{account, int64(reserve)},
		note: "live, reserve " + reserve.String(),
		alongside: func(ctx context.Context, t *txn, run int64) error {
			return errors.Join(t.unanswered(ctx, l.No), t.reserve(ctx, run, reserve))
		}})
}

// ReserveMore takes more money for a live segment whose answers cost more than was expected. ErrBudget: there is none.
func (s *Ledger) ReserveMore(ctx context.Context, l Lease, m assay.Money) error {
	return s.tx(ctx, "reserve more", durable, func(t *txn) error {
		var run int64
		err := t.QueryRowContext(ctx, `UPDATE segments SET reserved_nano = reserved_nano + $3, reason = '' WHERE no = $1 AND epoch = $2 AND state = 'launched'
			RETURNING run_no`, l.No, l.Epoch, int64(m)).Scan(&run)
		if err != nil {
			return t.whyNot(ctx, l, err)
		}
		return t.reserve(ctx, run, m)
	})
}
