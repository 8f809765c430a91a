package analysis

import (
	"fmt"
	"math"

	"assay/stats"
)

// Options are the settings of a report. The zero value is 95% intervals and a thousand resamples.
type Options struct {
	Level     float64
	Resamples int
	Seed      uint64
}

func (o Options) filled() Options {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Resamples == 0 {
		o.Resamples = 1000
	}
	return o
}

// estimate is a number with its error and how it came about.
type estimate struct {
	value    stats.Number
	interval stats.Interval
	n        int
	clusters int
	method   string
	note     string
}

// put writes the estimate into a finding.
func (e estimate) put(f *Finding) {
	f.Value, f.Interval, f.N, f.Clusters, f.Method = e.value, e.interval, e.n, e.clusters, e.method
	if e.note != "" {
		f.note("%s", e.note)
	}
}

const fewClusters = "bootstrap: %d clusters are fewer than %d"

// share estimates a share of yes. Answers that stand alone in their clusters are independent; nested ones are not.
func (o Options) share(counts []stats.Count) (estimate, error) {
	r, err := stats.RateByCluster(counts, o.Level)
	if err != nil {
		return estimate{}, err
	}
	e := estimate{value: r.Share, interval: r.Interval, n: r.N, clusters: r.Clusters, method: "Wilson, by cluster"}
	switch {
	case r.N == r.Clusters:
		alone := stats.NewRate(r.K, r.N, o.Level)
		e.interval, e.method = alone.Interval, "Wilson"
		if r.N == 0 {
			e.interval = stats.NoInterval("%s", r.Share.Why)
		}
	case r.Clusters >= 2 && r.Clusters < stats.FewClusters && r.K > 0 && r.K < r.N:
		resampled, err := stats.BootstrapRate(kept(counts), o.Resamples, o.Seed)
		if err != nil {
			return e, err
		}
		if b := resampled.Interval(o.Level); b.OK && b.Low < b.High {
			e.interval, e.method = b, "bootstrap of clusters"
			e.note = fmt.Sprintf(fewClusters, r.Clusters, stats.FewClusters)
		}
	}
	return e, nil
}

func kept(counts []stats.Count) []stats.Count {
	var out []stats.Count
	for _, c := range counts {
		if c.N > 0 {
			out = append(out, c)
		}
	}
	return out
}

// total is what the values of one cluster add up to.
type total struct {
	n   int
	sum float64
}

// mean estimates a mean over values that are independent between clusters only.
func (o Options) mean(totals []total) (estimate, error) {
	z, n, nested := linear(totals)
	e := estimate{n: n, clusters: len(z), method: "Student"}
	m, err := stats.MeanByCluster(z, nil, o.Level)
	if err != nil {
		return e, err
	}
	e.value, e.interval = m.Mean, m.Interval
	if e.interval.OK && e.interval.Low == e.interval.High {
		e.interval = stats.NoInterval("all clusters are alike: nothing tells how far they could differ")
		return e, nil
	}
	if !nested {
		return e, nil
	}
	e.method = "Student, by cluster"
	if len(z) >= 2 && len(z) < stats.FewClusters {
		resampled, err := stats.Bootstrap(len(totals), o.Resamples, o.Seed, func(drawn []int) stats.Number {
			return meanOf(totals, drawn)
		})
		if err != nil {
			return e, err
		}
		if b := resampled.Interval(o.Level); b.OK && b.Low < b.High {
			e.interval, e.method = b, "bootstrap of clusters"
			e.note = fmt.Sprintf(fewClusters, len(z), stats.FewClusters)
		}
	}
	return e, nil
}

func meanOf(totals []total, drawn []int) stats.Number {
	n, sum := 0, 0.0
	for _, g := range drawn {
		n, sum = n+totals[g].n, sum+totals[g].sum
	}
	if n == 0 {
		return stats.Undefined("no values")
	}
	return stats.Known(sum / float64(n))
}

// linear gives each cluster one value such that their mean is the mean over all rows, and their spread as independent
// values gives its cluster-robust error with the factor G/(G-1): the mean plus the cluster's residual times G/n.
func linear(totals []total) (z []float64, n int, nested bool) {
	sum := 0.0
	for _, t := range totals {
		if t.n > 0 {
			z = append(z, 0)
			n, sum = n+t.n, sum+t.sum
			nested = nested || t.n > 1
		}
	}
	k, mean := 0, sum/float64(n)
	for _, t := range totals {
		if t.n > 0 {
			z[k] = mean + (t.sum-mean*float64(t.n))*float64(len(z))/float64(n)
			k++
		}
	}
	return z, n, nested
}

// manyClusters is where Student's t is as good as normal.
const manyClusters = 1000

// twoSided is the p-value of a mean of 0: one minus the level at which the interval just reaches it.
func twoSided(z []float64) (stats.Number, error) {
	m, err := stats.MeanByCluster(z, nil, 0.95)
	if err != nil || !m.SE.OK {
		return stats.Undefined("%s", m.SE.Why), err
	}
	if m.SE.Value == 0 {
		if m.Mean.Value == 0 {
			return stats.Known(1), nil
		}
		return stats.Undefined("all differences are alike"), nil
	}
	if len(z) > manyClusters {
		return stats.Known(math.Erfc(math.Abs(m.Mean.Value/m.SE.Value) / math.Sqrt2)), nil
	}
	low, high := 0.0, 1.0 // of the p-value
	for range 50 {
		p := (low + high) / 2
		at, err := stats.MeanByCluster(z, nil, 1-p)
		if err != nil {
			return stats.Number{}, err
		}
		if at.Interval.OK && at.Interval.Contains(0) {
			low = p
		} else {
			high = p
		}
	}
	return stats.Known((low + high) / 2), nil
}
