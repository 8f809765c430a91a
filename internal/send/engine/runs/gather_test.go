package runs_test

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// sends returns how many calls were made that send something.
func (w *world) sends() int {
	return w.fake.calls["prepare"] + w.fake.calls["launch"] + w.fake.calls["ask"]
}

func TestGatherTakesWhatIsReadyAndSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { // the second job fails for want of room, and could go at once
		w.fake.room = 3
		w.fake.ends = func(j *fakeJob) provider.State {
			if j.full {
				return provider.StateFailed
			}
			return provider.StateEnded
		}
		w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
			return &assay.Fault{Class: assay.FaultBusy, Limit: 1000}, nil
		}
	})
	w.until(func() bool { return len(w.segments(store.Launched)) == 2 })
	before := w.sends()
	gather := func() {
		t.Helper()
		for range 3 {
			wrong, err := w.e.Gather(w.ctx, w.run.No)
			w.ok(err)
			if len(wrong) > 0 || w.sends() != before {
				t.Fatalf("it sent %d times, %v\n%s", w.sends()-before, wrong, w.history())
			}
		}
	}
	gather()
	if n := len(w.segments(store.Staged)); n != 1 {
		t.Errorf("%d segments wait to be sent again, want the refused one\n%s", n, w.history())
	}
	w.clock.to(w.clock.Now().Add(w.fake.takes))
	gather()
	if n := len(w.segments(store.Settled)); n != 1 {
		t.Errorf("%d segments are settled, want the one whose job has ended\n%s", n, w.history())
	}
	w.finished(store.ResultDone)
	w.billedOnce(6)
}

func TestGatherAsksNothingLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(5))
	w.until(func() bool { return len(w.segments()) > 0 })
	_, err := w.e.Gather(w.ctx, w.run.No)
	w.ok(err)
	if w.sends() > 0 {
		t.Errorf("%d live calls were made\n%s", w.sends(), w.history())
	}
}

// A batch of which everything came back is closed by the process that gathers it: another has nothing left to do.
func TestGatherClosesWhatIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.ok(stepUntil(w, store.Launched))
	w.clock.to(w.clock.Now().Add(w.fake.takes))
	_, err := w.e.Gather(w.ctx, w.run.No)
	w.ok(err)
	if r, err := w.s.Reader.Run(w.ctx, w.run.No); err != nil || r.State != store.RunClosed {
		t.Errorf("the run is %s, %v\n%s", r.State, err, w.history())
	}
}
