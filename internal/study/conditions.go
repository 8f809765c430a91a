package study

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/study/expr"
)

// compile reads a condition and holds the stages it asks about against those there are. Which fields an item has is
// known only to who reads the data.
func (r *run) compile(e Expression, kind expr.Kind) *expr.Program {
	if e.Source == "" {
		return nil
	}
	p, problems := expr.Compile(e.At, e.Source, expr.Env{Kind: kind, Open: true})
	r.found = append(r.found, problems...)
	if p == nil {
		return nil
	}
	for _, ref := range p.Stages() {
		if !r.known(ref.Place, "stage", ref.Stage, r.stageNames()) {
			continue
		}
		if st, _ := r.study.Stage(ref.Stage); st.Verb() != VerbJudge && st.Verb() != VerbCompare {
			r.found.Add(ref.Place, "name a stage that judges or compares", "stage %s gives no %ss", ref.Stage, ref.Func)
		}
		if ref.Lane != "" {
			r.checkAnswerers(Names{List: []string{ref.Lane}, Places: []assay.Place{ref.Place}})
		}
	}
	return p
}

// conditions compiles the conditions of a stage.
func (r *run) conditions(st *Stage) {
	st.Keep = r.compile(st.Filter, expr.Items)
	st.Gate = r.compile(st.When, expr.When)
	st.LaneGate = r.compile(st.Lanes.Only, expr.Lanes)
}

// Needs returns the stages that must give something before this one can go on.
func (s *Stage) Needs() []string {
	var names []string
	if s.Continue != "" {
		names = append(names, s.Continue)
	}
	names = append(names, s.Judge.List...)
	if s.Compare != "" {
		names = append(names, s.Compare) // where it is an input, no stage has the name
	}
	for _, p := range []*expr.Program{s.Keep, s.Gate, s.LaneGate} {
		if p == nil {
			continue
		}
		for _, ref := range p.Stages() {
			names = append(names, ref.Stage)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
