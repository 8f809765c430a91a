package pairs

import (
	"math"
	"sort"
)

// Grow draws further pairs on a field that has grown. Those that were drawn before stay as they are, turned as they were. What met least
// often comes next, where it met least often: so after any number of pairs all have met almost equally often, as in one draw. Of sampled
// pairs, N of the design is how many there are in all. Slots are items where items meet each other; those that are not open take no
// part. The pairs come back as a list, with a slot as the item of each.
func Grow(d Design, kept []Listed, open []bool) []Listed {
	g := &growth{design: d, open: open, out: append([]Listed{}, kept...), taken: map[[2]int64]bool{}, kept: len(kept)}
	if d.Lanes > 0 {
		g.lanes()
	} else {
		g.items()
	}
	g.again()
	return g.out
}

// Includes reports whether a schedule has all pairs of a list, turned as they are there and asked as often.
func (s *Schedule) Includes(list []Listed) bool {
	at := map[Listed]bool{}
	for p := range s.All() {
		at[Listed{Item: p.Slot, First: p.First, Second: p.Second, Twice: p.Again}] = true
	}
	for _, l := range list {
		first := Listed{Item: max(0, l.Item), First: l.First, Second: l.Second}
		second := Listed{Item: max(0, l.Item), First: l.Second, Second: l.First, Twice: true}
		if !at[first] || l.Twice && !at[second] {
			return false
		}
	}
	return true
}

// growth is one drawing of further pairs.
type growth struct {
	design Design
	open   []bool
	out    []Listed
	taken  map[[2]int64]bool
	kept   int // of out
}

// lanes draws pairs of lanes, each on a slot.
func (g *growth) lanes() {
	d := g.design
	two, slots := newLadder(choose2(d.Lanes), d.Seed, streamLanePairs, g.kept), newLadder(d.Slots, d.Seed, streamSlots, g.kept)
	lead := map[int64]int{} // by two lanes: how much more often the first of them was shown first
	for _, l := range g.out {
		low, high := min(l.First, l.Second), max(l.First, l.Second)
		n := number(d.Lanes, low, high)
		g.taken[[2]int64{n, l.Item}] = true
		two.count[n]++
		slots.count[l.Item]++
		lead[n] += sign(l.First == low)
	}
	two.sort()
	slots.sort()
	slots.leave(g.open)
	add := func(n, slot int64) {
		low, high := combination(d.Lanes, n)
		turned := d.Order == Alternate && (lead[n] > 0 || lead[n] == 0 && n%2 == 1)
		l := g.turned(Listed{Item: slot, First: low, Second: high}, turned)
		lead[n] += sign(l.First == low)
		g.out = append(g.out, l)
		g.taken[[2]int64{n, slot}] = true
		two.raise(n)
		slots.raise(slot)
	}
	if d.Pick == PerItem {
		for _, slot := range append([]int64{}, slots.order...) {
			for slots.count[slot] < min(d.N, choose2(d.Lanes)) {
				add(two.first(func(n int64) bool { return !g.taken[[2]int64{n, slot}] }), slot)
			}
		}
		return
	}
	for most := g.most(two, int64(len(slots.order))); int64(len(g.out)) < most; {
		n := two.first(func(n int64) bool { return two.count[n] < int64(len(slots.order)) })
		slot := int64(-1)
		if n >= 0 {
			slot = slots.first(func(slot int64) bool { return !g.taken[[2]int64{n, slot}] })
		}
		if slot < 0 {
			return
		}
		add(n, slot)
	}
}

// most returns how many pairs of lanes there are to be in all.
func (g *growth) most(two *ladder, slots int64) int64 {
	switch g.design.Pick {
	case Sample:
		return g.design.N
	case PerLanePair:
		sum := int64(0)
		for _, n := range two.count {
			sum += max(n, min(g.design.N, slots))
		}
		return sum
	}
	return int64(len(two.count)) * slots
}

// items draws pairs of items, each within its group.
func (g *growth) items() {
	d := g.design
	groups := d.Groups
	if groups == nil {
		one := make([]int64, d.Slots)
		for i := range one {
			one[i] = int64(i)
		}
		groups = [][]int64{one}
	}
	all := newLadder(d.Slots, d.Seed, streamItems, g.kept)
	for _, l := range g.out {
		g.taken[[2]int64{min(l.First, l.Second), max(l.First, l.Second)}] = true
		all.count[l.First]++
		all.count[l.Second]++
	}
	all.sort()
	all.leave(g.open)
	in := make([]*circle, d.Slots)
	most := int64(0)
	for i, members := range groups {
		c := newCircle(members, all.count, g, i)
		for _, m := range c.members {
			in[m] = c
		}
		most += g.mostItems(int64(len(c.members)))
	}
	if d.Pick == Sample {
		most = d.N
	}
	for int64(len(g.out)) < most {
		a, b := g.next(all, in)
		if a < 0 {
			return
		}
		low, high := min(a, b), max(a, b)
		g.out = append(g.out, g.turned(Listed{Item: EverySlot, First: low, Second: high}, d.Order == Alternate && len(g.out)%2 == 1))
		g.taken[[2]int64{low, high}] = true
		for _, x := range []int64{a, b} {
			all.raise(x)
			in[x].least.raise(in[x].place[x])
		}
	}
}

