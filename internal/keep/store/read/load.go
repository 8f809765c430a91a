package read

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"assay/internal/assay"
)

// Load is how the work of a ledger goes, in numbers.
type Load struct {
	Open      int64         // runs
	Leases    int64         // on segments and runs
	Due       int64         // segments that wait for a worker
	Oldest    time.Duration // how long the first of them has waited
	Gates     int64         // models that take nothing for a while
	Uncertain int64         // live calls that may be billed twice
	Spent     assay.Money
	Reserved  assay.Money
}

// Load reads how the work of a ledger goes.
func (s *Pages) Load(ctx context.Context) (Load, error) {
	var p Load
	var oldest sql.NullInt64
	now := s.db.Millis()
	err := s.db.QueryRow(ctx, `SELECT
		(SELECT COUNT(*) FROM runs WHERE state = 'open'),
		(SELECT COUNT(*) FROM segments WHERE holder IS NOT NULL) + (SELECT COUNT(*) FROM runs WHERE holder IS NOT NULL),
		(SELECT COUNT(*) FROM segments WHERE due_ms <= $1 AND holder IS NULL),
		(SELECT MIN(due_ms) FROM segments WHERE due_ms <= $1 AND holder IS NULL),
		(SELECT COUNT(*) FROM gates WHERE until_ms > $1),
		(SELECT CAST(COALESCE(SUM(times), 0) AS BIGINT) FROM doubts),
		(SELECT CAST(COALESCE(SUM(spent_nano), 0) AS BIGINT) FROM runs WHERE rehearsal = 0),
		(SELECT CAST(COALESCE(SUM(reserved_nano), 0) AS BIGINT) FROM runs WHERE rehearsal = 0)`, now).
		Scan(&p.Open, &p.Leases, &p.Due, &oldest, &p.Gates, &p.Uncertain, &p.Spent, &p.Reserved)
	if err != nil {
		return p, fmt.Errorf("read how the work goes: %w", err)
	}
	if oldest.Valid {
		p.Oldest = time.Duration(now-oldest.Int64) * time.Millisecond
	}
	return p, nil
}
