package script_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/dispatch/local"
	"assay/internal/send/engine"
	"assay/internal/send/script/snapshot"
)

// again clears all faults, retries a run and drives it to its end.
func (r *rig) again(run store.Run) store.Run {
	r.t.Helper()
	r.sim.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DELETE", "/sim/faults", nil))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args, err := json.Marshal(engine.Retry{Only: []assay.Ending{assay.Errored, assay.Expired, assay.Cancelled, assay.Lost, assay.Rejected}})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.ledger.Runs.PutOrder(ctx, store.Order{Run: run.No, Kind: store.OrderRetry, Args: string(args), By: "anna"}); err != nil {
		r.t.Fatal(err)
	}
	if st, err := (&local.Driver{Engine: r.engine}).Drive(ctx, run.No); err != nil || !st.Closed {
		r.t.Fatalf("after the retry: %+v, %v", st, err)
	}
	if run, err = r.ledger.Reader.Run(ctx, run.No); err != nil {
		r.t.Fatal(err)
	}
	return run
}

// roundWords say how far the rounds of a run are.
func (r *rig) roundWords(run store.Run) string {
	r.t.Helper()
	all, err := runs.RoundStates(r.t.Context(),
		(&results.Reader{Ledger: r.ledger.Reader, Pages: r.ledger.Pages, Scripts: r.planner.Library}), run)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, s := range all {
		lines = append(lines, s.Words(run.ID))
	}
	return strings.Join(lines, "\n")
}

// ended wants the rounds of a run to have come to an end, with a verdict for each comparison.
func (r *rig) ended(run store.Run) {
	r.t.Helper()
	looks := r.looksOf(run)
	if len(looks) == 0 || looks[len(looks)-1].Stop == store.StopNone {
		r.t.Fatalf("the looks end with %+v, want a reason to stop", looks)
	}
	if got, want := r.verdicts(run)["arena valid"], looks[len(looks)-1].Bought; got != want {
		r.t.Errorf("%d verdicts, %d bought", got, want)
	}
	if run.Result != store.ResultDone {
		r.t.Errorf("the run is %s, want done", run.Result)
	}
}

func TestARoundWithoutAVerdictWaitsUntilItIsAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, "openai create fail-lines=100%")
	run := r.runFiles(arena(""))
	if looks := r.looksOf(run); len(looks) > 0 || run.Result != store.ResultIncomplete {
		t.Fatalf("the run is %s, its looks are %+v: nothing was there to look at", run.Result, looks)
	}
	if got, want := r.roundWords(run),
		"Stage arena: round 1 of 3 is held: none of its verdicts can be used. `assay retry run1` asks again."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run = r.again(run)
	r.ended(run)
	if got := r.roundWords(run); !strings.HasPrefix(got, "Stage arena: stopped after round ") {
		t.Errorf("after the retry: %q", got)
	}
}

func TestAJudgeThatIsStoppedHoldsTheRoundUntilARetry(t *testing.T) {
	t.Parallel()
	r := newRig(t, "openai create quota after=1")
	run := r.begin(t.Context(), arena(""))
	if st, err := (&local.Driver{Engine: r.engine}).Drive(t.Context(), run.No); err != nil || st.Closed {
		t.Fatalf("%+v, error %v, want a run that waits for its judge", st, err)
	}
	if looks := r.looksOf(run); len(looks) != 1 || looks[0].Stop != store.StopNone {
		t.Fatalf("the looks are %+v, want one that goes on", looks)
	}
	got := r.roundWords(run)
	if !strings.HasPrefix(got, "Stage arena: round 2 of 3 is held: judge j is stopped (") ||
		!strings.HasSuffix(got, "). `assay retry run1` goes on.") {
		t.Errorf("%q, want that it is held, by which judge, and what to type", got)
	}
	before := r.looksOf(run)[0].Next
	run = r.again(run)
	r.ended(run)
	if after := r.looksOf(run)[0].Next; after != before {
		t.Errorf("the second round is another after the retry: %s, was %s", after, before)
	}
}

