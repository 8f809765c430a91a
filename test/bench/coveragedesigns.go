package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// asked is a design of answers that are right or wrong. Items are hard or easy for all lanes alike, and clusters of
// items, too, as far as shares of a latent variance say.
type asked struct {
	items      int
	right      []float64 // by lane
	clusters   int       // 0: items are independent
	large      []int     // items of the first clusters, one to each other; empty: all are of one size. Lanes differ by cluster
	undeclared bool      // the study does not name its clusters
	draws      func(r *rand.Rand) int
	missing    float64
	byItem     float64 // share of the variance between items; 0: a half
}

// answerDesigns are those of rates, most with three equal lanes.
func answerDesigns() []design {
	three := func(p float64) []float64 { return []float64{p, p, p} }
	always := func(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }
	equal8 := make([]float64, 8)
	for i := range equal8 {
		equal8[i] = 0.5
	}
	list := []struct {
		name string
		asked
		lax string
	}{
		{"5 items, 50% right", asked{items: 5, right: three(.5)}, ""},
		{"5 items, two lanes, 50%", asked{items: 5, right: []float64{.5, .5}}, ""},
		{"5 items, two lanes, 90 and 50%", asked{items: 5, right: []float64{.9, .5}}, ""},
		{"8 items, two lanes, 2 draws, 80%", asked{items: 8, right: []float64{.8, .8}, draws: always(2)}, ""},
		{"5 items, 95%", asked{items: 5, right: three(.95)}, ""},
		{"20 items, 3%", asked{items: 20, right: three(.03)}, ""},
		{"20 items, 50%", asked{items: 20, right: three(.5)}, ""},
		{"50 items, 97%", asked{items: 50, right: three(.97)}, ""},
		{"40 items, 90, 70 and 50%", asked{items: 40, right: []float64{.9, .7, .5}}, ""},
		{"30 items, 8 lanes", asked{items: 30, right: equal8}, ""},
		{"30 items, 40% of answers missing", asked{items: 30, right: three(.5), missing: .4}, ""},
		{"10 clusters of 3", asked{items: 30, right: three(.5), clusters: 10}, ""},
		{"10 clusters of 3, not declared", asked{items: 30, right: three(.5), clusters: 10, undeclared: true},
			"What happens where items come in groups and the study does not name them with `cluster:`."},
		{"5 clusters of 8, 60%", asked{items: 40, right: three(.6), clusters: 5}, ""},
		{"5 clusters of 8, 90%", asked{items: 40, right: three(.9), clusters: 5}, ""},
		{"12 clusters, 20, 5, 3, 2, 2, 2 and 1 items",
			asked{items: 40, right: three(.6), clusters: 12, large: []int{20, 5, 3, 2, 2, 2}}, ""},
		{"42 clusters, two of 30 items, the others of 1", asked{items: 100, right: three(.6), clusters: 42, large: []int{30, 30}}, ""},
		{"20 items, 5 draws", asked{items: 20, right: three(.5), draws: always(5)}, ""},
		{"6 items, 5 draws", asked{items: 6, right: three(.5), draws: always(5)}, ""},
		{"20 items, 1 to 6 draws", asked{items: 20, right: three(.5), draws: func(r *rand.Rand) int { return 1 + r.IntN(6) }}, ""},
		{"12 items, 5 draws, 95%", asked{items: 12, right: three(.95), draws: always(5)}, ""},
	}
	var out []design
	for _, l := range list {
		out = append(out, design{name: l.name, make: l.asked.make, lax: l.lax, times: 4})
	}
	return out
}

func laneName(i int) string { return fmt.Sprintf("lane%d", i) }

