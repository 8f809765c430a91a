package pairs

import (
	"iter"
	"math"
)

// items is the field on which every two items may meet, once. A part of all pairs is played like a tournament: in every
// round each item meets one other (one sits out where their number is odd), and all rounds together are all pairs. So after
// any number of pairs the items have met almost equally often, and after two rounds all are connected.
type items struct {
	n     int64
	count int64
	every bool    // every pair, in the order of combinations
	who   shuffle // the items in random order
	round shuffle // the rounds after the second in random order
}

func newItems(d Design) *items {
	f := &items{n: d.Slots}
	all := choose2(f.n)
	switch d.Pick {
	case All:
		f.count = all
	case Sample:
		f.count = min(d.N, all)
	case PerItem:
		f.count = all
		if d.N < f.n-1 {
			f.count = d.N * (f.n / 2)
		}
	}
	f.every = f.count == all
	f.who = newShuffle(f.n, d.Seed, streamItems, 0)
	f.round = newShuffle(f.ring()-2, d.Seed, streamRounds, 0)
	return f
}

// ring returns the number of rounds, and of items on the ring; with an even number one more is apart.
func (f *items) ring() int64 { return f.n - 1 + f.n%2 }

func (f *items) rows() int64 { return f.count }

func (f *items) at(row int64) meeting {
	low, high := f.two(row)
	return meeting{low: low, high: high, odd: row%2 == 1}
}

func (f *items) two(row int64) (low, high int64) {
	if f.every {
		return combination(f.n, row)
	}
	ring, perRound := f.ring(), f.n/2
	round, game := row/perRound, row%perRound
	if round >= 2 { // the first two are neighbours, which connects all items
		round = 2 + f.round.at(round-2)
	}
	// Two items meet in the round that is the sum of their places; half the sum, on a ring of odd size, is their middle.
	middle := round
	if round%2 == 1 {
		middle += ring
	}
	middle = middle / 2 % ring
	one, other := middle, f.n-1 // the middle meets the one that is apart
	if f.n%2 == 1 {
		game++ // or sits out
	}
	if game > 0 {
		one, other = (middle+game)%ring, (middle-game+ring)%ring
	}
	one, other = f.who.at(one), f.who.at(other)
	return min(one, other), max(one, other)
}

func (f *items) on(slot int64) iter.Seq2[int64, meeting] {
	return func(yield func(int64, meeting) bool) {
		if slot != 0 {
			return
		}
		for row := range f.count {
			if !yield(row, f.at(row)) {
				return
			}
		}
	}
}

// combination returns the k-th unordered pair of n in the order 01, 02, …, 12, 13, …
func combination(n, k int64) (low, high int64) {
	before := func(i int64) int64 { return i * (2*n - i - 1) / 2 } // pairs whose low is less than i
	b := float64(2*n - 1)
	low = int64((b - math.Sqrt(max(0, b*b-8*float64(k)))) / 2)
	low = min(max(low, 0), n-2)
	for low > 0 && before(low) > k {
		low--
	}
	for before(low+1) <= k {
		low++
	}
	return low, low + 1 + k - before(low)
}
