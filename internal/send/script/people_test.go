package script_test

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/people"
	"assay/internal/send/script/stages"
)

const labelled = `  - {name: one, ask: q, turns: ["{{ text }}", Sure?], lanes: [g, h]}
  - {name: ok, judge: one, of: each, rubric: {prompt: "{{ answer.text }}", labels: {good: 1, bad: 0}}, judges: [j]}
  - {name: arena, compare: one, of: first, pairs: {all: true, order: both}, rubric: better, judges: [j]}
  - {name: writing, compare: q, rubric: better_sample, trait: [overall_quality], pairs: all, judges: [j]}
`

func TestPeopleLabelEveryTaskOnceAndMayTakeItBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.run(lanes + labelled)
	for stage, want := range map[string]int{"ok": 3 * 2 * 2, "arena": 3, "writing": 3} {
		p, err := r.planner.People(t.Context(), run, stage)
		if err != nil {
			t.Fatal(err)
		}
		before := r.byPeople(run, stage)
		given := 0
		for i, task := range r.untilDone(p) {
			given++
			shown, ok, err := p.Show(t.Context(), task)
			if err != nil || !ok {
				t.Fatalf("%s: show %+v: %t, %v", stage, task.At, ok, err)
			}
			if (shown.Pair != nil) != (stage != "ok") {
				t.Errorf("%s: shown %+v", stage, shown)
			}
			said := assay.Verdict{State: assay.VerdictValid, Label: "good"}
			if stage != "ok" {
				said.Label = assay.LabelA
			}
			v, err := p.Verdict(task, "human:ada", said)
			if err != nil {
				t.Fatal(err)
			}
			first, second := v.At.Pair()
			if shown.Pair != nil && (task.Turn && first != task.Second || !task.Turn && second != task.Second) {
				t.Errorf("%s: the label on %s and %s stands at %s and %s (turned: %t)", stage, task.First, task.Second, first,
					second, task.Turn)
			}
			if err := p.Label(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				continue
			}
			// The same task again, the other way round: the newer label replaces the older.
			task.Turn = !task.Turn
			if v, err = p.Verdict(task, "human:ada", said); err != nil {
				t.Fatal(err)
			}
			if err := p.Label(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			if n := r.byPeople(run, stage); n != 1 {
				t.Errorf("%s: %d labels on one task, want 1", stage, n)
			}
			if len(p.Judging.Names(task.At)) == 0 {
				t.Errorf("%s: the task has no names", stage)
			}
		}
		if given != want || before != 0 {
			t.Errorf("%s: %d tasks, want %d; %d labels before", stage, given, want, before)
		}
	}
	if _, err := r.planner.People(t.Context(), run, "one"); err == nil {
		t.Error("people can judge a stage that asks")
	}
}

// untilDone walks over the tasks of a person, who labels each of them, until none is left.
func (r *rig) untilDone(p *people.Stage) iter.Seq2[int, analysis.Task] {
	return func(yield func(int, analysis.Task) bool) {
		for n := 0; n < 1000; {
			tasks, err := p.Next(r.t.Context(), analysis.Queue{Person: "human:ada", Seed: 1, N: 100})
			if err != nil {
				r.t.Fatal(err)
			}
			if len(tasks) == 0 {
				return
			}
			for _, task := range tasks {
				if !yield(n, task) {
					return
				}
				n++
			}
		}
		r.t.Error("the same tasks come again and again")
	}
}

// byPeople counts the labels of people in a stage.
func (r *rig) byPeople(run store.Run, stage string) int {
	r.t.Helper()
	n := 0
	for v, err := range r.ledger.Reader.Verdicts(r.t.Context(), run.No, stage) {
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.HasPrefix(v.At.Judge, people.Prefix) {
			n++
		}
	}
	return n
}

func TestVerdictsMadeElsewhereFindThePlaceOfTheJudgesOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.run(lanes + labelled)
	for _, stage := range []string{"ok", "arena", "writing"} {
		place, err := r.planner.People(t.Context(), run, stage)
		if err != nil {
			t.Fatal(err)
		}
		for v, err := range r.ledger.Reader.Verdicts(t.Context(), run.No, stage) {
			if err != nil {
				t.Fatal(err)
			}
			of := script.ReadingOf(v.At)
			made := stages.Foreign{
				Source: v.At.Source, Item: v.At.Item, Lane: of.Lane, First: of.First, Second: of.Second, Template: v.At.Template,
				Prompt: v.At.Prompt, Trait: v.At.Trait, Branch: v.At.Branch, Turn: v.At.Turn, Draw: v.At.Draw, Vote: v.At.Vote,
				Judge: v.At.Judge, Verdict: assay.Verdict{State: assay.VerdictMissing},
			}
			got, err := place.Foreign(made)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]any{v.At, v.Subject, v.Against, v.Direction},
				[]any{got.At, got.Subject, got.Against, got.Direction}); d != "" {
				t.Errorf("%s (-want +got):\n%s", stage, d)
			}
			for _, wrong := range []func(*stages.Foreign){
				func(t *stages.Foreign) { t.Lane, t.First = "nosuch", "nosuch" },
				func(t *stages.Foreign) { t.Second, t.Turn = "nosuch", 9 },
			} {
				bad := made
				if wrong(&bad); stage == "ok" && bad.Turn != 9 && bad.Lane == of.Lane {
					continue
				}
				if _, err := place.Foreign(bad); err == nil {
					t.Errorf("%s: %+v has a place", stage, bad)
				}
			}
		}
	}
}

