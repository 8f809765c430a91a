package sending

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// metaClock is the name of the latest time that the ledger has seen.
const metaClock = "clock"

// How the latest time is kept: often enough to see a clock that was set back, not at every look.
const (
	clockEvery = 10 * time.Second
	clockBack  = time.Minute // less than this is a clock that is being kept right
)

// KeepTime notes what time it is. Where the clock was set back since the last note, everything that waits for a moment
// waits for as much earlier a one: a poll in a minute stays a poll in a minute, and a dead holder's lease does not last for
// a day. It returns by how much.
func (s *Leases) KeepTime(ctx context.Context) (back time.Duration, err error) {
	text, err := s.reader.Meta(ctx, metaClock)
	if err != nil {
		return 0, err
	}
	last, _ := strconv.ParseInt(text, 10, 64) // nothing is noted yet
	if ahead := s.db.Millis() - last; ahead >= 0 && ahead < clockEvery.Milliseconds() {
		return 0, nil
	}
	err = s.db.Tx(ctx, "keep time", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx) // the ledger's own: this process may not have seen yet that it was set
		if err != nil {
			return err
		}
		// Another process may have seen the same: only one of them moves what waits.
		n, err := t.Change(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
			WHERE meta.value = $3`, metaClock, strconv.FormatInt(now, 10), text)
		if back = 0; err != nil || n == 0 || last-now <= clockBack.Milliseconds() {
			return err
		}
		back = time.Duration(last-now) * time.Millisecond
		return setBack(ctx, t, now, back.Milliseconds())
	})
	return back, err
}

// longestLease is the longest that a lease lasts: one that ends later was taken before the clock was set back.
const longestLease = 2 * time.Minute

// setBack moves every moment that is to come, for which something waits.
func setBack(ctx context.Context, t *db.Txn, now, by int64) error {
	lease := now + longestLease.Milliseconds()
	for _, c := range []struct {
		table, column string
		after         int64
	}{
		{"segments", "due_ms", now}, {"segments", "wait_ms", now}, {"segments", "lease_until_ms", lease},
		{"segments", "absent_ms", now}, {"segments", "intended_ms", now},
		{"runs", "due_ms", now}, {"runs", "lease_until_ms", lease}, {"drivers", "until_ms", now}, {"resends", "not_before_ms", now},
		{"gates", "until_ms", now}, {"shares", "until_ms", now}, {"worker_keys", "until_ms", now},
	} {
		if err := earlier(ctx, t, c.table, c.column, c.after, by); err != nil {
			return err
		}
	}
	return earlier(ctx, t, "quotas", "next_us", now*1000, by*1000)
}

// earlier moves the moments of a column that lie after one.
func earlier(ctx context.Context, t *db.Txn, table, column string, after, by int64) error {
	_, err := t.ExecContext(ctx, `UPDATE `+table+` SET `+column+` = `+column+` - $2 WHERE `+column+` > $1`, after, by)
	if err != nil {
		return fmt.Errorf("set back %s of %s: %w", column, table, err)
	}
	return nil
}

// Drives notes, for a while, that a process drives a run. It keeps no other process from it: leases do that.
func (s *Leases) Drives(ctx context.Context, run int64, holder string, ttl time.Duration) error {
	return s.db.Tx(ctx, "drive run", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		if err := countBreak(ctx, t, run, now); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `DELETE FROM drivers WHERE run_no = $1 AND until_ms <= $2`, run, now); err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `INSERT INTO drivers (run_no, holder, until_ms) VALUES ($1, $2, $3)
			ON CONFLICT (run_no, holder) DO UPDATE SET until_ms = excluded.until_ms`, run, holder, now+ttl.Milliseconds())
		return err
	})
}

// countBreak adds the time since the last process stopped driving a run to the time that is no measure of its pace.
func countBreak(ctx context.Context, t *db.Txn, run, now int64) error {
	var until sql.NullInt64
	err := t.QueryRowContext(ctx, `SELECT MAX(until_ms) FROM drivers WHERE run_no = $1`, run).Scan(&until)
	if err != nil || !until.Valid || until.Int64 >= now {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE runs SET
		idle_ms = idle_ms + CASE WHEN away.jobs = 0 THEN CAST($2 AS BIGINT) ELSE 0 END,
		unseen_ms = CASE WHEN away.jobs > 0 AND unseen_ms < $2 THEN $2 ELSE unseen_ms END,
		driven_ms = $3
		FROM (SELECT COUNT(*) AS jobs FROM segments WHERE run_no = $1 AND mode = 'batch' AND state IN ('intended', 'launched')) AS away
		WHERE no = $1`, run, now-until.Int64, now)
	return err
}

