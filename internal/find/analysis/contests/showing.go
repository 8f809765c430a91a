package contests

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"

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

// showings are comparisons in the order they came, a few bytes each: items mostly come in the order of their numbers, and most are
// their own clusters.
type showings struct {
	blocks        [][]byte
	n             int
	item, cluster uint32 // of the last one
}

const (
	showingsBlock = 32 << 10
	mostOfShowing = 4 * binary.MaxVarintLen64
	otherCluster  = 1 << (turnedShift + 1) // a flag after the bits of turned and result; the step to the item follows
	itemShift     = turnedShift + 2
)

func (l *showings) add(s showing) {
	last := len(l.blocks) - 1
	if last < 0 || cap(l.blocks[last])-len(l.blocks[last]) < mostOfShowing {
		l.blocks = append(l.blocks, make([]byte, 0, showingsBlock))
		last++
	}
	step := int64(s.item()) - int64(l.item)
	head := uint64(step<<1^step>>63)<<itemShift | s.met&(1<<highShift-1)
	apart := s.cluster() != s.item()
	if apart {
		head |= otherCluster
	}
	b := binary.AppendUvarint(l.blocks[last], head)
	if apart {
		b = binary.AppendVarint(b, int64(s.cluster())-int64(l.cluster))
		l.cluster = s.cluster()
	}
	b = binary.AppendUvarint(b, s.met>>lowShift)
	l.blocks[last] = binary.AppendUvarint(b, s.met>>highShift&math.MaxUint16)
	l.item, l.n = s.item(), l.n+1
}

// all walks over the comparisons.
func (l *showings) all(yield func(showing) bool) {
	item, cluster := int64(0), int64(0)
	for _, b := range l.blocks {
		next := func() uint64 {
			x, n := binary.Uvarint(b)
			b = b[n:]
			return x
		}
		for len(b) > 0 {
			head := next()
			step := head >> itemShift
			item += int64(step>>1) ^ -int64(step&1)
			own := item
			if head&otherCluster > 0 {
				step, n := binary.Varint(b)
				b, cluster = b[n:], cluster+step
				own = cluster
			}
			kindLow := next()
			met := kindLow<<lowShift | next()<<highShift | head&(1<<highShift-1)
			if !yield(showing{uint64(own)<<clusterShift | uint64(item), met}) {
				return
			}
		}
	}
}

// mostSorted is how many comparisons are held at once, more or less, while they are put in order.
const mostSorted = 500_000

// ordered walks over comparisons with entrants by their places, in the order of the names of their clusters, of their items, of their
// kinds and of the two. Names are given as places in these orders.
func (c *Contest) ordered(l *showings, place []uint32, mostAtOnce int) iter.Seq[showing] {
	cluster, item, kind := c.Known.ByNature(), c.Known.ByLength(), c.kinds.ByText()
	parts := uint64(l.n/mostAtOnce + 1)
	return func(yield func(showing) bool) {
		var part []showing
		for p := range parts {
			part = part[:0]
			for s := range l.all {
				to := cluster[s.cluster()]
				if uint64(to)*parts/uint64(len(cluster)) == p {
					part = append(part, newShowing(to, item[s.item()], kind[s.kind()], uint16(place[s.first()]), uint16(place[s.second()]),
						s.result()))
				}
			}
			slices.SortFunc(part, func(x, y showing) int { return cmp.Or(cmp.Compare(x.about, y.about), cmp.Compare(x.met, y.met)) })
			for _, s := range part {
				if !yield(s) {
					return
				}
			}
		}
	}
}