func TestWhatAStageExpectsIsWhatItsJudgesGave(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.run(lanes + labelled)
	for _, stage := range []string{"ok", "arena", "writing"} {
		given, expected := map[string]bool{}, map[string]bool{}
		for v, err := range r.ledger.Reader.Verdicts(t.Context(), run.No, stage) {
			if err != nil {
				t.Fatal(err)
			}
			given[fmt.Sprintf("%+v", v.At)] = true
		}
		for at, err := range r.planner.Expected(t.Context(), run, stage) {
			if err != nil {
				t.Fatal(err)
			}
			expected[fmt.Sprintf("%+v", at)] = true
		}
		if d := cmp.Diff(expected, given); d != "" || len(given) == 0 {
			t.Errorf("%s (-expected +given):\n%s", stage, d)
		}
	}
	for at, err := range r.planner.Unasked(t.Context(), run, "one", nil) {
		t.Errorf("unasked: %+v, %v", at, err)
	}
	name, texts, err := r.planner.Texts(t.Context(), run)
	if err != nil || name != "s.yaml" || !strings.Contains(texts[name], "study: s") {
		t.Errorf("texts of the run: %s, %v, %v", name, texts, err)
	}
	sides, ok, err := r.planner.Sides(t.Context(), run, "arena")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for v, err := range r.ledger.Reader.Verdicts(t.Context(), run.No, "arena") {
		if err != nil {
			t.Fatal(err)
		}
		if two, err := sides(v.At); err != nil || two != [2]assay.Key{v.Subject, v.Against} {
			t.Errorf("sides of %+v: %v, %v", v.At, two, err)
		}
	}
}

// Of what the judges of a stage are told, people see the same: what is expected, the rubric and the statement, and no answer twice.
func TestPeopleAreToldWhatTheJudgesAreTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ruled := regexp.MustCompile(`(, text: \w+)}`).ReplaceAllString(lanes, "$1, rule: Be brief.}")
	run := r.run(ruled + `  - {name: one, ask: q, turns: ["{{ text }}"], lanes: [g, h]}
  - {name: ok, judge: one, rubric: {system: "Be strict.", prompt: "Is {{ answer.text }} the same as {{ expect }}?", labels: {good: 1, bad: 0}}, judges: [j]}
  - {name: alone, judge: one, rubric: {prompt: "Is {{ answer.text }} polite?", labels: {good: 1, bad: 0}}, judges: [j]}
  - {name: ruled, judge: one, rubric: contains}
  - {name: keeps, judge: one, rubric: {prompt: "{{ statement_block }} {{ answer.text }}", labels: {good: 1, bad: 0}}, judges: [j]}
  - {name: plain, judge: one, rubric: {prompt: "Does it keep to {{ rule }}? {{ answer.text }}", labels: {good: 1, bad: 0}}, judges: [j]}
  - {name: arena, compare: one, of: first, pairs: {all: true}, rubric: better, judges: [j]}
`)
	for stage, want := range map[string]struct{ expect, statement, told string }{
		"ok":    {"yes", "", "Be strict.\n\nIs (the answer to judge) the same as yes?"},
		"alone": {"", "", "Is (the answer to judge) polite?"},
		"ruled": {"yes", "", ""},
		"keeps": {"", "Be brief.", "Text: Be brief. (the answer to judge)"},
		"plain": {"", "Be brief.", "Does it keep to Be brief.? (the answer to judge)"},
		"arena": {"", "Be brief.", "(answer A)"},
	} {
		p, err := r.planner.People(t.Context(), run, stage)
		if err != nil {
			t.Fatal(err)
		}
		tasks, err := p.Next(t.Context(), analysis.Queue{Person: "human:ada", Seed: 1, N: 1})
		if err != nil || len(tasks) != 1 {
			t.Fatalf("%s: %d tasks, %v", stage, len(tasks), err)
		}
		shown, ok, err := p.Show(t.Context(), tasks[0])
		if err != nil || !ok {
			t.Fatalf("%s: %t, %v", stage, ok, err)
		}
		same := shown.Told.Text == want.told
		if stage == "arena" {
			same = strings.Contains(shown.Told.Text, want.told) && !strings.Contains(shown.Told.Text, shown.Pair.A)
		}
		if shown.Told.Expect != want.expect || shown.Told.Statement != want.statement || !same {
			t.Errorf("%s: want %+v, told %+v", stage, want, shown.Told)
		}
	}
}

func TestOnlyPairsOfTheSameTextAreTiesWithoutALook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.runFiles(fstest.MapFS{
		"s.yaml": {Data: []byte(`study: s
inputs: {q: {items: [{id: "1", text: 2+2}, {id: "2", text: 3+3}]}}
canary: false
lane_defaults: {max_tokens: 200}
lanes: {j: {model: openai/gpt-4.1-mini-2025-04-14, temperature: 0}}
stages:
  - {name: old, import: {file: answers.csv, of: q}, prompt: "{{ text }}"}
  - {name: arena, compare: old, rubric: better, judges: [j], pairs: all}
`)},
		"answers.csv": {Data: []byte("item,lane,text\n1,one,4\n2,one,6\n1,two,4\n2,two,7\n")},
	})
	p, err := r.planner.People(t.Context(), run, "arena")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range r.untilDone(p) {
		v, err := p.Verdict(task, "human:ada", assay.Verdict{State: assay.VerdictValid, Label: assay.LabelA})
		if err != nil || task.At.Item != "2" {
			t.Fatalf("%+v is shown: %v", task.At, err)
		}
		if err := p.Label(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	said := map[string]string{}
	for v, err := range r.ledger.Reader.Verdicts(t.Context(), run.No, "arena") {
		if err != nil {
			t.Fatal(err)
		}
		if v.At.Judge == "human:ada" {
			said[v.At.Item] = v.Label
		}
	}
	if diff := cmp.Diff(map[string]string{"1": assay.LabelTie, "2": assay.LabelA}, said); diff != "" {
		t.Error(diff)
	}
}
