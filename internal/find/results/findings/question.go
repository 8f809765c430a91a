package findings

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/declare"
	"assay/internal/study/expr"
	"assay/internal/study/plan"
)

// question is a query of the verdicts of a run: the stages that are read, and the analyses that follow.
type question struct {
	*results.Reader
	run   store.Run
	study *study.Study
	query Query

	stages   []analysis.Stage  // that are read
	specs    []analysis.Spec   // without their conditions
	only     [][]*expr.Program // the conditions of each of specs
	filter   *expr.Program     // of the query; nil: none
	fields   []string          // of items, that analyses group by or conditions look at
	asksRows bool              // there are conditions
	warnings []string
}

// newQuestion returns what a query asks of a run: the analyses of its study, or the usual ones, and out of sight those
// of gates.
func newQuestion(ctx context.Context, r *results.Reader, run store.Run, query Query) (*question, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	q := &question{Reader: r, run: run, study: st, query: query}
	if q.filter, err = query.filter(); err != nil {
		return nil, err
	}
	if ofOneSide(st, q.filter) {
		q.warnings = []string{`--where: in pairs, lane is the one that was shown first, and other the second; ` +
			`'lane != "a" and other != "a"' leaves out every pair with a`}
	}
	all, err := stagesOf(ctx, r, run, st)
	if err != nil {
		return nil, err
	}
	if query.look {
		lookOnce(all)
	}
	if q.specs, q.only, err = query.analyses(st, all, q.filter); err != nil {
		return nil, err
	}
	specs, only, err := gateSpecs(st, all, query.gates)
	if err != nil {
		return nil, err
	}
	q.specs, q.only = append(q.specs, specs...), append(q.only, only...)
	q.stages = slices.DeleteFunc(all, func(s analysis.Stage) bool {
		return !slices.ContainsFunc(q.specs, func(p analysis.Spec) bool { return p.Stage == s.Name })
	})
	q.asksRows = q.filter != nil || slices.ContainsFunc(q.only, func(all []*expr.Program) bool { return len(all) > 0 })
	q.fields = q.wanted()
	return q, q.know(ctx)
}

// rowsAlone returns a question for the rows of all stages, without any analysis.
func rowsAlone(ctx context.Context, r *results.Reader, run store.Run) (*question, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	stages, err := stagesOf(ctx, r, run, st)
	return &question{Reader: r, run: run, study: st, stages: stages}, err
}

// lookOnce has comparisons that were all planned at once looked at as if they had been a round.
func lookOnce(stages []analysis.Stage) {
	for i := range stages {
		if s := &stages[i]; s.Verb == analysis.Compared && s.Rounds == nil {
			s.Rounds = &analysis.Rounds{Planned: 1, Alpha: adaptive.Alpha, Level: adaptive.Alpha, Next: adaptive.Alpha / adaptive.Rounds}
		}
	}
}

// wanted returns the fields of items that analyses group by or conditions look at.
func (q *question) wanted() []string {
	var out []string
	for _, programs := range append(slices.Clone(q.only), []*expr.Program{q.filter}) {
		for _, p := range programs {
			if p == nil {
				continue
			}
			for _, u := range p.Fields() {
				out = append(out, u.Field)
			}
		}
	}
	for _, s := range q.stages {
		if s.Within != "" {
			out = append(out, s.Within)
		}
	}
	for _, s := range q.specs {
		for _, f := range s.By {
			if analysis.OfItems(f) {
				out = append(out, f)
			}
		}
		if s.With != "" {
			out = append(out, s.With)
		}
	}
	return out
}

// styled reports whether an analysis of a stage controls for style.
func (q *question) styled(stage string) bool {
	return slices.ContainsFunc(q.specs, func(s analysis.Spec) bool { return s.Stage == stage && s.Control != 0 })
}