func (a asked) make(r *rand.Rand) trial {
	one, nothing := 1.0, 0.0
	t := trial{truth: map[string]float64{}, spec: analysis.Spec{Method: analysis.Rates}, stage: analysis.Stage{
		Name: "right", Verb: analysis.Judged, Judges: []string{"judge"}, Low: &nothing, High: &one,
		Labels: []analysis.Label{{Name: "right", Score: &one}, {Name: "wrong", Score: &nothing}},
	}}
	of, apart := make([]float64, a.clusters), make([]float64, a.clusters*len(a.right))
	for i := range of {
		of[i] = r.NormFloat64()
	}
	byLane := 0.0 // share of the variance that lanes do not have in common
	if a.large != nil {
		byLane = 0.2
		for i := range apart {
			apart[i] = r.NormFloat64()
		}
	}
	between, byItem := 0.0, a.byItem
	if byItem == 0 {
		byItem = 0.5
	}
	if a.clusters > 0 {
		between, byItem = 0.3, 0.2
	}
	for i := range a.items {
		row := analysis.Row{Stage: "right", Judge: "judge", Item: fmt.Sprintf("q%03d", i), Turn: 1, State: assay.VerdictValid}
		hard, in := math.Sqrt(byItem)*r.NormFloat64(), 0
		if a.clusters > 0 {
			in = a.clusterOf(i)
			hard += math.Sqrt(between) * of[in]
			if !a.undeclared {
				row.Cluster = fmt.Sprintf("c%d", in)
			}
		}
		for lane, p := range a.right {
			row.Lane = laneName(lane)
			t.truth[row.Lane] = p
			own := 0.0
			if byLane > 0 {
				own = math.Sqrt(byLane) * apart[in*len(a.right)+lane]
			}
			chance := normal((stats.NormalQuantile(p) - hard - own) / math.Sqrt(1-between-byItem-byLane))
			draws := 1
			if a.draws != nil {
				draws = a.draws(r)
			}
			for d := range draws {
				row.Draw, row.Label, row.Score = d+1, "wrong", &nothing
				if r.Float64() < chance {
					row.Label, row.Score = "right", &one
				}
				if r.Float64() >= a.missing {
					t.rows = append(t.rows, row)
				}
			}
		}
	}
	return t
}

// clusterOf returns the cluster of an item.
func (a asked) clusterOf(item int) int {
	for c, n := range a.large {
		if item < n {
			return c
		}
		item -= n
	}
	return len(a.large) + item%(a.clusters-len(a.large))
}

// ranked is a design of texts that judges compare, pair by pair in both orders.
type ranked struct {
	texts, pairs, judges int
	spread               float64 // of strengths
	shared               float64 // sd of the view of a pair that all judges share, beyond strengths, in logits
	half                 bool    // only every second pair has such a view
	order                float64 // advantage of the first
}

// textDesigns are rankings of texts: the cluster is the pair.
func textDesigns() []design {
	var out []design
	for _, pairs := range []int{40, 60, 100, 190} {
		for _, of := range []struct {
			what string
			ranked
		}{
			{"coin flips", ranked{}},
			{"equal texts, judges share a view of a pair", ranked{shared: .8}},
			{"equal texts, a shared view of every second pair", ranked{shared: 1, half: true}},
			{"strengths of sd 1", ranked{spread: 1, order: .3}},
		} {
			of.texts, of.pairs, of.judges = 20, pairs, 10
			out = append(out, design{name: fmt.Sprintf("20 texts, %d pairs: %s", pairs, of.what), make: of.ranked.make})
		}
	}
	few := ranked{texts: 10, pairs: 45, judges: 1, spread: 1}
	out = append(out, design{name: "10 texts, all 45 pairs, one judge, strengths of sd 1", make: few.make})
	return out
}

func (d ranked) make(r *rand.Rand) trial {
	t := trial{truth: map[string]float64{}, spec: analysis.Spec{Method: analysis.BradleyT},
		stage: analysis.Stage{Name: "texts", Verb: analysis.Compared, Items: true, Judges: []string{"judge"}}}
	theta, mean := make([]float64, d.texts), 0.0
	var all [][2]int
	for i := range theta {
		theta[i] = d.spread * r.NormFloat64()
		mean += theta[i] / float64(d.texts)
		for j := range i {
			all = append(all, [2]int{j, i})
		}
	}
	name := func(i int) string { return fmt.Sprintf("S%02d", i) }
	for i := range theta {
		theta[i] -= mean
		t.truth[name(i)] = theta[i]
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for c, pair := range all[:d.pairs] {
		view := d.shared * r.NormFloat64()
		if d.half && c%2 == 0 {
			view = 0
		}
		for judge := range d.judges {
			for turned := range 2 {
				first, second, ahead := pair[0], pair[1], theta[pair[0]]-theta[pair[1]]+view
				if turned == 1 {
					first, second, ahead = second, first, -ahead
				}
				label := assay.LabelB
				if r.Float64() < 1/(1+math.Exp(-ahead-d.order)) {
					label = assay.LabelA
				}
				t.rows = append(t.rows, analysis.Row{Stage: "texts", Judge: fmt.Sprintf("judge%d", judge), Lane: name(first), Other: name(
					second), Item: name(pair[0]) + "|" + name(pair[1]), Turn: 1, Draw: 1, State: assay.VerdictValid, Label: label})
			}
		}
	}
	return t
}
