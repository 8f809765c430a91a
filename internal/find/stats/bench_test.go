package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// arena draws comparisons of items with normal strengths, half of the orders each way, one in ten a tie.
func arena(items, n int, seed uint64) Pairs {
	r := rand.New(rand.NewPCG(seed, 1))
	theta := make([]float64, items)
	for i := range theta {
		theta[i] = r.NormFloat64()
	}
	var p Pairs
	for range n {
		a, b := r.IntN(items), r.IntN(items-1)
		if b >= a {
			b++
		}
		result := SecondWon
		switch {
		case r.Float64() < 0.1:
			result = Tied
		case r.Float64() < logistic(theta[a]-theta[b]+0.2):
			result = FirstWon
		}
		p.Append(uint16(a), uint16(b), result)
	}
	return p
}

func tallyOf(tb testing.TB, items int, p Pairs) *Tally {
	tb.Helper()
	t := NewTally(items)
	if err := t.Add(p); err != nil {
		tb.Fatal(err)
	}
	return t
}

// BenchmarkMemoryCopy is the lower bound of the tally: reading and writing the same bytes.
func BenchmarkMemoryCopy(b *testing.B) {
	const n = 10_000_000
	from, to := make([]byte, 5*n), make([]byte, 5*n)
	b.SetBytes(5 * n)
	for b.Loop() {
		copy(to, from)
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkTally(b *testing.B) {
	const n = 10_000_000
	p, t := arena(200, n, 1), NewTally(200)
	b.SetBytes(5 * n)
	for b.Loop() {
		if err := t.Add(p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkElo(b *testing.B) {
	const n = 1_000_000
	p := arena(200, n, 1)
	for b.Loop() {
		if _, err := Elo(200, p, DefaultElo()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkFit(b *testing.B) {
	t := tallyOf(b, 200, arena(200, 100_000, 1))
	for name, o := range map[string]BTOptions{
		"plain": {}, "order": {Order: true}, "davidson": {Ties: Davidson}, "both": {Ties: Davidson, Order: true},
		"ridge": {Ridge: 1},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := FitBT(t, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkErrors(b *testing.B) {
	g := grouped(b, 200, 100_000, 500)
	fit, err := FitBT(g.Tally(), BTOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for name, of := range map[string]func() (*Covariance, error){
		"model": fit.Covariance, "sandwich": fit.Sandwich,
		"cluster": func() (*Covariance, error) { return fit.ClusterRobust(g, CR1) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := of(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func grouped(tb testing.TB, items, n, clusters int) *Grouped {
	tb.Helper()
	cluster := make([]uint32, n)
	for k := range cluster {
		cluster[k] = uint32(k % clusters)
	}
	g, err := Group(items, arena(items, n, 1), cluster)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// BenchmarkBootstrap is one thousand refits of 200 items over 500 prompts with 100,000 comparisons.
func BenchmarkBootstrap(b *testing.B) {
	g := grouped(b, 200, 100_000, 500)
	for name, o := range map[string]BTOptions{"plain": {}, "order": {Order: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				boot, err := BootstrapBT(g, o, 1000, 1)
				if err != nil {
					b.Fatal(err)
				}
				if se := boot.Strength(0).SE(); !se.OK || math.IsNaN(se.Value) {
					b.Fatal(se)
				}
			}
		})
	}
}
