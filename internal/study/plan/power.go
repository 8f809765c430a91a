package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"assay/internal/find/stats"
	"assay/internal/judge"
	"assay/internal/study"
)

// Power is what a judge or compare stage of the planned size can show, two-sided at 5% with 80% power. It rests on what is assumed (see
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

	What        Measure `json:"what"`
	Contestants int64   `json:"contestants"`
	Tests       int64   `json:"tests"`                 // pairs of contestants
	Scale       float64 `json:"scale,omitempty"`       // of means: the highest score less the lowest. A point is a hundredth of it
	Variance    float64 `json:"variance,omitempty"`    // of the difference of two lanes on one item
	Information float64 `json:"information,omitempty"` // about the difference of two strengths, from one comparison
	Measured    *Varied `json:"measured,omitempty"`    // where this was measured; without it, it is assumed
	Why         string  `json:"why,omitempty"`         // why nothing can be said
	Detect      *Detect `json:"detect,omitempty"`      // what a given difference needs
}

// Measure is what a stage measures its lanes by.
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
	stage       string
	verb        study.Verb
	what        Measure
	contestants int64
	items       int64
	atMost      bool
	clusters    int64    // of items, where several share one; 0: each stands alone
	draws       int64    // answers of a lane to each item
	scale       float64  // of means
	comparisons int64    // pairs in all
	most        int64    // of them, those that these items have
	compete     bool     // items compete: there will be no more of them
	reads       []string // stages whose answers it needs, all the way back
	why         string   // why nothing can be said
}

func shown(tests int64) stats.Test {
	return stats.Test{Alpha: 0.05 / float64(max(1, tests)), Power: 0.8}
}

// comparing adds the size of a compare stage: so many pairs among contestants, of so many that there are.
func (m *maker) comparing(ctx context.Context, st *study.Stage, n, most int64, g grouping) {
	contestants := int64(len(g.Lanes))
	if contestants == 0 {
		contestants = g.Slots
	}
	if contestants < 2 || n == 0 || !m.wanted(st) || st.Pairs != nil && st.Pairs.Within != "" { // groups are ranked apart
		return
	}
	clusters := int64(0)
	if len(g.Lanes) > 0 {
		clusters = m.clusters(ctx, st)
	}
	m.plan.sizes = append(m.plan.sizes, Size{
		clusters: clusters, stage: st.Name, verb: study.VerbCompare, what: OfWins, contestants: contestants, items: g.Slots, atMost: gated(st) || g.unknown,
		comparisons: n, most: most, compete: len(g.Lanes) == 0, reads: m.before(st),
	})
}

// judging adds the size of a judge stage that reads two lanes.
func (m *maker) judging(ctx context.Context, st *study.Stage, r judge.Rubric) {
	z := Size{stage: st.Name, verb: study.VerbJudge, draws: math.MaxInt64, reads: m.before(st)}
	var lanes []*study.Lane
	control := false
	for _, name := range st.Judge.List {
		source, ok := m.Study.Stage(name)
		from := m.given[name]
		if !ok || from == nil || from.reads(Of(st, r)) == 0 {
			continue
		}
		controlled := m.Study.Controlled(source)
		z.items, z.draws = max(z.items, from.items), min(z.draws, from.answers(source, Of(st, r), r.AgainstFirst))
		z.atMost = z.atMost || gated(st) || from.unknown
		control = control || controlled
		lanes = append(lanes, m.read(st, from)...)
	}
	sort.Slice(lanes, func(i, j int) bool { return lanes[i].Name < lanes[j].Name })
	if lanes = slices.Compact(lanes); len(lanes) < 2 || z.items == 0 || !m.wanted(st) {
		return
	}
	z.contestants, z.clusters = int64(len(lanes)), m.clusters(ctx, st)
	if z.what, z.scale = measure(r, control); z.what == OfMeans && z.scale == 0 {
		z.why = "its scores have no bounds, so how far they vary is not known before a run"
	}
	m.plan.sizes = append(m.plan.sizes, z)
}

// answers is how many answers to an item one lane gives; of flips, those under pressure.
func (a *answers) answers(source *study.Stage, of study.Of, flips bool) int64 {
	if !flips || a.items == 0 {
		return draws(source)
	}
	n := int64(0)
	for i, each := range a.turns {
		if !of.Reads(i+1, a.span()) {
			continue
		}
		n += max(0, each-a.control)
	}
	return max(1, n/a.items)
}

// measure is what a rubric measures lanes by, and the span of its scores.
func measure(r judge.Rubric, control bool) (Measure, float64) {
	if r.AgainstFirst && control {
		return OfExcess, 0
	}
	low, high, between := math.Inf(1), math.Inf(-1), len(r.Labels) == 0
	for _, l := range r.Labels {
		if l.Score == nil {
			continue
		}
		low, high = min(low, *l.Score), max(high, *l.Score)
		between = between || *l.Score != 0 && *l.Score != 1
	}
	if r.AgainstFirst || !between {
		return OfRates, 0
	}
	if r.Range.Low != nil && r.Range.High != nil {
		low, high = *r.Range.Low, *r.Range.High
	}
	if !(high > low) {
		return OfMeans, 0
	}
	return OfMeans, high - low
}

