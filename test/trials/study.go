package trials

import (
	"math"

	"assay/internal/study/adaptive"
)

// Rule is how comparisons are bought and directions claimed.
type Rule string

// The rules.
const (
	Planned Rule = "planned" // open pairs evenly, as needed; levels are spent over looks and pairs
	Evenly  Rule = "evenly"  // all pairs alike until the goal is reached, with the same claims
	Naive   Rule = "naive"   // open pairs evenly, until the 95% interval of a difference leaves 0 out
)

// Outcome is how one study ended.
type Outcome struct {
	False            bool // a claim that is not so
	Reached          bool // all that bears on the goal is known
	Spent, Looks     int
	Known            int // pairs whose direction is known
	Covered, Between int // intervals of differences at the end that hold the truth, of so many
}

// Study runs one study.
func Study(s Setting, p adaptive.Plan, rule Rule, seed uint64) (Outcome, error) {
	p.Lanes, p.Most = len(s.Theta), s.most()
	if rule != Planned {
		p.Futility = 0
	}
	g, err := adaptive.Begin(p)
	if err != nil {
		return Outcome{}, err
	}
	t := &trial{judge: newJudge(s, seed), progress: g, pairs: adaptive.Pairs(p.Lanes), rule: rule, claimed: map[[2]int]float64{}}
	var out Outcome
	for buy := g.First(); buy != nil; {
		t.compare(t.pairs, buy)
		g.Buy(buy)
		look, err := t.look()
		if err != nil {
			return out, err
		}
		out.Looks++
		buy = t.after(look, out.Looks)
		out.Covered, out.Between = t.covered(look, t.level(out.Looks))
		if s.Settles && buy == nil {
			if err := t.settle(look, &out); err != nil {
				return out, err
			}
		}
	}
	out.Spent = g.Spent()
	out.False, out.Reached = t.wrong(), t.reached()
	for _, p := range t.pairs {
		if g.Claims.Known(p[0], p[1]) || t.claimed[p] != 0 {
			out.Known++
		}
	}
	return out, nil
}

// trial is one study under way.
type trial struct {
	*judge
	progress *adaptive.Progress
	pairs    [][2]int
	rule     Rule
	claimed  map[[2]int]float64 // by the naive rule: the sign of the difference
}

// after claims what a look shows, and returns what the next round buys.
func (t *trial) after(l *adaptive.Look, looks int) []int {
	if t.rule == Naive {
		for _, p := range l.Pairs {
			if at := [2]int{p.I, p.J}; p.P <= t.progress.Alpha && t.claimed[at] == 0 {
				t.claimed[at] = p.Difference
			}
		}
		return t.share(looks, func(at [2]int) bool { return t.claimed[at] == 0 })
	}
	t.progress.Look(l)
	switch {
	case t.rule == Planned:
		return t.progress.Next(l)
	case t.progress.Settled():
		return nil
	}
	return t.share(looks, func([2]int) bool { return true })
}

// share gives the pairs of a set equal parts of what the next round may buy.
func (t *trial) share(looks int, in func(at [2]int) bool) []int {
	if looks == t.progress.Plan.Rounds {
		return nil
	}
	var set []int
	for k, at := range t.pairs {
		if in(at) {
			set = append(set, k)
		}
	}
	if len(set) == 0 {
		return nil
	}
	buy := make([]int, len(t.pairs))
	for _, k := range set {
		buy[k] = min((t.progress.Until()[looks]-t.progress.Spent())/len(set), t.progress.Most-t.bought[k])
	}
	return buy
}

// settle buys a quote of 80% for two neighbours, and looks once more.
func (t *trial) settle(l *adaptive.Look, out *Outcome) error {
	level := t.progress.Alpha / float64(t.progress.Plan.Rounds)
	if t.progress.Plan.Rounds == 1 {
		level = t.progress.Alpha / adaptive.Rounds
	}
	at := neighbour(l, math.Inf(1), t.rng)
	if p := l.Pairs[at]; t.progress.Claims.Known(p.I, p.J) {
		return nil
	}
	open := 0
	for _, p := range t.pairs {
		if !t.progress.Claims.Known(p[0], p[1]) {
			open++
		}
	}
	q := adaptive.Quote{Pair: l.Pairs[at], Critical: adaptive.Critical(level, open, l.Clusters), Spread: adaptive.Spread(l.Theta, l.SE)}
	n, _ := q.Needed(0.8)
	more := make([]int, len(t.pairs))
	more[at] = int(min(n+1, 1000, float64(t.most()-t.bought[at])))
	t.compare(t.pairs, more)
	t.progress.Buy(more)
	look, err := t.look()
	if err != nil {
		return err
	}
	t.progress.Beyond(look, level)
	out.Looks++
	out.Covered, out.Between = t.covered(look, level)
	return nil
}

// level is that of the intervals of a look.
func (t *trial) level(looks int) float64 {
	if t.rule == Naive {
		return t.progress.Alpha
	}
	return t.progress.Levels()[looks-1]
}

// covered counts the intervals of differences that hold the truth.
func (t *trial) covered(l *adaptive.Look, level float64) (held, all int) {
	for _, p := range l.Pairs {
		if between := l.Interval(p, level); between.OK {
			all++
			if between.Contains(t.Theta[p.I] - t.Theta[p.J]) {
				held++
			}
		}
	}
	return held, all
}

// wrong reports whether any claim is not so.
func (t *trial) wrong() bool {
	const same = 1e-12
	for _, c := range t.progress.Claims.All {
		if t.Theta[c.Better]-t.Theta[c.Worse] <= same {
			return true
		}
	}
	for at, d := range t.claimed {
		if math.Copysign(1, d)*(t.Theta[at[0]]-t.Theta[at[1]]) <= same {
			return true
		}
	}
	return false
}

func (t *trial) reached() bool {
	if t.rule == Naive {
		return len(t.claimed) == len(t.bought)
	}
	return t.progress.Settled()
}
