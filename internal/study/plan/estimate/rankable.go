package estimate

import (
	"context"
	"math"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// rankable warns where the pairs of a stage that compares items cannot rank them: some items never meet the others, not even by way of
// third ones, or there are fewer pairs than about m·log m of m items.
func (m *maker) rankable(st *study.Stage, schedule *pairs.Schedule, g grouping) {
	n := g.Slots
	if len(g.Lanes) > 0 || n < 2 || n > mostRendered || schedule.Pairs() > mostRendered {
		return
	}
	if len(g.Groups) > 0 {
		m.rankableWithin(st, schedule, g)
		return
	}
	at := st.Where.Key("compare")
	if st.Pairs != nil {
		at = st.Pairs.At
	}
	do := enoughPairs(n)
	switch parts := islands(schedule, n).count; {
	case parts > 1:
		m.problems.Warn(at, "about "+plural(do, "pair")+" would do",
			"stage %s cannot rank all of its %d items: its %s leave them in %d groups that never meet", st.Name, n,
			plural(schedule.Pairs(), "pair"), parts)
	case schedule.Pairs() < do:
		m.problems.Warn(at, "about "+plural(do, "pair")+" would do", "stage %s ranks %d items by %s: ranks will be rough",
			st.Name, n, plural(schedule.Pairs(), "pair"))
	}
}

// connected is which items meet, if only by way of others.
type connected struct {
	root  []int64
	count int64 // of groups that never meet: one where all are connected
}

// islands returns how pairs connect so many items.
func islands(schedule *pairs.Schedule, n int64) *connected {
	c := &connected{root: make([]int64, n), count: n}
	for i := range c.root {
		c.root[i] = int64(i)
	}
	for p := range schedule.All() {
		if a, b := c.find(p.First), c.find(p.Second); a != b {
			c.root[a] = b
			c.count--
		}
	}
	return c
}

func (c *connected) find(x int64) int64 {
	for c.root[x] != x {
		c.root[x] = c.root[c.root[x]]
		x = c.root[x]
	}
	return x
}

// among is in how many groups that never meet some items are.
func (c *connected) among(items []int64) int {
	roots := map[int64]bool{}
	for _, i := range items {
		roots[c.find(i)] = true
	}
	return len(roots)
}

// group puts the items that a stage compares into their groups. It reports items that have none.
func (m *maker) group(ctx context.Context, st *study.Stage, f *plan.Field) bool {
	if st.Pairs == nil || st.Pairs.Within == "" {
		return true
	}
	place, before := int64(-1), len(m.problems)
	for it, err := range m.in.FirstItems(ctx, st.Compare, m.options.Limit) {
		if err != nil {
			m.fail(st.At, err)
			return false
		}
		place++
		if kept, err := plan.Keeps(st, it); f.Grouped(st, it, place) || err != nil || !kept {
			continue
		}
		m.problems.Add(it.Place, "give it one, or leave such items out with `where`",
			"stage %s compares within %s, and item %q has no value of it", st.Name, st.Pairs.Within, it.ID)
		if len(m.problems)-before == 20 {
			break
		}
	}
	return len(m.problems) == before
}

// rankableWithin warns of groups whose items the pairs of a stage cannot rank, and says that groups are ranked apart.
func (m *maker) rankableWithin(st *study.Stage, schedule *pairs.Schedule, g grouping) {
	where := make([]int, g.Slots) // by item: its group, from 1
	met := make([]int64, len(g.Groups))
	for i, group := range g.Groups {
		for _, item := range group.Items {
			where[item] = i + 1
		}
	}
	for p := range schedule.All() {
		if !p.Again {
			met[where[p.First]-1]++
		}
	}
	parts := islands(schedule, g.Slots)
	var alone, apart, rough []string
	do := int64(0)
	for i, group := range g.Groups {
		n := int64(len(group.Items))
		enough := enoughPairs(n)
		do += enough
		switch {
		case n == 1:
			alone = append(alone, group.Value)
		case parts.among(group.Items) > 1:
			apart = append(apart, group.Value)
		case met[i] < enough:
			rough = append(rough, group.Value)
		}
	}
	field, hint := st.Pairs.Within, "about "+plural(do, "pair")+" would do"
	if len(alone) > 0 {
		m.problems.Warn(st.Pairs.At, "it is ranked against nothing", "stage %s: %s of %s with one item: %s", st.Name,
			plural(int64(len(alone)), "group"), field, some(alone))
	}
	if len(apart) > 0 {
		m.problems.Warn(st.Pairs.At, hint, "stage %s cannot rank all items of %s of %s: in %s, %s leave items that never meet the others",
			st.Name, plural(int64(len(apart)), "group"), field, some(apart), plural(schedule.Pairs(), "pair"))
	} else if len(rough) > 0 {
		m.problems.Warn(st.Pairs.At, hint, "stage %s ranks %d items in %s of %s by %s: ranks will be rough in %s",
			st.Name, g.Slots, plural(int64(len(g.Groups)), "group"), field, plural(schedule.Pairs(), "pair"), some(rough))
	}
	if m.wanted(st) {
		m.note("stage %s compares within %s: each of its %s has a ranking of its own, and items of different groups are never ranked "+
			"against each other", st.Name, field, plural(int64(len(g.Groups)), "group"))
	}
}

// enoughPairs returns how many pairs rank so many items fairly well: about m·log m of m items.
func enoughPairs(n int64) int64 {
	if n < 2 {
		return 0
	}
	return min(n*(n-1)/2, int64(math.Ceil(float64(n)*math.Log(float64(n)))))
}

// some lists names, the first few of many.
func some(names []string) string {
	const most, long = 5, 60
	var clean []string // they stand in the user's data
	for _, n := range names[:min(most, len(names))] {
		clean = append(clean, assay.Clean(n, long))
	}
	if len(names) > most {
		clean = append(clean, "…")
	}
	return strings.Join(clean, ", ")
}
