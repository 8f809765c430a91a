package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
	"assay/internal/send/ratelimit"
)

// The most tries after the first, by what went wrong. A study's `retries` may lower them.
const (
	askBusy    = 8 // the provider is busy
	askLost    = 3 // whether it is billed, or what it means, is unknown
	askTimeout = 1 // it took as long as a request may

	askMissing = 3 // requests in a row may find no model before the lane is stopped
)

// send lets requests out, one by one, as the account's queue allows.
func (a *sender) send(ctx context.Context) {
	for page := range a.built {
		for i := range page {
			if a.pastDeadline() {
				return
			}
			select {
			case a.open <- struct{}{}:
			case <-ctx.Done():
				return
			}
			p, err := a.enter(ctx, &page[i])
			if err != nil {
				<-a.open
				if ctx.Err() == nil {
					a.trouble(err)
				}
				return
			}
			a.away.Add(1)
			a.hand(ctx, job{&page[i], p})
		}
	}
}

// enter waits until a request may go, and there is money for it.
func (a *sender) enter(ctx context.Context, f *outgoing) (slot, error) {
	for {
		a.budget.wait(ctx)
		p, err := a.queue.enter(ctx, a.own, a.Seg.No, a.model, a.tokens.load(f.request))
		if err != nil || !a.budget.overdrawn() {
			return p, err
		}
		p.leave(ratelimit.Reply{Kind: ratelimit.Unrelated}, 0) // the answer that made room for it took the money
	}
}

// come hands over what became of a request, without its text: it shares its page's memory with others that are still out.
func (a *sender) come(r *reply) {
	r.request, r.whole = nil, nil
	a.away.Add(-1)
	a.home <- r
}

// job is a request that was let out.
type job struct {
	*outgoing
	slot
}

// hand gives a job to a goroutine that is free, or to a new one: one that has run before has the stack for the next.
func (a *sender) hand(ctx context.Context, e job) {
	select {
	case a.jobs <- e:
		return
	default:
	}
	a.runners.Go(func() {
		a.come(a.ask(ctx, e.outgoing, e.slot))
		for e := range a.jobs {
			a.come(a.ask(ctx, e.outgoing, e.slot))
		}
	})
}

// ask asks one request until it is answered, refused for good, or too often not answered. A stop of the program lets what
// is in flight come back: it is paid for.
func (a *sender) ask(ctx context.Context, f *outgoing, p slot) *reply {
	for try := int64(1); ; try++ {
		if err := a.leave(ctx, f); err != nil {
			p.leave(ratelimit.Reply{Kind: ratelimit.Unrelated}, 0)
			return a.stay(ctx, f, err)
		}
		r, fault := a.once(ctx, f, p)
		if fault == nil {
			return r
		}
		if err := a.unanswered(ctx, r); err != nil { // in the log it is in flight
			a.trouble(err)
			return &reply{outgoing: f, stays: true}
		}
		again := withBytes(ctx, a, f, fault)
		if again {
			r.halt, r.stays = nil, false
		}
		if r.halt == nil && !again && try > a.tries(r, fault) {
			a.budget.owes(r.owed())
			return r
		}
		a.trouble(a.note(ctx, entryBack, store.InFlight{Ord: f.Ord}, a.log.Flush))
		if r.halt != nil {
			a.stop()
			return r
		}
		if broke, err := a.broken(ctx, r); broke || err != nil {
			a.trouble(err)
			return &reply{outgoing: f, stays: true, broke: broke}
		}
		wait := a.Backoff(try, max(fault.RetryAfter, r.Rate.RetryAfter))
		if ctx.Err() != nil || a.Clock.Sleep(ctx, wait) != nil {
			return a.stay(ctx, f, nil)
		}
		var err error
		if p, err = a.queue.enter(ctx, a.own, a.Seg.No, a.model, a.tokens.load(f.request)); err != nil {
			return a.stay(ctx, f, err)
		}
	}
}

