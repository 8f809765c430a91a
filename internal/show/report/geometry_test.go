package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

func TestTicksAreRoundNumbersInsideTheirRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		about     int
		want      string
	}{
		{0, 1, 5, "0 0.2 0.4 0.6 0.8 1"}, {-3, 2, 6, "-3 -2 -1 0 1 2"}, {0, 0.13, 5, "0 0.05 0.1"}, {1350, 1600, 6, "1350 1400 1450 1500 1550 1600"},
		{-0.2, 0.2, 4, "-0.2 -0.1 0 0.1 0.2"}, {5, 5, 5, "5"}, {0, math.Inf(1), 5, "0"},
	} {
		list, _ := ticks(c.low, c.high, c.about)
		var words []string
		for _, v := range list {
			words = append(words, fmt.Sprintf("%.6g", v))
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("ticks of %g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestTicksSayNoMoreDigitsThanTheyNeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit    analysis.Unit
		v, step float64
		want    string
	}{
		{analysis.Share, 0.2, 0.2, "20%"}, {analysis.Share, 0.025, 0.025, "2.5%"}, {analysis.Logit, -1, 1, "-1"}, {analysis.Logit, 0.25, 0.25, "0.25"},
		{analysis.Points, 1500, 50, "1500"}, {analysis.Score, 0, 0.5, "0.0"}, {analysis.Score, math.Copysign(0, -1), 1, "0"},
	} {
		if got := tickText(c.unit, c.v, c.step); got != c.want {
			t.Errorf("%g by %g in %s: %q, want %q", c.v, c.step, c.unit, got, c.want)
		}
	}
	if diff := cmp.Diff([]float64{0.001, 0.002, 0.005, 0.01, 0.02}, logTicks(0.0009, 0.03), approximately); diff != "" {
		t.Error(diff)
	}
}

var approximately = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) })

// inside checks that every shape of a scene lies on it and is a number.
func inside(t *testing.T, s *Scene) {
	t.Helper()
	if s == nil {
		t.Fatal("nothing is drawn")
	}
	for _, sh := range s.Shapes {
		for _, x := range []Px{sh.X, sh.X2, sh.X + sh.W} {
			if !finite(float64(x)) || x < -0.5 || x > s.Width+0.5 {
				t.Errorf("%s %q at x %v of %v", sh.Kind, sh.Class+" "+sh.Text, float64(x), s.Width)
			}
		}
		for _, y := range []Px{sh.Y, sh.Y2, sh.Y + sh.H} {
			if !finite(float64(y)) || y < -0.5 || y > s.Height+0.5 {
				t.Errorf("%s %q at y %v of %v", sh.Kind, sh.Class+" "+sh.Text, float64(y), s.Height)
			}
		}
		if strings.Contains(sh.D, "NaN") || strings.Contains(sh.D, "Inf") {
			t.Errorf("a path is no path: %s", sh.D)
		}
		if sh.Kind == Text && sh.Turn == 0 {
			end := float64(sh.X)
			if strings.Contains(sh.Class, "end") {
				end -= widthOf(sh.Text, smallSize)
				if end < -20 {
					t.Errorf("%q begins at %g", sh.Text, end)
				}
			}
		}
	}
}

func dots(values ...float64) []IntervalRow {
	var rows []IntervalRow
	for i, v := range values {
		d := Interval{Value: stats.Known(v), Between: stats.Between(v-1, v+1)}
		rows = append(rows, IntervalRow{Label: fmt.Sprintf("lane %d", i), Dots: []Interval{d}})
	}
	return rows
}

