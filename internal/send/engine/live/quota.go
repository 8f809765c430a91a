package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/ratelimit"
)

// quota is a cap of the study on an account or on a lane. What all workers share of it is leased from the ledger.
type quota struct {
	scope    string
	lane     bool // of a lane of one run, and not of an account
	caps     ratelimit.Caps
	inFlight int
	slots    ratelimit.Slots
	tokens   ratelimit.TokenBudget
	has      int       // its share of the requests in flight
	asked    time.Time // when it last asked for its share
	leasing  bool      // a goroutine is at the ledger for it
	served   int64     // when it was last served, as the queue counts
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
	if q.caps.Concurrency > 0 && q.inFlight >= min(q.has, q.caps.Concurrency) {
		if q.inFlight >= q.caps.Concurrency {
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
		wait, missing := q.tokens.Wait(now, load.Input+load.Output)
		if missing > 0 {
			return ratelimit.Release, &lease{quota: q, tokens: missing}
		}
		return wait, nil
	}
	return 0, nil
}

func (q *quota) send(load ratelimit.Load) {
	q.inFlight++
	if q.caps.Every() > 0 {
		q.slots.Take()
	}
	if q.caps.Tokens > 0 {
		q.tokens.Spend(load.Input + load.Output)
	}
}

func (q *quota) back(load ratelimit.Load, used float64) {
	q.inFlight--
	if q.caps.Tokens > 0 && used > 0 {
		q.tokens.Spend(used - load.Input - load.Output)
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
	caps, inFlight := q.caps, q.inFlight
	d.mu.Unlock()
	e := d.from
	var add func(now time.Time)
	var err error
	switch {
	case l.share:
		var has int64
		has, err = e.Ledger.Limits.Share(ctx, store.CapShare{Scope: q.scope + " in flight", Holder: e.Holder, Cap: int64(caps.Concurrency),
			Uses: int64(inFlight), Wants: int64(caps.Concurrency), For: e.Timing.Lease})
		add = func(now time.Time) { q.has, q.asked = int(has), now }
	case l.tokens > 0:
		n := math.Ceil(max(l.tokens, caps.Tokens*leaseAhead.Seconds()))
		var wait time.Duration
		wait, err = e.Ledger.Limits.Lease(ctx, q.scope+" tokens", time.Duration(n/caps.Tokens*float64(time.Second)), 1)
		add = func(now time.Time) { q.tokens.Add(now.Add(wait), n) }
	default:
		n := max(int64(leaseAhead/caps.Every()), 1)
		var wait time.Duration
		wait, err = e.Ledger.Limits.Lease(ctx, q.moments(caps), caps.Every(), n)
		add = func(now time.Time) { q.slots.Add(now.Add(wait), caps.Every(), int(n)) }
	}
	d.mu.Lock()
	q.leasing = false
	if err != nil {
		return err
	}
	add(e.Own())
	d.pump()
	return nil
}

// KeepShares renews the shares of what is in flight, and gives back those of what is not.
func (s *Queues) KeepShares(ctx context.Context) error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.all))
	s.mu.Unlock()
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
	var asks []store.CapShare
	var of []*quota
	for _, q := range held {
		// a share that was given up may still be in the ledger
		if q.caps.Concurrency == 0 || q.has+q.inFlight == 0 && q.asked.IsZero() || q.leasing {
			continue
		}
		s := store.CapShare{Scope: q.scope + " in flight", Holder: d.from.Holder, Cap: int64(q.caps.Concurrency), Uses: int64(q.inFlight),
			Wants: int64(q.inFlight), For: d.from.Timing.Lease}
		if waits[q] {
			s.Wants = s.Cap
		}
		q.leasing = true
		asks, of = append(asks, s), append(of, q)
	}
	d.mu.Unlock()
	var failed error
	for i, s := range asks {
		has, err := d.from.Ledger.Limits.Share(ctx, s)
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

// allow sets the caps of a lane and of the account, and lets out all who may go now.
func (d *accountQueue) allow(lane *quota, l engine.Live) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lane.allow(l.Lane)
	d.whole.allow(l.Account)
	d.pump()
}

// allow sets the caps. What was leased under others is given up.
func (q *quota) allow(caps ratelimit.Caps) {
	if caps == q.caps {
		return
	}
	if caps.Concurrency != q.caps.Concurrency {
		q.has, q.asked = 0, q.asked.Add(-shareAgain)
	}
	if caps.Every() != q.caps.Every() {
		q.slots = ratelimit.Slots{}
	}
	if caps.Tokens != q.caps.Tokens {
		q.tokens = ratelimit.TokenBudget{}
	}
	q.caps = caps
}
