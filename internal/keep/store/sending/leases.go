package sending

import (
	"context"
	"database/sql"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// HoldSegment takes the lease of a segment for a while. Held by other work, of this process or another: *HeldError.
func (s *Leases) HoldSegment(ctx context.Context, no int64, holder string, ttl time.Duration) (store.Lease, error) {
	return s.hold(ctx, store.Lease{No: no, Holder: holder}, ttl)
}

// HoldRun takes the lease of a run for a while. Held by other work, of this process or another: *HeldError.
func (s *Leases) HoldRun(ctx context.Context, no int64, holder string, ttl time.Duration) (store.Lease, error) {
	return s.hold(ctx, store.Lease{No: no, Holder: holder, Run: true}, ttl)
}

// SeizeSegment takes the lease of a planned segment from its holder: only the holder of its run plans, so that the
// other one is dead. The first lease is the run's.
func (s *Leases) SeizeSegment(ctx context.Context, run store.Lease, no int64, holder string, ttl time.Duration) (store.Lease, error) {
	l := store.Lease{No: no, Holder: holder}
	err := s.db.Tx(ctx, "seize segment", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		until := now + ttl.Milliseconds()
		l.Until = time.UnixMilli(until).UTC()
		err = t.QueryRowContext(ctx, `UPDATE segments SET holder = $2, epoch = `+nextEpoch("$6")+`, lease_until_ms = $3
			WHERE no = $1 AND state = 'planned' AND run_no = $4 AND EXISTS (SELECT 1 FROM runs WHERE no = $4 AND epoch = $5)
			RETURNING epoch`,
			no, holder, until, run.No, run.Epoch, now).Scan(&l.Epoch)
		if err == sql.ErrNoRows {
			return store.ErrLeaseLost
		}
		return err
	})
	return l, err
}

// nextEpoch returns a lease's next epoch as SQL: greater than the last one, and not before the time, whose placeholder is given.
// So an epoch that was handed out and forgotten with the power is not handed out again.
func nextEpoch(now string) string {
	return `CASE WHEN epoch < CAST(` + now + ` AS BIGINT) THEN CAST(` + now + ` AS BIGINT) ELSE epoch + 1 END`
}

func table(l store.Lease) string {
	if l.Run {
		return "runs"
	}
	return "segments"
}

// hold takes a lease that nobody has, or that has ended. Where the ledger's clock was set, its end says nothing before a whole lease has
// passed by our own: a holder that lives has renewed it by then.
func (s *Leases) hold(ctx context.Context, l store.Lease, ttl time.Duration) (store.Lease, error) {
	over := false // of a lease that has ended
	err := s.db.Tx(ctx, "hold "+table(l), db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		until := now + ttl.Milliseconds()
		take := func(from string) error {
			return t.QueryRowContext(ctx, `UPDATE `+table(l)+` SET holder = $2, epoch = `+nextEpoch("$4")+`, lease_until_ms = $3
				WHERE no = $1 AND `+from+` RETURNING epoch`, l.No, l.Holder, until, now).Scan(&l.Epoch)
		}
		l.Until, over = time.UnixMilli(until).UTC(), false
		err = take("holder IS NULL")
		if err == sql.ErrNoRows && s.db.Steady(ttl) {
			err = take("lease_until_ms <= $4")
			over = err == nil
		}
		if err == sql.ErrNoRows {
			return heldBy(ctx, t, l)
		}
		return err
	})
	if err == nil && over {
		s.takenOver.Add(1)
	}
	return l, err
}

// TakenOver returns how many leases this process has taken over from processes that have ended or were silent.
func (s *Leases) TakenOver() int64 { return s.takenOver.Load() }

// heldBy explains why a lease could not be taken.
func heldBy(ctx context.Context, t *db.Txn, l store.Lease) error {
	var holder string
	var until int64
	err := t.QueryRowContext(ctx, `SELECT COALESCE(holder, ''), COALESCE(lease_until_ms, 0) FROM `+table(l)+` WHERE no = $1`, l.No).
		Scan(&holder, &until)
	if err != nil {
		return store.NotFound(err)
	}
	return &store.HeldError{Holder: holder, Until: time.UnixMilli(until).UTC()}
}

// Renew makes a lease last a while from now.
func (s *Leases) Renew(ctx context.Context, l store.Lease, ttl time.Duration) (store.Lease, error) {
	err := s.db.Tx(ctx, "renew "+table(l), db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		until := now + ttl.Milliseconds()
		l.Until = time.UnixMilli(until).UTC()
		return t.One(ctx, store.ErrLeaseLost, `UPDATE `+table(l)+` SET lease_until_ms = $3
			WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`,
			l.No, l.Epoch, until)
	})
	return l, err
}

// Release gives a lease back. One that was lost is no error: it is not ours to give.
func (s *Leases) Release(ctx context.Context, l store.Lease) error {
	return s.db.Tx(ctx, "release "+table(l), db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `UPDATE `+table(l)+` SET holder = NULL, lease_until_ms = NULL WHERE no = $1 AND epoch = $2`,
			l.No, l.Epoch)
		return err
	})
}

// Holders returns the holders of all leases.
func (s *Leases) Holders(ctx context.Context) ([]string, error) {
	scan := func(rows *sql.Rows) (holder string, err error) { return holder, rows.Scan(&holder) }
	return db.Collect(db.Walk(ctx, s.db, "read holders", scan, `SELECT holder FROM segments WHERE holder IS NOT NULL
		UNION SELECT holder FROM runs WHERE holder IS NOT NULL ORDER BY 1`))
}

// ReleaseDead gives back what a holder had who is known to be dead: its leases, its signs that it drives runs, and its shares of
// caps. A holder declared dead can write no more once another one has taken over.
func (s *Leases) ReleaseDead(ctx context.Context, holder string) error {
	var leases int64
	err := s.db.Tx(ctx, "release dead", db.Relaxed, func(t *db.Txn) error {
		leases = 0
		for _, table := range []string{"segments", "runs"} {
			n, err := t.Change(ctx, `UPDATE `+table+` SET holder = NULL, lease_until_ms = NULL WHERE holder = $1`, holder)
			if err != nil {
				return err
			}
			leases += n
		}
		if _, err := t.ExecContext(ctx, `DELETE FROM shares WHERE holder = $1`, holder); err != nil {
			return err
		}
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `UPDATE drivers SET until_ms = $2 WHERE holder = $1 AND until_ms > $2`, holder, now)
		return err
	})
	if err == nil {
		s.takenOver.Add(leases)
	}
	return err
}
