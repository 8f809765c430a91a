package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	kit "assay/internal/find/analysis/gather"
	"assay/internal/find/results/trend"
	"assay/internal/find/stats/drift"
)

// What is wanted of histories in which the judge alone moved.
const (
	leastNamed  = 0.90 // as the judge's
	mostAccused = 0.05 // as a model's
)

// trendDesign is a study that was run several times.
type trendDesign struct {
	name        string
	items, gold int
	lanes       int
	noise       float64 // share of verdicts that come out otherwise when the same answer is judged again
	judge       float64 // by which the judge moves once, in points of its share of yes
	model       float64 // by which the model of the first lane changes once
	rate        float64 // of good answers
	goldRate    float64 // of good answers in the gold set
	must        bool    // the figures that are wanted hold here
}

func trendDesigns() []trendDesign {
	usual := trendDesign{items: 400, gold: 400, lanes: 3, noise: .02, rate: .6, goldRate: .6}
	var out []trendDesign
	add := func(name string, set func(*trendDesign)) {
		d := usual
		d.name = name
		set(&d)
		out = append(out, d)
	}
	must := func(name string, set func(*trendDesign)) {
		add(name, func(d *trendDesign) { d.judge, d.must = .05, true; set(d) })
	}
	must("judge +5", func(*trendDesign) {})
	must("judge -5", func(d *trendDesign) { d.judge = -.05 })
	must("judge +5, 8 lanes", func(d *trendDesign) { d.lanes = 8 })
	must("judge +5, rates of 85%", func(d *trendDesign) { d.rate, d.goldRate = .85, .85 })
	must("judge +5, 2,000 items", func(d *trendDesign) { d.items = 2000 })
	must("judge +5, nothing else varies", func(d *trendDesign) { d.gold, d.noise = 250, 0 })
	must("judge +5, 5% come out otherwise", func(d *trendDesign) { d.gold, d.noise = 700, .05 })
	add("judge +5, gold unlike the rest", func(d *trendDesign) { d.judge, d.goldRate = .05, .4 })
	add("judge +5, 200 gold answers", func(d *trendDesign) { d.judge, d.gold = .05, 200 })
	add("judge +5, 100 gold answers", func(d *trendDesign) { d.judge, d.gold = .05, 100 })
	add("nothing", func(*trendDesign) {})
	add("nothing, 0.1% come out otherwise", func(d *trendDesign) { d.gold, d.noise = 100, .001 })
	add("a model +12", func(d *trendDesign) { d.model = .12 })
	add("a model +12 and the judge -5", func(d *trendDesign) { d.model, d.judge = .12, -.05 })
	return out
}

// trendBench simulates histories of four runs in which the judge, a model, both or nothing changes once, and counts whose the changes are
// called: in the step where something changed, and in the two others.
func trendBench(ctx context.Context, b *bench) error {
	histories := b.size(400)
	fmt.Printf("%d histories of each; in %%\n%-34s %6s %5s | %8s %8s %11s | %s\n", histories, "", "items", "gold", "judge's", "model's",
		"cannot tell", "other steps: judge's, model's")
	var bad []string
	for _, d := range trendDesigns() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var t trendTally
		for k := range histories {
			t.history(d, rand.New(rand.NewPCG(b.seed, uint64(k))))
		}
		n := float64(histories)
		fmt.Printf("%-34s %6d %5d | %8.1f %8.1f %11.1f | %.1f, %.1f\n", d.name, d.items, d.gold, 100*t.judges/n, 100*t.models/n,
			100*t.unclear/n, 100*t.falseJudge/(2*n), 100*t.falseModel/(2*n))
		room := func(p float64) float64 { return standardErrors * math.Sqrt(p*(1-p)/n) }
		quiet := t.falseJudge/(2*n) <= mostAccused+room(mostAccused) && t.falseModel/(2*n) <= mostAccused+room(mostAccused)
		if !quiet || d.must && (t.judges/n < leastNamed || t.models/n > mostAccused+room(mostAccused)) {
			bad = append(bad, d.name)
		}
	}
	fmt.Printf("gold answers that name a shift of 5 points in 90%%: %d where 2%% of verdicts come out otherwise when judged again\n",
		goldNeeded(b.seed, histories))
	if len(bad) > 0 {
		return fmt.Errorf("out of their level: %s", strings.Join(bad, "; "))
	}
	return nil
}

// trendTally counts over histories.
type trendTally struct{ judges, models, unclear, falseJudge, falseModel float64 }

