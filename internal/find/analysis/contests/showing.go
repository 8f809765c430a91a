package contests

import (
	"cmp"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// showing is one comparison in two words that sort: the cluster and the item; then the kind, the two entrants, which of
// them was shown first, and the result.
type showing struct{ about, met uint64 }

func shown(cluster, item, kind uint32, first, second uint16, r stats.Result) showing {
	low, high, turned := first, second, uint64(0)
	if first > second {
		low, high, turned = second, first, 1
	}
	return showing{uint64(cluster)<<32 | uint64(item), uint64(kind)<<35 | uint64(low)<<19 | uint64(high)<<3 | turned<<2 | uint64(r)}
}

func (s showing) cluster() uint32      { return uint32(s.about >> 32) }
func (s showing) item() uint32         { return uint32(s.about) }
func (s showing) kind() uint32         { return uint32(s.met >> 35) }
func (s showing) turned() bool         { return s.met>>2&1 == 1 } // the higher number was shown first
func (s showing) result() stats.Result { return stats.Result(s.met & 3) }

func (s showing) first() uint16 {
	if s.turned() {
		return uint16(s.met >> 3)
	}
	return uint16(s.met >> 19)
}

func (s showing) second() uint16 {
	if s.turned() {
		return uint16(s.met >> 19)
	}
	return uint16(s.met >> 3)
}

// same reports whether two are of the same kind, about the same item and between the same two, in whichever order.
func (s showing) same(t showing) bool { return s.about == t.about && s.met>>3 == t.met>>3 }

// ranking is the places of names once all rows are there.
type ranking struct{ cluster, item, kind []uint32 }

// ranking returns the same for all groups.
func (c *Contest) ranking() *ranking {
	if c.ranked == nil {
		list := c.Known.List
		item := gather.Ranks(c.Known.Ordered(func(a, b uint32) int { return analysis.CompareTexts(list[a], list[b]) }))
		c.ranked = &ranking{cluster: gather.Ranks(c.Known.Sorted()), item: item, kind: c.kinds.ByText()}
	}
	return c.ranked
}

// order gives entrants their places, and puts comparisons in the order of the names of their clusters, of their items,
// of their kinds and of the two.
func (c *Contest) order(all []showing, place []uint32) {
	to := c.ranking()
	for k, s := range all {
		all[k] = shown(to.cluster[s.cluster()], to.item[s.item()], to.kind[s.kind()], uint16(place[s.first()]),
			uint16(place[s.second()]), s.result())
	}
	slices.SortFunc(all, func(x, y showing) int { return cmp.Or(cmp.Compare(x.about, y.about), cmp.Compare(x.met, y.met)) })
}
