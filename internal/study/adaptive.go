package study

import (
	"slices"
	"strings"

	"assay/internal/study/decode"
)

// Adaptive configures a compare stage that buys its pairs in rounds: what the next one buys is chosen from the verdicts
// so far.
type Adaptive struct {
	decode.Where
	Goal     Goal   `json:"goal,omitzero" jsonschema:"ranking (the default), {top: 3}, {between: [a, b]} or {width: 0.2}"`
	Rounds   int    `json:"rounds,omitempty" jsonschema:"planned rounds, 1 to 20; a look at the verdicts follows each; 5 unless said"`
	PerRound int    `json:"per_round" jsonschema:"comparisons a round, on average: the first two rounds are smaller"`
	Budget   Amount `json:"budget,omitzero" jsonschema:"the most that the rounds of this stage are meant to cost, such as 12 USD"`
	Seed     int64  `json:"seed,omitempty" jsonschema:"of all that is random about the pairs"`
}

// Goal is the question that the rounds of a stage are to resolve.
type Goal struct {
	decode.Where `json:"-"`
	Top          int     // which are the best so many
	Between      Names   // which of these two is better
	Width        float64 // all strengths to within plus or minus so much
}

// GoalRanking is the goal of a whole ranking.
const GoalRanking = "ranking"

// goalMap is a goal that has a value.
type goalMap struct {
	decode.Where `json:"-"`
	Top          int     `json:"top,omitempty" jsonschema:"which are the best so many"`
	Between      Names   `json:"between,omitzero" jsonschema:"which of two is better"`
	Width        float64 `json:"width,omitempty" jsonschema:"all strengths to within plus or minus so much, on the natural-log scale"`
}

// Read takes the word ranking, or a map with one goal.
func (g *Goal) Read(d *decode.Decoder, n *decode.Node) {
	const want = "ranking, {top: 3}, {between: [a, b]} or {width: 0.2}"
	switch {
	case n.Kind == decode.Text && n.Text == GoalRanking:
		g.Where = decode.Where{At: n.At}
		return
	case n.Kind != decode.Map:
		d.Wrong(n, want)
		return
	}
	var m goalMap
	d.Fields(n, &m)
	*g = Goal(m)
	if len(n.Pairs) != 1 {
		d.Problems.Add(n.At, "one of "+want, "goal: want one goal, got %d", len(n.Pairs))
		return
	}
	switch {
	case m.Has("top") && m.Top < 1:
		d.Problems.Add(m.Key("top"), "such as {top: 3}", "top: want at least 1, got %d", m.Top)
	case m.Has("between") && len(m.Between.List) != 2:
		d.Problems.Add(m.Key("between"), "such as {between: [a, b]}", "between: want two names, got %d", len(m.Between.List))
	case m.Has("between") && m.Between.List[0] == m.Between.List[1]:
		d.Problems.Add(m.Key("between"), "", "between: %s is named twice", decode.Quote(m.Between.List[0]))
	case m.Has("width") && !(m.Width > 0):
		d.Problems.Add(m.Key("width"), "0.2 is a win share of 55% against an equal", "width: want more than 0, got %g", m.Width)
	}
}

// Usual and most rounds of a stage.
const (
	usualRounds = 5
	mostRounds  = 20
)

// Planned returns how many rounds are planned.
func (a *Adaptive) Planned() int {
	if a.Rounds == 0 {
		return usualRounds
	}
	return a.Rounds
}

// checkAdaptive wants numbers that can be planned, and nothing beside that the rounds would not follow.
func (p *Pairs) checkAdaptive(d *decode.Decoder) {
	a := p.Adaptive
	if a == nil {
		return
	}
	if a.Has("rounds") && (a.Rounds < 1 || a.Rounds > mostRounds) {
		d.Problems.Add(a.Key("rounds"), "5 are usual; more rounds save more comparisons and take longer", "rounds: want 1 to %d, got %d",
			mostRounds, a.Rounds)
	}
	switch {
	case !a.Has("per_round"):
		d.Problems.Add(a.At, "such as per_round: 200", "adaptive does not say how many comparisons a round has")
	case a.PerRound < 1:
		d.Problems.Add(a.Key("per_round"), "", "per_round: want at least 1, got %d", a.PerRound)
	}
	if a.Has("budget") && a.Budget.Set && a.Budget.Money <= 0 {
		d.Problems.Add(a.Key("budget"), "leave it out for no limit", "budget: want more than 0")
	}
	for _, key := range []string{"order", "reverse", "seed", "order_seed", "reverse_seed", "within"} {
		if p.Has(key) {
			hint := "orders go by turns there"
			switch key {
			case "seed":
				hint = "write it inside adaptive"
			case "within":
				hint = "one ranking is settled: give each group a stage of its own, with `where`"
			}
			d.Problems.Add(p.Key(key), hint, "%s does not belong beside adaptive", decode.Quote(key))
		}
	}
}

// checkRounds looks at what a stage with rounds has besides: one number decides what is bought.
func (r *run) checkRounds(st *Stage) {
	if st.Pairs == nil || st.Pairs.Adaptive == nil {
		return
	}
	a := st.Pairs.Adaptive
	if len(st.Trait.List) > 1 {
		r.found.Add(st.Where.Key("trait"), "give each trait a stage of its own",
			"stage %s buys pairs in rounds: its %d traits cannot share them", st.Name, len(st.Trait.List))
	}
	person := func(name string) bool { return strings.HasPrefix(name, "human:") }
	if n := len(st.Judges.List); n > 0 && !slices.ContainsFunc(st.Judges.List, func(name string) bool { return !person(name) }) {
		r.found.Add(st.Where.Key("judges"), "let a model judge, and people label with `assay label`",
			"stage %s buys pairs in rounds, and no round waits for people", st.Name)
	}
	from, ok := r.study.Stage(st.Compare)
	if !ok {
		return // items, which are not read here
	}
	lanes := r.study.Contestants(from)
	if len(st.Among.List) > 0 {
		lanes = pickedBy(st.Among.List, lanes)
	}
	r.checkGoal(st, a.Goal, lanes)
}

// checkGoal holds the goal of a stage against the lanes that it compares.
func (r *run) checkGoal(st *Stage, g Goal, lanes []*Lane) {
	if g.Top > 0 && g.Top >= len(lanes) && len(lanes) > 1 {
		r.found.Add(g.Key("top"), "", "stage %s: the best %d of %d lanes are known already", st.Name, g.Top, len(lanes))
	}
	var names []string
	for _, l := range lanes {
		names = append(names, l.Name)
	}
	for i, name := range g.Between.List {
		r.known(g.Between.Places[i], "lane of stage "+st.Name, name, names)
	}
}

func pickedBy(names []string, lanes []*Lane) []*Lane {
	return slices.DeleteFunc(slices.Clone(lanes), func(l *Lane) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return Picks(n, l) })
	})
}
