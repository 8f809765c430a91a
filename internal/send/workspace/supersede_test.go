package workspace

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script"
)

const judgedStudy = `study: judged
inputs:
  questions:
    items: [{id: one, text: What is one?, expect: "1"}, {id: two, text: What is two?, expect: "2"}, {id: three, text: What is three?, expect: "3"}]
canary: false
lane_defaults: {max_tokens: 100, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1}
  b: {model: openai/gpt-4.1-mini}
  j: {model: openai/gpt-4.1}
rubrics:
  own: {prompt: "Is it good? {{ answer.text }}", labels: {yes: 1, no: 0}}
stages:
  - {name: answers, ask: questions, turns: ["{{ text }}", "Are you sure?"], lanes: [a, b]}
  - {name: checked, judge: answers, rubric: contains}
  - {name: fine, judge: answers, rubric: own, judges: [j]}
  - {name: better, compare: answers, rubric: better, judges: [j]}
`

// resultsOf are the answers and verdicts of a run that count, by what they are about.
func (r *rig) resultsOf(h *Home, run store.Run) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "", "") {
		if err != nil {
			r.t.Fatal(err)
		}
		at := fmt.Sprint(a.At)
		if _, twice := out[at]; twice {
			r.t.Errorf("%s is there twice", at)
		}
		out[at] = a.Outcome.Text
	}
	for _, stage := range []string{"checked", "fine", "better"} {
		for v, err := range h.Ledger.Reader.Verdicts(r.ctx, run.No, stage) {
			if err != nil {
				r.t.Fatal(err)
			}
			out[fmt.Sprint("verdict ", v.At)] = fmt.Sprint(v.State, v.Label)
		}
	}
	return out
}

// supersededIn counts what was superseded in a run, by stage, turn and lane.
func (r *rig) supersededIn(h *Home, run store.Run) map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for a, err := range h.Ledger.Reader.Superseded(r.ctx, run.No, nil) {
		if err != nil {
			r.t.Fatal(err)
		}
		out[fmt.Sprintf("%s %d %s", a.At.Stage, a.At.Turn, a.Lane)]++
	}
	return out
}

