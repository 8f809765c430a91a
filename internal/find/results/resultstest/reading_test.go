package resultstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/document"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/labels"
	"assay/internal/find/results/rows"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/report/pages"
	"assay/internal/show/report/words"
	"assay/internal/study/catalog"
)

// TestARunIsReadBack asks one run for everything but its rows.
func TestARunIsReadBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, every)
	b.assay([]int{0, 3, 6}, "run", "every.yaml", "--yes", "--home", "home")
	b.assay([]int{0, 3, 6}, "run", "every.yaml", "--yes", "--home", "home", "--new", "--limit", "2")
	r, _ := b.reader("home")
	runs, err := r.Pages.RunsPage(t.Context(), 0, 5)
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	slices.SortFunc(runs, func(a, b store.Run) int { return int(a.No - b.No) })
	x := &reading{t: t, r: r, run: runs[0]}
	x.findings()
	x.groups()
	x.prices()
	x.document()
	x.people()
	x.labels()
	x.keeps()
	x.pages()
	x.diff(runs[1])
	if text := b.assay([]int{0, 3, 6}, "bundle", runs[0].ID, "--home", "home", "--out", "run.zip"); text != "" {
		t.Log(text)
	}
	if got := b.assay([]int{0, 3, 6}, "analyse", "run.zip", "--json"); !strings.Contains(got, `"stage": "panel"`) {
		t.Errorf("findings of a bundle: %s", got)
	}
}

type reading struct {
	t   *testing.T
	r   *results.Reader
	run store.Run
}

func (x *reading) ok(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *reading) findings() {
	t := x.t
	f, err := findings.Of(t.Context(), x.r, x.run, findings.Query{})
	x.ok(err)
	var stages []string
	for _, table := range f.Report.Tables {
		if !slices.Contains(stages, table.Stage) {
			stages = append(stages, table.Stage)
		}
	}
	slices.Sort(stages)
	if d := cmp.Diff([]string{"arena", "essays", "fine", "panel", "right"}, stages); d != "" {
		t.Error(d)
	}
	if len(f.Gates) != 2 || !f.Gates[0].Passed || f.Gates[1].Passed {
		t.Errorf("gates: %+v", f.Gates)
	}
	if !slices.ContainsFunc(f.Warnings, func(w string) bool { return strings.HasPrefix(w, "gold.csv:4") }) {
		t.Errorf("a gold label of no item is not reported: %v", f.Warnings)
	}
	rows := findings.Table([]*findings.Findings{f})
	if len(rows) < 2 {
		t.Fatal("no finding has a row")
	}
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			t.Fatalf("a row of %d cells under %d heads", len(row), len(rows[0]))
		}
	}
	text, err := json.Marshal(f.JSON())
	x.ok(err)
	if !bytes.Contains(text, []byte(`"per_valid_verdict_usd"`)) || !bytes.Contains(text, []byte(`"matrix"`)) {
		t.Errorf("findings for programs: %.500s", text)
	}
	var junit bytes.Buffer
	x.ok(findings.WriteJUnit(&junit, []*findings.Findings{f}))
	if !strings.Contains(junit.String(), `failures="1"`) {
		t.Errorf("gates as tests: %s", junit.String())
	}
	source, err := findings.Gates(t.Context(), x.r, x.run, []string{"right"})
	if _, is := source.(analysis.Answers); err != nil || !is {
		t.Errorf("the gates: %T %v", source, err)
	}
}

func (x *reading) groups() {
	t := x.t
	f, err := findings.Of(t.Context(), x.r, x.run,
		findings.Query{By: []string{"lane", "topic", "branch"}, Where: `lane != "b" and not second_try`})
	x.ok(err)
	for _, table := range f.Report.Tables {
		for _, one := range table.Findings {
			if table.Stage != "arena" && one.Of("lane") == "b" { // a lane may still be compared with
				t.Errorf("stage %s: lane b is left out and there", table.Stage)
			}
		}
	}
	var m *results.Mistake
	if _, err := findings.Of(t.Context(), x.r, x.run, findings.Query{By: []string{"nonsense"}}); !errors.As(err, &m) || m.Hint == "" {
		t.Errorf("a field that no item has: %v", err)
	}
	var problems assay.Problems
	if _, err := findings.Of(t.Context(), x.r, x.run, findings.Query{Where: "lane =="}); !errors.As(err, &problems) {
		t.Errorf("half a condition: %v", err)
	}
}

func (x *reading) prices() {
	paid, err := findings.Of(x.t.Context(), x.r, x.run, findings.Query{})
	x.ok(err)
	anew, err := findings.Of(x.t.Context(), x.r, x.run, findings.Query{Prices: catalog.Default()})
	x.ok(err)
	if d := cmp.Diff(paid.Costs, anew.Costs); d != "" {
		x.t.Errorf("the same prices give other costs: %s", d)
	}
	total, err := runs.Spent(x.t.Context(), x.r, x.run)
	x.ok(err)
	var sum assay.Cost
	for _, c := range paid.Costs {
		sum = sum.Add(c.Cost)
	}
	if total.Sum != sum.Sum {
		x.t.Errorf("spent %s, by lanes %s", total, sum)
	}
}

