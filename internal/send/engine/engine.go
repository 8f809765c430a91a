// Package engine drives runs: it keeps what was paid for and never pays again for what is known.
//
// Advance moves one segment as far as it can go now; Extend looks at a run and makes the segments that can go out next.
// Both may be called at any time, by any process, any number of times: who may work is decided by a lease in the
// ledger, and every step is one transaction that can be repeated or taken up by another process after a kill.
//
//	staged ─ Prepare ─> uploaded ─ Intend (durable) ─> intended ─ Launch ─> launched ─ Check ─> ended ─ Fetch ─> fetched ─ Decode ─> settled
//	  ▲ ▲                  ▲                              │  │                  │                 ▲                 │
//	  │ └─ gone ───────────┤                              │  │                  │                 └─── missing ─────┘ 3 times, then lost
//	  │                    └── surely refused ────────────┤  │                  │
//	  ├─ fenced off ── absent in two reads ────────── Find┘  ├── found: adopt ─>│
//	  └── the job failed without doing anything ────────────────────────────────┤ token limit: behind a gate
//	                                                         └── cannot tell: held, until a person says resend, adopt or drop
//
// Before the one call that costs money, Intend is committed with the provider's newest job as a cursor, and the money is
// reserved. A create whose fate is unknown is never sent again before Find has looked twice, the provider's lag apart, and
// what it names was deleted.
// Live segments go staged ─ GoLive ─> launched ─ Ask, Settle ─> settled. What they send and receive goes into a log first, one
// for every lease: the next holder reads it before anything is asked again.
package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// Engine is what it takes to drive runs. It is safe for concurrent use.
type Engine struct {
	Ledger   *store.Ledger
	Files    artifacts.Place
	Planner  Planner
	Accounts func(name string) (Access, error) // ErrNoKey: this process does not even know what the account takes
	Clock    Clock
	Timing   Timing
	Random   *rand.Rand // for jitter and nonces; guarded by the engine
	Holder   string     // who we are in leases: unique for this process

	mu       sync.Mutex
	queues   map[string]*accountQueue // where live requests wait, by account
	open     map[int64]time.Time      // segments whose jobs are looked at from here, and when next
	pruned   time.Time                // when those that others look at were last forgotten
	settling chan struct{}            // places of those that settle
}

// Access is an account as this process knows it. A process without its key can still say how its requests travel, and so
// extends runs that others send for.
type Access struct {
	provider.Account
	Fingerprint string // tells keys apart without showing the key
	Missing     error  // why nothing can be sent from here, wrapping ErrNoKey; nil: it can
}

// usable is an account that this process can call.
func (e *Engine) usable(name string) (Access, error) {
	a, err := e.Accounts(name)
	if err == nil {
		err = a.Missing
	}
	return a, err
}

// ErrNoKey says that this process has no key for an account: another one may.
var ErrNoKey = errors.New("no key for this account here")

// maxSteps bounds one Advance: a segment that moves more often than this is going in circles.
const maxSteps = 40

// Advance moves a segment as far as it can go now. *store.HeldError: another process is at it. ErrNoKey: not from here.
func (e *Engine) Advance(ctx context.Context, segment int64) error {
	err := e.hold(ctx, segment, func(ctx context.Context, t *tenure) (err error) {
		var w *work
		for range maxSteps {
			if w, err = e.lookAfter(ctx, t, w); err != nil {
				return err
			}
			if w.asleep() {
				return nil
			}
			if err := w.step(ctx); err != nil {
				return fmt.Errorf("%s: %w", w.g.State, err)
			}
		}
		return e.Ledger.Wake(ctx, t.l, e.Clock.Now().Add(e.Timing.PollMax), "it moved too often at once")
	})
	if err != nil {
		return fmt.Errorf("advance segment %d: %w", segment, err)
	}
	return nil
}

// hold does something under the lease of a segment, which is kept meanwhile and given back. *store.HeldError: other work goes
// on there, of this process or another.
func (e *Engine) hold(ctx context.Context, segment int64, do func(ctx context.Context, t *tenure) error) error {
	return e.under(ctx, func() (store.Lease, error) { return e.Ledger.HoldSegment(ctx, segment, e.Holder, e.Timing.Lease) }, do)
}