func TestAnEditOfRequestsAsksThemAgainInTheSameRun(t *testing.T) {
	t.Parallel()
	all := map[string]int{"answers 1 a": 3, "answers 1 b": 3, "answers 2 a": 3, "answers 2 b": 3, "fine 2 j": 6, "better 2 j": 3}
	for name, c := range map[string]struct {
		old, is string
		words   string
		want    map[string]int // superseded requests
		rules   int            // superseded verdicts of the rule
	}{
		"a prompt": {`"{{ text }}", "Are`, `"Tell me: {{ text }}", "Are`, "turns of stage answers ({{ text }} → Tell me: {{ text }})", all, 6},
		"a later turn": {"Are you sure?", "Are you quite sure?", "turns of stage answers (Are you sure? → Are you quite sure?)",
			map[string]int{"answers 2 a": 3, "answers 2 b": 3, "fine 2 j": 6, "better 2 j": 3}, 6},
		"a parameter": {"gpt-4.1-mini}", "gpt-4.1-mini, temperature: 0.5}", "temperature of lane b (0 → 0.5)",
			map[string]int{"answers 1 b": 3, "answers 2 b": 3, "fine 2 j": 3, "better 2 j": 3}, 3},
		"an item": {"What is two?", "How much is two?", "items of input questions, 1 changed (two)",
			map[string]int{"answers 1 a": 1, "answers 1 b": 1, "answers 2 a": 1, "answers 2 b": 1, "fine 2 j": 2, "better 2 j": 1}, 2},
		"what is expected": {`"3"}`, `"4"}`, "items of input questions, 1 changed (three)", map[string]int{}, 2},
		"a judge's prompt": {"Is it good?", "Is it very good?", "rubric own (Is it good? {{ answer.text }} → Is it very good? {{ answer.text }})", map[string]int{"fine 2 j": 6}, 0},
		"a rule":           {"rubric: contains", "rubric: exact", "rubric of stage checked (contains → exact)", map[string]int{}, 6},
		"a judge": {"j: {model: openai/gpt-4.1}", "j: {model: openai/gpt-4.1-nano}", "model of lane j (gpt-4.1 → gpt-4.1-nano)",
			map[string]int{"fine 2 j": 6, "better 2 j": 3}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, judgedStudy)
			h := r.open(false)
			run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
			before, paid := r.resultsOf(h, run), r.spent(h, run)
			edited := strings.Replace(judgedStudy, c.old, c.is, 1)
			r.write("study.yaml", edited)
			again, words, over := r.extended(h)
			n := int64(0)
			for _, m := range c.want {
				n += int64(m)
			}
			if words != c.words || again.ID != run.ID || over.New != n {
				t.Errorf("%q, run %s for %s, %d new, want %d", words, again.ID, run.ID, over.New, n)
			}
			end := r.drive(h, again, Drive{})
			if end.Stop != StopDone {
				t.Fatalf("stopped by %d: %s", end.Stop, end.Run.Result)
			}
			if d := cmp.Diff(c.want, r.supersededIn(h, run)); d != "" {
				t.Error("superseded:", d)
			}
			edits, err := h.Ledger.Reader.Edits(r.ctx, run.No)
			rules := countOf(t, h, "SELECT COUNT(*) FROM verdicts WHERE superseded = 1 AND judge = 'rule'")
			if err != nil || len(edits) != 1 || edits[0].What != words || edits[0].Requests != n || rules != c.rules {
				t.Errorf("%+v, %d verdicts of the rule, %v", edits, rules, err)
			}
			// All that counts is as if the run had begun with this study, and no answer is paid for twice.
			fresh := newRig(t, edited)
			other := fresh.open(false)
			anew := fresh.finished(other, fresh.wanted(StudyOptions{}, script.Settings{}))
			after := r.resultsOf(h, end.Run)
			if d := cmp.Diff(fresh.resultsOf(other, anew), after); d != "" {
				t.Error("a new run of the study (-) and this one (+):", d)
			}
			if more := r.spent(h, end.Run) - paid; (n > 0) != (more > 0) || more >= fresh.spent(other, anew) && len(c.want) < len(all) {
				t.Errorf("%s more", more)
			}
			if n > 0 && maps.Equal(before, after) {
				t.Error("nothing changed")
			}
			lanes, err := h.Ledger.Reader.Lanes(r.ctx, run.No)
			for _, l := range lanes {
				if err != nil || l.Ended() != l.Planned-l.Spared || l.Open != 0 {
					t.Errorf("%s %s: %d ended of %d, %v", l.Stage, l.Name, l.Ended(), l.Planned-l.Spared, err)
				}
			}
		})
	}
}

// countOf is the one number that a query gives.
func countOf(t *testing.T, h *Home, text string) (n int) {
	t.Helper()
	err := h.Ledger.Reader.Query(t.Context(), text, func(_ []string, values []any) error { n = int(values[0].(int64)); return nil })
	if err != nil {
		t.Error(err)
	}
	return n
}

func TestAnOpenRunIsEditedWhereNothingInFlightIsTouched(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, script.Settings{}))
	r.live(h, run, "b", "gpt-4.1-mini")
	r.write("study.yaml", strings.Replace(smallStudy, "gpt-4.1-mini}", "gpt-4.1-mini, temperature: 0.5}", 1))
	_, err := h.Current(r.ctx, r.wanted(StudyOptions{}, script.Settings{}))
	e := wants[*ChangedError](t, err, "run "+run.ID+" is open and the study was changed since it began: temperature of lane b (0 → 0.5); the run cannot go on with that: "+
		"requests that it changes are in flight, in lane b of stage answers (1 request)")
	if !e.InFlight {
		t.Error("it can never go on")
	}
	r.write("study.yaml", strings.Replace(smallStudy, "gpt-4.1}", "gpt-4.1, temperature: 0.5}", 1))
	if again, _, over := r.extended(h); again.ID != run.ID || again.Digest == run.Digest || over.New != 4 || over.Most != 0 {
		t.Errorf("run %s for %s, %+v", again.ID, run.ID, over)
	}
}

