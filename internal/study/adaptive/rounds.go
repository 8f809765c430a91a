package adaptive

import (
	"cmp"
	"math"
	"slices"
)

// Progress is a plan under way: what was bought, what is known, and what comes next.
type Progress struct {
	Plan
	Claims *Claims
	Bought []int  // comparisons by pair, whatever became of them
	Given  []bool // pairs that are given up
	Looks  int    // so far
	Narrow bool   // all strengths are as certain as the goal wants

	pairs  [][2]int
	family []bool
	until  []int
	levels []float64
}

// Begin begins a plan.
func Begin(p Plan) (*Progress, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	all := Pairs(p.Lanes)
	return &Progress{Plan: p, Claims: NewClaims(p.Lanes), Bought: make([]int, len(all)), Given: make([]bool, len(all)),
		pairs: all, family: p.Goal.family(all), until: p.Until(), levels: p.Levels()}, nil
}

// Spent returns how many comparisons were bought.
func (g *Progress) Spent() int { return total(g.Bought) }

// First returns what the first round buys: the pairs of the family, evenly.
func (g *Progress) First() []int { return g.deal(g.until[0], g.family) }

// Buy notes that comparisons are bought.
func (g *Progress) Buy(n []int) {
	for k := range n {
		g.Bought[k] += n[k]
	}
}

// Look takes a look at all verdicts, and returns its new claims.
func (g *Progress) Look(l *Look) []Claim {
	level := g.levels[g.Looks]
	g.Looks++
	if g.Goal.Width > 0 {
		g.Narrow = l.narrow(g.Goal.Width, g.Alpha)
		return nil
	}
	claims := g.Claims.look(g.Looks, level, l.Theta, l.p(), g.family)
	if g.Futility > 0 && g.Looks < g.Plan.Rounds {
		g.giveUp(l)
	}
	return claims
}

// Beyond takes a look beyond the plan, at a level of its own, and returns its new claims.
func (g *Progress) Beyond(l *Look, level float64) []Claim {
	g.Looks++
	return g.Claims.look(g.Looks, level, l.Theta, l.p(), g.family)
}

// Blind returns what the next round buys after a look that shows nothing: the open pairs, evenly. The look is spent.
func (g *Progress) Blind() []int {
	if g.Looks++; g.Looks >= g.Plan.Rounds {
		return nil
	}
	buy := g.deal(max(0, g.until[g.Looks]-g.Spent()), g.Open())
	if total(buy) == 0 {
		return nil
	}
	return buy
}

// Hopeless reports whether all that is not known is given up.
func (g *Progress) Hopeless() bool { return !g.Settled() && !slices.Contains(g.Open(), true) }

// Recall takes what an earlier look decided, in place of looking again.
func (g *Progress) Recall(claims []Claim, given []int, narrow bool) {
	g.Looks++
	for _, c := range claims {
		c.Look = g.Looks
		g.Claims.All = append(g.Claims.All, c)
		g.Claims.Add(c.Better, c.Worse)
	}
	for _, k := range given {
		g.Given[k] = true
	}
	g.Narrow = narrow
}

// Level returns the error that the last look might spend; that of the first where there was none. Where no claims are
// wanted, intervals are those of the whole level: how wide they are does not depend on who wins.
func (g *Progress) Level() float64 {
	if g.Goal.Width > 0 {
		return g.Alpha
	}
	return g.levels[max(0, g.Looks-1)]
}

// Next returns what the next round buys after a look. It is nil when all that bears on the goal is known or given up, when the budget
// is spent, or when the looks are.
func (g *Progress) Next(l *Look) []int {
	open := g.Open()
	if g.Looks == g.Plan.Rounds || !slices.Contains(open, true) {
		return nil
	}
	buy := g.next(l, open)
	if total(buy) == 0 {
		return nil
	}
	return buy
}

// bears returns the pairs whose direction is not known and matters to the goal.
func (g *Progress) bears() []bool {
	in := make([]bool, len(g.pairs))
	for k, p := range g.pairs {
		in[k] = g.family[k] && !g.Narrow && !g.Claims.Known(p[0], p[1]) && g.running(p[0]) && g.running(p[1])
	}
	return in
}

// running reports whether a lane may still be among the best or not.
func (g *Progress) running(lane int) bool {
	top := g.Goal.Top
	return top == 0 || g.Claims.beaten(lane) < top && g.Claims.beats(lane) < g.Lanes-top
}

// Open returns the pairs that are still worth a comparison.
func (g *Progress) Open() []bool {
	open := g.bears()
	for k := range open {
		open[k] = open[k] && !g.Given[k]
	}
	return open
}

// Settled reports whether all that bears on the goal is known.
func (g *Progress) Settled() bool { return !slices.Contains(g.bears(), true) }

// critical returns the value that a score has to exceed at the look of a round, from 0, as long as so many pairs are not known.
func (g *Progress) critical(round int, l *Look) float64 {
	return Critical(g.levels[round], g.Claims.unknown(g.pairs, g.family), l.Clusters)
}

// next buys evenly for all open pairs, and for none more than it is predicted to need. Chasing the pairs that look closest would
// save next to nothing, and claim much that is not so.
func (g *Progress) next(l *Look, open []bool) []int {
	money := max(0, g.until[g.Looks]-g.Spent())
	switch {
	case g.Goal.Width > 0 && g.Most <= twice:
		return g.deal(money, open)
	case g.Goal.Width > 0:
		return g.narrowing(l, money)
	}
	sure := 0.8
	if g.Looks+1 == g.Plan.Rounds {
		sure = 0.95
	}
	z := g.critical(g.Looks, l) + quantile(sure)
	n := money / max(1, count(open))
	buy, rest := make([]int, len(open)), make([]bool, len(open))
	for k, p := range l.Pairs {
		if !open[k] {
			continue
		}
		most := min(enough(p, z), g.Most-g.Bought[k])
		buy[k] = max(0, min(n, most))
		rest[k] = most > n
	}
	for _, k := range g.lowest(rest, buy)[:min(count(rest), money%max(1, count(open)))] {
		buy[k]++
	}
	if g.Most <= twice {
		g.beside(buy, open, money-total(buy))
	}
	return buy
}

