package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// checkedDesign is a kind of study with a judge, of whose answers people labelled some.
type checkedDesign struct {
	name         string
	items, drawn int
	rates        []float64 // of lanes, as people see them; of scores, how far a lane is moved
	sens, spec   []float64 // of the judge, by lane; one: of all lanes
	alike        float64   // how far lanes of an item are alike; 0: 0.4
	size         []int     // of clusters, in turn; none: items
	scores       []float64 // how often each score is given; none: yes and no
	knows        float64   // of scores: how far the judge's go with people's
	lean         []float64 // of scores and wins: what the judge adds to each lane
	mixed        float64   // how many times as often mixed items are drawn; 0: once
	raters       int       // people on each answer, each of whom slips in one of ten; 0: one who never does
	later        int       // items that came after a third of the labels
	wins         bool      // lanes are compared with each other
	looks        bool      // at the planned points, and claims stay
}

func one(p ...float64) []float64 { return p }

// checkedDesigns are the settings under which corrected numbers have to hold.
func checkedDesigns() []checkedDesign {
	scores := one(.08, .17, .30, .30, .15)
	same := one(.7, .7)
	return []checkedDesign{
		{name: "judge right in 85%", items: 400, drawn: 60, rates: same, sens: one(.85), spec: one(.85)},
		{name: "judge right in 85%, 20 items labelled", items: 400, drawn: 20, rates: same, sens: one(.85), spec: one(.85)},
		{name: "favours one lane by 10 points", items: 400, drawn: 60, rates: same, sens: one(.95, .85), spec: one(.7833, .85)},
		{name: "favours one lane, 20 items labelled", items: 400, drawn: 20, rates: same, sens: one(.95, .85), spec: one(.7833, .85)},
		{name: "judge right in 60%", items: 400, drawn: 60, rates: one(.5, .5), sens: one(.6), spec: one(.6)},
		{name: "judge right in 60%, 20 items labelled", items: 400, drawn: 20, rates: one(.5, .5), sens: one(.6), spec: one(.6)},
		{name: "judge right in 75%, lanes differ", items: 400, drawn: 60, rates: one(.8, .65), sens: one(.75), spec: one(.75)},
		{name: "judge right in 95%, 10 items labelled", items: 400, drawn: 10, rates: one(.5, .5), sens: one(.95), spec: one(.95)},
		{name: "judge right in 97%, lanes differ", items: 400, drawn: 60, rates: one(.9, .8), sens: one(.98), spec: one(.93)},
		{name: "rates of 2%", items: 400, drawn: 60, rates: one(.02, .02), sens: one(.8), spec: one(.96)},
		{name: "rates of 98%", items: 400, drawn: 60, rates: one(.98, .98), sens: one(.96), spec: one(.8)},
		{name: "rates of 2%, 120 items labelled", items: 400, drawn: 120, rates: one(.02, .02), sens: one(.9), spec: one(.98)},
		{name: "12 items, 10 labelled", items: 12, drawn: 10, rates: one(.7, .5), sens: one(.85), spec: one(.85)},
		{name: "60 items, 4 lanes, favours one", items: 60, drawn: 30, rates: one(.7, .7, .7, .7), sens: one(.95, .85, .85, .85),
			spec: one(.7833, .85, .85, .85)},
		{name: "60 items, 2 lanes", items: 60, drawn: 20, rates: one(.6, .6), sens: one(.85), spec: one(.85)},
		{name: "80 clusters of 5", items: 400, drawn: 60, rates: same, sens: one(.85), spec: one(.85), size: []int{5}},
		{name: "12 clusters of 5", items: 60, drawn: 40, rates: same, sens: one(.85), spec: one(.85), size: []int{5}},
		{name: "scores 1 to 5, favours one", items: 400, drawn: 40, rates: one(0, 0, .3), scores: scores, knows: .75, lean: one(.4, 0, 0)},
		{name: "scores, 15 items labelled", items: 400, drawn: 15, rates: one(0, 0, .3), scores: scores, knows: .75, lean: one(.4, 0, 0)},
		{name: "8 lanes, 4 of an item", items: 400, drawn: 60, rates: one(.7, .7, .7, .7, .6, .6, .6, .6), sens: one(.85), spec: one(.85)},
		{name: "scores at the ceiling", items: 400, drawn: 20, rates: one(0, 0), scores: one(.01, .01, .03, .10, .85), knows: .6,
			lean: one(0, 0)},
		{name: "lanes nearly alike", items: 400, drawn: 40, rates: same, sens: one(.85), spec: one(.85), alike: .9},
		{name: "errs one way only", items: 800, drawn: 40, rates: one(.5, .5), sens: one(1 - 1e-9), spec: one(.8)},
		{name: "mixed items drawn twice as often", items: 400, drawn: 60, rates: one(.75, .65), sens: one(.85), spec: one(.85), mixed: 2},
		{name: "win shares of 4 lanes, leans to one", items: 200, drawn: 40, rates: one(.3, .3, 0, -.3), lean: one(.5, 0, 0, 0),
			wins: true},
		{name: "uneven clusters, 1 to 20 items", items: 400, drawn: 80, rates: same, sens: one(.85), spec: one(.85),
			size: []int{1, 2, 1, 20, 3, 1, 8, 1, 2, 1}},
		{name: "two people on each answer", items: 400, drawn: 60, rates: same, sens: one(.95, .85), spec: one(.7833, .85), raters: 2},
		{name: "half of the items came later", items: 400, drawn: 60, rates: same, sens: one(.95, .85), spec: one(.7833, .85), later: 200},
		{name: "favours one lane, looked at three times", items: 400, drawn: 60, rates: same, sens: one(.95, .85), spec: one(.7833, .85),
			looks: true},
	}
}

