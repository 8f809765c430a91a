package workspace

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/runs"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
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

// resultsOf returns the answers and verdicts of a run, by what they are about.
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

// paidIn counts the requests of a run that were not taken over, by stage, turn and lane.
func (r *rig) paidIn(h *Home, run store.Run) map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "", "") {
		if err != nil {
			r.t.Fatal(err)
		}
		if a.Reused == 0 {
			out[fmt.Sprintf("%s %d %s", a.At.Stage, a.At.Turn, a.Lane)]++
		}
	}
	return out
}

// anew begins a new run of the current study, and returns it with its edit and what it takes over.
func (r *rig) anew(h *Home) (store.Run, *Edit, TakeOver) {
	r.t.Helper()
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	var edit *Edit
	var over TakeOver
	run, err := h.Run(r.ctx, want, Doorkeeper{
		Confirm: func(donors []store.Run, since *Edit) (err error) {
			edit = since
			over, err = h.TakesOver(r.ctx, want, donors)
			return err
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return run, edit, over
}

func TestAnEditOfRequestsIsANewRunThatTakesOverWhatIsEqual(t *testing.T) {
	t.Parallel()
	all := map[string]int{"answers 1 a": 3, "answers 1 b": 3, "answers 2 a": 3, "answers 2 b": 3, "fine 2 j": 6, "better 2 j": 3}
	for name, c := range map[string]struct {
		old, is string
		words   string
		want    map[string]int // requests that are paid
		new     int64          // of them, by the estimate
	}{
		"a prompt": {`"{{ text }}", "Are`, `"Tell me: {{ text }}", "Are`,
			"turns of stage answers ({{ text }} → Tell me: {{ text }})", all, 21},
		"a later turn": {"Are you sure?", "Are you quite sure?", "turns of stage answers (Are you sure? → Are you quite sure?)",
			map[string]int{"answers 2 a": 3, "answers 2 b": 3, "fine 2 j": 6, "better 2 j": 3}, 15},
		"a parameter": {"gpt-4.1-mini}", "gpt-4.1-mini, temperature: 0.5}", "temperature of lane b (0 → 0.5)",
			map[string]int{"answers 1 b": 3, "answers 2 b": 3, "fine 2 j": 3, "better 2 j": 3}, 12},
		"an item": {"What is two?", "How much is two?", "items of input questions, 1 changed (two)",
			map[string]int{"answers 1 a": 1, "answers 1 b": 1, "answers 2 a": 1, "answers 2 b": 1, "fine 2 j": 2, "better 2 j": 1}, 7},
		"what is expected": {`"3"}`, `"4"}`, "items of input questions, 1 changed (three)", map[string]int{}, 5},
		"a judge's prompt": {"Is it good?", "Is it very good?",
			"rubric own (Is it good? {{ answer.text }} → Is it very good? {{ answer.text }})", map[string]int{"fine 2 j": 6}, 6},
		"a rule": {"rubric: contains", "rubric: exact", "rubric of stage checked (contains → exact)", map[string]int{}, 0},
		"a judge": {"j: {model: openai/gpt-4.1}", "j: {model: openai/gpt-4.1-nano}", "model of lane j (gpt-4.1 → gpt-4.1-nano)",
			map[string]int{"fine 2 j": 6, "better 2 j": 3}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, judgedStudy)
			h := r.open(false)
			run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			before := r.resultsOf(h, run)
			edited := strings.Replace(judgedStudy, c.old, c.is, 1)
			r.write("study.yaml", edited)
			again, since, over := r.anew(h)
			if since == nil || since.Words() != c.words || since.Why == "" || again.ID == run.ID || over.New != c.new ||
				over.Most+over.New != 21 {
				t.Fatalf("%+v, run %s after %s, %+v", since, again.ID, run.ID, over)
			}
			end := r.drive(h, again, Drive{})
			if end.State != runs.StateDone {
				t.Fatalf("it is %s", end.State)
			}
			if d := cmp.Diff(c.want, r.paidIn(h, again)); d != "" {
				t.Error("paid:", d)
			}
			// All is as if there had been no run before, and that run is as it was.
			fresh := newRig(t, edited)
			other := fresh.open(false)
			alone := fresh.finished(other, fresh.wanted(StudyOptions{}, snapshot.Settings{}))
			if d := cmp.Diff(fresh.resultsOf(other, alone), r.resultsOf(h, again)); d != "" {
				t.Error("a run of its own (-) and this one (+):", d)
			}
			if !maps.Equal(before, r.resultsOf(h, run)) {
				t.Error("the earlier run changed")
			}
			if paid := r.spent(h, again); (len(c.want) > 0) != (paid > 0) {
				t.Errorf("%s paid", paid)
			}
		})
	}
}

func TestAnEditThatIsTakenBackFindsTheRunThatHasTheAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, judgedStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", strings.Replace(judgedStudy, `"{{ text }}", "Are`, `"Well: {{ text }}", "Are`, 1))
	other, _, _ := r.anew(h)
	r.drive(h, other, Drive{})
	r.write("study.yaml", judgedStudy)
	now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if err != nil || now.Run.ID != run.ID || now.Edit != nil {
		t.Errorf("run %s, want %s and not %s: %v", now.Run.ID, run.ID, other.ID, err)
	}
	// The question is as it was; the second lane is another. Of lane a: three items in two turns, and a judge of the second.
	r.write("study.yaml", strings.Replace(judgedStudy, "openai/gpt-4.1-mini", "openai/gpt-4.1-nano", 1))
	half, _, _ := r.anew(h)
	r.drive(h, half, Drive{})
	if d := cmp.Diff(map[string]int{"answers 1 b": 3, "answers 2 b": 3, "fine 2 j": 3, "better 2 j": 3}, r.paidIn(h, half)); d != "" {
		t.Error(d)
	}
}

