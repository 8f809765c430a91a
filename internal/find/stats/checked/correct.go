package checked

import (
	"math"

	"assay/internal/find/stats"
)

// FewestClusters is how many labelled clusters a corrected number needs at least.
const FewestClusters = 10

// fewestOfAKind is how many labels of the rarer kind it takes to learn from verdicts.
const fewestOfAKind = 3

// fewestDifferences is how many disagreements an error stands for at least: labels that all agree are no certainty.
const fewestDifferences = 2

// Use tells how the judge's verdicts may be used.
type Use string

// The uses.
const (
	JudgeHelps    Use = "corrected"      // verdicts make the error smaller
	JudgeNoHelp   Use = "labels only"    // the judge is constant, reversed or too weak
	FewOfAKind    Use = "too few"        // labels of the rarer kind to learn from verdicts
	AllLabelled   Use = "all labelled"   // people labelled every answer
	FewClusters   Use = "few clusters"   // with labels: nothing is corrected
	UsesAsDecided Use = "as was decided" // the caller has
)

// Options are how values are corrected.
type Options struct {
	Scale
	Level float64  // such as 0.95
	Share *float64 // of what the judge knows beyond the labels; nil: as the labels show
}

// Corrected is the values of lanes as people would see them.
type Corrected struct {
	Use                Use
	Share              float64      // of what the judge knows beyond the labels that is used
	Slope, R2          stats.Number // of labels on verdicts
	Clusters, Labelled int          // all, and those with labels
	Values             []Value      // by lane
	Differences        []Difference // of lanes with a value, the first with all later ones, then the second …
}

// Value is the mean of what people would say of a lane's answers.
type Value struct {
	Value, SE stats.Number
	Interval  stats.Interval
	Judge     stats.Number // the mean of the judge's verdicts
	Answers   int
	Labels    int
	Clusters  int     // with labels
	Differing float64 // disagreements among the labels, in steps
}

// Difference is by how much a lane's value exceeds another's.
type Difference struct {
	A, B      int
	Value, SE stats.Number
	Interval  stats.Interval
	Clusters  int
	P, Holm   stats.Number
	Differing float64
}

// Correct returns the values of all lanes. With labels in few clusters, or for lanes without labels, there are none.
func (s *Sample) Correct(o Options) *Corrected {
	lanes, clusters := s.labelledLanes()
	e := &estimate{s: s, o: o, all: make([]sums, s.lanes), verdicts: make([]total, s.lanes)}
	for _, l := range lanes {
		if len(s.drawn()) >= FewestClusters && clusters[l] >= 2 {
			e.lanes = append(e.lanes, l)
		}
	}
	e.sum()
	out := &Corrected{Clusters: e.clusters, Labelled: len(s.drawn()), Slope: stats.Undefined("no verdicts differ"),
		R2: stats.Undefined("no verdicts differ")}
	if p := within(e.all, e.lanes); p.ff > alike {
		out.Slope = stats.Known(p.yf / p.ff)
		out.R2 = stats.Undefined("no labels differ")
		if p.yy > nothing {
			out.R2 = stats.Known(p.yf * p.yf / (p.ff * p.yy))
		}
	}
	out.Use, out.Share = e.use()
	e.share = out.Share
	e.leaveOut()
	e.residuals()
	for l := range s.lanes {
		out.Values = append(out.Values, e.value(l, clusters[l]))
	}
	e.differences(out, clusters)
	return out
}

// estimate is the work on one sample.
type estimate struct {
	s        *Sample
	o        Options
	lanes    []int   // those with enough labels
	all      []sums  // of labels, by lane
	verdicts []total // by lane
	clusters int
	share    float64
	theta    []float64   // by lane
	v        [][]float64 // covariance, by place in lanes
	differ   []float64   // squares of residuals around their mean, by lane
	pairs    [][]float64 // the same of differences, by place in lanes
}

func (e *estimate) sum() {
	for _, d := range e.s.drawn() {
		for l := range e.all {
			e.all[l] = e.all[l].plus(d.scaled[l], 1)
		}
	}
	for i, t := range e.s.verdicts {
		v := &e.verdicts[i%e.s.lanes]
		v.n, v.sum = v.n+t.n, v.sum+t.sum
	}
	for c := range len(e.s.verdicts) / max(e.s.lanes, 1) {
		for _, t := range e.s.cluster(c) {
			if t.n > 0 {
				e.clusters++
				break
			}
		}
	}
}

// cluster returns the verdicts of a cluster, by lane.
func (s *Sample) cluster(c int) []total { return s.verdicts[c*s.lanes : (c+1)*s.lanes] }