func TestARunIsAsItWasWhereAnExtensionFindsSomethingInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
	before := r.texts(h, run)
	r.write("study.yaml", strings.Replace(smallStudy, `"{{ text }}"`, `"Well: {{ text }}"`, 1))
	want := r.wanted(StudyOptions{}, script.Settings{})
	now, err := h.Current(r.ctx, want)
	if err != nil || now.Edit.Changes.Requests() != 4 {
		t.Fatal(now, err)
	}
	// Another process sends one of them once more.
	at := assay.Coordinates{Stage: "answers", Item: "one", Lane: "b", Turn: 1, Draw: 1}
	g, err := h.Ledger.Work.AddSegment(r.ctx, store.NewSegment{
		Run: run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "b", Turn: 1}, Mode: store.Live, Purpose: store.ForWave, Provider: "openai", Model: "gpt-4.1-mini", Nonce: "22222222",
	}, "me", time.Hour)
	if err == nil {
		err = errors.Join(h.Ledger.Work.AddAttempts(r.ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 2, At: at}}), h.Ledger.Work.Stage(r.ctx, g.Lease, store.Bytes{}, 0, 0, time.Now()))
	}
	if !errors.Is(err, store.ErrAnswered) { // it has an answer: nothing is sent again, and the segment stays scratch
		t.Fatal(err)
	}
	done, err := h.revise(r.ctx, want, now.Edit)
	if err != nil || !done {
		t.Error(done, err)
	}
	if texts := r.texts(h, run); len(texts) != 0 || len(before) != 2 {
		t.Errorf("%d answers stand, %d did", len(texts), len(before))
	}
}

func TestAnEditThatIsTakenBackFindsTheRunThatHasTheAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
	r.write("study.yaml", strings.Replace(smallStudy, `"{{ text }}"`, `"Well: {{ text }}"`, 1))
	anew := r.wanted(StudyOptions{}, script.Settings{})
	anew.New = true
	other := r.finished(h, anew)
	r.write("study.yaml", smallStudy)
	now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, script.Settings{}))
	if err != nil || now.Run.ID != run.ID || now.Edit != nil {
		t.Errorf("run %s, want %s and not %s: %v", now.Run.ID, run.ID, other.ID, err)
	}
}

func TestWhyARunCannotGoOnWithAnEdit(t *testing.T) {
	t.Parallel()
	const when = "  - {name: more, ask: questions, turns: [Again], lanes: [a], when: 'any(finding(\"checked\", \"rate\"), .value > 0)'}\n"
	for name, c := range map[string]struct{ study, old, is, why string }{
		"a lane less":     {smallStudy, "  b: {model: openai/gpt-4.1-mini}\n", "", "lane b of stage answers is asked less than before"},
		"another order":   {smallStudy, `{id: one, text: What is one?, expect: "1"}, {id: two, text: What is two?, expect: "2"}`, `{id: two, text: What is two?, expect: "2"}, {id: one, text: What is one?, expect: "1"}`, "its items stand in another order"},
		"an item renamed": {smallStudy, "{id: two", "{id: too", "item two is taken away"},
		"a condition": {smallStudy + when, `"{{ text }}"`, `"Well: {{ text }}"`,
			"what is asked depends on earlier verdicts or findings (when, where, only, rounds of pairs): some of it was decided, once for all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.study)
			h := r.open(false)
			run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
			r.write("study.yaml", strings.Replace(c.study, c.old, c.is, 1))
			now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, script.Settings{}))
			if err != nil || now.Run.No != 0 || now.Edit == nil || now.Edit.Why != c.why || now.Edit.Run.ID != run.ID {
				t.Errorf("%+v, %+v, %v", now, now.Edit, err)
			}
		})
	}
}

