package runs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

func (w *world) retry() {
	w.t.Helper()
	_, err := w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
	w.ok(err)
}

func TestAProviderThatIsAlwaysBusyHoldsTheLaneAndLosesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, why string }{
		{"launch", "busy 9 times in a row"}, {"prepare", "busy 9 times in a row"}, {"cursor", "busy 9 times in a row"},
	} {
		t.Run(c.call, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			busy := true
			w.fake.wobble = func(call string, n int) error {
				if busy && call == c.call {
					return &assay.Fault{Class: assay.FaultBusy, Status: 429, RetryAfter: time.Minute}
				}
				return nil
			}
			began := w.clock.Now()
			st, err := w.drive()
			w.ok(err)
			l := w.lane("red")
			if st.Closed || l.State != store.LaneHeld || !strings.Contains(l.Reason, c.why) {
				t.Fatalf("standing %+v, lane %s: %s\n%s", st, l.State, l.Reason, w.history())
			}
			if n := w.fake.calls[c.call]; n != 9 {
				t.Errorf("%d calls, want 9", n)
			}
			if took := w.clock.Now().Sub(began); took < 8*time.Minute {
				t.Errorf("it took %s: the provider asked for a minute each time", took)
			}
			w.retry() // still busy: eight more tries, and held again
			_, err = w.drive()
			w.ok(err)
			if n := w.fake.calls[c.call]; n != 18 || w.lane("red").State != store.LaneHeld {
				t.Errorf("%d calls, lane %s", n, w.lane("red").State)
			}
			busy = false
			w.retry()
			w.finished(store.ResultDone)
			w.billedOnce(3)
		})
	}
}

func TestAProviderThatCannotBeReachedIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.wobble = func(call string, n int) error {
		if call == "prepare" && n < 50 {
			return &assay.Fault{Class: assay.FaultBusy, Code: "network", Message: "no route to host"}
		}
		return nil
	}
	w.finished(store.ResultDone)
	w.billedOnce(3)
}

func TestJobsThatFailAgainAndAgainHoldTheLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.ends = func(*fakeJob) provider.State { return provider.StateFailed }
	w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
		return &assay.Fault{Class: assay.FaultUnknown, Message: "internal"}, nil
	}
	st, err := w.drive()
	w.ok(err)
	if l := w.lane("red"); st.Closed || l.State != store.LaneHeld || len(w.fake.jobs) != 4 {
		t.Errorf("lane %s after %d jobs\n%s", l.State, len(w.fake.jobs), w.history())
	}
}

func TestALineOutOfMoneyStopsTheLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(1, "free",
		assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultQuota, Status: 429, Code: "insufficient_quota"}})
	w.finished(store.ResultIncomplete)
	if l := w.lane("red"); l.State != store.LaneStopped || !strings.Contains(l.Reason, "insufficient_quota") {
		t.Errorf("lane %s: %s", l.State, l.Reason)
	}
	w.retry()
	w.finished(store.ResultDone)
}

func TestWithoutANamedLineTheLaneIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.ends = func(*fakeJob) provider.State { return provider.StateFailed }
	st, err := w.drive()
	w.ok(err)
	if l := w.lane("red"); st.Closed || l.State != store.LaneHeld || len(w.fake.jobs) != 1 {
		t.Errorf("lane %s after %d jobs\n%s", l.State, len(w.fake.jobs), w.history())
	}
}

func TestOneBadRequestIsFoundByHalvingItsJob(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{0, 3, 7} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { w.plan.items = 8; w.fake.limits.AllOrNothing = true })
			key := w.plan.at("red", bad, 1).Key().String()
			w.fake.ends = func(j *fakeJob) provider.State {
				for _, line := range j.lines {
					if strings.Contains(string(line), key) {
						return provider.StateFailed
					}
				}
				return provider.StateEnded
			}
			w.finished(store.ResultIncomplete)
			if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 7, assay.Rejected: 1}, w.lane("red").Endings); d != "" {
				t.Errorf("%s\n%s", d, w.history())
			}
			w.billedOnce(7)
			if n := len(w.fake.jobs); n != 1+2+2+2 {
				t.Errorf("%d jobs, want 7: eight requests are halved three times", n)
			}
			w.countersAgree()
		})
	}
}
