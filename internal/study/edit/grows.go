package edit

import (
	"slices"
	"strconv"

	"assay/internal/study"
)

// Grows reports whether a changed study only adds to what the old one asks: lanes, items, judges, stages, draws. Every question
// stays as it was, and so do the conditions under which it is asked. Where that is not certain, it is false.
func (d Difference) Grows(was, is *study.Study) bool {
	asks := d.Asks()
	decided := conditional(was) && !d.Apart(was, is) // some of what it adds to
	return len(asks) > 0 && !slices.ContainsFunc(asks, func(c Change) bool { return !c.grows(was, is, decided) })
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
		return len(c.Added) > 0 && !decided && !draws(was) && !imports(was)
	case c.Section != Stages:
		return false
	}
	switch c.Key {
	case "lanes":
		return len(c.Added) > 0 && !decided && !draws(was)
	case "pairs":
		return c.morePairs(was, is) && !decided
	case "judges":
		return len(c.Added) > 0 && !decided
	case "repeats":
		return c.moreDraws(was) && !decided && !draws(was)
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
		return len(c.Added) > 0 && !decided && !draws(was)
	}
	return false
}

// moreDraws reports whether a stage that asks only asks more often.
func (c Change) moreDraws(was *study.Study) bool {
	st, ok := was.Stage(c.Name)
	n, err := strconv.Atoi(c.Is)
	return ok && err == nil && st.Verb() == study.VerbAsk && st.Repeats.Reduce == "" && n > max(1, st.Repeats.N)
}

// morePairs reports whether a list of pairs only has more of them: none of the others is turned round, or asked once more.
func (c Change) morePairs(was, is *study.Study) bool {
	before, ok := was.Stage(c.Name)
	after, there := is.Stage(c.Name)
	if !ok || !there || len(c.Added) == 0 || before.Pairs == nil || after.Pairs == nil || !steady(after.Pairs) {
		return false
	}
	old := before.Pairs.File.Names()
	now := after.Pairs.File.Names()
	return after.Pairs.Order != "alternate" || len(now) >= len(old) && slices.Equal(now[:len(old)], old)
}

// names reports whether a stage names a rubric or a trait.
func names(s *study.Study, what string) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool { return st.Rubric.Name == what || slices.Contains(st.Trait.List, what) })
}

// conditional reports whether what is asked depends on findings or verdicts, rounds of comparisons among them: some of it was decided, once for all.
func conditional(s *study.Study) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool {
		return st.Pairs != nil && st.Pairs.Adaptive != nil || st.When.Source != "" || st.Lanes.Only.Source != "" || st.Keep != nil && len(st.Keep.Stages()) > 0
	})
}

// steady reports whether what is asked of a pair depends on no other pair, but for those before it.
func steady(p *study.Pairs) bool { return p.File.File != "" && (p.Reverse == 0 || p.Reverse == 1) }

// draws reports whether pairs are drawn: which, and in which order, depends on all that could meet. Those that are listed are not,
// where their order depends on nothing else.
func draws(s *study.Study) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool {
		p := st.Pairs
		return st.Verb() == study.VerbCompare && !(p != nil && steady(p) && (p.Order == "" || p.Order == "as-listed" || p.Order == "both"))
	})
}

func imports(s *study.Study) bool {
	return slices.ContainsFunc(s.Stages, func(st study.Stage) bool { return st.Import != nil })
}