func TestAnEditThatIsTakenBackTakesOverWhatItSuperseded(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
	first := r.texts(h, run)
	r.write("study.yaml", strings.Replace(smallStudy, `"{{ text }}"`, `"Well: {{ text }}"`, 1))
	again, _, _ := r.extended(h)
	r.drive(h, again, Drive{})
	second, paid := r.texts(h, run), r.spent(h, run)
	r.write("study.yaml", smallStudy)
	back, _, _ := r.extended(h)
	end := r.drive(h, back, Drive{})
	if end.Stop != StopDone || r.spent(h, run) != paid || !maps.Equal(r.texts(h, run), first) || maps.Equal(first, second) {
		t.Errorf("stopped by %d, %s after %s, answers %v, were %v, then %v", end.Stop, r.spent(h, run), paid, r.texts(h, run), first, second)
	}
	if d := cmp.Diff(map[string]int{"answers 1 a": 4, "answers 1 b": 4}, r.supersededIn(h, run)); d != "" {
		t.Error(d)
	}
}

// TestThePlanOfAnEditThatIsTakenBackPricesWhatIsNew asks in two turns, judges and compares: what is made from answers that are taken over is taken
// over too.
func TestThePlanOfAnEditThatIsTakenBackPricesWhatIsNew(t *testing.T) {
	t.Parallel()
	r := newRig(t, judgedStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
	all := r.requests(h, run)
	r.write("study.yaml", strings.Replace(judgedStudy, `"{{ text }}", "Are`, `"Well: {{ text }}", "Are`, 1))
	edited, _, over := r.extended(h)
	if over.Most != 0 || over.Back != 0 || over.New != all || over.Cost.Expected.Sum == 0 {
		t.Errorf("the edit: %+v of %d", over, all)
	}
	r.drive(h, edited, Drive{})
	// The question is as it was; the second lane is another.
	r.write("study.yaml", strings.Replace(judgedStudy, "openai/gpt-4.1-mini", "openai/gpt-4.1-nano", 1))
	want := r.wanted(StudyOptions{}, script.Settings{})
	seen, err := h.Ahead(r.ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	// Of lane a: three items in two turns, and a judge of the second.
	if seen.Over.Back != 9 || seen.Over.Most != 9 || seen.Over.New != all-9 || seen.Edit.Changes.TakenOver() != 9 || seen.Edit.Changes.Requests() != all {
		t.Errorf("half of it is taken back: %+v of %d, %+v", seen.Over, all, seen.Edit.Changes.Back)
	}
	r.write("study.yaml", judgedStudy)
	before := r.spent(h, run)
	back, _, over := r.extended(h)
	if over.Back != all || over.Most != all || over.New != 0 || over.Cost.Expected.Sum != 0 {
		t.Errorf("all of it is taken back: %+v of %d", over, all)
	}
	if r.drive(h, back, Drive{}); r.spent(h, run) != before {
		t.Errorf("%s is spent, after %s", r.spent(h, run), before)
	}
}

// TestAnEditApartFromConditionsExtendsTheRun changes and adds a judge whose verdicts decide nothing, in a run that asks by what it found.
func TestAnEditApartFromConditionsExtendsTheRun(t *testing.T) {
	t.Parallel()
	const conditional = `study: judged
inputs:
  questions:
    items: [{id: one, text: What is one?, expect: "1"}, {id: two, text: What is two?, expect: "2"}]
canary: false
lane_defaults: {max_tokens: 100, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1}
  b: {model: openai/gpt-4.1-mini}
  j: {model: openai/gpt-4.1}
stages:
  - {name: answers, ask: questions, turns: ["{{ text }}"], lanes: [a, b]}
  - {name: checked, judge: answers, rubric: contains}
  - {name: more, ask: questions, turns: [Again], lanes: [a], when: 'not any(finding("checked", "rate"), .value > 2)'}
  - {name: fine, judge: answers, rubric: {prompt: "Is it good? {{ answer.text }}", labels: {yes: 1, no: 0}}, judges: [j]}
`
	for name, c := range map[string]struct {
		edit []string
		want map[string]int // superseded
		more int64          // requests
	}{
		"a judge's prompt":  {[]string{"Is it good?", "Is it very good?"}, map[string]int{"fine 1 j": 4}, 0},
		"a judge's model":   {[]string{"j: {model: openai/gpt-4.1}", "j: {model: openai/gpt-4.1-nano}"}, map[string]int{"fine 1 j": 4}, 0},
		"one more judge":    {[]string{"judges: [j]", "judges: [j, k]", "stages:", "  k: {model: openai/gpt-4.1-nano}\nstages:"}, map[string]int{}, 4},
		"another, and more": {[]string{"judges: [j]", "judges: [j, k]", "stages:", "  k: {model: openai/gpt-4.1-nano}\nstages:", "Is it good?", "Is it very good?"}, map[string]int{"fine 1 j": 4}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, conditional)
			h := r.open(false)
			run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
			before, all := r.resultsOf(h, run), r.requests(h, run)
			if all != 4+2+4 {
				t.Fatalf("%d requests: the condition decided otherwise", all)
			}
			r.write("study.yaml", strings.NewReplacer(c.edit...).Replace(conditional))
			again, _, _ := r.extended(h)
			if again.No != run.No {
				t.Fatalf("run %s, not %s", again.ID, run.ID)
			}
			if end := r.drive(h, again, Drive{}); end.Stop != StopDone || r.requests(h, run) != all+c.more {
				t.Errorf("stopped by %d with %d requests, want %d", end.Stop, r.requests(h, run), all+c.more)
			}
			if d := cmp.Diff(c.want, r.supersededIn(h, run)); d != "" {
				t.Error(d)
			}
			for at, text := range r.resultsOf(h, run) {
				if was, there := before[at]; there && was != text && !strings.Contains(at, "fine") {
					t.Errorf("%s was %q, is %q", at, was, text)
				}
			}
		})
	}
}