func TestIntervalPlotsHoldWhateverTheyAreGiven(t *testing.T) {
	t.Parallel()
	many := make([]float64, 200)
	for i := range many {
		many[i] = float64(i % 17)
	}
	odd := dots(1, 2)
	odd[0].Dots[0].Between = stats.NoInterval("none")
	odd[1].Dots[0].Value = stats.Undefined("unknown")
	raw := dots(1, 2)
	raw[0].Dots[0].Value = stats.Number{Value: math.NaN(), OK: true}
	raw[1].Dots[0].Between = stats.Interval{Low: math.Inf(-1), High: math.Inf(1), OK: true}
	huge := dots(0, 1)
	huge[1].Dots[0].Between = stats.Between(-1e9, 1e9)
	long := dots(1, 2)
	long[0].Label = strings.Repeat("long name ", 20)
	for name, p := range map[string]Intervals{
		"one point": {Rows: dots(3)}, "no interval, no value": {Rows: odd}, "not numbers": {Rows: raw}, "two hundred lanes": {Rows: dots(many...)},
		"an interval without end": {Rows: huge}, "long names": {Rows: long}, "outside the axis": {Rows: dots(-5, 5), Low: new(float64), High: ptr(1.0), Unit: analysis.Share},
		"the same value": {Rows: dots(0, 0, 0), Reference: new(float64)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Title, p.Axis = "plot", "value"
			f := p.Figure()
			inside(t, f.Scene)
			if name == "two hundred lanes" && len(f.Notes) == 0 {
				t.Error("nothing says that lanes are missing from the plot")
			}
			if name == "an interval without end" && !has(f.Scene, "arrow") {
				t.Error("an interval that goes on has no arrow")
			}
		})
	}
	if f := (Intervals{Rows: []IntervalRow{{Label: "x", Dots: []Interval{{Value: stats.Undefined("no")}}}}}).Figure(); f.Scene != nil || f.Words == "" {
		t.Error("a plot without numbers is drawn, or says nothing")
	}
}

func has(s *Scene, class string) bool {
	for _, sh := range s.Shapes {
		if strings.Contains(sh.Class, class) {
			return true
		}
	}
	return false
}

func TestMoreSeriesThanColoursGetRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := Intervals{Title: "many", Rows: []IntervalRow{{Label: "lane"}}}
	for i := range 9 {
		p.Series = append(p.Series, fmt.Sprintf("judge %d", i))
		p.Rows[0].Dots = append(p.Rows[0].Dots, Interval{Series: i, Value: stats.Known(float64(i))})
	}
	f := p.Figure()
	inside(t, f.Scene)
	n := 0
	for _, sh := range f.Scene.Shapes {
		n += one(strings.HasPrefix(sh.Text, "lane · judge"))
	}
	if n != 9 {
		t.Errorf("%d rows are named, want 9", n)
	}
}

func TestRowsAreSortedByValueUnlessTheyHaveAnOrder(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{"lane": "b", "run": "a", "turn": "a", "draw": "a"} {
		p := Intervals{Rows: []IntervalRow{{Label: "a", Dots: []Interval{{Value: stats.Known(1)}}}, {Label: "b", Dots: []Interval{{Value: stats.Known(2)}}}}}
		p.inOrder(field, More)
		if got := p.Rows[0].Label; got != want {
			t.Errorf("by %s, %s comes first", field, got)
		}
	}
}

func TestFewRowsWithManySeriesAreTurnedRound(t *testing.T) {
	t.Parallel()
	p := Intervals{Title: "turned", Rows: []IntervalRow{{Label: "haiku"}, {Label: "mini"}}}
	for i := range 9 {
		p.Series = append(p.Series, fmt.Sprintf("topic %d", i))
		for k := range p.Rows {
			p.Rows[k].Dots = append(p.Rows[k].Dots, Interval{Series: i, Value: stats.Known(float64(i + k))})
		}
	}
	inside(t, p.Figure().Scene)
	got := p.turned()
	if diff := cmp.Diff([]string{"haiku", "mini"}, got.Series); diff != "" {
		t.Error(diff)
	}
	if len(got.Rows) != 9 || got.Rows[3].Label != "topic 3" || len(got.Rows[3].Dots) != 2 || got.Rows[3].Dots[1].Value.Value != 4 || got.Rows[3].Dots[1].Series != 1 {
		t.Errorf("turned rows: %+v", got.Rows)
	}
}