// twice is how often two items meet: once each way.
const twice = 2

// beside gives what is left of a round, where two contestants can hardly meet, to other pairs of those that are in an open one: the fewest
// comparisons first.
func (g *Progress) beside(buy []int, open []bool, rest int) {
	in := make([]bool, g.Lanes)
	for k, p := range g.pairs {
		in[p[0]], in[p[1]] = in[p[0]] || open[k], in[p[1]] || open[k]
	}
	other := make([]bool, len(open))
	for k, p := range g.pairs {
		other[k] = g.family[k] && (in[p[0]] || in[p[1]])
	}
	g.Buy(buy) // for as long as it is dealt out
	more := g.deal(rest, other)
	for k := range buy {
		g.Bought[k] -= buy[k]
		buy[k] += more[k]
	}
}

// enough returns how many comparisons a pair is predicted to need until its score exceeds z, as if what was found were the truth.
func enough(p Pair, z float64) int {
	const fewest, most = 8, 1e9
	need := (square(z/max(math.Abs(p.Difference), 0.001)) - 1/p.Variance) / p.Information
	return int(math.Ceil(min(max(need, fewest), most)))
}

// giveUp gives pairs up that the rest of the budget is most unlikely to settle. Two items meet twice at most, and what settles them is
// mostly what they do against others: they are given up together or not at all.
func (g *Progress) giveUp(l *Look) {
	open := g.Open()
	share := float64(g.Budget-g.Spent()) / float64(max(1, count(open)))
	z := g.critical(g.Plan.Rounds-1, l)
	falls, together := g.falls(open, share), g.Most <= twice
	for k, p := range l.Pairs {
		if !open[k] {
			continue
		}
		n := min(share, float64(g.Most-g.Bought[k]))
		after := p.Variance / (1 + n*p.Information*p.Variance)
		if together {
			after = min(after, p.Variance*falls(p.I, p.J))
		}
		spread, bar := math.Sqrt(max(p.Variance-after, 1e-12)), z*math.Sqrt(after)
		d := math.Abs(p.Difference)
		g.Given[k] = below((d-bar)/spread)+below((-d-bar)/spread) < g.Futility
	}
	if together && slices.Contains(g.Open(), true) {
		for k := range open {
			g.Given[k] = g.Given[k] && !open[k]
		}
	}
}

// falls foretells which part of the variance of a difference is left after every open pair got its share, as far as it can meet: that of a
// strength falls with the number of its comparisons, whoever they are with.
func (g *Progress) falls(open []bool, share float64) func(i, j int) float64 {
	has, gets := make([]float64, g.Lanes), make([]float64, g.Lanes)
	for k, p := range g.pairs {
		for _, lane := range p {
			has[lane] += float64(g.Bought[k])
			if open[k] {
				gets[lane] += min(share, float64(g.Most-g.Bought[k]))
			}
		}
	}
	return func(i, j int) float64 {
		if has[i] == 0 || has[j] == 0 {
			return 1
		}
		return (1/(has[i]+gets[i]) + 1/(has[j]+gets[j])) / (1/has[i] + 1/has[j])
	}
}

// Cut leaves n comparisons of a round, so that the largest counts fall first.
func Cut(buy []int, n int) []int {
	out := slices.Clone(buy)
	for sum := total(out); sum > max(0, n); {
		most, next, at := 0, 0, 0 // the largest count, and the one below it
		for _, c := range out {
			switch {
			case c > most:
				most, next, at = c, most, 1
			case c == most:
				at++
			default:
				next = max(next, c)
			}
		}
		fall := min(most-next, max(1, (sum-n)/at))
		for k := len(out) - 1; k >= 0 && sum > n; k-- {
			if out[k] == most {
				out[k] -= fall
				sum -= fall
			}
		}
	}
	return out
}

func total(n []int) (sum int) {
	for _, c := range n {
		sum += c
	}
	return sum
}

// deal gives n comparisons to pairs so that the lowest counts rise first.
func (g *Progress) deal(n int, to []bool) []int {
	buy := make([]int, len(to))
	room := slices.Clone(to)
	for n > 0 {
		low, next := math.MaxInt, math.MaxInt // the lowest count, and the one above it
		at := 0
		for k := range to {
			if room[k] = room[k] && g.Bought[k]+buy[k] < g.Most; !room[k] {
				continue
			}
			switch c := g.Bought[k] + buy[k]; {
			case c < low:
				low, next, at = c, low, 1
			case c == low:
				at++
			default:
				next = min(next, c)
			}
		}
		if at == 0 {
			break
		}
		rise := min(next, g.Most) - low
		if n < at*rise {
			rise = n / at
		}
		for _, k := range g.lowest(room, buy)[:at] {
			if rise > 0 {
				buy[k] += rise
				n -= rise
			} else if n > 0 {
				buy[k]++
				n--
			}
		}
	}
	return buy
}

// lowest returns the numbers of pairs, those with the fewest comparisons first.
func (g *Progress) lowest(of []bool, buy []int) []int {
	var all []int
	for k := range of {
		if g.Order != nil {
			k = g.Order[k]
		}
		if of[k] {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(g.Bought[a]+buy[a], g.Bought[b]+buy[b]) })
	return all
}

func count(in []bool) (n int) {
	for _, yes := range in {
		if yes {
			n++
		}
	}
	return n
}
