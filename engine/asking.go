package engine

import (
	"context"
	"errors"
	"iter"

	"assay"
	"assay/provider"
	"assay/store"
)

// asking keeps a fixed number of live requests in flight. What may be in flight is claimed in the ledger before it is
// asked, and answers are committed in groups before their places are given to others.
type asking struct {
	*work
	log     *liveLog
	width   int
	results chan reply
	flying  int
	halt    *assay.Fault // why asking stopped; nil: it did not
}

// askBusy is how often one request is asked again because the provider is busy.
const askBusy = 8

func (a *asking) fly(ctx context.Context) error {
	next, stop := iter.Pull2(a.open(ctx))
	defer stop()
	more := true
	for more || a.flying > 0 {
		if more && a.halt == nil && ctx.Err() == nil {
			var err error
			if more, err = a.fill(ctx, next); err != nil {
				return errors.Join(err, a.drain(ctx))
			}
		} else {
			more = false
		}
		if a.flying == 0 {
			continue
		}
		if err := a.commit(ctx, a.gather()); err != nil {
			return errors.Join(err, a.drain(ctx))
		}
	}
	return nil
}

// open walks over the attempts that have no outcome, a page at a time: no query stays open while requests are asked.
func (a *asking) open(ctx context.Context) iter.Seq2[store.Attempt, error] {
	const page = 256
	return func(yield func(store.Attempt, error) bool) {
		for from := int64(0); ; {
			var some []store.Attempt
			for at, err := range a.Ledger.OpenAttempts(ctx, a.g.No, from) {
				if err != nil {
					yield(at, err)
					return
				}
				if some = append(some, at); len(some) == page {
					break
				}
			}
			if len(some) == 0 {
				return
			}
			from = some[len(some)-1].Ord + 1
			for _, at := range some {
				if !yield(at, nil) {
					return
				}
			}
		}
	}
}

// fill claims as many requests as there are free places and lets them fly. It tells whether there may be more.
func (a *asking) fill(ctx context.Context, next func() (store.Attempt, error, bool)) (bool, error) {
	var some []store.Attempt
	for len(some) < a.width-a.flying {
		at, err, ok := next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		some = append(some, at)
	}
	more := len(some) == a.width-a.flying
	if len(some) == 0 {
		return more, nil
	}
	if cancelled, err := a.cancelled(ctx); cancelled || err != nil {
		return false, err
	}
	ords, coords := make([]int64, len(some)), make([]assay.Coordinates, len(some))
	for i, at := range some {
		ords[i], coords[i] = at.Ord, at.At
	}
	built, err := a.Planner.Build(ctx, a.run, store.Live, coords)
	if err != nil {
		return false, err
	}
	if err := a.Ledger.Claim(ctx, a.l, ords); err != nil {
		return false, err
	}
	for i, at := range some {
		a.flying++
		go func() { a.results <- a.ask(ctx, at, built[i].Request) }()
	}
	return more, nil
}

// cancelled tells whether somebody ordered this segment to stop.
func (a *asking) cancelled(ctx context.Context) (bool, error) {
	orders, err := a.Ledger.Orders(ctx, a.run.No)
	if err != nil {
		return false, err
	}
	for _, o := range orders {
		if o.Kind == store.OrderCancel && (o.Segment == 0 || o.Segment == a.g.No) {
			return true, a.Ledger.AskCancel(ctx, a.l, store.ByUser, a.soon())
		}
	}
	return false, nil
}

// ask asks one request until it is answered, refused for good, or too often busy. A stop of the program lets what is in
// flight come home: it is paid for.
func (a *asking) ask(ctx context.Context, at store.Attempt, req *assay.Request) reply {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Timing.Ask)
	defer cancel()
	for try := int64(1); ; try++ {
		got, err := a.access.Live.Ask(call, req)
		r := reply{attempt: at, Reply: got, err: err}
		if err == nil {
			return r
		}
		f := provider.FaultOf(err)
		if f == nil {
			f = &assay.Fault{Class: assay.FaultUnknown, Message: err.Error()}
			r.Outcome = assay.Outcome{Ending: assay.Errored, Fault: f}
		}
		r.halt = f.Class == assay.FaultQuota || f.Class == assay.FaultDenied
		if f.Class != assay.FaultBusy && !got.Unsent || r.halt || try > askBusy {
			return r
		}
		if ctx.Err() != nil || a.Clock.Sleep(ctx, a.backoff(try, max(f.RetryAfter, got.Rate.RetryAfter))) != nil {
			r.Unsent = true // surely not answered, and not asked again now
			r.err = context.Cause(ctx)
			return r
		}
	}
}

// gather takes the next reply, and those that are there already.
func (a *asking) gather() []reply {
	all := []reply{<-a.results}
	a.flying--
	for a.flying > 0 {
		select {
		case r := <-a.results:
			a.flying--
			all = append(all, r)
		default:
			return all
		}
	}
	return all
}

// drain waits for what is in flight after an error: its claims stay, and name it.
func (a *asking) drain(ctx context.Context) error {
	var err error
	for a.flying > 0 {
		err = errors.Join(err, a.commit(ctx, a.gather()))
	}
	return err
}

// commit writes replies: raw bytes first, then the outcomes, durably.
func (a *asking) commit(ctx context.Context, replies []reply) error {
	ctx = context.WithoutCancel(ctx)
	var block []store.Settlement
	for _, r := range replies {
		if r.halt || (r.Unsent && r.err != nil && provider.FaultOf(r.err) == nil) {
			if f := provider.FaultOf(r.err); f != nil {
				a.halt = f
			}
			if err := a.Ledger.Unclaim(ctx, a.l, r.attempt.Ord); err != nil {
				return err
			}
			continue
		}
		s := store.Settlement{Ord: r.attempt.Ord, Key: r.attempt.Key, Outcome: r.Outcome, Cost: a.bill(r.Outcome), Again: a.again(r.Outcome)}
		if r.Raw != nil {
			at, err := a.log.Add(r.Raw)
			if err != nil {
				return err
			}
			s.Artifact, s.Offset, s.Length = a.log.no, at, int64(len(r.Raw))
		}
		block = append(block, s)
	}
	if err := a.log.Sync(); err != nil {
		return err
	}
	_, err := a.Ledger.SettleLive(ctx, a.l, block)
	return err
}
