package answers

import (
	"cmp"
	"iter"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// rateSums are the sums of one group, item by item.
type rateSums struct {
	items    gather.Places
	cover    gather.ItemCoverage
	all, cut columns  // cut: of them, those about refused and cut answers
	order    []uint32 // places in the order of clusters' and items' names, when all rows are there
}

// columns count valid verdicts by the place of their item.
type columns struct {
	n, yes         gather.Counts // with a label
	known, matches gather.Counts // with an expected label; of them, those that have it
	scored         gather.Counts
	score          gather.Sums
	labels         []gather.Counts // by label
}

func (s *columns) add(r *analysis.Row, k, label int, yes bool) {
	labelled := r.Label != ""
	s.n.AddIf(labelled, k)
	s.yes.AddIf(yes, k)
	s.known.AddIf(labelled && r.Expect != "", k)
	s.matches.AddIf(labelled && r.Label == r.Expect, k)
	if r.Score != nil {
		s.scored.Add(k)
		s.score.Add(k, *r.Score)
	}
	if label >= 0 {
		s.labels = gather.Grown(s.labels, label)
		s.labels[label].Add(k)
	}
}

// A column returns the sum of an item's values and their number.
type column func(s *columns, k int) (sum float64, n int)

func yesOf(s *columns, k int) (float64, int) { return float64(s.yes.At(k)), s.n.At(k) }

func matchesOf(s *columns, k int) (float64, int) { return float64(s.matches.At(k)), s.known.At(k) }

func scoresOf(s *columns, k int) (float64, int) { return s.score.At(k), s.scored.At(k) }

// given returns the column of a label.
func given(label int) column {
	return func(s *columns, k int) (float64, int) {
		if label >= len(s.labels) {
			return 0, s.n.At(k)
		}
		return float64(s.labels[label].At(k)), s.n.At(k)
	}
}

// sort puts the items in the order of their clusters' names and their own, so that the order of rows does not matter.
func (s *rateSums) sort(names *gather.Names, own []uint32) {
	rank := names.ByText()
	s.order = make([]uint32, s.items.Len())
	for k := range s.order {
		s.order[k] = uint32(k)
	}
	slices.SortFunc(s.order, func(a, b uint32) int {
		x, y := s.items.ID(int(a)), s.items.ID(int(b))
		return cmp.Or(cmp.Compare(rank[own[x]-1], rank[own[y]-1]), cmp.Compare(rank[x], rank[y]))
	})
}

// clusters calls enter for each item that has values, in order; first: it begins a cluster.
func (s *rateSums) clusters(own []uint32, of column, enter func(first bool, sum float64, n int)) {
	last := uint32(0)
	for _, place := range s.order {
		k := int(place)
		if sum, n := of(&s.all, k); n > 0 {
			cluster := own[s.items.ID(k)]
			enter(cluster != last, sum, n)
			last = cluster
		}
	}
}

// shares walks over the clusters, with the items of each by their shares of yes.
func (s *rateSums) shares(own []uint32, of column) iter.Seq[stats.ItemShares] {
	return func(yield func(stats.ItemShares) bool) {
		var one stats.ItemShares
		more := true
		s.clusters(own, of, func(first bool, sum float64, n int) {
			if first && one.Items > 0 && more {
				more = yield(one)
				one = stats.ItemShares{}
			}
			one.Add(stats.Count{K: int(sum), N: n})
		})
		if more && one.Items > 0 {
			yield(one)
		}
	}
}

// means returns the items of each cluster by their means, and the number of values.
func (s *rateSums) means(own []uint32, of column) (out []stats.Total, values int) {
	s.clusters(own, of, func(first bool, sum float64, n int) {
		if first {
			out = append(out, stats.Total{})
		}
		out[len(out)-1].Add(sum / float64(n))
		values += n
	})
	return out, values
}

// averaged returns the mean over items of what they have, and how many values that is.
func (s *rateSums) averaged(of func(k int) (sum float64, n int)) (stats.Number, int) {
	var t stats.Total
	all := 0
	for _, k := range s.order {
		if sum, n := of(int(k)); n > 0 {
			t.Add(sum / float64(n))
			all += n
		}
	}
	return gather.Ratio(t.Sum, t.N), all
}

// with returns what an item has when each of so many more verdicts has a value.
func (s *rateSums) with(of column, more func(k int) int, value float64) (stats.Number, int) {
	return s.averaged(func(k int) (float64, int) {
		sum, n := of(&s.all, k)
		return sum + value*float64(more(k)), n + more(k)
	})
}

// bounds returns where a number must lie whatever the missing verdicts are, between the least and the most.
func (s *rateSums) bounds(of column, low, high *float64) stats.Interval {
	missing := 0
	for k := range s.items.Len() {
		missing += s.cover.Unknown(k)
	}
	switch {
	case missing == 0:
		low, high = new(float64), new(float64)
	case low == nil || high == nil:
		return stats.NoInterval("the score has no bounds")
	}
	least, n := s.with(of, s.cover.Unknown, *low)
	if n == 0 {
		return stats.NoInterval("no verdicts, and none missing")
	}
	most, _ := s.with(of, s.cover.Unknown, *high)
	return stats.Between(least.Value, most.Value)
}

// whole returns the number without refused and cut answers; nil where there are none.
func (s *rateSums) whole(of column, n int) *analysis.OtherRule {
	value, rest := s.averaged(func(k int) (float64, int) {
		sum, n := of(&s.all, k)
		less, fewer := of(&s.cut, k)
		return sum - less, n - fewer
	})
	if rest == n {
		return nil
	}
	return &analysis.OtherRule{Rule: withoutThem, Value: value, N: rest}
}

const (
	withoutThem  = "refused and cut answers left out"
	countedWorst = "refused and cut answers counted as worst"
)

// worst returns the number had the answers that the rule leaves out counted as the worst.
func (s *rateSums) worst(of column, value float64) *analysis.OtherRule {
	number, n := s.with(of, s.cover.Excluded, value)
	return &analysis.OtherRule{Rule: countedWorst, Value: number, N: n}
}