// unanswered notes a reply that was lost in flight.
func (a *sender) unanswered(ctx context.Context, r *reply) error {
	if !r.lost {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return a.Insist(ctx, func() error { return a.Ledger.Work.Unanswered(ctx, a.Lease, r.uncertain()) })
}

// broken reports whether a hard budget has no room for one more try, after a reply that was lost: both may be billed.
func (a *sender) broken(ctx context.Context, r *reply) (bool, error) {
	if !r.lost || !a.Policy.ReserveHigh {
		return false, nil
	}
	ctx = context.WithoutCancel(ctx)
	over := false
	err := a.Insist(ctx, func() error {
		run, err := a.Ledger.Reader.Run(ctx, a.Run.No)
		over = run.Overdrawn()
		return err
	})
	return over, err
}

// leave notes that a request leaves, and makes sure that the lease is ours: before, for nothing needs to be noted where it is
// not, and after, for a process that fell asleep in between writes into a log that its successor has read.
func (a *sender) leave(ctx context.Context, f *outgoing) error {
	if err := a.Held.Sure(ctx); err != nil {
		return err
	}
	err := a.note(ctx, entrySent, f.uncertain(), a.log.Flush)
	if err == nil {
		err = a.Held.Sure(ctx)
	}
	if err != nil {
		_ = a.log.mark(entryBack, f.Ord, nil) // the other record may get there yet, and nothing was sent
	}
	return err
}

// stay returns the reply of a request that is not sent, because of an error or of a stop.
func (a *sender) stay(ctx context.Context, f *outgoing, err error) *reply {
	if ctx.Err() == nil {
		a.trouble(err)
	}
	return &reply{outgoing: f, stays: true}
}

// once makes one call. The fault is nil where an answer came.
func (a *sender) once(ctx context.Context, f *outgoing, p slot) (*reply, *assay.Fault) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Timing.Ask)
	defer cancel()
	got, err := a.Access.Live.Ask(call, f.request)
	r := &reply{outgoing: f, Reply: got, dialect: f.request.Wire.Dialect}
	if err == nil {
		a.missing.Store(0)
		r.cost = a.Bill(got.Outcome)
		a.budget.owes(r.owed()) // before the next one may go
		p.leave(ratelimit.Reply{Hints: hints(got.Rate)}, a.tokens.used(got.Outcome.Usage))
		return r, nil
	}
	fault := provider.FaultOf(err)
	if fault == nil {
		fault = &assay.Fault{Class: assay.FaultUnknown, Message: err.Error()}
		if call.Err() != nil {
			fault = &assay.Fault{Class: assay.FaultBusy, Code: timedOut, Message: fmt.Sprintf("no answer in %s", a.Timing.Ask)}
		}
		r.Outcome = assay.Outcome{Ending: assay.Errored, Fault: fault}
	}
	r.cost = a.Bill(r.Outcome)
	wait, kind := max(fault.RetryAfter, got.Rate.RetryAfter), kindOf(fault)
	p.leave(ratelimit.Reply{Kind: kind, RetryAfter: wait, Hints: hints(got.Rate)}, 0)
	if kind != ratelimit.Unrelated {
		p.refused(fault, wait)
	}
	if lost := (*assay.LostFileError)(nil); errors.As(err, &lost) {
		r.halt, r.stays = &assay.Fault{Class: assay.FaultInvalid, Code: fileLost, Message: lost.Error()}, true
		return r, fault
	}
	if fault.Class == assay.FaultQuota || fault.Class == assay.FaultDenied {
		r.halt, r.stays = fault, true
		return r, fault
	}
	if fault.Status == 404 || fault.Status == 410 {
		if a.missing.Add(1) >= askMissing { // the model is gone, and every further request would meet the same
			r.halt, r.stays = fault, true
			return r, fault
		}
	}
	r.lost, r.err = provider.Lost(err), err
	return r, fault
}

// timedOut is the code of a request that took as long as one may.
const timedOut = "timeout"

// fileLost is the code of a request whose file is lost.
const fileLost = "file_lost"

// tries returns how often a request is asked again after a fault.
func (a *sender) tries(r *reply, f *assay.Fault) int64 {
	switch {
	case errors.Is(r.err, provider.ErrUnreadable): // the same would come, and be billed, again
		return 0
	case f.Code == timedOut:
		return min(a.retries, askTimeout)
	case r.lost, f.Class == assay.FaultUnknown && f.Status >= 300:
		return min(a.retries, askLost)
	case f.Class == assay.FaultBusy, r.Unsent && f.Class != assay.FaultInvalid:
		return a.retries
	}
	return 0
}

// kindOf returns what a fault shows about the provider's limits.
func kindOf(f *assay.Fault) ratelimit.Kind {
	switch {
	case f.Class != assay.FaultBusy:
		return ratelimit.Unrelated
	case f.Status == 429 && !noRoom(f):
		return ratelimit.Throttled
	}
	return ratelimit.Busy
}

// noRoom reports whether a provider has no room for its flex tier, whatever our limits are.
func noRoom(f *assay.Fault) bool {
	return f.Code == "resource_unavailable" || strings.Contains(strings.ToLower(f.Message), "resource unavailable")
}

func hints(r provider.Rate) ratelimit.Hints {
	return ratelimit.Hints{Requests: ratelimit.Hint(r.Requests), Tokens: ratelimit.Hint(r.Tokens), Input: ratelimit.Hint(r.Input),
		Output: ratelimit.Hint(r.Output)}
}

// tokens estimates what requests of one lane take out of limits on tokens.
type tokens struct {
	mu   sync.Mutex
	mean float64 // of the output so far
}

// firstOutput is the expected number of output tokens before one is known.
const firstOutput = 256

// load returns the tokens that a request is expected to take. Where the study bounds the output, providers count the bound.
func (t *tokens) load(r *assay.Request) ratelimit.Load {
	input := float64(size(r))/4 + 1
	t.mu.Lock()
	defer t.mu.Unlock()
	out := float64(r.Lane.Params.MaxTokens)
	if out == 0 {
		out = cmp.Or(t.mean, firstOutput)
	}
	return ratelimit.Load{Input: input, Output: out}
}

// size returns how many bytes the texts of a request have.
func size(r *assay.Request) int {
	n := len(r.Body) + len(r.Prompt.System) + len(r.Prompt.Context)
	for _, m := range r.Prompt.Messages {
		n += len(m.Text)
	}
	return n
}

// used learns from what an answer took.
func (t *tokens) used(u assay.Usage) float64 {
	if !u.Known {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mean == 0 {
		t.mean = float64(u.Output)
	}
	t.mean += (float64(u.Output) - t.mean) / 32
	return float64(u.Input + u.Output)
}
