package engine

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"assay"
	"assay/provider"
	"assay/ratelimit"
	"assay/store"
)

// asking keeps the live requests of one segment in flight.
//
//	feed ── built ──> rounds ── claimed ──> send ── let out by the desk ──> ask ── replies ──> rounds
//
// Every round is one durable transaction: answers that came home are written, and the next requests are claimed. What is
// claimed and has no outcome may be in flight. As many are claimed ahead as go out while a round is written.
type asking struct {
	*work
	log     *liveLog
	desk    *desk
	own     *quota // the lane's
	model   *ratelimit.Limiter
	retries int64
	tokens  tokens

	built  chan []flight // pages of requests
	page   []flight      // what is left of the newest
	more   bool          // further pages may come
	out    chan *flight  // claimed
	unsent atomic.Int64  // of them
	ahead  int           // how many are to be claimed ahead
	begun  bool          // some were claimed
	low    chan struct{} // fewer wait to be sent
	home   chan *reply
	back   []*reply // what came home last; its room is used again
	away   int      // claimed, and not home
	done   int64
	failed int64 // of those that ended here: without an answer
	ended  int64

	errands chan errand // for runners that are free
	runners sync.WaitGroup
	till    *budgetWatch

	trouble chan error   // of the feed
	over    bool         // it was asked to stop
	halt    *assay.Fault // why the lane has to stop; nil: it has not
	broke   error        // what the budget says; nil: it is not used up
}

// flight is a request with its place in the segment.
type flight struct {
	store.Attempt
	request *assay.Request
}

// reply is what became of a request.
type reply struct {
	*flight
	provider.Reply
	cost  *assay.Money // nil: not known
	stays bool         // it has no answer, and is not asked again now
	lost  bool         // whether it was answered is unknown
	halt  *assay.Fault // every further request would meet the same
	err   error        // the ledger's: nothing goes on
}

func (w *work) newAsking(log *liveLog) *asking {
	caps := w.route.Live
	if n := w.policy.Concurrency; n > 0 && (caps.Lane.Concurrency == 0 || n < caps.Lane.Concurrency) {
		caps.Lane.Concurrency = n
	}
	d := w.deskOf(w.access, caps.Account)
	a := &asking{work: w, log: log, desk: d, retries: askBusy, more: true, done: w.g.Done(), till: newBudgetWatch(w),
		own: d.laneOf("run "+w.run.ID+" lane "+w.g.Lane, caps.Lane), model: d.modelOf(w.g.Model),
		built: make(chan []flight, 1), out: make(chan *flight, 2*mostAhead), home: make(chan *reply, 2*mostAhead),
		low: make(chan struct{}, 1), trouble: make(chan error, 1), errands: make(chan errand)}
	a.ahead = int(a.own.ahead.Load())
	if caps.Retries != nil {
		a.retries = int64(*caps.Retries)
	}
	return a
}

// fly asks until everything has an outcome or something stops it. A stop lets what is in flight come home: it is paid for.
func (a *asking) fly(ctx context.Context) error {
	going, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { a.feed(going) })
	wg.Go(func() { a.send(going) })
	err := a.rounds(going, stop)
	stop()
	close(a.out)
	wg.Wait()
	close(a.errands)
	a.runners.Wait()
	return err
}

// rounds writes round after round until nothing is left, in flight or to be asked.
func (a *asking) rounds(ctx context.Context, stop func()) error {
	look := time.NewTicker(a.Timing.Look)
	defer look.Stop()
	err := a.afford(ctx)
	for {
		if a.over = a.over || a.overdue(); err != nil || a.halt != nil || a.broke != nil || a.over {
			stop()
		}
		if ctx.Err() != nil {
			a.more, a.page = false, nil
		}
		if a.away == 0 && !a.more && len(a.page) == 0 {
			return err
		}
		replies, e := a.next(ctx, look.C)
		err = errors.Join(err, e, a.round(ctx, replies))
		clear(replies)
	}
}

// next waits until there is something to write, and returns the replies that are there.
func (a *asking) next(ctx context.Context, look <-chan time.Time) ([]*reply, error) {
	if len(a.page) > 0 && a.hungry(ctx) > 0 {
		return a.gather(a.back[:0]), nil
	}
	stopped := ctx.Done()
	if ctx.Err() != nil {
		stopped = nil
	}
	select {
	case r := <-a.home:
		return a.linger(ctx, append(a.back[:0], r))
	case page, ok := <-a.pages():
		return nil, a.turn(page, ok)
	case <-a.low:
	case err := <-a.trouble:
		return nil, err
	case <-look:
		return nil, a.look(ctx)
	case <-stopped:
	}
	return nil, nil
}

// pages is where the next page comes from, while one is wanted.
func (a *asking) pages() <-chan []flight {
	if !a.more || len(a.page) > 0 {
		return nil
	}
	return a.built
}

// turn goes on with the next page; false: there was none. The feed reported its trouble before it ended.
func (a *asking) turn(page []flight, ok bool) error {
	if a.page, a.more = page, ok; ok {
		return nil
	}
	select {
	case err := <-a.trouble:
		return err
	default:
		return nil
	}
}

// gather adds the replies that are there already.
func (a *asking) gather(all []*reply) []*reply {
	for {
		select {
		case r := <-a.home:
			all = append(all, r)
		default:
			a.back = all
			return all
		}
	}
}

