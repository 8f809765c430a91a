package pages_test

import (
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/pages"
	"assay/internal/show/report/plot"
)

// shares returns a table of rates.
func shares(stage string, findings ...analysis.Finding) *analysis.Table {
	return &analysis.Table{Stage: stage, Title: "rates", Method: analysis.Rates, Coverage: analysis.Coverage{Planned: 9, Valid: 9},
		Findings: findings}
}

// written returns a figure in one of its formats.
func written(t *testing.T, f *plot.Figure, format string) string {
	t.Helper()
	var b strings.Builder
	if err := pages.WriteFigure(&b, f, format, func(s string) string { return "'" + s }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// order returns the names in a plot from top to bottom.
func order(s *plot.Scene, names ...string) []string {
	at := map[string]float64{}
	for _, sh := range s.Shapes {
		if slices.Contains(names, sh.Text) {
			at[sh.Text] = float64(sh.Y)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return int(at[a] - at[b]) })
	return names
}

func TestRatesStandInTheOrderOfTheirValues(t *testing.T) {
	t.Parallel()
	plain := shares("good", finding(analysis.WhatRate, analysis.Share, 0.2, 0.1, 0.3, lane("low")), finding(analysis.WhatRate,
		analysis.Share, 0.9, 0.8, 1, lane("high")), finding(analysis.WhatRate, analysis.Share, 0.5, 0.4, 0.6, lane("middle")))
	if got := order(figures.Of(plain, report.Links{})[0].Scene, "low", "high", "middle"); !cmp.Equal(got,
		[]string{"high", "middle", "low"}) {
		t.Errorf("rates stand as %v", got)
	}
	turns := shares("talk", finding(analysis.WhatRate, analysis.Share, 0.2, 0.1, 0.3, by(analysis.ByTurn, "1")),
		finding(analysis.WhatRate, analysis.Share, 0.9, 0.8, 1, by(analysis.ByTurn, "2")))
	scene := figures.Of(turns, report.Links{})[0].Scene
	if got := order(scene, "1", "2"); !cmp.Equal(got, []string{"1", "2"}) {
		t.Errorf("turns stand as %v", got)
	}
}

func TestAFigureShowsNAndIntervalUnderThePointer(t *testing.T) {
	t.Parallel()
	f := finding(analysis.WhatRate, analysis.Share, 0.25, 0.1, 0.5, lane("mini"))
	f.N = 1234
	scene := figures.Of(shares("good", f), report.Links{})[0].Scene
	if !slices.ContainsFunc(scene.Shapes, func(s plot.Shape) bool { return s.Tip == "mini: 25.0% (10.0% to 50.0%), n = 1,234" }) {
		t.Error("no mark has a tip with n and interval")
	}
}

func TestManyStatementsByLaneAreAMapWithLanesAcross(t *testing.T) {
	t.Parallel()
	table := shares("good")
	for i := range 8 {
		for k := range 3 {
			table.Findings = append(table.Findings, finding(analysis.WhatRate, analysis.Share, float64(i)/10+float64(k)/100, 0, 1,
				lane(fmt.Sprint("lane", k)), by("statement", fmt.Sprint("s", i))))
		}
	}
	f := figures.Of(table, report.Links{})[0]
	if got := order(f.Scene, "s0", "s3", "s7"); !cmp.Equal(got, []string{"s7", "s3", "s0"}) {
		t.Errorf("statements stand as %v", got)
	}
	cells := 0
	for _, s := range f.Scene.Shapes {
		if s.Kind == plot.Rect && strings.HasPrefix(s.Class, "cell q") && s.Tip != "" {
			cells++
		}
	}
	if cells != 24 || len(f.Points.List) != 24 {
		t.Errorf("%d squares and %d points for 8 statements by 3 lanes", cells, len(f.Points.List))
	}
}

func TestFiftyBranchesAreAMap(t *testing.T) {
	t.Parallel()
	table := &analysis.Table{Stage: "flips", Title: "flips", Method: analysis.Flips, Coverage: analysis.Coverage{Planned: 9, Valid: 9}}
	for i := range 50 {
		for k := range 4 {
			table.Findings = append(table.Findings, finding(analysis.WhatRate, analysis.Share, float64(i)/50, 0, 1,
				lane(fmt.Sprint("lane", k)), by(analysis.ByBranch, fmt.Sprint("branch", i)), by(analysis.ByTurn, "2")))
		}
	}
	f := figures.Of(table, report.Links{})[0]
	if got := order(f.Scene, "branch40", "branch49"); !cmp.Equal(got, []string{"branch49", "branch40"}) {
		t.Errorf("the ten largest branches stand as %v", got)
	}
	if rows := f.More.Rows; len(rows) != 40 || rows[0].Name != "branch39" || rows[39].Name != "branch0" || len(rows[0].Cells) != 4 ||
		rows[0].Cells[0] != (plot.Square{Class: "q4", Text: "78"}) {
		t.Errorf("the others stand as %+v", rows)
	}
	if len(f.Points.List) != 200 {
		t.Errorf("%d numbers of 200", len(f.Points.List))
	}
	for i := range table.Findings {
		table.Findings[i].Words = "a sentence"
	}
	if n := len(figures.Words(table)); n != 0 {
		t.Errorf("%d sentences about branches", n)
	}
	if g := figures.FindingsGrid(table, report.Links{}); len(g.Rows) != 30 || g.Rows[0][1].Text != "branch49" {
		t.Errorf("%d rows, the first about %v", len(g.Rows), g.Rows[0][1])
	}
}

// What pressure adds may be less than nothing: both ends of the scale have a colour of their own, and every square its number.
func TestAMapOfDifferencesHasTwoEnds(t *testing.T) {
	t.Parallel()
	table := &analysis.Table{Stage: "flips", Title: "flips", Method: analysis.Flips, Coverage: analysis.Coverage{Planned: 9, Valid: 9}}
	for i := range 20 {
		for k, x := range []float64{1, -1, 0} {
			table.Findings = append(table.Findings, finding(analysis.WhatExcess, analysis.Gap, x, -1, 1,
				lane(fmt.Sprint("lane", k)), by(analysis.ByBranch, fmt.Sprint("branch", i)), by(analysis.ByTurn, "2")))
		}
	}
	r := &analysis.Report{Tables: []analysis.Table{*table, *table}}
	if r.Tables[1].Primary = true; !figures.Double(r, 0) || figures.Double(r, 1) {
		t.Error("of two equal tables the primary one is shown")
	}
	all := figures.Of(table, report.Links{})
	classes, texts := map[string]int{}, 0
	for _, s := range all[0].Scene.Shapes {
		if s.Kind == plot.Rect && s.Tip != "" {
			classes[s.Class]++
		}
		if strings.HasPrefix(s.Class, "cell-text") {
			texts++
		}
	}
	if want := map[string]int{"cell h0": 10, "cell h10": 10, "cell h5": 10}; len(all) != 1 || !cmp.Equal(classes, want) || texts != 30 {
		t.Errorf("%d maps, squares %v, %d numbers", len(all), classes, texts)
	}
	if first := all[0].Scene.Shapes[slices.IndexFunc(all[0].Scene.Shapes, func(s plot.Shape) bool {
		return strings.HasPrefix(s.Text, "lane") && !strings.Contains(s.Text, " ")
	})]; first.Text != "lane1" {
		t.Errorf("the first lane is %s", first.Text)
	}
}

func TestAgreementOfSeveralJudgesIsAMap(t *testing.T) {
	t.Parallel()
	table := &analysis.Table{Stage: "good", Title: "judges", Method: analysis.Agreement, Coverage: analysis.Coverage{Planned: 9, Valid: 9}}
	kappa := map[[2]string]float64{{"ann", "bob"}: 0.61, {"ann", "cy"}: 0.22, {"bob", "cy"}: 0.43}
	for pair, k := range kappa {
		table.Findings = append(table.Findings,
			finding(analysis.WhatKappa, analysis.Index, k, k-0.1, k+0.1, by(analysis.ByJudge, pair[0]), by(analysis.ByAgainst, pair[1])))
	}
	f := figures.Of(table, report.Links{})[0]
	texts := map[string]int{}
	for _, s := range f.Scene.Shapes {
		if strings.HasPrefix(s.Class, "cell-text") {
			texts[s.Text]++
		}
	}
	if want := map[string]int{"0.610": 2, "0.220": 2, "0.430": 2}; !cmp.Equal(texts, want) {
		t.Errorf("squares say %v", texts)
	}
	two := &analysis.Table{Stage: "good", Title: "judges", Method: analysis.Agreement, Findings: table.Findings[:1]}
	if f := figures.Of(two, report.Links{})[0]; slices.ContainsFunc(f.Scene.Shapes,
		func(s plot.Shape) bool { return strings.HasPrefix(s.Class, "cell") }) {
		t.Error("two judges are a map")
	}
}

// TestTheFilesOfAFigureHoldItsNumbers reads every format back, for two groupings.
func TestTheFilesOfAFigureHoldItsNumbers(t *testing.T) {
	t.Parallel()
	missing := finding(analysis.WhatRate, analysis.Share, 0, 0, 0, lane("none"))
	missing.Value, missing.Interval = stats.Undefined("no verdict"), stats.NoInterval("none")
	one := shares("good", finding(analysis.WhatRate, analysis.Share, 0.125, 0.0625, 0.25, lane("a_b%|$")),
		finding(analysis.WhatRate, analysis.Share, 0.75, 0.5, 1, lane("mini")), missing)
	two := shares("good", finding(analysis.WhatRate, analysis.Share, 0.125, 0.0625, 0.25, lane("mini"), by("topic", "law")),
		finding(analysis.WhatRate, analysis.Share, 0.75, 0.5, 1, lane("mini"), by("topic", "art")))
	for _, k := range []struct {
		table *analysis.Table
		want  [][]string
		tex   string
	}{
		{one, [][]string{{"'lane", "'value", "'low", "'high", "'n"}, {"'mini", "0.75", "0.5", "1", "40"}, {"'a_b%|$", "0.125", "0.0625",
			"0.25", "40"}, {"'none", "", "", "", "40"}}, `a\_b\%\textbar{}\$ & 12.5\% & 6.2\% & 25.0\% & 40 \\`},
		{two, [][]string{{"'lane", "'topic", "'value", "'low", "'high", "'n"}, {"'mini", "'law", "0.125", "0.0625", "0.25", "40"},
			{"'mini", "'art", "0.75", "0.5", "1", "40"}}, `mini & art & 75.0\% & 50.0\% & 100.0\% & 40 \\`},
	} {
		f := figures.Of(k.table, report.Links{})[0]
		rows, err := csv.NewReader(strings.NewReader(written(t, f, "csv"))).ReadAll()
		if err != nil || !cmp.Equal(rows, k.want) {
			t.Errorf("CSV (-want +got), %v:\n%s", err, cmp.Diff(k.want, rows))
		}
		if text := written(t, f, "tex"); !strings.Contains(text, k.tex) {
			t.Errorf("LaTeX lacks %s:\n%s", k.tex, text)
		}
		if text := written(t, f, "md"); strings.Count(text, "\n|") != len(k.want)+1 {
			t.Errorf("Markdown has no row for each number:\n%s", text)
		}
	}
	if text := written(t, figures.Of(one, report.Links{})[0], "md"); !strings.Contains(text, "| none | unknown | unknown | unknown |") {
		t.Errorf("a number that is not known is not said so:\n%s", text)
	}
}

func TestAPlotByItselfIsXMLWithItsColoursAndWithoutLinks(t *testing.T) {
	t.Parallel()
	links := report.Links{Finding: func(*analysis.Table, *analysis.Finding) string { return "/secret" }}
	f := figures.Of(shares("good", finding(analysis.WhatRate, analysis.Share, 0.5, 0.4, 0.6, lane(`<b>&"`))), links)[0]
	text := written(t, f, "svg")
	for _, no := range []string{"var(", "/secret", "<b>", "<a "} {
		if strings.Contains(text, no) {
			t.Errorf("the file has %s", no)
		}
	}
	if !strings.Contains(text, ".plot .s1 { stroke: #0b62b0; fill: #0b62b0; }") {
		t.Error("the file lacks the colours of its marks")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Space != "http://www.w3.org/2000/svg" {
			t.Errorf("%s is not of SVG", e.Name.Local)
		}
	}
	for _, at := range []string{"width", "height"} {
		_, rest, _ := strings.Cut(text, " "+at+`="`)
		number, _, _ := strings.Cut(rest, `"`)
		if _, err := strconv.ParseFloat(number, 64); err != nil {
			t.Errorf("%s is %q", at, number)
		}
	}
}
