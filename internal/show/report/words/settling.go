package words

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
	"assay/internal/study/adaptive"
)

// Settling is the quote for resolving the difference of two neighbours.
type Settling struct {
	Stage         string
	First, Second string
	Unit          string // comparison, or what the items of the stage are called
	Even, Likely  Amount // for an even chance, and for 80%
	AsFound       Amount // for 80%, if the difference is as it was found; zero: lanes show how far they differ
	Items         int    // that both have
	Short         bool   // of texts: an even chance takes more pairs than are left
}

// Amount is how many more comparisons or items, at what cost.
type Amount struct {
	N     float64
	Known bool   // no sensible number else
	Unit  string // what they are; empty: that of the quote
	Cost  Fee
}

// Fee is a cost at this run's prices. A value that is not OK is not known.
type Fee struct {
	Paid, Batch, Live money // as it was paid so far; as batches; live
}

type money struct {
	Value float64
	OK    bool
}

func (m money) times(n float64) money { return money{m.Value * n, m.OK} }

func (m money) plus(o money) money { return money{m.Value + o.Value, m.OK && o.OK} }

// of is a cost divided by so many; not known where there are none, or where a price is not.
func moneyOf(c assay.Cost, n int64) money {
	return money{c.Sum.Float() / float64(max(1, n)), c.Known() && n > 0}
}

func (p Fee) times(n float64) Fee {
	return Fee{p.Paid.times(n), p.Batch.times(n), p.Live.times(n)}
}

func (p Fee) plus(o Fee) Fee {
	return Fee{p.Paid.plus(o.Paid), p.Batch.plus(o.Batch), p.Live.plus(o.Live)}
}

// likelyChance is the power that is quoted besides an even chance.
const likelyChance = 0.8

// settlings returns the neighbours of a ranking that cannot be told apart, with what it would take. Quotes believe in a
// difference as far as the spread of all of them suggests: those that are asked about are close by luck, too.
func (d document) settlings(r *ranked) []Settling {
	if len(r.order) < 2 || !r.tested {
		return nil
	}
	var out []Settling
	for k := range r.order[1:] {
		if one, ok := d.settling(r, r.order[k], r.order[k+1]); ok {
			out = append(out, one)
		}
	}
	return out
}

// settling returns what it would take to tell two places apart; false: they are, or nothing can be foretold.
func (d document) settling(r *ranked, a, b int) (Settling, bool) {
	s := Settling{Stage: r.Stage, First: r.Places[a].Name, Second: r.Places[b].Name, Unit: "comparison", Items: r.shared(a, b)}
	pairs := r.Field == analysis.ByItem && r.Rounds == nil && r.Foretold == nil // in rounds, two texts are compared on their own
	switch {
	case pairs:
		s.Unit = "pair"
	case r.Verb != analysis.Compared:
		s.Unit = strings.TrimSuffix(d.nounOf(r.Stage), "s")
	}
	q, ok := r.Quote(a, b)
	if !ok {
		return s, false
	}
	each := d.costOfOne(r, a, b)
	if pairs {
		each = each.times(r.perPair())
	}
	s.Even, s.Likely = amount(q, 0.5, each), amount(q, likelyChance, each)
	if r.Rough() && r.Field == analysis.ByLane {
		s.AsFound = amount(q.AsFound(), likelyChance, each)
	}
	switch {
	case pairs:
		s.atMost(r.pairsLeft())
	case r.Field == analysis.ByItem && r.Rounds != nil:
		s.atMost(mostMeetings)
	case r.Verb == analysis.Compared:
		d.inComparisons(&s)
	default:
		s.inItems(r.PerCluster())
	}
	return s, true
}

// mostMeetings is how often rounds compare two texts: once each way.
const mostMeetings = 2

// Comparisons returns how many comparisons so many verdicts are, of which one comparison has each; where they are more than
// are left on the items that there are, those, and how many more items it takes, if the two are compared on each so often.
// Numbers are rounded up to two digits.
func Comparisons(verdicts float64, each, left, perItem int) (n, items int) {
	if n = int(max(1, math.Ceil(verdicts/float64(max(1, each))))); n > left {
		return left, roughly((n - left + perItem - 1) / perItem)
	}
	return min(roughly(n), left), 0
}

// inComparisons turns numbers of verdicts into those of comparisons; into those of items, whose price is not known, where
// fewer comparisons are left.
func (d document) inComparisons(s *Settling) {
	c, known := d.Comparing[s.Stage]
	if !known {
		return
	}
	left, limited := c.Left[[2]string{s.First, s.Second}]
	if !limited {
		left = math.MaxInt
	}
	for _, a := range []*Amount{&s.Even, &s.Likely, &s.AsFound} {
		if !a.Known {
			continue
		}
		n, items := Comparisons(a.N, c.Verdicts, left, max(1, c.PerItem))
		if a.N = float64(n); items > 0 {
			*a = Amount{N: float64(items), Known: true, Unit: strings.TrimSuffix(d.nounOf(s.Stage), "s")}
		}
	}
}

