package methods_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/internal/find/analysis"
)

// sweeps are comparisons of every two of three lanes on so many items, each item once in either order or both, with b
// and c winning by turns of each other and a over both.
func sweeps(judge string, items int) []analysis.Row {
	var rows []analysis.Row
	add := func(item int, first, second string, firstWins bool) {
		label := "b"
		if firstWins {
			label = "a"
		}
		r := met(first, second, fmt.Sprintf("q%02d", item), label)
		r.Judge = judge
		rows = append(rows, r)
	}
	for i := range items {
		add(i, "a", "b", true)
		add(i, "c", "a", false)
		if i%3 == 0 { // both ways round: one each, no information about the item
			add(i, "b", "c", true)
			add(i, "c", "b", true)
			continue
		}
		add(i, "b", "c", i%3 == 1 || i > items/2)
	}
	return rows
}

// signTest counts, by other code than the program's, on how many items one of two won more often than the other, and
// its two-sided chance: all ways to get as far from the middle, of 2 to the n.
func signTest(rows []analysis.Row, one, other string) (up, down int, p float64) {
	net := map[string]int{}
	for _, r := range rows {
		won := 1
		if r.Label == "b" {
			won = -1
		}
		switch {
		case r.Lane == one && r.Other == other:
			net[r.Item] += won
		case r.Lane == other && r.Other == one:
			net[r.Item] -= won
		}
	}
	for _, x := range net {
		switch {
		case x > 0:
			up++
		case x < 0:
			down++
		}
	}
	n, choose := up+down, 1.0
	for k := range n + 1 {
		if k > 0 {
			choose = choose * float64(n-k+1) / float64(k)
		}
		if math.Abs(float64(2*k-n)) >= math.Abs(float64(up-down)) {
			p += choose / math.Pow(2, float64(n))
		}
	}
	return up, down, p
}

func TestWhoWinsEverythingIsHeldAgainstOthersBySignTests(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Judges = []string{"x", "y"}
	x, y := sweeps("x", 9), sweeps("y", 14)
	r := report(t, stage, []analysis.Spec{{By: []string{"judge"}}}, append(slices.Clone(x), y...))
	if len(r.Leaderboards) != 2 {
		t.Fatalf("%d leaderboards", len(r.Leaderboards))
	}
	for k, rows := range [][]analysis.Row{x, y} {
		s := &r.Leaderboards[k]
		if s.What != analysis.WhatWin || s.Test != analysis.ExactSigns || s.Instead != "a won all of its comparisons" ||
			len(s.Tests) != 3 || len(s.Unmet) != 0 {
			t.Fatalf("leaderboard %+v", s)
		}
		type adjusted struct {
			pair [2]string
			p    float64
		}
		var all []adjusted
		for _, c := range s.Tests {
			one, other := s.Places[c.First].Name, s.Places[c.Second].Name
			up, down, p := signTest(rows, one, other)
			near(t, "p of "+one+other, p, c.P.Value, 1e-12)
			items := map[string]bool{}
			for _, r := range rows {
				if (r.Lane == one && r.Other == other) || (r.Lane == other && r.Other == one) {
					items[r.Item] = true
				}
			}
			near(t, "difference of "+one+other, float64(up-down)/float64(len(items)), c.Difference.Value, 1e-12)
			all = append(all, adjusted{[2]string{one, other}, p})
		}
		slices.SortFunc(all, func(a, b adjusted) int { return int(math.Copysign(1, a.p-b.p)) })
		apart, tested := s.Apart()
		if !tested {
			t.Fatal("nothing was tested")
		}
		open := false
		for i, a := range all { // Holm as it is written: the smallest first, until one is too large
			open = open || a.p >= 0.05/float64(len(all)-i)
			at := func(name string) int {
				return slices.IndexFunc(s.Places, func(p analysis.Place) bool { return p.Name == name })
			}
			if got := apart[[2]int{at(a.pair[0]), at(a.pair[1])}]; got == open {
				t.Errorf("%v apart %v with p %g", a.pair, got, a.p)
			}
		}
		for _, p := range s.Places {
			won, n := 0.0, 0.0
			for _, r := range rows {
				if r.Lane == p.Name || r.Other == p.Name {
					n++
				}
				if r.Lane == p.Name && r.Label == "a" || r.Other == p.Name && r.Label == "b" {
					won++
				}
			}
			near(t, "share of "+p.Name, won/n, p.Value.Value, 1e-12)
			if int(n) != p.N {
				t.Errorf("%s: n %d, want %g", p.Name, p.N, n)
			}
		}
	}
	if f := find(t, r, "win rate", "lane", "a", "judge", "x"); f.Value.Value != 1 || !f.Interval.OK || f.Interval.High != 1 ||
		f.Rank == nil || f.Rank.Worst != 1 {
		t.Errorf("win rate %+v", f)
	}
	if f := find(t, r, "strength", "lane", "a", "judge", "x"); f.Value.OK {
		t.Errorf("a strength of one who wins everything: %v", f.Value)
	}
	if notes := strings.Join(r.Tables[0].Notes, "\n"); !strings.Contains(notes, "shares of wins instead") {
		t.Errorf("notes %s", notes)
	}
}

func TestAnOrderOfSharesThatDirectComparisonsContradictIsNotApart(t *testing.T) {
	t.Parallel()
	// a beats b on all items that they share, and has fewer wins in all, because c beats it and not b.
	var rows []analysis.Row
	for i := range 8 {
		item := fmt.Sprintf("q%d", i)
		rows = append(rows, met("a", "b", item, "a"), met("c", "a", item, "a"), met("c", "d", item, "a"))
		for _, weak := range []string{"d", "e", "f"} {
			rows = append(rows, met("b", weak, item, "a"))
		}
	}
	s := &report(t, arena(), []analysis.Spec{{}}, rows).Leaderboards[0]
	apart, _ := s.Apart()
	if s.Places[0].Value.Value >= s.Places[1].Value.Value {
		t.Fatalf("%+v", s.Places)
	}
	if apart[[2]int{0, 1}] {
		t.Error("b is called ahead of a, which won every comparison of the two")
	}
	for _, c := range s.Tests {
		if s.Places[c.First].Name == "a" && s.Places[c.Second].Name == "f" && (c.P.OK || c.Difference.OK) {
			t.Errorf("a and f never met: %+v", c)
		}
	}
}

func TestGroupsOfLanesThatNeverMetAreNamed(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 7 {
		item := fmt.Sprintf("q%d", i)
		rows = append(rows, met("a", "c", item, "a"), met("b", "d", item, map[bool]string{true: "a", false: "b"}[i%2 == 0]))
	}
	s := report(t, arena(), []analysis.Spec{{}}, rows).Leaderboards[0]
	if got := fmt.Sprint(s.Unmet); got != "[[a c] [b d]]" {
		t.Errorf("groups %s", got)
	}
	if want := "the lanes fall into 2 groups that were never compared with each other: a c | b d"; s.Instead != want {
		t.Errorf("why %q", s.Instead)
	}
}
