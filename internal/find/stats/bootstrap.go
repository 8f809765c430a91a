package stats

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// FewClusters is the number below which cluster-robust formulae of strengths are not trusted and findings use the
// bootstrap.
const FewClusters = 40

// MostUndefined is the share of resamples that may lack a value before their spread is no estimate of the error.
const MostUndefined = 0.2

// Replicates are the values of one estimate over resamples.
type Replicates struct {
	Values    []float64 // of the resamples that have one, in their order
	Undefined int       // resamples without a value
}

// SE returns the standard deviation over resamples.
func (r Replicates) SE() Number { return SD(r.Values) }

// Interval returns the percentile interval (quantiles of type 7). Where so many resamples have no value that they could
// fill a whole tail, the bounds are unknown.
func (r Replicates) Interval(level float64) Interval {
	if !validLevel(level) {
		return NoInterval("%s", badLevel(level).Why)
	}
	if len(r.Values) == 0 {
		return NoInterval("no resample has a value")
	}
	tail := (1 - level) / 2
	if all := len(r.Values) + r.Undefined; float64(r.Undefined) > tail*float64(all) {
		return NoInterval("%d of %d resamples have no value", r.Undefined, all)
	}
	x := slices.Sorted(slices.Values(r.Values))
	return Between(sortedQuantile(x, tail), sortedQuantile(x, 1-tail))
}

// Student returns the estimate with the spread over resamples as its error, by Student's t of as many clusters as were
// resampled. Percentiles know nothing of how few clusters there were: of 6 to 30, they hold the truth in 83 to 93 of
// 100 studies.
func (r Replicates) Student(estimate Number, level float64, clusters int) Interval {
	if all := len(r.Values) + r.Undefined; float64(r.Undefined) > MostUndefined*float64(all) {
		return NoInterval("%d of %d resamples have no value", r.Undefined, all)
	}
	return tInterval(estimate, r.SE(), level, clusters-1)
}

// Bootstrap resamples n units with replacement and collects a statistic of the drawn indexes. The statistic is called
// from several goroutines at once.
func Bootstrap(n, resamples int, seed uint64, statistic func(drawn []int) Number) (Replicates, error) {
	if n < 1 || resamples < 1 {
		return Replicates{}, fmt.Errorf("bootstrap: %d resamples of %d units", resamples, n)
	}
	values := make([]Number, resamples)
	replicate(resamples, func() []int { return make([]int, n) }, func(drawn []int, k int) {
		r := stream(seed, k)
		for i := range drawn {
			drawn[i] = r.IntN(n)
		}
		values[k] = statistic(drawn)
	})
	return collect(values), nil
}

// collect separates the resamples that have a value.
func collect(values []Number) Replicates {
	var out Replicates
	for _, v := range values {
		if v.OK {
			out.Values = append(out.Values, v.Value)
		} else {
			out.Undefined++
		}
	}
	return out
}

// stream returns the generator of one replicate: its own for every replicate, so that the numbers do not depend on how
// many goroutines share the work.
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
func permutation(r *rand.Rand, order []uint32) {
	for i := range order {
		order[i] = uint32(i)
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}