// use returns what the verdicts are good for, and how much of them is used.
func (e *estimate) use() (Use, float64) {
	var yes, labels, answers float64
	for _, l := range e.s.labels {
		yes, labels = yes+l.Value, labels+1
	}
	for _, v := range e.verdicts {
		answers += v.n
	}
	share := usable(within(e.all, e.lanes), len(e.lanes), e.o.steepest())
	switch {
	case len(e.lanes) == 0:
		return FewClusters, 0
	case e.o.Share != nil:
		return UsesAsDecided, *e.o.Share
	case e.o.YesNo && min(yes, labels-yes) < fewestOfAKind:
		return FewOfAKind, 0
	case share == 0:
		return JudgeNoHelp, 0
	case labels == answers:
		return AllLabelled, share
	}
	return JudgeHelps, share
}

// usable returns how much of what a judge knows beyond the labels is used: the slope of labels on verdicts, the less the fewer labels
// it is known from. A judge that is too weak to be of use has none.
func usable(p products, lanes int, steepest float64) float64 {
	free := p.n - float64(lanes) - 1
	if p.ff <= alike || p.yf <= alike || free <= 0 {
		return 0
	}
	r2 := min(p.yf*p.yf/(p.ff*max(p.yy, nothing)), 1)
	return max(0, 1-(1-r2)/(r2*free)) * min(p.yf/p.ff, steepest)
}

// at returns a lane's value: the mean label, and what the judge knows of the answers without one.
func at(labels sums, verdicts total, share float64) float64 {
	return labels.y/labels.n + share*(verdicts.sum/verdicts.n-labels.f/labels.n)
}

// leaveOut computes values, and their covariance by leaving out one cluster after the other, from labels and verdicts at once.
func (e *estimate) leaveOut() {
	m := len(e.lanes)
	e.theta = make([]float64, e.s.lanes)
	for _, l := range e.lanes {
		e.theta[l] = at(e.all[l], e.verdicts[l], e.share)
	}
	e.v = make([][]float64, m)
	for i := range e.v {
		e.v[i] = make([]float64, m)
	}
	labelled, moved := e.s.drawn(), make([]float64, m)
	rest := make([]sums, e.s.lanes)
	g, all := float64(len(labelled)), float64(e.clusters)
	for c, next := 0, 0; c < len(e.s.verdicts)/max(e.s.lanes, 1); c++ {
		share, factor := e.share, (all-1)/all
		copy(rest, e.all)
		if next < len(labelled) && labelled[next].cluster == c {
			for _, l := range e.lanes {
				rest[l] = rest[l].plus(labelled[next].scaled[l], -1)
			}
			if e.o.Share == nil && share > 0 {
				share = usable(within(rest, e.lanes), m, e.o.steepest())
			}
			factor = (g - 1) / g
			next++
		}
		verdicts := e.s.cluster(c)
		for i, l := range e.lanes {
			left := total{e.verdicts[l].n - verdicts[l].n, e.verdicts[l].sum - verdicts[l].sum}
			moved[i] = at(rest[l], left, share) - e.theta[l]
		}
		for i := range m {
			for j := range i + 1 {
				e.v[i][j] += factor * moved[i] * moved[j]
			}
		}
	}
}

// residuals counts disagreements: in lanes, and in the differences of two on the items where both have labels.
func (e *estimate) residuals() {
	m, place := len(e.lanes), make([]int, e.s.lanes)
	for i := range place {
		place[i] = -1
	}
	for i, l := range e.lanes {
		place[l] = i
	}
	lanes := make([]spread, e.s.lanes)
	both := make([]spread, m*m)
	byItem := map[int][]Label{}
	for _, l := range e.s.labels {
		lanes[l.Lane].add(l.Value - e.share*l.Verdict)
		for _, other := range byItem[l.Item] {
			i, j := place[l.Lane], place[other.Lane]
			d := l.Value - e.share*l.Verdict - (other.Value - e.share*other.Verdict)
			if i >= 0 && j >= 0 && i != j {
				both[max(i, j)*m+min(i, j)].add(d * float64(2*boolean(i > j)-1))
			}
		}
		byItem[l.Item] = append(byItem[l.Item], l)
	}
	steps := e.o.Step * e.o.Step
	e.differ = make([]float64, e.s.lanes)
	for l := range lanes {
		e.differ[l] = lanes[l].squares() / steps
	}
	e.pairs = make([][]float64, m)
	for i := range m {
		e.pairs[i] = make([]float64, i)
		for j := range i {
			if e.pairs[i][j] = both[i*m+j].squares() / steps; both[i*m+j].n < 2 {
				e.pairs[i][j] = e.differ[e.lanes[i]] + e.differ[e.lanes[j]]
			}
		}
	}
}

// spread is a sum of values and of their squares.
type spread struct{ n, sum, sq float64 }