func (x *reading) document() {
	t := x.t
	doc, err := document.Of(t.Context(), x.r, x.run, document.Options{Version: "v", Out: "my report.html", Format: "html", Examples: 8})
	x.ok(err)
	if len(doc.Examples) != 8 || len(doc.Stages) == 0 || len(doc.Inputs) != 2 || doc.Inputs[0].Clusters != 2 {
		t.Errorf("%d examples, stages %v, inputs %v", len(doc.Examples), doc.Stages, doc.Inputs)
	}
	if d := cmp.Diff([]string{"assay analyse " + x.run.ID,
		"assay report " + x.run.ID + " --out 'my report.html' --format html --examples 8"}, doc.Origin.Commands[1:3]); d != "" {
		t.Error(d)
	}
	if !slices.ContainsFunc(doc.Lanes, func(l report.Lane) bool { return l.Params == "temperature 0, max_tokens 60" }) {
		t.Errorf("lanes: %v", doc.Lanes)
	}
	x.grid(doc)
	var page bytes.Buffer
	x.ok(pages.HTML(&page, doc))
	if !strings.Contains(page.String(), "Are you sure?") && !strings.Contains(page.String(), "What is two and two?") {
		t.Error("no example shows what was asked")
	}
}

func (x *reading) people() {
	t := x.t
	stages, err := labels.Stages(t.Context(), x.r, x.run)
	x.ok(err)
	slices.Sort(stages)
	if d := cmp.Diff([]string{"arena", "essays", "fine", "panel", "right"}, stages); d != "" {
		t.Error(d)
	}
	anna, err := labels.Person("anna")
	x.ok(err)
	if _, err := labels.Person("<b>"); err == nil {
		t.Error("anything can be a name")
	}
	clear, err := labels.Clear(t.Context(), x.r, x.run, "arena")
	x.ok(err)
	if clear("none\x00other", 1) || clear("a\x00b", 1<<20) { // however one-sided the simulator makes them
		t.Error("a few comparisons make it clear")
	}
	for _, stage := range []string{"arena", "panel", "essays"} {
		panel, err := labels.Open(t.Context(), x.r, x.run, stage)
		x.ok(err)
		tasks, err := panel.People.Next(t.Context(),
			analysis.Queue{Person: anna, Seed: 1, N: 3, Skip: func(assay.Key) bool { return false }})
		x.ok(err)
		sheet, shown, err := panel.Sheet(t.Context(), tasks[0])
		x.ok(err)
		if shown && panel.Pairs() != (sheet.A != "") {
			t.Errorf("%s: %+v", stage, sheet)
		}
		keys := panel.Choices()
		x.ok(panel.Say(t.Context(), tasks[0], anna, keys[0].Key))
		x.ok(panel.Say(t.Context(), tasks[1], anna, keys[len(keys)-1].Key))
		if err := panel.Say(t.Context(), tasks[0], anna, "?"); err == nil {
			t.Errorf("%s: any key will do", stage)
		}
		if d := cmp.Diff([]string{"abstained", "valid"}, x.states(stage, anna)); d != "" {
			t.Errorf("%s: %s", stage, d)
		}
		x.ok(panel.Withdraw(t.Context(), tasks[1], anna))
		if d := cmp.Diff([]string{"valid"}, x.states(stage, anna)); d != "" {
			t.Errorf("%s: %s", stage, d)
		}
	}
	if _, err := labels.Open(t.Context(), x.r, x.run, "first"); err == nil {
		t.Error("people judge a stage that asks")
	}
}

func (x *reading) states(stage, person string) []string {
	var out []string
	for v, err := range x.r.Ledger.Verdicts(x.t.Context(), x.run.No, stage) {
		x.ok(err)
		if v.At.Judge == person {
			out = append(out, string(v.State))
		}
	}
	slices.Sort(out)
	return out
}

func (x *reading) labels() {
	t := x.t
	people, err := x.r.Scripts.People(t.Context(), x.run, "arena")
	x.ok(err)
	write := func(text string) (labels.Counts, assay.Problems) {
		rows, err := labels.Read(strings.NewReader(text), "labels.csv")
		x.ok(err)
		var mine []*labels.Label
		for i := range rows {
			rows[i].Stage, rows[i].Judge = "arena", "human:ben"
			mine = append(mine, &rows[i])
		}
		var problems assay.Problems
		found, err := labels.Match(t.Context(), x.r, x.run, people, mine, &problems)
		x.ok(err)
		n, err := labels.Write(t.Context(), x.r, x.run, found)
		x.ok(err)
		return n, problems
	}
	const head = "item,a,b,template,draw,winner\n"
	n, problems := write(head + "q1,a,b,plain,1,a\nq2,b,a,plain,1,b\nq3,a,b,plain,1,perhaps\nq9,a,b,plain,1,a\n")
	if n != (labels.Counts{New: 2}) || len(problems) != 2 {
		t.Errorf("%+v, %v", n, problems)
	}
	n, problems = write(head + "q1,a,b,plain,1,b\nq2,b,a,plain,1,b\n")
	if n != (labels.Counts{Changed: 1, Same: 1}) || len(problems) != 0 {
		t.Errorf("%+v, %v", n, problems)
	}
	if _, problems := write("item,a,b,winner\nq1,a,b,a\n"); len(problems) != 1 || !strings.Contains(problems[0].What, "may be about") {
		t.Errorf("a label of several answers: %v", problems)
	}
	if _, err := labels.Read(strings.NewReader("x"), "labels.doc"); err == nil {
		t.Error("a document is a table")
	}
}

