package figures_test

import (
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
)

func TestDifferencesOfSharesAreInPoints(t *testing.T) {
	t.Parallel()
	finding := func(what, lane string, value float64) analysis.Finding {
		return analysis.Finding{Stage: "s", What: what, By: []analysis.Value{{Field: "lane", Value: lane}, {Field: "against", Value: "z"}},
			Unit: analysis.Share, Value: stats.Known(value), SE: stats.Known(0.071), Interval: stats.Between(value-0.1, value+0.1),
			Level: 0.95, N: 30, Clusters: 30}
	}
	table := &analysis.Table{Stage: "s", Title: "differences between lanes", Method: analysis.Rates, Findings: []analysis.Finding{
		finding("difference", "a", 1.0/6), finding("difference", "b", -0.5), finding("difference", "c", -0.0001)}}
	want := map[string][]string{"value": {"+16.7 pt", "-50.0 pt", "+0.0 pt"}, "low": {"+6.7 pt", "-60.0 pt", "-10.0 pt"},
		"high": {"+26.7 pt", "-40.0 pt", "+10.0 pt"}, "se": {"7.1 pt", "7.1 pt", "7.1 pt"}}
	seen := 0
	for _, c := range figures.ColumnsOf(table, "?") {
		for i, text := range want[c.Head] {
			if got := c.Cell(&table.Findings[i]); got != text {
				t.Errorf("%s: %q, want %q", c.Head, got, text)
			}
			seen++
		}
	}
	if seen != 12 {
		t.Errorf("%d cells", seen)
	}
	for _, f := range figures.Of(table, report.Links{}) {
		svg := f.Scene.Desc
		for _, sh := range f.Scene.Shapes {
			svg += "\n" + sh.Text + "|" + sh.Tip
			if strings.HasSuffix(sh.Text, "%") {
				t.Errorf("a label in percent: %s", sh.Text)
			}
		}
		if !strings.Contains(svg, "+16.7 pt (+6.7 to +26.7 pt)") || !strings.Contains(svg, "percentage points") {
			t.Errorf("figure %s", svg)
		}
	}
	rate := finding("rate", "a", 0.5)
	if rate.Shown() != analysis.Share || rate.Shown().Show(0.5) != "50.0%" {
		t.Errorf("a share is shown as %s", rate.Shown().Show(0.5))
	}
	score := finding("difference", "a", 0.5)
	if score.Unit = analysis.Score; score.Shown() != analysis.Score {
		t.Errorf("a difference of scores is shown in %s", score.Shown())
	}
}