func TestWhyANewRunIsBegun(t *testing.T) {
	t.Parallel()
	const when = "  - {name: more, ask: questions, turns: [Again], lanes: [a], when: 'any(finding(\"checked\", \"rate\"), .value > 0)'}\n"
	for name, c := range map[string]struct{ study, old, is, why string }{
		"a prompt":    {smallStudy, `"{{ text }}"`, `"Well: {{ text }}"`, "turns of stage answers changes what was asked"},
		"a lane less": {smallStudy, "  b: {model: openai/gpt-4.1-mini}\n", "", "lane b is taken away"},
		"another order": {smallStudy, `{id: one, text: What is one?, expect: "1"}, {id: two, text: What is two?, expect: "2"}`,
			`{id: two, text: What is two?, expect: "2"}, {id: one, text: What is one?, expect: "1"}`, "its items stand in another order"},
		"an item renamed": {smallStudy, "{id: two", "{id: too", "item two is taken away"},
		"a condition": {smallStudy + when, "  b: {", "  c: {model: openai/gpt-4.1-nano}\n  b: {",
			"what is asked depends on earlier verdicts or findings (when, where, only, rounds of pairs): some of it was " +
				"decided, once for all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.study)
			h := r.open(false)
			run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			r.write("study.yaml", strings.Replace(c.study, c.old, c.is, 1))
			// An open run is left alone.
			_, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if e := wants[*ChangedError](t, err, fmt.Sprint(err)); e.Why != c.why || e.Run != run.ID {
				t.Error(err)
			}
			r.drive(h, run, Drive{})
			now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if err != nil || now.Run.No != 0 || now.Edit == nil || now.Edit.Why != c.why || now.Edit.Run.ID != run.ID {
				t.Errorf("%+v, %+v, %v", now, now.Edit, err)
			}
		})
	}
}

