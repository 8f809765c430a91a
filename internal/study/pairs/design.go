// Package pairs chooses the pairs that a compare stage judges, and which of the two is shown first.
//
// A schedule is a pure function of its design: every pair has a number, and every number leads to its pair without going through
// the others. So 500 pairs of a thousand million cost 500 steps and no memory, a walk can begin anywhere, and the same study
// gives the same pairs on every machine. What is chosen never depends on the answers: a pair whose answer is missing stays.
package pairs

import (
	"fmt"
	"math"
)

// Design is how a study declares the pairs of a compare stage.
type Design struct {
	Lanes   int64 // the contestants that meet on every slot; 0: the items meet each other
	Slots   int64 // what every contestant answered (an item, or one turn, branch and draw of it); without lanes, the items
	Pick    Pick
	N       int64 // with Sample, PerItem and PerLanePair
	Order   Order
	Reverse float64 // the share of the pairs that is asked again the other way round
	Seed    uint64

	Groups [][]int64 // without lanes: the items by group, each ascending; they meet within their group only. Nil: all may meet

	List   []Listed // with List as the pick: the pairs
	Stride int64    // with a list that names items: the slots of one item, which follow each other

	OrderSeed   *uint64 // of which is shown first; nil: Seed
	ReverseSeed *uint64 // of which pairs are asked again; nil: Seed
}

// seedOf returns a seed of its own, or the design's.
func (d Design) seedOf(own *uint64) uint64 {
	if own == nil {
		return d.Seed
	}
	return *own
}

// All returns how many pairs there are to choose from.
func (d Design) All() int64 {
	if d.Groups != nil {
		all := int64(0)
		for _, g := range d.Groups {
			all += choose2(int64(len(g)))
		}
		return all
	}
	if d.Lanes == 0 {
		return choose2(d.Slots)
	}
	return choose2(d.Lanes) * d.Slots
}

// Pick is how pairs are chosen.
type Pick string

// The ways to choose pairs. The zero value is All.
const (
	All Pick = "all" // every pair, in the order of combinations
	// N of the whole stage, balanced over lane pairs and over slots; a larger N keeps the pairs of a smaller one
	Sample      Pick = "sample"
	PerItem     Pick = "per_item"      // N on every slot, balanced over lane pairs; without lanes, N for every item
	PerLanePair Pick = "per_lane_pair" // N of every two lanes, balanced over slots
	List        Pick = "list"          // those of a list, in its order
)

// Order is which of a pair is shown first.
type Order string

// The orders. The zero value is Random.
const (
	Random    Order = "random"    // a coin for every pair
	Alternate Order = "alternate" // every second pair of the same two lanes is turned round; without lanes, every second pair
	Both      Order = "both"      // every pair is asked both ways
	AsListed  Order = "as-listed" // the one that is first in its list is shown first; of a list of pairs, as the list has it
)

// maxPairs keeps all arithmetic exact.
const maxPairs = 1 << 53

// check refuses a design that cannot be meant.
func (d Design) check() error {
	switch d.Pick {
	case All, List:
	case Sample, PerItem, PerLanePair:
		if d.N < 1 {
			return fmt.Errorf("pairs: %s: want at least 1, got %d", d.Pick, d.N)
		}
	default:
		return fmt.Errorf("pairs: no way to choose called %q", d.Pick)
	}
	switch d.Order {
	case Random, Alternate, AsListed:
	case Both:
		if d.Reverse != 0 {
			return fmt.Errorf("pairs: order both asks every pair both ways already: leave reverse out")
		}
	default:
		return fmt.Errorf("pairs: no order called %q", d.Order)
	}
	if !(d.Reverse >= 0 && d.Reverse <= 1) {
		return fmt.Errorf("pairs: reverse: want a share from 0 to 1, got %g", d.Reverse)
	}
	if d.twice() && (d.Order != AsListed || d.Reverse != 0) {
		return fmt.Errorf("pairs: the list has pairs both ways round: its order is as-listed, without reverse")
	}
	if d.Pick == PerLanePair && d.Lanes == 0 {
		return fmt.Errorf("pairs: per_lane_pair needs lanes: here items stand against each other")
	}
	return d.checkSize()
}

func (d Design) checkSize() error {
	if d.Lanes < 0 || d.Slots < 0 {
		return fmt.Errorf("pairs: %d lanes on %d slots", d.Lanes, d.Slots)
	}
	all := choose2(float64(d.Lanes)) * float64(d.Slots)
	if d.Lanes == 0 {
		all = choose2(float64(d.Slots))
	}
	if all > maxPairs {
		return fmt.Errorf("pairs: %.3g possible pairs are more than can be counted exactly: compare fewer items", all)
	}
	return nil
}

// choose2 returns the number of unordered pairs of n.
func choose2[T int64 | float64](n T) T {
	if n < 2 {
		return 0
	}
	return n * (n - 1) / 2
}

// again returns how many of n pairs are asked a second time; a half is rounded to the even number.
func (d Design) again(n int64) int64 {
	if d.Order == Both {
		return n
	}
	return min(n, int64(math.RoundToEven(float64(n)*d.Reverse)))
}