func TestAStageThatItsGateClosesIsNotLookedAt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	files := arena("")
	text := strings.Replace(string(files["s.yaml"].Data), "  - {name: arena,",
		`  - {name: size, judge: one, rubric: {prompt: "{{ answer.text }}", labels: {good: 1, bad: 0}}, judges: [j], mode: live}
  - {name: arena, when: 'any(finding("size", "rate"), .value > 2)',`, 1)
	files["s.yaml"] = &fstest.MapFile{Data: []byte(text)}
	run := r.runFiles(files)
	if looks := r.looksOf(run); len(looks) > 0 {
		t.Errorf("a stage that was never begun was looked at: %+v", looks)
	}
	if run.Result != store.ResultDone {
		t.Errorf("the run is %s, want done", run.Result)
	}
	if got := r.roundWords(run); got != "" {
		t.Errorf("the rounds of a stage that its gate closed: %q", got)
	}
	for _, l := range r.lanesOf(run) {
		if l.Stage == "arena" && l.Planned != l.Spared {
			t.Errorf("%d planned, %d spared", l.Planned, l.Spared)
		}
	}
}

// TestARoundThatWasTakenOverCountsWithItsPrice: nothing was paid for it, and its budget holds the next round all the same.
func TestARoundThatWasTakenOverCountsWithItsPrice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	files := func(keys string) fstest.MapFS {
		f := arena(keys)
		text := strings.Replace(string(f["s.yaml"].Data), "rounds: 3, per_round: 40", "goal: {width: 0.01}, rounds: 2, per_round: 100", 1)
		f["s.yaml"] = &fstest.MapFile{Data: []byte(text)}
		return f
	}
	run := r.runFiles(files(""))
	looks := r.looksOf(run)
	var spent assay.Cost
	for _, g := range r.segmentsOf(run) {
		if g.Stage == "arena" {
			spent = spent.Add(g.Cost)
		}
	}
	one := spent.Sum.Share(1, spent.Priced)
	if len(looks) != 2 || looks[1].Bought-looks[0].Bought < 40 {
		t.Fatalf("the looks are %+v, want a second round of 40 or more", looks)
	}
	budget := assay.Dollars(0.0198) // a little more than the first round is planned to cost
	second := r.beginWith(t.Context(), files(", budget: "+budget.String()), "run2",
		snapshot.Settings{File: "s.yaml", ReuseRuns: []string{run.ID}})
	if st, err := (&local.Driver{Engine: r.engine}).Drive(t.Context(), second.No); err != nil || !st.Closed {
		t.Fatalf("%+v, error %v", st, err)
	}
	var paid assay.Money
	for _, g := range r.segmentsOf(second) {
		paid += g.Cost.Sum
	}
	if paid != 0 {
		t.Errorf("%s were paid for what was taken over", paid)
	}
	again := r.looksOf(second)
	if got, most := again[1].Bought-again[0].Bought,
		int(budget/one)+2; got > most || got < most-5 || most > looks[1].Bought-looks[0].Bought {
		t.Errorf("the second round has %d comparisons, and the budget pays about %d", got, most)
	}
}

// TestAVerdictThatAJudgeOwedComesWithARetry: what failed, and what had nothing to judge, is a verdict once the answer is there.
func TestAVerdictThatAJudgeOwedComesWithARetry(t *testing.T) {
	t.Parallel()
	for fault, before := range map[string]string{"openai create fail-lines=100%": "arena failed", "anthropic ask 400": "arena missing"} {
		r := newRig(t, fault)
		files := arena("")
		text := strings.Replace(string(files["s.yaml"].Data), "pairs: {adaptive: {rounds: 3, per_round: 40, seed: 7}}",
			"pairs: {per_lane_pair: 5, seed: 7}", 1) + "stop_if: error_rate > 1\n" // 40 rejections may not all be back at a look
		files["s.yaml"] = &fstest.MapFile{Data: []byte(text)}
		run := r.runFiles(files)
		if got := r.verdicts(run); got[before] == 0 || run.Result == store.ResultDone {
			t.Errorf("%s: the run is %s with %v", fault, run.Result, got)
		}
		run = r.again(run)
		if got := r.verdicts(run); got["arena valid"] != 15 || len(got) != 1 || run.Result != store.ResultDone {
			t.Errorf("%s: after the retry the run is %s with %v, want 15 valid verdicts", fault, run.Result, got)
		}
	}
}
