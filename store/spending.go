package store

import (
	"context"
	"fmt"

	"assay"
)

// Spending is what a lane has cost in a stage by now, requests in flight included as far as they came home.
type Spending struct {
	Stage, Lane string
	Cost        assay.Cost
}

// Spending sums what a run has cost by now, lane by lane.
func (s *Reader) Spending(ctx context.Context, run int64) ([]Spending, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT stage, lane, CAST(SUM(cost_nano) AS BIGINT), CAST(SUM(cost_priced) AS BIGINT), CAST(SUM(cost_unknown) AS BIGINT)
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
