package checked

import (
	"math"
	"slices"

	"assay/internal/find/stats"
)

// Chance is whether a judge's verdicts say anything about people's labels: whether the slope of labels on verdicts is above 0.
type Chance struct {
	Slope, SE stats.Number
	P         stats.Number // one-sided, of a slope of 0
}

// Chance tests it.
func (s *Sample) Chance() Chance {
	lanes, _ := s.labelledLanes()
	all := s.raw()
	slope := func(all []sums) (float64, bool) {
		p := within(all, lanes)
		return p.yf / p.ff, p.ff > alike
	}
	b, ok := slope(all)
	if !ok || within(all, lanes).yy <= alike {
		none := stats.Undefined("the judge, or people, said the same of all")
		return Chance{none, none, none}
	}
	out := Chance{Slope: stats.Known(b)}
	squares, g := 0.0, float64(len(s.drawn()))
	for _, d := range s.drawn() {
		x, ok := slope(without(all, d))
		if !ok {
			out.SE = stats.Undefined("without one cluster the judge said the same of all")
			out.P = out.SE
			return out
		}
		squares += (x - b) * (x - b)
	}
	se := math.Sqrt((g - 1) / g * squares)
	switch {
	case se < alike && b > 0:
		out.SE, out.P = stats.Known(0), stats.Known(0)
	case se < alike:
		out.SE, out.P = stats.Known(0), stats.Known(1)
	default:
		out.SE = stats.Known(se)
		if out.P = stats.StudentTest(out.Slope, out.SE, len(s.drawn())); out.P.OK {
			if out.P.Value /= 2; b < 0 {
				out.P.Value = 1 - out.P.Value
			}
		}
	}
	return out
}

// raw returns the sums of all labels by lane, with their weights as they are.
func (s *Sample) raw() []sums {
	all := make([]sums, s.lanes)
	for _, d := range s.drawn() {
		for l := range all {
			all[l] = all[l].plus(d.raw[l], 1)
		}
	}
	return all
}

// without returns sums less those of a cluster.
func without(all []sums, d drawn) []sums {
	rest := make([]sums, len(all))
	for l := range all {
		rest[l] = all[l].plus(d.raw[l], -1)
	}
	return rest
}

// Favour is by how much a judge says more for a lane than for all, among answers that people call alike.
type Favour struct {
	Lane      int
	Value, SE stats.Number
	P, Holm   stats.Number
}

// Favours tests whether a judge errs alike on all lanes: p of all together, and what it says more or less for each of the labelled ones.
func (s *Sample) Favours() (together stats.Number, lanes []Favour) {
	with, _ := s.labelledLanes()
	m, g := len(with), len(s.drawn())
	if m < 2 {
		return stats.Undefined("it takes two lanes"), nil
	}
	full := favours(s.raw(), with)
	covariance := make([]float64, m*m)
	for _, d := range s.drawn() {
		moved := favours(without(s.raw(), d), with)
		for i := range m {
			moved[i] -= full[i]
		}
		for i := range m {
			for j := range m {
				covariance[i*m+j] += float64(g-1) / float64(g) * moved[i] * moved[j]
			}
		}
	}
	var p []float64
	for i, l := range with {
		f := Favour{Lane: l, Value: stats.Known(full[i]), SE: stats.Known(math.Sqrt(covariance[i*m+i]))}
		if f.P = stats.StudentTest(f.Value, f.SE, g); f.P.OK {
			p = append(p, f.P.Value)
		} else {
			p = append(p, 1)
		}
		lanes = append(lanes, f)
	}
	if adjusted, err := stats.Holm(p); err == nil {
		for i := range lanes {
			if lanes[i].Holm = lanes[i].P; lanes[i].P.OK {
				lanes[i].Holm = stats.Known(adjusted[i])
			}
		}
	}
	return favoursAny(full, covariance, m, g), lanes
}

// FavoursSome returns what a judge says more for some lanes than for the others, among answers that people call alike.
func (s *Sample) FavoursSome(some func(lane int) bool) (value, se stats.Number) {
	with, _ := s.labelledLanes()
	apart := func(all []sums) stats.Number {
		var own, rest stats.Total
		for i, x := range favours(all, with) {
			if some(with[i]) {
				own.Add(x)
			} else {
				rest.Add(x)
			}
		}
		if own.N == 0 || rest.N == 0 {
			return stats.Undefined("no such lanes, or no others")
		}
		return stats.Known(own.Sum/float64(own.N) - rest.Sum/float64(rest.N))
	}
	value = apart(s.raw())
	squares, g := 0.0, float64(len(s.drawn()))
	for _, d := range s.drawn() {
		moved := apart(without(s.raw(), d)).Value - value.Value
		squares += (g - 1) / g * moved * moved
	}
	return value, stats.Known(math.Sqrt(squares))
}

// favours returns the judge's mean word on each lane, less what follows from people's labels, less the mean of all lanes.
func favours(all []sums, lanes []int) []float64 {
	p, out, mean := within(all, lanes), make([]float64, len(lanes)), 0.0
	follows := 0.0
	if p.yy > alike {
		follows = p.yf / p.yy
	}
	for i, l := range lanes {
		out[i] = (all[l].f - follows*all[l].y) / all[l].n
		mean += out[i] / float64(len(lanes))
	}
	for i := range out {
		out[i] -= mean
	}
	return out
}

// favoursAny returns the p-value that the judge favours no lane.
func favoursAny(full, covariance []float64, m, clusters int) stats.Number {
	if clusters <= m {
		return stats.Undefined("no test of %d lanes with %d labelled clusters", m, clusters)
	}
	some := make([]float64, 0, (m-1)*(m-1))
	for i := range m - 1 {
		some = append(some, covariance[i*m:i*m+m-1]...)
	}
	square, ok := stats.Quadratic(some, full[:m-1])
	if !ok {
		return stats.Undefined("the judge's errors do not vary")
	}
	over, under := m-1, clusters-m+1
	return stats.FisherTail(square*float64(under)/float64((clusters-1)*over), over, under)
}

