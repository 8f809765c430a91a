// Package river drives all runs of a PostgreSQL ledger from any number of processes.
//
// River, a job queue in the same database, hands out the work: a job names a segment to advance or a run to extend, and
// sleeps until that is due. Who may act is decided by the ledger's leases alone. A job that is lost, doubled, early or
// late costs a look and nothing more, because every process also sweeps the ledger: whatever is due there and held by
// no worker becomes a job at once. So a killed process is replaced when its leases end and the next sweep comes, not
// when the queue notices.
//
//	ledger ── due, not held ────────> sweep ──> job ──> Advance or Extend ──> asleep until it is due again
//	   ▲                                         ▲               │
//	   └───────── moved, settled, made ──────────┼───────────────┤
//	                                             └── what it made due is offered at once
//
// Segments travel in one queue for each provider, and a process listens to those whose keys it has. To extend a run
// takes no key: any process does it that has one key of the run at least, and knows how the requests of all its lanes
// travel. Every process records in the ledger which keys it has, so that work which no worker can do is reported. A run
// in which a program judges is extended only by processes that may run programs.
package river

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
)

// Driver drives all runs of a ledger, beside any number of others.
type Driver struct {
	Ledger engine.Ledger
	URL    string                                                         // of the PostgreSQL database that holds the ledger
	Engine func(ctx context.Context, run store.Run) (*runs.Engine, error) // of one run: its study sets how its providers are reached
	Clock  engine.Clock
	Timing engine.Timing
	Log    *slog.Logger
	Name   string // who this process is to others: unique
	// reports whether a holder of leases is known to be dead; nil: it never is
	Gone        func(holder string) bool
	Connections int                                                    // of the queue to PostgreSQL; 0: 6
	Concurrency int                                                    // pieces of work at a time and provider; 0: 8
	Programs    bool                                                   // this process may run judging programs
	Judged      func(ctx context.Context, run store.Run) (bool, error) // reports whether a program judges in a run
	Ready       func()                                                 // called when jobs are taken and others see it; nil: not called
	Closed      func(ctx context.Context, run store.Run)               // called when this process has closed a run; nil: not called
	Woken       <-chan store.Work                                      // what became due before its time, to be done at once; nil: nothing
}

// Leases makes leases short enough that another process has the work of a killed process within a minute: when its lease
// has ended and the next sweep comes. A create call has to fit inside.
func Leases(t engine.Timing) engine.Timing {
	t.Lease, t.Create = min(t.Lease, 45*time.Second), min(t.Create, 40*time.Second)
	return t
}

// Bounds on one job. A job is one Advance or one Extend: an upload, a download or a slice of live requests at the most.
// What is cut off goes on where it was. Nothing waits for the rescue: the sweep puts another job beside a stuck one.
const (
	jobTimeout = time.Hour
	rescue     = jobTimeout + 5*time.Minute
)

// shift is one Drive: what a process knows while it takes jobs.
type shift struct {
	*Driver
	ctx    context.Context // ends when the process is to stop
	client *queue.Client[pgx.Tx]
	sweep  time.Duration

	mu        sync.Mutex
	engines   map[int64]*runs.Engine // by run
	served    map[int64]bool         // runs whose queues are looked after
	queues    map[string]bool        // we listen to these
	routes    map[work]string        // queues by work
	busy      map[work]bool          // under way in this process
	stumbles  map[work]stumble
	providers map[int64][]string          // of a run's lanes
	judged    map[int64]bool              // runs in which a program judges, or not
	hands     map[int64][]store.WorkerKey // the keys that we have for a run
	ids       map[int64]string            // of runs, as people name them
}

// work names what is to be done: a segment, or a run where the segment is 0.
type work struct{ run, segment int64 }

// Drive takes jobs until the context ends. Then it lets short steps come to their end, stops asking live, and gives its
// leases back.
func (d *Driver) Drive(ctx context.Context) error {
	if err := d.Timing.Check(); err != nil {
		return err
	}
	ctx, drain := context.WithCancelCause(ctx)
	defer drain(nil)
	pool, err := open(ctx, d.URL, cmp.Or(d.Connections, connections))
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrate(ctx, pool, d.Clock, d.Log); err != nil {
		return err
	}
	s := &shift{
		Driver: d, ctx: ctx, sweep: d.Timing.Lease / 4,
		engines: map[int64]*runs.Engine{}, served: map[int64]bool{}, queues: map[string]bool{}, routes: map[work]string{},
		busy: map[work]bool{}, stumbles: map[work]stumble{}, providers: map[int64][]string{}, judged: map[int64]bool{},
		hands: map[int64][]store.WorkerKey{}, ids: map[int64]string{},
	}
	if s.client, err = s.open(pool); err != nil {
		return fmt.Errorf("open the job queue: %w", err)
	}
	if err := s.client.Start(ctx); err != nil {
		return fmt.Errorf("take jobs: %w", err)
	}
	stopped := s.client.Stopped()
	var seen sync.WaitGroup
	seen.Go(func() {
		if led(ctx, pool, d.Clock) == nil && d.Ready != nil {
			d.Ready()
		}
	})
	seen.Go(func() { s.wakes(ctx) })
	s.sweeps(ctx, drain)
	<-stopped
	seen.Wait()
	gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.sweep)
	defer cancel()
	_ = s.Ledger.Leases.PutWorkerKeys(gone, s.Name, nil, 0) // they end by themselves, too
	return context.Cause(ctx)
}

