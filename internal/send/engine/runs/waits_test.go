package runs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// The first looks at a job come after seconds: a small job is done then.
func TestAJobIsFirstLookedAtAfterSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.takes = 2 * time.Second
	began := w.clock.Now()
	w.finished(store.ResultDone)
	if took := w.clock.Now().Sub(began); took > 10*time.Second {
		t.Errorf("a job of 2 seconds took %s", took)
	}
}

// Where a provider's list of jobs hides some, nothing is sent, and what to do is said.
func TestAListThatHidesJobsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.wobble = func(call string, n int) error {
		if call == "cursor" && n < 3 {
			return provider.Partial("it says that there is more, and not where")
		}
		return nil
	}
	var all []store.Trouble
	w.until(func() bool {
		var err error
		all, err = w.s.Pages.Troubles(w.ctx, w.run.No, 1)
		w.ok(err)
		return len(all) > 0
	})
	const want = "not sent: fake says that it has more batch jobs than it lists, so that a job whose reply is lost could not be found; " +
		"use the key of a project with fewer jobs, or mode: live"
	if all[0].Reason != want {
		t.Errorf("the reason is %q", all[0].Reason)
	}
	w.finished(store.ResultDone)
}

// Answers that the ledger does not take are reported at once, and a program that was asked to stop does not try for long.
func TestAnswersThatCannotBeWrittenAreReportedAndAStopIsSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(40))
	w.around = failing("settle", -1)
	w.reopen()
	ctx, stop := context.WithCancel(w.ctx)
	told := 0
	w.e.Unwritten = func(err error) {
		if told++; !errors.Is(err, errAway) {
			t.Errorf("reported: %v", err)
		}
		stop()
	}
	began := w.clock.Now()
	w.ctx = ctx
	_, err := w.drive()
	if took := w.clock.Now().Sub(began); err == nil || told == 0 || took > w.timing.Lease/2 {
		t.Errorf("it ended after %s, told %d times: %v", took, told, err)
	}
	w.ctx, w.around = context.Background(), nil
	w.reopen()
	w.finished(store.ResultDone)
	w.askedOnce(40)
}

// What a provider asked to wait for is kept with the segment.
func TestARefusedCreateKeepsUntilWhenTheProviderAskedToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.wobble = func(call string, n int) error {
		if call == "cursor" && n == 1 {
			return &assay.Fault{Class: assay.FaultBusy, Status: 429, RetryAfter: 10 * time.Hour}
		}
		return nil
	}
	w.fake.takes = time.Minute
	began := w.clock.Now()
	var all []store.Trouble
	w.until(func() bool {
		var err error
		all, err = w.s.Pages.Troubles(w.ctx, w.run.No, 1)
		w.ok(err)
		return len(all) > 0
	})
	if wait := all[0].Wait.Sub(began); wait < 10*time.Hour {
		t.Errorf("it waits for %s", wait)
	}
	n, err := w.s.Work.Hurry(w.ctx, w.run.No)
	w.ok(err)
	w.finished(store.ResultDone)
	if took := w.clock.Now().Sub(began); n != 1 || took > time.Hour {
		t.Errorf("%d segments were hurried, and it took %s", n, took)
	}
}
