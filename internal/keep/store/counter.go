package store

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
)

// laneDelta is a change of a lane's counters of requests.
type laneDelta struct {
	run             int64
	stage, lane     string
	open            int64
	n, hits         [9]int64 // in the order of assay.Endings; only the first four can have cache hits
	reused, surplus int64
}

func (d *laneDelta) add(e assay.Ending, n int64) { d.n[slices.Index(assay.Endings(), e)] += n }

// addToLane changes a lane's counters. They count requests: each once, by what stands for it.
func (t *txn) addToLane(ctx context.Context, d laneDelta) error {
	return t.one(ctx, fmt.Errorf("lane %s in stage %s of run %d: %w", d.lane, d.stage, d.run, ErrNotFound),
		`UPDATE lanes SET n_open = n_open + $4, n_answered = n_answered + $5, n_cut = n_cut + $6, n_empty = n_empty + $7,
		n_refused = n_refused + $8, n_rejected = n_rejected + $9, n_errored = n_errored + $10, n_expired = n_expired + $11,
		n_cancelled = n_cancelled + $12, n_lost = n_lost + $13, hits_answered = hits_answered + $14, hits_cut = hits_cut + $15,
		hits_empty = hits_empty + $16, hits_refused = hits_refused + $17, reused = reused + $18, surplus = surplus + $19
		WHERE run_no = $1 AND stage = $2 AND lane = $3`,
		d.run, d.stage, d.lane, d.open, d.n[0], d.n[1], d.n[2], d.n[3], d.n[4], d.n[5], d.n[6], d.n[7], d.n[8],
		d.hits[0], d.hits[1], d.hits[2], d.hits[3], d.reused, d.surplus)
}

// delta is what a block of outcomes changes on its segment and its lane.
type delta struct {
	n     [9]int64 // attempts, in the order of assay.Endings
	cost  assay.Cost
	usage assay.Usage
	mute  int64 // replies that did not say how many tokens they took
	hits  int64
	lane  laneDelta
}

// count adds one outcome. A request that has an answer already does not move in the lane's counters.
func (d *delta) count(o *Settlement, answered bool) {
	out := &o.Outcome
	i := slices.Index(assay.Endings(), out.Ending)
	d.n[i]++
	if o.Cost == nil {
		d.cost.Unknown++
	} else {
		d.cost.Sum += *o.Cost
		d.cost.Priced++
	}
	u := out.Usage
	if o.Reused != 0 {
		u = assay.Usage{} // the other run used them
	} else if !u.Known && (o.Cost == nil || out.Ending.Stands()) {
		d.mute++
	}
	d.usage.Input += u.Input
	d.usage.Cached += u.Cached
	d.usage.Output += u.Output
	d.usage.Reasoning += u.Reasoning
	hit := flag(u.Cached > 0)
	d.hits += hit
	if answered {
		if out.Ending.Stands() {
			d.lane.surplus++
		}
		return
	}
	d.lane.open--
	d.lane.n[i]++
	d.lane.hits[i] += hit
	if o.Reused != 0 {
		d.lane.reused++
	}
}
