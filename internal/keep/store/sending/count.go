package sending

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// delta is the change that a block of outcomes makes to its segment and its lane.
type delta struct {
	n     [9]int64 // attempts, in the order of assay.Endings
	cost  assay.Cost
	usage assay.Usage
	mute  int64 // replies that did not report their tokens
	taken store.Taken
	hits  int64
	lane  state.LaneDelta
}

// count adds one outcome. A request that has an answer already does not move in the lane's counters.
func (d *delta) count(o *store.Settlement, answered bool) {
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
		d.take(o)
		u = assay.Usage{} // the other run used them
	} else if !u.Known && (o.Cost == nil || out.Ending.Stands()) {
		d.mute++
	}
	d.usage = d.usage.Add(u)
	hit := db.Flag(u.Cached > 0)
	d.hits += hit
	if answered {
		if out.Ending.Stands() {
			d.lane.Surplus++
		}
		return
	}
	d.lane.Open--
	d.lane.N[i]++
	d.lane.Hits[i] += hit
	d.lane.Unread += db.Flag(o.Unread)
	if o.Reused != 0 {
		d.lane.Reused++
	}
}

// take adds an answer of another run.
func (d *delta) take(o *store.Settlement) {
	if o.Price == nil {
		d.taken.Unpriced++
	} else {
		d.taken.Cost += *o.Price
	}
	u := o.Outcome.Usage
	d.taken.Mute += db.Flag(!u.Known)
	d.taken.Input, d.taken.Cached, d.taken.Output = d.taken.Input+u.Input, d.taken.Cached+u.Cached, d.taken.Output+u.Output
}
