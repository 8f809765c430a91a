package analysis

import (
	"errors"
	"fmt"
	"strings"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// signed is the method of tests between entrants that have no strengths.
const signed = "paired: exact sign test"

// Signed reports whether exact sign tests decide, because there are no strengths.
func (s *Standing) Signed() bool { return s.Method == signed }

// inShares ranks entrants by the share of comparisons that they won, where strengths do not exist. Every two are held against each
// other by an exact sign test: a cluster in which they met counts for the one that won more of their comparisons there.
func (a *arena) inShares(t *Table, field string, none error) error {
	why := a.noStrengths(none, field)
	out := Standing{By: a.by, Field: field, What: WhatWin, Unit: Share, Clusters: a.clusters, Instead: why}
	if groups := a.metGroups(); len(groups) > 1 {
		for _, members := range groups {
			out.Unmet = append(out.Unmet, a.named(members))
		}
	}
	for i := range a.names {
		t.Findings = append(t.Findings, a.finding(WhatStrength, Logit, i, field).unknown("%s", why))
	}
	for i := range a.names {
		f, err := a.won(WhatWin, i, field, a.scores(i))
		if err != nil {
			return err
		}
		f.Record = a.record(i)
		t.Findings = append(t.Findings, *f)
		out.Places = append(out.Places, Place{Name: a.names[i], Value: f.Value, SE: f.SE, Interval: f.Interval, N: f.N, Coverage: f.Coverage})
	}
	t.note("there are no strengths%s (%s): shares of wins instead, every two tested by an exact sign test over the clusters in which they met", a.among(), why)
	if len(a.names) <= maxStood {
		out.Method, out.Tests, out.Foretold = signed, a.signTests(), a.foretold()
	}
	t.standings = append(t.standings, out)
	return nil
}

// foretold is what quotes begin with where tests have no errors; nil: there is nothing to begin with.
func (a *arena) foretold() *adaptive.Look {
	look, err := adaptive.NewLook(a.grouped)
	if err != nil || len(a.metGroups()) > 1 {
		return nil
	}
	return look
}

// signTests are exact tests of every two entrants, from the clusters in which the two met.
func (a *arena) signTests() []Contrast {
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
	for k, c := range a.cluster {
		if k > 0 && c != a.cluster[k-1] {
			done()
		}
		i, j, score := int(a.pairs.First[k]), int(a.pairs.Second[k]), 2*a.pairs.Result[k].Score()-1
		if i > j {
			i, j, score = j, i, -score
		}
		net[i*n+j] += score
	}
	done()
	var out []Contrast
	for j := range a.names {
		for i := range j {
			at := i*n + j
			c := Contrast{First: i, Second: j, Clusters: met[at], SE: stats.Undefined("not computed for exact tests"), Interval: stats.NoInterval("not computed for exact tests")}
			c.Information = c.SE
			if c.Difference, c.P = stats.Undefined("they were never compared with each other"), stats.Undefined("they were never compared with each other"); met[at] > 0 {
				c.Difference = stats.Known(float64(ahead[at]-behind[at]) / float64(met[at]))
				c.P = stats.NewMcNemar(ahead[at], behind[at]).Exact
			}
			out = append(out, c)
		}
	}
	return out
}

// noStrengths says why there are no strengths: who won or lost everything, or which groups cannot be held against each other.
func (a *arena) noStrengths(err error, field string) string {
	var none *stats.NoMaximum
	if !errors.As(err, &none) {
		return err.Error()
	}
	if len(none.Components) < 2 {
		return none.Why
	}
	var groups []string
	for _, members := range none.Components {
		groups = append(groups, strings.Join(a.named(members), " "))
	}
	list := strings.Join(groups, " | ")
	if unmet := a.metGroups(); len(unmet) > 1 {
		groups = groups[:0]
		for _, members := range unmet {
			groups = append(groups, strings.Join(a.named(members), " "))
		}
		return fmt.Sprintf("the %ss fall into %d groups that were never compared with each other: %s", field, len(unmet), strings.Join(groups, " | "))
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

// named are the names of entrants.
func (a *arena) named(members []int) []string {
	out := make([]string, len(members))
	for k, i := range members {
		out[k] = a.names[i]
	}
	return out
}

// metGroups are the groups of entrants that met, directly or through others, in the order of their first names. Who met no one is in none.
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
