package read

import (
	"context"
	"database/sql"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// tookOf sums what answers took, by run, stage, lane and turn. Prompts count where each of a segment was answered, and so
// billed.
const tookOf = `SELECT t.*, CASE WHEN EXISTS (SELECT 1 FROM attempts a WHERE a.segment_no = t.first AND a.ord = 0 AND a.judge <> '')
	THEN 1 ELSE 0 END FROM (
	SELECT r.no, r.study, g.stage, g.lane, g.provider, g.model, l.params, g.turn,
	CAST(SUM(` + reported + `) AS BIGINT) AS answers, CAST(SUM(g.input_tokens) AS BIGINT) AS input,
	CAST(SUM(g.output_tokens) AS BIGINT) AS output, CAST(SUM(g.reasoning_tokens) AS BIGINT) AS reasoning,
	CAST(SUM(CASE WHEN ` + reported + ` = g.requests THEN g.tokens ELSE 0 END) AS BIGINT) AS prompts,
	CAST(SUM(CASE WHEN ` + reported + ` = g.requests AND g.tokens > 0 THEN g.input_tokens ELSE 0 END) AS BIGINT) AS counted,
	MIN(g.no) AS first
	FROM segments g JOIN runs r ON r.no = g.run_no JOIN lanes l ON l.run_no = g.run_no AND l.stage = g.stage AND l.lane = g.lane
	WHERE g.mode IN ('batch', 'live') AND g.imported = '' AND g.output_tokens > 0 AND `

const (
	reported = `(g.n_answered + g.n_cut + g.n_empty + g.n_refused - g.usage_unknown)`
	tookBy   = ` GROUP BY r.no, r.study, g.stage, g.lane, g.provider, g.model, l.params, g.turn) t
		ORDER BY t.no, t.stage, t.lane, t.turn`
)

// Took reads what the answers of a run took until now: those of a lane in a stage, or all where none is named.
func (s *Reader) Took(ctx context.Context, run int64, stage, lane string) ([]store.Took, error) {
	if stage == "" {
		return s.took(ctx, `g.run_no = $1`, run)
	}
	return s.took(ctx, `g.run_no = $1 AND g.stage = $2 AND g.lane = $3`, run, stage, lane)
}

// TookAll reads what the answers of some models took in all runs, or in all rehearsals.
func (s *Reader) TookAll(ctx context.Context, rehearsals bool, models []string) ([]store.Took, error) {
	if len(models) == 0 {
		return nil, nil
	}
	args := []any{db.Flag(rehearsals)}
	for _, m := range models {
		args = append(args, m)
	}
	return s.took(ctx, `r.rehearsal = $1 AND g.model IN (`+db.Placeholders(2, len(args))+`)`, args...)
}

func (s *Reader) took(ctx context.Context, where string, args ...any) ([]store.Took, error) {
	scan := func(rows *sql.Rows) (t store.Took, err error) {
		var first int64
		var judged int
		err = rows.Scan(&t.Run, &t.Study, &t.Stage, &t.Lane, &t.Provider, &t.Model, &t.Params, &t.Turn, &t.Answers, &t.Input, &t.Output,
			&t.Reasoning, &t.Bytes, &t.Counted, &first, &judged)
		t.Judged, t.Bytes = judged == 1, t.Bytes*store.BytesPerToken
		return t, err
	}
	var all []store.Took
	for t, err := range db.Walk(ctx, s.db, "read what answers took", scan, tookOf+where+tookBy, args...) {
		if err != nil {
			return nil, err
		}
		if t.Answers > 0 {
			all = append(all, t)
		}
	}
	return all, nil
}
