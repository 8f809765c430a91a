package adaptive

import (
	"errors"
	"math"
	"slices"

	"assay/internal/find/stats"
)

// Look is the analysis of all valid verdicts so far.
type Look struct {
	Theta    []float64 // strengths, mean 0
	SE       []float64 // against their mean
	Clusters int
	Pairs    []Pair // all, in lane order
	Order    stats.Number
	LogNu    stats.Number
	// Finite is false where some lane wins or loses all of its comparisons: strengths are shrunken then, and have no
	// intervals.
	Finite bool
	Thin   bool    // a lane has hardly been compared: nothing is claimed, and there are no intervals
	Effect float64 // by how much the clusters widen errors, as a factor of variances
	// Misfit is the pair whose own comparisons depart most from the strengths; zero: none can be named.
	Misfit Misfit

	covariance [][]float64 // of strengths against their mean, model-based
}

// Pair is the result of a look for two lanes.
type Pair struct {
	I, J        int
	Difference  float64 // of strengths
	Variance    float64
	P           float64
	Information float64 // about the difference, from one more comparison, on the scale of 1/Variance
}

// NewLook fits strengths with an order effect, and with Davidson's ties where there are any. Errors are the larger of
// cluster-robust and model-based ones: with few verdicts of a lane the first collapse.
func NewLook(g *stats.Grouped) (*Look, error) {
	fit, finite, err := fit(g.Tally())
	if err != nil {
		return nil, err
	}
	model, err := fit.Covariance()
	if err != nil {
		return nil, err
	}
	robust, err := fit.ClusterRobust(g, stats.CR1)
	if err != nil {
		return nil, err
	}
	lanes := len(fit.Theta)
	l := &Look{Theta: fit.Theta, SE: robust.SE(), Clusters: g.Clusters(), Order: fit.Order, LogNu: fit.LogNu, Finite: finite,
		Thin: thin(g.Tally())}
	for i, se := range model.SE() {
		l.SE[i] = max(l.SE[i], se)
	}
	for _, p := range Pairs(lanes) {
		r, m := square(robust.Difference(p[0], p[1])), square(model.Difference(p[0], p[1]))
		l.Pairs = append(l.Pairs, Pair{I: p[0], J: p[1], Difference: fit.Theta[p[0]] - fit.Theta[p[1]], Variance: max(r, m, 1e-12)})
	}
	l.Effect = Effect(lanes, robust.Difference, model.Difference)
	for k := range l.Pairs {
		p := &l.Pairs[k]
		p.Information = fit.Information(p.I, p.J) / l.Effect
		p.P = 1
		if test := stats.StudentTest(stats.Known(p.Difference), stats.Known(p.SE()), l.Clusters); test.OK && !l.Thin {
			p.P = test.Value
		}
	}
	l.covariance = make([][]float64, lanes)
	for i := range l.covariance {
		l.covariance[i] = make([]float64, lanes)
		for j := range lanes {
			l.covariance[i][j] = model.Between(i, j)
		}
	}
	l.Misfit = l.misfit(g.Tally())
	return l, nil
}

// Effect is by how much clusters widen errors, as a factor of variances: the median over all pairs, within reason.
func Effect(lanes int, robust, model func(i, j int) float64) float64 {
	var all []float64
	for _, p := range Pairs(lanes) {
		if m := model(p[0], p[1]); m > 0 {
			all = append(all, square(robust(p[0], p[1])/m))
		}
	}
	if len(all) == 0 {
		return 1
	}
	return min(max(median(all), 0.5), 4)
}

// SE returns the standard error of the difference.
func (p Pair) SE() float64 { return math.Sqrt(p.Variance) }

// fit returns the maximum of the likelihood; where there is none, a penalty keeps the strengths finite, which is on the
// safe side for directions.
func fit(t *stats.Tally) (fit *stats.BTFit, finite bool, err error) {
	o := stats.BTOptions{Order: true}
	if tied(t) {
		o.Ties = stats.Davidson
	}
	var none *stats.NoMaximum
	fit, err = stats.FitBT(t, o)
	if !errors.As(err, &none) {
		return fit, true, err
	}
	o.Ridge = 1
	if fit, err = stats.FitBT(t, o); errors.As(err, &none) { // the one shown first may win them all
		o.Order = false
		fit, err = stats.FitBT(t, o)
	}
	if errors.As(err, &none) {
		o.Ties = stats.HalfTies
		fit, err = stats.FitBT(t, o)
	}
	return fit, false, err
}

