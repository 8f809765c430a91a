package edit

import (
	"slices"

	"assay/internal/study"
)

// Apart reports whether a changed study decides nothing otherwise: what it changes is asked of judges, in stages whose
// verdicts no condition, no round of pairs and no other stage reads. What was decided stays so. Where that is not
// certain, it is false.
func (d Difference) Apart(was, is *study.Study) bool {
	return sameContestants(was, is) && sameContestants(is, was) &&
		!slices.ContainsFunc(d.Asks(), func(c Change) bool { return !c.apart(was, is) })
}

func (c Change) apart(was, is *study.Study) bool {
	if c.Reordered || len(c.Removed)+len(c.Edited) > 0 {
		return false
	}
	both := func(holds func(s *study.Study) bool) bool { return holds(was) && holds(is) }
	switch {
	case c.Name == "" && slices.Contains([]Section{Lanes, Stages, Inputs}, c.Section):
		return true // lanes that came judge alone, in stages that end; no stage of before reads the others
	case c.Name == "" && (c.Section == Rubrics || c.Section == Traits):
		return !slices.ContainsFunc(c.Added, func(name string) bool { return names(was, name) })
	case c.Name == "":
		return false
	case c.Section == Stages:
		return slices.Contains([]string{"judges", "media", "prompt", "reply", "rubric", "system", "wrap"}, c.Key) &&
			both(func(s *study.Study) bool { return ends(s, c.Name) })
	case c.Section == Lanes:
		return both(func(s *study.Study) bool { return onlyJudges(s, c.Name) })
	case c.Section == Rubrics:
		return both(func(s *study.Study) bool {
			return allEnd(s, func(st *study.Stage) bool { return st.Rubric.Name == c.Name })
		})
	}
	return false
}

// ends reports whether a stage judges or compares, and no other stage reads its verdicts. One that buys its pairs in rounds reads itself.
func ends(s *study.Study, name string) bool {
	st, ok := s.Stage(name)
	if !ok || st.Verb() != study.VerbJudge && st.Verb() != study.VerbCompare || st.Pairs != nil && st.Pairs.Adaptive != nil {
		return false
	}
	return !slices.ContainsFunc(s.Stages, func(other study.Stage) bool { return slices.Contains(other.Needs(), name) })
}

// allEnd reports whether all stages of a kind end.
func allEnd(s *study.Study, kind func(st *study.Stage) bool) bool {
	return !slices.ContainsFunc(s.Stages, func(st study.Stage) bool { return kind(&st) && !ends(s, st.Name) })
}

// onlyJudges reports whether a lane answers nothing, and judges in stages that end alone.
func onlyJudges(s *study.Study, name string) bool {
	l, ok := s.Lane(name)
	if !ok || slices.ContainsFunc(s.Stages, func(st study.Stage) bool { return asksLane(s, &st, name) }) {
		return false
	}
	return allEnd(s, func(st *study.Stage) bool {
		return slices.ContainsFunc(append(slices.Clone(st.Judges.List), st.Fallback), func(n string) bool {
			return n != "" && study.Picks(n, l)
		})
	})
}

func asksLane(s *study.Study, st *study.Stage, name string) bool {
	asks := st.Verb() != study.VerbJudge && st.Verb() != study.VerbCompare
	return asks && slices.ContainsFunc(s.Contestants(st), func(l *study.Lane) bool { return l.Name == name })
}

// sameContestants reports whether the lanes that answer in a study are those of another, and what the other lacks
// judges alone, in stages that end.
func sameContestants(s, other *study.Study) bool {
	for i := range s.Lanes {
		name := s.Lanes[i].Name
		if _, there := other.Lane(name); !there && !onlyJudges(s, name) {
			return false
		}
		for k := range s.Stages {
			if st, there := other.Stage(s.Stages[k].Name); there && asksLane(s, &s.Stages[k], name) != asksLane(other, st, name) {
				return false
			}
		}
	}
	return true
}
