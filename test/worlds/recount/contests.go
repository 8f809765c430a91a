package recount

import (
	"fmt"
	"math"
	"slices"
)

// bout is a valid comparison: what the one shown first got, 1 for a win and a half for a tie.
type bout struct {
	first, second string
	got           float64
	cluster       string
	thing         string // what they were compared on, and by whom: two bouts on one thing differ in their order, or are votes
}

// arena is the comparisons that a finding is about.
type arena struct {
	rows     []row
	bouts    []bout
	names    []string
	clusters int
}

// arenaOf returns the comparisons behind a finding, and the one it is about; false: it cannot be read here.
func (s *stage) arenaOf(t *Table, f *Finding) (a *arena, who string, ok bool) {
	field := "lane"
	if s.items {
		field = "item"
	}
	rows, ok := s.of(t, f, field)
	a = &arena{rows: rows}
	clusters := map[string]bool{}
	for _, r := range rows {
		for _, name := range []string{r.First, r.Second} {
			if !slices.Contains(a.names, name) {
				a.names = append(a.names, name)
			}
		}
		got, decides := map[string]float64{"a": 1, "b": 0, "tie": 0.5}[r.Label]
		if !r.valid() || !decides {
			continue
		}
		clusters[r.cluster] = true
		thing := fmt.Sprintf("%q", []any{r.cluster, r.Item, r.Template, r.Branch, r.Turn, r.Draw, r.Judge, r.Trait, r.Prompt,
			min(r.First, r.Second), max(r.First, r.Second)})
		if s.items {
			thing = fmt.Sprintf("%q", []any{r.cluster, r.Template, r.Turn, r.Draw, r.Judge, r.Trait, r.Prompt})
		}
		a.bouts = append(a.bouts, bout{r.First, r.Second, got, r.cluster, thing})
	}
	slices.Sort(a.names)
	a.clusters = len(clusters)
	return a, f.By[field], ok
}

// contest checks a finding about comparisons.
func (c *checker) contest(s *stage, t *Table, f *Finding) bool {
	a, who, ok := s.arenaOf(t, f)
	if !ok || len(a.names) == 0 {
		return false
	}
	if who == "" {
		c.covered(s, f.What, f.Coverage, a.rows)
	} else {
		c.covered(s, f.What, f.Coverage,
			slices.DeleteFunc(slices.Clone(a.rows), func(r row) bool { return r.First != who && r.Second != who }))
	}
	switch f.What {
	case "strength", "order effect", "tie parameter", "reliability":
		return c.fitted(s, t, f, a, who)
	case "win rate":
		c.winRate(s, f, a, who)
	case "average win rate":
		c.estimate("average win rate", f, a.average(who, f.Level))
	case "corrected wins":
		c.corrected(f, a, who)
	case "first wins":
		e := shareOf(a.firstWins(), f.Level)
		c.estimate("first wins", f, e)
		c.same("first wins: test", "p of first wins", e.p, f.P)
	case "consistency", "first wins, forward order", "first wins, reverse order", "first wins, both orders", "same both ways",
		"order correlation":
		c.turned(f, a)
	default:
		return false
	}
	return true
}

// of returns what one got in its bouts, and against whom.
func (a *arena) of(who string) (out []bout) {
	for _, b := range a.bouts {
		if b.second == who {
			b.first, b.second, b.got = b.second, b.first, 1-b.got
		}
		if b.first == who {
			out = append(out, b)
		}
	}
	return out
}

// winRate checks the share of wins, a tie being half of one: each bout has two points.
func (c *checker) winRate(s *stage, f *Finding, a *arena, who string) {
	var points, won []seen
	wins, ties, losses := 0, 0, 0
	for _, b := range a.of(who) {
		won = append(won, seen{b.cluster, b.got})
		points = append(points, seen{b.cluster, math.Ceil(b.got)}, seen{b.cluster, math.Floor(b.got)})
		switch b.got {
		case 1:
			wins++
		case 0:
			losses++
		default:
			ties++
		}
	}
	e := shareOf(points, f.Level)
	e.n /= 2
	c.estimate("win rate", f, e)
	if f.AtLeast != nil {
		c.bounds(f, won)
	}
	if f.Record != nil {
		c.count("win rate: record", "wins", wins, f.Record.Wins)
		c.count("win rate: record", "ties", ties, f.Record.Ties)
		c.count("win rate: record", "losses", losses, f.Record.Losses)
	}
}

// average returns the mean over opponents of one's shares of wins.
func (a *arena) average(who string, level float64) estimate {
	mine := a.of(who)
	mean := func(without string) (float64, bool) {
		sums, counts := map[string]float64{}, map[string]float64{}
		for _, b := range mine {
			if b.cluster != without {
				sums[b.second], counts[b.second] = sums[b.second]+b.got, counts[b.second]+1
			}
		}
		all := 0.0
		for against, sum := range sums {
			all += sum / counts[against] / float64(len(sums))
		}
		return all, len(sums) > 0
	}
	own := map[string]bool{}
	for _, b := range mine {
		own[b.cluster] = true
	}
	e := estimate{n: len(mine), clusters: len(own)}
	value, ok := mean("\x00none")
	if !ok {
		return e
	}
	if e.value = some(value); a.clusters < 2 {
		return e
	}
	g, variance := float64(a.clusters), 0.0
	for cluster := range own {
		if without, ok := mean(cluster); ok {
			variance += (g - 1) / g * (without - value) * (without - value)
		}
	}
	effective := g
	if variance > 0 {
		e.se = some(math.Sqrt(variance))
		if value > 0 && value < 1 {
			effective = value * (1 - value) / variance
		}
	}
	z, t := normalCritical(level), critical(level, a.clusters-1)
	low, high := wilson(value, effective*z*z/(t*t), z)
	e.low, e.high = some(low), some(high)
	return e
}

