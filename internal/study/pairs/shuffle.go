package pairs

import (
	"math"
	"math/bits"
)

// shuffle is a random order of 0..n-1 that is never written down: a Feistel network over a rectangle that just holds n,
// walked on until it comes back inside. Any place of it is reached at once, in both directions.
type shuffle struct {
	n, rows, cols uint64
	keys          [rounds]uint64
}

const rounds = 16 // with 8, some orders of five come 15% too often

func newShuffle(n int64, seed uint64, what stream, number uint64) shuffle {
	if n < 1 {
		return shuffle{}
	}
	s := shuffle{n: uint64(n)}
	s.rows = uint64(math.Ceil(math.Sqrt(float64(n))))
	s.cols = (s.n + s.rows - 1) / s.rows
	for i := range s.keys {
		s.keys[i] = seeded(seed, what, number, uint64(i))
	}
	return s
}

// at returns the value at place i.
func (s *shuffle) at(i int64) int64 {
	x := uint64(i)
	for {
		row, col := x/s.cols, x%s.cols
		for k := 0; k < rounds; k += 2 {
			row = forward(row, below(s.keys[k], col, s.rows), s.rows)
			col = forward(col, below(s.keys[k+1], row, s.cols), s.cols)
		}
		if x = row*s.cols + col; x < s.n {
			return int64(x)
		}
	}
}

// place returns the place of v: the inverse of at.
func (s *shuffle) place(v int64) int64 {
	x := uint64(v)
	for {
		row, col := x/s.cols, x%s.cols
		for k := rounds - 2; k >= 0; k -= 2 {
			col = forward(col, s.cols-below(s.keys[k+1], row, s.cols), s.cols)
			row = forward(row, s.rows-below(s.keys[k], col, s.rows), s.rows)
		}
		if x = row*s.cols + col; x < s.n {
			return int64(x)
		}
	}
}

// forward goes by steps, at most n of them, on a ring of n.
func forward(x, by, n uint64) uint64 {
	if x += by; x >= n {
		x -= n
	}
	return x
}

// below returns a number less than n that the key makes from x.
func below(key, x, n uint64) uint64 {
	high, _ := bits.Mul64(mix(key, x), n)
	return high
}

// stream keeps the random decisions of one seed apart.
type stream uint64

const (
	streamSlots stream = iota + 1
	streamLanePairs
	streamItems
	streamRounds
	streamCoin
	streamAgain
	streamGroups
)

// seeded makes one number from a seed, what it is for, and which of them it is.
func seeded(seed uint64, what stream, numbers ...uint64) uint64 {
	h := mix(seed, uint64(what))
	for _, x := range numbers {
		h = mix(h, x)
	}
	return h
}

// mix spreads two numbers over all 64 bits.
func mix(a, b uint64) uint64 {
	h := a ^ b*0x9e3779b97f4a7c15
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
