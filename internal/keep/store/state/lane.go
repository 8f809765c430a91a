package state

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// laneDelta is a change of a lane's counters of requests.
type LaneDelta struct {
	Run             int64
	Stage, Lane     string
	Open            int64
	N, Hits         [9]int64 // in the order of assay.Endings; only the first four can have cache hits
	Reused, Surplus int64
	Unread          int64
}

func (d *LaneDelta) Add(e assay.Ending, n int64) { d.N[slices.Index(assay.Endings(), e)] += n }

// AddToLane changes a lane's counters. They count requests: each once, by its current outcome.
func AddToLane(ctx context.Context, t *db.Txn, d LaneDelta) error {
	return t.One(ctx, fmt.Errorf("lane %s in stage %s of run %d: %w", d.Lane, d.Stage, d.Run, store.ErrNotFound),
		`UPDATE lanes SET n_open = n_open + $4, n_answered = n_answered + $5, n_cut = n_cut + $6, n_empty = n_empty + $7,
		n_refused = n_refused + $8, n_rejected = n_rejected + $9, n_errored = n_errored + $10, n_expired = n_expired + $11,
		n_cancelled = n_cancelled + $12, n_lost = n_lost + $13, hits_answered = hits_answered + $14, hits_cut = hits_cut + $15,
		hits_empty = hits_empty + $16, hits_refused = hits_refused + $17, reused = reused + $18, surplus = surplus + $19,
		n_unread = n_unread + $20
		WHERE run_no = $1 AND stage = $2 AND lane = $3`,
		d.Run, d.Stage, d.Lane, d.Open, d.N[0], d.N[1], d.N[2], d.N[3], d.N[4], d.N[5], d.N[6], d.N[7], d.N[8],
		d.Hits[0], d.Hits[1], d.Hits[2], d.Hits[3], d.Reused, d.Surplus, d.Unread)
}

// addPlanned adds requests to what lanes of a run are to be asked.
func AddPlanned(ctx context.Context, t *db.Txn, run int64, adds []store.Share) error {
	for _, a := range adds {
		err := t.One(ctx, fmt.Errorf("lane %s in stage %s of run %d: %w", a.Lane, a.Stage, run, store.ErrNotFound),
			`UPDATE lanes SET planned = planned + $4 WHERE run_no = $1 AND stage = $2 AND lane = $3`, run, a.Stage, a.Lane, a.Requests)
		if err != nil {
			return err
		}
	}
	return nil
}
