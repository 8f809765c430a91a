// Package dice is all that is random about the simulator, made from seeds: chances, ids and orders.
package dice

import (
	"math/rand/v2"
)

// Mix spreads every bit of x over the whole word.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// HashBytes folds b into seed. It is the same in every process, which hash/maphash is not.
func HashBytes(seed uint64, b []byte) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return Mix(h)
}

// Hash folds a text into seed, as HashBytes does.
func Hash(seed uint64, t string) uint64 {
	h := seed ^ 0xcbf29ce484222325
	for i := range len(t) {
		h = (h ^ uint64(t[i])) * 0x100000001b3
	}
	return Mix(h)
}

// Chance returns a number in [0,1) that belongs to h.
func Chance(h uint64) float64 { return float64(Mix(h)>>11) / (1 << 53) }

// New returns the random choices that belong to h.
func New(h uint64) *rand.Rand { return rand.New(rand.NewPCG(h, Mix(h))) }
