package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/ratelimit"
)

// quota is a cap of the study on an account or on a lane. What all workers share of it is leased from the ledger.
type quota struct {
	scope   string
	lane    bool // of a lane of one run, and not of an account
	caps    ratelimit.Caps
	flying  int
	slots   ratelimit.Slots
	purse   ratelimit.TokenBudget
	has     int       // its share of the requests in flight
	asked   time.Time // when it last asked for its share
	leasing bool      // a goroutine is at the ledger for it
	served  int64     // when it was last served, as the queue counts
}

// lease is something that has to be leased from the ledger.
type lease struct {
	quota  *quota
	share  bool    // of the requests in flight
	tokens float64 // more than 0: so many of them; otherwise moments to send
}

// shareAgain is how long to wait before asking for a larger share again.
const shareAgain = time.Second

// look returns how long a request has to wait for this cap, or what has to be leased for it.
func (q *quota) look(now time.Time, load ratelimit.Load) (time.Duration, *lease) {
	if q.caps.Concurrency > 0 && q.flying >= min(q.has, q.caps.Concurrency) {
		if q.flying >= q.caps.Concurrency {
			return ratelimit.Release, nil
		}
		if again := q.asked.Add(shareAgain).Sub(now); !q.asked.IsZero() && again > 0 {
			return again, nil
		}
		return ratelimit.Release, &lease{quota: q, share: true}
	}
	if q.caps.Every() > 0 {
		wait, ok := q.slots.Wait(now)
		if !ok {
			return ratelimit.Release, &lease{quota: q}
		}
		if wait > 0 {
			return wait, nil
		}
	}
	if q.caps.Tokens > 0 {
		wait, missing := q.purse.Wait(now, load.Input+load.Output)
		if missing > 0 {
			return ratelimit.Release, &lease{quota: q, tokens: missing}
		}
		return wait, nil
	}
	return 0, nil
}

func (q *quota) send(load ratelimit.Load) {
	q.flying++
	if q.caps.Every() > 0 {
		q.slots.Take()
	}
	if q.caps.Tokens > 0 {
		q.purse.Spend(load.Input + load.Output)
	}
}

func (q *quota) back(load ratelimit.Load, used float64) {
	q.flying--
	if q.caps.Tokens > 0 && used > 0 {
		q.purse.Spend(used - load.Input - load.Output)
	}
}

// moments names the moments at which requests may go. A lane's have another name at every rate: one that was slow has leased
// moments far ahead, and none of them count when it may be faster.
func (q *quota) moments(caps ratelimit.Caps) string {
	if q.lane {
		return fmt.Sprintf("%s requests, every %s", q.scope, caps.Every())
	}
	return q.scope + " requests"
}

// leaseAhead is for how long moments and tokens are leased at a time.
const leaseAhead = 500 * time.Millisecond

// borrow leases something from the ledger. The queue is open meanwhile.
func (d *accountQueue) borrow(ctx context.Context, l *lease) error {
	q := l.quota
	q.leasing = true
	caps, flying := q.caps, q.flying
	d.mu.Unlock()
	e := d.engine
	var add func(now time.Time)
	var err error
	switch {
	case l.share:
		var has int64
		has, err = e.Ledger.Portion(ctx, store.Portion{Scope: q.scope + " in flight", Holder: e.Holder, Cap: int64(caps.Concurrency),
			Uses: int64(flying), Wants: int64(caps.Concurrency), For: e.Timing.Lease})
		add = func(now time.Time) { q.has, q.asked = int(has), now }
	case l.tokens > 0:
		n := math.Ceil(max(l.tokens, caps.Tokens*leaseAhead.Seconds()))
		var wait time.Duration
		wait, err = e.Ledger.Lease(ctx, q.scope+" tokens", time.Duration(n/caps.Tokens*float64(time.Second)), 1)
		add = func(now time.Time) { q.purse.Add(now.Add(wait), n) }
	default:
		n := max(int64(leaseAhead/caps.Every()), 1)
		var wait time.Duration
		wait, err = e.Ledger.Lease(ctx, q.moments(caps), caps.Every(), n)
		add = func(now time.Time) { q.slots.Add(now.Add(wait), caps.Every(), int(n)) }
	}
	d.mu.Lock()
	q.leasing = false
	if err != nil {
		return err
	}
	add(e.Clock.Now())
	d.pump()
	return nil
}

// keepShares renews the shares of what is in flight, and gives back those of what is not.
func (e *Engine) keepShares(ctx context.Context) error {
	e.mu.Lock()
	var all []*accountQueue
	for _, d := range e.queues {
		all = append(all, d)
	}
	e.mu.Unlock()
	var err error
	for _, d := range all {
		err = errors.Join(err, d.keepShares(ctx))
	}
	return err
}

func (d *accountQueue) keepShares(ctx context.Context) error {
	d.mu.Lock()
	var held []*quota
	for _, q := range d.lanes {
		held = append(held, q)
	}
	held = append(held, d.whole)
	waits := map[*quota]bool{d.whole: len(d.line) > 0}
	for _, w := range d.line {
		waits[w.lane] = true
	}
	var asks []store.Portion
	var of []*quota
	for _, q := range held {
		if q.caps.Concurrency == 0 || q.has+q.flying == 0 && q.asked.IsZero() || q.leasing { // a share that was given up may still stand in the ledger
			continue
		}
		s := store.Portion{Scope: q.scope + " in flight", Holder: d.engine.Holder, Cap: int64(q.caps.Concurrency), Uses: int64(q.flying), Wants: int64(q.flying), For: d.engine.Timing.Lease}
		if waits[q] {
			s.Wants = s.Cap
		}
		q.leasing = true
		asks, of = append(asks, s), append(of, q)
	}
	d.mu.Unlock()
	var failed error
	for i, s := range asks {
		has, err := d.engine.Ledger.Portion(ctx, s)
		failed = errors.Join(failed, err)
		d.mu.Lock()
		of[i].leasing = false
		if err == nil {
			of[i].has = int(has)
			if s.Wants < s.Cap { // what was given back may be asked for at once
				of[i].asked = time.Time{}
			}
		}
		d.pump()
		d.mu.Unlock()
	}
	return failed
}
