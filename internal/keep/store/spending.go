package store

import (
	"context"
	"fmt"

	"assay/internal/assay"
)

// Spending is what a lane has cost in a stage by now, requests in flight included as far as they came back.
type Spending struct {
	Stage, Lane string
	Cost        assay.Cost
}

// Spending sums what a run has cost by now, lane by lane. What was imported was paid elsewhere, and is no part of it.
func (s *Reader) Spending(ctx context.Context, run int64) ([]Spending, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT stage, lane, CAST(SUM(CASE WHEN imported = '' THEN cost_nano ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN imported = '' THEN cost_priced ELSE 0 END) AS BIGINT), CAST(SUM(CASE WHEN imported = '' THEN cost_unknown ELSE 0 END) AS BIGINT)
		FROM segments WHERE run_no = $1 GROUP BY stage, lane ORDER BY stage, lane`, run)
	if err != nil {
		return nil, fmt.Errorf("read the spending: %w", err)
	}
	defer rows.Close()
	var all []Spending
	for rows.Next() {
		var p Spending
		if err := rows.Scan(&p.Stage, &p.Lane, &p.Cost.Sum, &p.Cost.Priced, &p.Cost.Unknown); err != nil {
			return nil, fmt.Errorf("read the spending: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// Paid is what single requests of a lane have cost.
type Paid struct {
	N                int64 // requests with a price
	Sum, Least, Most assay.Money
}

// Paid reads what single requests of a lane in a stage have cost a run: those that were asked, not taken over.
func (s *Reader) Paid(ctx context.Context, run int64, stage, lane string) (Paid, error) {
	var p Paid
	err := s.read.QueryRowContext(ctx, `SELECT COUNT(*), CAST(COALESCE(SUM(o.cost_nano), 0) AS BIGINT), COALESCE(MIN(o.cost_nano), 0), COALESCE(MAX(o.cost_nano), 0)
		FROM segments g JOIN outcomes o ON o.segment_no = g.no
		WHERE g.run_no = $1 AND g.stage = $2 AND g.lane = $3 AND g.mode IN ('batch', 'live') AND o.cost_nano IS NOT NULL`, run, stage, lane).Scan(&p.N, &p.Sum, &p.Least, &p.Most)
	if err != nil {
		return p, fmt.Errorf("read what lane %s has cost: %w", lane, err)
	}
	return p, nil
}
