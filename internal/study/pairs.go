package study

import (
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

// Pairs selects the pairs that a compare stage judges.
type Pairs struct {
	decode.Where
	All         bool         `json:"all,omitempty" jsonschema:"every pair"`
	Sample      CountOrShare `json:"sample,omitzero" jsonschema:"so many unordered pairs of the whole stage, or a share such as 20%, balanced over lane pairs"`
	PerItem     int          `json:"per_item,omitempty"`
	PerLanePair int          `json:"per_lane_pair,omitempty"`
	File        PairList     `json:"file,omitzero" jsonschema:"a list of pairs: .csv .tsv .jsonl or .json, one pair a row"`
	First       string       `json:"first,omitempty" jsonschema:"with file: the column of the side that is listed first (first, a, id1 or lane_a)"`
	Second      string       `json:"second,omitempty" jsonschema:"with file: the column of the other side (second, b, id2 or lane_b)"`
	Item        string       `json:"item,omitempty" jsonschema:"with file, where lanes are compared: the column of the item they meet on (item); without one they meet on every item"`
	Within      string       `json:"within,omitempty" jsonschema:"a field of the items that are compared: only items with the same value meet"`
	Order       Order        `json:"order,omitempty" jsonschema:"random (the default), alternate, both or as-listed (the default of a list)"`
	Reverse     Share        `json:"reverse,omitempty" jsonschema:"share of the pairs asked again the other way round, such as 0.3 or 30%"`
	Seed        int64        `json:"seed,omitempty" jsonschema:"of all that is random about the pairs"`
	OrderSeed   *int64       `json:"order_seed,omitempty" jsonschema:"of which is shown first, over seed"`
	ReverseSeed *int64       `json:"reverse_seed,omitempty" jsonschema:"of which pairs are asked again, over seed"`

	Adaptive *Adaptive `json:"adaptive,omitempty" jsonschema:"pairs are bought in rounds, each chosen from the verdicts so far, until the goal is settled"`
}

// Read takes the word all, or a map.
func (p *Pairs) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Text {
		p.Where = decode.Where{At: n.At}
		p.All = d.OneOf(n, "all") == "all"
		return
	}
	d.Fields(n, p)
	if p.Reverse < 0 || p.Reverse > 1 {
		d.Problems.Add(p.Key("reverse"), "a share, such as 0.3", "reverse: want 0 to 1, got %g", p.Reverse)
	}
	kinds := 0
	for _, key := range []string{"all", "sample", "per_item", "per_lane_pair", "file", "adaptive"} {
		if p.Has(key) {
			kinds++
		}
	}
	for key, n := range map[string]int{"sample": p.Sample.least(), "per_item": p.PerItem, "per_lane_pair": p.PerLanePair} {
		if p.Has(key) && n < 1 && !d.Problems.Touch(p.Key(key)) {
			d.Problems.Add(p.Key(key), "every pair is `pairs: all`", "%s: want at least 1, got %d", key, n)
		}
	}
	if kinds > 1 {
		d.Problems.Add(n.At, "", "pairs: want one of all, sample, per_item, per_lane_pair, file, adaptive")
	}
	p.checkList(d)
	p.checkAdaptive(d)
	if p.Within != "" && p.File.File != "" {
		d.Problems.Add(p.Key("within"), "leave it out", "a list of pairs says itself what meets")
	}
}

// Drawn reports whether a seed decides about the pairs or their order.
func (p *Pairs) Drawn() bool {
	return p.File.File == "" || p.Order == OrderRandom || p.Reverse > 0 && p.Reverse < 1
}

// checkList wants columns to be named of a list alone.
func (p *Pairs) checkList(d *decode.Decoder) {
	for _, key := range []string{"first", "second", "item"} {
		if p.Has(key) && p.File.File == "" {
			d.Problems.Add(p.Key(key), "such as pairs: {file: pairs.csv, first: ID1, second: ID2}",
				"%s names a column of a list of pairs, and there is no `file`", key)
		}
	}
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

// PairList is a list of pairs in a file of their own.
type PairList struct {
	File string
	At   assay.Place
	Rows []ListedPair
}

// ListedPair is one pair of a list.
type ListedPair struct {
	Place         assay.Place
	Item          string // on which two lanes meet; empty: on every one
	First, Second string // lanes, or items, as the list has them
	Twice         bool   // a later row has it the other way round
}

// Read takes the name of a file.
func (l *PairList) Read(d *decode.Decoder, n *decode.Node) {
	l.At = n.At
	if n.Kind != decode.Text || n.Text == "" {
		d.Wrong(n, "the name of a file, such as pairs.csv")
		return
	}
	l.File = n.Text
}

// Names returns the pairs in words, in the order of the list.
func (l PairList) Names() []string {
	side := func(s string) string {
		if s == "" || strings.ContainsAny(s, " \"") {
			return strconv.Quote(s)
		}
		return s
	}
	var out []string
	for _, p := range l.Rows {
		on := ""
		if p.Item != "" {
			on = " on " + side(p.Item)
		}
		out = append(out, side(p.First)+" "+side(p.Second)+on)
		if p.Twice {
			out = append(out, side(p.Second)+" "+side(p.First)+on)
		}
	}
	return out
}

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
