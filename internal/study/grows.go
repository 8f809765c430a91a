package study

import (
	"slices"
	"strconv"
	"strings"
)

// Grows reports whether a changed study only adds to what the old one asks: lanes, items, judges, stages, draws. Every question
// stays as it was, and so do the conditions under which it is asked. Where that is not certain, it is false.
func (d Difference) Grows(was, is *Study) bool {
	asks := d.Asks()
	decided := was.conditional() && !d.Apart(was, is) // some of what it adds to
	return len(asks) > 0 && !slices.ContainsFunc(asks, func(c Change) bool { return !c.grows(was, is, decided) })
}

func (c Change) grows(was, is *Study, decided bool) bool {
	if len(c.Removed)+len(c.Edited) > 0 {
		return false
	}
	what, where, _ := strings.Cut(c.What, " of ")
	switch {
	case c.What == "stages":
		return !slices.ContainsFunc(c.Added, func(name string) bool { st, ok := is.Stage(name); return !ok || st.Import != nil })
	case c.What == "inputs":
		return true
	case c.What == "rubrics" || c.What == "traits": // one of this name may have been built in
		return !slices.ContainsFunc(c.Added, was.names)
	case c.What == "lanes", what == "lanes" && strings.HasPrefix(where, "stage "):
		return len(c.Added) > 0 && !decided && !was.draws()
	case what == "pairs" && strings.HasPrefix(where, "stage "):
		return c.morePairs(was, is, strings.TrimPrefix(where, "stage ")) && !decided
	case what == "judges" && strings.HasPrefix(where, "stage "):
		return len(c.Added) > 0 && !decided
	case what == "items":
		return len(c.Added) > 0 && !decided && !was.draws() && !was.imports()
	case what == "repeats":
		return c.moreDraws(was, strings.TrimPrefix(where, "stage ")) && !decided && !was.draws()
	}
	return false
}

// moreDraws reports whether a stage that asks only asks more often.
func (c Change) moreDraws(was *Study, stage string) bool {
	st, ok := was.Stage(stage)
	n, err := strconv.Atoi(c.Is)
	return ok && err == nil && st.Verb() == VerbAsk && st.Repeats.Reduce == "" && n > max(1, st.Repeats.N)
}

// names reports whether a stage names a rubric or a trait.
func (s *Study) names(what string) bool {
	return slices.ContainsFunc(s.Stages, func(st Stage) bool { return st.Rubric.Name == what || slices.Contains(st.Trait.List, what) })
}

// conditional reports whether what is asked depends on findings or verdicts, rounds of comparisons among them: some of it was decided, once for all.
func (s *Study) conditional() bool {
	return slices.ContainsFunc(s.Stages, func(st Stage) bool {
		return st.Pairs != nil && st.Pairs.Adaptive != nil || st.When.Source != "" || st.Lanes.Only.Source != "" || st.Keep != nil && len(st.Keep.Stages()) > 0
	})
}

// morePairs reports whether a list of pairs only has more of them: none of the others is turned round, or asked once more.
func (c Change) morePairs(was, is *Study, stage string) bool {
	before, ok := was.Stage(stage)
	after, there := is.Stage(stage)
	if !ok || !there || len(c.Added) == 0 || before.Pairs == nil || after.Pairs == nil || !after.Pairs.steady() {
		return false
	}
	old := before.Pairs.File.names()
	names := after.Pairs.File.names()
	return after.Pairs.Order != "alternate" || len(names) >= len(old) && slices.Equal(names[:len(old)], old)
}

// steady reports whether what is asked of a pair depends on no other pair, but for those before it.
func (p *Pairs) steady() bool { return p.File.File != "" && (p.Reverse == 0 || p.Reverse == 1) }

// draws reports whether pairs are drawn: which, and in which order, depends on all that could meet. Those that are listed are not,
// where their order depends on nothing else.
func (s *Study) draws() bool {
	return slices.ContainsFunc(s.Stages, func(st Stage) bool {
		p := st.Pairs
		return st.Verb() == VerbCompare && !(p != nil && p.steady() && (p.Order == "" || p.Order == "as-listed" || p.Order == "both"))
	})
}

func (s *Study) imports() bool {
	return slices.ContainsFunc(s.Stages, func(st Stage) bool { return st.Import != nil })
}

// Fixed says why no run can go on with a changed study, even if what it asks otherwise is asked again; empty: it may.
func (d Difference) Fixed(was, is *Study) string {
	for _, c := range d.Asks() {
		what, where, _ := strings.Cut(c.What, " of ")
		switch {
		case strings.HasPrefix(c.What, "order of items"):
			return "its items stand in another order"
		case len(c.Removed) > 0 && (what == "items" || slices.Contains([]string{"lanes", "stages", "inputs"}, c.What)):
			return strings.TrimSuffix(what, "s") + " " + someOf(c.Removed) + " is taken away"
		case c.What == "the study":
			return "the study cannot be compared"
		case (what == "import" || what == "rows") && strings.HasPrefix(where, "stage "):
			return "answers that were made elsewhere are others"
		case (what == "items" || c.What == "inputs") && was.imports():
			return "items and answers that were made elsewhere belong together"
		}
	}
	if (was.conditional() || is.conditional()) && !d.Apart(was, is) {
		return "what is asked depends on earlier verdicts or findings (when, where, only, rounds of pairs): some of it was decided, once for all"
	}
	return ""
}

// Rereads reports whether a difference changes how the verdicts of a stage are read, and not only what is asked.
func (d Difference) Rereads(is *Study, st *Stage) bool {
	return slices.ContainsFunc(d.Asks(), func(c Change) bool {
		what, where, _ := strings.Cut(c.What, " of ")
		if strings.HasPrefix(where, "stage ") {
			if what == "pairs" || what == "among" { // which are asked, and not how they are read
				return false
			}
			return where == "stage "+st.Name && (len(c.Added) == 0 || len(c.Removed) > 0)
		}
		kind, name, _ := strings.Cut(c.What, " ")
		switch {
		case kind == "rubric":
			return st.Rubric.Name == name
		case kind == "trait":
			return slices.Contains(st.Trait.List, name)
		case kind == "program":
			own := is.RubricOf(st)
			return own != nil && len(own.Command) > 0
		case c.What == "rubrics", c.What == "traits": // one of this name may have been built in
			return slices.Contains(c.Added, st.Rubric.Name) || slices.ContainsFunc(c.Added, func(n string) bool { return slices.Contains(st.Trait.List, n) })
		}
		return what != "items" && what != "order" && !strings.HasPrefix(where, "lane ") && !strings.HasPrefix(where, "provider ") &&
			!slices.Contains([]string{"lanes", "stages", "inputs", "mode"}, c.What)
	})
}
