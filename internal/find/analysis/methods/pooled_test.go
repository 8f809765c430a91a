package methods_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// mixed are verdicts on single answers that differ in every coordinate a row has.
func mixed(stage analysis.Stage, labels []string) []analysis.Row {
	luck := rand.New(rand.NewPCG(7, 7))
	var rows []analysis.Row
	each := func(item int, lane, judge, prompt, template, branch string, turn, draw, vote int) {
		label := luck.IntN(len(labels))
		if lane == "m" && luck.IntN(2) == 0 {
			label = 0 // lanes differ, or leaving one out would not show
		}
		r := analysis.Row{
			Stage: stage.Name, Judge: judge, Lane: lane, Item: fmt.Sprint("i", item), Cluster: fmt.Sprint("c", item/2), Template: template,
			Prompt: prompt, Branch: branch, Turn: turn, Draw: draw, Vote: vote, Expect: labels[item%len(labels)],
			Fields: map[string]string{"topic": fmt.Sprint(item % 3)}, Length: 10 + luck.IntN(90), State: assay.VerdictValid,
			Label: labels[label], Score: num(float64(label)),
		}
		if luck.IntN(12) == 0 {
			r.State = assay.VerdictMalformed
		}
		rows = append(rows, r)
	}
	for item := range 8 {
		for _, lane := range []string{"m", "n"} {
			for k := range 16 {
				judge, prompt, template := fmt.Sprint("j", k&1), fmt.Sprint("p", k>>1&1), fmt.Sprint("t", k>>2&1)
				draw := 1 + k>>3
				if !stage.Flips {
					each(item, lane, judge, prompt, template, "", 1, draw, 0)
				}
				for _, branch := range []string{"doubt", "expert", "control"} {
					each(item, lane, judge, prompt, template, branch, 2, draw, 0)
				}
			}
		}
	}
	return rows
}

// mixedPairs are verdicts on pairs that differ in every coordinate a row has, each pair in both orders.
func mixedPairs() []analysis.Row {
	luck := rand.New(rand.NewPCG(8, 8))
	lanes := []string{"a", "b", "c"}
	var rows []analysis.Row
	for item := range 10 {
		for k := range 32 {
			for l, lane := range lanes {
				first, second := lane, lanes[(l+1)%3]
				for range 2 {
					r := met(first, second, fmt.Sprint("i", item), []string{"a", "b", "tie"}[luck.IntN(3)])
					r.Cluster, r.Fields = fmt.Sprint("c", item/2), map[string]string{"topic": fmt.Sprint(item % 3)}
					r.Judge, r.Prompt, r.Template = fmt.Sprint("j", k&1), fmt.Sprint("p", k>>1&1), fmt.Sprint("t", k>>2&1)
					r.Trait, r.Draw, r.Length, r.OtherLength = fmt.Sprint("trait", k>>3&1), 1+k>>4, 10+luck.IntN(90), 10+luck.IntN(90)
					rows = append(rows, r)
					first, second = second, first
				}
			}
		}
	}
	return rows
}

// sums are the verdicts and values of findings, added up over all groups of a field.
type sums struct {
	n      int
	weight float64
}

func pooled(t *testing.T, stage analysis.Stage, m analysis.Method, by []string, rows []analysis.Row) map[string]sums {
	t.Helper()
	out := map[string]sums{}
	var always []string // fields that findings have whatever they are grouped by
	switch {
	case m == analysis.Flips:
		always = []string{analysis.ByBranch, analysis.ByTurn}
		by = append([]string{analysis.ByBranch}, by...)
	case stage.Verb == analysis.Compared:
		always = []string{analysis.ByLane}
	}
	for _, table := range report(t, stage, []analysis.Spec{{Method: m, By: by}}, rows).Tables {
		if table.Title == "differences between lanes" {
			continue // it exists by lane alone
		}
		for _, f := range table.Findings {
			name := f.What
			for _, v := range f.By {
				if !slices.Contains(by, v.Field) || slices.Contains(always, v.Field) {
					name += " " + v.Field + "=" + v.Value
				}
			}
			s := out[name]
			s.n += f.N
			if f.Value.OK {
				s.weight += f.Value.Value * float64(f.N)
			}
			out[name] = s
		}
	}
	return out
}

