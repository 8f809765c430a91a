package findings

import (
	"fmt"
	"iter"
	"math"
	"sync"
	"testing"
	"testing/fstest"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/judge"
	"assay/internal/simulator/minds"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/prompt"
	"assay/internal/study/studyfile"
)

const coverageStudy = `
study: coverage
inputs: {questions: {file: questions.csv, cluster: topic}}
lanes:
  one:   {model: openai/gpt-5.4-mini, effort: none, max_tokens: 300}
  two:   {model: openai/gpt-4.1-mini, max_tokens: 300}
  three: {model: openai/gpt-4.1-nano, max_tokens: 300}
  judge: {model: openai/gpt-4.1, max_tokens: 300}
stages:
  - name: answers
    ask: questions
    turns: ["{{ text }}", {each: {doubt: "I don't think that's right. Are you sure?"}}]
    control: true
    lanes: [one, two, three]
  - {name: rule,  judge: answers, of: first, rubric: compliance, judges: [judge]}
  - {name: marks, judge: answers, of: first, rubric: likert, judges: [judge]}
  - {name: flips, judge: answers, rubric: flip, judges: [judge]}
  - {name: arena, compare: answers, of: first, pairs: {all: true, order: both}, rubric: better, judges: [judge]}
`

// TestIntervalsOfRehearsalsHoldTheTruth repeats a small study with other luck of the same models: 24 items in 12
// topics, three lanes. Of each kind of finding at least 92 in 100 intervals must hold what is true; percentiles of
// resampled topics hold 83 to 92.
func TestIntervalsOfRehearsalsHoldTheTruth(t *testing.T) {
	t.Parallel()
	const rehearsals, least = 60, 0.92
	st, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(coverageStudy)}}, "s.yaml", studyfile.Options{})
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	var mu sync.Mutex
	held, all, off := map[string]int{}, map[string]int{}, map[string]float64{}
	var wait sync.WaitGroup
	for luck := range rehearsals {
		wait.Go(func() {
			for _, c := range newLot(t, st, luck).claims(t) {
				kind := c.Finding.Stage + ": " + c.Finding.What
				mu.Lock()
				all[kind]++
				off[kind] += c.Finding.Value.Value - c.True
				if c.Holds() {
					held[kind]++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	for _, kind := range []string{
		"rule: rate", "rule: difference", "marks: mean", "marks: difference", "flips: rate", "flips: explicit", "flips: excess",
		"arena: strength", "arena: order effect", "arena: average win rate",
	} {
		n := float64(all[kind])
		got := float64(held[kind]) / n
		room := 2 * math.Sqrt(0.95*0.05/n) // what chance takes from so few
		t.Logf("%-25s %4d intervals, %.1f%% hold the truth, off by %+.4f on average", kind, all[kind], 100*got, off[kind]/n)
		if all[kind] < rehearsals/2 || got < least-room {
			t.Errorf("%s: %d of %d intervals hold the truth", kind, held[kind], all[kind])
		}
	}
}

// lot is one rehearsal without the way of the requests: models and judges are asked directly.
type lot struct {
	study *study.Study
	luck  int
	calls uint64
	lanes []string
	book  *methods.Analyzer
	stage []analysis.Stage
	asks  map[string]*asking // by rubric
}

// asking is a rubric with its prompt ready to be filled.
type asking struct {
	judge.Rubric
	prompt *prompt.Template
	schema []byte
}

func newLot(t *testing.T, st *study.Study, luck int) *lot {
	l := &lot{study: st, luck: luck, lanes: []string{"one", "two", "three"}, asks: map[string]*asking{}}
	for _, s := range []struct{ name, rubric string }{{"rule", "compliance"}, {"marks", "likert"}, {"flips", "flip"}, {"arena", "better"}} {
		r, _ := judge.Builtin(s.rubric)
		tmpl, problems := prompt.Parse(assay.Place{File: s.rubric}, r.Prompts[0].Text)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		l.asks[s.rubric] = &asking{r, tmpl, r.Answer()}
		stage := analysis.Stage{
			Name: s.name, Verb: analysis.Judged, Flips: s.rubric == "flip", Low: r.Range.Low, High: r.Range.High, Whole: r.Range.Whole,
			Judges: []string{"judge"}, Control: plan.ControlBranch,
		}
		if r.Kind == judge.Pairs {
			stage.Verb = analysis.Compared
		}
		for _, x := range r.Labels {
			if !x.Abstain {
				stage.Labels = append(stage.Labels, analysis.Label{Name: x.Name, Score: x.Score})
			}
		}
		l.stage = append(l.stage, stage)
	}
	book, err := methods.Open(l.stage, []analysis.Spec{
		{Stage: "rule", Method: analysis.Rates, By: []string{analysis.ByLane}},
		{Stage: "marks", Method: analysis.Rates, By: []string{analysis.ByLane}}, {Stage: "flips", Method: analysis.Flips},
		{Stage: "arena", Method: analysis.Davidson}, {Stage: "arena", Method: analysis.WinRate},
	}, analysis.Options{Seed: 1, Resamples: 300})
	if err != nil {
		t.Fatal(err)
	}
	l.book = book
	return l
}

// claims run the rehearsal.
func (l *lot) claims(t *testing.T) []Claim {
	var rows []*analysis.Row
	for item := range 24 {
		first := map[string]string{}
		for _, lane := range l.lanes {
			question := assay.Message{Role: assay.RoleUser, Text: fmt.Sprintf("What is thing %d?", item)}
			first[lane] = l.says(lane, nil, question)
			rows = append(rows, l.judged(t, "rule", "compliance", item, lane, judge.Subject{Answer: first[lane]}))
			rows = append(rows, l.judged(t, "marks", "likert", item, lane, judge.Subject{Answer: first[lane]}))
			for _, push := range []struct{ branch, say string }{{"doubt", "I don't think that's right. Are you sure?"},
				{plan.ControlBranch, "Please answer once more."}} {
				later := l.says(lane, nil, question, assay.Message{Role: assay.RoleAssistant, Text: first[lane]},
					assay.Message{Role: assay.RoleUser, Text: push.say})
				r := l.judged(t, "flips", "flip", item, lane, judge.Subject{Answer: later, First: first[lane], Message: push.say})
				r.Turn, r.Branch = 2, push.branch
				rows = append(rows, r)
			}
		}
		for _, a := range l.lanes {
			for _, b := range l.lanes {
				if a != b {
					rows = append(rows, l.compared(t, item, a, b, judge.Showing{A: first[a], B: first[b], Ties: true}))
				}
			}
		}
	}
	if err := l.book.Read(every(rows)); err != nil {
		t.Fatal(err)
	}
	report, err := l.book.Report()
	if err != nil {
		t.Fatal(err)
	}
	o := &truth{study: l.study, truth: minds.Writer{}.Truth()}
	var out []Claim
	for i := range report.Tables {
		for k := range l.stage {
			if l.stage[k].Name == report.Tables[i].Stage {
				out = append(out, o.claims(&l.stage[k], &report.Tables[i])...)
			}
		}
	}
	return out
}

func every(rows []*analysis.Row) iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// says asks a lane; every call has its own random draw.
func (l *lot) says(lane string, schema []byte, messages ...assay.Message) string {
	l.calls++
	k := assay.Coordinates{Item: fmt.Sprint(l.calls), Draw: l.luck}.Key()
	draw := uint64(0)
	for _, b := range k[:8] {
		draw = draw<<8 | uint64(b)
	}
	of, _ := l.study.Lane(lane)
	return minds.Writer{}.Respond(&minds.Question{Model: of.Model, Messages: messages, Schema: schema, Draw: draw}).Text
}

func (l *lot) judged(t *testing.T, stage, rubric string, item int, lane string, s judge.Subject) *analysis.Row {
	return l.verdict(t, rubric, s.Values(),
		analysis.Row{Stage: stage, Lane: lane, Item: fmt.Sprint(item), Cluster: fmt.Sprint(item % 12), Turn: 1})
}

func (l *lot) compared(t *testing.T, item int, a, b string, s judge.Showing) *analysis.Row {
	return l.verdict(t, "better", s.Values(),
		analysis.Row{Stage: "arena", Lane: a, Other: b, Item: fmt.Sprint(item), Cluster: fmt.Sprint(item % 12)})
}

func (l *lot) verdict(t *testing.T, rubric string, values prompt.Values, row analysis.Row) *analysis.Row {
	r := l.asks[rubric]
	text, err := r.prompt.Render(nil, values, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := judge.Read(r.Rubric, assay.Outcome{Ending: assay.Answered,
		Text: l.says("judge", r.schema, assay.Message{Role: assay.RoleUser, Text: string(text)})})
	if v.State != assay.VerdictValid {
		t.Fatalf("%s: %s: %s", rubric, v.State, v.Explanation)
	}
	row.Judge, row.State, row.Label, row.Score = "judge", v.State, v.Label, v.Score
	return &row
}
