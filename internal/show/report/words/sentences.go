package words

import (
	"fmt"
	"math"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// allApart reports whether every place behind the best can be told apart from all of the top.
func (r *ranked) allApart(top []int) bool {
	for _, i := range r.order {
		if !r.differ(r.order[0], i) {
			continue
		}
		for _, k := range top {
			if !r.differ(k, i) {
				return false
			}
		}
	}
	return true
}

// behind returns the sentence on the places behind those at the top, and by how much; apart: they can be told apart
// from each of those.
func (d document) behind(r *ranked, top []int, apart bool) Sentence {
	var rest []int
	for _, i := range r.order {
		if r.differ(r.order[0], i) {
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	s, whom := d.names(r, rest), ""
	if len(rest) > maxNamed {
		s = say(fmt.Sprintf("The other %d", len(rest)))
	}
	if !apart {
		top, whom = top[:1], " "+assay.Clean(r.Places[top[0]].Name, plot.MaxName)
	}
	verb := "are"
	if len(rest) == 1 {
		verb = "is"
	}
	return s.and(say(fmt.Sprintf(" %s behind%s: %s%s.", verb, whom, r.values(rest), r.gap(top, rest))))
}

// gap returns how far one set of places is behind another, in words.
func (r *ranked) gap(top, rest []int) string {
	if r.wins() || r.What == analysis.WhatExcess {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, a := range top {
		for _, b := range rest {
			x := math.Abs(r.differenceOf(a, b))
			low, high = min(low, x), max(high, x)
		}
	}
	word := "less"
	if r.Less {
		word = "more"
	}
	if r.Unit == analysis.Share {
		return ", " + plot.Span(pointsOf(low), pointsOf(high)) + " points " + word
	}
	return ", " + plot.Span(scoreOf(low), scoreOf(high)) + " " + word
}

// differenceOf returns the difference of two places that was tested, on what both have; without a test, that of their values.
func (r *ranked) differenceOf(a, b int) float64 {
	for _, t := range r.Tests {
		if (t.First == a && t.Second == b || t.First == b && t.Second == a) && t.Difference.OK {
			return t.Difference.Value
		}
	}
	return r.Places[a].Value.Value - r.Places[b].Value.Value
}

// names lists places; of many it gives the number.
func (d document) names(r *ranked, places []int) Sentence {
	if len(places) == len(r.order) && len(places) > maxNamed {
		return say(fmt.Sprintf("all %d %s", len(places), fieldWord(r.Field)))
	}
	names := make([]string, len(places))
	for k, i := range places {
		names[k] = r.Places[i].Name
	}
	return listed(names)
}

// listed returns the names of lanes or items, the first few of many.
func listed(names []string) Sentence {
	shown := names
	if len(names) > maxNamed {
		shown = names[:maxNamed-1]
	}
	var s Sentence
	for k, name := range shown {
		switch {
		case k == 0:
		case k == len(names)-1:
			s = append(s, Phrase{Text: " and "})
		default:
			s = append(s, Phrase{Text: ", "})
		}
		s = append(s, Phrase{Text: name, Lane: true})
	}
	if left := len(names) - len(shown); left > 0 {
		s = append(s, Phrase{Text: fmt.Sprintf(" and %d others", left)})
	}
	return s
}

// values returns what places got, from the lowest to the highest.
func (r *ranked) values(places []int) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, i := range places {
		low, high = min(low, r.shownOf(i)), max(high, r.shownOf(i))
	}
	switch r.What {
	case analysis.WhatMean:
		return plot.Span(scoreOf(low), scoreOf(high)) + " " + r.measure()
	case analysis.WhatExcess:
		if high < 0 {
			return "taken back " + plot.Span(pointsOf(-high), pointsOf(-low)) + " points less often than when merely asked again"
		}
		return "taken back " + plot.Span(pointsOf(low), pointsOf(high)) + " points more often than when merely asked again"
	}
	return percents(low, high) + " " + r.measure()
}

// measure returns what is counted, in a few words that follow a number.
func (r *ranked) measure() string {
	switch {
	case r.What == analysis.WhatStrength && r.Rounds != nil:
		return "of wins expected against all others"
	case r.wins():
		return "of comparisons won"
	case r.Flips:
		return "of answers taken back"
	case r.What == analysis.WhatMean:
		return "on average"
	case len(r.Labels) == 0 && r.First:
		return "of first answers as expected"
	case len(r.Labels) == 0:
		return "as expected"
	case r.First:
		return "of first answers " + assay.Clean(strings.Join(r.Labels, " or "), plot.MaxName)
	}
	return assay.Clean(strings.Join(r.Labels, " or "), plot.MaxName)
}

func percents(low, high float64) string {
	a, b := percentOf(low), percentOf(high)
	if a == b {
		return a
	}
	return strings.TrimSuffix(a, "%") + " to " + b
}

// between95 returns the interval of one place, in words.
func between95(r *ranked, place int) string {
	p := r.Places[place]
	if !p.Interval.OK || r.What == analysis.WhatStrength {
		return ""
	}
	if low, high := p.Interval.Low, p.Interval.High; r.What == analysis.WhatExcess {
		if r.shownOf(place) < 0 { // told as so many points less
			low, high = -high, -low
		}
		return fmt.Sprintf(" (%g%% interval %s points)", 100*r.Level, plot.Span(pointsOf(low), pointsOf(high)))
	}
	if r.Unit == analysis.Share {
		return fmt.Sprintf(" (%g%% interval %s)", 100*r.Level, percents(p.Interval.Low, p.Interval.High))
	}
	return fmt.Sprintf(" (%g%% interval %s)", 100*r.Level, plot.Span(scoreOf(p.Interval.Low), scoreOf(p.Interval.High)))
}

// units returns how many independent items the comparison rests on.
func (d document) units(r *ranked) string {
	n, noun := r.Clusters, d.nounOf(r.Stage)
	if r.Field == analysis.ByItem {
		noun = "pairs"
	}
	if n == 0 { // of no two lanes the same items are judged
		n, noun = int(r.Coverage.Valid), "verdicts"
	}
	if each := r.PerCluster(); each > 1 && r.Clusters > 0 {
		return fmt.Sprintf("%s %s in %s", assay.Thousands(int(math.Round(each*float64(n)))), noun, assay.Count(n, "cluster"))
	}
	if n == 1 {
		noun = strings.TrimSuffix(noun, "s")
	}
	return assay.Thousands(n) + " " + noun
}

// whyNone returns why nothing has a value.
func whyNone(r *ranked) string {
	for _, p := range r.Places {
		if p.Value.Why != "" {
			return assay.Clean(p.Value.Why, plot.MaxNote)
		}
	}
	return "nothing has been judged"
}

// whyUntested returns why differences were not tested.
func (r *ranked) whyUntested() string {
	for _, t := range r.Tests {
		if !t.P.OK && t.P.Why != "" {
			return assay.Clean(t.P.Why, plot.MaxNote)
		}
	}
	for _, i := range r.order {
		if why := r.Places[i].Interval.Why; why != "" {
			return assay.Clean(why, plot.MaxNote)
		}
	}
	return fmt.Sprintf("%d %s are too many to hold all against each other", len(r.order), fieldWord(r.Field))
}

// unmet returns the sentence on those that were never compared with each other.
func (r *ranked) unmet() Sentence {
	var s Sentence
	for k, members := range r.Unmet[:min(maxGroupsNamed, len(r.Unmet))] {
		switch k {
		case 0:
		case 1:
			s = append(s, Phrase{Text: assay.Verb(len(r.Unmet[0]), " was", " were") + " never compared with "})
		default:
			s = append(s, Phrase{Text: ", nor with "})
		}
		s = s.and(listed(members))
	}
	if more := len(r.Unmet) - maxGroupsNamed; more > 0 {
		s = s.and(say(fmt.Sprintf(", nor with %s more", assay.Count(more, "group"))))
	}
	return s
}

// maxGroupsNamed is how many groups that never met are named.
const maxGroupsNamed = 3

// part returns the leaderboard of some places alone.
func (r *ranked) part(names []string) *analysis.Leaderboard {
	out := *r.Leaderboard
	out.Unmet, out.Places, out.Tests, out.Foretold, out.Clusters = nil, nil, nil, nil, 0
	at := map[int]int{}
	for i, p := range r.Places {
		for _, n := range names {
			if n == p.Name {
				at[i] = len(out.Places)
				out.Places = append(out.Places, p)
			}
		}
	}
	for _, t := range r.Tests {
		first, one := at[t.First]
		second, both := at[t.Second]
		if one && both {
			t.First, t.Second = first, second
			out.Tests = append(out.Tests, t)
			out.Clusters = max(out.Clusters, t.Clusters)
		}
	}
	return &out
}

// cheapest returns the sentence on the lane of the top that costs least for an answer; nil where nothing is ranked or
// lanes do not answer.
func (d document) cheapest(r *ranked) Sentence {
	if r.Field != analysis.ByLane || len(r.order) == 0 || len(r.Unmet) > 1 {
		return nil
	}
	top, _ := r.top()
	if !r.tested || len(r.unknown()) > 0 {
		top = r.order[:1]
	}
	best, least, unknown := -1, 0.0, 0
	for _, i := range top {
		cost, ok := d.perThousand(r.Places[i].Name)
		switch {
		case !ok:
			unknown++
		case best < 0 || cost < least:
			best, least = i, cost
		}
	}
	switch {
	case best < 0:
		return nil
	case len(top) == 1 && (len(r.unknown()) > 0 || !r.tested && len(r.order) > 1):
		return lane(r, best).and(say(" costs " + assay.Dollars(least).String() + " per 1,000 answers."))
	case len(top) == 1:
		return say("It costs ").and(say(assay.Dollars(least).String() + " per 1,000 answers."))
	}
	among := "them"
	if unknown > 0 {
		among = fmt.Sprintf("the %d whose prices are known", len(top)-unknown)
	}
	return say("Cheapest of "+among+": ").and(lane(r, best), say(fmt.Sprintf(", %s per 1,000 answers.", assay.Dollars(least))))
}

// perThousand returns what 1,000 answers of a lane cost; false where a price or the number is not known.
func (d document) perThousand(lane string) (float64, bool) {
	s := report.AnswersOf(lane, d.Spend)
	if s.Answers == 0 || !s.Cost.Known() {
		return 0, false
	}
	return 1000 * s.Cost.Sum.Float() / float64(s.Answers), true
}

// further returns the sentence on who has most and who least in one more stage.
func (d document) further(r *ranked) Sentence {
	at := Sentence{{Text: "In "}, {Text: r.label(), Name: true}}
	switch {
	case len(r.Unmet) > 1:
		return at.and(say(", "), r.unmet(), say("."))
	case len(r.order) == 0:
		return at.and(say(", " + noResult(r, "") + "."))
	case r.early():
		return at.and(say(", " + tooEarly(r)))
	case len(r.order) == 1:
		return at.and(say(": "), d.name(r.Places[r.order[0]].Name), say(", "+r.values(r.order)+"."))
	}
	first, last := r.order[0], r.order[len(r.order)-1] // the best and the worst
	if r.shownOf(first) == r.shownOf(last) {
		return at.and(say(" all are alike: " + r.values(r.order) + "."))
	}
	var s Sentence
	switch {
	case r.Flips:
		s = Sentence{{Text: "Under push-back ("}, {Text: r.label(), Name: true}, {Text: "), "}}
		s = s.and(d.name(r.Places[last].Name), say(" takes back most: "+takenBack(r, last)+"; "), d.name(r.Places[first].Name),
			say(" least: "+takenBack(r, first)+"."))
	case r.wins():
		s = Sentence{{Text: "In comparisons ("}, {Text: r.label(), Name: true}, {Text: "), "}}
		s = s.and(d.name(r.Places[first].Name), say(r.winning()+" most: "+percentOf(r.shownOf(first))+"; "), d.name(r.Places[last].Name),
			say(" least: "+percentOf(r.shownOf(last))+"."))
	default:
		s = at.and(say(", "), d.name(r.Places[first].Name), say(" comes first: "+r.values([]int{first})+"; "), d.name(r.Places[last].Name),
			say(" comes last: "+r.values([]int{last})+"."))
	}
	switch {
	case !r.tested, !r.known[[2]int{first, last}]:
		return s.and(say(" Whether that is more than chance is not known."))
	case r.differ(first, last):
		return s.and(say(" The two can be told apart."))
	case r.What == analysis.WhatStrength: // shares of wins are shown, strengths are tested
		return s.and(say(" Their strengths cannot be told apart."))
	}
	return s.and(say(" The two cannot be told apart."))
}

// winning returns the verb of shares of wins.
func (r *ranked) winning() string {
	if r.Rounds != nil {
		return " is expected to win"
	}
	return " wins"
}

// takenBack returns how often a lane took an answer back, with the control beside it.
func takenBack(r *ranked, place int) string {
	p := r.Places[place]
	if !r.Control || !p.Share.OK || !p.Control.OK {
		return percentOf(p.Value.Value) + " of its answers"
	}
	return fmt.Sprintf("%s of its answers, %s when merely asked again", percentOf(p.Share.Value), percentOf(p.Control.Value))
}
