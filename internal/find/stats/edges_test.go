package stats

import (
	"math"
	"testing"
)

func TestResamplingByEloNeedsSomethingOfEach(t *testing.T) {
	t.Parallel()
	var p Pairs
	p.Append(0, 1, FirstWon)
	o := EloOptions{K: 4, Start: 1000, Scale: 400}
	if _, err := EloResampled(2, p, []int{0}, o, 1, 1, 1); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		starts            []int
		orders, resamples int
	}{{[]int{0}, 0, 1}, {[]int{0}, 1, 0}, {nil, 1, 1}} {
		if _, err := EloResampled(2, p, c.starts, o, c.orders, c.resamples, 1); err == nil {
			t.Errorf("%d orders of %d resamples of %d clusters are rated", c.orders, c.resamples, len(c.starts))
		}
	}
}

func TestTenClustersWithTheRarerAnswerAreEnough(t *testing.T) {
	t.Parallel()
	rate := func(holding int) ClusterRate {
		clusters := make([]Count, 30)
		for i := range clusters {
			clusters[i] = Count{N: 10}
			if i < holding {
				clusters[i].K = 1
			}
		}
		r, err := RateByCluster(clusters, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := rate(9); r.effective > 30 {
		t.Errorf("the rarer answer in 9 of 30 clusters: worth %g answers, want at most one of each cluster", r.effective)
	}
	if r := rate(10); r.effective <= 30 {
		t.Errorf("the rarer answer in 10 of 30 clusters: worth %g answers, want more than one of each cluster", r.effective)
	}
}

func TestTheErrorOfAShareIsKnownWhereAnswersDiffer(t *testing.T) {
	t.Parallel()
	for k, variance := range []float64{0, 0.16, 0.24, 0.24, 0.16, 0} {
		se := NewRate(k, 5, 0.95).SE()
		if known := variance > 0; se.OK != known || known && math.Abs(se.Value-math.Sqrt(variance/5)) > 1e-12 {
			t.Errorf("%d of 5: %v, want the root of %v/5", k, se, variance)
		}
	}
}

func TestWhatIsImpossibleNeverHappens(t *testing.T) {
	t.Parallel()
	got := []float64{binomial(0, 3, 0), binomial(1, 3, 0), binomial(3, 3, 1), binomial(2, 3, 1), binomial(1, 2, 0.5)}
	for i, want := range []float64{1, 0, 1, 0, 0.5} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%d: %v, want %v", i, got[i], want)
		}
	}
}

func TestVariancesWhoseSumIsNothingAreNotPositive(t *testing.T) {
	t.Parallel()
	sums := make([]float64, 1)
	for _, c := range []struct {
		q    []float64
		want bool
	}{{[]float64{1, 2}, true}, {[]float64{1, -1}, false}, {[]float64{1, -2}, false}} {
		if got := quasiSums(c.q, sums); got != c.want || sums[0] != c.q[0]+c.q[1] {
			t.Errorf("%v: %t, %v", c.q, got, sums)
		}
	}
}
