package store

import (
	"context"
	"database/sql"
	"time"
)

// Driver is a process that drives a run, or holds a lease of it.
type Driver struct {
	Holder string
	Until  time.Time // when it counts as gone unless it gives a further sign
}

// Drives notes, for a while, that a process drives a run. It keeps no other process from it: that is what leases are for.
func (s *Ledger) Drives(ctx context.Context, run int64, holder string, ttl time.Duration) error {
	return s.tx(ctx, "drive run", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		if err := t.countBreak(ctx, run, now); err != nil {
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
func (t *txn) countBreak(ctx context.Context, run, now int64) error {
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
func (s *Ledger) Leaves(ctx context.Context, run int64, holder string) error {
	return s.tx(ctx, "leave run", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `UPDATE drivers SET until_ms = $3 WHERE run_no = $1 AND holder = $2 AND until_ms > $3`, run, holder, now)
		return err
	})
}

// Drivers are the processes that drive a run now, and those that hold a lease of it and may be dead.
func (s *Reader) Drivers(ctx context.Context, run int64) ([]Driver, error) {
	return collect(walk(ctx, s, "read drivers", scanDriver, `SELECT holder, MAX(until_ms) FROM (
			SELECT holder, until_ms FROM drivers WHERE run_no = $1
			UNION ALL SELECT holder, lease_until_ms FROM runs WHERE no = $1 AND holder IS NOT NULL
			UNION ALL SELECT holder, lease_until_ms FROM segments WHERE run_no = $1 AND holder IS NOT NULL) d
		WHERE CAST($2 AS BIGINT) > 0 AND until_ms > `+s.engine.clockText("CAST($2 AS BIGINT)")+` GROUP BY holder ORDER BY holder`, run, s.millis()))
}

func scanDriver(rows *sql.Rows) (Driver, error) {
	var d Driver
	var until int64
	err := rows.Scan(&d.Holder, &until)
	d.Until = time.UnixMilli(until).UTC()
	return d, err
}

// Trouble is why a segment that is under way does not move as it should.
type Trouble struct {
	Segment     int64
	Stage, Lane string
	State       State
	Reason      string
	Still       time.Time // since when no step works; zero: the last one did
}

// Troubles are the first segments of a run that are under way and have one.
func (s *Reader) Troubles(ctx context.Context, run int64, limit int) ([]Trouble, error) {
	return collect(walk(ctx, s, "read troubles", scanTrouble, `SELECT no, stage, lane, state, reason, still_ms FROM segments
		WHERE run_no = $1 AND reason <> '' AND state NOT IN ('settled', 'failed', 'cancelled') ORDER BY no LIMIT CAST($2 AS BIGINT)`, run, limit))
}

func scanTrouble(rows *sql.Rows) (Trouble, error) {
	var g Trouble
	var still sql.NullInt64
	err := rows.Scan(&g.Segment, &g.Stage, &g.Lane, &g.State, &g.Reason, &still)
	g.Still = fromMillis(still)
	return g, err
}
