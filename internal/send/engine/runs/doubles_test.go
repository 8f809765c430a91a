package runs_test

import (
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// slowFirst has the first create call arrive long after it was given up.
func slowFirst(n int) provider.LaunchStatus {
	if n == 1 {
		return "slow"
	}
	return provider.Accepted
}

// TestACreateCallThatArrivesLateIsFencedOff has the call name a file that was deleted before the next one went out.
func TestACreateCallThatArrivesLateIsFencedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.takes = 5 * time.Hour })
	w.fake.launch = slowFirst
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if n := len(w.fake.jobs); n != 2 || w.fake.calls["fence"] == 0 || w.fake.jobs[1].state != provider.StateFailed {
		t.Errorf("%d jobs, %d fences\n%s", n, w.fake.calls["fence"], w.history())
	}
	if got := w.events("double"); len(got) > 0 {
		t.Errorf("a job that did nothing is called a double: %+v", got)
	}
}

// TestAFenceThatFailsIsTriedAgainBeforeAnythingIsSent breaks the deletion: nothing is uploaded before it works.
func TestAFenceThatFailsIsTriedAgainBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.takes = 5 * time.Hour })
	w.fake.launch = slowFirst
	prepared := 0
	w.fake.wobble = func(call string, n int) error {
		switch {
		case call == "fence" && n == 1:
			prepared = w.fake.calls["prepare"]
		case call == "prepare" && w.fake.calls["fence"] > 0 && w.fake.calls["fence"] < 4:
			t.Error("uploaded before the fence stands")
		}
		if call == "fence" && n < 4 {
			return &assay.Fault{Class: assay.FaultBusy, Status: 503}
		}
		return nil
	}
	w.finished(store.ResultDone)
	w.billedOnce(3)
	if w.fake.calls["fence"] != 4 || prepared == 0 {
		t.Errorf("%d fences after %d uploads\n%s", w.fake.calls["fence"], prepared, w.history())
	}
}

// TestWhatCannotBeCalledBackIsWaitedForLonger has the create call carry everything: it is found when it arrives.
func TestWhatCannotBeCalledBackIsWaitedForLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.stamped, w.fake.takes = false, 5*time.Hour })
	w.inline()
	w.fake.launch = slowFirst
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if n := w.fake.calls["launch"]; n != 1 {
		t.Errorf("%d create calls\n%s", n, w.history())
	}
}

// TestWhatWasBilledTwiceIsReportedLater has a create call arrive later than anything is waited for, after the run was closed.
func TestWhatWasBilledTwiceIsReportedLater(t *testing.T) {
	t.Parallel()
	for name, stamped := range map[string]bool{"with a stamp": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) {
				w.fake.stamped, w.fake.takes = stamped, time.Minute
				w.timing.Unfenced, w.timing.LagUnstamped, w.timing.Audit = time.Minute, time.Minute, 3*time.Hour
			})
			w.inline()
			w.fake.launch = slowFirst
			w.until(func() bool { return len(w.segments(store.Settled)) == 1 })
			w.finished(store.ResultDone)
			w.answers(3)
			got := w.events("double")
			if len(got) == 0 || !strings.Contains(got[len(got)-1].Text, "billed twice") {
				t.Errorf("doubles: %+v\n%s", got, w.history())
			}
			if due, err := w.s.Reader.NextDue(w.ctx, w.run.No); err != nil || !due.IsZero() {
				t.Errorf("something is due at %s: %v", due, err)
			}
		})
	}
}

// TestALookThatIsOwedIsListedUntilItWorked closes a run whose create call was taken for lost: it owes a look, and the list fails at first.
func TestALookThatIsOwedIsListedUntilItWorked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.takes, w.timing.Audit = time.Minute, 3*time.Hour })
	w.inline()
	w.timing.Unfenced = time.Minute
	w.fake.launch = slowFirst
	w.reopen()
	w.inline()
	w.until(func() bool {
		r, err := w.s.Reader.Run(w.ctx, w.run.No)
		w.ok(err)
		return r.State == store.RunClosed
	})
	owed := func() int {
		t.Helper()
		all, err := w.s.Pages.Owing(w.ctx)
		w.ok(err)
		needs, err := w.s.Pages.Attention(w.ctx, []int64{w.run.No})
		w.ok(err)
		if a := needs[w.run.No]; int(a.Owed) != len(all) || len(all) > 0 && a.OwedFrom.IsZero() {
			t.Errorf("owed: %+v, %d runs", a, len(all))
		}
		return len(all)
	}
	if owed() != 1 {
		t.Fatalf("nothing is owed\n%s", w.history())
	}
	fails := 0
	w.fake.wobble = func(call string, _ int) error {
		if fails < 2 && call == "find" {
			fails++
			return &assay.Fault{Class: assay.FaultBusy, Status: 500}
		}
		return nil
	}
	w.finished(store.ResultDone)
	if owed() != 0 || fails != 2 || len(w.events("double")) == 0 {
		t.Errorf("%d fails, owed %d\n%s", fails, owed(), w.history())
	}
}
