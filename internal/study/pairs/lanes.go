package pairs

import (
	"iter"
	"math/bits"
)

// lanes is the field on which every two lanes may meet on every slot.
type lanes struct {
	lanes int64
	pairs int64 // of two lanes
	slots int64
	per   int64 // PerItem: lane pairs on a slot; 0: any other way
	every bool  // every lane pair on every slot, in plain order
	count int64
	seed  uint64
	slot  shuffle // slots in random order
	order shuffle // lane pairs in random order
	deal  deal    // lane pairs to slots
}

func newLanes(d Design) *lanes {
	l := &lanes{lanes: d.Lanes, pairs: choose2(d.Lanes), slots: d.Slots, seed: d.Seed}
	all := l.pairs * l.slots
	switch d.Pick {
	case All:
		l.count = all
	case Sample:
		l.count = min(d.N, all)
	case PerItem:
		l.per = min(d.N, l.pairs)
		l.count = l.per * l.slots
	case PerLanePair:
		l.count = min(d.N, l.slots) * l.pairs
	}
	l.every = l.count == all
	l.slot = newShuffle(l.slots, d.Seed, streamSlots, 0)
	l.order = newShuffle(l.pairs, d.Seed, streamLanePairs, 0)
	l.deal = newDeal(l.pairs, l.slots)
	return l
}

func (l *lanes) rows() int64 { return l.count }

func (l *lanes) at(row int64) meeting {
	switch {
	case l.every:
		return l.meet(row/l.pairs, row%l.pairs, row/l.pairs)
	case l.per > 0:
		return l.perSlot(row/l.per, row%l.per)
	}
	return l.dealt(l.slot.at(l.deal.place(row)), row)
}

// dealt returns the meeting of a row on its slot.
func (l *lanes) dealt(slot, row int64) meeting {
	return l.meet(slot, l.order.at(row%l.pairs), row/l.pairs)
}

func (l *lanes) on(slot int64) iter.Seq2[int64, meeting] {
	return func(yield func(int64, meeting) bool) {
		if slot < 0 || slot >= l.slots || l.pairs == 0 {
			return
		}
		place, per := l.slot.place(slot), l.pairs
		if l.per > 0 {
			per = l.per
		}
		for column := range per {
			if l.every || l.per > 0 {
				if row := slot*per + column; row < l.count && !yield(row, l.at(row)) {
					return
				}
			} else if row := l.deal.row(place, column); row < l.count && !yield(row, l.dealt(slot, row)) {
				return
			}
		}
	}
}

// deal goes round the lane pairs and round the slots at the same time, one step on each for every row. So both are used
// evenly after any number of rows. Where the two rounds would begin to repeat themselves, the slots move on by one more.
type deal struct {
	pairs, slots int64
	common       int64 // the greatest common divisor
	period       int64 // laps over the lane pairs until the slots begin again
	inverse      int64 // of pairs/common, modulo period
}

func newDeal(pairs, slots int64) deal {
	if pairs == 0 || slots == 0 {
		return deal{}
	}
	d := deal{pairs: pairs, slots: slots, common: gcd(pairs, slots)}
	d.period = slots / d.common
	d.inverse = invert(pairs/d.common%d.period, d.period)
	return d
}

// place returns the slot of a row, as a place in the random order of slots.
func (d *deal) place(row int64) int64 {
	return (row%d.slots + row/d.pairs/d.period) % d.slots
}

// row returns the row in which a lane pair meets on a slot.
func (d *deal) row(place, column int64) int64 {
	ahead := ((place-column)%d.slots + d.slots) % d.slots
	shift := ahead % d.common
	lap := multiply(ahead/d.common, d.inverse, d.period)
	return (shift*d.period+lap)*d.pairs + column
}

// invert returns the inverse of a modulo m, to which it has no common divisor.
func invert(a, m int64) int64 {
	x, y, r, s := int64(1), int64(0), a, m
	for s != 0 {
		q := r / s
		x, y, r, s = y, x-q*y, s, r-q*s
	}
	return (x%m + m) % m
}

// multiply returns a*b modulo m.
func multiply(a, b, m int64) int64 {
	high, low := bits.Mul64(uint64(a%m), uint64(b))
	return int64(bits.Rem64(high, low, uint64(m)))
}

// perSlot deals the lane pairs out to the slots like cards, a new order for every deal that comes out even, so that each slot
// gets different ones, all are used equally often, and no two always meet on the same slot.
func (l *lanes) perSlot(slot, k int64) meeting {
	place := l.slot.place(slot)
	even := l.pairs / gcd(l.pairs, l.per) // slots after which all lane pairs were used equally often
	order := newShuffle(l.pairs, l.seed, streamLanePairs, uint64(place/even))
	card := (place%even*l.per + k) % l.pairs
	return l.meet(slot, order.at(card), (place*l.per+k)/l.pairs)
}

// meet returns the meeting of a lane pair on a slot, which is the lap-th of these two lanes.
func (l *lanes) meet(slot, pair, lap int64) meeting {
	low, high := combination(l.lanes, pair)
	return meeting{slot: slot, low: low, high: high, odd: (lap+pair)%2 == 1}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
