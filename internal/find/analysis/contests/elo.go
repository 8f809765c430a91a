package contests

import (
	"fmt"
	"slices"
	"sort"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// eloWork bounds how many comparisons are replayed over all orders.
const eloWork = 10_000_000

// elo rates along random orders.
func (a *arena) elo(t *analysis.Table, field string) error {
	if a.Stage.Rounds != nil {
		t.Note(partBought)
	}
	o, runs := eloOptions(a.Spec.Settings), a.Spec.Settings.Orders
	if runs == 0 {
		runs = min(100, max(5, eloWork/a.pairs.Len()))
	}
	r, err := stats.EloTallied(a.grouped.Tally(), o, runs, a.Options.Seed) // the orders do not hang on when a verdict came
	if err != nil {
		return err
	}
	spread, why, err := a.eloSpread(o)
	if err != nil {
		return err
	}
	a.noteUnmet(t, field, "ratings")
	for i := range a.names {
		f := a.finding(analysis.WhatElo, analysis.Points, i, field)
		if a.n[i] == 0 { // it has the initial rating, which is no information
			t.Findings = append(t.Findings, f.Unknown("no comparison has a valid verdict"))
			continue
		}
		f.Value, f.Method = stats.Known(r.Mean[i]), fmt.Sprintf("K %g from %g, mean over %s", o.K, o.Start, analysis.Plural(runs, "order"))
		f.Interval, f.SE = stats.NoInterval("%s", why), stats.Undefined("%s", why)
		if why == "" {
			f.SE, f.Interval = spread[i].SE(), spread[i].Student(f.Value, a.Options.Level, a.in[i])
			f.Method += ", Student, bootstrap of clusters"
		}
		if r.SD[i].OK {
			f.Note("sd over orders %.1f", r.SD[i].Value)
		}
		t.Findings = append(t.Findings, *f)
	}
	return nil
}

// The errors of ratings come from as many resamples of clusters as for other findings, but not above mostEloResamples,
// each along a few random orders, as far as the work allows.
const (
	mostEloResamples = 400
	leastResamples   = 50
	mostEloOrders    = 10
)

// eloSpread returns the ratings over resamples, or why there are none.
func (a *arena) eloSpread(o stats.EloOptions) ([]stats.Replicates, string, error) {
	n := a.pairs.Len()
	resamples := min(a.Options.Resamples, mostEloResamples, eloWork/max(1, n))
	switch {
	case a.Stage.Rounds != nil:
		return nil, "pairs were bought by what was found: see strengths", nil
	case a.clusters < 2:
		return nil, "one cluster", nil
	case resamples < leastResamples:
		return nil, "so many comparisons are not played often enough: see strengths", nil
	}
	ordered, starts := a.sortedClusters()
	spread, err := stats.EloResampled(len(a.names), ordered, starts, o, min(mostEloOrders, max(1, eloWork/(n*resamples))), resamples,
		a.Options.Seed)
	return spread, "", err
}

// sortedClusters returns the comparisons with where each cluster begins. It depends on the verdicts alone: by
// neither when it came, nor what a cluster is called.
func (a *arena) sortedClusters() (stats.Pairs, []int) {
	var clusters [][]uint64
	for k, b := range a.begins {
		if b&aCluster > 0 {
			clusters = append(clusters, nil)
		}
		last := &clusters[len(clusters)-1]
		*last = append(*last, uint64(a.pairs.First[k])<<24|uint64(a.pairs.Second[k])<<8|uint64(a.pairs.Result[k]))
	}
	for _, c := range clusters {
		slices.Sort(c)
	}
	sort.Slice(clusters, func(i, j int) bool { return slices.Compare(clusters[i], clusters[j]) < 0 })
	var out stats.Pairs
	var starts []int
	for _, c := range clusters {
		starts = append(starts, out.Len())
		for _, g := range c {
			out.Append(uint16(g>>24), uint16(g>>8), stats.Result(g))
		}
	}
	return out, starts
}

// noteUnmet adds a note where entrants are in groups that never met: numbers of different groups do not compare.
func (a *arena) noteUnmet(t *analysis.Table, field, numbers string) {
	if groups := len(a.metGroups()); groups > 1 {
		t.Note("the %ss fall into %d groups that never met%s: %s of different groups do not compare", field, groups, a.among(), numbers)
	}
}

// among returns the group that a table is about; empty: all.
func (a *arena) among() string {
	words := ""
	for _, v := range a.by {
		words += ", " + v.Field + " " + v.Value
	}
	return words
}

// eloOptions returns what an analysis asks of Elo ratings.
func eloOptions(s analysis.Settings) stats.EloOptions {
	o := stats.DefaultElo()
	if s.K != 0 {
		o.K = s.K
	}
	if s.Start.OK {
		o.Start = s.Start.Value
	}
	return o
}
