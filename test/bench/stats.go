package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"assay/internal/find/stats"
)

const (
	statsItems    = 200
	statsRows     = 100_000
	statsPrompts  = 500
	statsResample = 1000
)

// statsBench fits Bradley-Terry to comparisons of 200 items, with its errors, and resamples prompts, beside a copy of the same
// bytes.
func statsBench(context.Context, *bench) error {
	rng := rand.New(rand.NewPCG(3, 4))
	var p stats.Pairs
	cluster := make([]uint32, 0, statsRows)
	for k := range statsRows {
		i := rng.IntN(statsItems)
		j := (i + 1 + rng.IntN(statsItems-1)) % statsItems
		r := stats.SecondWon
		if rng.Float64() < 0.5+0.4*float64(i-j)/statsItems {
			r = stats.FirstWon
		}
		p.Append(uint16(i), uint16(j), r)
		cluster = append(cluster, uint32(k%statsPrompts))
	}
	grouped, err := stats.Group(statsItems, p, cluster)
	if err != nil {
		return err
	}
	var fit *stats.BTFit
	fitting := best(50, func() { fit, err = stats.FitBT(grouped.Tally(), stats.BTOptions{}) })
	if err != nil {
		return err
	}
	erring := best(20, func() { _, err = fit.Covariance() })
	if err != nil {
		return err
	}
	robust := best(20, func() { _, err = fit.ClusterRobust(grouped, stats.CR1) })
	if err != nil {
		return err
	}
	resampling := best(1, func() { _, err = stats.BootstrapBT(grouped, stats.BTOptions{}, statsResample, 1) })
	if err != nil {
		return err
	}
	into := make([]uint16, len(p.First))
	copying := best(5, func() { copy(into, p.First); copy(into, p.Second) })
	fmt.Printf("fit            %.2f ms for %d items (at most 5)\n", fitting.Seconds()*1e3, statsItems)
	fmt.Printf("errors         %.2f ms by the model, %.2f ms by cluster (at most 20)\n", erring.Seconds()*1e3, robust.Seconds()*1e3)
	fmt.Printf("bootstrap      %.2f s for %d resamples of %d prompts, %d comparisons (at most 5)\n", resampling.Seconds(), statsResample, statsPrompts, statsRows)
	fmt.Printf("memory copy    %.3f ms for the %d bytes that name who met\n", copying.Seconds()*1e3, 4*statsRows)
	return nil
}

// best returns the shortest of n times.
func best(n int, work func()) time.Duration {
	var out time.Duration
	for k := range n {
		start := time.Now()
		work()
		if took := time.Since(start); k == 0 || took < out {
			out = took
		}
	}
	return out
}