// circle are the items of a group, by how often they met others.
type circle struct {
	members []int64
	place   map[int64]int64 // in members
	least   *ladder
}

func newCircle(members, met []int64, g *growth, number int) *circle {
	c := &circle{place: map[int64]int64{}}
	for _, m := range members {
		if g.open[m] {
			c.place[m] = int64(len(c.members))
			c.members = append(c.members, m)
		}
	}
	c.least = newLadder(int64(len(c.members)), g.design.Seed, streamGroups, g.kept+number)
	for i, m := range c.members {
		c.least.count[i] = met[m]
	}
	c.least.sort()
	return c
}

// mostItems returns how many pairs there are to be of a group of so many items, but for sampled ones.
func (g *growth) mostItems(n int64) int64 {
	if g.design.Pick == PerItem && g.design.N < n-1 {
		return g.design.N * (n / 2)
	}
	return choose2(n)
}

// next returns the two items that met least often, and not each other. Below 0: all have.
func (g *growth) next(all *ladder, in []*circle) (int64, int64) {
	for _, a := range all.order {
		if in[a] == nil {
			continue
		}
		i := in[a].least.first(func(i int64) bool {
			b := in[a].members[i]
			return b != a && !g.taken[[2]int64{min(a, b), max(a, b)}]
		})
		if i >= 0 {
			return a, in[a].members[i]
		}
	}
	return -1, -1
}

// turned returns a further pair as it is shown first.
func (g *growth) turned(l Listed, alternate bool) Listed {
	d := g.design
	coin := (d.Order == Random || d.Order == "") &&
		seeded(d.seedOf(d.OrderSeed), streamCoin, uint64(max(0, l.Item)), uint64(l.First), uint64(l.Second))&1 == 1
	if coin || alternate {
		l.First, l.Second = l.Second, l.First
	}
	l.Twice = d.Order == Both
	return l
}

// again has a share of the further pairs asked the other way round, too.
func (g *growth) again() {
	d := g.design
	if d.Order == Both {
		return
	}
	n := d.again(int64(len(g.out)))
	for _, l := range g.out[:g.kept] {
		if l.Twice {
			n--
		}
	}
	more := int64(len(g.out) - g.kept)
	picked := newShuffle(more, d.seedOf(d.ReverseSeed), streamAgain, uint64(g.kept))
	for i := range min(n, more) {
		g.out[g.kept+int(picked.at(i))].Twice = true
	}
}

// ladder keeps numbers by how often they were used, the least first. Of those used equally often the order is random at first.
type ladder struct {
	count []int64
	order []int64
	place []int
	ends  map[int64]int // by count: where those with it end in order
	mixed shuffle
}

func newLadder(n int64, seed uint64, what stream, drawn int) *ladder {
	return &ladder{count: make([]int64, n), mixed: newShuffle(n, seed, what, uint64(drawn)+1)}
}

// sort brings the numbers into their order, once their counts are known.
func (l *ladder) sort() {
	l.order = l.order[:0]
	for i := range l.count {
		l.order = append(l.order, l.mixed.at(int64(i)))
	}
	sort.SliceStable(l.order, func(i, j int) bool { return l.count[l.order[i]] < l.count[l.order[j]] })
	l.index()
}

// leave leaves only some of the numbers.
func (l *ladder) leave(only []bool) {
	left := l.order[:0]
	for _, x := range l.order {
		if only[x] {
			left = append(left, x)
		}
	}
	l.order = left
	l.index()
}

func (l *ladder) index() {
	l.place, l.ends = make([]int, len(l.count)), map[int64]int{}
	for i, x := range l.order {
		l.place[x], l.ends[l.count[x]] = i, i+1
	}
}

// first returns the first number that may be used; below 0: none.
func (l *ladder) first(may func(x int64) bool) int64 {
	for _, x := range l.order {
		if may(x) {
			return x
		}
	}
	return -1
}

// raise counts one use.
func (l *ladder) raise(x int64) {
	c := l.count[x]
	last := l.ends[c] - 1
	other, at := l.order[last], l.place[x]
	l.order[at], l.order[last] = other, x
	l.place[other], l.place[x] = at, last
	if l.ends[c] = last; l.ends[c+1] <= last {
		l.ends[c+1] = last + 1
	}
	l.count[x]++
}

// number is that of a pair in the order 01, 02, …, 12, 13, …
func number(n, low, high int64) int64 { return low*(2*n-low-1)/2 + high - low - 1 }

func sign(plus bool) int {
	if plus {
		return 1
	}
	return -1
}

// InProportion returns how many there are to be where so many were drawn of what has grown since.
func InProportion(drawn, was, is int64) int64 {
	if was < 1 {
		return drawn
	}
	return drawn + max(0, int64(math.RoundToEven(float64(drawn)*float64(is-was)/float64(was))))
}
