package tables

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/find/stats"
)

// winRate are plain shares of wins, a tie worth a half.
func (r *ranker) winRate() error {
	r.apart("who met whom decides their win rates")
	r.out.SEFrom, r.out.IntervalFrom = "shares of independent comparisons", "Wilson's formula"
	rates := r.tally.Rates()
	for i := range r.out.Items {
		one := &r.out.Items[i]
		one.Score, one.Average = rates.Overall[i].OrNil(), rates.Average[i].OrNil()
		n := rates.N[i]
		if n == 0 {
			r.out.Why = "an item was never compared: all its rows weigh nothing"
			continue
		}
		if v := spread(r.tally, i, rates); v > 0 { // where all results are alike the data do not show it
			one.SE = stats.Known(math.Sqrt(v / n)).OrNil()
		}
		// Half points and half weights: the bounds of the whole numbers around them.
		low, high := stats.Wilson(int(rates.Won[i]), int(n), Level), stats.Wilson(min(int(math.Ceil(rates.Won[i])), int(n)), int(n), Level)
		one.Low, one.High = stats.Between(low.Low, high.High).OrNil()
	}
	if r.grouped == nil || r.out.Why != "" {
		return nil
	}
	if r.clustered() {
		r.out.Clusters, r.out.SEFrom, r.out.IntervalFrom = r.grouped.Clusters(), "clusters",
			"Wilson's formula for as many independent comparisons"
	}
	return r.winRateByCluster()
}

// spread returns the variance of what one comparison is worth to item i.
func spread(t *stats.Tally, i int, rates *stats.WinRates) float64 {
	squares := 0.0
	for j := range t.Items() {
		won, _, tied := t.Of(i, j)
		_, lost, tiedBack := t.Of(j, i)
		squares += won + lost + (tied+tiedBack)/4
	}
	p := rates.Overall[i].Value
	return max(0, squares/rates.N[i]-p*p)
}

// winRateByCluster replaces errors by those of clusters, and bounds by those of resamples.
func (r *ranker) winRateByCluster() error {
	for i, clusters := range r.pointsByCluster() {
		one := &r.out.Items[i]
		if r.clustered() {
			rate, err := stats.RateByCluster(clusters, Level)
			if err != nil {
				return err
			}
			one.SE = rate.SE.OrNil()
			one.Low, one.High = rate.Interval.OrNil()
		}
		if n := r.options.Bootstrap; n > 0 {
			r.out.IntervalFrom = fmt.Sprintf("%d resamples", n)
			r.out.SEFrom = r.out.IntervalFrom
			runs, err := stats.BootstrapRate(slices.Values(clusters), n, r.options.Seed)
			if err != nil {
				return err
			}
			one.SE = runs.SE().OrNil()
			one.Low, one.High = runs.Interval(Level).OrNil()
		}
	}
	return nil
}

// pointsByCluster are, for each item, the points it made in each cluster: one for a win, or where there are ties two
// for a win and one for a tie, of two for each comparison.
func (r *ranker) pointsByCluster() [][]stats.Count {
	scale := 1
	if ties(r.tally) > 0 {
		scale = 2
	}
	p := r.rows.Pairs
	keys := make([]uint64, 0, 2*p.Len()) // item, cluster, points
	for k, result := range p.Result {
		points := uint64(result.Score() * float64(scale))
		cluster := uint64(r.rows.Cluster[k]) << 2
		keys = append(keys, uint64(p.First[k])<<40|cluster|points, uint64(p.Second[k])<<40|cluster|(uint64(scale)-points))
	}
	slices.Sort(keys)
	out := make([][]stats.Count, len(r.items))
	last := ^uint64(0)
	for _, key := range keys {
		item := key >> 40
		if key>>2 != last {
			last = key >> 2
			out[item] = append(out[item], stats.Count{})
		}
		c := &out[item][len(out[item])-1]
		c.K += int(key & 3)
		c.N += scale
	}
	return out
}
