package contests

import (
	"errors"
	"iter"
	"math"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// strengths fits Bradley-Terry, with Davidson's ties where there are any.
func (a *arena) strengths(t *analysis.Table, m analysis.Method, field string) error {
	if a.bought() {
		return a.inRounds(t, field)
	}
	if a.Stage.Rounds != nil {
		t.Note(partBought)
	}
	fit, how, err := a.finite(t, m, field)
	var none *stats.NoMaximum
	if errors.As(err, &none) {
		return a.inShares(t, field, none)
	}
	if err != nil {
		return err
	}
	if !a.bothWays {
		t.Note("each pair was shown in one order: strengths and position cannot be told apart")
	}
	for i := range a.names {
		f := a.finding(analysis.WhatStrength, analysis.Logit, i, field)
		f.Value, f.SE, f.Interval, f.Method = stats.Known(fit.Theta[i]), fit.errorOf(i), fit.intervals[i], how+", "+fit.how
		if len(fit.ranks) > 0 {
			f.Rank = &fit.ranks[i]
		}
		f.Quasi = stats.Undefined("not computed with resampled errors")
		if i < len(fit.quasi) && fit.quasi[i] >= 0 {
			f.Quasi = stats.Known(math.Sqrt(fit.quasi[i]))
		}
		fit.writeTo(f)
		t.Findings = append(t.Findings, *f)
	}
	a.leaderboard(t, fit, field)
	a.parameters(t, fit, how)
	return a.fitness(t, fit, how, field)
}

// finite fits the model. Where items are compared and one wins or loses all, strengths have no finite maximum: then they are
// penalised after Firth, and a note tells so.
func (a *arena) finite(t *analysis.Table, m analysis.Method, field string) (*fitted, string, error) {
	o, how := a.model(t, m)
	fit, err := a.orderless(t, o)
	var none *stats.NoMaximum
	if !errors.As(err, &none) || !a.Stage.Items || o.Ridge > 0 || o.Firth || len(a.metGroups()) > 1 {
		return fit, how, err
	}
	fit, err = a.orderless(t, stats.BTOptions{Order: o.Order, Firth: true})
	if err != nil {
		return nil, how, err
	}
	fit.penalised = a.noStrengths(none, field)
	t.Note("%s: without a penalty strengths would be infinite. They are drawn together after Firth%s", fit.penalised, a.halfTies())
	return fit, "Bradley-Terry, Firth's penalty", nil
}

// orderless fits the model, without an order effect where that cannot be estimated.
func (a *arena) orderless(t *analysis.Table, o stats.BTOptions) (*fitted, error) {
	fit, err := a.fit(o)
	var none *stats.NoMaximum
	if !errors.As(err, &none) || !o.Order { // the order may be all that separates
		return fit, err
	}
	why := none.Why
	o.Order = false
	if fit, err = a.fit(o); err == nil {
		t.Note("no order effect can be estimated (%s): strengths leave the position out", why)
	}
	return fit, err
}

// halfTies returns how a penalised fit reads ties, where there are any.
func (a *arena) halfTies() string {
	if a.ties == 0 {
		return ""
	}
	return ", and a tie is half a win to each side"
}

// parameters adds what the model has besides strengths.
func (a *arena) parameters(t *analysis.Table, fit *fitted, how string) {
	if fit.Order.OK {
		f := a.finding(analysis.WhatOrder, analysis.Logit, -1, "")
		f.Value, f.SE, f.Interval, f.Method, f.P = fit.Order, fit.orderSE, fit.orderInterval, how+", "+fit.how, fit.orderP
		fit.writeTo(f)
		t.Findings = append(t.Findings, *f)
	}
	if fit.LogNu.OK {
		f := a.finding(analysis.WhatTie, analysis.Logit, -1, "")
		f.Value, f.SE, f.Interval, f.Method = fit.LogNu, fit.tieSE, fit.tieInterval, how+", "+fit.how
		fit.writeTo(f)
		t.Findings = append(t.Findings, *f)
	}
	f := a.finding(analysis.WhatReliability, analysis.Index, -1, "")
	if fit.alike {
		t.Findings = append(t.Findings, f.Unknown(stats.AlikeClusters))
		return
	}
	f.Value, f.Method, f.Interval = stats.Reliability(fit.Theta, fit.SE), how, stats.NoInterval("it is made of the errors of strengths")
	t.Findings = append(t.Findings, *f)
}

// winRates are plain shares of wins.
func (a *arena) winRates(t *analysis.Table, field string) error {
	if a.Stage.Rounds != nil {
		t.Note(unevenlyBought)
	}
	all := a.grouped.Tally().Rates()
	both, alone := a.turnedRound()
	a.noteUnmet(t, field, "shares")
	for i := range a.names {
		win, err := a.won(analysis.WhatWin, i, field, a.scores(i))
		if err != nil {
			return err
		}
		win.Record = a.record(i)
		if win.Value.OK {
			wins, n, missing := win.Value.Value*float64(win.N), float64(win.N), float64(win.Coverage.Unknown())
			win.Bounds = stats.Between(wins/(n+missing), (wins+missing)/(n+missing))
		}
		average := a.finding(analysis.WhatAverage, analysis.Share, i, field)
		average.Value = all.Average[i]
		average.SE, average.Interval, average.Method = a.averageInterval(i)
		t.Findings = append(t.Findings, *win, *average)
		if both == 0 {
			continue
		}
		corrected, err := a.correctedWins(i, field)
		if err != nil {
			return err
		}
		t.Findings = append(t.Findings, *corrected)
	}
	if alone > 0 && both > 0 {
		t.Note("%s judged in one order: not among the corrected", analysis.Plural(alone, "pair"))
	}
	if len(a.by) == 0 {
		t.Matrix = &analysis.Matrix{Names: a.names, Shares: all.Matrix}
	}
	return nil
}

// won returns the share that an entrant won, from its scores by cluster.
func (a *arena) won(what string, entrant int, field string, scores iter.Seq[stats.Total]) (*analysis.Finding, error) {
	f := a.finding(what, analysis.Share, entrant, field)
	e, err := gather.ShareOver(func(yield func(stats.ItemShares) bool) {
		for t := range scores { // a comparison has two points, so that a tie is one of them
			if !yield(stats.CountShares(int(math.Round(2*t.Sum)), 2*t.N)) {
				return
			}
		}
	}, a.Options.Level)
	if err != nil {
		return nil, err
	}
	if e.N == 0 {
		none := f.Unknown("no comparison")
		none.N = 0
		return &none, nil
	}
	e.N /= 2
	e.Put(f)
	return f, nil
}

// averageInterval is that of the mean over opponents of an entrant's shares, from what it would be without one cluster
// after the other.
func (a *arena) averageInterval(entrant int) (se stats.Number, i stats.Interval, method string) {
	const how = "mean over opponents, Wilson, by cluster"
	if a.clusters < 2 {
		i = stats.NoInterval(stats.NoErrorBar)
		return stats.Undefined("%s", i.Why), i, how
	}
	average, variance := leftOut(a.met(entrant), a.clusters, len(a.names))
	if !average.OK {
		return average, stats.NoInterval("%s", average.Why), how
	}
	if se = stats.Known(math.Sqrt(variance)); stats.Same(se.Value, 0) {
		se, variance = stats.Undefined(stats.AlikeClusters), 0
	}
	return se, stats.ShareInterval(average.Value, variance, a.Options.Level, a.clusters), how
}

// leftOut returns the mean over opponents and its variance, by leaving out one cluster after the other. The bouts come
// cluster by cluster; a cluster without any changes nothing.
func leftOut(met iter.Seq[bout], clusters, names int) (average stats.Number, variance float64) {
	by := make([]stats.Total, names)
	for b := range met {
		by[b.against].Add(b.score)
	}
	if average = averageOf(by); !average.OK {
		return average, 0
	}
	g := float64(clusters)
	var one []bout // cluster
	leave := func() {
		count(by, one, -1)
		if without := averageOf(by); without.OK {
			variance += (g - 1) / g * (without.Value - average.Value) * (without.Value - average.Value)
		}
		count(by, one, 1)
		one = one[:0]
	}
	for b := range met {
		if len(one) > 0 && b.cluster != one[0].cluster {
			leave()
		}
		one = append(one, b)
	}
	leave()
	return average, variance
}

// count enters bouts, or takes them out again.
func count(by []stats.Total, bouts []bout, sign int) {
	for _, b := range bouts {
		t := &by[b.against]
		t.N, t.Sum = t.N+sign, t.Sum+float64(sign)*b.score
	}
}

// bout is one comparison as one of the two sees it.
type bout struct {
	cluster uint32
	against uint16
	score   float64
}

// met returns the comparisons of one entrant, cluster by cluster.
func (a *arena) met(entrant int) iter.Seq[bout] {
	return func(yield func(bout) bool) {
		for k, c := range a.byCluster {
			b := bout{cluster: c, score: a.pairs.Result[k].Score()}
			switch uint16(entrant) {
			case a.pairs.First[k]:
				b.against = a.pairs.Second[k]
			case a.pairs.Second[k]:
				b.against, b.score = a.pairs.First[k], 1-b.score
			default:
				continue
			}
			if !yield(b) {
				return
			}
		}
	}
}

// averageOf returns the mean over opponents that were met.
func averageOf(by []stats.Total) stats.Number {
	n, sum := 0, 0.0
	for _, t := range by {
		if t.N > 0 {
			n, sum = n+1, sum+t.Sum/float64(t.N)
		}
	}
	if n == 0 {
		return stats.Undefined("no comparison")
	}
	return stats.Known(sum / float64(n))
}

// scores returns what one entrant won, by cluster.
func (a *arena) scores(entrant int) iter.Seq[stats.Total] {
	return func(yield func(stats.Total) bool) {
		var one stats.Total
		last := uint32(0)
		for b := range a.met(entrant) {
			if one.N > 0 && b.cluster != last {
				if !yield(one) {
					return
				}
				one = stats.Total{}
			}
			last = b.cluster
			one.Add(b.score)
		}
		if one.N > 0 {
			yield(one)
		}
	}
}
