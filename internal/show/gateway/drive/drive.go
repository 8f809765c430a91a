// Package drive drives the batches of gateways: every open one of a ledger, whichever gateway began it, to its end and its results.
package drive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
)

const (
	scanEvery   = 10 * time.Second // between looks for batches that another process began or left
	tryAgain    = time.Minute      // before a batch is driven again in which nothing moves
	sweepEvery  = time.Hour        // between looks for uploads that were cut off
	reviveEvery = 5 * time.Minute  // between tries of what a refused key or an empty account stopped
)

// Who orders that a batch is stopped, besides its user; no user has a space in their name.
const (
	ByBudget = "the budget" // is spent
	ByWindow = "the window" // is over, and nothing moved
)

// Prefix begins the ids of batches.
const Prefix = "batch_"

// PurposeOutput is the purpose of files with results.
const PurposeOutput = "batch_output"

// Options are the settings of a driver.
type Options struct {
	Home      *workspace.Home
	Providers *Providers
	Interval  time.Duration                                          // between polls of a job; 0: as usual
	Allowance func(user string) (within store.Allowance, known bool) // what a user may spend, and whether they are one still
	Sweep     func(ctx context.Context) error                        // takes away what uploads left that were cut off
	Log       *slog.Logger
}

// Driver drives batches. It is safe for concurrent use.
type Driver struct {
	Options
	wake chan struct{} // a batch is new, or is to be looked at
	name string        // under which the ledger knows its keys

	mu       sync.Mutex
	driving  map[int64]bool
	later    map[int64]time.Time // not driven before
	revived  map[int64]time.Time // when stopped lanes were last given another try
	finished map[int64]time.Time // runs whose results are written, and when they were closed
	shown    bool                // the ledger knows keys of this gateway
}

// New returns a driver that has nothing to do yet.
func New(o Options) *Driver {
	return &Driver{Options: o, wake: make(chan struct{}, 1), name: "gateway " + rand.Text(),
		driving: map[int64]bool{}, later: map[int64]time.Time{}, revived: map[int64]time.Time{}, finished: map[int64]time.Time{}}
}

// Runs lists the batches of a user, newest first; of all users where the name is empty.
func (s *Driver) Runs(ctx context.Context, user string, states ...store.RunState) ([]store.Run, error) {
	all, err := s.Home.Ledger.Reader.Runs(ctx, workspace.GatewayStudy, states...)
	if err != nil {
		return nil, err
	}
	var own []store.Run
	for _, run := range all {
		if b, ok := batchrun.Of(run); ok && b.Client != nil && (user == "" || run.By == user) {
			own = append(own, run)
		}
	}
	return own, nil
}

// Look has the batches looked at now.
func (s *Driver) Look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Work drives every open batch of the ledger until the context ends, whichever gateway began it.
func (s *Driver) Work(ctx context.Context) {
	var all sync.WaitGroup
	defer func() {
		all.Wait()
		_ = s.show(context.WithoutCancel(ctx), nil) // they are forgotten by themselves, too
	}()
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	var swept time.Time
	for ctx.Err() == nil {
		if time.Since(swept) > sweepEvery {
			swept = time.Now()
			if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("take cut uploads away", "error", err.Error())
			}
		}
		runs, err := s.Runs(ctx, "", store.RunOpen, store.RunClosed)
		if err != nil && ctx.Err() == nil {
			s.Log.Error("look for batches", "error", err.Error())
		}
		if err := s.show(ctx, runs); err != nil && ctx.Err() == nil {
			s.Log.Error("say which keys are here", "error", err.Error())
		}
		for _, run := range runs {
			if err := s.revive(ctx, run); err != nil && ctx.Err() == nil {
				s.Log.Error("try a batch again", "batch", Prefix+run.ID, "error", err.Error())
			}
			if s.take(run) {
				all.Go(func() { s.give(ctx, run) })
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-s.wake:
		}
	}
}

// take reports whether something is to be done about a run, and marks it as being done.
func (s *Driver) take(run store.Run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := run.State == store.RunClosed && s.finished[run.No].Equal(run.Closed)
	if done || s.driving[run.No] || time.Now().Before(s.later[run.No]) {
		return false
	}
	s.driving[run.No] = true
	return true
}

// give drives a run as far as it goes.
func (s *Driver) give(ctx context.Context, run store.Run) {
	wait, err := s.advance(ctx, run)
	if err != nil && ctx.Err() == nil {
		s.Log.Error("batch stands still", "batch", Prefix+run.ID, "error", err.Error())
	}
	s.mu.Lock()
	delete(s.driving, run.No)
	s.later[run.No] = time.Now().Add(wait)
	s.mu.Unlock()
	if wait == 0 && ctx.Err() == nil {
		s.Look()
	}
}

// advance drives a run to its end and writes its results, and returns when to try again if nothing moves.
func (s *Driver) advance(ctx context.Context, run store.Run) (time.Duration, error) {
	if run.State == store.RunOpen {
		st, err := s.Home.DriveAlone(ctx, run, s.Interval)
		if err != nil && !errors.Is(err, engine.ErrNoKey) { // without a key nothing moves
			return tryAgain, err
		}
		if run, err = s.Home.Ledger.Reader.Run(ctx, run.No); err != nil {
			return tryAgain, err
		}
		if run.State != store.RunClosed {
			return s.stuck(ctx, run, st.Budget)
		}
	}
	if err := s.finish(ctx, run); err != nil {
		return tryAgain, err
	}
	s.mu.Lock()
	s.finished[run.No] = run.Closed
	s.mu.Unlock()
	return 0, nil
}

// stuck decides about a run in which nothing moves. One that needs more money gets some of its user's, or ends if there is
// none. What waits for a key or a person is looked at again later, until its window is over; a job that another key made waits
// for that key.
func (s *Driver) stuck(ctx context.Context, run store.Run, budget bool) (time.Duration, error) {
	stops, err := s.Home.Ledger.Reader.OrdersOf(ctx, run.No, store.OrderCancel)
	if err != nil {
		return tryAgain, err
	}
	if budget && len(stops) == 0 {
		raised := false
		if within, known := s.Allowance(run.By); known { // no one else is given more money
			if raised, err = s.Home.Ledger.Clients.RaiseClientBudget(ctx, run.No, within); err != nil {
				return tryAgain, err
			}
		}
		if raised {
			return 0, nil
		}
		_, err = s.Home.Ledger.Runs.PutOrder(ctx, store.Order{Run: run.No, Kind: store.OrderCancel, Args: "{}", By: ByBudget})
		return 0, err
	}
	others, err := s.elsewhere(ctx, run)
	if err != nil {
		return tryAgain, err
	}
	if len(others) > 0 { // another gateway may have the key, and no other key ends a job
		return tryAgain, fmt.Errorf("segment %d waits for the key of %s that made its job (fingerprint %s)", others[0].No,
			others[0].Provider, others[0].Account)
	}
	held, err := s.Home.Ledger.Reader.Segments(ctx, run.No, store.Held)
	if err != nil {
		return tryAgain, err
	}
	b, _ := batchrun.Of(run)
	window := Window(b.Client.Window)
	if slices.ContainsFunc(held, func(g store.Segment) bool { return g.Job != "" }) {
		window *= 2 // its answers may be there, and paid: the key is tried for as long again
	}
	if s.Home.Ledger.Now().After(run.Created.Add(window)) {
		moved, err := s.expire(ctx, run, held, len(stops) == 0)
		if err != nil || moved {
			return 0, err
		}
	}
	return tryAgain, fmt.Errorf("it waits for a person or a key: `assay status %s` shows what for", run.ID)
}
