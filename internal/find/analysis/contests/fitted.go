package contests

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// fitted is a fit with its errors.
type fitted struct {
	*stats.BTFit
	SE            []float64
	intervals     []stats.Interval
	orderInterval stats.Interval
	orderSE       stats.Number
	orderP        stats.Number
	tieInterval   stats.Interval
	tieSE         stats.Number
	ranks         []stats.RankInterval
	quasi         []float64              // variances
	spread        func(i, k int) float64 // the error of the difference of two strengths
	how           string
	units         int // as many clusters as Student's t of the errors has
	note          string
	penalised     string // why strengths are penalised without being asked to; empty: they are not
	alike         bool   // no cluster differs from another
}

func (f *fitted) writeTo(to *analysis.Finding) {
	if f.note != "" {
		to.Note("%s", f.note)
	}
}

// rankDraws is how many draws the joint distribution of differences is known from.
const rankDraws = 2000

// fit fits the model. Its errors come from clusters: by formula where there are enough of them, from how far pairs scatter
// round their strengths where a cluster is a pair, else by resampling.
func (a *arena) fit(o stats.BTOptions) (*fitted, error) {
	byPair := a.grouped.ByPair()
	switch doubt := a.grouped.Doubt(); {
	case a.Spec.Settings.Bootstrap > 0:
		return a.resampled(o, "as asked")
	case doubt != "" && !byPair:
		return a.resampled(o, doubt)
	}
	fit, err := stats.FitBT(a.grouped.Tally(), o)
	if err != nil {
		return nil, err
	}
	out := &fitted{BTFit: fit, how: "by cluster", units: a.grouped.Clusters()}
	var c *stats.Covariance
	if byPair {
		c, err = out.scattered(a.grouped)
	} else {
		c, err = fit.ClusterRobust(a.grouped, stats.CR1)
	}
	if err != nil {
		return nil, err
	}
	return out, a.withErrors(out, c)
}

// scattered returns the errors of strengths where a cluster is a pair: the model's, widened by how far pairs scatter round
// their strengths.
func (f *fitted) scattered(g *stats.Grouped) (*stats.Covariance, error) {
	d, err := f.Dispersion(g)
	if err != nil {
		return nil, err
	}
	f.how, f.units = "by pair", d.Units()
	if f.units < 2 {
		f.note = "no pair is left to show how far pairs scatter round their strengths"
	} else if d.Factor > 1 {
		f.note = fmt.Sprintf("pairs scatter %.2g times as much round their strengths as independent verdicts would: errors are %.2g times "+
			"the model's", d.Factor, math.Sqrt(d.Factor))
	}
	c, err := f.Covariance()
	if err != nil {
		return nil, err
	}
	return c.Widened(d.Factor), nil
}

// withErrors fills in errors, intervals and ranks from a covariance.
func (a *arena) withErrors(out *fitted, c *stats.Covariance) (err error) {
	fit, level := out.BTFit, a.Options.Level
	out.SE, out.spread, out.tieSE = c.SE(), c.Difference, c.LogNuSE()
	out.orderP, out.orderInterval = stats.Undefined("no order effect"), stats.NoInterval("no order effect")
	out.tieInterval = stats.NoInterval("no tie parameter")
	for i, se := range out.SE {
		out.intervals = append(out.intervals, stats.StudentInterval(fit.Theta[i], se, level, out.units))
	}
	if se := c.OrderSE(); fit.Order.OK && se.OK {
		out.orderSE, out.orderInterval = se, stats.StudentInterval(fit.Order.Value, se.Value, level, out.units)
		out.orderP = stats.StudentTest(fit.Order, se, out.units)
	}
	if fit.LogNu.OK && out.tieSE.OK {
		out.tieInterval = stats.StudentInterval(fit.LogNu.Value, out.tieSE.Value, level, out.units)
	}
	if quasi, err := c.QuasiVariances(); err == nil { // it exists from three items on
		out.quasi = quasi
	}
	if out.mistrust() || out.units < 2 {
		return nil
	}
	wide := stats.StudentCritical(1-level, out.units) / stats.NormalQuantile((1+level)/2)
	out.ranks, err = stats.MaxTRanks(fit.Theta, c.Widened(wide*wide), level, rankDraws, a.Options.Seed)
	return err
}

