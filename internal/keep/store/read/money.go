package read

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// DoubtSum sums the doubts of a run.
func (s *Reader) DoubtSum(ctx context.Context, run int64) (store.DoubtSum, error) {
	var d store.DoubtSum
	err := s.db.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(d.times), 0) AS BIGINT), CAST(COALESCE(SUM(d.times * COALESCE(d.cost_nano, 0)),
		0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN d.cost_nano IS NULL THEN d.times ELSE 0 END), 0) AS BIGINT)
		FROM doubts d JOIN segments g ON g.no = d.segment_no WHERE g.run_no = $1`, run).Scan(&d.Calls, &d.Cost.Sum, &d.Cost.Unknown)
	if err == nil {
		err = s.db.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(lost_creates), 0) AS BIGINT), CAST(COALESCE(SUM(lost_nano), 0) AS BIGINT)
			FROM segments WHERE run_no = $1 AND lost_nano > 0`, run).Scan(&d.Creates, &d.Lost)
	}
	if err != nil {
		return d, fmt.Errorf("sum doubts: %w", err)
	}
	d.Cost.Priced = d.Calls - d.Cost.Unknown
	return d, nil
}

// Doubts walks over the live requests of a run that may be billed twice.
func (s *Reader) Doubts(ctx context.Context, run int64) iter.Seq2[store.Doubtful, error] {
	scan := func(rows *sql.Rows) (d store.Doubtful, err error) {
		var key []byte
		var at int64
		var cause string
		err = rows.Scan(&d.Segment, &d.Ord, &key, &d.Item, &d.Lane, &at, &d.Times, &cause)
		copy(d.Key[:], key)
		d.At, d.Lost = time.UnixMilli(at).UTC(), cause == "reply"
		return d, err
	}
	return db.Walk(ctx, s.db, "read doubts", scan, `SELECT d.segment_no, d.ord, a.key, a.item, g.lane, d.at_ms, d.times, d.cause
		FROM doubts d
		JOIN attempts a ON a.segment_no = d.segment_no AND a.ord = d.ord JOIN segments g ON g.no = d.segment_no
		WHERE g.run_no = $1 ORDER BY d.segment_no, d.ord, d.epoch, d.cause`, run)
}

