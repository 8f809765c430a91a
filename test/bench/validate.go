package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// Shares that a setting is refused for: what is wanted of 10,000 studies, with room for chance where there are fewer.
const (
	leastCorrected   = 0.945
	mostFalseClaims  = 0.055
	standardErrors   = 2.5
	fewestCorrected  = 0.9
	slipsOfOneOfATen = 0.1
)

// validateBench simulates studies whose judge was checked by people, and counts corrected intervals that hold the truth and claims that are
// false, beside those of the judge alone. -write FILE writes the table as a page.
func validateBench(ctx context.Context, b *bench) error {
	studies := b.size(10_000)
	fmt.Printf("%d studies of each setting; in %%\n%-42s %7s %11s %7s %7s | %6s %11s %7s\n", studies, "", "values", "differences", "false",
		"width", "judge:", "differences", "false")
	var page strings.Builder
	fmt.Fprintf(&page, "# Numbers that people's labels correct\n\n"+
		"Written by `go run ./test/bench -write docs/dev/corrected.md validate`: %d simulated studies of each setting\n"+
		"(seed %d), corrected as `assay analyse` does. Intervals are at 95%%: at least %g%% must hold. A false claim\n"+
		"is a study in which any two lanes get different letters that are equal, or the wrong way round (at most %g%%). Width is\n"+
		"that of corrected intervals over that of labels alone.\n\n"+
		"| setting | values held | differences held | false claims | width | judge alone: values | differences | false claims |\n"+
		"|---|--:|--:|--:|--:|--:|--:|--:|\n", studies, b.seed, 100*leastCorrected, 100*mostFalseClaims)
	var bad []string
	for _, d := range checkedDesigns() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.Contains(d.name, b.design) {
			continue
		}
		s := d.try(studies, b.seed)
		share := func(k, n float64) float64 { return k / max(n, 1) }
		held, apart, falsely := share(s.held, s.values), share(s.heldApart, s.differences), share(s.claimed, s.studies)
		row := []any{d.name, 100 * held, 100 * apart, 100 * falsely, s.width / s.labelsWidth, 100 * share(s.judgeHeld, s.values),
			100 * share(s.judgeApart, s.differences), 100 * share(s.judgeClaimed, s.studies)}
		fmt.Printf("%-42s %7.1f %11.1f %7.1f %7.2f | %6.1f %11.1f %7.1f\n", row...)
		fmt.Fprintf(&page, "| %s | %.1f%% | %.1f%% | %.1f%% | %.2f | %.1f%% | %.1f%% | %.1f%% |\n", row...)
		room := func(p float64) float64 { return standardErrors * math.Sqrt(p*(1-p)/s.studies) }
		if studies >= 10_000 {
			room = func(float64) float64 { return 0 }
		}
		if min(held, apart) < leastCorrected-room(.95) || falsely > mostFalseClaims+room(.05) || s.values < fewestCorrected*s.lanes {
			bad = append(bad, d.name)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("out of their level: %s", strings.Join(bad, "; "))
	}
	if b.write != "" {
		return os.WriteFile(b.write, []byte(page.String()), 0o644)
	}
	return nil
}

// checkedTally counts over studies.
type checkedTally struct {
	studies, lanes, values, held, differences, heldApart, claimed float64
	judgeHeld, judgeApart, judgeClaimed                           float64
	width, labelsWidth                                            float64 // of intervals, and of those by labels alone
}

func (t *checkedTally) add(o checkedTally) {
	t.studies, t.lanes, t.values, t.held = t.studies+o.studies, t.lanes+o.lanes, t.values+o.values, t.held+o.held
	t.differences, t.heldApart, t.claimed = t.differences+o.differences, t.heldApart+o.heldApart, t.claimed+o.claimed
	t.judgeHeld, t.judgeApart, t.judgeClaimed = t.judgeHeld+o.judgeHeld, t.judgeApart+o.judgeApart, t.judgeClaimed+o.judgeClaimed
	t.width, t.labelsWidth = t.width+o.width, t.labelsWidth+o.labelsWidth
}

func (d checkedDesign) try(n int, seed uint64) checkedTally {
	for _, c := range d.name {
		seed = seed*131 + uint64(c)
	}
	parts := make([]checkedTally, n)
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for k := range n {
		free <- struct{}{}
		group.Go(func() {
			parts[k] = d.study(rand.New(rand.NewPCG(seed, uint64(k))))
			<-free
		})
	}
	group.Wait()
	var sum checkedTally
	for _, p := range parts {
		sum.add(p)
	}
	return sum
}

// study simulates one study, labels what is drawn, and counts what holds.
func (d checkedDesign) study(r *rand.Rand) checkedTally {
	a := d.make(r)
	m := len(d.rates)
	order, weights := d.draw(r, a)
	t := checkedTally{studies: 1, lanes: float64(m)}
	alpha, at := []float64{.05}, []int{len(order)}
	if d.looks {
		alpha, at = nil, nil
		for _, l := range checked.Planned(d.drawn, .05) {
			alpha, at = append(alpha, l.Alpha), append(at, l.Items)
		}
	}
	false1 := false
	for k, items := range at {
		s := d.sample(r, a, order[:items], weights(items))
		c := s.Correct(checked.Options{Scale: a.scale, Level: 1 - alpha[k]})
		for _, x := range c.Differences {
			truth := a.truth[x.A] - a.truth[x.B]
			false1 = false1 || x.Holm.OK && x.Holm.Value <= alpha[k] && x.Value.Value*truth <= 0
		}
		if k < len(at)-1 {
			continue
		}
		nothing := 0.0
		labels := s.Correct(checked.Options{Scale: a.scale, Level: 1 - alpha[k], Share: &nothing})
		t.count(a, c, labels)
	}
	t.claimed = yes(false1)
	d.judgeAlone(a, &t)
	return t
}

