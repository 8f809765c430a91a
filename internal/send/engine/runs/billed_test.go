package runs_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// A reply that nothing can be read from was billed: it is an uncertain call, and is not asked again by itself.
func TestAReplyThatCannotBeReadIsAnUncertainCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(30))
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n == 5 {
			return fmt.Errorf("ask: %w: %w", provider.ErrUnreadable, &assay.Fault{Class: assay.FaultUnknown, Code: "unreadable_reply"})
		}
		return nil
	}
	w.finished(store.ResultIncomplete)
	sum, err := w.s.Reader.DoubtSum(w.ctx, w.run.No)
	w.ok(err)
	if sum.Calls != 1 || w.fake.calls["ask"] != 30 {
		t.Errorf("%d uncertain calls, %d were asked", sum.Calls, w.fake.calls["ask"])
	}
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if r.Perhaps == 0 {
		t.Error("what it may cost is not set aside")
	}
}

// A model that goes away in the middle of a lane stops it after a few replies that it is not there.
func TestAModelThatIsRetiredStopsItsLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(400))
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n > 100 {
			return &assay.Fault{Class: assay.FaultInvalid, Status: 404, Code: "model_not_found", Message: "no such model"}
		}
		return nil
	}
	_, err := w.drive()
	w.ok(err)
	l := w.lane("red")
	if l.State != store.LaneStopped || l.Endings[assay.Rejected]+l.Endings[assay.Errored] > 10 || l.Endings[assay.Answered] < 90 {
		t.Errorf("the lane is %s (%s): %v", l.State, l.Reason, l.Endings)
	}
	w.fake.wobble = nil
	w.retry()
	w.finished(store.ResultDone)
}

// Answers of another model than was asked are noted, once for each name; a dated name of the same is not.
func TestAnswersOfAnotherModelAreNoted(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.SegmentMode{store.Live, store.Batch} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { w.plan.mode = mode })
			answer := func(model string) assay.Outcome {
				return assay.Outcome{Ending: assay.Answered, Text: "x", Model: model, Usage: assay.Usage{Known: true, Input: 1, Output: 1}}
			}
			n := 0
			names := []string{"m-2025-04-14", "other", "other"}
			w.fake.live = func(string, int) (assay.Outcome, error) { n++; return answer(names[n%3]), nil }
			w.fake.answer = func(assay.Key, string) (assay.Outcome, string) { n++; return answer(names[n%3]), "" }
			w.finished(store.ResultDone)
			all, err := w.s.Reader.EventsOf(w.ctx, w.run.No, store.ServedEvent)
			w.ok(err)
			var texts []string
			for _, e := range all {
				texts = append(texts, e.Text)
			}
			if d := cmp.Diff([]string{"Lane red asks m, and answers come from other"}, texts); d != "" {
				t.Error(d)
			}
		})
	}
}
