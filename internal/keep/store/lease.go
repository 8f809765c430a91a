package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Lease is the right to work on a segment or a run until a moment. It belongs to one piece of work, not to a process: the
// same holder cannot take it twice. Every write carries its epoch, so that a holder who was asleep for too long cannot
// write any more.
type Lease struct {
	No     int64 // of the segment or the run
	Holder string
	Epoch  int64
	Until  time.Time
	run    bool
}

// HeldError says who holds a lease.
type HeldError struct {
	Holder string
	Until  time.Time
}

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("held by %s until %s", e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// HoldSegment takes the lease of a segment for a while. Held by other work, of this process or another: *HeldError.
func (s *Ledger) HoldSegment(ctx context.Context, no int64, holder string, ttl time.Duration) (Lease, error) {
	return s.hold(ctx, Lease{No: no, Holder: holder}, ttl)
}

// HoldRun takes the lease of a run for a while. Held by other work, of this process or another: *HeldError.
func (s *Ledger) HoldRun(ctx context.Context, no int64, holder string, ttl time.Duration) (Lease, error) {
	return s.hold(ctx, Lease{No: no, Holder: holder, run: true}, ttl)
}

// SeizeSegment takes the lease of a planned segment from its holder: only the holder of its run plans, so that the
// other one is dead. The first lease is the run's.
func (s *Ledger) SeizeSegment(ctx context.Context, run Lease, no int64, holder string, ttl time.Duration) (Lease, error) {
	l := Lease{No: no, Holder: holder}
	err := s.tx(ctx, "seize segment", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		until := now + ttl.Milliseconds()
		l.Until = time.UnixMilli(until).UTC()
		err = t.QueryRowContext(ctx, `UPDATE segments SET holder = $2, epoch = `+nextEpoch("$6")+`, lease_until_ms = $3
			WHERE no = $1 AND state = 'planned' AND run_no = $4 AND EXISTS (SELECT 1 FROM runs WHERE no = $4 AND epoch = $5) RETURNING epoch`,
			no, holder, until, run.No, run.Epoch, now).Scan(&l.Epoch)
		if err == sql.ErrNoRows {
			return ErrLeaseLost
		}
		return err
	})
	return l, err
}

// nextEpoch is a lease's next epoch as SQL: greater than the last one, and not before the time, whose placeholder is given.
// So an epoch that was handed out and forgotten with the power is not handed out again.
func nextEpoch(now string) string {
	return `CASE WHEN epoch < CAST(` + now + ` AS BIGINT) THEN CAST(` + now + ` AS BIGINT) ELSE epoch + 1 END`
}

func (l Lease) table() string {
	if l.run {
		return "runs"
	}
	return "segments"
}

func (s *Ledger) hold(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	err := s.tx(ctx, "hold "+l.table(), relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		until := now + ttl.Milliseconds()
		err = t.QueryRowContext(ctx, `UPDATE `+l.table()+` SET holder = $2, epoch = `+nextEpoch("$4")+`, lease_until_ms = $3
			WHERE no = $1 AND (holder IS NULL OR lease_until_ms <= $4) RETURNING epoch`,
			l.No, l.Holder, until, now).Scan(&l.Epoch)
		l.Until = time.UnixMilli(until).UTC()
		if err == sql.ErrNoRows {
			return t.heldBy(ctx, l)
		}
		return err
	})
	return l, err
}

// heldBy explains why a lease could not be taken.
func (t *txn) heldBy(ctx context.Context, l Lease) error {
	var holder string
	var until int64
	err := t.QueryRowContext(ctx, `SELECT COALESCE(holder, ''), COALESCE(lease_until_ms, 0) FROM `+l.table()+` WHERE no = $1`, l.No).
		Scan(&holder, &until)
	if err != nil {
		return notFound(err)
	}
	return &HeldError{holder, time.UnixMilli(until).UTC()}
}

// Renew makes a lease last a while from now.
func (s *Ledger) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	err := s.tx(ctx, "renew "+l.table(), relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		until := now + ttl.Milliseconds()
		l.Until = time.UnixMilli(until).UTC()
		return t.one(ctx, ErrLeaseLost, `UPDATE `+l.table()+` SET lease_until_ms = $3 WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`,
			l.No, l.Epoch, until)
	})
	return l, err
}

// Release gives a lease back. One that was lost is no error: it is not ours to give.
func (s *Ledger) Release(ctx context.Context, l Lease) error {
	return s.tx(ctx, "release "+l.table(), relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE `+l.table()+` SET holder = NULL, lease_until_ms = NULL WHERE no = $1 AND epoch = $2`, l.No, l.Epoch)
		return err
	})
}

// Holders are the holders of all leases.
func (s *Reader) Holders(ctx context.Context) ([]string, error) {
	scan := func(rows *sql.Rows) (holder string, err error) { return holder, rows.Scan(&holder) }
	return collect(walk(ctx, s, "read holders", scan, `SELECT holder FROM segments WHERE holder IS NOT NULL
		UNION SELECT holder FROM runs WHERE holder IS NOT NULL ORDER BY 1`))
}

// ReleaseDead gives back what a holder had who is known to be dead: its leases, its signs that it drives runs, and its shares of
// caps. A holder declared dead can write no more once another one has taken over.
func (s *Ledger) ReleaseDead(ctx context.Context, holder string) error {
	return s.tx(ctx, "release dead", relaxed, func(t *txn) error {
		for _, text := range []string{
			`UPDATE segments SET holder = NULL, lease_until_ms = NULL WHERE holder = $1`,
			`UPDATE runs SET holder = NULL, lease_until_ms = NULL WHERE holder = $1`,
			`DELETE FROM shares WHERE holder = $1`,
		} {
			if _, err := t.ExecContext(ctx, text, holder); err != nil {
				return err
			}
		}
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `UPDATE drivers SET until_ms = $2 WHERE holder = $1 AND until_ms > $2`, holder, now)
		return err
	})
}