// Stocks counts the requests with a current answer over some runs, each once, by lane and what its parameters were.
func (s *Reader) Stocks(ctx context.Context, runs []int64) ([]store.Stock, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	args := make([]any, len(runs))
	for i, no := range runs {
		args[i] = no
	}
	scan := func(rows *sql.Rows) (t store.Stock, err error) {
		return t, rows.Scan(&t.Stage, &t.Lane, &t.Provider, &t.Model, &t.Params, &t.Requests)
	}
	var all []store.Stock
	for t, err := range db.Walk(ctx, s.db, "count answers", scan, `SELECT l.stage, l.lane, l.provider, l.model, l.params,
		COUNT(DISTINCT o.key) FROM lanes l
		JOIN segments g ON g.run_no = l.run_no AND g.stage = l.stage AND g.lane = l.lane
		JOIN outcomes o ON o.segment_no = g.no AND o.stands = 1
		WHERE l.run_no IN (`+db.Placeholders(1, len(args))+`) GROUP BY l.stage, l.lane, l.provider, l.model, l.params`, args...) {
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Spending sums what a run has cost by now, lane by lane. What was imported was paid elsewhere, and is no part of it.
func (s *Reader) Spending(ctx context.Context, run int64) ([]store.Spending, error) {
	rows, err := s.db.Query(ctx, `SELECT stage, lane, CAST(SUM(CASE WHEN imported = '' THEN cost_nano ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN imported = '' THEN cost_priced ELSE 0 END) AS BIGINT), CAST(SUM(CASE WHEN imported = '' THEN cost_unknown
		ELSE 0 END) AS BIGINT)
		FROM segments WHERE run_no = $1 GROUP BY stage, lane ORDER BY stage, lane`, run)
	if err != nil {
		return nil, fmt.Errorf("read the spending: %w", err)
	}
	defer rows.Close()
	var all []store.Spending
	for rows.Next() {
		var p store.Spending
		if err := rows.Scan(&p.Stage, &p.Lane, &p.Cost.Sum, &p.Cost.Priced, &p.Cost.Unknown); err != nil {
			return nil, fmt.Errorf("read the spending: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// DayBills reads what a provider's answers cost by day and model: of one run, or of all runs and of a gateway's live calls where
// run is 0. The day of an answer in a batch is the day on which its job ended. Answers of jobs that were adopted were billed, too; those
// that were taken over from another run were billed there.
func (p *Pages) DayBills(ctx context.Context, provider string, run int64) ([]store.DayBill, error) {
	scan := func(rows *sql.Rows) (b store.DayBill, err error) {
		var day int64
		err = rows.Scan(&day, &b.Model, &b.Cost.Sum, &b.Cost.Priced, &b.Cost.Unknown, &b.Input, &b.Output, &b.Mute)
		b.Day = time.Unix(day*24*60*60, 0).UTC().Format(time.DateOnly)
		return b, err
	}
	var all []store.DayBill
	for b, err := range db.Walk(ctx, p.db, "sum bills by day", scan, `SELECT day, model, CAST(SUM(COALESCE(cost, 0)) AS BIGINT),
		CAST(COUNT(cost) AS BIGINT), CAST(COUNT(*) - COUNT(cost) AS BIGINT), CAST(SUM(COALESCE(input, 0)) AS BIGINT),
		CAST(SUM(COALESCE(output, 0)) AS BIGINT), CAST(SUM(CASE WHEN input IS NULL AND (cost IS NULL OR cost > 0) THEN 1 ELSE 0 END) AS BIGINT)
		FROM (SELECT COALESCE(CASE WHEN g.mode = 'batch' THEN g.ended_ms END, o.at_ms) / 86400000 AS day,
				CASE WHEN o.model = '' THEN g.model ELSE o.model END AS model, o.cost_nano AS cost, o.input_tokens AS input,
				o.output_tokens AS output
			FROM segments g JOIN outcomes o ON o.segment_no = g.no
			WHERE g.provider = $1 AND g.imported = '' AND o.reused_no IS NULL AND ($2 = 0 OR g.run_no = $2)
			UNION ALL
			SELECT ended_ms / 86400000, model, cost_nano, input_tokens, output_tokens FROM client_calls
			WHERE provider = $1 AND $2 = 0 AND ended_ms IS NOT NULL) billed
		GROUP BY day, model ORDER BY day, model`, provider, run) {
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// Paid reads what single requests of a lane in a stage have cost: those that were asked, and those that were taken over where they were
// paid for.
func (s *Reader) Paid(ctx context.Context, run int64, stage, lane string) (store.Paid, error) {
	var p store.Paid
	err := s.db.QueryRow(ctx, `SELECT COUNT(*), CAST(COALESCE(SUM(nano), 0) AS BIGINT), COALESCE(MIN(nano), 0), COALESCE(MAX(nano), 0)
		FROM (SELECT CASE WHEN o.reused_no IS NULL THEN o.cost_nano ELSE o.price_nano END AS nano
			FROM segments g JOIN outcomes o ON o.segment_no = g.no
			WHERE g.run_no = $1 AND g.stage = $2 AND g.lane = $3 AND (g.mode IN ('batch', 'live') OR o.reused_no IS NOT NULL)) AS paid
		WHERE nano IS NOT NULL`,
		run, stage, lane).Scan(&p.N, &p.Sum, &p.Least, &p.Most)
	if err != nil {
		return p, fmt.Errorf("read what lane %s has cost: %w", lane, err)
	}
	return p, nil
}

// CurrentAnswers walks over the requests of a run that have an answer.
func (s *Reader) CurrentAnswers(ctx context.Context, run int64) iter.Seq2[store.CurrentAnswer, error] {
	scan := func(rows *sql.Rows) (a store.CurrentAnswer, err error) {
		var key []byte
		a.Run = run
		err = rows.Scan(scanAt(&a.At, &key, &a.Digest, &a.Lane, &a.Provider, &a.Model, &a.Params, &a.Reused)...)
		copy(a.Key[:], key)
		return a, err
	}
	return db.Walk(ctx, s.db, "read answers", scan, `SELECT a.key, a.digest, g.lane, g.provider, g.model, l.params,
		COALESCE(o.reused_no, 0), `+atColumns+` FROM attempts a JOIN segments g ON g.no = a.segment_no
		JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord AND o.stands = 1
		JOIN lanes l ON l.run_no = g.run_no AND l.stage = g.stage AND l.lane = g.lane
		WHERE a.run_no = $1 ORDER BY a.segment_no, a.ord`, run)
}
