package plan

import (
	"math"

	"assay/pairs"
	"assay/study"
)

// rankable warns where the pairs of a stage that compares items cannot rank them: some items never meet the others, not even by way of
// third ones, or there are fewer pairs than about m·log m of m items.
func (m *maker) rankable(st *study.Stage, schedule *pairs.Schedule, g grouping) {
	n := g.Slots
	if len(g.Lanes) > 0 || n < 2 || n > mostRendered || schedule.Pairs() > mostRendered {
		return
	}
	at, all := st.Where.Key("compare"), n*(n-1)/2
	if st.Pairs != nil {
		at = st.Pairs.At
	}
	do := min(all, int64(math.Ceil(float64(n)*math.Log(float64(n)))))
	switch parts := islands(schedule, n); {
	case parts > 1:
		m.problems.Warn(at, "about "+plural(do, "pair")+" would do", "stage %s cannot rank all of its %d items: its %s leave them in %d groups that never meet",
			st.Name, n, plural(schedule.Pairs(), "pair"), parts)
	case schedule.Pairs() < do:
		m.problems.Warn(at, "about "+plural(do, "pair")+" would do", "stage %s ranks %d items by %s: ranks will be rough",
			st.Name, n, plural(schedule.Pairs(), "pair"))
	}
}

// islands is into how many groups pairs leave so many items: one where all are connected.
func islands(schedule *pairs.Schedule, n int64) int64 {
	root := make([]int64, n)
	for i := range root {
		root[i] = int64(i)
	}
	find := func(x int64) int64 {
		for root[x] != x {
			root[x] = root[root[x]]
			x = root[x]
		}
		return x
	}
	for p := range schedule.All() {
		if a, b := find(p.First), find(p.Second); a != b {
			root[a] = b
			n--
		}
	}
	return n
}
