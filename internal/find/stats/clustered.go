package stats

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// Count is k yes among n answers of one cluster.
type Count struct{ K, N int }

// ItemShares are the items of one cluster, each with the share of yes among its answers.
type ItemShares struct {
	K, N    int     // yes, answers
	Items   int     // with answers
	Sum     float64 // of the items' shares
	Inverse float64 // sum of one over an item's answers
}

// Add enters an item; one without answers changes nothing.
func (s *ItemShares) Add(item Count) {
	if item.N > 0 {
		s.K, s.N, s.Items = s.K+item.K, s.N+item.N, s.Items+1
		s.Sum, s.Inverse = s.Sum+float64(item.K)/float64(item.N), s.Inverse+1/float64(item.N)
	}
}

// CountShares returns a cluster in which every answer counts as an item.
func CountShares(k, n int) ItemShares {
	return ItemShares{K: k, N: n, Items: n, Sum: float64(k), Inverse: float64(n)}
}

// ClusterRate is a share whose answers are independent between clusters only. Error, design effect and interval rest on one
// variance: that of leaving out one cluster after the other, and never below that of independent answers.
type ClusterRate struct {
	K, N, Items, Clusters int
	Share                 Number
	SE                    Number
	DesignEffect          Number // how many times larger the variance is than that of independent answers
	Interval              Interval
	effective             float64 // as many independent answers as would have the variance
	even                  float64 // clusters of one size that would share the items as unevenly
}

// Units returns as many clusters as the interval's Student's t has.
func (r ClusterRate) Units() int { return unitsOf(r.even) }

// evenClusters returns how many clusters of one size would share out what is there as unevenly as it is shared: all of them, where
// they are of one size. A mean hangs on the large ones, so that its error is known as well as that of so many.
func evenClusters(sum, squares float64) float64 { return sum * sum / squares }

// unitsOf returns so many clusters as a count, for the degrees of freedom.
func unitsOf(even float64) int { return max(2, int(math.Round(even))) }

// Half returns the two-sided p-value of a share of one half, by the method of the interval: below one minus its level,
// the interval leaves one half out.
func (r ClusterRate) Half() Number {
	switch {
	case !r.Share.OK:
		return r.Share
	case r.N == r.Clusters:
		return Known(normalTail(2 * math.Sqrt(float64(r.N)) * (r.Share.Value - 0.5)))
	case r.Clusters < 2:
		return Undefined(NoErrorBar)
	}
	return Known(studentTail(2*math.Sqrt(r.effective)*(r.Share.Value-0.5), r.Units()-1))
}

// rareClusters is how many clusters must hold the rarer answer before their design effect can be estimated; of fewer
// than three times as many, a third.
const rareClusters = 10

// RateByCluster returns the share over all answers, each of equal weight, as [ShareByCluster] does of items.
func RateByCluster(clusters []Count, level float64) (ClusterRate, error) {
	return RateBy(slices.Values(clusters), level)
}

// RateBy is RateByCluster for clusters that are walked over several times, and kept nowhere.
func RateBy(clusters iter.Seq[Count], level float64) (ClusterRate, error) {
	return ShareBy(func(yield func(ItemShares) bool) {
		for c := range clusters {
			if !yield(CountShares(c.K, c.N)) {
				return
			}
		}
	}, level)
}

// ShareByCluster returns the mean over items of their shares. Its interval is Wilson's for as many independent answers as
// would have the variance that leaving out one cluster after the other gives, widened for few clusters, or a few large ones, by
// Student's t. Where the rarer answer occurs in too few clusters to estimate the variance, each cluster counts as a single answer. Answers
// that are alone in their clusters are independent.
func ShareByCluster(clusters []ItemShares, level float64) (ClusterRate, error) {
	return ShareBy(slices.Values(clusters), level)
}

