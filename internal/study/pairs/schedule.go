package pairs

import (
	"iter"
	"slices"
)

// Schedule is a design made ready. It is safe for use by several goroutines at once.
type Schedule struct {
	design Design
	field  field
	rows   int64   // unordered pairs
	again  int64   // of them, asked a second time
	picked shuffle // which rows those are
	twice  []int64 // or, of a list that has them both ways round, the rows
}

// Pair is one showing of two contestants, or of two items.
type Pair struct {
	Row    int64 // the number of the unordered pair, from 0; its second showing has the same
	Slot   int64 // on what they meet; 0 where items meet each other
	First  int64 // shown as A: the place of the lane, or of the item, in its list
	Second int64 // shown as B
	Again  bool  // the second showing of the pair, the other way round
}

// meeting is an unordered pair as a field arranges it.
type meeting struct {
	slot, low, high int64 // low < high, but in a list, which has them in its own order
	odd             bool  // every second one, for alternating
}

// field arranges unordered pairs under row numbers.
type field interface {
	rows() int64
	at(row int64) meeting
	on(slot int64) iter.Seq2[int64, meeting] // the rows that meet on a slot
}

// New makes a design ready. Fewer than two contestants have no pairs, which is no error.
func New(d Design) (*Schedule, error) {
	if d.Pick == "" {
		d.Pick = All
	}
	if d.Order == "" {
		d.Order = Random
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	s := &Schedule{design: d}
	switch {
	case d.Pick == List:
		l := newList(d)
		if s.field = l; d.twice() {
			s.twice = l.twice()
		}
	case d.Groups != nil:
		s.field = newGrouped(d)
	case d.Lanes == 0:
		s.field = newItems(d)
	default:
		s.field = newLanes(d)
	}
	s.rows = s.field.rows()
	s.again = max(d.again(s.rows), int64(len(s.twice)))
	s.picked = newShuffle(s.rows, d.seedOf(d.ReverseSeed), streamAgain, 0)
	return s, nil
}

// Len returns the number of showings.
func (s *Schedule) Len() int64 { return s.rows + s.again }

// Pairs returns the number of unordered pairs.
func (s *Schedule) Pairs() int64 { return s.rows }

// At is showing n, from 0 to below Len: first every pair once, then those that are asked again.
func (s *Schedule) At(n int64) Pair {
	switch {
	case n < s.rows:
		return s.once(n)
	case s.design.Order == Both:
		return s.turned(n - s.rows)
	case s.twice != nil:
		return s.turned(s.twice[n-s.rows])
	}
	return s.turned(s.picked.at(n - s.rows))
}

// All walks over the showings in the order of their numbers.
func (s *Schedule) All() iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for n := range s.Len() {
			if !yield(s.At(n)) {
				return
			}
		}
	}
}

// On walks over the showings on one slot, each second showing right behind its first: what can be judged as soon as the
// answers of that slot are there. It takes as many steps as there are lane pairs. Items meet each other on slot 0.
func (s *Schedule) On(slot int64) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for row, m := range s.field.on(slot) {
			p := s.showing(row, m)
			if !yield(p) {
				return
			}
			if s.repeats(row) && !yield(p.turned()) {
				return
			}
		}
	}
}

// repeats reports whether a row is asked again.
func (s *Schedule) repeats(row int64) bool {
	if s.twice != nil {
		_, found := slices.BinarySearch(s.twice, row)
		return found
	}
	return s.again == s.rows || s.again > 0 && s.picked.place(row) < s.again
}

// once returns the first showing of a row.
func (s *Schedule) once(row int64) Pair { return s.showing(row, s.field.at(row)) }

func (s *Schedule) showing(row int64, m meeting) Pair {
	turned := false
	switch s.design.Order {
	case Random:
		turned = seeded(s.design.seedOf(s.design.OrderSeed), streamCoin, uint64(m.slot), uint64(m.low), uint64(m.high))&1 == 1
	case Alternate:
		turned = m.odd
	}
	p := Pair{Row: row, Slot: m.slot, First: m.low, Second: m.high}
	if turned {
		p.First, p.Second = p.Second, p.First
	}
	return p
}

// turned returns the second showing of a row.
func (s *Schedule) turned(row int64) Pair { return s.once(row).turned() }

func (p Pair) turned() Pair {
	p.First, p.Second, p.Again = p.Second, p.First, true
	return p
}
