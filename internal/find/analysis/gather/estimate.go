package gather

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// Estimate is a number with its error and how it came about.
type Estimate struct {
	Value    stats.Number
	SE       stats.Number
	Interval stats.Interval
	P        stats.Number // of a mean of 0; of a share, of one half
	N        int
	clusters int
	method   string
	note     string
}

// Put writes the estimate into a finding.
func (e Estimate) Put(f *analysis.Finding) {
	f.Value, f.SE, f.Interval, f.N, f.Clusters, f.Method = e.Value, e.SE, e.Interval, e.N, e.clusters, e.method
	if e.note != "" {
		f.Note("%s", e.note)
	}
}

// roughly returns the note where clusters are so few, or so unequal, that the error itself is known roughly at best; empty: they are not.
func roughly(clusters, units int) string {
	switch {
	case clusters >= 2 && 5*units < 4*clusters:
		return fmt.Sprintf("%d clusters of unequal size count as %d: the interval is wider for it", clusters, units)
	case clusters >= 2 && clusters < stats.FewClusters:
		return fmt.Sprintf("%d clusters are fewer than %d: the interval is wider for it", clusters, stats.FewClusters)
	}
	return ""
}

// Share estimates a share of yes among answers of equal weight. Those that are alone in their clusters are independent;
// nested ones are not. The clusters are walked over several times, in one order.
func Share(counts iter.Seq[stats.Count], level float64) (Estimate, error) {
	r, err := stats.RateBy(counts, level)
	return shareOf(r), err
}

// ShareOfItems estimates the mean over items of their shares of yes, from the items of each cluster.
func ShareOfItems(clusters []stats.ItemShares, level float64) (Estimate, error) {
	return ShareOver(slices.Values(clusters), level)
}

// ShareOver is ShareOfItems of clusters that are walked over several times, and kept nowhere.
func ShareOver(clusters iter.Seq[stats.ItemShares], level float64) (Estimate, error) {
	r, err := stats.ShareBy(clusters, level)
	return shareOf(r), err
}

func shareOf(r stats.ClusterRate) Estimate {
	e := Estimate{Value: r.Share, SE: r.SE, Interval: r.Interval, N: r.N, clusters: r.Clusters, method: "Wilson, by cluster", P: r.Half()}
	if r.N == r.Clusters {
		e.method = "Wilson"
		return e
	}
	e.note = roughly(r.Clusters, r.Units())
	return e
}

// Mean estimates a mean over values that are independent between clusters only.
func Mean(totals []stats.Total, level float64) Estimate {
	return meanOf(stats.MeanByCluster(totals, level))
}

func meanOf(m stats.ClusterMean) Estimate {
	e := Estimate{Value: m.Mean, SE: m.SE, Interval: m.Interval, N: m.N, clusters: m.Clusters, method: "Student", P: m.P}
	if e.Interval.OK && e.Interval.Low == e.Interval.High {
		e.Interval, e.SE = stats.NoInterval(stats.AlikeClusters), stats.Undefined(stats.AlikeClusters)
		return e
	}
	if m.N == m.Clusters {
		return e
	}
	e.method, e.note = "Student, by cluster", roughly(m.Clusters, m.Units)
	return e
}

// ByKey returns the values of a map in the order of their keys: the last digits of a sum hang on its order.
func ByKey[K cmp.Ordered, V any](m map[K]V) []V {
	out := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// Permuted returns the elements at the places, in their order.
func Permuted[T any](s []T, places []int) []T {
	out := make([]T, len(places))
	for k, p := range places {
		out[k] = s[p]
	}
	return out
}

// One returns 1 for yes and 0 for no.
func One(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// Ratio divides a sum of verdicts by their number.
func Ratio(sum float64, n int) stats.Number {
	if n == 0 {
		return stats.Undefined("no verdicts")
	}
	return stats.Known(sum / float64(n))
}

// fewestResamples are made however many rows there are.
const fewestResamples = 50

// Resamples returns how many resamples are made: those that are wanted, or as many as look at no more than work rows in all.
func Resamples(wanted, work, rows int) int {
	return max(fewestResamples, min(wanted, work/(rows+1)))
}

// MaxUnits is how many judged answers, or verdicts of a group, a collector keeps.
const MaxUnits = 2_000_000
