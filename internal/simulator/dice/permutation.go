package dice

import "math/bits"

// Permutation is a seeded order of the numbers below n that needs no memory: a Feistel network over the next even power
// of two, walked until it falls inside.
type Permutation struct {
	n        uint64
	half     uint
	seed     uint64
	Identity bool // keep the order
}

const feistelRounds = 4

// NewPermutation returns the order of n numbers that belongs to a seed.
func NewPermutation(n int, seed uint64) Permutation {
	half := uint(bits.Len64(uint64(max(n-1, 1)))+1) / 2
	return Permutation{n: uint64(n), half: half, seed: seed}
}

// At returns the number at place i.
func (p Permutation) At(i int) int {
	if p.Identity {
		return i
	}
	x := uint64(i)
	for {
		l, r := x>>p.half, x&(1<<p.half-1)
		for k := range feistelRounds {
			l, r = r, l^p.round(r, k)
		}
		if x = l<<p.half | r; x < p.n {
			return int(x)
		}
	}
}

// Place returns the place of number v: At(Place(v)) == v.
func (p Permutation) Place(v int) int {
	if p.Identity {
		return v
	}
	x := uint64(v)
	for {
		l, r := x>>p.half, x&(1<<p.half-1)
		for k := feistelRounds - 1; k >= 0; k-- {
			l, r = r^p.round(l, k), l
		}
		if x = l<<p.half | r; x < p.n {
			return int(x)
		}
	}
}

func (p Permutation) round(x uint64, k int) uint64 {
	return Mix(x^p.seed+uint64(k)*0x9e3779b97f4a7c15) & (1<<p.half - 1)
}
