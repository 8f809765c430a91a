package waves

import (
	"assay"
	"assay/judge"
	"assay/study"
)

// A judge's second tries after a malformed verdict travel as further turns of its stage: those of turn t as turn base+t.
// Their verdict takes the place of the malformed one.

// tries is how often a judge may be asked the same.
func tries(st *study.Stage, r *rubric) int {
	if st.SecondTry != nil && *st.SecondTry && len(r.Prompts) > 0 {
		return 2
	}
	return 1
}

// again are the second tries of requests.
func again(first []assay.Coordinates, base int) []assay.Coordinates {
	for i := range first {
		first[i].Turn += base
	}
	return first
}

// firstTry is the request that a second try repeats; of any other, itself.
func firstTry(rec stage, at assay.Coordinates) (assay.Coordinates, bool) {
	base := rec.base()
	if rec.turns() == base || at.Turn <= base {
		return at, false
	}
	at.Turn -= base
	return at, true
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

// silent tells whether verdicts come without requests.
func silent(r *rubric) bool { return len(r.Prompts) == 0 }

// counting is a stage's rule for answers that are none.
func counting(st *study.Stage) judge.Counting {
	return judge.Counting{Refused: judge.CountAs(st.Count.Refused), Cut: judge.CountAs(st.Count.Cut)}
}
