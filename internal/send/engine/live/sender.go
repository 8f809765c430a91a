package live

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
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
	"assay/internal/send/ratelimit"
)

// sender keeps the live requests of one segment in flight.
//
//	feed ── pages ──> send ── let out by the queue ──> ask ── replies ──> rounds
//
// Whatever leaves and comes back goes into the log first. A round settles the replies that are there in one durable
// transaction. A round that the ledger cannot take is tried again: its replies are kept.
type sender struct {
	*work
	log     *liveLog
	queue   *accountQueue
	own     *quota // the lane's
	model   *ratelimit.Limiter
	retries int64
	tokens  tokens
	stop    context.CancelFunc // nothing more is sent; what is in flight comes back

	built   chan []outgoing // pages of requests
	jobs    chan job        // for runners that are free
	runners sync.WaitGroup
	home    chan *reply
	open    chan struct{} // a place for everything that was let out and is not settled
	away    atomic.Int64  // let out, and not home
	missing atomic.Int64  // replies in a row that there is no such model
	back    []*reply      // what came back last; its memory is used again, and so is that of block
	block   []store.Settlement
	done    int64
	failed  int64 // of those that ended here: without an answer that can be read
	ended   int64
	good    bool             // one of them is a whole answer
	rawless bool             // the log takes nothing more
	tiers   map[string]bool  // service tiers without a price that were named
	served  map[string]bool  // other models than was asked that were named
	late    []store.InFlight // came back when the lease was another's
	unkept  time.Time        // since when the ledger takes no answers; zero: it does
	lost    int              // answers that could be kept nowhere
	gaveUp  bool             // a round could not be kept
	program context.Context  // ends when the program is asked to stop
	ending  time.Time        // when that was seen by what tries to keep answers

	budget *budgetWatch
	halt   *assay.Fault // why the lane has to stop; nil: it has not
	broke  error        // error of the budget; nil: it is not used up

	mu  sync.Mutex
	err error // what went wrong here: nothing more is sent
}

// outgoing is a request with its place in the segment.
type outgoing struct {
	store.Attempt
	request *assay.Request
	whole   *assay.Request // the same with the bytes of what it names by ids; nil: it names nothing
	high    assay.Cost
}

// uncertain returns a request that may be billed and has no answer.
func (f *outgoing) uncertain() store.InFlight {
	d := store.InFlight{Ord: f.Ord}
	if f.high.Unknown == 0 {
		d.High = &f.high.Sum
	}
	return d
}

// reply is the result of a request.
type reply struct {
	*outgoing
	provider.Reply
	dialect assay.Dialect
	cost    *assay.Money // nil: not known
	stays   bool         // it has no answer, and is not asked again now
	lost    bool         // whether it was answered is unknown
	err     error        // of the call
	halt    *assay.Fault // every further request would meet the same
	broke   bool         // the budget does not cover one more try
}

// owed returns what a reply takes out of the budget: its cost, else the most that it may be.
func (r *reply) owed() *assay.Money {
	if r.cost == nil && r.high.Known() {
		return &r.high.Sum
	}
	return r.cost
}

// LostAnswersError is the error of answers that came back and could be kept nowhere.
type LostAnswersError struct{ Answers int }

// Error returns what becomes of them.
func (e *LostAnswersError) Error() string {
	return fmt.Sprintf("%s arrived and could be kept neither in the ledger nor on disk: to be asked, and paid for, again",
		assay.Count(e.Answers, "answer"))
}

const (
	// mostOpen is how many requests may be let out and not settled: as many as come back while the ledger writes.
	mostOpen = 4096
	// enoughHome is how many replies are not kept waiting for more.
	enoughHome = 512
)

func (w *work) newSender(log *liveLog) *sender {
	caps := w.Route.Live
	d := w.queues.of(w.Access, caps.Account)
	most := max(mostOpen, 4*caps.Lane.Concurrency)
	a := &sender{work: w, log: log, queue: d, retries: askBusy, done: w.Seg.Done(), budget: newBudgetWatch(w), served: map[string]bool{},
		own: d.laneOf("run "+w.Run.ID+" lane "+w.Seg.Lane, caps.Lane), model: d.modelOf(w.Seg.Model),
		built: make(chan []outgoing, 1), jobs: make(chan job), home: make(chan *reply, most), open: make(chan struct{}, most)}
	if caps.Retries != nil {
		a.retries = int64(*caps.Retries)
	}
	return a
}

// run asks until everything has an outcome or something stops it. A stop lets what is in flight come back: it is paid for.
func (a *sender) run(ctx context.Context) error {
	a.program = ctx
	ctx, a.stop = context.WithCancel(ctx)
	defer a.stop()
	var wg sync.WaitGroup
	wg.Go(func() { a.feed(ctx) })
	wg.Go(func() { a.watch(ctx) })
	wg.Go(func() {
		a.send(ctx)
		close(a.jobs)
		a.runners.Wait()
		close(a.home)
	})
	a.rounds(ctx)
	a.stop()
	wg.Wait()
	if a.lost > 0 {
		a.err = errors.Join(&LostAnswersError{a.lost}, a.err)
	}
	return a.err
}

// keep repeats a call that keeps answers while the ledger does not take it: for as long as a lease lasts since it last took one, or
// for a while after the program was asked to stop.
func (a *sender) keep(ctx context.Context, call func() error) error {
	if a.unkept.IsZero() {
		a.unkept = a.Own()
	}
	err := engine.InsistUntil(context.WithoutCancel(ctx), a.Config, call, func() bool {
		now := a.Own()
		if a.ending.IsZero() && a.program.Err() != nil {
			a.ending = now
		}
		return engine.Elapsed(a.unkept, now) > a.Timing.Lease || !a.ending.IsZero() && engine.Elapsed(a.ending, now) > stopGrace
	})
	if err == nil {
		a.unkept = time.Time{}
	}
	return err
}

