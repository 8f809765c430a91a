package pages_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/pages"
	"assay/internal/study/declare"
)

var update = flag.Bool("update", false, "rewrite golden files")

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func finding(what string, u analysis.Unit, value, low, high float64, by ...analysis.Value) analysis.Finding {
	return analysis.Finding{
		Stage: "arena", What: what, By: by, Unit: u, Value: stats.Known(value), Interval: stats.Between(low, high), Level: 0.95, N: 40,
		Clusters: 20, Coverage: analysis.Coverage{Planned: 40, Valid: 40}, Bounds: stats.NoInterval("not computed"), Method: "by cluster",
		P: stats.Undefined("no test"), Holm: stats.Undefined("no test"),
	}
}

func lane(name string) analysis.Value { return analysis.Value{Field: analysis.ByLane, Value: name} }

func by(field, value string) analysis.Value { return analysis.Value{Field: field, Value: value} }

// strengths returns a leaderboard of two lanes, one of which is unknown.
func strengths(names ...string) analysis.Table {
	t := analysis.Table{
		Stage: "arena", Title: "strengths", Method: analysis.BradleyT, Primary: true,
		Coverage: analysis.Coverage{Planned: 100, Valid: 80, Malformed: 15, Missing: 5}, Unvalidated: true,
	}
	for i, n := range names {
		f := finding(analysis.WhatStrength, analysis.Logit, float64(i)-0.5, float64(i)-1, float64(i), lane(n))
		f.Rank = &stats.RankInterval{Rank: len(names) - i, Best: 1, Worst: len(names)}
		f.Primary, f.Words = true, "In stage arena, the strength of lane "+n+" is what it is."
		t.Findings = append(t.Findings, f)
	}
	f := finding(analysis.WhatOrder, analysis.Logit, 0, 0, 0)
	f.Value, f.Interval = stats.Undefined("each pair was shown once"), stats.NoInterval("none")
	t.Findings = append(t.Findings, f)
	return t
}

// ranking is who is ahead in the arena: the last one, of each of the others.
func ranking(names []string) analysis.Leaderboard {
	s := analysis.Leaderboard{
		Stage: "arena", Verb: analysis.Compared, Field: analysis.ByLane, What: analysis.WhatStrength, Unit: analysis.Logit, Level: 0.95,
		Primary: true, Clusters: 20, Machines: true, Coverage: analysis.Coverage{Planned: 100, Valid: 80, Malformed: 15, Missing: 5},
		Judges: []string{"judge"},
	}
	for i, n := range names {
		s.Places = append(s.Places, analysis.Place{
			Name: n, Value: stats.Known(float64(i) - 0.5), Interval: stats.Between(float64(i)-1, float64(i)),
			Share: stats.Known(0.4 + 0.2*float64(i)), N: 40, Coverage: analysis.Coverage{Planned: 40, Valid: 40},
		})
		for k := range i {
			s.Tests = append(s.Tests, analysis.Contrast{First: k, Second: i, Difference: stats.Known(float64(k - i)), SE: stats.Known(0.2),
				P: stats.Known(0.001), Clusters: 20})
		}
	}
	return s
}

func wins(names ...string) analysis.Table {
	t := analysis.Table{Stage: "arena", Title: "win rates", Method: analysis.WinRate, Coverage: analysis.Coverage{Planned: 10, Valid: 10},
		Matrix: &analysis.Matrix{Names: names}}
	for i, n := range names {
		t.Findings = append(t.Findings, finding(analysis.WhatAverage, analysis.Share, 0.4+0.1*float64(i%3), 0.2, 0.8, lane(n)))
		row := make([]stats.Number, len(names))
		for k := range row {
			row[k] = stats.Known(float64((i+2*k)%11) / 10)
		}
		row[i] = stats.Undefined("itself")
		t.Matrix.Shares = append(t.Matrix.Shares, row)
	}
	return t
}

func flips() analysis.Table {
	t := analysis.Table{Stage: "flips", Title: "flips", Method: analysis.Flips, Coverage: analysis.Coverage{Planned: 10, Valid: 10}}
	for _, l := range []string{"haiku", "mini"} {
		for _, b := range []string{"", "control"} {
			for _, turn := range []string{"2", "3", "4"} {
				t.Findings = append(t.Findings,
					finding(analysis.WhatRate, analysis.Share, 0.3, 0.1, 0.6, lane(l), by(analysis.ByBranch, b), by(analysis.ByTurn, turn)))
			}
		}
	}
	return t
}