// Leaves notes that a process does not drive a run any more.
func (s *Leases) Leaves(ctx context.Context, run int64, holder string) error {
	return s.db.Tx(ctx, "leave run", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `UPDATE drivers SET until_ms = $3 WHERE run_no = $1 AND holder = $2 AND until_ms > $3`,
			run, holder, now)
		return err
	})
}

// Drivers returns the processes that drive a run now, and those that hold a lease of it and may be dead.
func (s *Leases) Drivers(ctx context.Context, run int64) ([]store.Driver, error) {
	return db.Collect(db.Walk(ctx, s.db, "read drivers", scanDriver, `SELECT holder, MAX(until_ms) FROM (
			SELECT holder, until_ms FROM drivers WHERE run_no = $1
			UNION ALL SELECT holder, lease_until_ms FROM runs WHERE no = $1 AND holder IS NOT NULL
			UNION ALL SELECT holder, lease_until_ms FROM segments WHERE run_no = $1 AND holder IS NOT NULL) d
		WHERE CAST($2 AS BIGINT) > 0 AND until_ms > `+s.db.ClockText("CAST($2 AS BIGINT)")+` GROUP BY holder ORDER BY holder`,
		run, s.db.Millis()))
}

func scanDriver(rows *sql.Rows) (store.Driver, error) {
	var d store.Driver
	var until int64
	err := rows.Scan(&d.Holder, &until)
	d.Until = time.UnixMilli(until).UTC()
	return d, err
}

// PutWorkerKeys records, for a while, the providers of runs for which a worker has keys: these and no others. The keys
// of dead workers expire.
func (s *Leases) PutWorkerKeys(ctx context.Context, holder string, keys []store.WorkerKey, ttl time.Duration) error {
	return s.db.Tx(ctx, "put worker keys", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `DELETE FROM worker_keys WHERE holder = $1 OR until_ms <= $2`, holder, now); err != nil {
			return err
		}
		rows := make([][]any, len(keys))
		for i, h := range keys {
			rows[i] = []any{holder, h.Run, h.Provider, h.Account, now + ttl.Milliseconds()}
		}
		if len(rows) == 0 {
			return nil
		}
		return t.Bulk(ctx, "worker_keys", []string{"holder", "run_no", "provider", "account", "until_ms"}, rows)
	})
}

// KeyAlive reports whether a living worker or gateway has a key.
func (s *Leases) KeyAlive(ctx context.Context, k store.WorkerKey) (alive bool, err error) {
	err = s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM worker_keys
		WHERE run_no = $1 AND provider = $3 AND account = $4 AND until_ms > `+s.db.ClockText("CAST($2 AS BIGINT)")+`
		AND CAST($2 AS BIGINT) > 0)`,
		k.Run, s.db.Millis(), k.Provider, k.Account).Scan(&alive)
	if err != nil {
		return false, fmt.Errorf("read which keys are there: %w", err)
	}
	return alive, nil
}

// MayJudge reports whether a living worker may run the judging programs of a run.
func (s *Leases) MayJudge(ctx context.Context, run int64) (may bool, err error) {
	err = s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM worker_keys
		WHERE run_no = $1 AND provider = $3 AND until_ms > `+s.db.ClockText("CAST($2 AS BIGINT)")+` AND CAST($2 AS BIGINT) > 0)`,
		run, s.db.Millis(), store.ProgramKey).Scan(&may)
	if err != nil {
		return false, fmt.Errorf("read which workers may judge: %w", err)
	}
	return may, nil
}
