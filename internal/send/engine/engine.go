// Package engine holds what driving runs depends on: the planner's port, accounts, the clock and all waits. The work is
// done by the packages below it, by durable steps: what was paid for is kept, and what is known is never paid for
// again.
//
// runs.Engine.Advance moves one segment as far as it can go now; Extend makes the segments of a run that can go out
// next. Both may be called at any time, by any process, any number of times: who may work is decided by a lease in the
// ledger (hold), and every step is one transaction that can be repeated or taken up by another process after a kill. A
// segment goes as a job (batch) or request by request (live); stage cuts what is ready into segments.
//
//	staged ─ Prepare ─> uploaded ─ Intend (durable) ─> intended ─ Launch ─> launched ─ Check ─> ended ─ Fetch ─> fetched ─Decode─> settled
//	  ▲ ▲                  ▲                              │  │                  │                 ▲                 │
//	  │ └─ gone ───────────┤                              │  │                  │                 └─── missing ─────┘ 3 times, then lost
//	  │                    └── surely refused ────────────┤  │                  │
//	  ├─ fenced off ── absent in two reads ────────── Find┘  ├── found: adopt ─>│
//	  └── the job failed without doing anything ────────────────────────────────┤ token limit: behind a gate
//	                                                         └── cannot tell: held, until a person decides: resend, adopt or drop
//
// Before the one call that costs money, Intend is committed with the provider's newest job as a cursor, and the money
// is reserved. A create call of unknown outcome is never sent again before Find has looked twice, the provider's lag
// apart, and what it names was deleted. Live segments go staged ─ GoLive ─> launched ─ Ask, Settle ─> settled. What
// they send and receive goes into a log first, one for every lease: the next holder reads it before anything is asked
// again.
package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/sending"
	"assay/internal/send/provider"
)

// Config holds the dependencies of driving runs.
type Config struct {
	Ledger   Ledger
	Files    artifacts.Place
	Planner  Planner
	Accounts func(name string) (Access, error) // ErrNoKey: this process does not even know what the account takes
	Clock    Clock                             // the ledger's
	Own      func() time.Time                  // this process's own, for what no other process reads; nil: that of Clock
	Timing   Timing
	Random   *rand.Rand // for jitter and nonces; guarded by Waits
	Holder   string     // who we are in leases: unique for this process

	Unwritten func(error) // called when something cannot be written for a while and is tried again; nil: not called
}

// Ledger has the faces of the ledger that driving runs takes.
type Ledger struct {
	Work    *sending.Store   // steps of segments
	Leases  *sending.Leases  // who works on what
	Limits  *sending.Limits  // what accounts may send
	Uploads *sending.Uploads // files that requests show, at their providers
	Reuse   *read.Reuse      // answers of other runs
	Reader  *read.Reader
}

// Access is an account as this process knows it. A process without its key still knows how its requests travel, and so
// extends runs that others send for.
type Access struct {
	provider.Account
	Fingerprint string // identifies a key without showing it
	Missing     error  // why nothing can be sent from here, wrapping ErrNoKey; nil: it can
}

// ErrNoKey is the error of a process that has no key for an account: another one may.
var ErrNoKey = errors.New("no key for this account here")

// ErrOtherKey is the error of a look at a job that another key made, and that the provider does not show to the one that is here. When to
// look again is in the ledger: somebody may bring that key.
var ErrOtherKey = errors.New("the job was made with a key that is not here")

// Usable returns an account that this process can call.
func (c *Config) Usable(name string) (Access, error) {
	a, err := c.Accounts(name)
	if err == nil {
		err = a.Missing
	}
	return a, err
}

// Insist repeats a call to the ledger while that cannot be reached, for as long as a lease lasts: replies that are paid for
// are kept meanwhile.
func (c *Config) Insist(ctx context.Context, call func() error) error {
	began := c.Own()
	return InsistUntil(ctx, c, call, func() bool { return Elapsed(began, c.Own()) > c.Timing.Lease })
}

// InsistUntil is Insist until it is over.
func InsistUntil(ctx context.Context, c *Config, call func() error, over func() bool) error {
	waited := time.Duration(0)
	for wait := firstAgain; ; wait = min(2*wait, lastAgain) {
		err := call()
		if err == nil || final(err) || over() {
			return err
		}
		if before := waited; c.Unwritten != nil && before < silentAgain && before+wait >= silentAgain {
			c.Unwritten(err)
		}
		waited += wait
		if c.Clock.Sleep(ctx, min(wait, c.Timing.Lease/4)) != nil {
			return err
		}
	}
}

// firstAgain is how long to wait before the ledger is called again, and lastAgain the longest such wait.
const firstAgain, lastAgain = 50 * time.Millisecond, 5 * time.Second

// silentAgain is how long it is waited before that is reported.
const silentAgain = time.Second

// final reports whether the ledger has refused: another call would be refused, too.
func final(err error) bool {
	for _, no := range []error{store.ErrLeaseLost, store.ErrBudget, store.ErrNotFound, store.ErrAnswered, context.Canceled} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
