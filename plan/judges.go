package plan

import (
	"context"
	"fmt"
	"math"

	"assay/stats"
	"assay/study"
)

// unsampled is how many judge requests a compare stage may make without saying so in the study.
const unsampled = 10_000

// judge plans a judge stage: every judge reads every answer it is about.
func (m *maker) judge(st *study.Stage) {
	wave, subjects, unknown := m.after(st), int64(0), false
	tokens := 0.0
	for _, name := range st.Judge.List {
		from := m.given[name]
		if from == nil {
			continue
		}
		unknown = unknown || from.unknown
		lanes := from.lanes
		if len(st.Among.List) > 0 {
			lanes = within(lanes, m.Study.LanesNamed(st.Among.List))
		}
		n, read := judged(st, from)
		subjects += n * int64(len(lanes))
		tokens = math.Max(tokens, read)
	}
	rubric := m.Study.RubricOf(st)
	m.given[st.Name] = &answers{wave: wave}
	if rubric == nil || rubric.Modelless() {
		m.given[st.Name].wave = wave - 1 // verdicts without a request wait for nobody
		return
	}
	templates := int64(max(1, len(rubric.Prompt)))
	for _, l := range m.Study.LanesNamed(st.Judges.List) {
		r := m.path(st, l)
		m.add(st, Part{
			Lane: r.lane, Turn: 1, Wave: wave, Mode: r.mode, Gated: gated(st) || unknown, Requests: subjects * templates * draws(st),
		}, load{input: rubricWeight(rubric) + tokens})
	}
}

func within(lanes, picked []*study.Lane) []*study.Lane {
	var out []*study.Lane
	for _, l := range lanes {
		for _, p := range picked {
			if l == p {
				out = append(out, l)
			}
		}
	}
	return out
}

// judged is how many answers of one lane a judge stage is about, and how many tokens of them one prompt quotes.
func judged(st *study.Stage, from *answers) (n int64, tokens float64) {
	later := int64(0)
	for i, t := range from.turns {
		if i > 0 {
			later += t
		}
	}
	switch {
	case len(from.turns) == 0:
		return 0, 0
	case st.Of == "first":
		return from.turns[0], visibleTokens
	case st.Of == "each":
		return from.turns[0] + later, visibleTokens
	case st.Of == "conversation":
		return from.last(), from.tokens + visibleTokens
	case st.Of != "" && st.Of != "last":
		var turn int
		if _, err := fmt.Sscan(string(st.Of), &turn); err == nil && turn >= 1 && turn <= len(from.turns) {
			return from.turns[turn-1], visibleTokens
		}
		return 0, 0
	case st.Rubric.Name == "flip": // each later answer against the first
		return later, 2*visibleTokens + 100
	}
	return from.last(), visibleTokens
}

func rubricWeight(r *study.Rubric) float64 {
	if len(r.Prompt) == 0 {
		return rubricTokens
	}
	total := guess(r.System)
	for _, p := range r.Prompt {
		total += guess(p.Text) / float64(len(r.Prompt))
	}
	return total + 60 // what the item's fields bring
}

// compare plans a compare stage: every judge reads every pair, in one order or both.
func (m *maker) compare(ctx context.Context, st *study.Stage) {
	wave := m.after(st)
	m.given[st.Name] = &answers{wave: wave}
	all, groups, ok := m.pairs(ctx, st)
	if !ok {
		return
	}
	n := picked(st.Pairs, all, groups)
	orders := 1.0
	if st.Pairs != nil {
		if st.Pairs.Order == "both" {
			orders = 2
		}
		orders += st.Pairs.Reverse
	}
	prompts := int64(max(1, len(st.Prompt)) * max(1, len(st.Trait.List)))
	each := int64(math.Round(float64(n)*orders)) * prompts * draws(st)
	judges := m.Study.LanesNamed(st.Judges.List)
	if total := each * int64(len(judges)); total > unsampled && (st.Pairs == nil || !st.Pairs.All && st.Pairs.Sample == 0) {
		m.problems.Add(st.Where.Key("compare"), "say pairs: all, or pairs: {sample: 2000}", "stage %s would make %d judge requests", st.Name, total)
		return
	}
	for _, l := range judges {
		r := m.path(st, l)
		m.add(st, Part{Lane: r.lane, Turn: 1, Wave: wave, Mode: r.mode, Gated: gated(st), Requests: each},
			load{input: rubricTokens + 2*visibleTokens})
	}
	if m.wanted(st) {
		m.power(st, n, groups)
	}
}

// grouping is how the pairs of a compare stage fall: contestants against each other on items.
type grouping struct {
	items     int64
	lanePairs int64 // 0: items against each other
}

// pairs is the number of unordered pairs of a compare stage.
func (m *maker) pairs(ctx context.Context, st *study.Stage) (int64, grouping, bool) {
	if from := m.given[st.Compare]; from != nil {
		lanes := from.lanes
		if len(st.Among.List) > 0 {
			lanes = within(lanes, m.Study.LanesNamed(st.Among.List))
		}
		n, _ := judged(st, from)
		k := int64(len(lanes))
		g := grouping{items: n, lanePairs: k * (k - 1) / 2}
		if k < 2 {
			m.problems.Add(st.At, "name two with `among`", "stage %s has %s to compare", st.Name, plural(k, "lane"))
			return 0, g, false
		}
		return g.items * g.lanePairs, g, true
	}
	n, err := m.Items.Count(ctx, st.Compare)
	if err != nil {
		m.fail(st.At, err)
		return 0, grouping{}, false
	}
	g := grouping{items: int64(n)}
	return g.items * (g.items - 1) / 2, g, true
}

func picked(p *study.Pairs, all int64, g grouping) int64 {
	switch {
	case p == nil:
		return all
	case p.Sample > 0:
		return min(all, int64(p.Sample))
	case p.PerItem > 0 && g.lanePairs > 0:
		return g.items * min(g.lanePairs, int64(p.PerItem))
	case p.PerItem > 0:
		return min(all, g.items*int64(p.PerItem))
	case p.PerLanePair > 0 && g.lanePairs > 0:
		return g.lanePairs * min(g.items, int64(p.PerLanePair))
	}
	return all
}

// Power is what a compare stage can tell apart, two-sided at 5% with 80% power.
type Power struct {
	Stage string  `json:"stage"`
	Pairs int64   `json:"pairs"`  // of each two contestants
	Share float64 `json:"share"`  // the smallest share of wins that so many pairs tell from even; 0: none
	Need  int64   `json:"needed"` // pairs that 55:45 needs
}

func (m *maker) power(st *study.Stage, n int64, g grouping) {
	if g.lanePairs == 0 {
		return
	}
	p := Power{Stage: st.Name, Pairs: n / g.lanePairs}
	if need, err := stats.PairsNeeded(0.55, stats.Test{Alpha: 0.05, Power: 0.8}); err == nil {
		p.Need = int64(need)
	}
	for share := 0.51; share < 0.995; share += 0.01 {
		need, err := stats.PairsNeeded(share, stats.Test{Alpha: 0.05, Power: 0.8})
		if err == nil && int64(need) <= p.Pairs {
			p.Share = math.Round(share*100) / 100
			break
		}
	}
	m.plan.Power = append(m.plan.Power, p)
}
