package script

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/internal/study"
	"assay/internal/study/plan"
)

// buildStages builds every stage.
func (s *Script) buildStages(ctx context.Context) error {
	for _, st := range plan.InOrder(s.input.Study) {
		var err error
		switch st.Verb() {
		case study.VerbAsk, study.VerbContinue, study.VerbImport:
			err = s.buildAsk(ctx, st)
		case study.VerbJudge:
			s.stages[st.Name], err = s.buildJudge(ctx, st)
		case study.VerbCompare:
			s.stages[st.Name], err = s.buildCompare(ctx, st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Script) buildAsk(ctx context.Context, st *study.Stage) error {
	talk, err := s.input.Talk(ctx, st)
	if err != nil {
		return err
	}
	a := &asking{talk: talk, input: s.input.Root(st), chosen: s.chosen(s.input.Study.Contestants(st)), imported: st.Import != nil,
		redone: &s.redone}
	if st.Continue != "" {
		from, ok := s.stages[st.Continue].(*asking)
		if !ok {
			return fmt.Errorf("stage %s continues %s, which has no conversations", st.Name, st.Continue)
		}
		a.from = from
	}
	if asksVerdicts(st) {
		for _, ref := range st.Keep.Stages() {
			if j, ok := s.stages[ref.Stage].(*judging); ok {
				a.judges = append(a.judges, j)
			}
		}
	}
	s.stages[st.Name] = a
	return nil
}

// rubric returns how a judge or compare stage judges.
func (s *Script) rubric(st *study.Stage) (*rubric, error) {
	described, err := s.input.Rubric(st)
	if err != nil {
		return nil, err
	}
	r, err := newRubric(described)
	if err != nil {
		return nil, err
	}
	if own := s.input.Study.RubricOf(st); own != nil {
		r.command, r.limit = own.Command, time.Duration(own.Limit)
	}
	return r, nil
}

// buildJudge builds a judge stage.
func (s *Script) buildJudge(ctx context.Context, st *study.Stage) (*judging, error) {
	r, err := s.rubric(st)
	if err != nil {
		return nil, err
	}
	j := &judging{stage: st, rubric: r, chosen: s.input.Study.LanesNamed(st.Judges.List), others: s.standIns(st), input: s.input.Root(st),
		votes: max(1, st.Repeats.N), redone: &s.redone}
	if own := s.input.Study.RubricOf(st); own != nil && own.Rule != nil {
		j.expects = own.Rule.Exact.Template
	}
	if silent(r) {
		j.votes = 1 // it would say the same again
	}
	for _, name := range st.Judge.List {
		source, ok := s.stages[name].(*asking)
		if !ok {
			return nil, fmt.Errorf("stage %s judges %s, which has no answers of this run", st.Name, name)
		}
		j.sources = append(j.sources, source)
		if source.input == j.input {
			continue
		}
		if j.slices == nil {
			j.slices = map[string]map[string]bool{}
		}
		if j.slices[source.input], err = s.input.IDs(ctx, source.input); err != nil {
			return nil, err
		}
	}
	return j, ctx.Err()
}

// chosen returns the lanes within the settings.
func (s *Script) chosen(lanes []*study.Lane) []*study.Lane {
	if len(s.settings.Lanes) == 0 {
		return lanes
	}
	return slices.DeleteFunc(slices.Clone(lanes), func(l *study.Lane) bool {
		return !slices.ContainsFunc(s.settings.Lanes, func(n string) bool { return study.Picks(n, l) })
	})
}
