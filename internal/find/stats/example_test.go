package stats_test

import (
	"fmt"

	"assay/internal/find/stats"
)

// The interval of a share: 8 of 10 answers are right.
func ExampleWilson() {
	i := stats.Wilson(8, 10, 0.95)
	fmt.Printf("%.3f to %.3f\n", i.Low, i.High)
	// Output: 0.490 to 0.943
}

// Nine items changed for the worse and one for the better: is that chance?
func ExampleNewMcNemar() {
	fmt.Printf("p = %.4f\n", stats.NewMcNemar(9, 1).Exact.Value)
	// Output: p = 0.0215
}

// Three tests at once, corrected together.
func ExampleHolm() {
	p, err := stats.Holm([]float64{0.01, 0.04, 0.03})
	fmt.Printf("%.2f %v\n", p, err)
	// Output: [0.03 0.06 0.06] <nil>
}

// Strengths of three items from comparisons of two.
func ExampleFitBT() {
	t := stats.NewTally(3)
	for _, c := range []struct {
		first, second int
		times         float64
	}{{0, 1, 3}, {1, 0, 1}, {1, 2, 3}, {2, 1, 1}, {0, 2, 3}, {2, 0, 1}} {
		if err := t.Count(c.first, c.second, stats.FirstWon, c.times); err != nil {
			fmt.Println(err)
		}
	}
	fit, err := stats.FitBT(t, stats.BTOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", fit.Theta[0]-fit.Theta[2])
	// Output: 1.51
}