// ShareBy is ShareByCluster for clusters that are walked over several times, and kept nowhere.
func ShareBy(clusters iter.Seq[ItemShares], level float64) (ClusterRate, error) {
	var r ClusterRate
	sum, inverse, squares, g := 0.0, 0.0, 0.0, 0
	for c := range clusters {
		if c.K < 0 || c.K > c.N {
			return r, fmt.Errorf("rate by cluster: %d of %d in cluster %d", c.K, c.N, g)
		}
		g++
		if c.N > 0 {
			r.K, r.N, r.Items, r.Clusters = r.K+c.K, r.N+c.N, r.Items+c.Items, r.Clusters+1
			sum, inverse, squares = sum+c.Sum, inverse+c.Inverse, squares+square(float64(c.Items))
		}
	}
	r.Share = ratio(sum, float64(r.Items), "no verdicts")
	if !r.Share.OK {
		r.SE, r.DesignEffect, r.Interval = r.Share, r.Share, NoInterval("%s", r.Share.Why)
		return r, nil
	}
	independent := square(float64(r.Items)) / inverse // all answers, where items have equally many
	r.even = evenClusters(float64(r.Items), squares)
	alike := r.K == 0 || r.K == r.N
	switch r.effective = independent; {
	case r.N == r.Clusters:
		r.Interval = Wilson(r.K, r.N, level)
	case r.Clusters < 2:
		few := Undefined(NoErrorBar)
		r.SE, r.DesignEffect, r.Interval = few, few, NoInterval("%s", few.Why)
		return r, nil
	case alike:
		r.effective = r.even
		r.Interval = r.wilson(r.effective, level)
	default:
		r.effective = min(independent, r.Share.Value*(1-r.Share.Value)/r.jackknife(clusters))
		if r.holding(clusters) < min(rareClusters, r.Clusters/3) {
			r.effective = min(r.effective, r.even)
		}
		r.Interval = r.wilson(r.effective, level)
	}
	if r.SE, r.DesignEffect = Known(math.Sqrt(r.Share.Value*(1-r.Share.Value)/r.effective)), Known(independent/r.effective); alike {
		r.SE, r.DesignEffect = Undefined("all answers are alike"), Undefined("all answers are alike")
	}
	return r, nil
}

// holding returns the number of clusters in which the rarer answer was given.
func (r ClusterRate) holding(clusters iter.Seq[ItemShares]) int {
	yes, no := 0, 0
	for c := range clusters {
		yes += int(oneIf(c.K > 0))
		no += int(oneIf(c.K < c.N))
	}
	return min(yes, no)
}

// jackknife returns the variance of the share by leaving out one cluster after the other: the cluster-robust one where
// clusters are of one size, and larger where some are so large that they make the share their own.
func (r ClusterRate) jackknife(clusters iter.Seq[ItemShares]) float64 {
	squares, g := 0.0, float64(r.Clusters)
	for c := range clusters {
		if c.N > 0 {
			squares += square((c.Sum - r.Share.Value*float64(c.Items)) / float64(r.Items-c.Items))
		}
	}
	return (g - 1) / g * squares
}

// wilson is Wilson's interval of the share for so many independent answers, fewer still where clusters are few.
func (r ClusterRate) wilson(effective, level float64) Interval {
	z, t := criticalZ(level), criticalT(level, r.Units()-1)
	if !t.OK {
		return NoInterval("%s", t.Why)
	}
	effective *= square(z.Value / t.Value)
	return Between(wilson(r.Share.Value*effective, effective, z.Value))
}

// ShareInterval is Wilson's interval of a share, or of a mean of shares, for as many independent answers as would have
// its variance, widened for few clusters by Student's t. Without variance each cluster counts as a single answer.
func ShareInterval(share, variance, level float64, clusters int) Interval {
	effective := float64(clusters)
	if variance > 0 && share > 0 && share < 1 {
		effective = share * (1 - share) / variance
	}
	return EffectiveInterval(share, effective, level, clusters)
}

// EffectiveInterval is Wilson's interval of a share for so many independent answers, widened for few clusters by Student's t.
func EffectiveInterval(share, effective, level float64, clusters int) Interval {
	return ClusterRate{Share: Known(share), even: float64(clusters)}.wilson(effective, level)
}

// Total is a sum of values, such as those of one cluster.
type Total struct {
	N   int
	Sum float64
}

// Add enters a value.
func (t *Total) Add(value float64) { t.N, t.Sum = t.N+1, t.Sum+value }

// ClusterMean is a mean whose values are independent between clusters only.
type ClusterMean struct {
	N, Clusters int
	Units       int // as many clusters as Student's t has: of unequal ones, as many of one size as would share the values as unevenly
	Mean        Number
	SE          Number   // by leaving out one cluster after the other
	Interval    Interval // with Student's t of Units-1
	P           Number   // two-sided, of a mean of 0
}

// AlikeClusters is why there is no error.
const AlikeClusters = "all clusters are alike: nothing shows how far they could differ"

// rounding is the part of a value that may come from floating point alone.
const rounding = 1e-12

