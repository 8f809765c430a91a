package runs_test

import (
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

func TestAnEmptyOrCutCanaryHoldsItsLane(t *testing.T) {
	t.Parallel()
	for ending, text := range map[assay.Ending]string{assay.Empty: "", assay.Cut: "Well, I"} {
		t.Run(string(ending), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { w.canary = store.CanaryDue })
			w.fake.live = func(string, int) (assay.Outcome, error) { return assay.Outcome{Ending: ending, Text: text}, nil }
			_, err := w.drive()
			w.ok(err)
			l := w.lane("red")
			if len(w.fake.jobs) != 0 || l.State != store.LaneStopped || l.Canary != store.CanaryFailed ||
				!strings.Contains(l.Reason, "max_tokens") {
				t.Fatalf("%d jobs, lane %+v", len(w.fake.jobs), l)
			}
			_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
			w.ok(err)
			_, err = w.drive()
			w.ok(err)
			if l := w.lane("red"); l.Endings[assay.Answered] != 2 {
				t.Errorf("sent all the same: %v", l.Endings)
			}
		})
	}
}

func TestALaneWithoutOneGoodAnswerStops(t *testing.T) {
	t.Parallel()
	const items = 6000 // more than one slice
	for ending, stops := range map[assay.Ending]bool{assay.Empty: true, assay.Cut: true, assay.Refused: true, assay.Rejected: true,
		assay.Answered: false} {
		t.Run(string(ending), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(items, func(*world) {}))
			w.fake.live = func(string, int) (assay.Outcome, error) { return assay.Outcome{Ending: ending, Text: "…"}, nil }
			_, err := w.drive()
			w.ok(err)
			l := w.lane("red")
			if stopped := l.State == store.LaneStopped && strings.Contains(l.Reason, "first"); stopped != stops {
				t.Fatalf("the lane is %s: %q with %v", l.State, l.Reason, l.Endings)
			}
			if !stops {
				return
			}
			_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
			w.ok(err)
			_, err = w.drive()
			w.ok(err)
			if l := w.lane("red"); l.Endings[ending] != items {
				t.Errorf("sent all the same: %v", l.Endings)
			}
		})
	}
}

func TestTheJobsOfALaneWithoutOneGoodAnswerAreCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.items, w.plan.cut.Size = 100, 25 })
	w.fake.answer = func(assay.Key, string) (assay.Outcome, string) { return assay.Outcome{Ending: assay.Empty}, "" }
	w.fake.wobble = func(call string, _ int) error {
		if call == "check" { // the first job comes back long before the others
			for _, j := range w.fake.jobs[1:] {
				j.ends = w.fake.jobs[0].ends.Add(100 * time.Hour)
			}
		}
		return nil
	}
	began := w.clock.Now()
	_, err := w.drive()
	w.ok(err)
	l, took := w.lane("red"), w.events("closed")[0].At.Sub(began)
	if l.State != store.LaneStopped || w.fake.calls["cancel"] < 3 || took > 10*time.Hour {
		t.Fatalf("lane %+v, %d cancels, after %s\n%s", l, w.fake.calls["cancel"], took, w.history())
	}
	// Half of a cancelled job was done.
	if l.Endings[assay.Empty] != 25+3*12 || l.Endings[assay.Cancelled] != 3*13 {
		t.Errorf("%v\n%s", l.Endings, w.history())
	}
	_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
	w.ok(err)
	_, err = w.drive()
	w.ok(err)
	if l := w.lane("red"); l.Endings[assay.Empty] != 100 {
		t.Errorf("sent all the same: %v", l.Endings)
	}
}

func TestTheWordsOfAStopDecideNothing(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"all of the first 20 answers are empty", "cancelled"} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(*world) {})
			w.fake.wobble = func(call string, _ int) error {
				if call == "check" {
					w.ok(w.s.Work.SetLane(w.ctx, w.run.No, w.lane("red").Stage, "red",
						store.LaneStop{State: store.LaneStopped, Reason: words}))
				}
				return nil
			}
			_, err := w.drive()
			w.ok(err)
			run, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			if l := w.lane("red"); w.fake.calls["cancel"] != 0 || l.Endings[assay.Answered] == 0 || run.Result == store.ResultCancelled {
				t.Errorf("%d cancels, %v, %s\n%s", w.fake.calls["cancel"], l.Endings, run.Result, w.history())
			}
		})
	}
}
