package stats

import (
	"fmt"
	"math"
)

// SirtOptions are the settings of the compatibility fit.
type SirtOptions struct {
	Eps        float64 // pulls every score this far away from its extremes
	NoOrder    bool    // leave the order effect at 0
	NoTies     bool    // drop ties, and the tie parameter with them
	Iterations int     // at most
	Settled    float64 // stop when no parameter moved further
}

// DefaultSirt are the settings that pairwise comparison software uses by default.
func DefaultSirt() SirtOptions { return SirtOptions{Eps: 0.3, Iterations: 100, Settled: 1e-4} }

// SirtFit is what the compatibility fit found. Its errors ignore that the strengths are estimated together, its strengths
// are shrunk, and it may have stopped before its maximum: use it to compare with earlier tables, and [FitBT] to know.
type SirtFit struct {
	Theta, SE   []float64
	Order, Tie  float64
	OrderSE     Number
	TieSE       Number
	Reliability Number
	Separation  Number // sqrt(var(theta) / mean(se^2))
	Iterations  int
}

// FitSirt repeats the algorithm of the R package sirt (function btm): epsilon-adjusted scores, an order effect and a tie
// parameter estimated by default, diagonal Newton steps taken at once and trimmed ever more.
func FitSirt(t *Tally, o SirtOptions) (*SirtFit, error) {
	if t.items < 2 || o.Iterations < 1 || !(o.Eps >= 0) {
		return nil, fmt.Errorf("fit as sirt: %d items, %d iterations, eps %g", t.items, o.Iterations, o.Eps)
	}
	s := &sirt{o: o, cells: t.cells()}
	if o.NoTies {
		s.delta = noTies
		for k := range s.cells {
			s.cells[k].tie = 0
		}
	} else {
		s.delta = -1
	}
	if err := s.start(t.items); err != nil {
		return nil, err
	}
	trim := 1.0
	for step := 1; step <= o.Iterations; step++ {
		trim *= 0.98
		s.fit.Iterations = step
		if s.step(trim) <= o.Settled {
			break
		}
	}
	return s.result(), nil
}

// noTies is a tie parameter so small that ties have no probability.
const noTies = -99

// sirt is the state of the compatibility fit.
type sirt struct {
	o          SirtOptions
	cells      []cell
	score      []float64
	theta      []float64
	eta, delta float64
	info       []float64
	fit        SirtFit
}

// start sets the adjusted scores and the first strengths.
func (s *sirt) start(items int) error {
	s.score, s.info = make([]float64, items), make([]float64, items)
	played := make([]float64, items)
	for _, c := range s.cells {
		s.score[c.i] += c.score()
		s.score[c.j] += c.n() - c.score()
		played[c.i] += c.n()
		played[c.j] += c.n()
	}
	s.theta = make([]float64, items)
	for i, n := range played {
		if n == 0 {
			return fmt.Errorf("fit as sirt: item %d was never compared", i)
		}
		s.score[i] = s.o.Eps + (n-2*s.o.Eps)*s.score[i]/n
		if s.score[i] <= 0 || s.score[i] >= n {
			return fmt.Errorf("fit as sirt: item %d won all or nothing and eps is 0", i)
		}
		p := (s.score[i]/n + 0.1) / 1.2
		s.theta[i] = math.Log(p / (1 - p))
	}
	center(s.theta)
	return nil
}

// step moves every parameter once and returns the largest move.
func (s *sirt) step(trim float64) float64 {
	grad := make([]float64, len(s.theta))
	copy(grad, s.score)
	for i := range s.info {
		s.info[i] = 1e-20
	}
	var orderGrad, orderInfo, tieGrad, tieInfo float64
	for _, c := range s.cells {
		n := c.n()
		first, second, tie := sirtChances(s.theta[c.i], s.theta[c.j], s.eta, s.delta)
		up, down := first+tie/2, second+tie/2
		grad[c.i] -= n * up
		grad[c.j] -= n * down
		own := n * (first*(1-up) + tie/2*(0.5-up))
		s.info[c.i] += own
		s.info[c.j] += n * (second*(1-down) + tie/2*(0.5-down))
		orderGrad += c.score() - n*up
		orderInfo += own
		tieGrad += c.tie - n*tie
		tieInfo += n * tie * (1 - tie)
	}
	moved := s.stepOthers(trim, orderGrad, orderInfo, tieGrad, tieInfo)
	before := append([]float64(nil), s.theta...)
	for i := range s.theta {
		s.theta[i] += within(grad[i]/s.info[i], trim)
	}
	center(s.theta)
	for i := range s.theta {
		moved = max(moved, math.Abs(s.theta[i]-before[i]))
	}
	return moved
}

// stepOthers moves the order effect and the tie parameter.
func (s *sirt) stepOthers(trim, orderGrad, orderInfo, tieGrad, tieInfo float64) float64 {
	moved := 0.0
	s.fit.OrderSE, s.fit.TieSE = Undefined("the order effect was held"), Undefined("the tie parameter was held")
	if !s.o.NoTies {
		by := within(tieGrad/tieInfo, trim)
		s.delta += by
		s.fit.TieSE = Known(1 / math.Sqrt(tieInfo))
		moved = max(moved, math.Abs(by))
	}
	if !s.o.NoOrder {
		by := within(orderGrad/orderInfo, trim)
		s.eta += by
		s.fit.OrderSE = Known(1 / math.Sqrt(orderInfo))
		moved = max(moved, math.Abs(by))
	}
	return moved
}

// sirtChances are the probabilities of the three results.
func sirtChances(a, b, eta, delta float64) (first, second, tie float64) {
	first, second, tie = math.Exp(a+eta), math.Exp(b), math.Exp(delta+(a+b+eta)/2)
	all := first + second + tie
	return first / all, second / all, tie / all
}

func within(x, bound float64) float64 { return max(-bound, min(bound, x)) }

func (s *sirt) result() *SirtFit {
	f := s.fit
	f.Theta, f.Order, f.Tie = s.theta, s.eta, s.delta
	f.SE = make([]float64, len(s.info))
	noise := 0.0
	for i, v := range s.info {
		f.SE[i] = 1 / math.Sqrt(v)
		noise += 1 / v
	}
	f.Reliability = Reliability(f.Theta, f.SE)
	f.Separation = Known(math.Sqrt(variance(f.Theta) * float64(len(f.SE)) / noise))
	return &f
}
