package stats

import (
	"fmt"
	"math"
)

// EloOptions are the settings of an Elo rating: what a surprise is worth, where everybody starts, and how many points
// make odds of ten to one.
type EloOptions struct {
	K, Start, Scale float64
}

// DefaultElo is K 32 from 1500 on the 400 scale.
func DefaultElo() EloOptions { return EloOptions{K: 32, Start: 1500, Scale: 400} }

func (o EloOptions) check() error {
	if !(o.K > 0) || !(o.Scale > 0) || !Known(o.Start).OK {
		return fmt.Errorf("rate by Elo: K %g, start %g, scale %g", o.K, o.Start, o.Scale)
	}
	return nil
}

// EloExpected returns the score that an item of one rating is expected to make against another.
func EloExpected(rating, other, scale float64) float64 {
	return 1 / (1 + math.Exp((other-rating)*math.Ln10/scale))
}

// Elo rates the items by the comparisons in their order. The order matters: models do not change between comparisons,
// so prefer [FitBT], or the mean over orders.
func Elo(items int, p Pairs, o EloOptions) ([]float64, error) {
	if err := checkElo(items, p, o); err != nil {
		return nil, err
	}
	ratings := o.opening(items)
	for k := range p.Result {
		p.rate(k, ratings, o)
	}
	return ratings, nil
}

func checkElo(items int, p Pairs, o EloOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	for k := range p.Result {
		if err := p.row(k, items); err != nil {
			return err
		}
	}
	return nil
}

func (o EloOptions) opening(items int) []float64 {
	ratings := make([]float64, items)
	for i := range ratings {
		ratings[i] = o.Start
	}
	return ratings
}

// rate plays comparison k.
func (p Pairs) rate(k int, ratings []float64, o EloOptions) {
	first, second := p.First[k], p.Second[k]
	gain := o.K * (p.Result[k].Score() - EloExpected(ratings[first], ratings[second], o.Scale))
	ratings[first] += gain
	ratings[second] -= gain
}

// EloRuns are ratings over several orders of the same comparisons.
type EloRuns struct {
	Runs int
	Mean []float64
	SD   []Number // spread over orders: not an error of the rating
}

// EloShuffled rates along so many random orders.
func EloShuffled(items int, p Pairs, o EloOptions, runs int, seed uint64) (*EloRuns, error) {
	if err := checkElo(items, p, o); err != nil {
		return nil, err
	}
	return eloRuns(items, runs, p.Len(), func(run int, ratings []float64, order []uint32) {
		copy(ratings, o.opening(items))
		permutation(stream(seed, run), order)
		for _, k := range order {
			p.rate(int(k), ratings, o)
		}
	})
}

// EloTallied is EloShuffled of comparisons that are counted, each as often as the tally has it, sorted before they are shuffled.
func EloTallied(t *Tally, o EloOptions, runs int, seed uint64) (*EloRuns, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var kinds Pairs
	var times []int // of each kind
	for k, n := range t.counts {
		if n > 0 {
			pair := k / int(results)
			kinds.Append(uint16(pair/t.items), uint16(pair%t.items), Result(k%int(results)))
			times = append(times, int(n))
		}
	}
	if kinds.Len() <= 1<<16 { // millions of comparisons of a few hundred kinds: half the memory
		return eloKinds[uint16](t.items, kinds, times, o, runs, seed)
	}
	return eloKinds[uint32](t.items, kinds, times, o, runs, seed)
}

// eloKinds rates along random orders of comparisons of some kinds, whose numbers are of type K.
func eloKinds[K uint16 | uint32](items int, kinds Pairs, times []int, o EloOptions, runs int, seed uint64) (*EloRuns, error) {
	n := 0
	for _, m := range times {
		n += m
	}
	return eloRuns(items, runs, n, func(run int, ratings []float64, order []K) {
		copy(ratings, o.opening(items))
		at := 0
		for k, m := range times {
			for end := at + m; at < end; at++ {
				order[at] = K(k)
			}
		}
		stream(seed, run).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, k := range order {
			kinds.rate(int(k), ratings, o)
		}
	})
}

// eloRuns collects the ratings of all runs; each may write an order of n comparisons.
func eloRuns[K uint16 | uint32](items, runs, n int, rate func(run int, ratings []float64, order []K)) (*EloRuns, error) {
	if runs < 1 {
		return nil, fmt.Errorf("rate by Elo: %d orders", runs)
	}
	ratings := make([][]float64, runs)
	for run := range ratings {
		ratings[run] = make([]float64, items)
	}
	replicate(runs, func() []K { return make([]K, n) }, func(order []K, run int) { rate(run, ratings[run], order) })
	out := &EloRuns{Runs: runs, Mean: make([]float64, items), SD: make([]Number, items)}
	column := make([]float64, runs)
	for i := range items {
		for run := range runs {
			column[run] = ratings[run][i]
		}
		out.Mean[i], out.SD[i] = mean(column), SD(column)
	}
	return out, nil
}

// EloResampled rates resamples of clusters, each along so many random orders: the ratings of each item over the
// resamples. Cluster k of the comparisons are those from starts[k] to before starts[k+1], or to the end. An item that a
// resample does not compare has no rating there.
func EloResampled(items int, p Pairs, starts []int, o EloOptions, orders, resamples int, seed uint64) ([]Replicates, error) {
	if err := checkElo(items, p, o); err != nil {
		return nil, err
	}
	if orders < 1 || resamples < 1 || len(starts) == 0 {
		return nil, fmt.Errorf("rate by Elo: %d orders of %d resamples of %d clusters", orders, resamples, len(starts))
	}
	values := make([][]Number, items)
	for i := range values {
		values[i] = make([]Number, resamples)
	}
	replicate(resamples, func() *eloSample { return &eloSample{} }, func(s *eloSample, n int) {
		r := stream(seed, n)
		s.drawn = s.drawn[:0]
		for range starts {
			k := r.IntN(len(starts))
			end := p.Len()
			if k+1 < len(starts) {
				end = starts[k+1]
			}
			for j := starts[k]; j < end; j++ {
				s.drawn = append(s.drawn, j)
			}
		}
		sums, met := make([]float64, items), make([]bool, items)
		for range orders {
			r.Shuffle(len(s.drawn), func(i, j int) { s.drawn[i], s.drawn[j] = s.drawn[j], s.drawn[i] })
			ratings := o.opening(items)
			for _, j := range s.drawn {
				p.rate(j, ratings, o)
				met[p.First[j]], met[p.Second[j]] = true, true
			}
			for i := range sums {
				sums[i] += ratings[i]
			}
		}
		for i := range values {
			if values[i][n] = Undefined("not compared"); met[i] {
				values[i][n] = Known(sums[i] / float64(orders))
			}
		}
	})
	out := make([]Replicates, items)
	for i := range out {
		out[i] = collect(values[i])
	}
	return out, nil
}

// eloSample is the buffer that resamples are drawn into.
type eloSample struct{ drawn []int }