// answersOf is a simulated study: what people and the judge say of each item's lanes, and what is true.
type answersOf struct {
	people, judge [][]float64
	cluster       []int
	truth         []float64
	scale         checked.Scale
}

// make simulates answers. Lanes of an item, and items of a cluster, are alike; so are the judge's errors there.
func (d checkedDesign) make(r *rand.Rand) answersOf {
	m := len(d.rates)
	a := answersOf{scale: checked.YesNo(), truth: d.truth()}
	within := 0.0
	if d.size != nil {
		within = .3
	}
	alike := d.alike
	if alike == 0 {
		alike = .4
	}
	if d.scores != nil {
		a.scale = checked.Scale{Low: 1, High: 5, Step: 1}
	}
	if d.wins {
		a.scale = checked.Scale{High: 1, Step: 1 / float64(m-1)}
	}
	var ofCluster, errorOfCluster float64
	cluster, left := -1, 0
	for range d.items {
		if left == 0 {
			cluster++
			if left = 1; d.size != nil {
				left = d.size[cluster%len(d.size)]
			}
			ofCluster, errorOfCluster = r.NormFloat64(), r.NormFloat64()
		}
		left--
		a.cluster = append(a.cluster, cluster)
		if d.wins {
			y, f := d.won(r)
			a.people, a.judge = append(a.people, y), append(a.judge, f)
			continue
		}
		ofItem, errorOfItem := r.NormFloat64(), r.NormFloat64()
		y, f := make([]float64, m), make([]float64, m)
		for l := range m {
			z := math.Sqrt(within)*ofCluster + math.Sqrt(alike)*ofItem + math.Sqrt(max(0, 1-alike-within))*r.NormFloat64()
			e := math.Sqrt(within)*errorOfCluster + math.Sqrt(.2)*errorOfItem + math.Sqrt(.8-within)*r.NormFloat64()
			y[l], f[l] = d.said(z, e, l)
		}
		a.people, a.judge = append(a.people, y), append(a.judge, f)
	}
	return a
}

// said returns what people and the judge say of an answer of that quality, with that error.
func (d checkedDesign) said(z, e float64, lane int) (people, judge float64) {
	if d.scores != nil {
		z += d.rates[lane]
		return d.score(z), d.score(z*d.knows + math.Sqrt(1-d.knows*d.knows)*e + d.lean[lane])
	}
	of := func(list []float64) float64 { return stats.NormalQuantile(list[lane%len(list)]) }
	if z < of(d.rates) {
		return 1, yes(e < of(d.sens))
	}
	return 0, yes(e > of(d.spec))
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// score returns the score of an answer of that quality.
func (d checkedDesign) score(z float64) float64 {
	s, sum := 1.0, 0.0
	for _, p := range d.scores[:len(d.scores)-1] {
		if sum += p; z > stats.NormalQuantile(sum) {
			s++
		}
	}
	return s
}

// won returns the share of its comparisons that each lane wins on an item, by people and by the judge.
func (d checkedDesign) won(r *rand.Rand) (people, judge []float64) {
	m := len(d.rates)
	u, y, f := make([]float64, m), make([]float64, m), make([]float64, m)
	for l := range m {
		u[l] = d.rates[l] + r.NormFloat64()
	}
	for i := range m {
		for j := range i {
			y[i], y[j] = credited(y[i], y[j], u[i]-u[j]+.5*r.NormFloat64() > 0, m)
			f[i], f[j] = credited(f[i], f[j], u[i]-u[j]+d.lean[i]-d.lean[j]+r.NormFloat64() > 0, m)
		}
	}
	return y, f
}

func credited(a, b float64, first bool, m int) (float64, float64) {
	part := 1 / float64(m-1)
	return a + part*yes(first), b + part*yes(!first)
}

// truth returns what people would say on average of each lane.
func (d checkedDesign) truth() []float64 {
	out := slices.Clone(d.rates)
	for l := range out {
		switch {
		case d.scores != nil:
			sum := 0.0
			out[l] = 1
			for _, p := range d.scores[:len(d.scores)-1] {
				sum += p
				out[l] += 1 - stats.NormalBelow(stats.NormalQuantile(sum)-d.rates[l])
			}
		case d.wins:
			out[l] = 0
			for j := range d.rates {
				if j != l {
					out[l] += stats.NormalBelow((d.rates[l]-d.rates[j])/1.5) / float64(len(d.rates)-1)
				}
			}
		case d.raters > 0:
			out[l] = d.rates[l]*(1-slipsOfOneOfATen) + (1-d.rates[l])*slipsOfOneOfATen
		}
	}
	return out
}