func (x *reading) keeps() {
	for _, c := range []struct {
		stage  string
		fields map[string]string
		some   bool
	}{
		{"panel", map[string]string{"judge": "j", "topic": "sums"}, true}, {"panel", map[string]string{"item": "q1", "cluster": "talk"},
			false}, {"fine", map[string]string{"branch": "doubt", "turn": "2"}, true},
		{"essays", map[string]string{"trait": "brevity"}, true}, {"essays", map[string]string{"topic": "sums"}, false},
	} {
		keep, err := findings.Keep(x.t.Context(), x.r, x.run, c.stage, c.fields)
		x.ok(err)
		kept, all := 0, 0
		for v, err := range x.r.Ledger.Verdicts(x.t.Context(), x.run.No, c.stage) {
			x.ok(err)
			yes, err := keep(&v)
			x.ok(err)
			if all++; yes {
				kept++
			}
		}
		if kept > 0 != c.some || kept == all {
			x.t.Errorf("%s by %v: %d of %d", c.stage, c.fields, kept, all)
		}
	}
	if _, err := findings.Keep(x.t.Context(), x.r, x.run, "first", nil); err == nil {
		x.t.Error("a stage that asks has verdicts")
	}
}

// pages holds rows that are made before the study is read against those made after.
func (x *reading) pages() {
	t := x.t
	bare, err := rows.Plain(t.Context(), x.r, x.run)
	x.ok(err)
	full, err := rows.OfPage(t.Context(), x.r, x.run)
	x.ok(err)
	answers, err := x.r.Pages.AnswersPage(t.Context(), x.run.No, store.AnswerFilter{Stage: "talk"}, store.Mark{}, 3)
	x.ok(err)
	for _, a := range answers {
		without, err := bare.Answer(t.Context(), a, nil)
		x.ok(err)
		with, err := full.Answer(t.Context(), a, nil)
		x.ok(err)
		with.Verb, with.Input = "", ""
		if d := cmp.Diff(with, without); d != "" {
			t.Error(d)
		}
		asked, err := rows.Prompts(t.Context(), x.r, x.run, []assay.Coordinates{a.At})
		x.ok(err)
		if len(asked) != 1 || len(asked[0].Messages) != 1 {
			t.Errorf("asked: %+v", asked)
		}
	}
	found, err := findings.Of(t.Context(), x.r, x.run, findings.Query{})
	x.ok(err)
	doc, err := document.Outline(t.Context(), x.r, found)
	x.ok(err)
	if len(doc.Spend) == 0 || doc.Report != found.Report || len(doc.Lanes) == 0 || words.Summarise(doc).Headline.String() == "" {
		t.Errorf("summary: %+v", doc)
	}
}

func (x *reading) diff(other store.Run) {
	t := x.t
	d, err := findings.Compare(t.Context(), [2]*results.Reader{x.r, x.r}, [2]store.Run{x.run, other})
	x.ok(err)
	if d.Shared() != 4 { // two questions, two texts
		t.Errorf("%d items are shared", d.Shared())
	}
	if diff := cmp.Diff([]findings.Changed{{What: "command line.limit", Is: "2"}}, d.Settings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(findings.SharedItems{Input: "q", Shared: 2, First: 1}, d.Items[0]); diff != "" {
		t.Error(diff)
	}
	if len(d.Paired) == 0 || len(d.Beside) == 0 || len(d.JSON().Tables) != len(d.Paired) {
		t.Errorf("%d tables paired, %d numbers beside", len(d.Paired), len(d.Beside))
	}
}

// TestARehearsalIsHeldAgainstTheTruth runs the study against the simulator and asks what is true there.
func TestARehearsalIsHeldAgainstTheTruth(t *testing.T) {
	t.Parallel()
	b := newBench(t, every)
	b.assay([]int{0, 3, 6}, "run", "every.yaml", "--rehearse", "--yes", "--home", "home")
	r, _ := b.reader("home/rehearsal")
	run, err := r.Ledger.FindRun(t.Context(), "latest", "")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := findings.Truth(t.Context(), r, run)
	if err != nil || len(claims) == 0 {
		t.Fatalf("%d claims: %v", len(claims), err)
	}
	for _, c := range claims {
		if f := c.Finding; c.Holds() != (f.Interval.Low <= c.True && c.True <= f.Interval.High) {
			t.Errorf("%s %s: %v", f.Stage, f.What, c)
		}
	}
}
