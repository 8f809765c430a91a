package read

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Troubles returns the first segments of a run that are under way and have one.
func (s *Pages) Troubles(ctx context.Context, run int64, limit int) ([]store.Trouble, error) {
	return db.Collect(db.Walk(ctx, s.db, "read troubles", scanTrouble, `SELECT no, stage, lane, state, provider, reason, still_ms,
		CASE WHEN holder IS NULL THEN due_ms END, wait_ms FROM segments
		WHERE run_no = $1 AND reason <> '' AND state NOT IN ('settled', 'failed', 'cancelled') ORDER BY no LIMIT CAST($2 AS BIGINT)`,
		run, limit))
}

func scanTrouble(rows *sql.Rows) (store.Trouble, error) {
	var g store.Trouble
	var still, due, wait sql.NullInt64
	err := rows.Scan(&g.Segment, &g.Stage, &g.Lane, &g.State, &g.Provider, &g.Reason, &still, &due, &wait)
	g.Still, g.Due, g.Wait = db.FromMillis(still), db.FromMillis(due), db.FromMillis(wait)
	return g, err
}

// JobsPage reads at most limit jobs, newest first: the failed ones and the doubles too. Limit 0: all. Jobs are few beside
// requests: nothing else is walked over.
func (s *Pages) JobsPage(ctx context.Context, f store.JobFilter, limit int) ([]store.RunJob, error) {
	if limit <= 0 {
		limit = 1 << 31
	}
	jobs, err := db.Collect(db.Walk(ctx, s.db, "read jobs", scanJob, `SELECT j.provider, j.job, j.segment_no, j.account, j.role,
		j.created_ms
		FROM jobs j JOIN segments g ON g.no = j.segment_no JOIN runs r ON r.no = g.run_no
		WHERE ($1 = 0 OR g.run_no = $1) AND ($2 = '' OR j.provider = $2) AND ($3 = '' OR r.study = $3)
		AND ($5 = '' OR j.job = $5)`+openJobs(f)+`
		ORDER BY j.segment_no DESC, j.created_ms DESC, j.job DESC LIMIT CAST($4 AS BIGINT)`, f.Run, f.Provider, f.Study, limit, f.Job))
	if err != nil {
		return nil, err
	}
	return s.placed(ctx, jobs)
}

// openJobs returns the part of the condition that selects open jobs.
func openJobs(f store.JobFilter) string {
	const open = `(j.role = 'current' AND g.state NOT IN ('settled', 'failed', 'cancelled'))`
	switch {
	case f.Open:
		return ` AND ` + open
	case f.Ended:
		return ` AND NOT ` + open
	}
	return ``
}

// placed adds segments and runs to jobs.
func (s *Pages) placed(ctx context.Context, jobs []store.Job) ([]store.RunJob, error) {
	out := make([]store.RunJob, len(jobs))
	known, runs := map[int64]store.Segment{}, map[int64]store.Run{}
	const block = 500
	for some := range slices.Chunk(jobs, block) {
		var numbered []int64
		for _, j := range some {
			numbered = append(numbered, j.Segment)
		}
		all, err := segments(ctx, s.db, `WHERE no IN (`+db.Numbers(numbered)+`)`)
		if err != nil {
			return nil, fmt.Errorf("read jobs: %w", err)
		}
		for _, g := range all {
			known[g.No] = g
		}
	}
	for i, j := range jobs {
		g := known[j.Segment]
		if _, have := runs[g.Run]; !have {
			run, err := s.reader.Run(ctx, g.Run)
			if err != nil {
				return nil, err
			}
			runs[g.Run] = run
		}
		out[i] = store.RunJob{Job: j, Part: g, Run: runs[g.Run]}
	}
	return out, nil
}

