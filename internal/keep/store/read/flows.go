package read

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// at returns the flow of a lane, made where it is not there yet.
func (f flows) at(run int64, stage, lane string) *store.Flow {
	k := flowKey{run, stage, lane}
	if f[k] == nil {
		f[k] = &store.Flow{Run: run, Stage: stage, Lane: lane}
	}
	return f[k]
}

type flowKey struct {
	run         int64
	stage, lane string
}

type flows map[flowKey]*store.Flow

// Flows reads where the open requests of runs are, in no order. Lanes of which nothing was ever made are not among them.
func (s *Pages) Flows(ctx context.Context, runs []int64) ([]store.Flow, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	all, in := flows{}, ` IN (`+db.Numbers(runs)+`) `
	err := s.db.Each(ctx, all.open, `SELECT run_no, stage, lane,
		CAST(SUM(CASE WHEN state IN ('staged', 'uploaded') THEN `+notDone+` ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN mode = 'batch' AND state IN ('intended', 'launched', 'ended', 'fetched') THEN `+notDone+` ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN mode <> 'batch' AND state = 'launched' THEN `+notDone+` ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN state = 'held' THEN `+notDone+` ELSE 0 END) AS BIGINT),
		MIN(CASE WHEN mode <> 'reuse' AND imported = '' THEN launched_ms END),
		MIN(CASE WHEN mode = 'batch' AND state IN ('launched', 'ended') THEN launched_ms END),
		MAX(CASE WHEN state NOT IN ('settled', 'failed', 'cancelled', 'held') THEN wait_ms END),
		MAX(progress_ms), MAX(launched_ms), MAX(ended_ms), MAX(settled_ms)
		FROM segments WHERE run_no`+in+`AND state <> 'planned' GROUP BY run_no, stage, lane`)
	if err == nil {
		err = s.db.Each(ctx, all.jobs, `SELECT run_no, stage, lane, requests, n_answered + n_cut + n_empty + n_refused, job_counts
			FROM segments
			WHERE run_no`+in+`AND state IN ('launched', 'ended', 'fetched') AND job_counts IS NOT NULL`)
	}
	if err == nil {
		err = s.db.Each(ctx, all.again, `SELECT g.run_no, g.stage, g.lane, COUNT(*) FROM resends r JOIN segments g ON g.no = r.segment_no
			WHERE r.run_no`+in+`GROUP BY g.run_no, g.stage, g.lane`)
	}
	if err != nil {
		return nil, fmt.Errorf("read where requests are: %w", err)
	}
	out := make([]store.Flow, 0, len(all))
	for _, f := range all {
		out = append(out, *f)
	}
	return out, nil
}

// notDone is how many requests of a segment have no outcome.
const notDone = `requests - n_answered - n_cut - n_empty - n_refused - n_rejected - n_errored - n_expired - n_cancelled - n_lost`

func (f flows) open(rows *sql.Rows) error {
	var k flowKey
	var staged, away, live, held int64
	var first, since, wait, progress, launched, ended, settled sql.NullInt64
	if err := rows.Scan(&k.run, &k.stage, &k.lane, &staged, &away, &live, &held, &first, &since, &wait, &progress, &launched, &ended,
		&settled); err != nil {
		return err
	}
	at := f.at(k.run, k.stage, k.lane)
	at.Staged, at.Away, at.Live, at.Held = staged, away, live, held
	at.First, at.Since, at.Wait = db.FromMillis(first), db.FromMillis(since), db.FromMillis(wait)
	for _, t := range []sql.NullInt64{progress, launched, ended, settled} {
		if at.Progress.Before(db.FromMillis(t)) {
			at.Progress = db.FromMillis(t)
		}
	}
	return nil
}

func (f flows) jobs(rows *sql.Rows) error {
	var k flowKey
	var j store.JobCount
	if err := rows.Scan(&k.run, &k.stage, &k.lane, &j.Requests, &j.Here, &j.Counts); err != nil {
		return err
	}
	at := f.at(k.run, k.stage, k.lane)
	at.Jobs = append(at.Jobs, j)
	return nil
}

func (f flows) again(rows *sql.Rows) error {
	var k flowKey
	var n int64
	if err := rows.Scan(&k.run, &k.stage, &k.lane, &n); err != nil {
		return err
	}
	f.at(k.run, k.stage, k.lane).Again = n
	return nil
}

// JobTimes reads how long jobs took that ended since a moment: those of rehearsals, or all others.
func (s *Pages) JobTimes(ctx context.Context, rehearsals bool, since time.Time) ([]store.JobTime, error) {
	scan := func(rows *sql.Rows) (t store.JobTime, err error) {
		var took int64
		err = rows.Scan(&t.Provider, &t.Model, &took)
		t.Took = time.Duration(took) * time.Millisecond
		return t, err
	}
	var all []store.JobTime
	for t, err := range db.Walk(ctx, s.db, "read how long jobs took", scan, `SELECT g.provider, g.model, g.ended_ms - g.launched_ms
		FROM segments g JOIN runs r ON r.no = g.run_no
		WHERE g.mode = 'batch' AND g.state = 'settled' AND g.ended_ms >= $1 AND g.launched_ms <= g.ended_ms AND r.rehearsal = $2
		ORDER BY g.no`, since.UnixMilli(), db.Flag(rehearsals)) {
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}
