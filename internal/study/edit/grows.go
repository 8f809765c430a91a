package edit

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"assay/internal/study"
	"assay/internal/study/decode"
)

// Why returns why a run cannot go on with a changed study and a new one is begun; empty where the study only adds to what was asked, or
// changes no request. Where that is not certain, there is a reason.
func (d Difference) Why(was, is *study.Study) string {
	decided := conditional(was) && !d.Apart(was, is) // some of what it adds to
	for _, c := range d.Asks() {
		switch {
		case c.grows(was, is, decided):
		case decided && c.grows(was, is, false):
			return "what is asked depends on earlier verdicts or findings (when, where, only, rounds of pairs): some of it was " +
				"decided, once for all"
		default:
			return c.why(was)
		}
	}
	return ""
}

// Grows reports whether a changed study only adds to what the old one asks: lanes, items, judges, stages, draws. Every question
// stays as it was, and so do the conditions under which it is asked. Where pairs are drawn, those that were drawn have to be kept.
func (d Difference) Grows(was, is *study.Study) bool {
	return len(d.Asks()) > 0 && d.Why(was, is) == ""
}

// why returns why a change that does not only add needs a new run.
func (c Change) why(was *study.Study) string {
	items := c.Section == Inputs && c.Key == Items
	names := c.Name == "" && slices.Contains([]Section{Lanes, Stages, Inputs}, c.Section)
	switch {
	case c.Section == Unread:
		return "the study cannot be compared"
	case len(c.Removed) > 0 && items:
		return "item " + someOf(c.Removed) + " is taken away"
	case len(c.Removed) > 0 && names:
		return strings.TrimSuffix(string(c.Section), "s") + " " + someOf(c.Removed) + " is taken away"
	case items && c.Reordered:
		return "its items stand in another order"
	case c.Section == Inputs && imports(was):
		return "items and answers that were made elsewhere belong together"
	}
	return c.what() + " changes what was asked"
}

func (c Change) grows(was, is *study.Study, decided bool) bool {
	if c.Reordered || len(c.Removed)+len(c.Edited) > 0 {
		return false
	}
	if c.Name == "" {
		return c.sectionGrows(was, is, decided)
	}
	switch {
	case c.Section == Inputs && c.Key == Items:
		return len(c.Added) > 0 && !decided && !imports(was)
	case c.Section != Stages:
		return false
	}
	switch c.Key {
	case "lanes", "judges":
		return len(c.Added) > 0 && !decided
	case "pairs":
		return c.morePairs(was, is) && !decided
	case "repeats":
		return c.moreDraws(was) && !decided
	}
	return false
}

func (c Change) sectionGrows(was, is *study.Study, decided bool) bool {
	switch c.Section {
	case Stages:
		return !slices.ContainsFunc(c.Added, func(name string) bool { st, ok := is.Stage(name); return !ok || st.Import != nil })
	case Inputs:
		return true
	case Rubrics, Traits: // one of this name may have been built in
		return !slices.ContainsFunc(c.Added, func(name string) bool { return names(was, name) })
	case Lanes:
		return len(c.Added) > 0 && !decided
	}
	return false
}

// moreDraws reports whether a stage that asks only asks more often.
func (c Change) moreDraws(was *study.Study) bool {
	st, ok := was.Stage(c.Name)
	n, err := strconv.Atoi(c.Is)
	return ok && err == nil && st.Verb() == study.VerbAsk && st.Repeats.Reduce == "" && n > max(1, st.Repeats.N)
}

// morePairs reports whether a stage only has more pairs: a longer list, of which no pair is turned round or asked once
// more, or a larger draw.
func (c Change) morePairs(was, is *study.Study) bool {
	before, ok := was.Stage(c.Name)
	after, there := is.Stage(c.Name)
	if !ok || !there {
		return false
	}
	if KeepsPairs(before, after) {
		return true
	}
	if len(c.Added) == 0 || before.Pairs == nil || after.Pairs == nil || !steady(after.Pairs) {
		return false
	}
	old := before.Pairs.File.Names()
	now := after.Pairs.File.Names()
	return after.Pairs.Order != study.OrderAlternate || len(now) >= len(old) && slices.Equal(now[:len(old)], old)
}

// KeepsPairs reports whether a stage draws its pairs as before, or more of them.
func KeepsPairs(was, is *study.Stage) bool {
	if was.Verb() != study.VerbCompare || is.Verb() != study.VerbCompare || was.Compare != is.Compare {
		return false
	}
	a, b := PairsOf(was), PairsOf(is)
	if a.Adaptive != nil || b.Adaptive != nil || a.File.File != "" || b.File.File != "" {
		return false
	}
	if a.Sample.Given() != b.Sample.Given() || a.Sample.Share > 0 != (b.Sample.Share > 0) || b.Sample.N < a.Sample.N ||
		b.Sample.Share < a.Sample.Share {
		return false
	}
	if a.PerItem > b.PerItem || a.PerLanePair > b.PerLanePair || (a.PerItem > 0) != (b.PerItem > 0) ||
		(a.PerLanePair > 0) != (b.PerLanePair > 0) {
		return false
	}
	for _, p := range []*study.Pairs{&a, &b} {
		p.Sample, p.PerItem, p.PerLanePair = study.CountOrShare{}, 0, 0
	}
	return reflect.DeepEqual(a, b)
}

// PairsOf returns how a stage chooses its pairs, without the places at which that is written.
func PairsOf(st *study.Stage) study.Pairs {
	var p study.Pairs
	if st.Pairs != nil {
		p = *st.Pairs
	}
	p.Where, p.All = decode.Where{}, false
	return p
}

// names reports whether a stage names a rubric or a trait.
func names(s *study.Study, what string) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool {
		return st.Rubric.Name == what || slices.Contains(st.Trait.List, what)
	})
}

// conditional reports whether what is asked depends on findings or verdicts, rounds of comparisons among them: some of
// it was decided, once for all.
func conditional(s *study.Study) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool {
		return st.Pairs != nil && st.Pairs.Adaptive != nil || st.When.Source != "" || st.Lanes.Only.Source != "" ||
			st.Keep != nil && len(st.Keep.Stages()) > 0
	})
}

// steady reports whether what is asked of a pair depends on no other pair, but for those before it.
func steady(p *study.Pairs) bool { return p.File.File != "" && (p.Reverse == 0 || p.Reverse == 1) }

// Draws reports whether pairs of a study are drawn: which, and in which order, depends on all that could meet. Those that are listed are
// not, where their order depends on nothing else.
func Draws(s *study.Study) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool {
		p := st.Pairs
		listed := p != nil && steady(p) && slices.Contains([]study.Order{"", study.OrderAsListed, study.OrderBoth}, p.Order)
		return st.Verb() == study.VerbCompare && !listed
	})
}

func imports(s *study.Study) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool { return st.Import != nil })
}