// open makes the client. It listens to no queue that has jobs in it before the first sweep knows which.
func (s *shift) open(pool *pgxpool.Pool) (*queue.Client[pgx.Tx], error) {
	workers := queue.NewWorkers()
	if err := queue.AddWorkerSafely(workers, &advancer{shift: s}); err != nil {
		return nil, err
	}
	if err := queue.AddWorkerSafely(workers, &extender{shift: s}); err != nil {
		return nil, err
	}
	return queue.NewClient(riverpgxv5.New(pool), &queue.Config{
		Schema: schema, Logger: s.Log, Workers: workers,
		Queues:        map[string]queue.QueueConfig{unused: {MaxWorkers: 1, FetchPollInterval: time.Minute}},
		FetchCooldown: min(100*time.Millisecond, s.Timing.Lease/100), FetchPollInterval: min(time.Second, s.Timing.Lease/40),
		JobTimeout: jobTimeout, RescueStuckJobsAfter: rescue, SoftStopTimeout: s.Timing.Create, CompletedJobRetentionPeriod: time.Minute,
	})
}

// unused is a queue without jobs: a client that is to take jobs has to name one when it is made.
const unused = "unused"

// sweeps offers what is due in the ledger, again and again until the context ends. Where a newer program has changed the ledger, it
// has the process stop.
func (s *shift) sweeps(ctx context.Context, drain func(error)) {
	seen, blind := time.Time{}, false
	for {
		err := s.sweepOnce(ctx)
		if newer, ok := errors.AsType[*db.NewerError](err); ok {
			drain(newer)
			return
		}
		if err != nil && ctx.Err() == nil {
			s.Log.Error("the sweep of the ledger did not work; it is tried again", "error", err)
		}
		for began := time.Now(); time.Since(began) < s.sweep; {
			if s.Clock.Sleep(ctx, min(s.sweep, glance)) != nil {
				return
			}
			var err error
			if seen, err = s.glance(ctx, seen); err != nil && !blind && ctx.Err() == nil {
				s.Log.Error("runs that came due are not seen; the next sweep finds them", "error", err)
			}
			blind = err != nil // reported once, not every second
		}
	}
}

// wakes offers what became due before its time, until the context ends. What cannot be offered is found by the next sweep.
func (s *shift) wakes(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-s.Woken:
			if err := s.offer(ctx, []store.Work{w}); err != nil && ctx.Err() == nil {
				s.Log.Error("a poll was not woken; the next sweep finds it", "segment", w.Segment, "error", err)
			}
		}
	}
}

// glance is how often a process looks for runs that came due: one that was begun, or was given an order, does not wait for the
// next sweep.
const glance = time.Second

// glance offers the runs that came due after a moment, and returns the moment up to which it looked.
func (s *shift) glance(ctx context.Context, after time.Time) (time.Time, error) {
	due, now, err := s.Ledger.Leases.RunsDue(ctx, after)
	if err != nil {
		return after, err
	}
	for _, w := range due {
		s.serve(ctx, w.Run)
	}
	if err := s.offer(ctx, due); err != nil {
		return after, err
	}
	return now.Add(-glance), nil // what is committed now may have come due a little earlier
}

// sweepSize is how much a sweep offers at most: more than all processes do until the next.
const sweepSize = 4000

func (s *shift) sweepOnce(ctx context.Context) error {
	if err := s.Ledger.Leases.Current(ctx); err != nil {
		return err
	}
	if back, err := s.Ledger.Leases.KeepTime(ctx); err != nil {
		return err
	} else if back > 0 {
		s.Log.Warn("the database's clock was set back: what waits, waits no longer for it", "by", back)
	}
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	due, err := s.Ledger.Leases.Due(ctx, 0, sweepSize)
	if err != nil {
		return err
	}
	open, err := s.Ledger.Reader.Runs(ctx, "", store.RunOpen)
	if err != nil {
		return err
	}
	all := map[int64]bool{}
	s.mu.Lock()
	for _, r := range open {
		all[r.No], s.ids[r.No] = true, r.ID
	}
	s.mu.Unlock()
	for _, w := range due { // a closed run may have late results
		all[w.Run] = true
	}
	for run := range all {
		s.serve(ctx, run)
	}
	return errors.Join(s.show(ctx, all), s.offer(ctx, due))
}

// takeOver releases what dead processes held, so that their work need not wait until their leases end.
func (s *shift) takeOver(ctx context.Context) error {
	if s.Gone == nil {
		return nil
	}
	holders, err := s.Ledger.Leases.Holders(ctx)
	if err != nil {
		return err
	}
	for _, holder := range holders {
		if !s.Gone(holder) {
			continue
		}
		s.Log.Warn("a process has ended without giving its work back: it is taken over", "holder", holder)
		if err := s.Ledger.Leases.ReleaseDead(ctx, holder); err != nil {
			return err
		}
	}
	return nil
}

// show records the keys that this process has for some runs, until well after the next sweep.
func (s *shift) show(ctx context.Context, runs map[int64]bool) error {
	s.mu.Lock()
	var hands []store.WorkerKey
	for run := range runs {
		hands = append(hands, s.hands[run]...)
	}
	s.mu.Unlock()
	return s.Ledger.Leases.PutWorkerKeys(ctx, s.Name, hands, 3*s.sweep)
}

// id returns how people name a run, as far as it is known.
func (s *shift) id(run int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.ids[run], fmt.Sprint("no ", run))
}

// width returns how many jobs of a queue are done at a time.
func (s *shift) width() int { return cmp.Or(s.Concurrency, 8) }