func TestManyLanesByManyTopicsAreAMap(t *testing.T) {
	t.Parallel()
	table := analysis.Table{Method: analysis.Rates}
	for i := range 8 {
		for k := range 9 {
			table.Findings = append(table.Findings, analysis.Finding{
				What: analysis.WhatRate, Unit: analysis.Share, Value: stats.Known(float64(i*k) / 72),
				By: []analysis.Value{{Field: "lane", Value: fmt.Sprint("lane ", i)}, {Field: "topic", Value: fmt.Sprint("topic ", k)}},
			})
		}
	}
	figures := Figures(&table, Links{})
	if len(figures) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	inside(t, figures[0].Scene)
	if !has(figures[0].Scene, "cell q5") || !has(figures[0].Scene, "cell q0") {
		t.Error("the map has no dark or no light square")
	}
}

func TestADotThatRestsOnTooLittleIsHollow(t *testing.T) {
	t.Parallel()
	f := analysis.Finding{What: analysis.WhatRate, Unit: analysis.Share, Value: stats.Known(0.5), By: []analysis.Value{{Field: "lane", Value: "x"}}}
	for valid, want := range map[int]bool{94: true, 95: false} {
		f.Coverage = analysis.Coverage{Planned: 100, Valid: valid}
		fig := Figures(&analysis.Table{Method: analysis.Rates, Findings: []analysis.Finding{f}}, Links{})[0]
		if got := has(fig.Scene, "hollow"); got != want || got != (len(fig.Notes) > 0) {
			t.Errorf("%d of 100: hollow %t, notes %q", valid, got, fig.Notes)
		}
	}
}

func TestColumnsWithoutAnythingAreLeftOut(t *testing.T) {
	t.Parallel()
	g := (&Grid{Head: []Column{{Text: "a"}, {Text: "b"}, {Text: "c"}}, Rows: [][]Cell{{{Text: "1"}, {}, {Marks: []string{"x"}}}, {{}, {}, {}}}}).trimmed()
	if diff := cmp.Diff([]Column{{Text: "a"}, {Text: "c"}}, g.Head); diff != "" || len(g.Rows[1]) != 2 {
		t.Error(diff, g.Rows)
	}
}

func TestSegmentsThatOverlapStandUnderEachOther(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	at := func(from, to int) Segment {
		return Segment{State: "settled", Created: start.Add(time.Duration(from) * time.Minute), Settled: start.Add(time.Duration(to) * time.Minute)}
	}
	tr := track{segments: []Segment{at(0, 10), at(5, 20), at(10, 15), at(12, 30)}}
	tr.pack(start.Add(time.Hour))
	if diff := cmp.Diff([]int{0, 1, 0, 2}, tr.line); diff != "" || tr.lines != 3 {
		t.Errorf("%d lines\n%s", tr.lines, diff)
	}
}

func TestTheDotStandsAtItsValue(t *testing.T) {
	t.Parallel()
	p := Intervals{Title: "x", Unit: analysis.Share, Low: new(float64), High: ptr(1.0), Rows: dots(0.25)}
	p.Rows[0].Dots[0].Between = stats.Between(0, 1)
	l := p.layout()
	if got, want := l.x.at(0.25), l.x.from+(l.x.to-l.x.from)/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("a quarter stands at %g, want %g", got, want)
	}
	f := p.Figure()
	for _, sh := range f.Scene.Shapes {
		if sh.Class == "whisker s1" && sh.Y == sh.Y2 && (math.Abs(float64(sh.X)-l.x.from) > 0.1 || math.Abs(float64(sh.X2)-l.x.to) > 0.1) {
			t.Errorf("a whisker over everything goes from %v to %v", sh.X, sh.X2)
		}
	}
}

