package sending

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// move is one step of a segment: from where, to where, and what is written with it.
type move struct {
	op        string
	to        store.State
	from      []store.State
	set       string // further assignments; their arguments begin at $6
	args      []any
	due       time.Time // zero: nothing is to be done by itself
	note      string
	durable   db.Durability
	before    func(ctx context.Context, t *db.Txn) error            // in the same transaction, before the move
	alongside func(ctx context.Context, t *db.Txn, run int64) error // in the same transaction, after the move
}

// move makes one step by compare-and-set, and writes it into the history.
func (s *Store) move(ctx context.Context, l store.Lease, m move) error {
	return s.db.Tx(ctx, m.op, m.durable, func(t *db.Txn) error {
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
		args := append([]any{l.No, l.Epoch, string(m.to), s.db.Millis(), db.Millis(m.due)}, m.args...)
		err := t.QueryRowContext(ctx, `UPDATE segments SET moved_from = state, state = $3, moved_ms = $4, due_ms = CAST($5 AS BIGINT),
			still_ms = NULL, wait_ms = NULL`+set+
			` WHERE no = $1 AND epoch = $2`+db.InStates(m.from)+` RETURNING run_no`, args...).Scan(&run)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		if m.alongside != nil {
			if err := m.alongside(ctx, t, run); err != nil {
				return err
			}
		}
		return t.Event(ctx, run, l.No, string(m.to), m.note)
	})
}

// whyNot explains a compare-and-set that changed nothing.
func whyNot(ctx context.Context, t *db.Txn, l store.Lease, err error) error {
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var epoch int64
	var st store.State
	if err := t.QueryRowContext(ctx, `SELECT epoch, state FROM segments WHERE no = $1`, l.No).Scan(&epoch, &st); err != nil {
		return fmt.Errorf("segment %d: %w", l.No, store.NotFound(err))
	}
	if epoch != l.Epoch {
		return fmt.Errorf("segment %d: %w", l.No, store.ErrLeaseLost)
	}
	return &store.StateError{Segment: l.No, Have: st}
}

// Stage fixes a segment: its attempts are complete and its bytes are made. From here its requests count as open.
func (s *Store) Stage(ctx context.Context, l store.Lease, b store.Bytes, expected assay.Money, unpriced int64, due time.Time) error {
	return s.move(ctx, l, move{op: "stage", to: store.Staged, from: []store.State{store.Planned}, due: due,
		set:  `input = $6, input_bytes = $7, input_sha256 = $8, expected_nano = $9, unpriced = $10, tokens = $11`,
		args: []any{db.Null(b.Name), db.Null(b.Size), db.Null(b.SHA256), int64(expected), unpriced, b.Tokens},
		alongside: func(ctx context.Context, t *db.Txn, run int64) error {
			if b.Name != "" {
				_, err := t.ExecContext(ctx, `INSERT INTO artifacts (run_no, segment_no, name, kind, part, bytes, sha256, created_ms)
					VALUES ($1, $2, $3, 'input', '', $4, $5, $6)`, run, l.No, b.Name, b.Size, b.SHA256, s.db.Millis())
				if err != nil {
					return err
				}
			}
			return countStaged(ctx, t, l.No)
		}})
}

// countStaged moves the requests of a staged segment to open in the lane's counters, and takes those that are sent
// again off the queue.
func countStaged(ctx context.Context, t *db.Txn, segment int64) error {
	var d state.LaneDelta
	var again int64
	err := t.QueryRowContext(ctx, `SELECT run_no, stage, lane, requests,
		CASE WHEN max_try > 1 THEN (SELECT COUNT(*) FROM attempts WHERE segment_no = $1 AND try > 1) ELSE 0 END
		FROM segments WHERE no = $1`, segment).Scan(&d.Run, &d.Stage, &d.Lane, &d.Open, &again)
	if err != nil {
		return err
	}
	if again > 0 {
		if err := takeResends(ctx, t, segment, again, &d); err != nil {
			return err
		}
	}
	return state.AddToLane(ctx, t, d)
}

func takeResends(ctx context.Context, t *db.Txn, segment, again int64, d *state.LaneDelta) error {
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
		d.Add(e, -n)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if queued != again {
		return fmt.Errorf("segment %d: %d of its %d requests to send again are not on the queue: %w", segment, again-queued, again,
			store.ErrAnswered)
	}
	_, err = t.ExecContext(ctx, `DELETE FROM resends WHERE (run_no, key, try) IN
		(SELECT a.run_no, a.key, a.try FROM attempts a WHERE a.segment_no = $1)`, segment)
	return err
}

// Upload notes that the bytes are at the provider.
func (s *Store) Upload(ctx context.Context, l store.Lease, handle string, due time.Time) error {
	return s.move(ctx, l, move{op: "upload", to: store.Uploaded, from: []store.State{store.Staged}, due: due, set: `handle = $6,
		failures = 0, reason = ''`, args: []any{handle}})
}

// SaveHandle keeps what a vendor wants to remember in the middle of its preparations.
func (s *Store) SaveHandle(ctx context.Context, l store.Lease, handle string, due time.Time) error {
	return s.touch(ctx, "save handle", l, db.Relaxed, []store.State{store.Staged}, `handle = $3, due_ms = $4, failures = 0,
		still_ms = NULL`, handle, db.Millis(due))
}

