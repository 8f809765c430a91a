package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/ratelimit"
)

// accountQueue lets the live requests of one account out, as fast as the account allows. All lanes of this process that use the
// account wait in it, and the one that was served longest ago is served first: a lane that waits for its own cap, or for
// its own model, keeps no other lane waiting. Of a lane's segments the oldest is served first: while its last answers come
// home, the next one has requests to send.
type accountQueue struct {
	from  *engine.Config
	scope string

	mu     sync.Mutex
	whole  *quota            // the caps of the account
	lanes  map[string]*quota // the caps of lanes, by scope
	models map[string]*ratelimit.Limiter
	busy   map[*ratelimit.Limiter]refusal // the last of each model
	line   []*waiter
	served int64
}

// waiter is a request that waits in an account's queue.
type waiter struct {
	lane   *quota
	place  int64 // among those of its lane
	model  *ratelimit.Limiter
	load   ratelimit.Load
	ticket ratelimit.Ticket
	done   bool
	wait   time.Duration // until it is worth looking again; ratelimit.Release: until something happens
	lease  *lease        // what has to be leased first; nil: nothing

	rests bool
	until time.Time     // it rests; zero: until it is woken
	wake  chan struct{} // it is worth looking at again
}

// slot is the place of a request that was let out.
type slot struct {
	*waiter
	queue *accountQueue
}

// Queues are those in which live requests of a process wait, one for every account. They are safe for concurrent use.
type Queues struct {
	from *engine.Config

	mu  sync.Mutex
	all map[string]*accountQueue
}

// NewQueues returns the queues of a process, which share the caps of accounts with others by the ledger.
func NewQueues(from *engine.Config) *Queues {
	return &Queues{from: from, all: map[string]*accountQueue{}}
}

// of returns the queue of an account. Accounts with the same key at the same place have the same limits.
func (s *Queues) of(a engine.Access, caps ratelimit.Caps) *accountQueue {
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := "account " + a.Fingerprint + " " + a.BaseURL
	d := s.all[scope]
	if d == nil {
		d = &accountQueue{from: s.from, scope: scope, whole: &quota{scope: scope}, lanes: map[string]*quota{},
			models: map[string]*ratelimit.Limiter{}, busy: map[*ratelimit.Limiter]refusal{}}
		s.all[scope] = d
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whole.allow(caps)
	return d
}

// InFlight returns how many live requests of this process are in flight.
func (s *Queues) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, d := range s.all {
		d.mu.Lock()
		n += d.whole.inFlight
		d.mu.Unlock()
	}
	return n
}

// laneOf returns the caps of a lane.
func (d *accountQueue) laneOf(scope string, caps ratelimit.Caps) *quota {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lanes[scope] == nil {
		d.lanes[scope] = &quota{scope: scope, lane: true}
	}
	d.lanes[scope].allow(caps)
	return d.lanes[scope]
}

// modelOf returns what is known about the limits of a model.
func (d *accountQueue) modelOf(name string) *ratelimit.Limiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.models[name] == nil {
		d.models[name] = &ratelimit.Limiter{Back: d.from.Timing.BackoffMin}
	}
	return d.models[name]
}

// enter waits until a request may go.
func (d *accountQueue) enter(ctx context.Context, lane *quota, place int64, m *ratelimit.Limiter, load ratelimit.Load) (slot, error) {
	w := &waiter{lane: lane, place: place, model: m, load: load, wait: ratelimit.Release, wake: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line = append(d.line, w)
	d.pump()
	for !w.done {
		if err := ctx.Err(); err != nil {
			d.forget(w)
			return slot{}, err
		}
		if l := w.lease; l != nil && !l.quota.leasing {
			if err := d.borrow(ctx, l); err != nil {
				d.forget(w)
				return slot{}, err
			}
			continue
		}
		d.rest(ctx, w)
		if !w.done {
			d.pump()
		}
	}
	p := slot{w, d}
	if err := ctx.Err(); err != nil { // it was served, and stopped at the same moment
		p.back(ratelimit.Reply{Kind: ratelimit.Unrelated}, 0)
		return slot{}, err
	}
	return p, nil
}

// rest sleeps until a waiter is worth looking at again. The queue is open meanwhile.
func (d *accountQueue) rest(ctx context.Context, w *waiter) {
	wait := min(w.wait, longestRest)
	w.rests, w.until = true, time.Time{}
	if wait > 0 {
		w.until = d.from.Own().Add(wait)
	}
	d.mu.Unlock()
	d.sleep(ctx, w.wake, wait)
	d.mu.Lock()
	w.rests = false
}

// longestRest is the longest that a waiter rests without a look: what it waits for may have come nearer.
const longestRest = 30 * time.Second

// sleep waits until the sleeper is woken, or for a while.
func (d *accountQueue) sleep(ctx context.Context, wake <-chan struct{}, wait time.Duration) {
	if wait <= 0 {
		select {
		case <-wake:
		case <-ctx.Done():
		}
		return
	}
	sleep, end := context.WithCancel(ctx)
	defer end()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = d.from.Clock.Sleep(sleep, wait) // over or not: it is looked at again
	}()
	select {
	case <-wake:
	case <-over:
	}
}

