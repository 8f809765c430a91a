package studyfile

import (
	"slices"
	"strings"

	"assay/internal/study"
)

// checkRounds looks at what a stage with rounds has besides: one number decides what is bought.
func (r *reader) checkRounds(st *study.Stage) {
	if st.Pairs == nil || st.Pairs.Adaptive == nil {
		return
	}
	a := st.Pairs.Adaptive
	if len(st.Trait.List) > 1 {
		r.found.Add(st.Where.Key("trait"), "give each trait a stage of its own",
			"stage %s buys pairs in rounds: its %d traits cannot share them", st.Name, len(st.Trait.List))
	}
	person := func(name string) bool { return strings.HasPrefix(name, "human:") }
	if n := len(st.Judges.List); n > 0 && !slices.ContainsFunc(st.Judges.List, func(name string) bool { return !person(name) }) {
		r.found.Add(st.Where.Key("judges"), "let a model judge, and people label with `assay label`",
			"stage %s buys pairs in rounds, and no round waits for people", st.Name)
	}
	from, ok := r.study.Stage(st.Compare)
	if !ok {
		return // items, which are not read here
	}
	lanes := r.study.Contestants(from)
	if len(st.Among.List) > 0 {
		lanes = pickedBy(st.Among.List, lanes)
	}
	r.checkGoal(st, a.Goal, lanes)
}

// checkGoal holds the goal of a stage against the lanes that it compares.
func (r *reader) checkGoal(st *study.Stage, g study.Goal, lanes []*study.Lane) {
	if g.Top > 0 && g.Top >= len(lanes) && len(lanes) > 1 {
		r.found.Add(g.Key("top"), "", "stage %s: the best %d of %d lanes are known already", st.Name, g.Top, len(lanes))
	}
	var names []string
	for _, l := range lanes {
		names = append(names, l.Name)
	}
	for i, name := range g.Between.List {
		r.known(g.Between.Places[i], "lane of stage "+st.Name, name, names)
	}
}

func pickedBy(names []string, lanes []*study.Lane) []*study.Lane {
	return slices.DeleteFunc(slices.Clone(lanes), func(l *study.Lane) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return study.Picks(n, l) })
	})
}
