package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine/live"
)

var errAway = errors.New("the database is away")

// failing makes ledger calls of a name fail: so many of them, from the first on.
func failing(op string, times int) func(string, func() error) error {
	var mu sync.Mutex
	return func(name string, call func() error) error {
		mu.Lock()
		fails := name == op && times != 0
		if fails {
			times--
		}
		mu.Unlock()
		if fails {
			return errAway
		}
		return call()
	}
}

// askedOnce wants every request answered, asked once, and none in doubt.
func (w *world) askedOnce(n int) {
	w.t.Helper()
	w.answers(n)
	w.billedOnce(n)
	if got := w.fake.calls["ask"]; got != n {
		w.t.Errorf("asked %d times, want %d\n%s", got, n, w.history())
	}
	sum, err := w.s.Reader.DoubtSum(w.ctx, w.run.No)
	w.ok(err)
	if sum.Calls != 0 {
		w.t.Errorf("%d calls are in doubt", sum.Calls)
	}
}

func TestALedgerThatIsAwayForSecondsCostsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"settle", "renew segments", "add artifact", "reserve more"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			budget := assay.Dollar
			w := newWorld(t, liveOf(40, func(w *world) { w.budget, w.plan.price = &budget, 1000 }))
			w.fake.wobble = func(call string, n int) error {
				if call == "ask" && n == 20 {
					w.clock.to(w.clock.Now().Add(w.timing.Lease)) // it has to be renewed before the next leaves
				}
				return nil
			}
			w.around = failing(op, 4)
			if op == "add artifact" { // the first of them is before anything is sent
				first := true
				inner := w.around
				w.around = func(name string, call func() error) error {
					if name == op && first {
						first = false
						return call()
					}
					return inner(name, call)
				}
			}
			w.reopen()
			w.finished(store.ResultDone)
			w.askedOnce(40)
		})
	}
}

func TestAnswersThatTheLedgerNeverTookAreReadFromTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(40))
	long := strings.Repeat("a long answer ", 10_000)
	w.fake.live = func(string, int) (assay.Outcome, error) {
		return assay.Outcome{Ending: assay.Answered, Text: long, Finish: "stop", RequestID: "req-1", Usage: assay.Usage{Known: true,
			Input: 10, Output: 10}}, nil
	}
	w.around = failing("settle", -1)
	w.reopen()
	_, err := w.drive()
	var lost *live.LostAnswersError
	if !errors.Is(err, errAway) || errors.As(err, &lost) {
		t.Fatalf("driving ended with %v", err)
	}
	asked := w.fake.calls["ask"]
	if asked == 0 {
		t.Fatal("nothing was asked")
	}
	w.around = nil
	w.reopen()
	w.finished(store.ResultDone)
	w.askedOnce(40)
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		if !a.Over || a.Sum == 0 || a.Cost == nil || *a.Cost != 20_000 || a.Outcome.RequestID != "req-1" || a.Outcome.Finish != "stop" {
			t.Errorf("an answer that was read again is %+v", a)
		}
		file, err := w.s.Pages.ArtifactNo(w.ctx, w.run.No, a.Artifact)
		w.ok(err)
		raw, err := artifacts.Line(w.ctx, w.files, w.run.ID, file.Name, a.Offset, a.Length)
		w.ok(err)
		if err := artifacts.Verify(raw, a.Sum); err != nil || !strings.Contains(string(raw), long) {
			t.Errorf("its raw bytes are other ones: %v", err)
		}
	}
	if !strings.Contains(w.history(), assay.Count(asked, "answer")+" had reached a worker that stopped") {
		t.Errorf("nothing is said of it:\n%s", w.history())
	}
}

// killedLive returns a live run of which so many were in flight when its process was killed.
func killedLive(t *testing.T, items, flying int) *world {
	t.Helper()
	w := newWorld(t, liveOf(items, func(w *world) { w.plan.live.Lane.Concurrency = flying }))
	var dead crash
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n > items/2 {
			dead.die() // it has left, and no process knows
			return errDead
		}
		return nil
	}
	w.around = dead.ledger
	w.reopen()
	if _, err := w.drive(); !errors.Is(err, errDead) {
		t.Fatalf("driving ended with %v", err)
	}
	w.around, w.fake.wobble = nil, nil
	w.reopen()
	return w
}