// ErrorRate returns on which share of answers judge and people differ; of scores, their mean distance. A share has Wilson's interval for
// the labels that would have its variance, a distance Student's.
func (s *Sample) ErrorRate(scale Scale, level float64) (stats.Number, stats.Interval) {
	return s.mean(scale, level, func(l Label) float64 { return math.Abs(l.Verdict - l.Value) })
}

// Bias returns by how much the judge's word exceeds people's.
func (s *Sample) Bias(level float64) (stats.Number, stats.Interval) {
	return s.mean(Scale{}, level, func(l Label) float64 { return l.Verdict - l.Value })
}

// OnLane returns the labels on one lane alone.
func (s *Sample) OnLane(lane int) *Sample {
	return s.With(slices.DeleteFunc(slices.Clone(s.labels), func(l Label) bool { return l.Lane != lane }))
}

// Labelled counts labels, and the clusters that have any.
func (s *Sample) Labelled() (labels, clusters int) { return len(s.labels), len(s.drawn()) }

// mean returns the weighted mean of something over all labels, and its interval.
func (s *Sample) mean(scale Scale, level float64, of func(Label) float64) (stats.Number, stats.Interval) {
	if len(s.labels) == 0 {
		return stats.Undefined("no labels"), stats.NoInterval("no labels")
	}
	var all, weights float64
	byCluster := map[int]total{}
	for _, l := range s.labels {
		x, t := of(l), byCluster[l.Cluster]
		all, weights = all+l.Weight*x, weights+l.Weight
		byCluster[l.Cluster] = total{t.n + l.Weight, t.sum + l.Weight*x}
	}
	value, variance, g := all/weights, 0.0, float64(len(byCluster))
	for _, d := range s.drawn() {
		t := byCluster[d.cluster]
		moved := (all-t.sum)/(weights-t.n) - value
		variance += (g - 1) / g * moved * moved
	}
	if !scale.YesNo {
		return stats.Known(value), stats.StudentInterval(value, math.Sqrt(variance), level, len(byCluster))
	}
	effective := g
	if variance > 1e-15 && value > 0 && value < 1 {
		effective = min(value*(1-value)/variance, float64(len(s.labels)))
	}
	return stats.Known(value), stats.EffectiveInterval(value, effective, level, len(byCluster))
}

// Apart is what a judge says of the labelled answers on average, and of all answers: of a sample that was drawn as it is weighted, the two
// differ by chance alone.
type Apart struct {
	Labelled, All float64
	P             stats.Number // that they do
}

// Apart compares them over the lanes that have labels, leaving out labelled clusters one by one.
func (s *Sample) Apart() Apart {
	lanes, _ := s.labelledLanes()
	if len(lanes) == 0 {
		return Apart{P: stats.Undefined("no labels")}
	}
	labelled := func(all []sums) (sum float64) {
		for _, l := range lanes {
			sum += all[l].f / all[l].n / float64(len(lanes))
		}
		return sum
	}
	out, g, least := Apart{Labelled: labelled(s.raw())}, float64(len(s.drawn())), 0.0
	for _, l := range lanes {
		var all total
		for c := range len(s.verdicts) / s.lanes {
			all.n, all.sum = all.n+s.cluster(c)[l].n, all.sum+s.cluster(c)[l].sum
		}
		p := all.sum / all.n
		out.All += p / float64(len(lanes))
		least += max(0, p*(1-p)) / g / float64(len(lanes)*len(lanes)) // a few labels that are all alike are no certainty
	}
	squares := 0.0
	for _, d := range s.drawn() {
		moved := labelled(without(s.raw(), d)) - out.Labelled
		squares += (g - 1) / g * moved * moved
	}
	out.P = stats.StudentTest(stats.Known(out.Labelled-out.All), stats.Known(math.Sqrt(max(squares, least))), len(s.drawn()))
	return out
}

// State is how far a judge was checked.
type State string

// The states.
const (
	Unchecked    State = "unchecked"             // no item that was drawn has its labels
	BeingChecked State = "being checked"         // too few, or the first planned look is not reached
	Untellable   State = "cannot be told"        // people said the same of all
	NoBetter     State = "no better than chance" // not shown to be
	FavoursLanes State = "favours lanes"
	Checked      State = "checked"
)

// FewestChecked is how many labelled clusters a judge's state needs at least, where there are as many.
const FewestChecked = 20

// Significant is the p-value of a test that decides about a state, and Unlike that of labels which were not drawn as they declare.
const (
	Significant = 0.05
	Unlike      = 0.01
)

// State returns how far the judge was checked, if that takes so many labelled clusters. Reached: the first planned look is.
func (s *Sample) State(reached bool, fewest int) State {
	g := len(s.drawn())
	switch chance := s.Chance(); {
	case g == 0:
		return Unchecked
	case g < fewest || !reached:
		return BeingChecked
	case !chance.Slope.OK && s.constant():
		return NoBetter
	case !chance.Slope.OK:
		return Untellable
	case !chance.P.OK || chance.P.Value > Significant:
		return NoBetter
	}
	if p, _ := s.Favours(); p.OK && p.Value <= Significant {
		return FavoursLanes
	}
	return Checked
}

// constant reports whether the judge said the same of all labelled answers of each lane, while people did not.
func (s *Sample) constant() bool {
	lanes, _ := s.labelledLanes()
	p := within(s.raw(), lanes)
	return p.ff <= alike && p.yy > alike
}