// stopGrace is for how long a program that was asked to stop tries to keep answers.
const stopGrace = 10 * time.Second

// pastDeadline reports whether the deadline has come, and stops sending then.
func (a *sender) pastDeadline() bool {
	if !a.overdue() {
		return false
	}
	a.stop()
	return true
}

// trouble keeps what went wrong, and stops sending.
func (a *sender) trouble(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = errors.Join(a.err, err)
	a.stop()
}

// rounds writes round after round until everything that was let out is home.
func (a *sender) rounds(ctx context.Context) {
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
func (a *sender) linger(ctx context.Context, all []*reply) []*reply {
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
func (a *sender) gather(all []*reply) []*reply {
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
func (a *sender) round(ctx context.Context, replies []*reply) error {
	defer func() {
		for range replies {
			<-a.open
		}
	}()
	block := a.block[:0]
	kept := replies[:0]
	for _, r := range replies {
		if r.halt != nil {
			a.halt = cmp.Or(a.halt, r.halt)
		}
		if r.broke {
			a.broke = store.ErrBudget
		}
		if !r.stays {
			kept = append(kept, r)
			block = append(block, store.Settlement{Ord: r.Ord, Key: r.Key, Outcome: r.Outcome, Cost: r.cost,
				Unread: a.Route.Unread(r.Outcome)})
		}
	}
	if len(block) == 0 {
		return nil
	}
	a.block = block
	defer clear(block)
	durable := context.WithoutCancel(ctx)
	lost := a.record(ctx, kept, block)
	if err := a.keep(ctx, func() error { _, err := a.Ledger.Work.SettleLive(durable, a.Lease, block); return err }); err != nil {
		if errors.Is(err, store.ErrLeaseLost) {
			a.tooLate(kept, block)
		}
		if a.rawless {
			a.lost += len(block)
		}
		if a.gaveUp { // for the same reason as the round before
			err = nil
		}
		a.gaveUp = true
		return errors.Join(lost, err)
	}
	for i := range block {
		a.budget.paid(kept[i].owed())
		if a.ended++; !block[i].Outcome.Ending.Stands() || block[i].Unread {
			a.failed++
		}
		a.good = a.good || block[i].Outcome.Ending == assay.Answered && !block[i].Unread
	}
	a.done += int64(len(block))
	if err := errors.Join(a.otherTiers(durable, block), hold.NoteServed(durable, a.work.Work, a.served, block)); err != nil {
		return errors.Join(lost, err)
	}
	if above := a.Policy.StopAbove[a.Seg.Lane]; a.ended >= hold.LeastEnded &&
		(above > 0 && float64(a.failed) > above*float64(a.ended) || above <= 0 && !a.good) {
		if err := a.look(ctx); err != nil { // not only now and then
			return errors.Join(lost, err)
		}
	}
	return errors.Join(lost, a.afford(durable))
}

// otherTiers notes the service tiers that replies name and the price list does not have: they are billed at the usual price; and those that
// nobody asked for and that cost more than was reserved.
func (a *sender) otherTiers(ctx context.Context, block []store.Settlement) error {
	var err error
	for i := range block {
		tier := block[i].Outcome.Tier
		note := ""
		switch price := a.Route.Price; {
		case a.tiers[tier] || tier == "" || tier == a.Route.Tier():
		case !price.Lists(tier) && block[i].Cost != nil:
			note = fmt.Sprintf("lane %s: answers name service tier %q, which the price list does not have: they count at the usual price",
				a.Seg.Lane, tier)
		case price.Lists(tier) && price.Dearer(tier, a.Route.Tier()):
			note = fmt.Sprintf("lane %s: answers came in service tier %q, which was not asked for and costs more than was reserved; "+
				"the project's settings at the provider decide that, or `service_tier` of the lane", a.Seg.Lane, tier)
		}
		if note == "" {
			continue
		}
		if a.tiers == nil {
			a.tiers = map[string]bool{}
		}
		a.tiers[tier] = true
		err = errors.Join(err, a.Insist(ctx, func() error { return a.Ledger.Work.Note(ctx, a.Run.No, a.Seg.No, store.TierEvent, note) }))
	}
	return err
}

// tooLate keeps what came back after another worker took over.
func (a *sender) tooLate(replies []*reply, block []store.Settlement) {
	for i, r := range replies {
		f := r.uncertain()
		if block[i].Cost != nil {
			f.High = block[i].Cost
		}
		if f.High == nil || *f.High > 0 {
			a.late = append(a.late, f)
		}
	}
}

// disown notes what came back after another worker took over and may have been answered there, too: that one has read our log before.
func (a *sender) disown(ctx context.Context, why error) error {
	if !errors.Is(why, store.ErrLeaseLost) {
		return nil
	}
	return a.Insist(ctx, func() error {
		_, err := a.Ledger.Work.MarkAskedTwice(ctx, a.Seg.No, a.Lease.Epoch, a.log.no, a.late)
		return err
	})
}

// record writes replies into the log. If it cannot be written, what is paid for is settled without its raw bytes,
// and nothing more is sent: the error is the reason.
func (a *sender) record(ctx context.Context, replies []*reply, block []store.Settlement) error {
	if a.rawless {
		return nil
	}
	durable := context.WithoutCancel(ctx)
	var err error
	for i, r := range replies {
		err = cmp.Or(err, a.log.got(r, &block[i]))
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
	return errors.Join(err, a.keep(ctx, func() error { return a.Ledger.Work.Note(durable, a.Run.No, a.Seg.No, "raw", note) }))
}
