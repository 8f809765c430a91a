package pairs

import (
	"fmt"
	"iter"
)

// Counted is a schedule in which each two contestants meet as often as a table has it. Their first so many meetings are always the same:
// a larger count adds to a smaller one. They go from slot to slot in random order, once on each; which is shown first goes by turns.
// Beyond that the slots come again in the same order, the other way round. It is safe for use by several goroutines at once.
type Counted struct {
	field *lanes
	order []int
}

// NewCounted returns the schedule of so many contestants on so many slots. Items meet each other on one slot.
func NewCounted(contestants, slots int64, seed uint64) (*Counted, error) {
	d := Design{Lanes: contestants, Slots: slots, Pick: PerLanePair, N: max(1, slots), Seed: seed}
	if err := d.checkSize(); err != nil {
		return nil, err
	}
	if contestants > maxCounted {
		return nil, fmt.Errorf("pairs: %d contestants are more than the %d that counts are kept of", contestants, maxCounted)
	}
	c := &Counted{field: newLanes(d)}
	rounds := newItems(Design{Slots: contestants, Pick: All, Seed: seed})
	rounds.every = false // every pair, and as a tournament
	for row := range rounds.count {
		low, high := rounds.two(row)
		c.order = append(c.order, int(number(contestants, low, high)))
	}
	return c, nil
}

// maxCounted is of how many contestants each two have a count.
const maxCounted = 400

// Most returns how often two contestants can meet: both ways round on every slot.
func (c *Counted) Most() int { return int(2 * c.field.slots) }

// Order returns the numbers of all pairs (01, 02, …, 12, 13, …) in the order of a tournament: after any number of them
// all contestants have met almost equally often, and after two rounds all are connected.
func (c *Counted) Order() []int { return c.order }

// On walks over the meetings on one slot, where each pair, by its number, meets so often in all.
func (c *Counted) On(slot int64, counts []int) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		f := c.field
		if slot < 0 || slot >= f.slots || f.pairs == 0 {
			return
		}
		place := f.slot.place(slot)
		for column := range f.pairs {
			number := f.order.at(column)
			row := f.deal.row(place, column)
			lap := row / f.pairs
			if lap >= int64(counts[number]) {
				continue
			}
			m := f.meet(slot, number, lap)
			p := Pair{Row: row, Slot: slot, First: m.low, Second: m.high}
			if m.odd {
				p.First, p.Second = p.Second, p.First
			}
			if !yield(p) {
				return
			}
			if f.slots+lap < int64(counts[number]) {
				p.First, p.Second, p.Again = p.Second, p.First, true
				if !yield(p) {
					return
				}
			}
		}
	}
}