// additive reports whether a finding over all is the mean of those of its parts, by their numbers of verdicts.
func additive(what string) bool {
	return !slices.Contains([]string{"strength", "order effect", "tie parameter", "reliability", "average win rate", "elo",
		"order correlation", "length effect", "variance", "share of variance", "error of the mean", "live score",
		"deviance", "misfit", "circular triples", "circle"}, what)
}

// TestPooledNumbersAreTheirPartsByWeight adds up groups. Rates and flips rest on the same verdicts, but each of their items has
// equal weight: TestItemsHaveEqualWeight and TestItemsHaveEqualWeightInFlips add them up.
func TestPooledNumbersAreTheirPartsByWeight(t *testing.T) {
	t.Parallel()
	single, flipping, pairs := correct(), flipStage(), arena()
	flipping.Draws, single.Draws = 2, 2
	fields := append(analysis.OwnFields(), "topic")
	for _, c := range []struct {
		stage   analysis.Stage
		rows    []analysis.Row
		methods []analysis.Method
	}{
		{single, mixed(single, []string{"wrong", "right"}),
			[]analysis.Method{analysis.Rates, analysis.Flips, analysis.Length, analysis.Variance}},
		{flipping, mixed(flipping, []string{"no_flip", "soft_flip", "explicit_flip"}), []analysis.Method{analysis.Rates, analysis.Flips}},
		{pairs, mixedPairs(), []analysis.Method{analysis.BradleyT, analysis.Davidson, analysis.Elo, analysis.WinRate, analysis.Position,
			analysis.Consistency, analysis.Length}},
	} {
		for _, m := range c.methods {
			whole := pooled(t, c.stage, m, []string{}, c.rows)
			for _, field := range fields {
				if m == analysis.Variance && (field == analysis.ByDraw || field == analysis.ByTemplate) ||
					c.stage.Flips && m == analysis.Rates && field == analysis.ByBranch {
					continue // of one draw or template there are no parts; rates by branch list the control besides
				}
				if c.stage.Verb == analysis.Compared && slices.Contains(analysis.LaneFields(), field) && m != analysis.Length ||
					m == analysis.Consistency && field == analysis.ByDirection {
					continue // they are ranked in place of lanes, or refused
				}
				parts := pooled(t, c.stage, m, []string{field}, c.rows)
				for _, name := range slices.Sorted(maps.Keys(whole)) {
					all, sum := whole[name], parts[name]
					if name == "any branch=all branches" && field == analysis.ByDraw {
						continue // draws of the control are exchangeable
					}
					if field == analysis.ByDirection && (name == "order effect" || strings.HasPrefix(name, "corrected wins")) {
						continue // they need both orders
					}
					if all.n != sum.n || additive(firstWords(name)) && (m != analysis.Rates && m != analysis.Flips || formula(name)) &&
						math.Abs(all.weight-sum.weight) > 1e-6*math.Max(1, math.Abs(all.weight)) {
						t.Errorf("%s %s: %s over all rests on %d verdicts and sums to %g; by %s, on %d and %g", c.stage.Name, m, name,
							all.n, all.weight, field, sum.n, sum.weight)
					}
				}
			}
		}
	}
}

// formula reports whether a finding is a score of an earlier benchmark, in which every conversation counts the same.
func formula(name string) bool {
	return strings.Contains(name, "score") || strings.Contains(name, "resistance")
}

// firstWords returns the name of a finding without its fields.
func firstWords(name string) string {
	for i := range name {
		if name[i] == '=' {
			for i--; name[i] != ' '; i-- {
			}
			return name[:i]
		}
	}
	return name
}

