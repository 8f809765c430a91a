package estimate

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/plan"
)

// rounds plans a compare stage that buys its pairs in rounds: at least the first, at most all of them, or what its budget pays.
func (m *maker) rounds(ctx context.Context, st *study.Stage, g grouping, wave int, rubric judge.Rubric) {
	a := st.Pairs.Adaptive
	contestants, slots := int64(len(g.Lanes)), g.Slots
	if len(g.Lanes) == 0 {
		contestants, slots = g.Slots, 1
	}
	if n := int64(len(a.Goal.Between.List)); n > 0 {
		contestants = n
	}
	if g.unknown {
		m.problems.Add(a.At, "use pairs: {sample: N} here, or ask all lanes",
			"stage %s: rounds need to know who competes, and that depends on answers", st.Name)
		return
	}
	if len(g.Lanes) == 0 {
		contestants = m.keptItems(ctx, st, contestants)
	}
	if !m.roundsFit(st, contestants, g) {
		return
	}
	p, counted, err := plan.Rounds(a, contestants, slots)
	if err != nil {
		m.fail(st.Pairs.Adaptive.At, err)
		return
	}
	m.comparing(ctx, st, int64(p.Budget), int64(len(counted.Order())*counted.Most()), g.upTo(contestants))
	m.given[st.Name].wave = wave + p.Rounds - 1
	until := p.Until()
	variants := int64(max(1, len(rubric.Prompts))) * plan.Draws(st)
	first := len(m.plan.Parts)
	for _, l := range m.in.Study.LanesNamed(st.Judges.List) {
		r := m.in.Path(st, l)
		mean := load{input: rubricWeight(rubric) + 2*m.compared(st), answer: rubric.Length()}
		if len(g.Lanes) == 0 && m.in.Known != nil && m.wanted(st) && len(rubric.Prompts) > 0 {
			if known, ok := m.known(ctx, st, l, rubric, r.Cut()); ok {
				mean = known
			}
		}
		m.add(st, plan.Part{
			Lane: r.Lane, Turn: 1, Wave: wave, Mode: r.Mode, Gated: gated(st) || g.unknown, Requests: int64(p.Budget) * variants,
			Rounds: p.Rounds, First: int64(until[0]) * variants,
		}, mean)
	}
	if m.wanted(st) {
		m.plan.Waves = max(m.plan.Waves, m.given[st.Name].wave)
		m.withinBudget(st, m.plan.Parts[first:])
		m.note("stage %s buys its pairs in rounds, %s, and stops as soon as its goal is settled", st.Name, roundSizes(until))
	}
}

// upTo returns what meets where only so many compete, as long as nothing is settled.
func (g grouping) upTo(contestants int64) grouping {
	g.unknown = true
	if len(g.Lanes) == 0 {
		g.Slots = contestants
	} else {
		g.Lanes = g.Lanes[:contestants]
	}
	return g
}

// keptItems returns how many of the compared items a stage's condition keeps.
func (m *maker) keptItems(ctx context.Context, st *study.Stage, all int64) int64 {
	if st.Keep == nil {
		return all
	}
	kept := int64(0)
	for it, err := range m.in.FirstItems(ctx, st.Compare, m.options.Limit) {
		if err != nil {
			return all // reported where the items are read
		}
		if keep, err := plan.Keeps(st, it); err == nil && keep {
			kept++
		}
	}
	return kept
}

// roundSizes returns how many comparisons are made until each look.
func roundSizes(until []int) string {
	text := "at most " + plural(int64(until[len(until)-1]), "comparison") + " in " + plural(int64(len(until)), "round")
	if len(until) == 1 {
		return text
	}
	parts := make([]string, len(until)-1)
	for i := range parts {
		parts[i] = assay.Thousands(int64(until[i]))
	}
	return text + " (" + strings.Join(parts, ", ") + " until the looks before the last)"
}

// mostContestants is how many can be settled in rounds: a fit with all its errors follows each.
const mostContestants = 200

// roundsFit reports what only the items and lanes of a plan show about its rounds.
func (m *maker) roundsFit(st *study.Stage, contestants int64, g grouping) bool {
	a := st.Pairs.Adaptive
	if contestants > mostContestants {
		m.problems.Add(a.At, "compare a sample of them, or use pairs: {sample: N}",
			"stage %s: rounds settle at most %d contestants, and here are %d", st.Name, mostContestants, contestants)
		return false
	}
	if len(g.Lanes) > 0 {
		return true
	}
	if a.Goal.Top > 0 && int64(a.Goal.Top) >= contestants {
		m.problems.Add(a.Goal.Key("top"), "", "stage %s: the best %d of %s are known already", st.Name, a.Goal.Top,
			plural(contestants, "item"))
		return false
	}
	if len(a.Goal.Between.List) > 0 {
		m.problems.Add(a.Goal.Key("between"), "two items meet once each way: choose goal: ranking, {top: 3} or {width: 0.2}",
			"stage %s compares items, and two verdicts cannot settle a pair", st.Name)
		return false
	}
	if least := int64(adaptive.Least); 2*(contestants-1) < least {
		m.problems.Warn(a.At, fmt.Sprintf("a claim needs %d comparisons of each, and two items meet twice", least),
			"stage %s: no round can settle anything about %s", st.Name, plural(contestants, "item"))
	}
	return true
}

// withinBudget holds the parts of a stage to the budget of its rounds.
func (m *maker) withinBudget(st *study.Stage, parts []plan.Part) {
	b := st.Pairs.Adaptive.Budget
	if !b.Set {
		return
	}
	var all plan.Price
	first := assay.Cost{}
	for i := range parts {
		all = all.Plus(parts[i].Cost)
		first = first.Add(parts[i].Cost.Share(parts[i].First, parts[i].Requests).Expected)
	}
	if !all.Expected.Known() && m.in.Study.Unpriced != study.UnpricedAllow {
		m.problems.Add(st.Pairs.Adaptive.Key("budget"), "give one under `prices`, or say `unpriced: allow`",
			"stage %s: no price is known for one of its judges, so the budget of its rounds cannot be kept", st.Name)
		return
	}
	if first.Known() && first.Sum > b.Money {
		m.problems.Add(st.Pairs.Adaptive.Key("budget"), "raise it, or plan fewer comparisons with per_round",
			"stage %s: its first round costs about %s, and its budget is %s", st.Name, first, b.Money)
		return
	}
	if all.Expected.Sum <= b.Money {
		return
	}
	// As many are bought as the budget pays at what they cost; where they cost more than is expected, so does the last of them.
	for i := range parts {
		p := &parts[i]
		for _, of := range []*assay.Cost{&p.Cost.Expected, &p.Cost.High, &p.Plain.Expected, &p.Plain.High, &p.Live.Expected, &p.Live.High} {
			of.Sum = of.Sum.Share(int64(b.Money), int64(all.Expected.Sum))
		}
	}
}
