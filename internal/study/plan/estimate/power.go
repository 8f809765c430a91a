package estimate

import (
	"context"
	"math"
	"slices"
	"sort"

	"assay/internal/find/analysis"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/plan"
)

// clusters counts the clusters of the items of a stage; 0: each item stands alone.
func (m *maker) clusters(ctx context.Context, st *study.Stage) int64 {
	if !slices.ContainsFunc(m.in.Study.Inputs, func(in decode.Entry[study.Input]) bool { return in.Value.Cluster != "" }) {
		return 0
	}
	seen, items := map[string]bool{}, 0
	for it, err := range m.in.FirstItems(ctx, m.in.Root(st), m.options.Limit) {
		if err != nil {
			return 0 // reported where the items are read
		}
		seen[it.Cluster] = true
		items++
	}
	if len(seen) == items {
		return 0
	}
	return int64(len(seen))
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
	m.plan.Sizes = append(m.plan.Sizes, plan.Size{
		Clusters: clusters, Stage: st.Name, Verb: study.VerbCompare, What: plan.OfWins, Contestants: contestants, Items: g.Slots,
		AtMost: gated(st) || g.unknown, Comparisons: n, Most: most, Compete: len(g.Lanes) == 0, Reads: m.before(st),
	})
}

// judging adds the size of a judge stage that reads two lanes.
func (m *maker) judging(ctx context.Context, st *study.Stage, r judge.Rubric) {
	z := plan.Size{Stage: st.Name, Verb: study.VerbJudge, Draws: math.MaxInt64, Reads: m.before(st)}
	var lanes []*study.Lane
	control := false
	for _, name := range st.Judge.List {
		source, ok := m.in.Study.Stage(name)
		from := m.given[name]
		if !ok || from == nil || from.reads(plan.Of(st, r)) == 0 {
			continue
		}
		controlled := m.in.Study.Controlled(source)
		z.Items, z.Draws = max(z.Items, from.items), min(z.Draws, from.answers(source, plan.Of(st, r), r.AgainstFirst))
		z.AtMost = z.AtMost || gated(st) || from.unknown
		control = control || controlled
		lanes = append(lanes, m.read(st, from)...)
	}
	sort.Slice(lanes, func(i, j int) bool { return lanes[i].Name < lanes[j].Name })
	lanes = slices.Compact(lanes)
	z.NoWorse = heldAgainst(m.in.Study, st.Name, lanes)
	if len(lanes) < 2 && len(z.NoWorse) == 0 || z.Items == 0 || !m.wanted(st) {
		return
	}
	z.Contestants, z.Clusters = int64(len(lanes)), m.clusters(ctx, st)
	if z.Contestants > 1 && m.options.Limit > 0 && z.Items == int64(m.options.Limit) {
		z.Further = 0.05 * analysis.LookAt(2)
	}
	if z.What, z.Scale = measure(r, control); z.What == plan.OfMeans && z.Scale == 0 {
		z.Why = "its scores have no bounds, so how far they vary is not known before a run"
	}
	m.plan.Sizes = append(m.plan.Sizes, z)
}

// heldAgainst returns the analyses of a stage that hold its lanes against a baseline.
func heldAgainst(of *study.Study, stage string, lanes []*study.Lane) []plan.HeldAgainst {
	var out []plan.HeldAgainst
	for i := range of.Analyses {
		a := &of.Analyses[i]
		if a.Of != stage || analysis.Method(a.Method) != analysis.NoWorse {
			continue
		}
		one := plan.HeldAgainst{Points: float64(a.Margin), Tests: int64(len(lanes))}
		if a.Baseline == "" {
			one.Tests-- // against one of them
		}
		if one.Tests > 0 && one.Points > 0 {
			out = append(out, one)
		}
	}
	return out
}

// answers returns how many answers to an item one lane gives; of flips, those under pressure.
func (a *answers) answers(source *study.Stage, of study.Of, flips bool) int64 {
	if !flips || a.items == 0 {
		return plan.Draws(source)
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

// measure returns what a rubric measures lanes by, and the span of its scores.
func measure(r judge.Rubric, control bool) (plan.Measure, float64) {
	if r.AgainstFirst && control {
		return plan.OfExcess, 0
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
		return plan.OfRates, 0
	}
	if r.Range.Low != nil && r.Range.High != nil {
		low, high = *r.Range.Low, *r.Range.High
	}
	if !(high > low) {
		return plan.OfMeans, 0
	}
	return plan.OfMeans, high - low
}

// before returns all stages whose answers a stage rests on.
func (m *maker) before(st *study.Stage) []string {
	var out []string
	var visit func(st *study.Stage)
	visit = func(st *study.Stage) {
		for _, name := range st.Needs() {
			if from, ok := m.in.Study.Stage(name); ok && !slices.Contains(out, name) {
				out = append(out, name)
				visit(from)
			}
		}
	}
	visit(st)
	return out
}
