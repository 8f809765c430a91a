package words

import (
	"fmt"
	"math"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report/plot"
)

// headline returns the sentence on who is ahead, and who cannot be told apart.
func (d document) headline(r *ranked) Sentence {
	if len(r.Unmet) > 1 {
		return d.apartFromTheStart(r)
	}
	on := " on " + d.units(r)
	switch len(r.order) {
	case 0:
		return say(fmt.Sprintf("There is no result yet: %s.", whyNone(r)))
	case 1:
		only := d.name(r.Places[r.order[0]].Name).and(say(": " + r.values(r.order) + on + between95(r, r.order[0]) + "."))
		if len(r.Places) == 1 {
			return only.and(say(fmt.Sprintf(" There is no other %s to compare it with.", r.Field)))
		}
		return only.and(say(fmt.Sprintf(" The other %s have no result yet.", fieldWord(r.Field))))
	}
	switch {
	case !r.tested && r.alike():
		return d.names(r, r.order).and(say(fmt.Sprintf(" have the same result%s: %s.", on, r.values(r.order))), r.byPosition())
	case !r.tested:
		said := " comes first: " + r.values(r.order[:1]) + on + ". Whether that is more than chance is not known: " + r.whyUntested() + "."
		return d.name(r.Places[r.order[0]].Name).and(say(said), r.byPosition())
	}
	return d.ahead(r, on).and(r.notTested(), r.byPosition())
}

// alike reports whether all places have the same value.
func (r *ranked) alike() bool {
	return r.Places[r.order[0]].Value.Value == r.Places[r.order[len(r.order)-1]].Value.Value
}

// byPosition returns the sentence on a position that decides more than who is better; nil: it does not.
func (r *ranked) byPosition() Sentence {
	p := r.Position
	switch {
	case !p.Biased():
		return nil
	case p.OneOrder:
		return say(" Every two were shown in one order only, so that this may be the place and not the answer.")
	case math.Abs(p.First.Value-0.5) >= 0.3 || p.Same.OK && p.Same.Value < 0.5:
		return say(fmt.Sprintf(" The judge looks at the position: the one shown first won %s.", percentOf(p.First.Value)))
	}
	return nil
}

// ahead returns the sentence on who is ahead where differences were tested.
func (d document) ahead(r *ranked, on string) Sentence {
	top, clique := r.top()
	unknown := r.unknown()
	switch {
	case len(unknown) > 0:
		clique = false // the sentence is about the best alone
	case len(top) == len(r.order) && clique:
		return say("Nothing can be told apart"+on+": the differences between ").and(d.names(r, top),
			say(fmt.Sprintf(" may be chance (%s).", r.values(top))))
	case len(top) == 1:
		others := ""
		if len(r.order) > 2 {
			others = " of all others"
		}
		return d.name(r.Places[top[0]].Name).and(say(fmt.Sprintf(" is ahead%s%s: %s. ", others, on, r.values(top))), d.behind(r, top, true))
	case clique:
		return d.names(r, top).and(say(fmt.Sprintf(" cannot be told apart%s (%s).", on, r.values(top))),
			space(d.behind(r, top, r.allApart(top))))
	}
	s := d.name(r.Places[top[0]].Name).and(say(fmt.Sprintf(" comes first%s (%s)", on, r.values(top[:1]))))
	if len(top) > 1 {
		s = s.and(say("; "), d.names(r, top[1:]), say(" cannot be told apart from it"))
	}
	s = s.and(say("."), space(d.behind(r, top[:1], len(top) > 1)))
	if len(unknown) > 0 {
		s = s.and(say(" Whether it is ahead of "), d.names(r, unknown), say(" is not known."))
	}
	return s
}

// notTested returns the sentence on the pairs that could not be tested, and why; nil: none.
func (r *ranked) notTested() Sentence {
	n, all := r.untested()
	if n == 0 {
		return nil
	}
	return say(fmt.Sprintf(" %s of %s of %s could not be tested: %s.", assay.Thousands(n), assay.Count(all, "pair"), fieldWord(r.Field),
		r.whyUntested()))
}

func space(s Sentence) Sentence {
	if len(s) == 0 {
		return s
	}
	return say(" ").and(s)
}

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
	if len(places) == 1 {
		return d.name(r.Places[places[0]].Name)
	}
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
		return "answers taken back " + plot.Span(pointsOf(low), pointsOf(high)) + " points more often than when merely asked again"
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
	if n == 0 {
		for _, p := range r.Places {
			n = max(n, p.N)
		}
		noun = "verdicts"
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

// apartFromTheStart returns the headline where lanes are in groups that were never compared: who is ahead in each.
func (d document) apartFromTheStart(r *ranked) Sentence {
	s := say(fmt.Sprintf("The %s cannot be ranked together: ", fieldWord(r.Field))).and(r.unmet(), say("."))
	for k, members := range r.Unmet {
		if k == maxGroupsNamed {
			break
		}
		if len(members) > 1 {
			s = s.and(say(" "), d.headline(rank(r.part(members))))
		}
	}
	return s
}

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