func TestOtherPlotsHoldWhateverTheyAreGiven(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	names := make([]string, 80)
	cells := make([][]HeatCell, 80)
	for i := range names {
		names[i], cells[i] = fmt.Sprintf("lane %d", i), make([]HeatCell, 80)
	}
	segments := []Segment{
		{No: 1, Stage: "a", Lane: "x", State: "settled", Created: start, Launched: start, Ended: start, Settled: start},
		{No: 2, Stage: "a", Lane: "y", State: "planned", Created: start},
		{No: 3, Stage: "b", Lane: "y", State: "failed", Created: start.Add(time.Hour)},
		{No: 4, Stage: "b", Lane: "y", State: "launched", Created: start.Add(time.Hour), Launched: start.Add(2 * time.Hour), Cost: assay.Cost{Unknown: 3}},
	}
	panel := Panel{Name: "lane", Curves: []Curve{{Name: "pressure", Points: []CurvePoint{{Level: 1, Value: stats.Known(0)}, {Level: 3, Value: stats.Undefined("no")}}}}}
	for name, f := range map[string]*Figure{
		"scatter of one":       Scatter{Title: "s", Points: []ScatterPoint{{Name: "x", Cost: 0, Value: 0}}}.Figure(),
		"scatter of unlike":    Scatter{Title: "s", Better: More, Points: []ScatterPoint{{Name: "x", Cost: 1e-6, Value: -3}, {Name: strings.Repeat("y", 200), Cost: 100, Value: 9, Between: stats.Between(-1e3, 1e3)}}}.Figure(),
		"heat map of eighty":   Heat{Title: "h", Rows: names, Columns: names, Cells: cells}.Figure(),
		"heat map of one":      Heat{Title: "h", Rows: names[:1], Columns: names[:1], Cells: cells[:1], Middle: true}.Figure(),
		"curves with a gap":    Curves{Title: "c", Panels: []Panel{panel, panel, panel, panel}}.Figure(),
		"timeline":             Timeline(segments, start.Add(3*time.Hour), Links{}),
		"timeline of a moment": Timeline(segments[:1], start, Links{}),
		"burn-up":              BurnUp(segments, ptr(assay.Money(0)), start.Add(3*time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inside(t, f.Scene)
		})
	}
	for name, f := range map[string]*Figure{
		"scatter": Scatter{Points: []ScatterPoint{{Cost: math.NaN()}}}.Figure(), "heat map": Heat{}.Figure(), "curves": Curves{}.Figure(), "timeline": Timeline(nil, start, Links{}), "burn-up": BurnUp(segments[1:], nil, start),
	} {
		if f.Scene != nil || f.Words == "" {
			t.Errorf("an empty %s is drawn, or says nothing", name)
		}
	}
}

func TestNoLaneOffTheFrontierIsCheaperAndBetter(t *testing.T) {
	t.Parallel()
	p := Scatter{Better: More, Points: []ScatterPoint{{Name: "cheap", Cost: 1, Value: 1}, {Name: "worse", Cost: 2, Value: 0}, {Name: "best", Cost: 3, Value: 5}, {Name: "dear", Cost: 9, Value: 5}}}
	names := func() (out []string) {
		for _, q := range p.frontier() {
			out = append(out, q.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"cheap", "best"}, names()); diff != "" {
		t.Error(diff)
	}
	p.Better = Less
	if diff := cmp.Diff([]string{"cheap", "worse"}, names()); diff != "" {
		t.Error(diff)
	}
	p.Better = Unsaid
	if names() != nil {
		t.Error("a frontier is drawn though it is not said what is good")
	}
}

func TestLongNamesKeepBothEnds(t *testing.T) {
	t.Parallel()
	got := fit("gpt54."+strings.Repeat("x", 100)+".medium", 120, labelSize)
	if !strings.HasPrefix(got, "gpt54") || !strings.HasSuffix(got, "dium") || widthOf(got, labelSize) > 120 {
		t.Errorf("%q is %g wide", got, widthOf(got, labelSize))
	}
	if got := fit("short", 120, labelSize); got != "short" {
		t.Errorf("a name with room became %q", got)
	}
}

func TestValuesThatAreEqualButForRoundingHaveRoundTicks(t *testing.T) {
	t.Parallel()
	p := Intervals{Title: "t", Axis: "a", Unit: analysis.Score, Level: 0.95, Rows: []IntervalRow{
		{Label: "a", Dots: []Interval{{Value: stats.Known(0), Between: stats.Between(-1e-17, 1e-17)}}},
	}}
	for _, s := range p.Figure().Scene.Shapes {
		if strings.Contains(s.Text, "0.0000") || strings.Contains(s.Text, "-0.000000") {
			t.Errorf("a tick is called %s", s.Text)
		}
	}
}