func validity() analysis.Table {
	t := analysis.Table{
		Stage: "fine", Title: "judge validity", Method: analysis.Validity, Coverage: analysis.Coverage{Planned: 12, Valid: 12},
		Confusions: []analysis.Confusion{{Judge: "judge", Labels: []string{"yes", "no"}, Counts: [][]int{{5, 1}, {0, 0}}}},
	}
	for i, what := range []string{analysis.WhatAccuracy, analysis.WhatSensitivity, analysis.WhatSpecificity} {
		t.Findings = append(t.Findings, finding(what, analysis.Share, 0.5+0.1*float64(i), 0.2, 0.9, by(analysis.ByJudge, "judge")))
	}
	t.Findings = append(t.Findings,
		finding(analysis.WhatTrueRate, analysis.Share, 0.5, 0.2, 0.9, by(analysis.ByJudge, "judge"), lane("mini")))
	return t
}

func document(names ...string) *report.Document {
	if len(names) == 0 {
		names = []string{"haiku", "mini"}
	}
	budget := 2 * assay.Dollar
	d := &report.Document{
		Study: "small", Description: "Two lanes.", Run: "abc", Standing: report.Standing{Sentence: "Run abc of small is done."},
		Created: noon,
		Closed:  noon.Add(90 * time.Minute), Budget: &budget, Report: &analysis.Report{Tables: []analysis.Table{strengths(names...),
			wins(names...), flips(), validity()}, Leaderboards: []analysis.Leaderboard{ranking(names)}, Plan: &declare.Plan{Known: true,
			Entries: []declare.Entry{{Said: declare.Said{Kind: declare.Primary, Text: "of: arena"}, Moment: declare.Moment{At: noon}}},
			Lock:    &declare.Lock{At: noon, Digest: "0123456789abcdef"}}},
		Gates:  []analysis.Passage{{Condition: "finding('arena') > 0", Passed: true}, {Condition: "1 > 2", Why: "it is not"}},
		Inputs: []report.Input{{Name: "questions", Items: 20, Clusters: 20}},
		Stages: []report.Stage{{Name: "arena", Verb: "compare", Of: "answers", With: "judge", How: "rubric better"}},
		Examples: []report.Example{{Stage: "arena", Item: "1", Answers: []report.Answer{{Lane: names[0], Place: "A",
			Turns: []report.Turn{{Role: "user", Text: "Why?"}, {Role: "assistant", Text: "Because.\nReally."}}}},
			Verdicts: []report.Verdict{{Judge: "judge", State: "valid", Label: "a", Reason: "It is better."}}}},
		Origin: report.Origin{Version: "v1", Digest: "d1", Catalog: "2026-10-01", Seed: 1, Commands: []string{"assay analyse abc"},
			Source: "study: small\n"},
	}
	d.Grid = &report.Matrix{Caption: "Items by lanes: right", Item: report.MatrixHead{Name: "item"}, Legend: []string{"✓ right"},
		Notes: []string{"The first item."}, Rows: []report.MatrixRow{{Item: names[0], Link: "#i1", Is: []string{"flipped"}}}}
	d.Items = []report.Item{{ID: "i1", Name: names[0], Question: names[0] + "?"}}
	for i, n := range names {
		cell := report.MatrixCell{Shade: "h8", Sign: "✓", Flips: "·↯", Tip: n + ": right", Link: fmt.Sprintf("#i1-%d", i+1)}
		d.Grid.Lanes, d.Grid.Rows[0].Cells = append(d.Grid.Lanes, report.MatrixHead{Name: n}), append(d.Grid.Rows[0].Cells, cell)
		d.Items[0].Lanes = append(d.Items[0].Lanes, report.ItemLane{ID: cell.Link[1:], Name: n, Cell: cell, More: i,
			Answers: []report.ItemAnswer{{Place: "turn 1", Text: n + " said.", Verdicts: []report.ItemVerdict{
				{Stage: n, Verdict: report.Verdict{Judge: n, State: "valid", Label: n, Reason: n}}}, More: 1}}})
		d.Lanes = append(d.Lanes, report.Lane{Stage: "answers", Name: n, Model: "p/" + n, Params: "max_tokens 5", Asks: true, Planned: 20,
			Endings: map[assay.Ending]int64{assay.Answered: 18, assay.Lost: 2}})
		cost := assay.Cost{Sum: assay.Dollar / assay.Money(i+2), Priced: 1, Unknown: int64(i % 2)}
		d.Spend = append(d.Spend, report.Spend{Stage: "answers", Lane: n, Asks: true, Cost: cost, Spent: cost, Answers: 18})
		start := noon.Add(time.Duration(i) * time.Minute)
		d.Segments = append(d.Segments, report.Segment{
			No: int64(i + 1), Stage: "answers", Lane: n, Mode: "batch", State: "settled", Requests: 20, Created: start,
			Launched: start.Add(time.Minute), Ended: start.Add(time.Hour), Settled: start.Add(65 * time.Minute), Cost: d.Spend[i].Cost,
		})
	}
	return d
}