func tied(t *stats.Tally) bool {
	for i := range t.Items() {
		for j := range t.Items() {
			if _, _, ties := t.Of(i, j); ties > 0 {
				return true
			}
		}
	}
	return false
}

// thin reports whether a lane has fewer comparisons than a claim needs.
func thin(t *stats.Tally) bool {
	for i := range t.Items() {
		n := 0.0
		for j := range t.Items() {
			if i == j {
				continue
			}
			for _, of := range [][2]int{{i, j}, {j, i}} {
				won, lost, ties := t.Of(of[0], of[1])
				n += won + lost + ties
			}
		}
		if n < Least {
			return true
		}
	}
	return false
}

// Share returns what a lane wins of comparisons with all others evenly, half of them in each order, as the strengths
// have it. A tie is half.
func (l *Look) Share(lane int) float64 {
	order := 0.0
	if l.Order.OK {
		order = l.Order.Value
	}
	sum := 0.0
	for other := range l.Theta {
		if d := l.Theta[lane] - l.Theta[other]; other != lane {
			sum += (l.score(d+order) + l.score(d-order)) / 2
		}
	}
	return sum / float64(max(1, len(l.Theta)-1))
}

// score returns what the one with an advantage gets of a comparison on average, where a tie is half.
func (l *Look) score(advantage float64) float64 {
	nu := 0.0
	if l.LogNu.OK {
		nu = math.Exp(l.LogNu.Value)
	}
	won, lost := math.Exp(advantage/2), math.Exp(-advantage/2)
	return (won + nu/2) / (won + lost + nu)
}

// p returns the p-values by pair.
func (l *Look) p() []float64 {
	p := make([]float64, len(l.Pairs))
	for k := range p {
		p[k] = l.Pairs[k].P
	}
	return p
}

// Interval is that of a difference at the level of its look: it holds whenever the run stops.
func (l *Look) Interval(p Pair, level float64) stats.Interval {
	return l.interval(p.Difference, p.SE(), level)
}

// Strength returns the interval of a lane's strength at the level of its look.
func (l *Look) Strength(lane int, level float64) stats.Interval {
	return l.interval(l.Theta[lane], l.SE[lane], level)
}

func (l *Look) interval(value, se, level float64) stats.Interval {
	switch {
	case l.Thin:
		return stats.NoInterval("too few comparisons of one of them")
	case !l.Finite:
		return stats.NoInterval("one of them wins or loses all")
	}
	return stats.StudentInterval(value, se, 1-level, l.Clusters)
}

// Reordered returns the look with its lanes in another order: the lane that is the i-th then is the order[i]-th now.
func (l *Look) Reordered(order []int) *Look {
	out := *l
	out.Theta, out.SE, out.Pairs = make([]float64, len(order)), make([]float64, len(order)), nil
	out.covariance = make([][]float64, len(order))
	at := map[[2]int]Pair{}
	for _, p := range l.Pairs {
		at[[2]int{p.I, p.J}] = p
		p.I, p.J, p.Difference = p.J, p.I, -p.Difference
		at[[2]int{p.I, p.J}] = p
	}
	for i, from := range order {
		out.Theta[i], out.SE[i] = l.Theta[from], l.SE[from]
		for _, other := range order {
			out.covariance[i] = append(out.covariance[i], l.covariance[from][other])
		}
		if l.Misfit.I == from {
			out.Misfit.I = i
		}
		if l.Misfit.J == from {
			out.Misfit.J = i
		}
	}
	for _, p := range Pairs(len(order)) {
		moved := at[[2]int{order[p[0]], order[p[1]]}]
		moved.I, moved.J = p[0], p[1]
		out.Pairs = append(out.Pairs, moved)
	}
	return &out
}

// narrow reports whether all strengths are known to within plus or minus a width.
func (l *Look) narrow(width, alpha float64) bool {
	if !l.Finite || l.Thin {
		return false
	}
	return !slices.ContainsFunc(l.SE, func(se float64) bool { return Critical(alpha, 1, l.Clusters)*se > width })
}

func median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

func square(x float64) float64 { return x * x }
