package read

import (
	"context"
	"database/sql"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Shared reports whether the ledger is one that workers may share.
func (s *Pages) Shared() bool { return s.db.Postgres() }

// Stranded lists the segments of a run that have been due for a while, that no process holds, and for which no living
// worker has the key; and the lanes of a run which is due as long, has no segment yet for what they still have to ask, and for
// which no living worker has any key: the first that comes with one makes the segments of all. A process that drives a run alone
// does not record its keys: this is for ledgers that workers share.
func (s *Pages) Stranded(ctx context.Context, run int64, due time.Duration) ([]store.Stranded, error) {
	now := s.db.ClockText("$2")
	return db.Collect(db.Walk(ctx, s.db, "read what is stranded", scanStranded, `SELECT no, stage, lane, provider, wanted, due_ms FROM (
			SELECT no, stage, lane, provider, due_ms, CASE WHEN mode = 'batch'
			AND state IN ('intended', 'launched', 'ended') THEN COALESCE(account, '') ELSE '' END AS wanted
			FROM segments WHERE run_no = $1 AND due_ms + $3 <= $2 AND mode <> 'reuse' AND (holder IS NULL
			OR lease_until_ms <= `+now+`)) AS g
		WHERE NOT EXISTS (SELECT 1 FROM worker_keys h WHERE h.run_no = $1 AND h.provider = g.provider AND h.until_ms > `+now+`
		AND (g.wanted = '' OR g.wanted = h.account))
		UNION ALL SELECT 0, l.stage, l.lane, l.provider, '', r.due_ms FROM runs r JOIN lanes l ON l.run_no = r.no
		WHERE r.no = $1 AND r.state = 'open' AND r.due_ms + $3 <= $2 AND (r.holder IS NULL OR r.lease_until_ms <= `+now+`)
		AND l.state = 'open' AND l.planned > l.spared + l.n_open + l.n_answered + l.n_cut + l.n_empty + l.n_refused + l.n_rejected
		+ l.n_errored + l.n_expired + l.n_cancelled + l.n_lost
		AND NOT EXISTS (SELECT 1 FROM worker_keys h WHERE h.run_no = $1 AND h.until_ms > `+now+`)
		ORDER BY 1, 2, 3`, run, s.db.Millis(), due.Milliseconds()))
}

func scanStranded(rows *sql.Rows) (store.Stranded, error) {
	var g store.Stranded
	var at sql.NullInt64
	err := rows.Scan(&g.Segment, &g.Stage, &g.Lane, &g.Provider, &g.Account, &at)
	g.Due = db.FromMillis(at)
	return g, err
}