// linger gathers replies for a moment: what is written together costs less. No request that could go out waits for it.
func (a *asking) linger(ctx context.Context, all []*reply) ([]*reply, error) {
	enough := time.NewTimer(a.Timing.Linger)
	defer enough.Stop()
	for len(all) < enoughHome && (len(a.page) == 0 || a.hungry(ctx) == 0) && len(all) < a.away {
		select {
		case r := <-a.home:
			all = append(all, r)
		case page, ok := <-a.pages():
			if err := a.turn(page, ok); err != nil {
				return a.gather(all), err
			}
		case <-a.low:
		case <-enough.C:
			return a.gather(all), nil
		case <-ctx.Done():
			return a.gather(all), nil
		}
	}
	return a.gather(all), nil
}

// hungry is how many more requests are to be claimed: when half of those claimed ahead have left, as many again.
func (a *asking) hungry(ctx context.Context) int {
	if ctx.Err() != nil || 2*int(a.unsent.Load()) > max(a.ahead, 1) {
		return 0
	}
	flying, lead := a.desk.width(a.own, a.model)
	if a.ahead == 0 {
		a.ahead = max(lead, 1)
	}
	if a.away >= 4*flying+2*a.ahead {
		return 0
	}
	return a.ahead
}

const (
	// mostAhead is how many requests are claimed ahead at most: what goes out in a third of a second where nothing but this
	// machine is the limit.
	mostAhead = 2048
	// enoughHome is how many replies are not kept waiting for more.
	enoughHome = 512
)

// tune, after n claims were written, claims more ahead where all that was claimed before went out meanwhile, and less where
// most of it is still there. Fewer claims than wanted, for want of requests, say nothing about more. The lane's next
// segment begins with what this one has learned.
func (a *asking) tune(n int) {
	switch left := int(a.unsent.Load()); {
	case !a.begun:
		a.begun = true
	case left == 0 && n == a.ahead:
		a.ahead = min(2*a.ahead, mostAhead)
	case left > a.ahead/4:
		a.ahead = max(a.ahead-(a.ahead+7)/8, 1)
	}
	a.own.ahead.Store(int64(a.ahead))
}

// round writes replies and claims what goes next, durably: raw bytes first, then everything else in one transaction.
func (a *asking) round(ctx context.Context, replies []*reply) error {
	durable := context.WithoutCancel(ctx)
	next := a.page[:min(a.hungry(ctx), len(a.page))]
	r := store.Round{Settle: make([]store.Settlement, 0, len(replies)), Claim: make([]int64, 0, len(next))}
	for _, f := range next {
		r.Claim = append(r.Claim, f.Ord)
	}
	a.away -= len(replies)
	failed, err := a.settle(&r, replies)
	if failed != nil { // nothing goes on, but what came is kept
		r.Claim = nil
	}
	if err != nil || len(r.Settle)+len(r.Claim)+len(r.Unclaim) == 0 {
		return errors.Join(failed, err)
	}
	if _, err := a.Ledger.LiveRound(durable, a.l, r); err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	if len(next) > 0 {
		a.tune(len(next))
	}
	a.page = a.page[len(next):]
	a.away += len(next)
	a.unsent.Add(int64(len(next)))
	for i := range next {
		a.out <- &next[i]
	}
	a.done += int64(len(r.Settle))
	if above := a.policy.StopAbove[a.g.Lane]; above > 0 && a.ended >= leastEnded && float64(a.failed) > above*float64(a.ended) {
		if err := a.look(ctx); err != nil { // not only now and then
			return err
		}
	}
	return a.afford(durable)
}

// settle turns replies into outcomes. The first error is a reply's own, the second that of writing them.
func (a *asking) settle(r *store.Round, replies []*reply) (failed, err error) {
	raw := false
	for _, got := range replies {
		failed = errors.Join(failed, got.err)
		if got.halt != nil {
			a.halt = cmp.Or(a.halt, got.halt)
		}
		if got.stays || got.err != nil {
			if got.stays {
				r.Unclaim = append(r.Unclaim, got.Ord)
			}
			continue
		}
		s := store.Settlement{Ord: got.Ord, Key: got.Key, Outcome: got.Outcome, Cost: got.cost}
		a.till.paid(got.cost)
		if got.Raw != nil {
			at, err := a.log.Add(got.Raw)
			if err != nil {
				return failed, err
			}
			s.Artifact, s.Offset, s.Length = a.log.no, at, int64(len(got.Raw))
			raw = true
		}
		r.Settle = append(r.Settle, s)
		if a.ended++; !got.Outcome.Ending.Stands() {
			a.failed++
		}
	}
	if raw {
		return failed, a.log.Sync()
	}
	return failed, nil
}

// look sees, now and then, whether a person or an event wants this segment to stop.
func (a *asking) look(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	orders, err := a.Ledger.Orders(ctx, a.run.No)
	if err != nil {
		return err
	}
	for _, o := range orders {
		if o.Kind == store.OrderCancel && (o.Segment == 0 || o.Segment == a.g.No) {
			a.over = true
			return a.Ledger.AskCancel(ctx, a.l, store.ByUser, a.soon())
		}
	}
	if g, err := a.Ledger.Segment(ctx, a.g.No); err != nil || g.CancelCause != "" {
		a.over = true
		return err
	}
	lane, err := a.lane(ctx, a.run.No, a.g.Stage, a.g.Lane)
	if err != nil {
		return err
	}
	stopped, err := a.stopForErrors(ctx, lane, a.policy.StopAbove[a.g.Lane])
	a.over = stopped || lane.State != store.LaneOpen
	return err
}