// touch changes a segment without moving it.
func (s *Store) touch(ctx context.Context, op string, l store.Lease, d db.Durability, in []store.State, set string, args ...any) error {
	return s.db.Tx(ctx, op, d, func(t *db.Txn) error {
		n, err := t.Change(ctx, `UPDATE segments SET `+set+`
			WHERE no = $1 AND epoch = $2`+db.InStates(in), slices.Concat([]any{l.No, l.Epoch}, args)...)
		if err == nil && n == 0 {
			err = whyNot(ctx, t, l, sql.ErrNoRows)
		}
		return err
	})
}

// Wake sets when a segment is to be worked on next, and the reason for the wait; the zero time: not by itself.
func (s *Store) Wake(ctx context.Context, l store.Lease, at time.Time, reason string) error {
	return s.touch(ctx, "wake", l, db.Relaxed, nil, `due_ms = $3, wait_ms = NULL, reason = $4`, db.Millis(at), reason)
}

// RetryLater notes a step that did not work, and when it is tried again. Since when none works is kept.
func (s *Store) RetryLater(ctx context.Context, l store.Lease, at store.Later) error {
	return s.touch(ctx, "stumble", l, db.Relaxed, nil, `due_ms = $3, reason = $4, failures = failures + 1,
		still_ms = COALESCE(still_ms, $5), wait_ms = $6`,
		db.Millis(at.Due), db.Clean(at.Reason), s.db.Millis(), asked(at.Asked, at.Due))
}

// asked returns until when a provider asked to wait; nil: it did not.
func asked(to bool, until time.Time) any {
	if !to {
		return nil
	}
	return db.Millis(until)
}

// Waits notes until when a provider asks to wait before live requests of a segment go on, or why they do not go on as they should. The zero
// time and an empty reason: nothing keeps them.
func (s *Store) Waits(ctx context.Context, l store.Lease, until time.Time, reason string) error {
	return s.touch(ctx, "waits", l, db.Relaxed, []store.State{store.Launched}, `wait_ms = $3, reason = $4`, db.Millis(until), db.Clean(reason))
}

// Hurry makes what waits because a provider asked for it due now, and returns how many segments that are.
func (s *Store) Hurry(ctx context.Context, run int64) (n int64, err error) {
	err = s.db.Tx(ctx, "hurry", db.Relaxed, func(t *db.Txn) error {
		now := s.db.Millis()
		n, err = t.Change(ctx, `UPDATE segments SET due_ms = CASE WHEN due_ms > $2 THEN $2 ELSE due_ms END, wait_ms = NULL, reason = ''
			WHERE run_no = $1 AND wait_ms > $2 AND holder IS NULL`, run, now)
		return err
	})
	return n, err
}

// Fenced notes that what a lost create call names is deleted: nothing can come of it any more. Its handle is kept with
// the lost ones.
func (s *Store) Fenced(ctx context.Context, l store.Lease, due time.Time) error {
	return s.touch(ctx, "fenced", l, db.Relaxed, []store.State{store.Staged}, `
		lost_handles = COALESCE(lost_handles || $4, '') || COALESCE(fence, ''), fence = NULL, due_ms = $3, failures = 0, still_ms = NULL,
		reason = ''`, db.Millis(due), "\n")
}

// Audited notes that the jobs of create calls which were taken for lost were looked for once more: after the segment was settled, or
// before it is sent again. What they did is booked by now: unless it cannot be told, nothing of it is perhaps spent any more, and the run
// is woken, because its budget covers more.
func (s *Store) Audited(ctx context.Context, l store.Lease, a store.Audit) error {
	return s.db.Tx(ctx, "audited", db.Relaxed, func(t *db.Txn) error {
		var run, lost int64
		err := t.QueryRowContext(ctx, `SELECT run_no, lost_nano FROM segments WHERE no = $1 AND epoch = $2`+
			db.InStates([]store.State{store.Settled, store.Staged, store.Uploaded})+` AND fence IS NULL`, l.No, l.Epoch).Scan(&run, &lost)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		_, err = t.ExecContext(ctx, `UPDATE segments SET audited = CASE WHEN state = 'settled' THEN lost_creates ELSE audited END,
			lost_nano = CASE WHEN $3 = 1 THEN lost_nano ELSE 0 END, due_ms = $2, failures = 0, still_ms = NULL, reason = '' WHERE no = $1`,
			l.No, db.Millis(a.Due), db.Flag(a.Unclear))
		if err != nil || lost == 0 || a.Unclear {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE runs SET perhaps_nano = perhaps_nano - $2 WHERE no = $1`, run, lost); err != nil {
			return err
		}
		return state.Wake(ctx, t, run)
	})
}

// Rekey sets the key with which the job of a segment is polled and fetched from now on.
func (s *Store) Rekey(ctx context.Context, l store.Lease, account string, due time.Time) error {
	return s.touch(ctx, "rekey", l, db.Durable, []store.State{store.Launched, store.Ended}, `account = $3, due_ms = $4, failures = 0, still_ms = NULL,
		reason = ''`, account, db.Millis(due))
}
