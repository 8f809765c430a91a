package runs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// atRest does something just before a segment is first put to sleep, as another process may, and looks at the run then.
func atRest(w *world, do func()) {
	busy, done := false, false
	w.around = func(op string, call func() error) error {
		if op == "wake" && !busy && !done && w.e != nil {
			busy = true
			do()
			_, err := w.e.Extend(w.ctx, w.run.No)
			w.ok(err)
			busy, done = false, true
		}
		return call()
	}
}

// TestAReasonThatGoesAwayWhileASegmentFallsAsleepIsNoticed: Extend wakes only what sleeps, and finds it awake.
func TestAReasonThatGoesAwayWhileASegmentFallsAsleepIsNoticed(t *testing.T) {
	t.Parallel()
	less := assay.Money(2500) // than the three requests cost
	for _, c := range []struct {
		name string
		set  func(w *world)
		do   func(w *world) // the reason goes away
		want store.Result
	}{
		{"the lane is resumed", func(w *world) {
			w.ok(w.s.Work.SetLane(w.ctx, w.run.No, "answers", "red", store.LaneStop{State: store.LanePaused, Reason: "paused"}))
		}, func(w *world) {
			w.ok(w.s.Work.SetLane(w.ctx, w.run.No, "answers", "red", store.LaneStop{State: store.LaneOpen}))
		}, store.ResultDone},
		{"the providers were compared", func(w *world) {
			w.ok(w.s.Work.OweReconcile(w.ctx, w.run.No, "older"))
		}, func(w *world) { w.ok(w.s.Work.Reconciled(w.ctx, w.run.No, "compared")) }, store.ResultDone},
		{"the budget is raised", func(w *world) {
			w.ok(w.s.Runs.SetBudget(w.ctx, w.run.No, &less))
		}, func(w *world) { w.ok(w.s.Runs.SetBudget(w.ctx, w.run.No, nil)) }, store.ResultDone},
		{"the run is cancelled", func(w *world) {
			w.ok(w.s.Work.SetLane(w.ctx, w.run.No, "answers", "red", store.LaneStop{State: store.LanePaused, Reason: "paused"}))
		}, func(w *world) {
			_, err := w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderCancel, Args: "{}", By: "anna"})
			w.ok(err)
		}, store.ResultCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { atRest(w, func() { c.do(w) }) })
			_, err := w.e.Extend(w.ctx, w.run.No) // the segment is staged
			w.ok(err)
			c.set(w)
			w.ok(w.e.Advance(w.ctx, w.segments()[0].No))
			w.finished(c.want)
		})
	}
}

// TestALaneThatIsPausedForAMomentGoesOnLive: what was stopped meanwhile is asked under a new lease, with a log of its own.
func TestALaneThatIsPausedForAMomentGoesOnLive(t *testing.T) {
	t.Parallel()
	set := func(w *world, to store.LaneStop) { w.ok(w.s.Work.SetLane(w.ctx, w.run.No, "answers", "red", to)) }
	var woken atomic.Bool
	w := newWorld(t, liveOf(100), func(w *world) {
		w.timing.Look = time.Millisecond
		w.fake.wobble = func(call string, n int) error {
			if call == "ask" && n == 5 {
				set(w, store.LaneStop{State: store.LanePaused, Reason: "paused"})
			}
			if call == "ask" && n >= 5 && !woken.Load() {
				<-time.After(5 * time.Millisecond)
			}
			return nil
		}
		w.around = func(op string, call func() error) error {
			if op == "wake" && !woken.Load() && w.e != nil { // the asking has stopped
				woken.Store(true)
				set(w, store.LaneStop{State: store.LaneOpen})
			}
			return call()
		}
	})
	w.finished(store.ResultDone)
	if !woken.Load() || len(w.fake.asked) != 100 {
		t.Errorf("the pause was noticed: %v; %d asked", woken.Load(), len(w.fake.asked))
	}
	w.askedOnce(100)
}

// TestALaneThatStopsBeforeItsRequestsAreCutKeepsTheRunOpen stops a lane as a canary's verdict does that comes before the wave.
func TestALaneThatStopsBeforeItsRequestsAreCutKeepsTheRunOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.s.Work.SetLane(w.ctx, w.run.No, "answers", "red", store.LaneStop{State: store.LaneStopped, Reason: "no verdict"}))
	st, err := w.drive()
	w.ok(err)
	if st.Closed || st.Asleep+st.Moving != 0 {
		t.Fatalf("standing %+v\n%s", st, w.history())
	}
	w.answers(3)
	w.retry()
	w.finished(store.ResultDone)
	w.answers(6)
}

// TestLiveRequestsThatWaitForAComparisonDoNotKeepItWaiting: what was asked live is no job at a provider, and goes on after it.
func TestLiveRequestsThatWaitForAComparisonDoNotKeepItWaiting(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	w := newWorld(t, liveOf(100), func(w *world) {
		w.fake.wobble = func(call string, n int) error {
			if call == "ask" && n == 5 {
				stop()
			}
			return nil
		}
	})
	_, err := w.e.Extend(w.ctx, w.run.No)
	w.ok(err)
	_ = w.e.Advance(ctx, w.segments()[0].No) // it ends in the middle
	w.ok(w.s.Work.OweReconcile(w.ctx, w.run.No, "older"))
	w.reopen()
	w.ok(w.e.Advance(w.ctx, w.segments()[0].No))
	if g := w.segments()[0]; g.State != store.Launched || !g.Due.IsZero() {
		t.Fatalf("it does not sleep: %+v\n%s", g, w.history())
	}
	w.finished(store.ResultDone)
	w.answers(100)
}
