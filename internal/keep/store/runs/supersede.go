package runs

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/state"
)

// supersede marks what an edit supersedes: answers stand no more, verdicts do not count, and lanes count their requests as not asked.
func supersede(ctx context.Context, t *db.Txn, run int64, by store.Superseding, what string) error {
	var edit int64
	err := t.QueryRowContext(ctx, `INSERT INTO edits (run_no, number, what, at_ms)
		SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3 FROM edits WHERE run_no = $1 RETURNING number`,
		run, db.Clean(what), t.Millis()).Scan(&edit)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(by.Requests, db.KeyBlock) {
		if err := supersedeRequests(ctx, t, run, edit, part); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(slices.Concat(by.Requests, by.Subjects), db.KeyBlock) {
		for _, column := range []string{"subject_key", "against_key"} {
			if err := supersedeVerdicts(ctx, t, run, edit, column, part); err != nil {
				return err
			}
		}
	}
	for part := range slices.Chunk(by.Verdicts, db.KeyBlock) {
		if err := supersedeVerdicts(ctx, t, run, edit, "key", part); err != nil {
			return err
		}
	}
	for _, stage := range by.Stages {
		_, err := t.ExecContext(ctx, `UPDATE verdicts SET stale = 1, superseded = $3
			WHERE run_no = $1 AND stage = $2 AND stale = 0 AND judge NOT LIKE 'human:%'`, run, stage, edit)
		if err != nil {
			return err
		}
	}
	return nil
}

func supersedeVerdicts(ctx context.Context, t *db.Txn, run, edit int64, column string, keys []assay.Key) error {
	list, args := db.KeyList(keys, run, edit)
	_, err := t.ExecContext(ctx, `UPDATE verdicts SET stale = 1, superseded = $2
		WHERE run_no = $1 AND stale = 0 AND `+column+` IN (`+list+`)`, args...)
	return err
}

// supersedeRequests marks all attempts of some requests.
func supersedeRequests(ctx context.Context, t *db.Txn, run, edit int64, keys []assay.Key) error {
	lanes, err := standingIn(ctx, t, run, keys)
	if err != nil {
		return err
	}
	for i := range lanes {
		if err := state.AddToLane(ctx, t, lanes[i]); err != nil {
			return err
		}
	}
	list, args := db.KeyList(keys, run, edit)
	for _, text := range []string{
		`UPDATE outcomes SET stands = 0, superseded = $2 WHERE (segment_no, ord) IN (SELECT segment_no, ord FROM attempts
			WHERE run_no = $1 AND superseded = 0 AND key IN (` + list + `))`,
		`UPDATE attempts SET superseded = $2 WHERE run_no = $1 AND superseded = 0 AND key IN (` + list + `)`,
	} {
		if _, err := t.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	list, args = db.KeyList(keys, run)
	_, err = t.ExecContext(ctx, `DELETE FROM resends WHERE run_no = $1 AND key IN (`+list+`)`, args...)
	return err
}

// standingIn is what some requests take from the counters of their lanes when nothing stands for them any more. One in flight is
// ErrInFlight.
func standingIn(ctx context.Context, t *db.Txn, run int64, keys []assay.Key) ([]state.LaneDelta, error) {
	list, args := db.KeyList(keys, run)
	rows, err := t.QueryContext(ctx, `SELECT g.stage, g.lane, o.ending, COALESCE(o.cached_tokens, 0) > 0
		AND o.reused_no IS NULL, o.reused_no IS NOT NULL,
		EXISTS (SELECT 1 FROM attempts b JOIN segments h ON h.no = b.segment_no
		WHERE b.run_no = a.run_no AND b.key = a.key AND b.superseded = 0 AND h.state <> 'planned'
			AND NOT EXISTS (SELECT 1 FROM outcomes w WHERE w.segment_no = b.segment_no AND w.ord = b.ord))`+
		read.AnswerTables+`WHERE a.run_no = $1 AND a.key IN (`+list+`) AND g.state <> 'planned' AND`+read.Standing, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []state.LaneDelta
	for rows.Next() {
		var stage, lane string
		var ending sql.NullString
		var hit, reused, open bool
		if err := rows.Scan(&stage, &lane, &ending, &hit, &reused, &open); err != nil {
			return nil, err
		}
		if open || !ending.Valid {
			return nil, fmt.Errorf("a request of lane %s in stage %s: %w", lane, stage, store.ErrInFlight)
		}
		i := slices.IndexFunc(out, func(d state.LaneDelta) bool { return d.Stage == stage && d.Lane == lane })
		if i < 0 {
			i = len(out)
			out = append(out, state.LaneDelta{Run: run, Stage: stage, Lane: lane})
		}
		out[i].Add(assay.Ending(ending.String), -1)
		out[i].Hits[slices.Index(assay.Endings(), assay.Ending(ending.String))] -= db.Flag(hit)
		out[i].Reused -= db.Flag(reused)
	}
	return out, rows.Err()
}
