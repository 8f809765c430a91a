package simulator

import (
	"math/bits"
	"math/rand/v2"
)

// mix spreads every bit of x over the whole word.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashBytes folds b into seed. It is the same in every process, which hash/maphash is not.
func hashBytes(seed uint64, b []byte) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return mix(h)
}

func hashString(seed uint64, t string) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for i := range len(t) {
		h = (h ^ uint64(t[i])) * 0x100000001b3
	}
	return mix(h)
}

// chance is a number in [0,1) that belongs to h.
func chance(h uint64) float64 { return float64(mix(h)>>11) / (1 << 53) }

// dice are the random choices that belong to h.
func dice(h uint64) *rand.Rand { return rand.New(rand.NewPCG(h, mix(h))) }

// permutation is a seeded order of the numbers below n that needs no memory: a Feistel network over the next even power
// of two, walked until it falls inside.
type permutation struct {
	n    uint64
	half uint
	seed uint64
	same bool // keep the order
}

const feistelRounds = 4

func newPermutation(n int, seed uint64) permutation {
	half := uint(bits.Len64(uint64(max(n-1, 1)))+1) / 2
	return permutation{n: uint64(n), half: half, seed: seed}
}

// at tells which number stands at place i.
func (p permutation) at(i int) int {
	if p.same {
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

// place tells where number v stands: at(place(v)) == v.
func (p permutation) place(v int) int {
	if p.same {
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

func (p permutation) round(x uint64, k int) uint64 {
	return mix(x^p.seed+uint64(k)*0x9e3779b97f4a7c15) & (1<<p.half - 1)
}
