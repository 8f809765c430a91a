package plan

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/find/stats"
	"assay/internal/study"
)

// clusterAlike is which part of what varies is assumed to be the same for all items of a cluster.
const clusterAlike = 0.2

// effect returns how many items count as one, because several share a cluster. Where variances were measured, they are
// those of whole clusters.
func (z *Size) effect(measured bool) float64 {
	if z.Clusters == 0 {
		return 1
	}
	each := float64(z.Items) / float64(z.Clusters)
	if measured {
		return each
	}
	return 1 + (each-1)*clusterAlike
}

// Power holds what a judge or compare stage of the planned size can show, two-sided at 5% with 80% power. It rests on what is assumed (see
// [Size.variance]), or on how answers varied in an earlier run.
type Power struct {
	Stage string     `json:"stage"`
	Verb  study.Verb `json:"verb"`

	// Of a compare stage.
	Pairs    int64   `json:"pairs,omitempty"`           // of each two contestants, on average
	Share    float64 `json:"share,omitempty"`           // the smallest share of wins that so many pairs can distinguish from even; 0: none
	ShareAll float64 `json:"share_all_pairs,omitempty"` // the same, where all pairs of contestants are tested together (Holm)

	// Of a judge stage, for two of its lanes on the same items.
	Items         int64   `json:"items,omitempty"`                // of each lane
	AtMost        bool    `json:"at_most,omitempty"`              // a condition may leave items out
	Clusters      int64   `json:"clusters,omitempty"`             // of them, where several items share one
	Draws         int64   `json:"draws,omitempty"`                // answers of a lane to each item
	Difference    float64 `json:"difference,omitempty"`           // the smallest difference that so many items show; 0: none
	DifferenceAll float64 `json:"difference_all_pairs,omitempty"` // the same, where all pairs of lanes are tested together (Holm)
	Chance        float64 `json:"chance_of_10_points,omitempty"`  // that a difference of 10 points shows

	Need int64 `json:"needed"` // pairs of each two that 55:45 needs, or items that a difference of 5 points needs

	What        Measure       `json:"what"`
	Contestants int64         `json:"contestants"`
	Tests       int64         `json:"tests"`                  // pairs of contestants
	Scale       float64       `json:"scale,omitempty"`        // of means: the highest score less the lowest. A point is a hundredth of it
	Variance    float64       `json:"variance,omitempty"`     // of the difference of two lanes on one item
	Information float64       `json:"information,omitempty"`  // about the difference of two strengths, from one comparison
	Measured    *Varied       `json:"measured,omitempty"`     // where this was measured; without it, it is assumed
	Why         string        `json:"why,omitempty"`          // why nothing can be said
	Detect      *Detect       `json:"detect,omitempty"`       // what a given difference needs
	NoWorse     []HeldAgainst `json:"no_worse,omitempty"`     // of analyses that hold lanes against a baseline
	Further     float64       `json:"further_look,omitempty"` // the level of what more items show, where these are some of them; 0: the usual
}

// HeldAgainst holds what a stage of the planned size can show of lanes that are held against a baseline.
type HeldAgainst struct {
	Points float64 `json:"margin_points"`    // that may be lost at most
	Tests  int64   `json:"tests"`            // lanes that are held against it
	Chance float64 `json:"chance_of_equals"` // that a lane that is as good as the baseline is shown to be no worse
	Needed Needed  `json:"needed_for_80"`    // for a chance of 80%
}

// Measure is the quantity by which a stage compares its lanes.
type Measure string

// The measures.
const (
	OfRates  Measure = "rate"   // yes or no
	OfMeans  Measure = "mean"   // scores
	OfExcess Measure = "excess" // answers taken back, over a neutral re-ask
	OfWins   Measure = "wins"   // comparisons
)

// Varied is how far answers of a stage varied in an earlier run.
type Varied struct {
	Run         string  `json:"run"`
	Items       int     `json:"items"` // independent units of it
	Variance    float64 `json:"-"`     // of the difference of two lanes on one item; 0: not known
	Exact       bool    `json:"-"`     // each item has one yes or no of each lane
	Rate        float64 `json:"-"`     // of yes, where it is exact
	Information float64 `json:"-"`     // of one comparison; 0: not known
}

// Detect is the size that a given difference needs.
type Detect struct {
	Points   float64 `json:"points"` // hundredths of a rate, of a scale, or of wins above a half
	TwoLanes Needed  `json:"two_lanes"`
	AllPairs *Needed `json:"all_pairs,omitempty"` // with all pairs of contestants tested together (Holm); nil: there is one
	Why      string  `json:"why,omitempty"`       // why nothing can be said
}