// know fills in what is known of items that are compared, where an analysis asks for it.
func (q *question) know(ctx context.Context) error {
	for i := range q.stages {
		s := &q.stages[i]
		var wanted []string
		for _, p := range q.specs {
			if p.Stage == s.Name && p.With != "" && s.Items && !slices.Contains(wanted, p.With) {
				wanted = append(wanted, p.With)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		st, _ := q.study.Stage(s.Name)
		s.Known = map[string]map[string]string{}
		for it, err := range q.Ledger.Items(ctx, q.run.No, st.Compare) {
			if err != nil {
				return err
			}
			for _, f := range wanted {
				if v, ok := fieldAt(it.Fields, f); ok {
					if s.Known[f] == nil {
						s.Known[f] = map[string]string{}
					}
					s.Known[f][it.ID] = fmt.Sprint(v)
				}
			}
		}
	}
	return nil
}

// ofOneSide reports whether a condition asks for the lane, and a stage compares two: it does not cover the second.
func ofOneSide(st *study.Study, p *expr.Program) bool {
	if p == nil {
		return false
	}
	var lane, other bool
	for _, u := range p.Fields() {
		lane, other = lane || u.Field == analysis.ByLane, other || u.Field == otherLane
	}
	return lane && !other && slices.ContainsFunc(st.Stages, func(s study.Stage) bool { return s.Verb() == study.VerbCompare })
}

// filter compiles the condition of a query; nil: it has none.
func (q *Query) filter() (*expr.Program, error) {
	if q.Where == "" {
		return nil, nil
	}
	return compileWhere(assay.Place{File: "--where", Line: 1, Col: 1}, q.Where)
}

func compileWhere(at assay.Place, source string) (*expr.Program, error) {
	p, problems := expr.Compile(at, source, expr.Env{Kind: expr.Rows, Open: true})
	if p == nil {
		return nil, problems
	}
	return p, nil
}

// gate is a condition under require, and the stages it asks about.
type gate struct {
	analysis.Gate
	stages []string
}

func gatesOf(st *study.Study) ([]gate, error) {
	var out []gate
	for _, r := range st.Require {
		p, problems := expr.Compile(r.At, r.Source, expr.Env{Kind: expr.Require})
		if p == nil {
			return nil, problems
		}
		g := gate{Gate: analysis.Gate{Condition: r.Source, Program: p}}
		for _, ref := range p.Stages() {
			g.stages = append(g.stages, ref.Stage)
		}
		out = append(out, g)
	}
	return out, nil
}

// gateSpecs returns the analyses that gates ask for, which neither --by nor --where changes: the usual ones, and those of the study that
// hold lanes against a baseline, with their conditions.
func gateSpecs(st *study.Study, stages []analysis.Stage, gates []gate) (out []analysis.Spec, only [][]*expr.Program, err error) {
	asked := func(stage string) bool {
		return slices.ContainsFunc(gates, func(g gate) bool { return slices.Contains(g.stages, stage) })
	}
	for _, s := range stages {
		if asked(s.Name) {
			out = append(out, analysis.Default(s)...)
		}
	}
	only = make([][]*expr.Program, len(out))
	for i := range st.Analyses {
		a := &st.Analyses[i]
		if analysis.Method(a.Method) != analysis.NoWorse || !asked(a.Of) {
			continue
		}
		spec, conditions, err := specOf(a)
		if err != nil {
			return nil, nil, err
		}
		out, only = append(out, spec), append(only, conditions)
	}
	for i := range out {
		out[i].Gates = true
	}
	return out, only, nil
}

// specOf returns an analysis of a study, with its conditions.
func specOf(a *study.Analysis) (analysis.Spec, []*expr.Program, error) {
	out := analysis.Spec{Stage: a.Of, Method: analysis.Method(a.Method), By: a.By.List, Settings: plan.SettingsOf(a)}
	if a.Filter.Source == "" {
		return out, nil, nil
	}
	p, err := compileWhere(a.Filter.At, a.Filter.Source)
	return out, []*expr.Program{p}, err
}

// analyses returns the analyses that are shown, each with its conditions: those of the study, or the usual ones of
// stages that have none; of the stages, by the methods, fields and settings that were asked for.
func (q *Query) analyses(st *study.Study, stages []analysis.Stage, where *expr.Program) (
	specs []analysis.Spec, only [][]*expr.Program, err error,
) {
	if specs, only, err = q.shown(st, stages); err != nil {
		return nil, nil, err
	}
	if len(q.By) > 0 && len(q.Methods) == 0 {
		if specs, only, err = q.grouped(stages, specs, only); err != nil {
			return nil, nil, err
		}
	}
	for i := range specs {
		s := &specs[i]
		declared := groupsOf(stages, *s)
		if len(q.By) > 0 {
			s.By = q.By
		}
		// what is grouped or chosen by hand was not declared so
		other := where != nil || !slices.Equal(declared, groupsOf(stages, *s))
		s.Explores, s.Primary = s.Primary && other, s.Primary && !other
		if where != nil {
			only[i] = append(only[i], where)
		}
	}
	return specs, only, q.apply(stages, specs)
}

// groupsOf returns the fields that an analysis is grouped by in the end.
func groupsOf(stages []analysis.Stage, s analysis.Spec) []string {
	at := slices.IndexFunc(stages, func(x analysis.Stage) bool { return x.Name == s.Stage })
	if filled, err := s.Filled(&stages[at]); err == nil {
		return filled.By
	}
	return s.By
}

// grouped leaves analyses out that cannot be grouped as asked; it is a mistake where none is left.
func (q *Query) grouped(stages []analysis.Stage, specs []analysis.Spec, only [][]*expr.Program) (
	_ []analysis.Spec, _ [][]*expr.Program, err error,
) {
	var kept []analysis.Spec
	var conditions [][]*expr.Program
	for i, s := range specs {
		at := slices.IndexFunc(stages, func(x analysis.Stage) bool { return x.Name == s.Stage })
		asked := s
		asked.By = q.By
		if _, not := asked.Filled(&stages[at]); not != nil {
			if err == nil {
				err = not
			}
			continue
		}
		kept, conditions = append(kept, s), append(conditions, only[i])
	}
	if len(kept) == 0 && err != nil {
		return nil, nil, results.NewMistake("", "%s", err)
	}
	return kept, conditions, nil
}

func (q *Query) shown(st *study.Study, stages []analysis.Stage) (specs []analysis.Spec, only [][]*expr.Program, err error) {
	wanted, err := q.wanted(stages)
	if err != nil {
		return nil, nil, err
	}
	if len(q.Methods) > 0 {
		specs, err = q.by(wanted)
		return specs, make([][]*expr.Program, len(specs)), err
	}
	declared := map[string]bool{}
	for i := range st.Analyses {
		a := &st.Analyses[i]
		declared[a.Of] = true
		if !slices.ContainsFunc(wanted, func(s analysis.Stage) bool { return s.Name == a.Of }) {
			continue
		}
		spec, conditions, err := specOf(a)
		if err != nil {
			return nil, nil, err
		}
		spec.Primary, spec.Late = q.planned(a)
		specs = append(specs, spec)
		only = append(only, conditions)
	}
	for _, s := range wanted {
		if !declared[s.Name] {
			specs = append(specs, analysis.Default(s)...)
		}
	}
	return specs, append(only, make([][]*expr.Program, len(specs)-len(only))...), nil
}

// planned reports whether an analysis was declared primary before the data, as it is asked for now; else when it was
// declared so.
func (q *Query) planned(a *study.Analysis) (bool, *declare.Moment) {
	if q.plan == nil {
		return a.Primary, nil
	}
	said := declare.Said{Kind: declare.Primary, Text: a.Text()}
	if q.plan.Planned(said, a.Primary) {
		return true, nil
	}
	for _, e := range q.plan.Late() {
		if e.Said == said {
			return false, &e.Moment
		}
	}
	return false, nil
}
