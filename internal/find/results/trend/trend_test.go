package trend_test

import (
	"math/rand/v2"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/results/trend"
	"assay/internal/find/stats/drift"
)

// change returns the change from one run to the next in verdicts of yes (1) or no (0) on the same things.
func change(t *testing.T, was, is []float64) drift.Change {
	t.Helper()
	f := analysis.Finding{What: analysis.WhatDifference, Unit: analysis.Share, N: len(is)}
	clusters := make([]uint32, len(is))
	for k := range clusters {
		clusters[k] = uint32(k)
	}
	if _, err := gather.Pair(&f, is, was, clusters, true, trend.Level); err != nil {
		t.Fatal(err)
	}
	return trend.ChangeOf(&f, 1)
}

func TestNoChangeIsNoCertainty(t *testing.T) {
	t.Parallel()
	same := make([]float64, 100)
	for k := range 60 {
		same[k] = 1
	}
	c := change(t, same, same)
	if c.Value.Value != 0 || c.Interval.High < 0.035 || c.Interval.Low > -0.035 { // 3.6% of 100 hide with a chance of 2.5%
		t.Errorf("none of 100 verdicts changed: %v, %v", c.Value, c.Interval)
	}
}

// A shift of the judge by 5 points is the judge's, in histories of two runs with 400 items of two lanes and 400 gold answers.
func TestAShiftOfTheJudgeIsNamed(t *testing.T) {
	t.Parallel()
	const histories, items = 300, 400
	judge, model := 0, 0
	for h := range histories {
		r := rand.New(rand.NewPCG(7, uint64(h)))
		says := func(lenient bool, rate float64) float64 {
			if r.Float64() < rate || lenient && r.Float64() < 0.05/(1-rate) {
				return 1
			}
			return 0
		}
		var gold [2][]float64
		var lanes [2][2][]float64
		for range items {
			was := says(false, 0.6)
			is := was
			if was == 0 {
				is = says(false, 0.05/0.4)
			}
			for run, word := range []float64{was, is} {
				if r.Float64() < 0.01 { // it comes out otherwise
					word = 1 - word
				}
				gold[run] = append(gold[run], word)
			}
			for l, rate := range []float64{0.6, 0.7} {
				lanes[l][0], lanes[l][1] = append(lanes[l][0], says(false, rate)), append(lanes[l][1], says(true, rate))
			}
		}
		j := drift.Judge{Measured: true, Shift: change(t, gold[0], gold[1])}
		found := []drift.Lane{{Change: change(t, lanes[0][0], lanes[0][1])}, {Change: change(t, lanes[1][0], lanes[1][1])}}
		if err := drift.Apportion(j, found, trend.Level); err != nil {
			t.Fatal(err)
		}
		accused := false
		for _, l := range found {
			accused = accused || l.Whose == drift.Models || l.Whose == drift.Boths
		}
		if accused {
			model++
		} else if j.Moved(trend.Level) {
			judge++
		}
	}
	if judge < histories*90/100 || model > histories*5/100 {
		t.Errorf("of %d shifts of the judge %d are called the judge's and %d a model's", histories, judge, model)
	}
}