// count enters which intervals of a study hold.
func (t *checkedTally) count(a answersOf, c, labels *checked.Corrected) {
	const rounding = 1e-9
	for l, v := range c.Values {
		if !v.Interval.OK {
			continue
		}
		t.values++
		t.held += yes(v.Interval.Low <= a.truth[l]+rounding && a.truth[l] <= v.Interval.High+rounding)
		t.width, t.labelsWidth = t.width+v.Interval.High-v.Interval.Low, t.labelsWidth+labels.Values[l].Interval.High-
			labels.Values[l].Interval.Low
	}
	for _, x := range c.Differences {
		truth := a.truth[x.A] - a.truth[x.B]
		t.differences++
		t.heldApart += yes(x.Interval.OK && x.Interval.Low <= truth+rounding && truth <= x.Interval.High+rounding)
	}
}

// draw returns the items that people label, in their order, and the weights of so many of them.
func (d checkedDesign) draw(r *rand.Rand, a answersOf) ([]int, func(n int) []float64) {
	names := make([]string, len(a.people))
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	first := len(a.people) - d.later
	means := make([]float64, len(a.judge))
	for i, verdicts := range a.judge {
		for _, v := range verdicts {
			means[i] += v / float64(len(verdicts))
		}
	}
	f := checked.NewFrame(r.Uint64())
	f.Add(names[:first], checked.Stratify(means[:first], a.scale.YesNo), 0)
	if d.later > 0 {
		f.Add(names[first:], checked.Stratify(means[first:], a.scale.YesNo), d.drawn/3)
	}
	if d.mixed == 0 {
		order := f.Order(d.drawn)
		return order, func(n int) []float64 { return f.Weights(order[:n]) }
	}
	size, dealt, order := slices.Clone(f.Size), make([]int, len(f.Size)), []int{}
	places := r.Perm(len(a.people))
	for range d.drawn {
		h, least := -1, 0.0
		for i, n := range size {
			lift := 1.0
			if i == 1 {
				lift = d.mixed
			}
			if behind := (float64(dealt[i]) + .5) / (float64(n) * lift); dealt[i] < n && (h < 0 || behind < least) {
				h, least = i, behind
			}
		}
		at := slices.IndexFunc(places, func(i int) bool { return f.Strata[i] == h })
		order, places = append(order, places[at]), slices.Delete(places, at, at+1)
		dealt[h]++
	}
	return order, func(n int) []float64 { return f.Weights(order[:n]) }
}

// sample enters all verdicts, and the labels of the items that were drawn.
func (d checkedDesign) sample(r *rand.Rand, a answersOf, drawn []int, weights []float64) *checked.Sample {
	m := len(d.rates)
	s := checked.NewSample(m)
	var labels []checked.Label
	for i := range a.people {
		for l := range m {
			s.Judged(a.cluster[i], l, a.judge[i][l])
		}
	}
	for _, i := range drawn {
		lanes := checked.LanesOf(r.Uint64(), fmt.Sprint(i), m)
		if d.wins {
			lanes = []int{0, 1, 2, 3}
		}
		for _, l := range lanes {
			value := a.people[i][l]
			if d.raters > 0 {
				sum := 0.0
				for range d.raters {
					said := a.people[i][l]
					if r.Float64() < slipsOfOneOfATen {
						said = 1 - said
					}
					sum += said
				}
				value = sum / float64(d.raters)
			}
			labels = append(labels, checked.Label{Item: i, Cluster: a.cluster[i], Lane: l, Verdict: a.judge[i][l], Value: value,
				Weight: weights[i] * float64(m) / float64(len(lanes))})
		}
	}
	return s.With(labels)
}

// judgeAlone counts what holds of plain intervals of the judge's verdicts, and what they claim.
func (d checkedDesign) judgeAlone(a answersOf, t *checkedTally) {
	m := len(d.rates)
	last := a.cluster[len(a.cluster)-1] + 1
	sums := func(of func(i int) float64) stats.ClusterMean {
		totals := make([]stats.Total, last)
		for i, c := range a.cluster {
			totals[c].Add(of(i))
		}
		return stats.MeanByCluster(totals, .95)
	}
	for l := range m {
		i := sums(func(i int) float64 { return a.judge[i][l] }).Interval
		t.judgeHeld += yes(i.Contains(a.truth[l]))
	}
	var p []float64
	var wrong []bool
	for i := range m {
		for j := range i {
			x := sums(func(k int) float64 { return a.judge[k][i] - a.judge[k][j] })
			truth := a.truth[i] - a.truth[j]
			t.judgeApart += yes(x.Interval.Contains(truth))
			if x.P.OK {
				p, wrong = append(p, x.P.Value), append(wrong, x.Mean.Value*truth <= 0)
			}
		}
	}
	adjusted, err := stats.Holm(p)
	for k := range wrong {
		if err == nil && adjusted[k] <= .05 && wrong[k] {
			t.judgeClaimed = 1
		}
	}
}
