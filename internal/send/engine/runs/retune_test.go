package runs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/provider"
)

// tuned is a planner that follows what a person tuned, and counts the workers that do.
type tuned struct {
	*planner
	by *counter
}

func (p tuned) Route(ctx context.Context, run store.Run, stage, lane string, mode store.SegmentMode) (engine.Route, error) {
	r, err := p.planner.Route(ctx, run, stage, lane, mode)
	t, lost := run.Limits()
	p.by.follow(run.Tuned)
	r.Live.Lane.Concurrency = cmp.Or(t.Lane(lane).Concurrency, r.Live.Lane.Concurrency)
	r.Live.Lane.Rate = cmp.Or(t.Lane(lane).Rate, r.Live.Lane.Rate)
	return r, errors.Join(err, lost)
}

// counter is a provider whose answers come when the test lets them.
type counter struct {
	*fakeProvider
	mu     sync.Mutex
	moved  *sync.Cond
	flying int
	served int
	let    int // so many more answers may come
	most   int // in flight at a time, since it was last set

	follows map[string]int // how many workers have read what was tuned
}

func newCounter(f *fakeProvider) *counter {
	c := &counter{fakeProvider: f, follows: map[string]int{}}
	c.moved = sync.NewCond(&c.mu)
	return c
}

func (c *counter) Ask(ctx context.Context, r *assay.Request) (provider.Reply, error) {
	c.mu.Lock()
	c.flying++
	c.most = max(c.most, c.flying)
	c.moved.Broadcast()
	for c.let == 0 {
		c.moved.Wait()
	}
	c.let = max(c.let-1, 0)
	c.flying--
	c.served++
	c.moved.Broadcast()
	c.mu.Unlock()
	return c.fakeProvider.Ask(ctx, r)
}

func (c *counter) follow(tuning string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follows[tuning]++
	c.moved.Broadcast()
}

// until waits until something is so, and lets answers come one by one meanwhile, while more than so many are in flight.
func (c *counter) until(above int, so func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := false
	defer time.AfterFunc(5*time.Minute, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.moved.Broadcast()
	}).Stop()
	for !so() {
		if late {
			panic(fmt.Sprintf("it never comes to that: %d in flight, %d answered, followed %v", c.flying, c.served, c.follows))
		}
		if c.let == 0 && c.flying > above {
			c.let = 1
			c.moved.Broadcast()
		}
		c.moved.Wait()
	}
}

// drain lets answers come, one by one, until nothing more is asked.
func (c *counter) drain(wait func()) {
	over := false
	go func() {
		wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		over = true
		c.moved.Broadcast()
	}()
	c.until(0, func() bool { return over })
}

// worker returns one more process on the ledger, by the machine's clock.
func (w *world) worker(name string, live *counter) *runs.Engine {
	s, err := ledger.Open(w.ctx, w.where, ledger.Options{})
	w.ok(err)
	w.t.Cleanup(func() { s.Close() })
	timing := engine.DefaultTiming()
	timing.Look = time.Millisecond
	return runs.New(engine.Config{Ledger: engine.Ledger{Work: s.Work, Leases: s.Leases, Limits: s.Limits, Reuse: s.Reuse, Reader: s.Reader},
		Files: w.files, Planner: tuned{w.plan, live}, Clock: engine.WallClock(), Timing: timing,
		Random: rand.New(rand.NewPCG(1, 7)), Holder: name,
		Accounts: func(string) (engine.Access, error) {
			return engine.Access{Account: provider.Account{Name: "fake", Kind: "fake", BaseURL: "http://fake", Live: live},
				Fingerprint: "key1"}, nil
		}})
}

func (w *world) tune(is store.Tuning, set ...func(*store.Retuning)) {
	w.t.Helper()
	run, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	r := store.Retuning{Run: run.No, Was: run.Tuned, Is: is, What: "for a test"}
	for _, s := range set {
		s(&r)
	}
	done, err := w.s.Runs.Tune(w.ctx, r)
	if w.ok(err); !done {
		w.t.Fatal("it was not tuned")
	}
}

