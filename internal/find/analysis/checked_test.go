package analysis_test

import (
	"fmt"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// checkedBoard is three lanes that a judge tells apart, of which people labelled the last two and found no difference.
func checkedBoard() (*analysis.Leaderboard, *analysis.Checked) {
	known := func(x float64) stats.Number { return stats.Known(x) }
	b := &analysis.Leaderboard{Stage: "s", Verb: analysis.Judged, Field: analysis.ByLane, What: analysis.WhatRate, Level: 0.95}
	for i, name := range []string{"new", "one", "two"} {
		b.Places = append(b.Places, analysis.Place{Name: name, Value: known(0.9 - 0.3*float64(i))})
		for k := range i {
			b.Tests = append(b.Tests, analysis.Contrast{First: k, Second: i, Difference: known(0.3), SE: known(0.01), P: known(1e-9)})
		}
	}
	c := &analysis.Checked{State: checked.FavoursLanes, Shares: true, Lanes: []string{"one", "two"}}
	c.Look(&checked.Corrected{
		Values:      []checked.Value{{Value: known(0.5), SE: known(0.1)}, {Value: known(0.45), SE: known(0.1)}},
		Differences: []checked.Difference{{A: 0, B: 1, Value: known(0.05), SE: known(0.1), P: known(0.6), Clusters: 30}},
	}, checked.Look{Items: 60, Alpha: 0.035}, 0.05)
	return b, c
}

func TestALaneWithoutLabelsIsNotHeldAgainstCorrectedOnes(t *testing.T) {
	t.Parallel()
	b, c := checkedBoard()
	b.Correct(c)
	if len(b.Tests) != 1 || b.Places[b.Tests[0].First].Name != "one" || b.Tests[0].Difference != stats.Known(0.05) {
		t.Errorf("tests %+v", b.Tests)
	}
	if b.Places[0].Value.OK || b.Places[0].Judge != stats.Known(0.9) {
		t.Errorf("%+v", b.Places[0])
	}
}

func TestCorrectedNumbersTellItemsFromClusters(t *testing.T) {
	t.Parallel()
	for _, items := range []int{1, 5} {
		b, c := checkedBoard()
		for i := range b.Tests {
			b.Tests[i].Clusters, b.Tests[i].Items = 40, 40*items
		}
		if b.Correct(c); b.PerCluster() != float64(items) {
			t.Errorf("%g items in a cluster, want %d", b.PerCluster(), items)
		}
	}
}

func TestWhatTheJudgeAloneClaimedEarlierDoesNotStayOnceItIsCorrected(t *testing.T) {
	t.Parallel()
	b, c := checkedBoard()
	b.Looked = &analysis.Looked{Items: []int{20}, Claims: []analysis.Claim{{Better: "one", Worse: "two", Look: 1, P: 1e-9}}}
	b.Correct(c)
	if apart, tested := b.Apart(); len(apart) != 0 || !tested {
		t.Errorf("apart %v, tested %v", apart, tested)
	}
}

func TestItemsThatCameLaterAreCoveredOnceTheyAreLabelled(t *testing.T) {
	t.Parallel()
	items := func(name string) (out []analysis.Judgeable) {
		for i := range 30 {
			out = append(out, analysis.Judgeable{Item: fmt.Sprintf("%s%02d", name, i), Mean: float64(i%3) / 2, Places: 1})
		}
		return out
	}
	d := &analysis.Draw{Seed: 3, Lanes: []string{"one", "two"}, YesNo: true}
	d.Add(items("a"), 0)
	first := d.Order()[:12]
	if d.Covered(first) != 1 {
		t.Error("the first items are not a sample of all")
	}
	if l := d.Looks(0.05, 30); l[2].Items != 30 || l[3].Items != 60 {
		t.Errorf("with 30 items that came later, looks %v", l)
	}
	d.Add(items("b"), len(first))
	if d.Covered(first) != 1 || len(d.Grown) != 1 {
		t.Errorf("labels on earlier items stand for later ones, %+v", d.Grown)
	}
	if order := d.Order(); d.Covered(order[:24]) != 2 || fmt.Sprint(order[:12]) != fmt.Sprint(first) {
		t.Errorf("after %v comes %v", first, order[:24])
	}
	if l := d.Looks(0.05, 0); l[2].Items != 30 || l[3].Items != 60 {
		t.Errorf("the plan is not that of the first items: %v", l)
	}
}
