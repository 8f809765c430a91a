package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{0, 1, 5, "0 0.2 0.4 0.6 0.8 1"}, {-3, 2, 6, "-3 -2 -1 0 1 2"}, {0, 0.13, 5, "0 0.05 0.1"},
		{1350, 1600, 6, "1350 1400 1450 1500 1550 1600"}, {-0.2, 0.2, 4, "-0.2 -0.1 0 0.1 0.2"}, {5, 5, 5, "5"}, {0, math.Inf(1), 5, "0"},
	} {
		list, _ := Ticks(c.low, c.high, c.about)
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
		{analysis.Share, 0.2, 0.2, "20%"}, {analysis.Share, 0.025, 0.025, "2.5%"}, {analysis.Logit, -1, 1, "-1"},
		{analysis.Logit, 0.25, 0.25, "0.25"}, {analysis.Points, 1500, 50, "1500"}, {analysis.Score, 0, 0.5, "0.0"},
		{analysis.Score, math.Copysign(0, -1), 1, "0"},
	} {
		if got := TickText(c.unit, c.v, c.step); got != c.want {
			t.Errorf("%g by %g in %s: %q, want %q", c.v, c.step, c.unit, got, c.want)
		}
	}
	if diff := cmp.Diff([]float64{0.001, 0.002, 0.005, 0.01, 0.02}, logTicks(0.0009, 0.03), approximately); diff != "" {
		t.Error(diff)
	}
}

var approximately = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) })

func TestRowsAreSortedByValueUnlessTheyHaveAnOrder(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{"lane": "b", "run": "a", "turn": "a", "draw": "a"} {
		p := Intervals{Rows: []IntervalRow{{Label: "a", Dots: []Interval{{Value: stats.Known(1)}}},
			{Label: "b", Dots: []Interval{{Value: stats.Known(2)}}}}}
		p.InOrder(field, More)
		if got := p.Rows[0].Label; got != want {
			t.Errorf("by %s, %s comes first", field, got)
		}
	}
}

func TestColumnsWithoutAnythingAreLeftOut(t *testing.T) {
	t.Parallel()
	g := (&Grid{Head: []Column{{Text: "a"}, {Text: "b"}, {Text: "c"}},
		Rows: [][]Cell{{{Text: "1"}, {}, {Marks: []string{"x"}}}, {{}, {}, {}}}}).Trimmed()
	if diff := cmp.Diff([]Column{{Text: "a"}, {Text: "c"}}, g.Head); diff != "" || len(g.Rows[1]) != 2 {
		t.Error(diff, g.Rows)
	}
}

func TestTheDotStandsAtItsValue(t *testing.T) {
	t.Parallel()
	p := Intervals{Title: "x", Unit: analysis.Share, Low: new(float64), High: new(1.0),
		Rows: []IntervalRow{{Label: "lane 0", Dots: []Interval{{Value: stats.Known(0.25), Between: stats.Between(-0.75, 1.25)}}}}}
	p.Rows[0].Dots[0].Between = stats.Between(0, 1)
	l := p.layout()
	if got, want := l.x.At(0.25), l.x.From+(l.x.To-l.x.From)/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("a quarter stands at %g, want %g", got, want)
	}
	f := p.Figure()
	for _, sh := range f.Scene.Shapes {
		if sh.Class == "whisker s1" && sh.Y == sh.Y2 && (math.Abs(float64(sh.X)-l.x.From) > 0.1 || math.Abs(float64(sh.X2)-l.x.To) > 0.1) {
			t.Errorf("a whisker over everything goes from %v to %v", sh.X, sh.X2)
		}
	}
}

func TestNoLaneOffTheFrontierIsCheaperAndBetter(t *testing.T) {
	t.Parallel()
	p := Scatter{Better: More, Points: []ScatterPoint{{Name: "cheap", Cost: 1, Value: 1}, {Name: "worse", Cost: 2, Value: 0},
		{Name: "best", Cost: 3, Value: 5}, {Name: "dear", Cost: 9, Value: 5}}}
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
	got := fit("gpt54."+strings.Repeat("x", 100)+".medium", 120, LabelSize)
	if !strings.HasPrefix(got, "gpt54") || !strings.HasSuffix(got, "dium") || WidthOf(got, LabelSize) > 120 {
		t.Errorf("%q is %g wide", got, WidthOf(got, LabelSize))
	}
	if got := fit("short", 120, LabelSize); got != "short" {
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