// Needed is a size, and what it costs.
type Needed struct {
	Items       int64    `json:"items,omitempty"`       // 0: more than those that compete do not help
	Comparisons int64    `json:"comparisons,omitempty"` // over all pairs; of a compare stage
	TooMany     bool     `json:"too_many,omitempty"`    // there are not so many pairs to compare
	Cost        *float64 `json:"cost_usd"`              // of all answers and verdicts; null: not known
	Live        *float64 `json:"live_cost_usd"`
}

// Size is a stage that can show differences, as it is planned.
type Size struct {
	Stage       string
	Verb        study.Verb
	What        Measure
	Contestants int64
	Items       int64
	AtMost      bool
	Clusters    int64         // of items, where several share one; 0: each stands alone
	Draws       int64         // answers of a lane to each item
	Scale       float64       // of means
	Comparisons int64         // pairs in all
	Most        int64         // of them, those that these items have
	Compete     bool          // items compete: there will be no more of them
	Reads       []string      // stages whose answers it needs, all the way back
	NoWorse     []HeldAgainst // of analyses that hold lanes against a baseline, without chance and need
	Further     float64       // the level of a look at more items, where a limit takes the first of them
	Why         string        // why nothing can be said
}

func shown(tests int64) stats.Test {
	return stats.Test{Alpha: 0.05 / float64(max(1, tests)), Power: 0.8}
}

// variance returns what the difference of two lanes on one item is assumed to vary by. An answer varies by s²: a rate by
// 1/4, as rates near a half do, scores by the square of a quarter of their span, answers taken back less those of the
// re-ask by 1/5. Half of it is the item's and the same for all lanes, a quarter the lane's way with the item, and a
// quarter that of the draw, which more draws make smaller.
func (z *Size) variance() float64 {
	answer := map[Measure]float64{OfRates: 0.25, OfMeans: z.Scale * z.Scale / 16, OfExcess: 0.2}[z.What]
	return answer/2 + answer/2/float64(max(1, z.Draws))
}

// point returns a hundredth of what the stage measures.
func (z *Size) point() float64 {
	if z.What == OfMeans {
		return z.Scale / 100
	}
	return 0.01
}

// span returns what no difference can be larger than.
func (z *Size) span() float64 {
	switch {
	case z.What != OfMeans:
		return 1
	case z.Scale == 0: // there are no bounds
		return math.Inf(1)
	}
	return z.Scale
}

// information is assumed to be in one comparison about the difference of two strengths: as much as in one without ties between equals.
const information = 0.25

// Reckon computes what the stages of the plan can show, and what a difference of so many points needs (0: none is asked
// for), from how answers varied in an earlier run where that is known.
func (p *Plan) Reckon(seen map[string]Varied, points float64) {
	p.Power = nil
	for i := range p.Sizes {
		z := &p.Sizes[i]
		q := Power{Stage: z.Stage, Verb: z.Verb, What: z.What, Contestants: z.Contestants, Tests: z.Contestants * (z.Contestants - 1) / 2,
			AtMost: z.AtMost, Why: z.Why}
		v := seen[z.Stage]
		if z.What == OfWins {
			p.wins(z, &q, v, points)
		} else {
			p.paired(z, &q, v, points)
		}
		p.Power = append(p.Power, q)
	}
}

