package analysis

import (
	"fmt"

	"assay/internal/find/stats"
)

// Options are the settings of a report. The zero value is 95% intervals and a thousand resamples.
type Options struct {
	Level     float64
	Resamples int
	Seed      uint64

	method Settings // of the analysis at hand
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
	se       stats.Number
	interval stats.Interval
	p        stats.Number // of a mean of 0; of a share, of one half
	n        int
	clusters int
	method   string
	note     string
}

// put writes the estimate into a finding.
func (e estimate) put(f *Finding) {
	f.Value, f.SE, f.Interval, f.N, f.Clusters, f.Method = e.value, e.se, e.interval, e.n, e.clusters, e.method
	if e.note != "" {
		f.note("%s", e.note)
	}
}

// fewClusters is the note where there are so few that the error itself is known roughly at best.
const fewClusters = "%d clusters are fewer than %d: the interval is wider for it"

// share estimates a share of yes. Answers that stand alone in their clusters are independent; nested ones are not.
func (o Options) share(counts []stats.Count) (estimate, error) {
	r, err := stats.RateByCluster(counts, o.Level)
	if err != nil {
		return estimate{}, err
	}
	e := estimate{value: r.Share, se: r.SE, interval: r.Interval, n: r.N, clusters: r.Clusters, method: "Wilson, by cluster", p: r.Half()}
	switch {
	case r.N == r.Clusters:
		alone := stats.NewRate(r.K, r.N, o.Level)
		e.interval, e.method = alone.Interval, "Wilson"
		if r.N == 0 {
			e.interval = stats.NoInterval("%s", r.Share.Why)
		}
	case r.Clusters >= 2 && r.Clusters < stats.FewClusters:
		e.note = fmt.Sprintf(fewClusters, r.Clusters, stats.FewClusters)
	}
	return e, nil
}

// leavesOut reports whether an interval does not hold a value.
func leavesOut(i stats.Interval, x float64) bool { return i.OK && (x < i.Low || x > i.High) }

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

func (t *total) add(value float64) { t.n, t.sum = t.n+1, t.sum+value }

// mean estimates a mean over values that are independent between clusters only.
func (o Options) mean(totals []total) estimate {
	m := meanOf(totals, o.Level)
	e := estimate{value: m.Mean, se: m.SE, interval: m.Interval, n: m.N, clusters: m.Clusters, method: "Student", p: m.P}
	if e.interval.OK && e.interval.Low == e.interval.High {
		e.interval, e.se = stats.NoInterval(alikeClusters), stats.Undefined(alikeClusters)
		return e
	}
	if m.N == m.Clusters {
		return e
	}
	e.method = "Student, by cluster"
	if m.Clusters >= 2 && m.Clusters < stats.FewClusters {
		e.note = fmt.Sprintf(fewClusters, m.Clusters, stats.FewClusters)
	}
	return e
}

func meanOf(totals []total, level float64) stats.PortionMean {
	list := make([]stats.Portion, len(totals))
	for g, t := range totals {
		list[g] = stats.Portion{N: t.n, Sum: t.sum}
	}
	return stats.MeanOfPortions(list, level)
}