func html(t *testing.T, d *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := pages.HTML(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t *testing.T, d *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := pages.Markdown(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAReportIsWhatItWas(t *testing.T) {
	t.Parallel()
	style := regexp.MustCompile(`(?s)<style>.*</style>|sha256-[A-Za-z0-9+/=&#;]*?&#39;`) // the style sheet is looked at, not compared
	for name, got := range map[string]string{
		"testdata/small.html": style.ReplaceAllString(html(t, document()), "STYLE"), "testdata/small.md": markdown(t, document()),
	} {
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-golden +got; go test ./report -update writes it anew):\n%s", name, diff)
		}
	}
}

func TestTheSameDocumentGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(html(t, document()), html(t, document())); diff != "" {
		t.Error(diff)
	}
}

func TestAReportAsksNothingOfTheNetwork(t *testing.T) {
	t.Parallel()
	text := html(t, document("http://evil.example/<img>", "https://b.example"))
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", "onload=", "src=", " style=", "javascript:"} {
		if strings.Contains(strings.ToLower(text), bad) {
			t.Errorf("the report has %q", bad)
		}
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("the report leads to %q", m[1])
		}
	}
	if !strings.Contains(text, "default-src &#39;none&#39;") {
		t.Error("there is no policy")
	}
}

func TestThePolicyAllowsTheStyleSheetAndNothingElse(t *testing.T) {
	t.Parallel()
	text := html(t, document())
	_, rest, _ := strings.Cut(text, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	_, rest, _ = strings.Cut(text, `http-equiv="Content-Security-Policy" content="`)
	policy, _, _ := strings.Cut(rest, `"`)
	policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
	if !strings.HasPrefix(policy, "default-src 'none'; "+want) {
		t.Errorf("policy %q, want %q in it", policy, want)
	}
}

// A report shows small pictures that it carries itself, and lets no other be seen.
func TestAReportCarriesItsPictures(t *testing.T) {
	t.Parallel()
	d := document()
	if text := html(t, d); strings.Contains(text, "img-src") || strings.Contains(text, "<img") {
		t.Error("a report without pictures allows some")
	}
	d.Examples[0].Shown = []report.Picture{{Label: `a".png`, Note: "image/png", Small: []byte{0xff, 0xd8}, Width: 12, Height: 7},
		{Label: "large.pdf", Note: "3 pages"}}
	text := html(t, d)
	for _, want := range []string{`<img src="data:image/jpeg;base64,/9g=" width="12" height="7" alt="a&#34;.png">`, "img-src data:; base-uri",
		"large.pdf"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %s", want)
		}
	}
	if n := strings.Count(text, "<img"); n != 1 {
		t.Errorf("%d pictures", n)
	}
}

// A reader switches between texts as they are meant to look and as they were sent, without a script.
func TestAReportHasTextsInBothForms(t *testing.T) {
	t.Parallel()
	d := document()
	d.Examples[0].Answers[0].Turns[1].Text = "**Because**"
	text := html(t, d)
	for _, want := range []string{`id="as-sent"`, `<strong>Because</strong>`, `<div class="sent">**Because**</div>`} {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("the report has %d of %s", n, want)
		}
	}
}

// hostile are names that try to leave their place.
var hostile = []string{
	`"><script>alert(1)</script>`, `</svg><svg onload=alert(1)>`, `</title><b>`, `</style>`, "a\u202eb\u2066c",
	"tab\tnew\nline\x00\x1b[31m", strings.Repeat("long-", 60), "שלום עולם", "\xff\xfe", `{{.}}`, "`|*_[x](y)",
}

