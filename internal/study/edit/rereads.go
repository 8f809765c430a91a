package edit

import (
	"slices"

	"assay/internal/study"
)

// Anew returns the stages of which every request is another: their prompts changed, or they read answers of such a stage. Requests of the
// other stages may stay as they were.
func (d Difference) Anew(is *study.Study) map[string]bool {
	out := map[string]bool{}
	for range is.Stages { // a stage may come before those that it reads
		for i := range is.Stages {
			st := &is.Stages[i]
			reads := append([]string{st.Continue, st.Compare}, st.Judge.List...)
			if d.rewords(st) || slices.ContainsFunc(reads, func(name string) bool { return out[name] }) {
				out[st.Name] = true
			}
		}
	}
	return out
}

// rewords reports whether all prompts of a stage are others.
func (d Difference) rewords(st *study.Stage) bool {
	return slices.ContainsFunc(d.Asks(), func(c Change) bool {
		switch c.Section {
		case Stages:
			return c.Name == st.Name &&
				slices.Contains([]string{"prompt", "turns", "system", "context", "messages", "media", "wrap", "rubric", "reply"}, c.Key)
		case Rubrics:
			return c.Name != "" && st.Rubric.Name == c.Name
		case Traits:
			return c.Name != "" && len(st.Trait.List) == 1 && st.Trait.List[0] == c.Name
		}
		return false
	})
}

// Rereads reports whether a difference changes how the verdicts of a stage are read, and not only what is asked.
func (d Difference) Rereads(is *study.Study, st *study.Stage) bool {
	return slices.ContainsFunc(d.Asks(), func(c Change) bool { return c.rereads(is, st) })
}

// Rejudges reports whether a judge is asked in another way than before: by another prompt or rubric. Another judge is none.
func (d Difference) Rejudges(is *study.Study, st *study.Stage) bool {
	return slices.ContainsFunc(d.Asks(), func(c Change) bool {
		return slices.Contains([]Section{Stages, Rubrics, Traits}, c.Section) && c.Key != "judges" && c.rereads(is, st)
	})
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
