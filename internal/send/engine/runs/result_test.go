package runs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

func good(body string) assay.Outcome {
	return assay.Outcome{Ending: assay.Answered, Text: "answer", Usage: assay.Usage{Known: true, Input: 10, Output: 10}}
}

// first makes a provider treat a request specially the first times it sees it.
func first(times int, how string, o assay.Outcome) func(assay.Key, string) (assay.Outcome, string) {
	seen := map[assay.Key]int{}
	return func(k assay.Key, body string) (assay.Outcome, string) {
		if seen[k]++; strings.Contains(body, "q 1") && seen[k] <= times {
			return o, how
		}
		return good(body), ""
	}
}

func (w *world) lane(name string) store.Lane {
	w.t.Helper()
	all, err := w.s.Reader.Lanes(w.ctx, w.run.No)
	w.ok(err)
	for _, l := range all {
		if l.Name == name {
			return l
		}
	}
	w.t.Fatalf("no lane %s", name)
	return store.Lane{}
}

func TestWhatFailedGoesAgainByItsClass(t *testing.T) {
	t.Parallel()
	busy := assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultBusy, Status: 529}}
	broken := assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultUnknown, Status: 500}}
	rejected := assay.Outcome{Ending: assay.Rejected, Fault: &assay.Fault{Class: assay.FaultInvalid, Status: 400}}
	empty := assay.Outcome{Ending: assay.Empty, Usage: assay.Usage{Known: true, Input: 1, Output: 1}}
	tests := []struct {
		name   string
		times  int
		how    string
		o      assay.Outcome
		result store.Result
		ending assay.Ending
		tries  int64
	}{
		{"busy is asked again", 5, "free", busy, store.ResultDone, assay.Answered, 6},
		{"an error is asked again three times", 3, "free", broken, store.ResultDone, assay.Answered, 4},
		{"and not a fourth time", 9, "free", broken, store.ResultIncomplete, assay.Errored, 4},
		{"a rejected request is not asked again", 1, "free", rejected, store.ResultIncomplete, assay.Rejected, 1},
		{"a billed non-answer is data", 1, "", empty, store.ResultIncomplete, assay.Empty, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			w.fake.answer = first(tt.times, tt.how, tt.o)
			w.finished(tt.result)
			ref := w.plan.at("red", 1, 1).Ref()
			got, err := w.s.Reader.AnswersTo(w.ctx, w.run.No, []assay.Ref{ref})
			w.ok(err)
			if a := got[ref.Key]; a.Outcome.Ending != tt.ending || a.Try != tt.tries {
				t.Errorf("ended %s at try %d, want %s at %d\n%s", a.Outcome.Ending, a.Try, tt.ending, tt.tries, w.history())
			}
			w.countersAgree()
		})
	}
}

func TestManyThatFailedGoAgainTogetherAtTheBatchPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		items int
		want  string
	}{
		{"many wait for each other", 30, "batch of 30, batch of 30"},
		{"few go live, each when it may", 5, "batch of 5, live of 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { w.plan.items, w.plan.policy.LiveBelow = c.items, 20 })
			seen := map[assay.Key]bool{}
			w.fake.answer = func(k assay.Key, body string) (assay.Outcome, string) {
				if seen[k] {
					return good(body), ""
				}
				seen[k] = true
				return assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultBusy, Status: 500}}, "free"
			}
			w.finished(store.ResultDone)
			sent := map[store.SegmentMode]int64{}
			var batches []string
			all, err := w.s.Reader.Segments(w.ctx, w.run.No)
			w.ok(err)
			for _, g := range all {
				if sent[g.Mode] += g.Requests; g.Mode == store.Batch {
					batches = append(batches, fmt.Sprintf("batch of %d", g.Requests))
				}
			}
			if n := sent[store.Live]; n > 0 {
				batches = append(batches, fmt.Sprintf("live of %d", n))
			}
			if got := strings.Join(batches, ", "); got != c.want {
				t.Errorf("sent %s, want %s\n%s", got, c.want, w.history())
			}
		})
	}
}

func TestAMissingResultIsFetchedAgainAndOnlyThenLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(9, "missing", assay.Outcome{})
	w.finished(store.ResultIncomplete)
	if n := w.lane("red").Endings[assay.Lost]; n != 1 {
		t.Errorf("%d lost\n%s", n, w.history())
	}
	if w.fake.calls["fetch"] != 4 || len(w.fake.jobs) != 1 {
		t.Errorf("%d fetches, %d jobs: it was done, and is not sent again", w.fake.calls["fetch"], len(w.fake.jobs))
	}
	if strays := w.strays(); len(strays) != 0 {
		t.Errorf("fetching again made strays: %v", strays)
	}
}

func TestAResultThatComesLaterIsFoundByFetchingAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(9, "late", good(""))
	w.finished(store.ResultDone)
	w.billedOnce(3)
	if len(w.fake.jobs) != 1 {
		t.Errorf("%d jobs", len(w.fake.jobs))
	}
}

