package sending

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// room makes sure that a segment which is about to go fits beside what waits at its provider already. The first of all fits
// in any case: only the provider knows.
func room(ctx context.Context, t *db.Txn, segment int64) error {
	var limit, out, own int64
	// The row keeps others out until this is written.
	err := t.QueryRowContext(ctx, `UPDATE gates SET failures = failures WHERE limit_until_ms > $2 AND EXISTS
		(SELECT 1 FROM segments g WHERE g.no = $1 AND g.account = gates.account AND g.model = gates.model) RETURNING limit_tokens`,
		segment, t.Millis()).Scan(&limit)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	err = t.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(CASE
		WHEN h.no <> g.no THEN h.tokens END), 0) AS BIGINT), CAST(MAX(g.tokens) AS BIGINT) FROM segments g
		JOIN segments h ON h.account = g.account AND h.model = g.model AND h.mode = 'batch'
		AND h.state IN ('intended', 'launched') WHERE g.no = $1`,
		segment).Scan(&out, &own)
	if err == nil && out > 0 && out+own > limit {
		err = fmt.Errorf("segment %d, %d tokens beside %d of at most %d: %w", segment, own, out, limit, store.ErrRoom)
	}
	return err
}

// roomMade makes those segments due that waited until a job had ended.
func roomMade(ctx context.Context, t *db.Txn, segment int64) error {
	_, err := t.ExecContext(ctx, `UPDATE segments SET due_ms = $2 WHERE state = 'uploaded' AND reason = $3
		AND provider = (SELECT provider FROM segments WHERE no = $1) AND model = (SELECT model FROM segments WHERE no = $1)`,
		segment, t.Millis(), string(store.AwaitsRoom))
	return err
}
