package runs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// cancelDuring cancels the run, and lets the same engine obey, in the middle of the nth call of a name to the provider.
func (w *world) cancelDuring(call string, nth int) {
	w.fake.wobble = func(name string, n int) error {
		if name != call || n != nth {
			return nil
		}
		w.fake.mu.Unlock() // the provider is at work on this call, and can be called meanwhile
		defer w.fake.mu.Lock()
		_, err := w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderCancel, Args: "{}", By: "anna"})
		w.ok(err)
		_, err = w.e.Extend(w.ctx, w.run.No)
		w.ok(err)
		return nil
	}
}

func TestWhatIsInFlightAtACancelIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(500), func(w *world) { w.timing.Look = time.Millisecond })
	w.cancelDuring("ask", 100)
	w.finished(store.ResultCancelled)
	billed := int64(0)
	for _, n := range w.fake.asked {
		billed += int64(n)
	}
	l := w.lane("red")
	if l.Endings[assay.Answered] != billed || billed < 100 {
		t.Errorf("%d billed, %v kept\n%s", billed, l.Endings, w.history())
	}
	for d, err := range w.s.Reader.Doubts(w.ctx, w.run.No) {
		w.ok(err)
		t.Errorf("%s is doubted", fmt.Sprint(d))
	}
}

func TestAJobThatIsMadeDuringACancelIsCancelled(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		w := newWorld(t, one, func(w *world) { w.plan.items = 6 })
		w.cancelDuring("launch", 1)
		if !whole { // the segment alone, whose lane stays open
			w.fake.wobble = func(name string, n int) error {
				if name == "launch" && n == 1 {
					_, err := w.s.Runs.PutOrder(w.ctx,
						store.Order{Run: w.run.No, Segment: 1, Kind: store.OrderCancel, Args: "{}", By: "anna"})
					w.ok(err)
					_, err = w.e.Extend(w.ctx, w.run.No)
					w.ok(err)
				}
				return nil
			}
		}
		_, err := w.drive()
		w.ok(err)
		if w.fake.calls["cancel"] == 0 {
			t.Fatalf("the job was not cancelled\n%s", w.history())
		}
		if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 3, assay.Cancelled: 3}, w.lane("red").Endings); d != "" {
			t.Errorf("%s\n%s", d, w.history())
		}
	}
}
