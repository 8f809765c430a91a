package runs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/ratelimit"
)

// liveOf returns a world of one lane that is asked live.
func liveOf(items int, set ...func(w *world)) func(w *world) {
	return func(w *world) {
		w.plan.mode, w.plan.items, w.plan.lanes = store.Live, items, []string{"red"}
		for _, s := range set {
			s(w)
		}
	}
}

func (w *world) asked() (n int) {
	for _, times := range w.fake.asked {
		n += times
	}
	return n
}

// lastAsked returns when the newest live request began.
func (w *world) lastAsked() *time.Time {
	last := new(time.Time)
	w.fake.wobble = func(call string, _ int) error {
		if call == "ask" {
			*last = w.clock.Now()
		}
		return nil
	}
	return last
}

func TestQuotaAndDeniedStopALiveLaneAtOnce(t *testing.T) {
	t.Parallel()
	for _, class := range []assay.FaultClass{assay.FaultQuota, assay.FaultDenied} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(100))
			w.fake.wobble = func(call string, n int) error {
				if call == "ask" && n > 5 {
					return &assay.Fault{Class: class, Status: 429, Message: "no more"}
				}
				return nil
			}
			_, err := w.drive()
			w.ok(err)
			if l := w.lane("red"); l.State != store.LaneStopped || l.Reason != string(class)+" (HTTP 429): no more" {
				t.Errorf("the lane is %s: %q", l.State, l.Reason)
			}
			if n := w.fake.calls["ask"]; n > 80 {
				t.Errorf("asked %d times", n)
			}
			w.fake.wobble = nil
			_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
			w.ok(err)
			w.finished(store.ResultDone)
			w.answers(100)
			w.billedOnce(100)
		})
	}
}

func TestALaneWithTooManyErrorsStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(6000, func(w *world) {
		w.timing.Look = time.Millisecond
		w.plan.policy.StopAbove = map[string]float64{"red": 0.1}
	}))
	w.fake.live = func(prompt string, _ int) (assay.Outcome, error) {
		if len(prompt)%2 == 0 {
			return assay.Outcome{Ending: assay.Answered, Text: "yes"}, nil
		}
		f := &assay.Fault{Class: assay.FaultInvalid, Status: 400, Message: "no"}
		return assay.Outcome{Ending: assay.Rejected, Fault: f}, f
	}
	_, err := w.drive()
	w.ok(err)
	l := w.lane("red")
	if l.State != store.LaneStopped || l.Endings[assay.Rejected] == 0 {
		t.Errorf("the lane is %s (%s) with %v", l.State, l.Reason, l.Endings)
	}
	if w.fake.calls["ask"] == 6000 {
		t.Error("everything was asked all the same")
	}
}

func TestAFewErrorsSayNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(10, func(w *world) { w.plan.policy.StopAbove = map[string]float64{"red": 0.1} }))
	w.fake.live = func(string, int) (assay.Outcome, error) {
		f := &assay.Fault{Class: assay.FaultInvalid, Status: 400, Message: "no"}
		return assay.Outcome{Ending: assay.Rejected, Fault: f}, f
	}
	w.finished(store.ResultIncomplete)
	if l := w.lane("red"); l.State != store.LaneOpen {
		t.Errorf("the lane is %s: %s", l.State, l.Reason)
	}
}

func TestTriesAreCapped(t *testing.T) {
	t.Parallel()
	two := 2
	for _, c := range []struct {
		name    string
		err     error
		retries *int
		want    int
	}{
		{"busy", &assay.Fault{Class: assay.FaultBusy, Status: 529}, nil, 9},
		{"busy, as the study says", &assay.Fault{Class: assay.FaultBusy, Status: 529}, &two, 3},
		{"invalid", &assay.Fault{Class: assay.FaultInvalid, Status: 400}, nil, 1},
		{"unknown", errors.New("the line went dead"), nil, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(1, func(w *world) { w.plan.live.Retries = c.retries }))
			w.fake.wobble = func(call string, _ int) error {
				if call == "ask" {
					return c.err
				}
				return nil
			}
			w.finished(store.ResultIncomplete)
			if got := w.fake.calls["ask"]; got != c.want {
				t.Errorf("asked %d times, want %d", got, c.want)
			}
		})
	}
}

func TestALostReplyIsNamedAsOftenAsItWasLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(3))
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n <= 2 {
			return context.DeadlineExceeded
		}
		return nil
	}
	w.finished(store.ResultDone)
	times := int64(0)
	for d, err := range w.s.Reader.Doubts(w.ctx, w.run.No) {
		w.ok(err)
		times += d.Times
		if !d.Lost {
			t.Errorf("%+v", d)
		}
	}
	if times != 2 {
		t.Errorf("%d lost replies are named", times)
	}
}

func TestAnswersAreKeptWhereTheLedgerFailsForAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(4, func(w *world) { w.timing.Linger = time.Minute })) // all four are written at once
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n == 1 {
			return context.DeadlineExceeded
		}
		return nil
	}
	broken := errors.New("the disk is gone")
	w.around = func(op string, call func() error) error {
		if op == "unanswered" {
			return broken
		}
		return call()
	}
	w.reopen()
	if _, err := w.drive(); !errors.Is(err, broken) {
		t.Fatalf("driving ended with %v", err)
	}
	w.around = nil
	w.reopen()
	w.finished(store.ResultDone)
	if n := w.fake.calls["ask"]; n != 5 {
		t.Errorf("asked %d times, want the four and the lost one again", n)
	}
}

