package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// duel is one comparison of two items.
type duel struct {
	first, second int
	won           bool // the first
	judge         string
}

func duels() []duel {
	luck := rand.New(rand.NewPCG(8, 5))
	var out []duel
	for _, judge := range []string{"j1", "j2"} {
		for a := range 6 {
			for b := range a {
				for range 3 + (7*a+3*b)%5 { // uneven, so that no two strengths are equal
					out = append(out, duel{b, a, luck.Float64() < 1/(1+math.Exp(0.5*float64(a-b))), judge})
				}
			}
		}
	}
	return out
}

// zermelo fits strengths by the oldest iteration there is.
func zermelo(list []duel, items int) []float64 {
	wins, n := make([]float64, items), make([][]float64, items)
	for i := range n {
		n[i] = make([]float64, items)
	}
	for _, d := range list {
		winner := d.first
		if !d.won {
			winner = d.second
		}
		wins[winner]++
		n[d.first][d.second]++
		n[d.second][d.first]++
	}
	p := slices.Repeat([]float64{1}, items)
	for range 20_000 {
		for i := range p {
			under := 0.0
			for k := range p {
				under += n[i][k] / (p[i] + p[k])
			}
			p[i] = wins[i] / under
		}
	}
	mean := 0.0
	for i := range p {
		p[i] = math.Log(p[i])
		mean += p[i] / float64(items)
	}
	for i := range p {
		p[i] -= mean
	}
	return p
}

func placesIn(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = 1
		for k := range x {
			if x[k] < x[i] {
				out[i]++
			}
		}
	}
	return out
}

