package plot_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/plot/plottest"
)

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
	for name, p := range map[string]plot.Intervals{
		"one point": {Rows: dots(3)}, "no interval, no value": {Rows: odd}, "not numbers": {Rows: raw},
		"two hundred lanes": {Rows: dots(many...)}, "an interval without end": {Rows: huge}, "long names": {Rows: long},
		"outside the axis": {Rows: dots(-5, 5), Low: new(float64), High: new(1.0), Unit: analysis.Share},
		"the same value":   {Rows: dots(0, 0, 0), Reference: new(float64)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Title, p.Axis = "plot", "value"
			f := p.Figure()
			plottest.Inside(t, f.Scene)
			if name == "two hundred lanes" && len(f.Notes) == 0 {
				t.Error("nothing says that lanes are missing from the plot")
			}
			if name == "an interval without end" && !plottest.Has(f.Scene, "arrow") {
				t.Error("an interval that goes on has no arrow")
			}
		})
	}
	if f := (plot.Intervals{Rows: []plot.IntervalRow{{Label: "x",
		Dots: []plot.Interval{{Value: stats.Undefined("no")}}}}}).Figure(); f.Scene != nil || f.Words == "" {
		t.Error("a plot without numbers is drawn, or says nothing")
	}
}

func TestMoreSeriesThanColoursGetRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := plot.Intervals{Title: "many", Rows: []plot.IntervalRow{{Label: "lane"}}}
	for i := range 9 {
		p.Series = append(p.Series, fmt.Sprintf("judge %d", i))
		p.Rows[0].Dots = append(p.Rows[0].Dots, plot.Interval{Series: i, Value: stats.Known(float64(i))})
	}
	f := p.Figure()
	plottest.Inside(t, f.Scene)
	n := 0
	for _, sh := range f.Scene.Shapes {
		n += plot.One(strings.HasPrefix(sh.Text, "lane · judge"))
	}
	if n != 9 {
		t.Errorf("%d rows are named, want 9", n)
	}
}

func TestFewRowsWithManySeriesAreTurnedRound(t *testing.T) {
	t.Parallel()
	p := plot.Intervals{Title: "turned", Rows: []plot.IntervalRow{{Label: "haiku"}, {Label: "mini"}}}
	for i := range 9 {
		p.Series = append(p.Series, fmt.Sprintf("topic %d", i))
		for k := range p.Rows {
			p.Rows[k].Dots = append(p.Rows[k].Dots, plot.Interval{Series: i, Value: stats.Known(float64(i + k))})
		}
	}
	plottest.Inside(t, p.Figure().Scene)
	got := p.Turned()
	if diff := cmp.Diff([]string{"haiku", "mini"}, got.Series); diff != "" {
		t.Error(diff)
	}
	if len(got.Rows) != 9 || got.Rows[3].Label != "topic 3" || len(got.Rows[3].Dots) != 2 || got.Rows[3].Dots[1].Value.Value != 4 ||
		got.Rows[3].Dots[1].Series != 1 {
		t.Errorf("turned rows: %+v", got.Rows)
	}
}

func dots(values ...float64) []plot.IntervalRow {
	var rows []plot.IntervalRow
	for i, v := range values {
		d := plot.Interval{Value: stats.Known(v), Between: stats.Between(v-1, v+1)}
		rows = append(rows, plot.IntervalRow{Label: fmt.Sprintf("lane %d", i), Dots: []plot.Interval{d}})
	}
	return rows
}