// firstWins returns whether the one shown first won, ties left out.
func (a *arena) firstWins() (out []seen) {
	for _, b := range a.bouts {
		if b.got != 0.5 {
			out = append(out, seen{b.cluster, b.got})
		}
	}
	return out
}

// swap is a pair on one thing in both orders: what the one whose name sorts first got, by the majority of each order.
type swap struct {
	low, high, cluster string
	forth, back        float64
}

// swaps returns the pairs that were shown both ways.
func (a *arena) swaps() (out []swap) {
	type votes struct {
		swap
		forth, back   float64 // wins less losses of the lower name
		there, turned bool
	}
	all := map[string]*votes{}
	var order []string
	for _, b := range a.bouts {
		v := all[b.thing]
		if v == nil {
			v = &votes{swap: swap{low: min(b.first, b.second), high: max(b.first, b.second), cluster: b.cluster}}
			all[b.thing], order = v, append(order, b.thing)
		}
		if b.first == v.low {
			v.forth, v.there = v.forth+2*b.got-1, true
		} else {
			v.back, v.turned = v.back-(2*b.got-1), true
		}
	}
	decided := func(net float64) float64 {
		switch {
		case net > 0:
			return 1
		case net < 0:
			return 0
		}
		return 0.5
	}
	for _, thing := range order {
		if v := all[thing]; v.there && v.turned {
			v.swap.forth, v.swap.back = decided(v.forth), decided(v.back)
			out = append(out, v.swap)
		}
	}
	return out
}

// corrected checks the share of pairs that one won in both orders.
func (c *checker) corrected(f *Finding, a *arena, who string) {
	var all []seen
	wins, ties, losses := 0, 0, 0
	for _, w := range a.swaps() {
		if w.low != who && w.high != who {
			continue
		}
		got := 0.5
		if w.forth == w.back {
			got = w.forth
		}
		if w.high == who {
			got = 1 - got
		}
		switch got {
		case 1:
			wins++
		case 0:
			losses++
		default:
			ties++
		}
		all = append(all, seen{w.cluster, one(got == 1)})
	}
	c.estimate("corrected wins", f, shareOf(all, f.Level))
	if f.Record != nil {
		c.count("corrected wins: record", "wins", wins, f.Record.Wins)
		c.count("corrected wins: record", "ties", ties, f.Record.Ties)
		c.count("corrected wins: record", "losses", losses, f.Record.Losses)
	}
}

// turned checks what was shown both ways.
func (c *checker) turned(f *Finding, a *arena) {
	var same, alike []seen
	var forth, back []float64
	forward, reverse := 0, 0 // pairs that the one shown first won
	for _, w := range a.swaps() {
		forth, back = append(forth, w.forth), append(back, w.back)
		alike = append(alike, seen{w.cluster, one(w.forth == w.back)})
		if w.forth != 0.5 && w.back != 0.5 {
			same = append(same, seen{w.cluster, one(w.forth == w.back)})
			forward, reverse = forward+int(w.forth), reverse+int(1-w.back)
		}
	}
	pairs := len(same)
	decided := len(byCluster(same))
	first := func(k, n int) {
		e := estimate{n: n, clusters: decided}
		if n > 0 {
			share := float64(k) / float64(n)
			low, high := exact(k, n, f.Level)
			e.value, e.low, e.high, e.p = some(share), some(low), some(high), some(signTest(k, n-k))
			if k > 0 && k < n {
				e.se = some(math.Sqrt(share * (1 - share) / float64(n)))
			}
		}
		c.estimate("first wins by order", f, e)
		c.same("first wins by order: test", "p of "+f.What, e.p, f.P)
	}
	switch f.What {
	case "consistency":
		e := shareOf(same, f.Level)
		if decided >= 40 && e.se != nil { // from resamples: only the value can be computed again
			e.se, e.low, e.high = f.SE, f.Low, f.High
		}
		if pairs == 0 { // the count of clusters is that of the table then
			e.clusters = f.Clusters
		}
		c.estimate("consistency", f, e)
	case "first wins, forward order":
		first(forward, pairs)
	case "first wins, reverse order":
		first(reverse, pairs)
	case "first wins, both orders":
		first(forward+reverse, 2*pairs)
	case "same both ways":
		c.estimate("same both ways", f, shareOf(alike, f.Level))
	case "order correlation":
		e := estimate{value: correlation(forth, back), n: len(forth), clusters: len(byCluster(alike))}
		c.estimate("order correlation", f, e)
	}
}

// correlation returns Pearson's; nil where a side does not vary.
func correlation(x, y []float64) *float64 {
	n := float64(len(x))
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-total(x)/n, y[i]-total(y)/n
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	if len(x) < 2 || xx < 1e-12 || yy < 1e-12 {
		return nil
	}
	return some(xy / math.Sqrt(xx*yy))
}