// at does something with a segment under its lease, as hold does.
func (e *Engine) at(ctx context.Context, segment int64, do func(ctx context.Context, w *work) error) error {
	return e.hold(ctx, segment, func(ctx context.Context, t *tenure) error {
		w, err := e.lookAfter(ctx, t, nil)
		if err != nil {
			return err
		}
		return do(ctx, w)
	})
}

// holdRun is hold for a run.
func (e *Engine) holdRun(ctx context.Context, run int64, do func(ctx context.Context, t *tenure) error) error {
	return e.under(ctx, func() (store.Lease, error) { return e.Ledger.HoldRun(ctx, run, e.Holder, e.Timing.Lease) }, do)
}

// work is one segment under our lease, with all it takes to move it.
type work struct {
	*Engine
	held   *tenure
	l      store.Lease // that of the tenure
	g      store.Segment
	run    store.Run
	policy Policy
	route  Route
	access Access
}

// asleep reports whether there is nothing to do now.
func (w *work) asleep() bool { return w.g.Due.IsZero() || w.g.Due.After(w.Clock.Now()) }

// lookAfter looks at a segment, at first or again after a step. Where it sleeps now, which is the end of nearly every look at a job,
// nothing else has to be read.
func (e *Engine) lookAfter(ctx context.Context, t *tenure, before *work) (*work, error) {
	g, err := e.Ledger.Segment(ctx, t.l.No)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if before.g = g; g.State == store.Launched && before.asleep() {
			return before, nil
		}
	}
	return e.look(ctx, t, g)
}

func (e *Engine) look(ctx context.Context, t *tenure, g store.Segment) (*work, error) {
	w := &work{Engine: e, held: t, l: t.l, g: g}
	var err error
	if w.g.State != store.Launched {
		e.unpoll(w.l.No)
	}
	if w.run, err = e.Ledger.Run(ctx, w.g.Run); err != nil {
		return nil, err
	}
	if w.policy, err = e.Planner.Policy(ctx, w.run); err != nil {
		return nil, err
	}
	if w.route, err = e.Planner.Route(ctx, w.run, w.g.Stage, w.g.Lane, w.g.Mode); err != nil {
		return nil, err
	}
	if w.g.Mode == store.Reuse {
		return w, nil
	}
	w.access, err = e.usable(w.g.Provider)
	return w, err
}

// step does the one thing that a segment's state asks for. It moves the segment, or says when to look again.
func (w *work) step(ctx context.Context) error {
	if w.g.Mode != store.Batch {
		return w.stepLive(ctx)
	}
	switch w.g.State {
	case store.Staged:
		return w.prepare(ctx)
	case store.Uploaded:
		return w.launch(ctx)
	case store.Intended:
		return w.find(ctx)
	case store.Launched:
		return w.check(ctx)
	case store.Ended:
		return w.fetch(ctx)
	case store.Fetched:
		return w.settle(ctx)
	case store.Settled:
		return w.lookLate(ctx)
	}
	return w.Ledger.Wake(ctx, w.l, time.Time{}, w.g.Reason) // nothing to do by itself
}

// job is the segment as the calls after Launch need it.
func (w *work) job() provider.Job {
	return provider.Job{ID: w.g.Job, Handle: provider.Handle(w.g.Handle), Stamp: w.stamp(), Model: w.g.Model, Wire: w.route.Wire, Count: int(w.g.Requests)}
}

func (w *work) stamp() provider.Stamp {
	return provider.Stamp{Run: w.run.ID, Segment: fmt.Sprintf("s%d", w.g.No), Attempt: w.attempt(), SHA256: w.g.InputSHA256}
}

// attempt is which create call of the segment is meant: the one to come, or the last there was.
func (w *work) attempt() int {
	if w.g.State == store.Staged || w.g.State == store.Uploaded {
		return int(w.g.Intends) + 1
	}
	return int(w.g.Intends)
}

// parcel is the segment as Prepare and Launch need it.
func (w *work) parcel(ctx context.Context) provider.BatchInput {
	return provider.BatchInput{Stamp: w.stamp(), Model: w.g.Model, Wire: w.route.Wire, Count: int(w.g.Requests), Body: w.source(ctx), Note: w.run.Note, By: w.run.By}
}
