package trials

import (
	"runtime"
	"sync"

	"assay/internal/study/adaptive"
)

// Sum sums the results of many studies.
type Sum struct {
	Studies          int
	False, Reached   int // studies
	Spent            int // comparisons in all
	Covered, Between int // intervals
	Known            int // pairs whose direction is known, in all
}

// Many runs so many studies, each with its own luck. The same seed gives the same sum.
func Many(s Setting, p adaptive.Plan, rule Rule, studies int, seed uint64) (Sum, error) {
	return sumOf(studies, seed, func(luck uint64) (Outcome, error) { return Study(s, p, rule, luck) })
}

// sumOf adds up so many studies.
func sumOf(studies int, seed uint64, study func(luck uint64) (Outcome, error)) (Sum, error) {
	outcomes, errs := make([]Outcome, studies), make([]error, studies)
	var each sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		each.Go(func() {
			for k := range next {
				outcomes[k], errs[k] = study(seed<<32 + uint64(k))
			}
		})
	}
	for k := range studies {
		next <- k
	}
	close(next)
	each.Wait()
	sum := Sum{Studies: studies}
	for k, o := range outcomes {
		if errs[k] != nil {
			return sum, errs[k]
		}
		if o.False {
			sum.False++
		}
		if o.Reached {
			sum.Reached++
		}
		sum.Spent += o.Spent
		sum.Known += o.Known
		sum.Covered += o.Covered
		sum.Between += o.Between
	}
	return sum, nil
}

// Share returns a part of the studies.
func (s Sum) Share(n int) float64 { return float64(n) / float64(s.Studies) }

// MeanSpent returns what a study spends.
func (s Sum) MeanSpent() float64 { return float64(s.Spent) / float64(s.Studies) }

// Cover returns how many intervals hold the truth.
func (s Sum) Cover() float64 { return float64(s.Covered) / float64(s.Between) }
