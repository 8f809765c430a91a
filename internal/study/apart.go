package study

import (
	"slices"
	"strings"
)

// Apart reports whether a changed study decides nothing otherwise: what it changes is asked of judges, in stages whose verdicts no condition, no
// round of pairs and no other stage reads. What was decided stays so. Where that is not certain, it is false.
func (d Difference) Apart(was, is *Study) bool {
	return sameContestants(was, is) && sameContestants(is, was) && !slices.ContainsFunc(d.Asks(), func(c Change) bool { return !c.apart(was, is) })
}

func (c Change) apart(was, is *Study) bool {
	if len(c.Removed)+len(c.Edited) > 0 {
		return false
	}
	both := func(holds func(s *Study) bool) bool { return holds(was) && holds(is) }
	what, where, _ := strings.Cut(c.What, " of ")
	of, name, _ := strings.Cut(where, " ")
	kind, own, _ := strings.Cut(c.What, " ")
	switch {
	case c.What == "lanes":
		return true // those that came judge alone, in stages that end
	case c.What == "stages", c.What == "inputs":
		return true // no stage of before reads those that came
	case c.What == "rubrics", c.What == "traits":
		return !slices.ContainsFunc(c.Added, was.names)
	case of == "stage":
		return slices.Contains([]string{"judges", "prompt", "reply", "rubric", "system", "wrap"}, what) && both(func(s *Study) bool { return s.ends(name) })
	case of == "lane":
		return both(func(s *Study) bool { return s.onlyJudges(name) })
	case kind == "rubric" && own != "":
		return both(func(s *Study) bool { return s.allEnd(func(st *Stage) bool { return st.Rubric.Name == own }) })
	}
	return false
}

// ends reports whether a stage judges or compares, and no other stage reads what it says. One that buys its pairs in rounds reads itself.
func (s *Study) ends(name string) bool {
	st, ok := s.Stage(name)
	if !ok || st.Verb() != VerbJudge && st.Verb() != VerbCompare || st.Pairs != nil && st.Pairs.Adaptive != nil {
		return false
	}
	return !slices.ContainsFunc(s.Stages, func(other Stage) bool { return slices.Contains(other.Needs(), name) })
}

// allEnd reports whether all stages of a kind end.
func (s *Study) allEnd(kind func(st *Stage) bool) bool {
	return !slices.ContainsFunc(s.Stages, func(st Stage) bool { return kind(&st) && !s.ends(st.Name) })
}

// onlyJudges reports whether a lane answers nothing, and judges in stages that end alone.
func (s *Study) onlyJudges(name string) bool {
	l, ok := s.Lane(name)
	if !ok || slices.ContainsFunc(s.Stages, func(st Stage) bool { return s.asksLane(&st, name) }) {
		return false
	}
	return s.allEnd(func(st *Stage) bool {
		return slices.ContainsFunc(append(slices.Clone(st.Judges.List), st.Fallback), func(n string) bool { return n != "" && Picks(n, l) })
	})
}

func (s *Study) asksLane(st *Stage, name string) bool {
	asks := st.Verb() != VerbJudge && st.Verb() != VerbCompare
	return asks && slices.ContainsFunc(s.Contestants(st), func(l *Lane) bool { return l.Name == name })
}

// sameContestants reports whether the lanes that answer in a study are those of another, and what the other lacks judges alone, in stages that end.
func sameContestants(s, other *Study) bool {
	for i := range s.Lanes {
		name := s.Lanes[i].Name
		if _, there := other.Lane(name); !there && !s.onlyJudges(name) {
			return false
		}
		for k := range s.Stages {
			if st, there := other.Stage(s.Stages[k].Name); there && s.asksLane(&s.Stages[k], name) != other.asksLane(st, name) {
				return false
			}
		}
	}
	return true
}
