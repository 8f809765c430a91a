package plan

import (
	"math"
	"slices"
	"sort"

	"assay/judge"
	"assay/stats"
	"assay/study"
)

// Power is what a judge or compare stage of the planned size can show, two-sided at 5% with 80% power. It rests on assumptions, not on
// data: see [rates].
type Power struct {
	Stage string     `json:"stage"`
	Verb  study.Verb `json:"verb"`

	// Of a compare stage.
	Pairs int64   `json:"pairs,omitempty"` // of each two contestants
	Share float64 `json:"share,omitempty"` // the smallest share of wins that so many pairs can distinguish from even; 0: none

	// Of a judge stage whose rubric has labels, for two of its lanes on the same items.
	Items      int64   `json:"items,omitempty"`               // of each lane
	AtMost     bool    `json:"at_most,omitempty"`             // a condition may leave items out
	Draws      int64   `json:"draws,omitempty"`               // answers of a lane to each item
	Difference float64 `json:"difference,omitempty"`          // the smallest difference of two rates that so many items show; 0: none
	Chance     float64 `json:"chance_of_10_points,omitempty"` // that a difference of 0.1 shows

	Need int64 `json:"needed"` // pairs that 55:45 needs, or items that a difference of 5 points needs
}

func shown() stats.Test { return stats.Test{Alpha: 0.05, Power: 0.8} }

// comparing adds what a compare stage can show.
func (m *maker) comparing(st *study.Stage, n, lanePairs int64) {
	if lanePairs == 0 || !m.wanted(st) {
		return
	}
	p := Power{Stage: st.Name, Verb: study.VerbCompare, Pairs: n / lanePairs}
	if need, err := stats.PairsNeeded(0.55, shown()); err == nil {
		p.Need = int64(need)
	}
	for share := 0.51; share < 0.995; share += 0.01 {
		need, err := stats.PairsNeeded(share, shown())
		if err == nil && int64(need) <= p.Pairs {
			p.Share = math.Round(share*100) / 100
			break
		}
	}
	m.plan.Power = append(m.plan.Power, p)
}

// rates is what the difference of two lanes' rates on the same items is assumed to vary by: both near a half, where rates vary most;
// half of the variance of an answer is the item's and the same for all lanes, a quarter the lane's way with the item, and a quarter
// that of the draw, which more draws make smaller.
func rates(draws int64) stats.Design {
	const answer = 0.5 * 0.5
	return stats.Design{Items: 2 * answer / 4, DrawA: answer / 4, DrawB: answer / 4, DrawsA: int(draws), DrawsB: int(draws)}
}

// judging adds what a judge stage can show, where its rubric has labels and it reads two lanes.
func (m *maker) judging(st *study.Stage, r judge.Rubric) {
	p := Power{Stage: st.Name, Verb: study.VerbJudge, Draws: math.MaxInt64}
	var lanes []*study.Lane
	for _, name := range st.Judge.List {
		source, ok := m.Study.Stage(name)
		from := m.given[name]
		if !ok || from == nil || from.reads(Of(st, r)) == 0 {
			continue
		}
		p.Items, p.Draws = max(p.Items, from.items), min(p.Draws, draws(source))
		p.AtMost = p.AtMost || gated(st) || from.unknown
		lanes = append(lanes, m.read(st, from)...)
	}
	sort.Slice(lanes, func(i, j int) bool { return lanes[i].Name < lanes[j].Name })
	if lanes = slices.Compact(lanes); len(lanes) < 2 || p.Items == 0 || len(r.Labels) == 0 || !m.wanted(st) {
		return
	}
	design := rates(p.Draws)
	least, err := design.Detectable(int(p.Items), shown())
	if err != nil {
		m.fail(st.At, err)
		return
	}
	if least < 1 {
		p.Difference = math.Round(least*1000) / 1000
	}
	if chance, err := design.Power(int(p.Items), 0.1, shown().Alpha); err == nil {
		p.Chance = math.Round(chance*1000) / 1000
	}
	if need, err := design.ItemsNeeded(0.05, shown()); err == nil {
		p.Need = int64(need)
	}
	m.plan.Power = append(m.plan.Power, p)
}