// live stages the live segments of the run, and works on each in a process of its own.
func (w *world) asksLive(c *counter) (wait func()) {
	w.t.Helper()
	_, err := w.e.Extend(w.ctx, w.run.No)
	w.ok(err)
	all, err := w.s.Reader.Segments(w.ctx, w.run.No)
	w.ok(err)
	var wg sync.WaitGroup
	for i, g := range all {
		e := w.worker(fmt.Sprintf("worker %d", i+1), c)
		wg.Go(func() {
			if err := e.Advance(w.ctx, g.No); err != nil {
				w.t.Error(err)
			}
		})
	}
	return wg.Wait
}

func TestALimitThatIsTunedIsObeyedByAllWorkersAtOnce(t *testing.T) {
	t.Parallel()
	// a segment has 5,000; the second must last to the end
	w := newWorld(t, liveOf(7000, func(w *world) { w.plan.live.Lane.Concurrency = 8 }))
	c := newCounter(w.fake)
	wait := w.asksLive(c)
	flying := func(n int) func() bool { return func() bool { return c.flying == n } }
	c.until(8, flying(8))
	followed := func() {
		run, err := w.s.Reader.Run(w.ctx, w.run.No)
		w.ok(err)
		c.until(2, func() bool { return c.follows[run.Tuned] == 2 })
		clear(c.follows)
	}
	two := []store.Tuning{{Every: store.Limits{Concurrency: 2}}, {Lanes: map[string]store.Limits{"red": {Concurrency: 2}}}}
	for i := range 2 { // a worker that has read the second has carried out the first
		w.tune(two[i])
		followed()
	}
	c.until(2, func() bool { return c.flying <= 2 })
	for range 1 + 8 - 2 { // each of those that were let through before, and are on their way only now, can spoil one look
		c.mu.Lock()
		c.most = c.flying
		c.mu.Unlock()
		for i := range 10 { // time for more, which nobody takes
			w.tune(two[i%2])
			followed()
		}
		if c.most <= 2 {
			break
		}
	}
	if c.most > 2 {
		t.Errorf("%d in flight at a time after the limit became 2", c.most)
	}
	w.tune(store.Tuning{Lanes: map[string]store.Limits{"red": {Concurrency: 6}}})
	served := c.served
	c.until(0, func() bool { return c.served > served+20 })
	c.until(6, flying(6))
	w.tune(store.Tuning{Every: store.Limits{Concurrency: 1}}, func(r *store.Retuning) { r.Pause = []string{"red"} })
	c.drain(wait) // all that was in flight comes back, and the rest waits
	if l := w.lane("red"); l.State != store.LanePaused || l.Ended() == 7000 {
		t.Errorf("lane %s after %d answers", l.State, l.Ended())
	}
	st, err := w.drive()
	w.ok(err)
	if st.Closed || len(st.Paused) != 1 {
		t.Errorf("standing %+v of a run with a paused lane", st)
	}
	w.retry() // opens what is stopped, and not what is paused
	_, err = w.drive()
	if w.ok(err); w.lane("red").State != store.LanePaused {
		t.Error("a retry goes on with a lane that is paused")
	}
	w.tune(store.Tuning{}, func(r *store.Retuning) { r.Unpause = []string{"red"} })
	w.finished(store.ResultDone)
	w.answers(7000)
}

func TestABudgetThatIsLoweredStopsLiveRequests(t *testing.T) {
	t.Parallel()
	budget := assay.Money(100_000_000)
	w := newWorld(t, liveOf(4000, func(w *world) { w.budget, w.plan.price, w.plan.live.Lane.Concurrency = &budget, 20_000, 1 }))
	c := newCounter(w.fake)
	wait := w.asksLive(c)
	c.until(0, func() bool { return c.served >= 20 }) // 20,000 each
	low := assay.Money(100_000)
	w.tune(store.Tuning{}, func(r *store.Retuning) { r.Budget = &low })
	c.drain(wait)
	_, err := w.drive()
	w.ok(err)
	w.ok(w.s.Leases.RunDue(w.ctx, w.run.No, w.clock.Now())) // only a look shows what the run waits for
	st, err := w.drive()
	w.ok(err)
	if l := w.lane("red"); !st.Budget || l.Ended() == 4000 {
		t.Errorf("standing %+v after %d answers", st, l.Ended())
	}
	w.tune(store.Tuning{}, func(r *store.Retuning) { r.Budget = &budget })
	w.finished(store.ResultDone)
	w.answers(4000)
}