// requests counts the requests of a run that have an answer.
func (r *rig) requests(h *Home, run store.Run) (n int64) {
	r.t.Helper()
	for _, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "", "") {
		if err != nil {
			r.t.Fatal(err)
		}
		n++
	}
	return n
}

// TestARunWithBoughtComparisonsStaysAsItIs edits the prompt of a run whose comparisons were bought by what it had found: the
// claims stand in the ledger, and would be about answers that are no longer there.
func TestARunWithBoughtComparisonsStaysAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, script.Settings{}))
	if _, err := h.Ledger.Runs.PutLook(r.ctx, store.Look{Run: run.No, Stage: "duel", Number: 1, Planned: 1, Level: 0.01, Found: "{}", Stop: store.StopSettled}); err != nil {
		t.Fatal(err)
	}
	r.write("study.yaml", strings.Replace(smallStudy, "{{ text }}", "{{ text }} Be brief.", 1))
	_, err := h.Current(r.ctx, r.wanted(StudyOptions{}, script.Settings{}))
	if err == nil || !strings.Contains(err.Error(), "comparisons of it were bought by what was found before") {
		t.Errorf("the run goes on: %v", err)
	}
	// A rule whose verdicts nothing reads is no part of it.
	r.write("study.yaml", strings.Replace(smallStudy, "rubric: contains", "rubric: exact", 1))
	if now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, script.Settings{})); err != nil || now.Run.No != run.No || !now.Edit.Grows {
		t.Errorf("the run does not go on: %+v, %v", now.Edit, err)
	}
}

// TestAProcessReadsAnEditThatWasTakenBackAnew has the process that closed a run go on with it after another one edited the study,
// drove that, and took the edit back: the study is the one it knows, and the verdicts it gave are superseded.
func TestAProcessReadsAnEditThatWasTakenBackAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	first, other := r.open(false), r.open(false)
	r.finished(first, r.wanted(StudyOptions{}, script.Settings{}))
	count := func() int { return countOf(t, first, "SELECT COUNT(*) FROM verdicts WHERE superseded = 0") }
	want := count()
	r.write("study.yaml", strings.Replace(smallStudy, "rubric: contains", "rubric: exact", 1))
	edited, _, _ := r.extended(other)
	r.drive(other, edited, Drive{})
	r.write("study.yaml", smallStudy)
	back, _, _ := r.extended(other)
	if end := r.drive(first, back, Drive{}); end.Stop != StopDone || count() != want || want == 0 {
		t.Errorf("stopped by %d with %d verdicts, want %d", end.Stop, count(), want)
	}
}