// MeanByCluster returns the mean over all values. Its error comes from leaving out one cluster after the other: the
// cluster-robust one where clusters are of one size, and larger where some are so large that they make the mean their
// own. Clusters that differ by rounding alone show no error, which is no certainty; where all of them are 0, it is 0.
func MeanByCluster(list []Total, level float64) ClusterMean {
	return MeanOver(slices.Values(list), level)
}

// MeanOver is MeanByCluster of clusters that are walked over twice, and kept nowhere.
func MeanOver(list iter.Seq[Total], level float64) ClusterMean {
	var m ClusterMean
	sum, sizes := 0.0, 0.0
	for p := range list {
		if p.N > 0 {
			m.N, m.Clusters, sum, sizes = m.N+p.N, m.Clusters+1, sum+p.Sum, sizes+square(float64(p.N))
		}
	}
	m.Mean = ratio(sum, float64(m.N), "no values")
	switch {
	case !m.Mean.OK:
		m.SE = m.Mean
	case m.Clusters < 2:
		m.SE = Undefined(NoErrorBar)
	default:
		squares, g, least := 0.0, float64(m.Clusters), rounding
		for p := range list {
			if p.N > 0 {
				squares += square((p.Sum - m.Mean.Value*float64(p.N)) / float64(m.N-p.N))
				least = max(least, rounding*math.Abs(p.Sum/float64(p.N)))
			}
		}
		switch m.SE = Known(math.Sqrt((g - 1) / g * squares)); {
		case m.SE.Value > least:
		case math.Abs(m.Mean.Value) > least:
			m.SE = Undefined(AlikeClusters)
		default:
			m.Mean, m.SE = Known(0), Known(0)
		}
	}
	m.Units = unitsOf(evenClusters(float64(m.N), sizes))
	m.Interval = tInterval(m.Mean, m.SE, level, m.Units-1)
	m.P = StudentTest(m.Mean, m.SE, m.Units)
	return m
}

// LeftOutGroups is the most groups of clusters that are left out one after the other, where clusters are more.
const LeftOutGroups = 100

// LeftOut returns the standard error of an estimate and its interval by Student's t, from what it is without one cluster, or
// one group of clusters, after the other.
func LeftOut(estimate Number, without []Number, level float64) (Number, Interval) {
	none := func(format string, args ...any) (Number, Interval) {
		return Undefined(format, args...), NoInterval(format, args...)
	}
	if !estimate.OK {
		return none("%s", estimate.Why)
	}
	if len(without) < 2 {
		return none(NoErrorBar)
	}
	values := make([]float64, len(without))
	for k, v := range without {
		if !v.OK {
			return none("no error: where one is left out, %s", v.Why)
		}
		values[k] = v.Value
	}
	g := float64(len(values))
	se := (g - 1) * math.Sqrt(variance(values)/g)
	if Same(se, 0) {
		return none(AlikeClusters)
	}
	return Known(se), tInterval(estimate, Known(se), level, len(values)-1)
}

// BootstrapRate resamples clusters and collects the share over the drawn answers. What is looked up again and again is kept small.
func BootstrapRate(clusters iter.Seq[Count], resamples int, seed uint64) (Replicates, error) {
	most, n := 0, 0
	for c := range clusters {
		most, n = max(most, c.K, c.N), n+1
	}
	if n < 1 || resamples < 1 {
		return Replicates{}, fmt.Errorf("bootstrap: %d resamples of %d units", resamples, n)
	}
	if most <= math.MaxUint8 {
		return bootstrapRate[uint8](clusters, n, resamples, seed), nil
	}
	return bootstrapRate[int64](clusters, n, resamples, seed), nil
}

func bootstrapRate[T uint8 | int64](clusters iter.Seq[Count], n, resamples int, seed uint64) Replicates {
	counts := make([]struct{ k, n T }, 0, n)
	for c := range clusters {
		counts = append(counts, struct{ k, n T }{T(c.K), T(c.N)})
	}
	values := make([]Number, resamples)
	replicate(resamples, func() struct{} { return struct{}{} }, func(_ struct{}, run int) {
		r, k, n := stream(seed, run), int64(0), int64(0)
		for range counts {
			c := &counts[r.IntN(len(counts))]
			k, n = k+int64(c.k), n+int64(c.n)
		}
		values[run] = ratio(float64(k), float64(n), "no verdicts")
	})
	return collect(values)
}