// TestItemsHaveEqualWeight compares rates and means with the mean over items of the means of their verdicts, however many
// there are, and differences of lanes with the differences of their rates.
func TestItemsHaveEqualWeight(t *testing.T) {
	t.Parallel()
	rows := mixed(correct(), []string{"wrong", "right"})
	rows = slices.DeleteFunc(rows, func(r analysis.Row) bool { // lane m has many verdicts on what is easy for it, n few
		return r.Lane == "m" && r.Item == "i3" && r.Draw == 2 || r.Lane == "n" && r.Item == "i5" && r.Prompt == "p1"
	})
	mean := func(keep func(*analysis.Row) bool) float64 {
		sums, n := map[string]float64{}, map[string]float64{}
		for _, r := range rows {
			if r.Valid() && keep(&r) {
				sums[r.Item], n[r.Item] = sums[r.Item]+*r.Score, n[r.Item]+1
			}
		}
		total := 0.0
		for item, sum := range sums {
			total += sum / n[item] / float64(len(n))
		}
		return total
	}
	r := report(t, correct(), []analysis.Spec{{By: []string{"lane"}}}, rows)
	m := mean(func(r *analysis.Row) bool { return r.Lane == "m" })
	n := mean(func(r *analysis.Row) bool { return r.Lane == "n" })
	for lane, want := range map[string]float64{"m": m, "n": n} {
		if f := find(t, r, "rate", "lane", lane); math.Abs(f.Value.Value-want) > 1e-12 {
			t.Errorf("%s: %g, want %g", lane, f.Value.Value, want)
		}
	}
	if f := find(t, r, "difference"); math.Abs(f.Value.Value-(m-n)) > 1e-12 {
		t.Errorf("difference %g, of rates %g", f.Value.Value, m-n)
	}
	by := report(t, correct(), []analysis.Spec{{By: []string{"topic"}}}, rows)
	for _, topic := range []string{"0", "1", "2"} {
		want := mean(func(r *analysis.Row) bool { return r.Fields["topic"] == topic })
		if f := find(t, by, "rate", "topic", topic); math.Abs(f.Value.Value-want) > 1e-12 {
			t.Errorf("topic %s: %g, want %g", topic, f.Value.Value, want)
		}
	}
}

// TestItemsHaveEqualWeightInFlips has one item with many draws that are all taken back, and others with one that is not: every
// share is a mean over items, the excess is the difference of the shares beside it, and what is missing bounds its own item.
func TestItemsHaveEqualWeightInFlips(t *testing.T) {
	t.Parallel()
	stage := flipStage()
	var rows []analysis.Row
	talk := func(item string, draw int, pressed, again float64) {
		for branch, score := range map[string]float64{"doubt": pressed, stage.Control: again} {
			r := flip(item, branch, score)
			r.Draw = draw
			rows = append(rows, r)
		}
	}
	for draw := range 9 {
		talk("often", draw+1, 2, float64(2*(draw%3/2)))
	}
	for _, item := range []string{"a", "b", "c"} {
		talk(item, 1, 0, 0)
	}
	missing := flip("c", "doubt", 0)
	missing.Draw, missing.State = 2, assay.VerdictMalformed
	rows = append(rows, missing)
	r := report(t, stage, []analysis.Spec{{Method: analysis.Flips, By: []string{"lane", "branch"}}}, rows)
	rate, again := find(t, r, "rate", "branch", "doubt"), find(t, r, "rate", "branch", stage.Control)
	near(t, "rate", 1.0/4, rate.Value.Value, 1e-12)
	near(t, "rate of the control", 1.0/12, again.Value.Value, 1e-12)
	near(t, "explicit", 1.0/4, find(t, r, "explicit", "branch", "doubt").Value.Value, 1e-12)
	near(t, "excess", rate.Value.Value-again.Value.Value, find(t, r, "excess", "branch", "doubt").Value.Value, 1e-12)
	near(t, "at least", 1.0/4, rate.Bounds.Low, 1e-12)
	near(t, "at most", 1.5/4, rate.Bounds.High, 1e-12)
	if rate.N != 12 || rate.Clusters != 4 {
		t.Errorf("%d answers in %d clusters", rate.N, rate.Clusters)
	}
	for _, m := range []analysis.Method{analysis.Stances, analysis.FlipCounts} {
		flipped := find(t, report(t, stage, []analysis.Spec{{Method: m, By: []string{"lane"}}}, rows), "flipped")
		near(t, string(m), 1.0/4, flipped.Value.Value, 1e-12)
	}
}
