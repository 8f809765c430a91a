package runs_test

import (
	"context"
	"errors"
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

// asker lets a test see every live request before it is asked.
type asker struct {
	*fakeProvider
	mu     sync.Mutex
	n      int
	before func(n int)
}

func (a *asker) Ask(ctx context.Context, r *assay.Request) (provider.Reply, error) {
	a.mu.Lock()
	a.n++
	n := a.n
	a.mu.Unlock()
	a.before(n)
	return a.fakeProvider.Ask(ctx, r)
}

// process returns one more process on the ledger, by the test's clock.
func (w *world) process(name string, live provider.Asker, around func(op string, call func() error) error) *runs.Engine {
	s, err := ledger.Open(w.ctx, w.where, ledger.Options{Now: w.clock.Now, Around: around})
	w.ok(err)
	w.t.Cleanup(func() { s.Close() })
	return runs.New(engine.Config{Ledger: engine.Ledger{Work: s.Work, Leases: s.Leases, Limits: s.Limits, Reuse: s.Reuse, Reader: s.Reader},
		Files: w.files, Planner: w.plan, Clock: w.clock, Timing: w.timing, Random: rand.New(rand.NewPCG(3, 7)), Holder: name,
		Accounts: func(string) (engine.Access, error) {
			return engine.Access{Account: provider.Account{Name: "fake", Kind: "fake", BaseURL: "http://fake", Live: live},
				Fingerprint: "key1"}, nil
		}})
}

// TestWhatAHolderSendsAfterATakeoverIsTold ends a lease under a holder that believes in it, as a clock that is set does. What it sends
// after its log was taken over is asked twice, and told, whoever is done first.
func TestWhatAHolderSendsAfterATakeoverIsTold(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the old one ends first", "the new one ends first"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(40, func(w *world) { w.plan.live.Lane.Concurrency = 1 }))
			read, oldDone, newDone, left := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
			var once sync.Once
			later := &asker{fakeProvider: w.fake, before: func(int) {
				once.Do(func() { close(read) }) // the log of the old one has been read
				if first == "the old one ends first" {
					<-oldDone
				}
			}}
			var wg sync.WaitGroup
			early := &asker{fakeProvider: w.fake, before: func(n int) {
				switch n {
				case 10:
					w.ok(w.s.Leases.ReleaseDead(w.ctx, "old"))
					next := w.process("new", later, nil)
					wg.Go(func() {
						defer close(newDone)
						if err := next.Advance(w.ctx, 1); err != nil {
							t.Error(err)
						}
					})
					<-read
				case 11: // it has left after the log was read
					close(left)
					if first == "the new one ends first" {
						<-newDone
					}
				}
			}}
			old := w.process("old", early, func(op string, call func() error) error {
				if op == "settle" { // it does not learn before that the lease is another's
					<-left
				}
				return call()
			})
			_, err := w.e.Extend(w.ctx, w.run.No)
			w.ok(err)
			err = old.Advance(w.ctx, 1)
			close(oldDone)
			wg.Wait()
			if !errors.Is(err, store.ErrLeaseLost) || early.n < 11 {
				t.Fatalf("the old one asked %d and ended with %v", early.n, err)
			}
			w.finished(store.ResultDone)
			w.answers(40)
			w.billedOnce(40)
			twice := 0
			for _, n := range w.fake.asked {
				twice += n - 1
			}
			sum, err := w.s.Reader.DoubtSum(w.ctx, w.run.No)
			w.ok(err)
			if twice < 2 || int(sum.Calls) != twice {
				t.Errorf("%d were asked twice, %d are told\n%s", twice, sum.Calls, w.history())
			}
		})
	}
}

// TestTwoReadsAreApartByTheProcessOwnClock sets the ledger's clock ahead between two reads that do not see a job, which is there.
func TestTwoReadsAreApartByTheProcessOwnClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.launch = func(n int) provider.LaunchStatus {
		if n == 1 {
			return provider.Unknown
		}
		return provider.Accepted
	}
	w.fake.visible = w.timing.Create + w.timing.LagStamped - 5*time.Second
	var set time.Duration
	w.e.Own = func() time.Time { return w.clock.Now().Add(-set) }
	intended := func() bool {
		all, err := w.s.Reader.Segments(w.ctx, w.run.No)
		w.ok(err)
		return len(all) > 0 && all[0].Absents == 1
	}
	w.until(intended)
	set = 10 * time.Minute
	w.fake.visible += set
	w.clock.to(w.clock.Now().Add(set))
	w.finished(store.ResultDone)
	w.billedOnce(3)
	w.answers(3)
	if n := w.fake.calls["launch"]; n != 1 {
		t.Errorf("%d create calls\n%s", n, w.history())
	}
}
