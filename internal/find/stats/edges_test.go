package stats

import "testing"

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