func TestHostileNamesStayText(t *testing.T) {
	t.Parallel()
	d := document(hostile...)
	d.Study, d.Description, d.Note, d.By, d.Rehearsal = hostile[0], hostile[0]+"\n"+hostile[1], hostile[1], hostile[2], true
	d.Examples[0].Answers[0].Turns[0].Text = strings.Join(hostile, "\n")
	d.Origin.Source = hostile[3]
	text := html(t, d)
	for _, bad := range []string{"<script", "<svg onload", "</title><b>", "\u202e", "\u2066", "\x1b", "\x00"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(text, "</style>"); n != 1 {
		t.Errorf("the style sheet ends %d times", n)
	}
	for _, want := range []string{`\u202e`, `\x1b`, "<bdi>שלום עולם</bdi>", "&lt;script&gt;"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, `\x1b`, `\u001b`)) {
			t.Errorf("the page does not show %q", want)
		}
	}
	parse(t, text)
	md := markdown(t, d)
	for _, bad := range []string{"<script", "\u202e", "\x1b", "[x](y)"} {
		for _, line := range strings.Split(md, "\n") {
			if strings.Contains(line, bad) && !strings.HasPrefix(line, "    ") {
				t.Errorf("the Markdown has %q in %q", bad, line)
			}
		}
	}
}

// parse reads every plot of a page as XML, which is stricter than HTML.
func parse(t *testing.T, page string) {
	t.Helper()
	plots := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(plots) == 0 {
		t.Error("the page has no plot")
	}
	for _, p := range plots {
		d := xml.NewDecoder(strings.NewReader(p))
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("a plot is not XML: %v\n%.400s", err, p)
			}
			e, ok := tok.(xml.StartElement)
			if ok && !strings.Contains(" svg title desc line rect path text circle a ", " "+e.Name.Local+" ") {
				t.Errorf("a plot has a <%s>", e.Name.Local)
			}
		}
		if strings.HasPrefix(p, `<svg aria-hidden="true">`) { // in a row of a table, which has its number
			continue
		}
		if !strings.Contains(p, "<title>") || !strings.Contains(p, "<desc>") {
			t.Errorf("a plot says nothing to those who cannot see it: %.200s", p)
		}
	}
}

func TestPlotsAreXML(t *testing.T) {
	t.Parallel()
	parse(t, html(t, document()))
}

func TestARehearsalSaysSoOnEveryTable(t *testing.T) {
	t.Parallel()
	d := document()
	d.Rehearsal = true
	text := html(t, d)
	if n := strings.Count(text, `badge rehearsal`); n < len(d.Report.Tables) {
		t.Errorf("%d of %d tables are marked", n, len(d.Report.Tables))
	}
	for _, want := range []string{`<body class="rehearsal">`, "<title>Rehearsal: "} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html(t, document()), `class="badge rehearsal"`) {
		t.Error("a real run is called a rehearsal")
	}
}

func TestWhatIsNotKnownIsNotZero(t *testing.T) {
	t.Parallel()
	table := strengths("haiku", "mini")
	grid := figures.FindingsGrid(&table, report.Links{})
	last := grid.Rows[len(grid.Rows)-1]
	var texts []string
	for _, c := range last {
		texts = append(texts, c.Text)
	}
	want := []string{"", "order effect", "unknown", "–", "–", "40", "20", "100.0%", "", "each pair was shown once"}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
	f := figures.New(&table, figures.Options{})
	if !f.Incomplete || !f.Unvalidated || !strings.Contains(f.Coverage, "coverage 80.0%: 100 planned, 80 valid") {
		t.Errorf("incomplete %t, unvalidated %t, %s", f.Incomplete, f.Unvalidated, f.Coverage)
	}
}

