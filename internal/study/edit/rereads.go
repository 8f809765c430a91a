package edit

import (
	"slices"
	"strings"

	"assay/internal/study"
)

// Fixed returns why no run can go on with a changed study, even if what it asks otherwise is asked again; empty: it may.
func (d Difference) Fixed(was, is *study.Study) string {
	for _, c := range d.Asks() {
		names := c.Name == "" && slices.Contains([]Section{Lanes, Stages, Inputs}, c.Section)
		items := c.Section == Inputs && c.Key == Items
		switch {
		case items && c.Reordered:
			return "its items stand in another order"
		case len(c.Removed) > 0 && items:
			return "item " + someOf(c.Removed) + " is taken away"
		case len(c.Removed) > 0 && names && !c.Reordered:
			return strings.TrimSuffix(string(c.Section), "s") + " " + someOf(c.Removed) + " is taken away"
		case c.Section == Unread:
			return "the study cannot be compared"
		case c.Section == Stages && (c.Key == "import" || c.Key == "rows"):
			return "answers that were made elsewhere are others"
		case c.Section == Inputs && imports(was):
			return "items and answers that were made elsewhere belong together"
		}
	}
	if (conditional(was) || conditional(is)) && !d.Apart(was, is) {
		return "what is asked depends on earlier verdicts or findings (when, where, only, rounds of pairs): some of it was decided, once for all"
	}
	return ""
}

// Rereads reports whether a difference changes how the verdicts of a stage are read, and not only what is asked.
func (d Difference) Rereads(is *study.Study, st *study.Stage) bool {
	return slices.ContainsFunc(d.Asks(), func(c Change) bool { return c.rereads(is, st) })
}

func (c Change) rereads(is *study.Study, st *study.Stage) bool {
	named := func(name string) bool {
		return c.Section == Rubrics && st.Rubric.Name == name || c.Section == Traits && slices.Contains(st.Trait.List, name)
	}
	switch {
	case c.Reordered || slices.Contains([]Section{Inputs, Lanes, Providers, Mode}, c.Section):
		return false
	case c.Section == Stages:
		which := c.Key == "pairs" || c.Key == "among" // are asked, and not how they are read
		return c.Name == st.Name && !which && (len(c.Added) == 0 || len(c.Removed) > 0)
	case c.Section == Rubrics || c.Section == Traits: // one that came may have been built in
		return c.Name != "" && named(c.Name) || slices.ContainsFunc(c.Added, named)
	case c.Section == Programs:
		own := is.RubricOf(st)
		return own != nil && len(own.Command) > 0
	}
	return true
}
