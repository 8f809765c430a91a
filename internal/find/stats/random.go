package stats

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// stream is the generator of one replicate: its own for every replicate, so that the numbers do not depend on how many
// goroutines share the work.
func stream(seed uint64, replicate int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, scramble(uint64(replicate)+1)))
}

// scramble spreads neighbouring numbers over all 64 bits.
func scramble(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// replicate calls work(state, k) for k below n on all processors; each goroutine makes a state of its own.
func replicate[S any](n int, newState func() S, work func(S, int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			state := newState()
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				work(state, k)
			}
		})
	}
	group.Wait()
}

// resample draws n of n with replacement and counts how often each was drawn.
func resample(r *rand.Rand, times []uint32) {
	clear(times)
	for range times {
		times[r.Uint64N(uint64(len(times)))]++
	}
}

// permutation shuffles 0..len-1 into order.
func permutation(r *rand.Rand, order []int) {
	for i := range order {
		order[i] = i
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}
