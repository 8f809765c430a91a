package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabelsChosenByTheJudgeAreWeighted(t *testing.T) {
	t.Parallel()
	// Of 100 flagged, 40 of 50 looked at are so; of 900 others, 9 of 90: 80 + 90 are so in all.
	e := Verify([]Verified{{Yes: true, All: 100, Labelled: 50, True: 40}, {All: 900, Labelled: 90, True: 9}}, 0.95)
	if d := cmp.Diff([]Number{Known(80.0 / 170), Known(810.0 / 830)}, []Number{e.Sensitivity, e.Specificity}, about(1e-12)); d != "" {
		t.Error(d)
	}
	if !e.SensitivityInterval.Contains(80.0/170) || e.SensitivityInterval.High-e.SensitivityInterval.Low < 0.1 {
		t.Errorf("interval %v", e.SensitivityInterval)
	}
	if c := e.Correct(100, 1000, 0.95); math.Abs(c.Share.Value-0.17) > 1e-12 {
		t.Errorf("corrected %v, want 0.17: what the labels themselves say", c.Share)
	}
}

func TestRandomLabelsSayTheSameWithAndWithoutWeights(t *testing.T) {
	t.Parallel()
	g := Gold{TruePositive: 18, FalsePositive: 6, FalseNegative: 2, TrueNegative: 54} // 24 of 80 are called yes
	e := Verify([]Verified{{Yes: true, All: 240, Labelled: 24, True: 18}, {All: 560, Labelled: 56, True: 2}}, 0.95)
	plain := g.Errors(0.95)
	if d := cmp.Diff([]Number{plain.Sensitivity, plain.Specificity}, []Number{e.Sensitivity, e.Specificity}, about(1e-12)); d != "" {
		t.Error(d)
	}
}

func TestWhatNoPersonLookedAtIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kinds []Verified
		sens  string
		spec  string
	}{
		"no label among the others": {[]Verified{{Yes: true, All: 9, Labelled: 3, True: 1}, {All: 90}},
			"judge not validated: no person looked at the 90 answers that it calls no",
			"judge not validated: no person looked at the 90 answers that it calls no"},
		"nothing is so": {[]Verified{{Yes: true, All: 9, Labelled: 3}, {All: 90, Labelled: 9}}, "judge not validated: no label is yes", ""},
		"all is so": {[]Verified{{Yes: true, All: 9, Labelled: 3, True: 3}, {All: 90, Labelled: 9, True: 9}}, "",
			"judge not validated: no label is no"},
	} {
		e := Verify(c.kinds, 0.95)
		if d := cmp.Diff([]string{c.sens, c.spec}, []string{e.Sensitivity.Why, e.Specificity.Why}); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if got := e.Correct(1, 10, 0.95); got.Share.OK {
			t.Errorf("%s: corrected to %v", name, got.Share)
		}
	}
}

// verifiedStudy returns a study of n answers of which people look at as many flagged as unflagged ones.
func verifiedStudy(r *rand.Rand, n, looked int, truth, sens, spec float64) ([]Verified, float64) {
	kinds := []Verified{{Yes: true}, {}}
	judged := 0.0
	var is [2][]bool
	for range n {
		so := r.Float64() < truth
		yes := so && r.Float64() < sens || !so && r.Float64() >= spec
		k := 1 - int(oneIf(yes))
		kinds[k].All++
		is[k] = append(is[k], so)
		judged += oneIf(yes)
	}
	for k := range kinds {
		for _, so := range is[k][:min(looked, len(is[k]))] {
			kinds[k].Labelled++
			kinds[k].True += int(oneIf(so))
		}
	}
	return kinds, judged
}

func TestWeightedErrorsHoldTheirLevel(t *testing.T) {
	t.Parallel()
	const n, looked, truth, sens, spec = 1000, 120, 0.2, 0.85, 0.92
	covered := map[string]float64{}
	const times = 800
	for k := range times {
		kinds, judged := verifiedStudy(rand.New(rand.NewPCG(7, uint64(k))), n, looked, truth, sens, spec)
		e := Verify(kinds, 0.95)
		covered["sensitivity"] += oneIf(e.SensitivityInterval.Contains(sens)) / times
		covered["specificity"] += oneIf(e.SpecificityInterval.Contains(spec)) / times
		covered["corrected"] += oneIf(e.Correct(judged, n, 0.95).Interval.Contains(truth)) / times
	}
	for what, share := range covered {
		if share < 0.925 || share > 0.995 {
			t.Errorf("%s: covered %.3f", what, share)
		}
		t.Logf("%s: covered %.3f", what, share)
	}
}