// paired fills in what lanes that are judged on the same items can show.
func (p *Plan) paired(z *Size, q *Power, v Varied, points float64) {
	q.Items, q.Clusters, q.Draws, q.Scale = z.Items, z.Clusters, z.Draws, z.Scale
	design := stats.Paired{Variance: z.variance(), Exact: z.What == OfRates && z.Draws == 1 && z.Clusters == 0}
	if v.Variance > 0 {
		q.Measured, q.Why = &v, ""
		design = stats.Paired{Variance: v.Variance, Exact: v.Exact, Rate: v.Rate}
	}
	if q.Why != "" {
		return
	}
	if !design.Exact || 2*math.Pow(0.5, float64(z.Items)) < shown(q.Tests).Alpha { // else it can claim nothing, and spends nothing
		q.Further = z.Further
	}
	q.Variance = rounded(design.Variance, 1e4)
	span, effect := z.span(), z.effect(q.Measured != nil)
	units := int(float64(z.Items) / effect)
	items := func(n int) int64 { return int64(math.Ceil(float64(n) * effect)) }
	least := func(tests int64) float64 {
		if d := design.Detectable(units, shown(tests)); d.OK && d.Value < span {
			return rounded(d.Value, 1e3)
		}
		return 0
	}
	q.Difference = least(1)
	if q.Tests > 1 {
		q.DifferenceAll = least(q.Tests)
	}
	if z.Scale == 0 && z.What == OfMeans {
		return // what a point is, is not known
	}
	if chance, err := design.Power(units, 10*z.point(), shown(1).Alpha); err == nil {
		q.Chance = rounded(chance, 1e3)
	}
	if need, err := design.Items(5*z.point(), shown(1)); err == nil {
		q.Need = items(need)
	}
	for _, k := range z.NoWorse {
		alpha, margin := shown(k.Tests).Alpha, k.Points*z.point()
		k.Chance = rounded(design.Keeps(units, margin, alpha), 1e3)
		if n, err := design.KeepItems(margin, shown(k.Tests)); err == nil {
			k.Needed = p.priced(z, Needed{Items: items(n)}, portion{items(n), z.Items}, portion{items(n), z.Items})
		}
		q.NoWorse = append(q.NoWorse, k)
	}
	if points == 0 {
		return
	}
	q.Detect = detect(points, q.Tests, func(tests int64) (Needed, error) {
		n, err := design.Items(points*z.point(), shown(tests))
		return p.priced(z, Needed{Items: items(n)}, portion{items(n), z.Items}, portion{items(n), z.Items}), err
	})
}

// wins fills in what contestants that are compared can show.
func (p *Plan) wins(z *Size, q *Power, v Varied, points float64) {
	q.Pairs, q.Clusters, q.Information = z.Comparisons/q.Tests, z.Clusters, information/z.effect(false)
	if v.Information > 0 {
		q.Measured, q.Information = &v, v.Information
	}
	least := func(tests int64) float64 {
		d, err := stats.DetectableStrength(int(z.Contestants), z.Comparisons, q.Information, shown(tests))
		share := math.Ceil(100/(1+math.Exp(-d))-1e-9) / 100
		if err != nil || share > 0.99 {
			return 0
		}
		return share
	}
	q.Share = least(1)
	if q.Tests > 1 {
		q.ShareAll = least(q.Tests)
	}
	needs := func(share float64, tests int64) (int64, error) {
		n, err := stats.ComparisonsNeeded(int(z.Contestants), math.Log(share/(1-share)), q.Information, shown(tests))
		return int64(n), err
	}
	if n, err := needs(0.55, 1); err == nil {
		q.Need = (n + q.Tests - 1) / q.Tests
	}
	if points == 0 {
		return
	}
	q.Detect = detect(points, q.Tests, func(tests int64) (Needed, error) {
		n, err := needs(0.5+points/100, tests)
		if err != nil {
			return Needed{}, err
		}
		out := Needed{Comparisons: n}
		answers := portion{1, 1}
		switch {
		case z.Compete:
			out.TooMany = n > z.Most
		case z.Most == z.Comparisons || n > z.Most: // each item gives what it has: more pairs need more items
			out.Items = (n*z.Items + z.Most - 1) / z.Most
			answers = portion{out.Items, z.Items}
		default:
			out.Items = z.Items
		}
		return p.priced(z, out, answers, portion{n, z.Comparisons}), nil
	})
	if points >= 50 {
		q.Detect = &Detect{Points: points, Why: "no share of wins is so far from a half"}
	}
}

func detect(points float64, tests int64, size func(tests int64) (Needed, error)) *Detect {
	out := &Detect{Points: points}
	two, err := size(1)
	if err != nil {
		out.Why = fmt.Sprint(err)
		return out
	}
	out.TwoLanes = two
	if tests > 1 {
		if all, err := size(tests); err == nil {
			out.AllPairs = &all
		}
	}
	return out
}

// portion is so many in place of those that are planned.
type portion struct{ some, of int64 }

func (q portion) price(p Price) Price { return p.times(q.some, q.of) }

// priced fills in what a size costs: answers of the stages before, and verdicts of the stage.
func (p *Plan) priced(z *Size, n Needed, answers, verdicts portion) Needed {
	before := p.Sum(func(q Part) bool { return slices.Contains(z.Reads, q.Stage) })
	own := p.Sum(func(q Part) bool { return q.Stage == z.Stage })
	if before.Requests+own.Requests == 0 {
		return n // who judges, and what that costs, is not in the plan
	}
	cost := answers.price(before.Cost).Plus(verdicts.price(own.Cost)).Expected
	live := answers.price(before.Live).Plus(verdicts.price(own.Live)).Expected
	n.Cost, n.Live = cost.Dollars(), live.Dollars()
	return n
}

func rounded(x, by float64) float64 { return math.Round(x*by) / by }