func TestEveryAnalysisHasAPlot(t *testing.T) {
	t.Parallel()
	of := func(m analysis.Method, findings ...analysis.Finding) analysis.Table {
		return analysis.Table{Stage: "s", Title: string(m), Method: m, Findings: findings,
			Coverage: analysis.Coverage{Planned: 1, Valid: 1}}
	}
	strong, won, taken, valid := strengths("a", "b"), wins("a", "b"), flips(), validity()
	for _, c := range []struct {
		table analysis.Table
		want  []string
	}{
		{strong, []string{"Leaderboard by strength"}},
		{won, []string{"Leaderboard by average win rate", "Wins, one against one"}},
		{taken, []string{"Answers taken back, by level of pressure"}},
		{valid, []string{"Judges against gold", "Judge judge against gold, label by label", "Corrected rate by judge and lane"}},
		{of(analysis.Elo, finding(analysis.WhatElo, analysis.Points, 1500, 1400, 1600, lane("a"))), []string{"Leaderboard by elo"}},
		{of(analysis.Rates, finding(analysis.WhatRate, analysis.Share, 0.5, 0, 1, lane("a"), by("topic", "x"))),
			[]string{"Rate by lane and topic"}},
		{of(analysis.Rates, finding("safe", analysis.Share, 0.5, 0, 1, lane("a")), finding("unsafe", analysis.Share, 0.5, 0, 1, lane("a"))),
			[]string{"Labels by lane"}},
		{of(analysis.Rates, finding(analysis.WhatDifference, analysis.Share, 0.5, 0, 1, lane("a"), by(analysis.ByAgainst, "b"))),
			[]string{"Differences on the same items"}},
		{of(analysis.Position, finding(analysis.WhatFirst, analysis.Share, 0.5, 0, 1)), []string{"Wins of the one shown first"}},
		{of(analysis.Consistency, finding(analysis.WhatConsistency, analysis.Share, 0.5, 0, 1)),
			[]string{"The same winner in both orders"}},
		{of(analysis.Agreement, finding(analysis.WhatKappa, analysis.Index, 0.5, 0, 1, by(analysis.ByJudge, "x"),
			by(analysis.ByAgainst, "y"))), []string{"Kappa of two judges"}},
		{of(analysis.Length, finding(analysis.WhatLength, analysis.Score, 0.3, -0.1, 0.5)), []string{"Length"}},
		{of("brand new", finding("warmth", analysis.Score, 0.5, 0, 1, lane("a")), finding("all", analysis.Score, 1, 0, 2)),
			[]string{"Warmth by lane"}},
	} {
		var got []string
		for _, f := range figures.Of(&c.table, report.Links{}) {
			got = append(got, f.Title)
			if f.Scene == nil {
				t.Errorf("%s: %s is not drawn", c.table.Method, f.Title)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.table.Method, diff)
		}
	}
}

func TestLevelsOfPressureBeginWithOne(t *testing.T) {
	t.Parallel()
	for _, opening := range []int{0, 1} { // turns of the stage before any pressure: none where it goes on with another
		table := analysis.Table{Stage: "s", Title: "flips", Method: analysis.Flips, Coverage: analysis.Coverage{Planned: 1, Valid: 1}}
		for level := 1; level <= 3; level++ {
			turn := by(analysis.ByTurn, strconv.Itoa(opening+level))
			table.Findings = append(table.Findings,
				finding(analysis.WhatRate, analysis.Share, 0.5, 0, 1, lane("a"), by(analysis.ByBranch, "doubt"), turn))
		}
		drawn := fmt.Sprintf("%+v", *figures.Of(&table, report.Links{})[0].Scene)
		if strings.Contains(drawn, "level 0") || !strings.Contains(drawn, "level 1:") || !strings.Contains(drawn, "level 3:") {
			t.Errorf("after %d turns: %s", opening, drawn)
		}
	}
}

func TestNumbersLeadToTheirRows(t *testing.T) {
	t.Parallel()
	links := report.Links{
		Finding: func(_ *analysis.Table, f *analysis.Finding) string { return "/rows?lane=" + f.Of("lane") },
		Pair:    func(_ *analysis.Table, row, column string) string { return "/pairs?a=" + row + "&b=" + column },
	}
	table := wins("a<b", "c")
	tmpl, err := pages.Templates()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tmpl.ExecuteTemplate(&b, "findings", figures.New(&table, figures.Options{ID: "x", Links: links})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="/rows?lane=a%3cb"`, `href="/pairs?a=a%3cb&amp;b=c"`, `id="x"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func FuzzAnyNameIsText(f *testing.F) {
	for _, h := range hostile {
		f.Add(h, 0.5)
	}
	f.Add("", 1e300)
	f.Fuzz(func(t *testing.T, name string, value float64) {
		table := wins(name, "other")
		table.Findings[0].Value = stats.Known(value)
		tmpl, err := pages.Templates()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := tmpl.ExecuteTemplate(&b, "findings", figures.New(&table, figures.Options{})); err != nil {
			t.Fatal(err)
		}
		parse(t, b.String())
		if strings.Contains(b.String(), "NaN") && !strings.Contains(name, "NaN") {
			t.Error("a place on a plot is no number")
		}
	})
}
