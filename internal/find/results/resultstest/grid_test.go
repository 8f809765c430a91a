package resultstest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/report"
)

// grid computes the cells of a report's grid a second way, and looks whether what is behind them is in the ledger.
func (x *reading) grid(d *report.Document) {
	t := x.t
	if d.Grid == nil || len(d.Grid.Rows) != 3 || len(d.Items) != 3 || len(d.Grid.Lanes) != 2 {
		t.Fatalf("grid %+v, %d items", d.Grid, len(d.Items))
	}
	said, reasons := map[[2]string][]float64{}, map[string]bool{}
	for v, err := range x.r.Ledger.Verdicts(t.Context(), x.run.No, "panel") {
		x.ok(err)
		reasons[v.Reason] = true
		if v.State == assay.VerdictValid && !v.Stale {
			said[[2]string{v.At.Item, v.At.Lane}] = append(said[[2]string{v.At.Item, v.At.Lane}], map[string]float64{"yes": 1}[v.Label])
		}
	}
	answers := map[[2]string][]string{}
	for a, err := range x.r.Ledger.Answers(t.Context(), x.run.No, "first", "") {
		x.ok(err)
		answers[[2]string{a.At.Item, a.Lane}] = append(answers[[2]string{a.At.Item, a.Lane}], a.Outcome.Text)
	}
	for i, row := range d.Grid.Rows {
		item := d.Items[i]
		if row.Item != item.Name || row.Link != "#"+item.ID || item.Question == "" {
			t.Errorf("row %+v, item %+v", row, item)
		}
		for k, c := range row.Cells {
			at := [2]string{row.Item, d.Grid.Lanes[k].Name}
			if want := signOf(said[at]); c.Sign != want || c.Link != "#"+item.Lanes[k].ID || item.Lanes[k].Name != at[1] {
				t.Errorf("cell %v: %q leads to %s; want %q, the lane is %+v", at, c.Sign, c.Link, want, item.Lanes[k])
			}
			x.behind(item.Lanes[k], answers[at], reasons)
		}
	}
}

// behind fails where a report shows an answer or a reason that no one gave, or counts them wrong.
func (x *reading) behind(l report.ItemLane, answers []string, reasons map[string]bool) {
	if l.All() != len(answers) || len(l.Answers) == 0 {
		x.t.Errorf("%s: %d answers, %d left out; the ledger has %d", l.ID, len(l.Answers), l.More, len(answers))
	}
	for _, a := range l.Answers {
		begin := strings.TrimSuffix(a.Text, "…")
		if begin == "" || !slices.ContainsFunc(answers, func(text string) bool { return strings.HasPrefix(text, begin) }) {
			x.t.Errorf("%s: no answer begins with %q", l.ID, begin)
		}
		for _, v := range a.Verdicts {
			if v.Stage != "panel" || !reasons[v.Reason] && !strings.HasSuffix(v.Reason, "…") {
				x.t.Errorf("%s: verdict %+v", l.ID, v)
			}
		}
	}
}

// signOf returns how a cell of yes and no reads.
func signOf(said []float64) string {
	sum := 0.0
	for _, s := range said {
		sum += s
	}
	switch mean := sum / float64(len(said)); {
	case len(said) == 0:
		return "–"
	case mean == 1:
		return "✓"
	case mean == 0:
		return "✕"
	default:
		return fmt.Sprintf("%.0f%%", math.Round(100*math.Round(250*mean)/250)) // cells are kept in steps of 1/250
	}
}