func (a *arena) resampled(o stats.BTOptions, doubt string) (*fitted, error) {
	boot, err := stats.BootstrapBT(a.grouped, o, a.Options.Resamples, a.Options.Seed)
	if err != nil {
		return nil, err
	}
	out := &fitted{BTFit: boot.Fit, spread: boot.Difference, units: boot.Clusters, how: "Student, bootstrap of clusters",
		note: "bootstrap: " + doubt}
	if boot.Undefined > 0 {
		out.note += fmt.Sprintf("; %d of %d resamples have no estimate", boot.Undefined, a.Options.Resamples)
	}
	clusters := a.grouped.Clusters()
	for i, theta := range boot.Fit.Theta {
		r := boot.Strength(i)
		out.SE = append(out.SE, r.SE().Value)
		out.intervals = append(out.intervals, r.Student(stats.Known(theta), a.Options.Level, clusters))
	}
	out.orderSE, out.orderInterval = errorOf(boot.OrderEffect(), boot.Fit.Order, a.Options.Level, clusters)
	out.orderP = stats.StudentTest(boot.Fit.Order, out.orderSE, clusters)
	out.tieSE, out.tieInterval = errorOf(boot.TieParameter(), boot.Fit.LogNu, a.Options.Level, clusters)
	if out.mistrust() {
		return out, nil
	}
	if ranks, err := boot.Ranks(a.Options.Level); err == nil {
		out.ranks = ranks
	}
	return out, nil
}

// errorOf returns the standard error and the interval of a parameter; where too many resamples have no estimate, neither.
func errorOf(r stats.Replicates, estimate stats.Number, level float64, clusters int) (stats.Number, stats.Interval) {
	i := r.Student(estimate, level, clusters)
	if !i.OK {
		return stats.Undefined("%s", i.Why), i
	}
	return r.SE(), i
}

// sound reports whether all strengths have an interval. Where many resamples have no estimate, the spread of the others
// is too small: nothing is told apart by it.
func (f *fitted) sound() bool {
	return !slices.ContainsFunc(f.intervals, func(i stats.Interval) bool { return !i.OK })
}

// errorOf returns the standard error of one strength.
func (f *fitted) errorOf(i int) stats.Number {
	if !f.intervals[i].OK {
		return stats.Undefined("%s", f.intervals[i].Why)
	}
	return stats.Known(f.SE[i])
}

// model returns the Bradley-Terry model that an analysis asks for, and its name.
func (a *arena) model(t *analysis.Table, m analysis.Method) (o stats.BTOptions, how string) {
	s := a.Spec.Settings
	o, how = stats.BTOptions{Order: a.bothWays, Ridge: s.Ridge, Firth: s.Firth}, "Bradley-Terry"
	switch {
	case s.Firth:
		how += ", Firth's penalty"
		if a.ties > 0 {
			t.Note("a tie is half a win to each side: Firth's penalty goes without a tie parameter")
		}
	case m == analysis.Davidson || a.ties > 0:
		o.Ties, how = stats.Davidson, "Davidson"
	}
	if s.Ridge > 0 {
		how += fmt.Sprintf(", ridge %g", s.Ridge)
		t.Note("ridge %g draws strengths towards each other: their intervals do, too", s.Ridge)
	}
	return o, how
}

// mistrust takes away intervals of no width: where no cluster differs from another, that is no certainty. It reports
// whether none is left.
func (f *fitted) mistrust() bool {
	f.alike = true
	for i, interval := range f.intervals {
		if interval.OK && interval.High-interval.Low < 1e-9 {
			f.intervals[i] = stats.NoInterval(stats.AlikeClusters)
		} else {
			f.alike = false
		}
	}
	if f.orderInterval.OK && f.orderInterval.High-f.orderInterval.Low < 1e-9 {
		f.orderInterval, f.orderP, f.orderSE = stats.NoInterval(stats.AlikeClusters), stats.Undefined(stats.AlikeClusters),
			stats.Undefined(stats.AlikeClusters)
	}
	if f.tieInterval.OK && f.tieInterval.High-f.tieInterval.Low < 1e-9 {
		f.tieInterval, f.tieSE = stats.NoInterval(stats.AlikeClusters), stats.Undefined(stats.AlikeClusters)
	}
	if f.alike {
		f.quasi = nil
	}
	return f.alike
}

// perComparison returns the information of one more comparison of two entrants about the difference of their strengths:
// that of the model, less by as much as clusters widen errors.
func (f *fitted) perComparison() func(i, k int) stats.Number {
	model, err := f.Covariance()
	if err != nil {
		return func(int, int) stats.Number { return stats.Undefined("%s", err) }
	}
	effect := adaptive.Effect(len(f.Theta), f.spread, model.Difference)
	return func(i, k int) stats.Number { return stats.Known(f.Information(i, k) / effect) }
}
