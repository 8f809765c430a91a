package plan

import (
	"assay/internal/study"
	"assay/internal/study/pairs"
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
		m.problems.Warn(at, "about "+plural(do, "pair")+" would do", "stage %s cannot rank all of its %d items: its %s leave them in %d groups that never meet",
			st.Name, n, plural(schedule.Pairs(), "pair"), parts)
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

// islands is how pairs connect so many items.
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