// Settle returns the quote for resolving the difference of two lanes whose answers are judged one by one, in a stage or
// in the first that ranks both. Ranked is false where none does; where there is no quote or they already differ, Even
// and Likely are zero and Apart distinguishes the two.
func Settle(doc *report.Document, stage, first, second string) (s Settling, apart, ranked bool) {
	d := document{doc}
	for i := range d.Report.Leaderboards {
		r := rank(&d.Report.Leaderboards[i])
		if r.Verb != analysis.Judged || stage != "" && r.Stage != stage {
			continue
		}
		a, b := placeOf(r, first), placeOf(r, second)
		if a < 0 || b < 0 {
			continue
		}
		s, ok := d.settling(r, a, b)
		return s, !ok && r.differ(a, b), true
	}
	return Settling{}, false, false
}

// amount returns how many more it takes for a chance: one at least, since those that there are did not do. An exact
// test may want more than errors do.
func amount(q adaptive.Quote, chance float64, each Fee) Amount {
	n, known := q.Needed(chance)
	n = max(1, math.Ceil(n))
	return Amount{N: n, Known: known, Cost: each.times(n)}
}

// perPair returns how many comparisons a pair of texts has.
func (r *ranked) perPair() float64 {
	sides := 0
	for _, p := range r.Places {
		sides += p.N
	}
	return float64(sides) / 2 / float64(max(1, r.Clusters))
}

// placeOf returns the number of a place; -1: there is none.
func placeOf(r *ranked, name string) int {
	return slices.IndexFunc(r.Places, func(p analysis.Place) bool { return p.Name == name })
}

// inItems turns numbers of clusters into those of items, at the same cost.
func (s *Settling) inItems(each float64) {
	for _, a := range []*Amount{&s.Even, &s.Likely, &s.AsFound} {
		a.N = math.Ceil(a.N * each)
	}
}

// shared returns how many items two places have both.
func (r *ranked) shared(a, b int) int {
	for _, t := range r.Tests {
		if t.First == a && t.Second == b || t.First == b && t.Second == a {
			return max(t.Items, t.Clusters)
		}
	}
	return 0
}

// has returns how many items, or clusters of them, a place has in common with some other one.
func (r *ranked) has(place int) int {
	n := 0
	for _, t := range r.Tests {
		if t.First == place || t.Second == place {
			n = max(n, t.Clusters)
		}
	}
	return n
}

// costOfOne returns what one more comparison costs, or one more item: as many verdicts and answers as there are of those that are
// there. A command that asks more items asks all lanes, and has all stages judge them that judge one answer at a time. The prices are
// those of the run.
func (d document) costOfOne(r *ranked, a, b int) Fee {
	if r.Verb == analysis.Compared {
		return d.costOfComparison(r)
	}
	sum, all := Fee{money{OK: true}, money{OK: true}, money{OK: true}}, 0
	for i := range r.Places {
		all += r.has(i)
	}
	asked := map[string]bool{}
	for _, s := range d.Spend {
		if s.Asks && s.Answers > 0 && d.reads(r.Stage, s.Stage) {
			asked[s.Lane] = true
			at := slices.IndexFunc(r.Places, func(p analysis.Place) bool { return p.Name == s.Lane })
			if at >= 0 && r.has(at) > 0 {
				sum = sum.plus(oneAnswer(s).times(float64(s.Answers) / float64(r.has(at))))
			}
		}
		if !s.Asks && s.Answers > 0 && (s.Stage == r.Stage || d.judgesThose(s.Stage, r.Stage)) {
			sum = sum.plus(oneAnswer(s).times(float64(s.Answers) * float64(len(r.Places)) / float64(max(1, all))))
		}
	}
	if r.has(a) == 0 || r.has(b) == 0 || !asked[r.Places[a].Name] || !asked[r.Places[b].Name] {
		return Fee{}
	}
	return sum
}

// costOfComparison returns what one more comparison costs.
func (d document) costOfComparison(r *ranked) Fee {
	sum, verdicts, sides := Fee{money{OK: true}, money{OK: true}, money{OK: true}}, int64(0), 0
	for _, s := range d.Spend {
		if !s.Asks && s.Stage == r.Stage && s.Answers > 0 {
			sum, verdicts = sum.plus(oneAnswer(s).times(float64(s.Answers))), verdicts+s.Answers
		}
	}
	for _, p := range r.Places {
		sides += p.N
	}
	if verdicts == 0 || sides == 0 { // answers may be judged by a rule, which costs nothing
		return Fee{}
	}
	return sum.times(2 / float64(sides))
}

