// Package rubrics returns what recount has to know of a study: what it sets and rows do not show.
package rubrics

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/test/worlds/recount"
)

// Of returns the rubrics of all stages that judge or compare.
func Of(st *study.Study) (map[string]recount.Rubric, error) {
	out := map[string]recount.Rubric{}
	for _, s := range plan.InOrder(st) {
		if v := s.Verb(); v != study.VerbJudge && v != study.VerbCompare {
			continue
		}
		r, err := (&plan.Input{Study: st}).Rubric(s)
		if err != nil {
			return nil, fmt.Errorf("rubric of stage %s: %w", s.Name, err)
		}
		out[s.Name] = of(st, s, &r)
	}
	return out, nil
}

func of(st *study.Study, s *study.Stage, r *judge.Rubric) recount.Rubric {
	out := recount.Rubric{Low: r.Range.Low, High: r.Range.High, Flips: r.AgainstFirst, Votes: s.Repeats.Reduce}
	scored := true
	for _, l := range r.Labels {
		if !l.Abstain {
			out.Labels = append(out.Labels, recount.Label{Name: l.Name, Score: l.Score})
			scored = scored && l.Score != nil
		}
	}
	if (out.Low == nil || out.High == nil) && scored {
		for _, l := range out.Labels {
			if out.Low == nil || *l.Score < *out.Low {
				out.Low = l.Score
			}
			if out.High == nil || *l.Score > *out.High {
				out.High = l.Score
			}
		}
	}
	out.Less = out.Flips || r.Worse == judge.High
	lanes := len(st.LanesNamed(s.Judges.List))
	people := lanes == 0 && slices.ContainsFunc(s.Judges.List, func(name string) bool { return strings.HasPrefix(name, "human:") })
	if (lanes > 1 || people) && judge.Jury(s.Jury) != judge.Each {
		out.Jury = string(s.Jury)
	}
	for _, name := range append([]string{s.Compare}, s.Judge.List...) {
		source, ok := st.Stage(name)
		if !ok {
			continue
		}
		if st.Controlled(source) {
			out.Control = plan.ControlBranch
		}
		if source.Repeats.Reduce != "" {
			out.Draws, out.Repeats = source.Repeats.Reduce, max(1, source.Repeats.N)
		}
	}
	if s.Pairs != nil {
		out.Rounds = s.Pairs.Adaptive != nil
	}
	return out
}