// log changes the log of the first holder.
func (w *world) log(change func(text string) string) {
	w.t.Helper()
	all, err := filepath.Glob(filepath.Join(w.files.String(), w.run.ID, "s1-live-*"))
	w.ok(err)
	if len(all) != 1 {
		w.t.Fatalf("the logs are %v", all)
	}
	text, err := os.ReadFile(all[0])
	w.ok(err)
	if now := change(string(text)); now == "" {
		w.ok(os.Remove(all[0]))
	} else {
		w.ok(os.WriteFile(all[0], []byte(now), 0o600))
	}
}

// without leaves records out of a log.
func without(text string, kinds ...string) string {
	var out []byte
	for r := range artifacts.Records(strings.NewReader(text)) {
		keep := true
		for _, k := range kinds {
			keep = keep && !strings.Contains(string(r.Head), `"is":"`+k+`"`)
		}
		if keep {
			out = artifacts.AppendRecord(out, r.Head, r.Body)
		}
	}
	return string(out)
}

func TestWhatWasInFlightIsKnownExactlyOrNotLessThanItWas(t *testing.T) {
	t.Parallel()
	const items, flying = 40, 4
	for name, c := range map[string]struct {
		change func(string) string
		doubts func(n, open int64) bool
	}{
		"killed": {func(s string) string { return s }, func(n, _ int64) bool { return n >= 1 && n <= flying }},
		"a record cut in two": {func(s string) string { return s + "12345678 0 00000000 {" },
			func(n, _ int64) bool { return n >= 1 && n <= flying }},
		// all that was claimed: how far ahead depends on the load
		"the machine has started": {func(s string) string { return without(s, "sent", "open") },
			func(n, _ int64) bool { return n >= 1 && n <= items/2 }},
		"the log is gone": {func(string) string { return "" }, func(n, open int64) bool { return n == open }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := killedLive(t, items, flying)
			w.log(c.change)
			g, err := w.s.Reader.Segment(w.ctx, 1)
			w.ok(err)
			open := g.Open()
			w.finished(store.ResultDone)
			w.answers(items)
			sum, err := w.s.Reader.DoubtSum(w.ctx, w.run.No)
			w.ok(err)
			if !c.doubts(sum.Calls, open) {
				t.Errorf("%d calls are in doubt, %d had no outcome\n%s", sum.Calls, open, w.history())
			}
			r, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			if r.Perhaps != assay.Money(1000*sum.Calls) {
				t.Errorf("%s are perhaps spent", r.Perhaps)
			}
		})
	}
}

func TestAnEarlierHolderThatWakesUpSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(40, func(w *world) { w.plan.live.Lane.Concurrency = 1 }))
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n == 10 { // a long sleep, in which another takes over
			w.clock.to(w.clock.Now().Add(2 * w.timing.Lease))
			_, err := w.s.Leases.HoldSegment(w.ctx, 1, "another", time.Hour)
			w.ok(err)
		}
		return nil
	}
	if _, err := w.drive(); !errors.Is(err, store.ErrLeaseLost) {
		t.Fatalf("driving ended with %v", err)
	}
	if n := w.fake.calls["ask"]; n != 10 {
		t.Errorf("%d were sent under a lease that was lost", n-10)
	}
}

func TestARunWhoseDoubtsUseUpTheBudgetStops(t *testing.T) {
	t.Parallel()
	w := killedLive(t, 40, 4)
	budget := assay.Money(40 * 20_000) // for all answers, and nothing else
	w.ok(w.s.Runs.SetBudget(w.ctx, w.run.No, &budget))
	w.plan.price = 20_000
	_, err := w.drive()
	w.ok(err)
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if r.Perhaps == 0 || r.State == store.RunClosed && r.Spent+r.Perhaps > budget+20_000*4 {
		t.Errorf("spent %s, perhaps %s of %s\n%s", r.Spent, r.Perhaps, budget, w.history())
	}
}
