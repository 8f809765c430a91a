package contests

import (
	"errors"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// signed names the tests between entrants that have no strengths.
const signed = "paired: exact sign test"

// inShares ranks entrants by the share of comparisons that they won, where strengths do not exist. Every two are held
// against each other by an exact sign test: a cluster in which they met counts for the one that won more of their
// comparisons there.
func (a *arena) inShares(t *analysis.Table, field string, none error) error {
	why := a.noStrengths(none, field)
	out := analysis.Leaderboard{By: a.by, Field: field, What: analysis.WhatWin, Unit: analysis.Share, Clusters: a.clusters, Instead: why,
		Position: a.shownFirst()}
	if groups := a.metGroups(); len(groups) > 1 {
		for _, members := range groups {
			out.Unmet = append(out.Unmet, a.named(members))
		}
	}
	for i := range a.names {
		t.Findings = append(t.Findings, a.finding(analysis.WhatStrength, analysis.Logit, i, field).Unknown("%s", why))
	}
	for i := range a.names {
		f, err := a.won(analysis.WhatWin, i, field, a.scores(i))
		if err != nil {
			return err
		}
		f.Record = a.record(i)
		t.Findings = append(t.Findings, *f)
		out.Places = append(out.Places,
			analysis.Place{Name: a.names[i], Value: f.Value, SE: f.SE, Interval: f.Interval, N: f.N, Coverage: f.Coverage})
	}
	t.Note("there are no strengths%s (%s): shares of wins instead, every two tested by an exact sign test over the clusters in "+
		"which they met", a.among(), why)
	if len(a.names) <= analysis.MaxCompared {
		out.Test, out.Method, out.Tests, out.Foretold = analysis.ExactSigns, signed, a.signTests(), a.foretold()
	}
	t.Leaderboards = append(t.Leaderboards, out)
	return nil
}

// foretold returns what quotes begin with where tests have no errors; nil: there is nothing to begin with.
func (a *arena) foretold() *adaptive.Look {
	look, err := adaptive.NewLook(a.grouped)
	if err != nil || len(a.metGroups()) > 1 {
		return nil
	}
	return look
}

// signTests are exact tests of every two entrants, from the clusters in which the two met.
func (a *arena) signTests() []analysis.Contrast {
	n := len(a.names)
	ahead, behind, met := make([]int, n*n), make([]int, n*n), make([]int, n*n) // clusters, by the smaller number and the larger
	net := map[int]float64{}                                                   // wins minus losses of the smaller number, in one cluster
	done := func() {
		for at, x := range net {
			met[at]++
			switch {
			case x > 0:
				ahead[at]++
			case x < 0:
				behind[at]++
			}
		}
		clear(net)
	}
	for k, b := range a.begins {
		if k > 0 && b&aCluster > 0 {
			done()
		}
		i, j, score := int(a.pairs.First[k]), int(a.pairs.Second[k]), 2*a.pairs.Result[k].Score()-1
		if i > j {
			i, j, score = j, i, -score
		}
		net[i*n+j] += score
	}
	done()
	var out []analysis.Contrast
	for j := range a.names {
		for i := range j {
			at := i*n + j
			c := analysis.Contrast{First: i, Second: j, Clusters: met[at], SE: stats.Undefined("not computed for exact tests"),
				Interval: stats.NoInterval("not computed for exact tests")}
			c.Information = c.SE
			if c.Difference, c.P = stats.Undefined("they were never compared with each other"),
				stats.Undefined("they were never compared with each other"); met[at] > 0 {
				c.Difference = stats.Known(float64(ahead[at]-behind[at]) / float64(met[at]))
				c.P = stats.NewMcNemar(ahead[at], behind[at]).Exact
			}
			out = append(out, c)
		}
	}
	return out
}

// noStrengths returns why there are no strengths: who won or lost everything, or which groups cannot be held against
// each other.
func (a *arena) noStrengths(err error, field string) string {
	var none *stats.NoMaximum
	if !errors.As(err, &none) {
		return err.Error()
	}
	if len(none.Components) < 2 {
		return none.Why
	}
	var groups, never []string
	for _, members := range none.Components {
		if len(members) == 1 && a.n[members[0]] == 0 {
			never = append(never, a.names[members[0]])
		}
		groups = append(groups, strings.Join(a.named(members), " "))
	}
	list := strings.Join(groups, " | ")
	if unmet := a.metGroups(); len(unmet) > 1 {
		groups = groups[:0]
		for _, members := range unmet {
			groups = append(groups, strings.Join(a.named(members), " "))
		}
		return fmt.Sprintf("the %ss fall into %d groups that were never compared with each other: %s", field, len(unmet),
			strings.Join(groups, " | "))
	}
	if len(never) > 0 {
		return strings.Join(never, ", ") + assay.Verb(len(never), " was", " were") + " never compared with the others"
	}
	loser := ""
	for _, alone := range none.Components {
		if len(alone) > 1 {
			continue
		}
		switch r := a.record(alone[0]); {
		case r.Wins > 0 && r.Ties+r.Losses == 0:
			return a.names[alone[0]] + " won all of its comparisons"
		case r.Losses > 0 && r.Ties+r.Wins == 0 && loser == "":
			loser = a.names[alone[0]]
		}
	}
	if loser != "" {
		return loser + " lost all of its comparisons"
	}
	return fmt.Sprintf("all comparisons between groups of %ss went one way: %s", field, list)
}

// named returns the names of entrants.
func (a *arena) named(members []int) []string {
	out := make([]string, len(members))
	for k, i := range members {
		out[k] = a.names[i]
	}
	return out
}

// metGroups returns the groups of entrants that met, directly or through others, in the order of their first names. Who
// met no one is in none.
func (a *arena) metGroups() [][]int {
	root := make([]int, len(a.names))
	for i := range root {
		root[i] = i
	}
	find := func(x int) int {
		for root[x] != x {
			root[x] = root[root[x]]
			x = root[x]
		}
		return x
	}
	for k := range a.pairs.Len() {
		root[find(int(a.pairs.First[k]))] = find(int(a.pairs.Second[k]))
	}
	var out [][]int
	at := map[int]int{}
	for i := range a.names {
		if a.n[i] == 0 {
			continue
		}
		k, ok := at[find(i)]
		if !ok {
			k = len(out)
			at[find(i)], out = k, append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}

// record counts what one entrant won, tied and lost, each showing by itself.
func (a *arena) record(entrant int) *analysis.Record {
	var r analysis.Record
	for b := range a.met(entrant) {
		r.Count(b.score)
	}
	return &r
}

// correctedWins returns the share of an entrant's pairs that it wins in both orders. Where the orders disagree it is a
// tie, which is no win.
func (a *arena) correctedWins(entrant int, field string) (*analysis.Finding, error) {
	f := a.finding(analysis.WhatCorrected, analysis.Share, entrant, field)
	counts := a.counts()
	var r analysis.Record
	for w := range a.swaps() {
		if !w.bothWays() || int(w.low) != entrant && int(w.high) != entrant {
			continue
		}
		score := w.forth.score()
		if score != w.back.score() {
			score = 0.5
		}
		if int(w.high) == entrant {
			score = 1 - score
		}
		r.Count(score)
		counts[w.cluster].add(score == 1)
	}
	e, err := gather.Share(each(counts), a.Options.Level)
	if err != nil {
		return nil, err
	}
	e.Put(f)
	f.Record = &r
	if e.N == 0 {
		*f = f.Unknown("no pair was judged in both orders")
	}
	return f, nil
}

// leaderboard ranks entrants by their strengths.
func (a *arena) leaderboard(t *analysis.Table, fit *fitted, field string) {
	out := analysis.Leaderboard{By: a.by, Field: field, What: analysis.WhatStrength, Unit: analysis.Logit}
	for i := range a.names {
		f := &t.Findings[len(t.Findings)-len(a.names)+i]
		out.Places = append(out.Places, analysis.Place{Name: a.names[i], Value: f.Value, SE: f.SE, Interval: f.Interval,
			Share: shareWon(a.record(i)), N: f.N, Coverage: f.Coverage})
	}
	out.Clusters, out.Position = a.clusters, a.shownFirst()
	if fit != nil {
		out.Penalised = fit.penalised
	}
	if fit == nil || fit.alike || fit.spread == nil || len(a.names) > analysis.MaxCompared {
		t.Leaderboards = append(t.Leaderboards, out)
		return
	}
	if !fit.sound() {
		t.Note("strengths have no errors: every two are tested by an exact sign test over the clusters in which they met")
		out.Test, out.Method, out.Tests, out.Foretold = analysis.ExactSigns, signed, a.signTests(), a.foretold()
		t.Leaderboards = append(t.Leaderboards, out)
		return
	}
	out.Method, out.Units = fit.how, fit.units
	more := fit.perComparison()
	if a.Stage.Items { // one more pair of the stage, whichever: two texts meet once
		more = func(i, k int) stats.Number { return gather.PerItem(stats.Known(fit.spread(i, k)), a.clusters) }
	}
	for i := range a.names {
		for k := range i {
			d, se := stats.Known(fit.Theta[k]-fit.Theta[i]), stats.Known(fit.spread(k, i))
			out.Tests = append(out.Tests, analysis.Contrast{
				First: k, Second: i, Difference: d, SE: se, Clusters: a.clusters, Items: a.items,
				Interval: stats.StudentInterval(d.Value, se.Value, a.Options.Level, fit.units), P: stats.StudentTest(d, se, fit.units),
				Information: more(k, i),
			})
		}
	}
	t.Leaderboards = append(t.Leaderboards, out)
}

// unranked is the leaderboard of entrants of which nothing is known, for a reason.
func (a *arena) unranked(t *analysis.Table, field, why string) {
	out := analysis.Leaderboard{By: a.by, Field: field, What: analysis.WhatStrength, Unit: analysis.Logit}
	for i, name := range a.names {
		none := stats.Undefined("%s", why)
		out.Places = append(out.Places,
			analysis.Place{Name: name, Value: none, Interval: stats.NoInterval("%s", why), Share: none, Coverage: a.cover[i]})
	}
	t.Leaderboards = append(t.Leaderboards, out)
}

// shareWon returns the share won, a tie half.
func shareWon(r *analysis.Record) stats.Number {
	return gather.Ratio(float64(r.Wins)+float64(r.Ties)/2, r.Wins+r.Ties+r.Losses)
}