// before are all stages whose answers a stage rests on.
func (m *maker) before(st *study.Stage) []string {
	var out []string
	var visit func(st *study.Stage)
	visit = func(st *study.Stage) {
		for _, name := range st.Needs() {
			if from, ok := m.Study.Stage(name); ok && !slices.Contains(out, name) {
				out = append(out, name)
				visit(from)
			}
		}
	}
	visit(st)
	return out
}

// variance is what the difference of two lanes on one item is assumed to vary by. An answer varies by s²: a rate by 1/4, as rates near a half
// do, scores by the square of a quarter of their span, answers taken back less those of the re-ask by 1/5. Half of it is the item's and the
// same for all lanes, a quarter the lane's way with the item, and a quarter that of the draw, which more draws make smaller.
func (z *Size) variance() float64 {
	answer := map[Measure]float64{OfRates: 0.25, OfMeans: z.scale * z.scale / 16, OfExcess: 0.2}[z.what]
	return answer/2 + answer/2/float64(max(1, z.draws))
}

// point is a hundredth of what the stage measures.
func (z *Size) point() float64 {
	if z.what == OfMeans {
		return z.scale / 100
	}
	return 0.01
}

// span is what no difference can be larger than.
func (z *Size) span() float64 {
	switch {
	case z.what != OfMeans:
		return 1
	case z.scale == 0: // there are no bounds
		return math.Inf(1)
	}
	return z.scale
}

// information is what one comparison is assumed to say about the difference of two strengths: as much as one without ties between equals.
const information = 0.25

// Reckon computes what the stages of the plan can show, and what a difference of so many points needs (0: none is asked for), from how answers
// varied in an earlier run where that is known.
func (p *Plan) Reckon(seen map[string]Varied, points float64) {
	p.Power = nil
	for i := range p.sizes {
		z := &p.sizes[i]
		q := Power{Stage: z.stage, Verb: z.verb, What: z.what, Contestants: z.contestants, Tests: z.contestants * (z.contestants - 1) / 2, AtMost: z.atMost, Why: z.why}
		v := seen[z.stage]
		if z.what == OfWins {
			p.wins(z, &q, v, points)
		} else {
			p.paired(z, &q, v, points)
		}
		p.Power = append(p.Power, q)
	}
}

// paired fills in what lanes that are judged on the same items can show.
func (p *Plan) paired(z *Size, q *Power, v Varied, points float64) {
	q.Items, q.Clusters, q.Draws, q.Scale = z.items, z.clusters, z.draws, z.scale
	design := stats.Paired{Variance: z.variance(), Exact: z.what == OfRates && z.draws == 1 && z.clusters == 0}
	if v.Variance > 0 {
		q.Measured, q.Why = &v, ""
		design = stats.Paired{Variance: v.Variance, Exact: v.Exact}
	}
	if q.Why != "" {
		return
	}
	q.Variance = rounded(design.Variance, 1e4)
	span, effect := z.span(), z.effect(q.Measured != nil)
	units := int(float64(z.items) / effect)
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
	if z.scale == 0 && z.what == OfMeans {
		return // what a point is, is not known
	}
	if chance, err := design.Power(units, 10*z.point(), shown(1).Alpha); err == nil {
		q.Chance = rounded(chance, 1e3)
	}
	if need, err := design.Items(5*z.point(), shown(1)); err == nil {
		q.Need = items(need)
	}
	if points == 0 {
		return
	}
	q.Detect = detect(points, q.Tests, func(tests int64) (Needed, error) {
		n, err := design.Items(points*z.point(), shown(tests))
		return p.priced(z, Needed{Items: items(n)}, portion{items(n), z.items}, portion{items(n), z.items}), err
	})
}

// wins fills in what contestants that are compared can show.
func (p *Plan) wins(z *Size, q *Power, v Varied, points float64) {
	q.Pairs, q.Clusters, q.Information = z.comparisons/q.Tests, z.clusters, information/z.effect(false)
	if v.Information > 0 {
		q.Measured, q.Information = &v, v.Information
	}
	least := func(tests int64) float64 {
		d, err := stats.DetectableStrength(int(z.contestants), z.comparisons, q.Information, shown(tests))
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
		n, err := stats.ComparisonsNeeded(int(z.contestants), math.Log(share/(1-share)), q.Information, shown(tests))
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
		case z.compete:
			out.TooMany = n > z.most
		case z.most == z.comparisons || n > z.most: // each item gives what it has: more pairs need more items
			out.Items = (n*z.items + z.most - 1) / z.most
			answers = portion{out.Items, z.items}
		default:
			out.Items = z.items
		}
		return p.priced(z, out, answers, portion{n, z.comparisons}), nil
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
	before := p.Sum(func(q Part) bool { return slices.Contains(z.reads, q.Stage) })
	own := p.Sum(func(q Part) bool { return q.Stage == z.stage })
	if before.Requests+own.Requests == 0 {
		return n // who judges, and what that costs, is not in the plan
	}
	cost := answers.price(before.Cost).Plus(verdicts.price(own.Cost)).Expected
	live := answers.price(before.Live).Plus(verdicts.price(own.Live)).Expected
	if cost.Known() {
		n.Cost = dollars(cost.Sum.Float())
	}
	if live.Known() {
		n.Live = dollars(live.Sum.Float())
	}
	return n
}

func dollars(x float64) *float64 { return &x }

func rounded(x, by float64) float64 { return math.Round(x*by) / by }