// Spans reads the newest segments of a run, oldest first, at most limit.
func (s *Pages) Spans(ctx context.Context, run int64, limit int) ([]store.Span, error) {
	return db.Collect(db.Walk(ctx, s.db, "read spans", scanSpan, `SELECT no, stage, lane, mode, state, requests, created_ms, launched_ms,
		COALESCE(ended_ms, CASE WHEN mode <> 'batch' THEN settled_ms END), settled_ms,
		CASE WHEN imported = '' THEN cost_nano ELSE 0 END, CASE WHEN imported = '' THEN cost_priced ELSE 0 END,
		CASE WHEN imported = '' THEN cost_unknown ELSE 0 END
		FROM (SELECT * FROM segments WHERE run_no = $1 AND state <> 'planned' ORDER BY no DESC LIMIT CAST($2 AS BIGINT)) AS g ORDER BY no`,
		run, limit))
}

func scanSpan(rows *sql.Rows) (store.Span, error) {
	var g store.Span
	var created, launched, ended, settled sql.NullInt64
	err := rows.Scan(&g.No, &g.Stage, &g.Lane, &g.Mode, &g.State, &g.Requests, &created, &launched, &ended, &settled, &g.Cost.Sum,
		&g.Cost.Priced, &g.Cost.Unknown)
	g.Created, g.Launched, g.Ended, g.Settled = db.FromMillis(created), db.FromMillis(launched), db.FromMillis(ended),
		db.FromMillis(settled)
	return g, err
}

// Causes reads why requests of a run have no answer, the most frequent first.
func (s *Pages) Causes(ctx context.Context, run int64, limit int) ([]store.Cause, error) {
	return db.Collect(db.Walk(ctx, s.db, "read causes", scanCause, `SELECT g.stage, g.lane, o.ending, COALESCE(o.fault_class, ''),
		COALESCE(o.fault_status, 0),
		COALESCE(o.fault_code, ''), COALESCE(MIN(o.fault_message), MIN(o.finish), ''), COUNT(*), MIN(a.item)
		FROM outcomes o JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord JOIN segments g ON g.no = o.segment_no
		WHERE o.run_no = $1 AND o.stands = 0 AND o.surplus = 0
		AND NOT `+db.Answered("a")+`
		AND NOT EXISTS (SELECT 1 FROM attempts b WHERE `+db.SameRequest("b", "a")+` AND b.try > a.try)
		AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late > o.late)
		GROUP BY g.stage, g.lane, o.ending, o.fault_class, o.fault_status, o.fault_code
		ORDER BY 8 DESC, 1, 2, 3, 6 LIMIT CAST($2 AS BIGINT)`, run, limit))
}

func scanCause(rows *sql.Rows) (store.Cause, error) {
	var c store.Cause
	err := rows.Scan(&c.Stage, &c.Lane, &c.Ending, &c.Class, &c.Status, &c.Code, &c.Message, &c.Count, &c.Item)
	return c, err
}

// ArtifactsOf reads the files of a run in the order they came.
func (s *Pages) ArtifactsOf(ctx context.Context, run int64) ([]store.Artifact, error) {
	scan := func(rows *sql.Rows) (a store.Artifact, err error) {
		return a, rows.Scan(&a.No, &a.Name, &a.Kind, &a.Part, &a.Size, &a.SHA256, &a.Replaced)
	}
	return db.Collect(db.Walk(ctx, s.db, "read artifacts", scan, `SELECT a.no, a.name, a.kind, a.part, a.bytes, a.sha256,
		g.refetches > 0
		AND EXISTS (SELECT 1 FROM artifacts n WHERE n.segment_no = g.no AND n.kind = a.kind AND n.part = a.part AND n.no > a.no)
		AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = g.no AND o.artifact_no = a.no)
		AND NOT EXISTS (SELECT 1 FROM strays t WHERE t.segment_no = g.no AND t.artifact_no = a.no)
		FROM artifacts a JOIN segments g ON g.no = a.segment_no WHERE g.run_no = $1 ORDER BY a.no`, run))
}