func productMoment(x, y []float64) float64 {
	n, sx, sy, sxx, syy, sxy := float64(len(x)), 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range x {
		sx, sy, sxx, syy, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}

func TestStrengthsAreHeldAgainstWhatIsKnown(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Items, stage.Judges = true, []string{"j1", "j2"}
	known := []float64{3, 9, 5.5, 1, 7, 2}
	stage.Known = map[string]map[string]string{"quality": {}}
	for i, x := range known {
		stage.Known["quality"][fmt.Sprint("s", i)] = fmt.Sprint(x)
	}
	var rows []analysis.Row
	for k, d := range duels() {
		r := met(fmt.Sprint("s", d.first), fmt.Sprint("s", d.second), "", map[bool]string{true: "a", false: "b"}[d.won])
		r.Judge, r.Cluster = d.judge, fmt.Sprint("c", k)
		rows = append(rows, r)
	}
	for _, judge := range []string{"", "j1", "j2"} {
		var by, group []string
		if judge != "" {
			by, group = []string{analysis.ByJudge}, []string{judge}
		}
		r := report(t, stage, []analysis.Spec{{Method: analysis.Correlation, By: by, Settings: analysis.Settings{With: "quality"}}}, rows)
		theta := zermelo(slices.DeleteFunc(duels(), func(d duel) bool { return judge != "" && d.judge != judge }), len(known))
		linear, ranks := productMoment(theta, known), productMoment(placesIn(theta), placesIn(known))
		f := found(t, r, analysis.WhatPearson, group...)
		closeTo(t, "Pearson", f.Value, linear)
		closeTo(t, "its low bound", stats.Known(f.Interval.Low), math.Tanh(math.Atanh(linear)-1.959963984540054/math.Sqrt(3)))
		closeTo(t, "its error", f.SE, (1-linear*linear)/math.Sqrt(3))
		f = found(t, r, analysis.WhatSpearman, group...)
		closeTo(t, "Spearman", f.Value, ranks)
		closeTo(t, "its high bound", stats.Known(f.Interval.High),
			math.Tanh(math.Atanh(ranks)+1.959963984540054*math.Sqrt((1+ranks*ranks/2)/3)))
		if f.N != len(known) || (f.P.Value < 0.05) != (f.Interval.Low > 0 || f.Interval.High < 0) {
			t.Errorf("n %d, p %v, interval %v", f.N, f.P, f.Interval)
		}
	}
}

func TestARankingHasErrorsAndPlaces(t *testing.T) {
	t.Parallel()
	luck := rand.New(rand.NewPCG(4, 4))
	chances := map[string]float64{"a": 0.02, "b": 0.5, "c": 0.98}
	var rows []analysis.Row
	right, n := map[[2]string]float64{}, map[[2]string]float64{}
	for i := range 60 {
		topic := []string{"x", "y"}[i%2]
		for _, lane := range []string{"a", "b", "c"} {
			label := "wrong"
			if luck.Float64() < chances[lane] {
				label = "right"
				right[[2]string{lane, topic}]++
				right[[2]string{lane, ""}]++
			}
			n[[2]string{lane, topic}]++
			n[[2]string{lane, ""}]++
			r := said(lane, fmt.Sprint("q", i), label)
			r.Fields = map[string]string{"topic": topic}
			rows = append(rows, r)
		}
	}
	for _, topics := range [][]string{{""}, {"x", "y"}} {
		by := []string{analysis.ByLane}
		if len(topics) > 1 {
			by = append(by, "topic")
		}
		r := report(t, correct(), []analysis.Spec{{Method: analysis.Ranking, By: by}}, rows)
		if len(r.Tables) != 1 || len(r.Tables[0].Findings) != 3*len(topics) {
			t.Fatalf("%+v", r.Tables)
		}
		for _, topic := range topics {
			for place, lane := range []string{"c", "b", "a"} { // best first
				group := []string{lane}
				if topic != "" {
					group = append(group, topic)
				}
				f := found(t, r, analysis.WhatRate, group...)
				p, all := right[[2]string{lane, topic}]/n[[2]string{lane, topic}], n[[2]string{lane, topic}]
				closeTo(t, lane, f.Value, p)
				if p > 0 && p < 1 {
					closeTo(t, "error of "+lane, f.SE, math.Sqrt(p*(1-p)/all))
				}
				if f.Rank == nil || *f.Rank != (stats.RankInterval{Rank: place + 1, Best: place + 1, Worst: place + 1}) {
					t.Errorf("%s %s: %+v", lane, topic, f.Rank)
				}
			}
		}
	}
}

func TestARankingOfComparisonsIsThatOfStrengths(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for k, d := range duels() {
		r := met(fmt.Sprint("s", d.first), fmt.Sprint("s", d.second), fmt.Sprint("c", k), map[bool]string{true: "a", false: "b"}[d.won])
		r.Judge = d.judge
		r.Asked, r.OtherAsked = &analysis.LaneSetting{Provider: fmt.Sprint("p", d.first/2)},
			&analysis.LaneSetting{Provider: fmt.Sprint("p", d.second/2)}
		rows = append(rows, r)
	}
	theta := zermelo(duels(), 6)
	r := report(t, arena(), []analysis.Spec{{Method: analysis.Ranking}}, rows)
	for i, place := range placesIn(theta) {
		f := found(t, r, analysis.WhatStrength, fmt.Sprint("s", i))
		closeTo(t, "strength", f.Value, theta[i])
		if f.Rank == nil || f.Rank.Rank != 7-int(place) || f.Rank.Best > f.Rank.Rank || f.Rank.Worst < f.Rank.Rank {
			t.Errorf("s%d: %+v, want rank %d", i, f.Rank, 7-int(place))
		}
		if !f.SE.OK || !(f.SE.Value > 0.1 && f.SE.Value < 1) {
			t.Errorf("s%d: error %v", i, f.SE)
		}
	}
	var between []duel // providers: comparisons inside one of them carry no information
	for _, d := range duels() {
		if d.first/2 != d.second/2 {
			between = append(between, duel{d.first / 2, d.second / 2, d.won, d.judge})
		}
	}
	theta = zermelo(between, 3)
	r = report(t, arena(), []analysis.Spec{{Method: analysis.BradleyT, By: []string{analysis.ByProvider}}}, rows)
	for i := range theta {
		closeTo(t, "provider", found(t, r, analysis.WhatStrength, fmt.Sprint("p", i)).Value, theta[i])
	}
	if notes := strings.Join(r.Tables[0].Notes, "; "); !strings.Contains(notes, "comparisons between two of the same provider left out") {
		t.Errorf("notes: %s", notes)
	}
}