func (s *spread) add(x float64) { s.n, s.sum, s.sq = s.n+1, s.sum+x, s.sq+x*x }

// squares returns the sum of squares around the mean.
func (s spread) squares() float64 {
	if s.n == 0 {
		return 0
	}
	return max(0, s.sq-s.sum*s.sum/s.n)
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// atLeastTwo returns what is added to a variance so that it is that of two disagreements at least.
func (e *estimate) atLeastTwo(differing, unlabelled float64, clusters int) float64 {
	return max(0, fewestDifferences-differing) * e.o.Step * e.o.Step * unlabelled / float64(clusters*clusters)
}

// unlabelled returns the share of a lane's answers without a label.
func (e *estimate) unlabelled(lane int) float64 {
	return 1 - float64(e.s.lane[lane])/e.verdicts[lane].n
}

// value returns a lane's value and its error.
func (e *estimate) value(lane, clusters int) Value {
	v := Value{Answers: int(e.verdicts[lane].n), Clusters: clusters, Judge: stats.Undefined("no verdicts"),
		Value: stats.Undefined("labels in %d clusters, of which it takes %d", len(e.s.drawn()), FewestClusters)}
	if e.verdicts[lane].n > 0 {
		v.Judge = stats.Known(e.verdicts[lane].sum / e.verdicts[lane].n)
	}
	if len(e.s.drawn()) >= FewestClusters { // there are enough on others
		if v.Value = v.Judge; v.Judge.OK {
			v.Value = stats.Undefined("no labels")
		}
	}
	v.SE, v.Interval = v.Value, stats.NoInterval("%s", v.Value.Why)
	if e.s.lane != nil {
		v.Labels = e.s.lane[lane]
	}
	for i, l := range e.lanes {
		if l != lane {
			continue
		}
		v.Differing = e.differ[lane]
		variance := e.v[i][i] + e.atLeastTwo(v.Differing, e.unlabelled(lane), clusters)
		v.SE = stats.Known(math.Sqrt(variance))
		v.Value, v.Interval = e.o.interval(e.theta[lane], variance, clusters, v.Answers, e.o.Level)
	}
	return v
}

// interval returns a value on its scale and Wilson's interval for the number of labels that would have its variance: a mean near the end
// of a scale is as skewed as a rate.
func (s Scale) interval(theta, variance float64, clusters, answers int, level float64) (stats.Number, stats.Interval) {
	width := s.High - s.Low
	if width <= 0 {
		return stats.Known(theta), stats.StudentInterval(theta, math.Sqrt(variance), level, clusters)
	}
	p := min(max((theta-s.Low)/width, 0), 1)
	edge := min(2*s.Step/(width*float64(clusters)), 0.5)
	q := min(max(p, edge), 1-edge)
	effective := q * (1 - q) * width * width / max(variance, 1e-300)
	if s.YesNo {
		effective = min(effective, float64(answers))
	}
	i := stats.EffectiveInterval(p, effective, level, clusters)
	if i.OK {
		i.Low, i.High = s.Low+width*i.Low, s.Low+width*i.High
	}
	return stats.Known(s.Low + width*p), i
}

// differences adds those of all pairs of lanes with a value, with Holm's correction.
func (e *estimate) differences(out *Corrected, clusters []int) {
	var p []float64
	for i := range e.lanes {
		for j := i + 1; j < len(e.lanes); j++ {
			a, b := e.lanes[i], e.lanes[j]
			d := Difference{A: a, B: b, Clusters: min(clusters[a], clusters[b]), Differing: e.pairs[j][i]}
			variance := e.v[i][i] + e.v[j][j] - 2*e.v[j][i] +
				e.atLeastTwo(d.Differing, max(e.unlabelled(a), e.unlabelled(b)), d.Clusters)
			d.Value, d.SE = stats.Known(e.theta[a]-e.theta[b]), stats.Known(math.Sqrt(max(variance, 0)))
			d.Interval = stats.StudentInterval(d.Value.Value, d.SE.Value, e.o.Level, d.Clusters)
			if width := e.o.High - e.o.Low; width > 0 {
				low := -width
				d.Interval = d.Interval.Clipped(&low, &width)
			}
			if d.P = stats.StudentTest(d.Value, d.SE, d.Clusters); d.P.OK {
				p = append(p, d.P.Value)
			} else {
				p = append(p, 1)
			}
			out.Differences = append(out.Differences, d)
		}
	}
	adjusted, err := stats.Holm(p)
	for i := range out.Differences {
		if d := &out.Differences[i]; err != nil {
			d.Holm = stats.Undefined("%s", err)
		} else if d.Holm = d.P; d.P.OK {
			d.Holm = stats.Known(adjusted[i])
		}
	}
}
