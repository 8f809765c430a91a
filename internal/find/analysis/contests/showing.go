package contests

import (
	"cmp"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// showing is one comparison in two words that sort: the cluster and the item; then the kind, the two entrants, the lower
// number before the higher, whether the higher was shown first, and the result.
type showing struct{ about, met uint64 }

// Where the parts of a showing's words begin.
const (
	clusterShift = 32

	turnedShift = 2 // after the result
	highShift   = turnedShift + 1
	lowShift    = highShift + 16
	kindShift   = lowShift + 16
)

func newShowing(cluster, item, kind uint32, first, second uint16, r stats.Result) showing {
	low, high, turned := first, second, uint64(0)
	if first > second {
		low, high, turned = second, first, 1
	}
	return showing{uint64(cluster)<<clusterShift | uint64(item),
		uint64(kind)<<kindShift | uint64(low)<<lowShift | uint64(high)<<highShift | turned<<turnedShift | uint64(r)}
}

func (s showing) cluster() uint32      { return uint32(s.about >> clusterShift) }
func (s showing) item() uint32         { return uint32(s.about) }
func (s showing) kind() uint32         { return uint32(s.met >> kindShift) }
func (s showing) turned() bool         { return s.met>>turnedShift&1 == 1 } // the higher number was shown first
func (s showing) result() stats.Result { return stats.Result(s.met & (1<<turnedShift - 1)) }

func (s showing) first() uint16 {
	if s.turned() {
		return uint16(s.met >> highShift)
	}
	return uint16(s.met >> lowShift)
}

func (s showing) second() uint16 {
	if s.turned() {
		return uint16(s.met >> lowShift)
	}
	return uint16(s.met >> highShift)
}

// same reports whether two are of the same kind, about the same item and between the same two, in whichever order.
func (s showing) same(t showing) bool {
	return s.about == t.about && s.met>>highShift == t.met>>highShift
}

// nameRanks are the ranks of names, by their numbers.
type nameRanks struct{ cluster, item, kind []uint32 }

// nameRanks returns the ranks of all names. It is called once all rows are there: all groups share what it computes first.
func (c *Contest) nameRanks() *nameRanks {
	if c.ranked == nil {
		item := gather.Ranks(c.Known.Ordered(func(a, b uint32) int { return analysis.CompareTexts(c.Known.Text(a), c.Known.Text(b)) }))
		c.ranked = &nameRanks{cluster: gather.Ranks(c.Known.Sorted()), item: item, kind: c.kinds.ByText()}
	}
	return c.ranked
}

// order gives entrants their places, and puts comparisons in the order of the names of their clusters, of their items,
// of their kinds and of the two.
func (c *Contest) order(all []showing, place []uint32) {
	to := c.nameRanks()
	for k, s := range all {
		all[k] = newShowing(to.cluster[s.cluster()], to.item[s.item()], to.kind[s.kind()], uint16(place[s.first()]),
			uint16(place[s.second()]), s.result())
	}
	slices.SortFunc(all, func(x, y showing) int { return cmp.Or(cmp.Compare(x.about, y.about), cmp.Compare(x.met, y.met)) })
}