func TestAnExpiredJobKeepsWhatItDidAndSendsOnlyTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(1, "expired", assay.Outcome{})
	w.fake.ends = func(j *fakeJob) provider.State {
		if j.id == "job1" {
			return provider.StateExpired
		}
		return provider.StateEnded
	}
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if w.fake.jobs[1].count != 1 {
		t.Errorf("%d requests went out again", w.fake.jobs[1].count)
	}
}

// TestAnExpiredJobThatHandsOutNothingIsSentAgainAtOnce: where a provider counts all as expired, no result is waited for.
func TestAnExpiredJobThatHandsOutNothingIsSentAgainAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	seen := map[assay.Key]bool{}
	w.fake.answer = func(k assay.Key, body string) (assay.Outcome, string) {
		if !seen[k] {
			seen[k] = true
			return assay.Outcome{}, "expired"
		}
		return good(body), ""
	}
	w.fake.ends = func(j *fakeJob) provider.State {
		if j.id == "job1" {
			return provider.StateExpired
		}
		return provider.StateEnded
	}
	began := w.clock.Now()
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if took := w.fake.jobs[1].made.Sub(began); len(w.fake.jobs) != 2 || took > w.fake.takes+10*time.Minute {
		t.Errorf("%d jobs, the second after %s\n%s", len(w.fake.jobs), took, w.history())
	}
}

func TestAfterTheDeadlineTheRestGoesLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) {
		w.plan.items, w.fake.takes = 6, 100*time.Hour
		w.plan.policy.Deadline, w.plan.policy.Then = 12*time.Hour, engine.ThenLive
	})
	began := w.clock.Now()
	w.finished(store.ResultDone)
	w.answers(6)
	w.billedOnce(6)
	closed := w.events("closed")[0].At.Sub(began)
	if len(w.fake.asked) != 3 || closed > 14*time.Hour {
		t.Errorf("%d live, after %s\n%s", len(w.fake.asked), closed, w.history())
	}
}

func TestWhatComesLateIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(9, "missing", assay.Outcome{})
	w.ok(stepUntil(w, store.Settled))
	if n := w.lane("red").Endings[assay.Lost]; n != 1 {
		t.Fatalf("%d lost", n)
	}
	j := w.fake.jobs[0]
	key := w.plan.at("red", 1, 1).Key()
	j.lines = append(j.lines, []byte(order(fakeLine{ID: assay.CustomID(w.segments()[0].Nonce, key), Outcome: good("")})))
	j.counts.Total++ // the provider's numbers move
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if g := w.segments()[0]; g.Late != 1 {
		t.Errorf("%d late\n%s", g.Late, w.history())
	}
}

func TestARejectedCanaryStopsTheLaneBeforeMoneyMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.canary = store.CanaryDue })
	w.fake.live = func(string, int) (assay.Outcome, error) {
		f := &assay.Fault{Class: assay.FaultInvalid, Status: 400, Param: "temperature"}
		return assay.Outcome{Ending: assay.Rejected, Fault: f}, f
	}
	st, err := w.drive()
	w.ok(err)
	if len(w.fake.jobs) != 0 || st.Asleep != 2 {
		t.Errorf("%d jobs, standing %+v\n%s", len(w.fake.jobs), st, w.history())
	}
	if l := w.lane("red"); l.State != store.LaneStopped || l.Canary != store.CanaryFailed {
		t.Errorf("lane %+v", l)
	}
}

// TestACanaryGoesFirstAlsoWhenItsRequestBecomesReadyLate lets requests become ready between the look for canaries and the
// look for waves: their segments must not be staged without a canary, which could not come any more.
func TestACanaryGoesFirstAlsoWhenItsRequestBecomesReadyLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.canary, w.plan.blind = store.CanaryDue, 2 })
	w.finished(store.ResultDone)
	w.answers(6)
	w.billedOnce(6)
	if n := len(w.fake.asked); n != 2 {
		t.Errorf("%d canaries, want one for each lane\n%s", n, w.history())
	}
}

func TestACanaryIsShownAndWaitsForAYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.canary, w.plan.policy.VerifyFirst = store.CanaryDue, true })
	st, err := w.drive()
	w.ok(err)
	if d := cmp.Diff([]string{"red"}, st.Verify); d != "" || len(w.fake.jobs) != 0 {
		t.Fatalf("%s, %d jobs\n%s", d, len(w.fake.jobs), w.history())
	}
	_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderProceed, Args: "{}"})
	w.ok(err)
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if len(w.fake.asked) != 1 {
		t.Errorf("%d live requests", len(w.fake.asked))
	}
}

