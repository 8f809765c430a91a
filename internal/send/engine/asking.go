package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
	"assay/internal/send/ratelimit"
)

// asking keeps the live requests of one segment in flight.
//
//	feed ── pages ──> send ── let out by the queue ──> ask ── replies ──> rounds
//
// Whatever leaves and comes back goes into the log first. A round settles the replies that are there in one durable
// transaction. A round that the ledger cannot take is tried again: its replies are kept.
type asking struct {
	*work
	log     *liveLog
	queue   *accountQueue
	own     *quota // the lane's
	model   *ratelimit.Limiter
	retries int64
	tokens  tokens
	stop    context.CancelFunc // nothing more is sent; what is in flight comes back

	built   chan []flight // pages of requests
	errands chan errand   // for runners that are free
	runners sync.WaitGroup
	home    chan *reply
	open    chan struct{} // a place for everything that was let out and is not settled
	away    atomic.Int64  // let out, and not home
	back    []*reply      // what came back last; its memory is used again
	done    int64
	failed  int64 // of those that ended here: without an answer
	ended   int64
	good    bool // one of them is a whole answer
	rawless bool // the log takes nothing more

	till  *budgetWatch
	halt  *assay.Fault // why the lane has to stop; nil: it has not
	broke error        // what the budget says; nil: it is not used up

	mu  sync.Mutex
	err error // what went wrong here: nothing more is sent
}

// flight is a request with its place in the segment.
type flight struct {
	store.Attempt
	request *assay.Request
	high    assay.Cost
}

// doubt is a request that may be billed and has no answer.
func (f *flight) doubt() store.InFlight {
	d := store.InFlight{Ord: f.Ord}
	if f.high.Unknown == 0 {
		d.High = &f.high.Sum
	}
	return d
}

// reply is what became of a request.
type reply struct {
	*flight
	provider.Reply
	dialect assay.Dialect
	cost    *assay.Money // nil: not known
	stays   bool         // it has no answer, and is not asked again now
	lost    bool         // whether it was answered is unknown
	halt    *assay.Fault // every further request would meet the same
}

// LostAnswersError says that answers which came back could be kept nowhere.
type LostAnswersError struct{ Answers int }

// Error says what becomes of them.
func (e *LostAnswersError) Error() string {
	return fmt.Sprintf("%s arrived and could be kept neither in the ledger nor on disk: to be asked, and paid for, again", assay.Count(e.Answers, "answer"))
}

const (
	// mostOpen is how many requests may be let out and not settled: as many as come back while the ledger writes.
	mostOpen = 4096
	// enoughHome is how many replies are not kept waiting for more.
	enoughHome = 512
)

func (w *work) newAsking(log *liveLog) *asking {
	caps := w.route.Live
	d := w.queueOf(w.access, caps.Account)
	most := max(mostOpen, 4*caps.Lane.Concurrency)
	a := &asking{work: w, log: log, queue: d, retries: askBusy, done: w.g.Done(), till: newBudgetWatch(w),
		own: d.laneOf("run "+w.run.ID+" lane "+w.g.Lane, caps.Lane), model: d.modelOf(w.g.Model),
		built: make(chan []flight, 1), errands: make(chan errand), home: make(chan *reply, most), open: make(chan struct{}, most)}
	if caps.Retries != nil {
		a.retries = int64(*caps.Retries)
	}
	return a
}

// fly asks until everything has an outcome or something stops it. A stop lets what is in flight come back: it is paid for.
func (a *asking) fly(ctx context.Context) error {
	ctx, a.stop = context.WithCancel(ctx)
	defer a.stop()
	var wg sync.WaitGroup
	wg.Go(func() { a.feed(ctx) })
	wg.Go(func() { a.watch(ctx) })
	wg.Go(func() {
		a.send(ctx)
		close(a.errands)
		a.runners.Wait()
		close(a.home)
	})
	a.rounds(ctx)
	a.stop()
	wg.Wait()
	return a.err
}

// trouble keeps what went wrong, and stops sending.
func (a *asking) trouble(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = errors.Join(a.err, err)
	a.stop()
}

// rounds writes round after round until everything that was let out is home.
func (a *asking) rounds(ctx context.Context) {
	a.trouble(a.afford(context.WithoutCancel(ctx)))
	for {
		if a.halt != nil || a.broke != nil || a.overdue() {
			a.stop()
		}
		r, ok := <-a.home
		if !ok {
			return
		}
		replies := a.linger(ctx, append(a.back[:0], r))
		a.trouble(a.round(ctx, replies))
		clear(replies)
		a.back = replies
	}
}

// linger gathers replies for a moment: what is written together costs less. No request waits for it.
func (a *asking) linger(ctx context.Context, all []*reply) []*reply {
	enough := time.NewTimer(a.Timing.Linger)
	defer enough.Stop()
	for len(all) < enoughHome && (a.away.Load() > 0 || len(a.home) > 0) {
		select {
		case r, ok := <-a.home:
			if !ok {
				return all
			}
			all = append(all, r)
		case <-enough.C:
			return a.gather(all)
		case <-ctx.Done():
			return a.gather(all)
		}
	}
	return a.gather(all)
}

