package script

import (
	"assay"
	"assay/judge"
	"assay/store"
	"assay/study"
)

// A judge's second try after a malformed verdict is a request of its own, in a group of its own. Its verdict takes the place
// of the malformed one.

// triesOf is how often a judge may be asked the same.
func triesOf(st *study.Stage, r *rubric) int {
	if st.SecondTry != nil && *st.SecondTry && len(r.Prompts) > 0 {
		return 2
	}
	return 1
}

// groupsOf lists the groups of a lane in a stage, in the order they go out: every turn, then the second tries of every turn.
func groupsOf(rec stage, name, lane string) []store.GroupKey {
	var out []store.GroupKey
	for try := range rec.tries() {
		for turn := 1; turn <= rec.turns(); turn++ {
			out = append(out, store.GroupKey{Stage: name, Lane: lane, Turn: turn, SecondTry: try > 0})
		}
	}
	return out
}

// requests lists the requests about one item that belong to a group.
func requests(rec stage, it assay.Item, ord int64, g store.GroupKey) []assay.Coordinates {
	out := rec.at(it, ord, g.Lane, g.Turn)
	for i := range out {
		out[i].SecondTry = g.SecondTry
	}
	return out
}

// before lists the groups that have to be settled before nothing more can join a group.
func before(rec stage, g store.GroupKey) []store.GroupKey {
	if g.SecondTry {
		g.SecondTry = false
		return []store.GroupKey{g}
	}
	return rec.after(g.Lane, g.Turn)
}

// firstTry is the request that a second try repeats; of any other, itself.
func firstTry(at assay.Coordinates) assay.Coordinates {
	at.SecondTry = false
	return at
}

// What judges without a model are called among the judges.
const (
	byRule    = "rule"
	byProgram = "command"
)

// voices are who judges by a rubric.
func voices(r *rubric, lanes []*study.Lane) []string {
	switch {
	case r.Rule != nil:
		return []string{byRule}
	case len(r.Prompts) == 0:
		return []string{byProgram}
	}
	return names(lanes)
}

// silent reports whether verdicts come without requests.
func silent(r *rubric) bool { return len(r.Prompts) == 0 }

// counting is a stage's rule for answers that are none.
func counting(st *study.Stage) judge.Counting {
	return judge.Counting{Refused: judge.CountAs(st.Count.Refused), Cut: judge.CountAs(st.Count.Cut)}
}
