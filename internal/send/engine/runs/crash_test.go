package runs_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"assay/internal/keep/store"
)

// crash kills the process at its n-th call to the ledger or the provider: before the call, or after it took effect. From
// then on nothing the dead process does has any effect.
type crash struct {
	mu    sync.Mutex
	at    int // 0: never
	after bool
	calls int
	dead  bool
	where string
}

// arrive counts a call. It reports whether the call may be made, and whether the process dies after it.
func (c *crash) arrive(name string) (may, dies bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return false, false
	}
	if c.calls++; c.calls != c.at {
		return true, false
	}
	c.where = name
	if !c.after {
		c.dead = true
	}
	return c.after, c.after
}

func (c *crash) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
}

func (c *crash) ledger(op string, call func() error) error {
	may, dies := c.arrive("ledger: " + op)
	if !may {
		return errDead
	}
	err := call()
	if dies {
		c.die()
		return errDead
	}
	return err
}

// kills is how many points of each scenario are tried; 0: every one.
var kills = flag.Int("kills", 6, "points at which each scenario is killed; 0: all")

// scenario is a study whose run is killed everywhere.
type scenario struct {
	name     string
	requests int
	set      func(w *world)
}

func scenarios() []scenario {
	return []scenario{
		{"one turn", 6, func(w *world) {}},
		{"two turns and a canary", 12, func(w *world) { w.plan.turns, w.canary, w.plan.lanes[1] = 2, store.CanaryDue, "green" }},
		{"live", 6, func(w *world) { w.plan.mode, w.plan.live.Lane.Concurrency = store.Live, 2 }},
		{"one turn on PostgreSQL", 6, onPostgres},
		{"no stamps", 6, func(w *world) { w.fake.stamped = false; w.fake.takes = 2 * time.Minute }},
	}
}

// onPostgres moves a world to PostgreSQL. Its leases go by the server's clock, which no test can move: they are short.
func onPostgres(w *world) {
	w.where = server.Cleared(w.t)
	w.timing.Lease, w.timing.Create = 2*time.Second, time.Second
}

// TestAKillAnywhereCostsNothing kills the process at calls to the ledger and to the provider, before they are made and
// after they took effect, and lets another one go on: the run ends as if nothing had happened, and everything was billed
// once.
func TestAKillAnywhereCostsNothing(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			undisturbed := &crash{}
			killed(t, s, undisturbed)
			if undisturbed.calls < 30 {
				t.Fatalf("only %d calls: the test sees nothing", undisturbed.calls)
			}
			points := 2 * undisturbed.calls
			step := 1.0
			if *kills > 0 {
				step = float64(points) / float64(*kills)
			}
			for p := step / 3; p < float64(points); p += step {
				c := &crash{at: int(p)/2 + 1, after: int(p)%2 == 1}
				t.Run(fmt.Sprint("at call ", c.at), func(t *testing.T) { killed(t, s, c) }) // its ledger is closed and cleared then
				if t.Failed() {
					t.Fatalf("killed at call %d of %d (%s, after %v)", c.at, undisturbed.calls, c.where, c.after)
				}
			}
		})
	}
}

// killed runs a scenario through a crash, with a second process that goes on.
func killed(t *testing.T, s scenario, c *crash) {
	t.Helper()
	w := newWorld(t, s.set)
	defer func() { w.s.Close(); w.files.Close() }() // there are hundreds of them
	w.around = c.ledger
	w.reopen()
	w.e.Accounts = deadly(w, c)
	_, err := w.drive()
	if c.at == 0 && err != nil {
		t.Fatal(err)
	}
	c.die()
	w.around = nil
	w.reopen()
	w.clock.to(w.clock.Now().Add(10 * time.Second))
	st, err := w.drive()
	w.ok(err)
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if r.State != store.RunClosed || r.Result != store.ResultDone {
		t.Errorf("the run is %s %q: %+v\n%s", r.State, r.Result, st, w.history())
	}
	if r.Reserved != 0 {
		t.Errorf("%s stay reserved", r.Reserved)
	}
	w.answers(s.requests)
	w.billedOnce(s.requests)
	w.countersAgree()
}

// countersAgree checks that the lanes' counters equal the answers.
func (w *world) countersAgree() {
	w.t.Helper()
	n := map[string]int64{}
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		n[fmt.Sprint(a.Lane, a.Outcome.Ending)]++
	}
	lanes, err := w.s.Reader.Lanes(w.ctx, w.run.No)
	w.ok(err)
	for _, l := range lanes {
		if l.Open != 0 {
			w.t.Errorf("lane %s counts %d open", l.Name, l.Open)
		}
		for e, m := range l.Endings {
			if n[fmt.Sprint(l.Name, e)] != m {
				w.t.Errorf("lane %s counts %d %s, there are %d", l.Name, m, e, n[fmt.Sprint(l.Name, e)])
			}
		}
	}
}