// history simulates one study of four runs.
func (t *trendTally) history(d trendDesign, r *rand.Rand) {
	at := r.IntN(3)
	gold := make([]float64, d.gold) // how good each answer is
	for k := range gold {
		gold[k] = yes(r.Float64() < d.goldRate)
	}
	var judge, model float64
	before := d.run(r, gold, judge, model)
	for step := range 3 {
		if step == at {
			judge, model = d.judge, d.model
		}
		after := d.run(r, gold, judge, model)
		moved, lanes := d.compare(before, after)
		accused, unclear := false, false
		for _, l := range lanes {
			accused = accused || l.Whose == drift.Models || l.Whose == drift.Boths
			unclear = unclear || l.Whose == drift.CannotTell
		}
		if before = after; step != at {
			t.falseJudge, t.falseModel = t.falseJudge+yes(moved), t.falseModel+yes(accused)
			continue
		}
		t.judges, t.models, t.unclear = t.judges+yes(moved && (d.model != 0 || !accused)), t.models+yes(accused), t.unclear+yes(unclear)
	}
}

// trendRun is the verdicts of a run: on the gold set, and of each lane.
type trendRun struct {
	gold  []float64
	lanes [][]float64
}

// run simulates the verdicts of a run. Answers of lanes are new ones; a judge is wrong in one of ten.
func (d trendDesign) run(r *rand.Rand, gold []float64, judge, model float64) trendRun {
	var out trendRun
	for k, good := range gold {
		wrong := rand.New(rand.NewPCG(uint64(k), 77)).Float64() < .1 // about the same answer always
		out.gold = append(out.gold, d.verdict(r, good == 1, wrong, judge, d.goldRate))
	}
	for l := range d.lanes {
		rate := d.rate
		if l == 0 {
			rate += model
		}
		var lane []float64
		for range d.items {
			lane = append(lane, d.verdict(r, r.Float64() < rate, r.Float64() < .1, judge, rate))
		}
		out.lanes = append(out.lanes, lane)
	}
	return out
}

// verdict returns what the judge says of an answer: a judge that moved says yes of some answers that it said no of, or the other way round.
func (d trendDesign) verdict(r *rand.Rand, good, wrong bool, judge, rate float64) float64 {
	says := good != wrong
	share := .9*d.rate + .1*(1-d.rate) // of yes; a shift is that of the study
	if judge > 0 && !says && r.Float64() < judge/(1-share) || judge < 0 && says && r.Float64() < -judge/share {
		says = !says
	}
	return yes(says != (r.Float64() < d.noise/2))
}

// compare takes the changes between two runs apart.
func (d trendDesign) compare(before, after trendRun) (moved bool, lanes []drift.Lane) {
	change := func(was, is []float64) drift.Change {
		f := analysis.Finding{What: analysis.WhatDifference, Unit: analysis.Share, N: len(is)}
		clusters := make([]uint32, len(is))
		for k := range clusters {
			clusters[k] = uint32(k)
		}
		if _, err := kit.Pair(&f, is, was, clusters, true, trend.Level); err != nil {
			panic(err)
		}
		return trend.ChangeOf(&f, 1)
	}
	judge := drift.Judge{Measured: !drift.Unlike(meanOf(before.gold), meanOf(slices.Concat(before.lanes...)), 1, trend.Level),
		Shift: change(before.gold, after.gold)}
	for l := range before.lanes {
		lanes = append(lanes, drift.Lane{Change: change(before.lanes[l], after.lanes[l])})
	}
	if err := drift.Apportion(judge, lanes, trend.Level); err != nil {
		panic(err)
	}
	return judge.Moved(trend.Level), lanes
}

// meanOf returns the share of yes with its error.
func meanOf(all []float64) drift.Mean {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	n := max(1, float64(len(all)))
	return drift.Mean{Value: sum / n, SE: math.Sqrt(sum / n * (1 - sum/n) / n)}
}

// goldNeeded returns the smallest gold set, in steps of 20, that names the judge's shift often enough.
func goldNeeded(seed uint64, histories int) int {
	d := trendDesigns()[0]
	d.lanes = 0
	for d.gold = 200; ; d.gold += 20 {
		var t trendTally
		for k := range histories {
			t.history(d, rand.New(rand.NewPCG(seed, uint64(k))))
		}
		if t.judges >= leastNamed*float64(histories) {
			return d.gold
		}
	}
}