// gather adds the replies that are there already.
func (a *asking) gather(all []*reply) []*reply {
	for {
		select {
		case r, ok := <-a.home:
			if !ok {
				return all
			}
			all = append(all, r)
		default:
			return all
		}
	}
}

// round keeps replies: first in the log, then, durably, in the ledger.
func (a *asking) round(ctx context.Context, replies []*reply) error {
	defer func() {
		for range replies {
			<-a.open
		}
	}()
	block := make([]store.Settlement, 0, len(replies))
	kept := replies[:0]
	for _, r := range replies {
		if r.halt != nil {
			a.halt = cmp.Or(a.halt, r.halt)
		}
		if !r.stays {
			kept = append(kept, r)
			block = append(block, store.Settlement{Ord: r.Ord, Key: r.Key, Outcome: r.Outcome, Cost: r.cost})
		}
	}
	if len(block) == 0 {
		return nil
	}
	durable := context.WithoutCancel(ctx)
	lost := a.record(ctx, kept, block)
	if err := a.insist(durable, func() error { _, err := a.Ledger.SettleLive(durable, a.l, block); return err }); err != nil {
		if a.rawless {
			err = errors.Join(&LostAnswersError{len(block)}, err)
		}
		return errors.Join(lost, err)
	}
	for i := range block {
		a.till.paid(block[i].Cost)
		if a.ended++; !block[i].Outcome.Ending.Stands() {
			a.failed++
		}
		a.good = a.good || block[i].Outcome.Ending == assay.Answered
	}
	a.done += int64(len(block))
	if above := a.policy.StopAbove[a.g.Lane]; a.ended >= leastEnded && (above > 0 && float64(a.failed) > above*float64(a.ended) || above <= 0 && !a.good) {
		if err := a.look(ctx); err != nil { // not only now and then
			return errors.Join(lost, err)
		}
	}
	return errors.Join(lost, a.afford(durable))
}

// record writes replies into the log. Where it cannot be written, what is paid for is settled without its raw bytes,
// and nothing more is sent: the error says why.
func (a *asking) record(ctx context.Context, replies []*reply, block []store.Settlement) error {
	if a.rawless {
		return nil
	}
	durable := context.WithoutCancel(ctx)
	var err error
	for i, r := range replies {
		err = errors.Join(err, a.log.got(r, &block[i]))
	}
	if err == nil {
		err = a.persist(ctx, a.log.Log, func() error { return a.log.keep(block) })
	}
	if err == nil {
		return nil
	}
	a.rawless = true
	a.stop()
	for i := range block {
		block[i].Artifact, block[i].Offset, block[i].Length, block[i].Sum = 0, 0, 0, 0
	}
	note := fmt.Sprintf("raw bytes cannot be written, answers are kept without them: %v", err)
	return errors.Join(err, a.insist(durable, func() error { return a.Ledger.Note(durable, a.run.No, a.g.No, "raw", note) }))
}

// watch looks, now and then, whether this segment has to stop.
func (a *asking) watch(ctx context.Context) {
	tick := time.NewTicker(a.Timing.Look)
	defer tick.Stop()
	run := a.run
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if a.overdue() {
			a.stop()
		}
		a.trouble(a.look(ctx))
		var err error
		if run, err = a.retune(ctx, run); err != nil && ctx.Err() == nil {
			a.trouble(err)
		}
	}
}

// look sees whether a person or an event wants this segment to stop. One that has stopped already is not looked at.
func (a *asking) look(ctx context.Context) error {
	err := a.lookAt(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (a *asking) lookAt(ctx context.Context) error {
	var orders []store.Order
	err := a.insist(ctx, func() (err error) { orders, err = a.Ledger.Orders(ctx, a.run.No); return err })
	if err != nil {
		return err
	}
	for _, o := range orders {
		if o.Kind == store.OrderCancel && (o.Segment == 0 || o.Segment == a.g.No) {
			err := a.insist(ctx, func() error { return a.Ledger.AskCancel(ctx, a.l, store.ByUser, a.soon()) })
			a.stop()
			return err
		}
	}
	return a.insist(ctx, func() error {
		g, err := a.Ledger.Segment(ctx, a.g.No)
		if err != nil {
			return err
		}
		lane, err := a.lane(ctx, a.run.No, a.g.Stage, a.g.Lane)
		if err != nil {
			return err
		}
		stopped, err := a.stopForErrors(ctx, lane, a.policy.StopAbove[a.g.Lane])
		if err == nil && (stopped || g.CancelCause != "" || lane.State != store.LaneOpen) {
			a.stop()
		}
		return err
	})
}