// judgesThose reports whether a stage judges, one at a time, answers that another stage judges.
func (d document) judgesThose(stage, other string) bool {
	_, compared := d.Comparing[stage]
	return !compared && slices.ContainsFunc(d.Reads[stage], func(asks string) bool { return slices.Contains(d.Reads[other], asks) })
}

// reads reports whether a stage that judges reads the answers of another one, or of one that it goes on with; where
// nothing is known of it, it does.
func (d document) reads(stage, asks string) bool {
	of, known := d.Reads[stage]
	return !known || slices.Contains(of, asks)
}

// oneAnswer returns what one answer costs.
func oneAnswer(s report.Spend) Fee {
	known := func(c assay.Cost) money { return money{c.Sum.Float(), c.Known() && c.Priced > 0} }
	return Fee{moneyOf(s.Cost, s.Answers), known(s.Batch), known(s.Live)}
}

// How many neighbours are quoted in the summary: of one stage, and of each of several.
const (
	maxSettled = 4
	maxOfEach  = 2
)

// fewLanes is the number of lanes up to which their spread is hardly known: quotes are rough.
const fewLanes = 3

// unsettledNeighbours returns the caveat about resolving the differences of neighbours, in all stages: the closest to
// the top of each.
func (d document) unsettledNeighbours(all []*ranked) *Caveat {
	each := maxSettled
	if len(all) > 1 {
		each = maxOfEach
	}
	var points []string
	var first *Caveat
	more, rough := 0, false
	for _, r := range all {
		quotes := slices.DeleteFunc(d.settlings(r), func(s Settling) bool { return s.Short })
		for k, s := range quotes {
			if first == nil || first.Command == "" {
				first = d.resolve(r, s)
			}
			if k >= each || len(points) == maxSettled {
				more++
				continue
			}
			names := assay.Clean(s.First, plot.MaxName) + " and " + assay.Clean(s.Second, plot.MaxName)
			if len(all) > 1 {
				names += " (" + r.label() + ")"
			}
			points, rough = append(points, names+": "+s.words()), rough || s.ranges()
		}
	}
	if len(points) == 0 {
		return nil
	}
	text := "What it would take to tell neighbours apart, at this run's prices"
	if rough {
		text += fmt.Sprintf(" (a range: with %d or fewer, how far apart they lie is hardly known)", fewLanes)
	}
	if more > 0 {
		points = append(points, fmt.Sprintf("%s more: %s lists all", assay.Count(more, "pair"), d.command("analyse", "--json")))
	}
	first.Title, first.Text, first.Points = "Not settled.", text+":", points
	return first
}

// ranges reports whether a quote is a range: from what believes in the difference as it was found to what believes in little of it.
func (s Settling) ranges() bool {
	return s.AsFound.Known && s.Likely.Known && s.AsFound.Unit == s.Likely.Unit && s.AsFound.N < s.Likely.N
}

// words returns how many more settle a pair.
func (s Settling) words() string {
	if s.ranges() {
		most := s.Likely.words("more " + cmp.Or(s.Likely.Unit, s.Unit))
		return fmt.Sprintf("%s to %s would very likely tell them apart", assay.Thousands(roughly(int(s.AsFound.N))), most)
	}
	if !s.Even.Known {
		return "no sensible number of " + s.Unit + "s"
	}
	even, likely := cmp.Or(s.Even.Unit, s.Unit), cmp.Or(s.Likely.Unit, s.Unit)
	if !s.Likely.Known {
		return s.Even.words("more "+even) + " would give a coin's chance"
	}
	fewer := assay.Thousands(roughly(int(s.Even.N))) + " give a coin's chance"
	if even != likely {
		fewer = assay.Count(roughly(int(s.Even.N)), even) + " give a coin's chance"
	}
	return "about " + s.Likely.words("more "+likely) + " would very likely tell them apart, " + fewer
}

// Rounded returns the number as it is shown.
func (a Amount) Rounded() int { return roughly(int(a.N)) }

func (a Amount) words(unit string) string {
	n := a.Rounded()
	text := assay.Thousands(n)
	if unit != "" {
		text = assay.Count(n, unit)
	}
	if cost := a.Cost.Words(); cost != "" {
		text += " (" + cost + ")"
	}
	return text
}

// Words returns what it costs in batches and live; where neither is known, what was paid for as much; empty: nothing is
// known.
func (p Fee) Words() string {
	shown := func(m money) string { return assay.Dollars(m.Value).String() }
	switch {
	case p.Batch.OK && p.Live.OK:
		return shown(p.Batch) + " in batches, " + shown(p.Live) + " live"
	case p.Live.OK:
		return shown(p.Live) + " live"
	case p.Batch.OK:
		return shown(p.Batch) + " in batches"
	case p.Paid.OK:
		return shown(p.Paid)
	}
	return ""
}