func (d *accountQueue) forget(w *waiter) {
	d.line = slices.DeleteFunc(d.line, func(v *waiter) bool { return v == w })
}

// pump lets out all who may go, and sets how long the others wait.
func (d *accountQueue) pump() {
	now := d.from.Own()
	first := func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.lane.served, b.lane.served), cmp.Compare(a.place, b.place))
	}
	if !slices.IsSortedFunc(d.line, first) {
		slices.SortStableFunc(d.line, first)
	}
	rest := d.line[:0]
	for _, w := range d.line {
		w.wait, w.lease = d.look(now, w)
		if w.wait == 0 && w.lease == nil {
			d.serve(now, w)
		} else {
			rest = append(rest, w)
		}
		if w.rests && w.due(now) {
			select {
			case w.wake <- struct{}{}:
			default: // it is about to look
			}
		}
	}
	clear(d.line[len(rest):])
	d.line = rest
}

// due reports whether a waiter that rests has to look again before it would by itself.
func (w *waiter) due(now time.Time) bool {
	if w.done || w.lease != nil && !w.lease.quota.leasing {
		return true
	}
	return w.wait > 0 && (w.until.IsZero() || now.Add(w.wait).Before(w.until.Add(-time.Millisecond)))
}

// look returns how long a waiter has to wait, or what has to be leased for it. Nothing is leased for a request that would
// have to wait all the same.
func (d *accountQueue) look(now time.Time, w *waiter) (time.Duration, *lease) {
	if wait := w.model.Wait(now, w.load); wait != 0 {
		return wait, nil
	}
	for _, q := range [...]*quota{w.lane, d.whole} {
		if wait, l := q.look(now, w.load); wait != 0 || l != nil {
			return wait, l
		}
	}
	return 0, nil
}

func (d *accountQueue) serve(now time.Time, w *waiter) {
	w.done = true
	w.ticket = w.model.Send(now, w.load)
	w.lane.send(w.load)
	d.whole.send(w.load)
	d.served++
	w.lane.served = d.served
}

// leave notes that a request came back; used is how many tokens it took, 0: unknown.
func (p slot) leave(r ratelimit.Reply, used float64) {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.back(r, used)
}

// refusal is a reply by which a provider refused a request because it is busy.
type refusal struct {
	fault *assay.Fault
	asked bool // it named a time to wait
	at    time.Time
}

// refused notes why a provider took no request of a model.
func (p slot) refused(f *assay.Fault, wait time.Duration) {
	d := p.queue
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[p.model] = refusal{f, wait > 0, d.from.Own()}
}

// pause returns for how long requests of a model wait because their provider refused one, and why; nil: nothing keeps them.
func (d *accountQueue) pause(m *ratelimit.Limiter) (time.Duration, *refusal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.busy[m]
	now := d.from.Own()
	wait := m.Closed().Sub(now)
	if !ok || wait <= 0 && now.Sub(r.at) > recently {
		return 0, nil
	}
	return max(wait, 0), &r
}

// recently is how long a refusal is reported.
const recently = 30 * time.Second

// back is leave for a caller that has the queue.
func (p slot) back(r ratelimit.Reply, used float64) {
	d := p.queue
	p.model.Done(d.from.Own(), p.ticket, r)
	p.lane.back(p.load, used)
	d.whole.back(p.load, used)
	d.pump()
}