func TestCapsOfTheStudyAreObeyed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		n    int
		live engine.Live
		want time.Duration // at least this until the last
		most time.Duration
	}{
		{"a pause of the lane", 10, engine.Live{Lane: ratelimit.Caps{Concurrency: 1, Pause: 20 * time.Second}}, 9 * 20 * time.Second,
			6 * time.Minute},
		{"a rate of the provider", 10, engine.Live{Account: ratelimit.Caps{Rate: 2}}, 4500 * time.Millisecond, 9 * time.Second},
		// An answer takes 20 tokens. The first one is expected to take 13 times as many, and what it leaves may be spent at once.
		{"tokens of the provider", 40, engine.Live{Account: ratelimit.Caps{Tokens: 100}}, 4 * time.Second, 40 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(c.n, func(w *world) { w.plan.live = c.live }))
			last := w.lastAsked()
			start := w.clock.Now()
			w.finished(store.ResultDone)
			if took := last.Sub(start); took < c.want || took > c.most {
				t.Errorf("the last of %d began after %s, want %s to %s", c.n, took, c.want, c.most)
			}
		})
	}
}

func TestASegmentDoesNotWaitForTheShareOfTheOneBefore(t *testing.T) {
	t.Parallel()
	for name, live := range map[string]engine.Live{
		"of a lane":     {Lane: ratelimit.Caps{Concurrency: 4}},
		"of an account": {Account: ratelimit.Caps{Concurrency: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(10, func(w *world) { w.plan.live, w.plan.turns, w.plan.lanes = live, 2, []string{"red", "blue"} }))
			last := w.lastAsked()
			start := w.clock.Now()
			w.finished(store.ResultDone)
			if took := last.Sub(start); took != 0 {
				t.Errorf("the last began %s after the first, and nothing was busy", took)
			}
			w.answers(40)
		})
	}
}

func TestAnswersThatCostMoreThanExpectedStopAtTheBudget(t *testing.T) {
	t.Parallel()
	budget := assay.Money(1_000_000) // 50 answers of 20 tokens; 1000 requests are expected to cost as much
	w := newWorld(t, liveOf(1000, func(w *world) { w.budget, w.plan.price = &budget, 1000 }))
	_, err := w.drive()
	w.ok(err)
	w.ok(w.s.Leases.RunDue(w.ctx, w.run.No, w.clock.Now())) // only a look shows what the run waits for
	st, err := w.drive()
	w.ok(err)
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if !st.Budget || r.State == store.RunClosed {
		t.Errorf("standing %+v of a run that is %s", st, r.State)
	}
	if n := w.asked(); n < 40 || n > 50+64 { // and those that were in flight: eight at first, one more with each answer
		t.Errorf("asked %d", n)
	}
}

func TestAllAnsweredIsDoneWhateverItCost(t *testing.T) {
	t.Parallel()
	budget := assay.Money(70_000) // four answers of 20 tokens cost 80,000; they are expected to cost 4,000
	w := newWorld(t, liveOf(4, func(w *world) { w.budget, w.plan.price = &budget, 1000 }))
	w.finished(store.ResultDone)
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if r.Spent != 80_000 || r.Reserved != 0 {
		t.Errorf("spent %s, reserved %s", r.Spent, r.Reserved)
	}
}

func TestADeadlineEndsLiveRequestsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(100, func(w *world) {
		w.plan.policy.Deadline, w.timing.Look = time.Hour, time.Millisecond
		w.plan.live.Lane = ratelimit.Caps{Pause: 5 * time.Minute}
	}))
	w.finished(store.ResultIncomplete)
	l := w.lane("red")
	if l.Endings[assay.Cancelled] == 0 || l.Endings[assay.Answered] == 0 || l.Endings[assay.Cancelled]+l.Endings[assay.Answered] != 100 {
		t.Errorf("endings %v", l.Endings)
	}
}

func TestAnInterruptLetsWhatIsInFlightComeHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(500))
	ctx, stop := context.WithCancel(w.ctx)
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n == 100 {
			stop()
		}
		return nil
	}
	w.ctx = ctx
	_, err := w.drive()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	w.ctx, w.fake.wobble = context.Background(), nil
	if n := w.fake.calls["ask"]; n > 100+ratelimit.DefaultMost {
		t.Errorf("%d were asked after the interrupt", n-100)
	}
	w.finished(store.ResultDone)
	w.answers(500)
	w.billedOnce(500)
	for d, err := range w.s.Reader.Doubts(w.ctx, w.run.No) {
		w.ok(err)
		t.Errorf("%s is doubted", fmt.Sprint(d))
	}
}

// TestARetryKeepsTheMode cancels a live run, or a batch run after its canary, and retries it: what is left goes as its lane does.
func TestARetryKeepsTheMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.SegmentMode{store.Live, store.Batch} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) {
				if w.plan.mode = mode; mode == store.Batch {
					w.canary = store.CanaryDue
				}
			})
			w.untilStep(func() bool {
				all := w.segments(store.Staged)
				return len(all) == 1 && all[0].Purpose == store.ForWave
			})
			_, err := w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderCancel})
			w.ok(err)
			_, err = w.drive()
			w.ok(err)
			_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
			w.ok(err)
			w.finished(store.ResultDone)
			w.answers(3)
			for _, g := range w.segments(store.Settled) {
				if g.Purpose == store.ForAgain && g.Mode != mode {
					t.Errorf("segment %d goes %s\n%s", g.No, g.Mode, w.history())
				}
			}
		})
	}
}