func TestABudgetThatIsTooSmallLeavesLanesComparable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		budget := assay.Money(70_000) // seven of twelve
		w.budget, w.plan.items, w.plan.price = &budget, 6, 10_000
	})
	st, err := w.drive()
	w.ok(err)
	if !st.Budget || st.Closed {
		t.Errorf("standing %+v", st)
	}
	for _, lane := range w.plan.lanes {
		var items []string
		for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", lane) {
			w.ok(err)
			items = append(items, a.At.Item)
		}
		if d := cmp.Diff([]string{"0", "1", "2"}, items); d != "" {
			t.Errorf("lane %s: %s", lane, d)
		}
	}
	more := assay.Dollar
	w.ok(w.s.Runs.SetBudget(w.ctx, w.run.No, &more))
	w.ok(w.s.Leases.RunDue(w.ctx, w.run.No, w.clock.Now()))
	w.finished(store.ResultDone)
	w.answers(12)
	w.billedOnce(12)
}

func TestCancelKeepsWhatTheProviderHandsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.items = 6 })
	w.ok(stepUntil(w, store.Launched))
	_, err := w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderCancel, Args: "{}", By: "anna"})
	w.ok(err)
	w.finished(store.ResultCancelled)
	if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 3, assay.Cancelled: 3}, w.lane("red").Endings); d != "" {
		t.Errorf("%s\n%s", d, w.history())
	}
	_, err = w.s.Runs.PutOrder(w.ctx,
		store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{Only: []assay.Ending{assay.Cancelled}})})
	w.ok(err)
	if _, err := w.e.Extend(w.ctx, w.run.No); err != nil {
		t.Fatal(err)
	}
	w.finished(store.ResultDone)
	w.answers(6)
	w.billedOnce(6)
}

func TestALineAtFaultIsRejectedAndTheOthersGoAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.ends = func(j *fakeJob) provider.State {
		if j.id == "job1" {
			return provider.StateFailed
		}
		return provider.StateEnded
	}
	w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
		f := assay.Fault{Class: assay.FaultInvalid, Message: "bad line"}
		return &f, []provider.LineProblem{{Line: 2, Fault: f}}
	}
	w.finished(store.ResultIncomplete)
	if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 2, assay.Rejected: 1}, w.lane("red").Endings); d != "" {
		t.Errorf("%s\n%s", d, w.history())
	}
	w.billedOnce(2)
}

func TestEqualRequestsOfAnEarlierRunAreReused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.finished(store.ResultDone)
	r, err := w.s.Runs.CreateRun(w.ctx, store.NewRun{ID: "run2", Study: "demo", Settings: "{}"})
	w.ok(err)
	w.ok(w.s.Runs.PutLanes(w.ctx,
		[]store.Lane{{Run: r.No, Stage: "answers", Name: "red", Provider: "fake", Model: "m", Params: "{}", Planned: 4}}))
	w.ok(w.s.Runs.OpenRun(w.ctx, r.No))
	w.run = r
	w.plan.items, w.plan.policy.Reuse = 4, &store.ReuseFrom{Study: "demo"}
	w.finished(store.ResultDone)
	w.answers(4)
	w.billedOnceAll(t, 4)
	if l := w.lane("red"); l.Reused != 3 {
		t.Errorf("%d reused", l.Reused)
	}
	for a, err := range w.s.Reader.Answers(w.ctx, r.No, "", "") {
		w.ok(err)
		if u := a.Outcome.Usage; !u.Known || u.Output != 10 {
			t.Errorf("the answer to %s has the tokens %+v", a.At.Item, u)
		}
	}
	segments, err := w.s.Reader.Segments(w.ctx, r.No)
	w.ok(err)
	for _, g := range segments {
		if g.Mode == store.Reuse && g.OutputTokens != 0 {
			t.Errorf("%d tokens of another run count as used by this one", g.OutputTokens)
		}
	}
}

// billedOnceAll counts over all runs: the keys of one study are the same in each.
func (w *world) billedOnceAll(t *testing.T, want int) {
	t.Helper()
	n := 0
	for _, m := range w.fake.billed {
		n += m
	}
	if n != want {
		t.Errorf("%d billed, want %d", n, want)
	}
}

func TestLiveRequestsThatAreBusyWaitAndGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.mode = store.Live })
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n%2 == 1 {
			return &assay.Fault{Class: assay.FaultBusy, Status: 429, RetryAfter: time.Second}
		}
		return nil
	}
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
}

func TestRawBytesStandBehindEveryAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.canary = store.CanaryDue })
	w.finished(store.ResultDone)
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		files, err := w.s.Reader.Artifacts(w.ctx, a.Segment)
		w.ok(err)
		for _, f := range files {
			if f.No != a.Artifact {
				continue
			}
			line, err := artifacts.Line(w.ctx, w.files, w.run.ID, f.Name, a.Offset, a.Length)
			w.ok(err)
			if !strings.Contains(string(line), a.Outcome.Text) {
				t.Errorf("%s: %q is not behind %q", a.At.Item, line, a.Outcome.Text)
			}
		}
	}
}