// TestAnEditApartFromConditionsDecidesTheSame changes a judge whose verdicts decide nothing, in a study that asks by what it found: the new
// run decides the same, and takes over what followed from it.
func TestAnEditApartFromConditionsDecidesTheSame(t *testing.T) {
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
	const judge = "judges: [j, k]"
	for name, c := range map[string]struct {
		edit    []string
		extends bool
		want    map[string]int // paid besides
	}{
		"a judge's prompt": {[]string{"Is it good?", "Is it very good?"}, false, map[string]int{"fine 1 j": 4}},
		"a judge's model": {[]string{"j: {model: openai/gpt-4.1}", "j: {model: openai/gpt-4.1-nano}"}, false,
			map[string]int{"fine 1 j": 4}},
		"one more judge": {[]string{"judges: [j]", judge, "stages:", "  k: {model: openai/gpt-4.1-nano}\nstages:"}, true,
			map[string]int{"answers 1 a": 2, "answers 1 b": 2, "more 1 a": 2, "fine 1 j": 4, "fine 1 k": 4}},
		"another, and more": {[]string{"judges: [j]", judge, "stages:", "  k: {model: openai/gpt-4.1-nano}\nstages:", "Is it good?",
			"Is it very good?"}, false, map[string]int{"fine 1 j": 4, "fine 1 k": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, conditional)
			h := r.open(false)
			run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if all := r.requests(h, run); all != 4+2+4 {
				t.Fatalf("%d requests: the condition decided otherwise", all)
			}
			r.write("study.yaml", strings.NewReplacer(c.edit...).Replace(conditional))
			var again store.Run
			if c.extends {
				again, _, _ = r.extended(h)
			} else {
				again, _, _ = r.anew(h)
			}
			if end := r.drive(h, again, Drive{}); end.State != runs.StateDone || (again.No == run.No) != c.extends {
				t.Errorf("it is %s, run %s after %s", end.State, again.ID, run.ID)
			}
			if d := cmp.Diff(c.want, r.paidIn(h, again)); d != "" {
				t.Error(d)
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

// countOf returns the one number that a query gives.
func countOf(t *testing.T, h *Home, text string) (n int) {
	t.Helper()
	err := h.Ledger.Reader.Query(t.Context(), text, func(_ []string, values []any) error { n = int(values[0].(int64)); return nil })
	if err != nil {
		t.Error(err)
	}
	return n
}

// labelAll has a person label everything in a stage.
func (r *rig) labelAll(h *Home, run store.Run, stage, label string) {
	r.t.Helper()
	p, err := h.Planner.People(r.ctx, run, stage)
	if err != nil {
		r.t.Fatal(err)
	}
	for task, err := range p.Tasks(r.ctx) {
		if err != nil {
			r.t.Fatal(err)
		}
		v, err := p.Verdict(task, "human:anna", p.Rubric().Take(judge.Given{Label: label}))
		if err == nil {
			err = p.Label(r.ctx, v)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// labels returns the labels of people in a stage, by subject.
func (r *rig) labels(h *Home, run store.Run, stage string) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for v, err := range h.Ledger.Reader.PeopleVerdicts(r.ctx, run.No, stage) {
		if err != nil {
			r.t.Fatal(err)
		}
		out[strings.Join([]string{v.At.Item, v.At.Lane, v.At.Against}, " ")] = v.Label
	}
	return out
}

func TestLabelsOfPeopleComeAlongWithTheirAnswers(t *testing.T) {
	t.Parallel()
	fine := map[string]string{"one a ": "yes", "two a ": "yes", "three a ": "yes", "one b ": "yes", "two b ": "yes", "three b ": "yes"}
	pairs := map[string]string{"one a b": "a", "two a b": "a", "three a b": "a"}
	only := func(all map[string]string, part string) map[string]string {
		out := maps.Clone(all)
		maps.DeleteFunc(out, func(at, _ string) bool { return !strings.Contains(at, part) })
		return out
	}
	for name, c := range map[string]struct {
		old, is     string
		fine, pairs map[string]string
	}{
		"a judge's prompt": {"Is it good?", "Is it very good?", fine, pairs},
		"another lane":     {"gpt-4.1-mini}", "gpt-4.1-mini, temperature: 0.5}", only(fine, " a "), map[string]string{}},
		"an item": {"What is two?", "How much is two?",
			map[string]string{"one a ": "yes", "three a ": "yes", "one b ": "yes", "three b ": "yes"},
			map[string]string{"one a b": "a", "three a b": "a"}},
		"other labels": {"{yes: 1, no: 0}", "{good: 1, bad: 0}", map[string]string{}, pairs},
		"a question":   {`"{{ text }}", "Are`, `"Well: {{ text }}", "Are`, map[string]string{}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, judgedStudy)
			h := r.open(false)
			run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			r.labelAll(h, run, "fine", "yes")
			r.labelAll(h, run, "better", "a")
			r.write("study.yaml", strings.Replace(judgedStudy, c.old, c.is, 1))
			again, _, over := r.anew(h)
			r.drive(h, again, Drive{})
			if d := cmp.Diff([]map[string]string{c.fine, c.pairs},
				[]map[string]string{r.labels(h, again, "fine"), r.labels(h, again, "better")}); d != "" {
				t.Error(d)
			}
			if over.Labels != 9 || len(r.labels(h, run, "fine")) != 6 {
				t.Errorf("up to %d labels", over.Labels)
			}
		})
	}
}

// TestALabelThatWasWithdrawnStaysSo opens the new run again, in another process.
func TestALabelThatWasWithdrawnStaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, judgedStudy)
	h := r.open(false)
	r.labelAll(h, r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{})), "fine", "yes")
	r.write("study.yaml", strings.Replace(judgedStudy, "Is it good?", "Is it very good?", 1))
	again, _, _ := r.anew(h)
	r.drive(h, again, Drive{})
	p, err := h.Planner.People(r.ctx, again, "fine")
	if err != nil {
		t.Fatal(err)
	}
	var first analysis.Task
	for first = range p.Tasks(r.ctx) {
		break
	}
	v, err := p.Verdict(first, "human:anna", assay.Verdict{State: assay.VerdictValid, Label: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Withdraw(r.ctx, v); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	other := r.open(false)
	if err := other.Planner.Absorb(r.ctx, again); err != nil || len(r.labels(other, again, "fine")) != 5 {
		t.Errorf("%v, %v", r.labels(other, again, "fine"), err)
	}
}
