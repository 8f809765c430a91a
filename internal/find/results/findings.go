package results

import (
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/expr"
)

// Query is what findings are asked for; zero: what the study says.
type Query struct {
	Stages   []string          // only these; none: all
	Methods  []string          // in place of what the study declares
	By       []string          // group by these fields instead
	Where    string            // only rows for which this condition is true
	What     []string          // only these findings; none: all
	Sort     string            // findings of a table by this, such as -value; empty: as the method has them
	Settings analysis.Settings // of all analyses that take them
	Prices   *catalog.Catalog  // count costs again by these prices; nil: what was paid
}

// Findings are what the verdicts of one run say.
type Findings struct {
	Run       store.Run
	Rehearsal bool
	Report    *analysis.Report
	Gates     []analysis.Passage
	Costs     []Spending
	Warnings  []string
}

// Findings computes what the verdicts of a run say.
func (r *Reader) Findings(ctx context.Context, run store.Run, q Query) (*Findings, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	d := &rowReader{Reader: r, run: run, study: st, by: q.By, query: q}
	if q.Where != "" {
		p, err := compileWhere(assay.Place{File: "--where", Line: 1, Col: 1}, q.Where)
		if err != nil {
			return nil, err
		}
		d.where = d.keeper(p)
		if ofOneSide(st, p) {
			d.warnings = append(d.warnings, `--where: in pairs, lane is the one that was shown first, and other the second; 'lane != "a" and other != "a"' leaves out every pair with a`)
		}
	}
	gates, err := gatesOf(st)
	if err != nil {
		return nil, err
	}
	out := &Findings{Run: run, Rehearsal: r.Rehearsal}
	if out.Report, err = d.report(ctx, gates); err != nil {
		return nil, err
	}
	if err := q.narrow(out.Report); err != nil {
		return nil, err
	}
	programs := make([]analysis.Gate, len(gates))
	for i, g := range gates {
		programs[i] = g.Gate
	}
	out.Gates, out.Warnings = out.Report.Pass(programs), d.warnings
	out.Costs, err = r.spending(ctx, d, q.Prices)
	if len(q.Stages)+len(q.Methods) > 0 { // verdicts of other stages were not counted
		out.Costs = slices.DeleteFunc(out.Costs, func(c Spending) bool {
			st, ok := st.Stage(c.Stage)
			return ok && judges(st) && !slices.Contains(d.done, c.Stage)
		})
	}
	return out, err
}

// ofOneSide reports whether a condition asks for the lane, and a stage compares two: of the second it says nothing.
func ofOneSide(st *study.Study, p *expr.Program) bool {
	var lane, other bool
	for _, u := range p.Fields() {
		lane, other = lane || u.Field == analysis.ByLane, other || u.Field == otherLane
	}
	return lane && !other && slices.ContainsFunc(st.Stages, func(s study.Stage) bool { return s.Verb() == study.VerbCompare })
}

// Gates answers conditions of a run from its verdicts on some stages, as `require` would be answered.
func (r *Reader) Gates(ctx context.Context, run store.Run, stages []string) (expr.Source, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	d := &rowReader{Reader: r, run: run, study: st}
	report, err := d.report(ctx, []gate{{stages: stages}})
	if err != nil {
		return nil, err
	}
	return analysis.Answers{Report: report}, nil
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

// specs are the analyses to do: those of the study, the usual ones of stages that have none, and, out of sight, those that
// gates ask for, which neither --by nor --where changes.
func (d *rowReader) specs(stages []analysis.Stage, gates []gate) ([]analysis.Spec, error) {
	out, err := d.asked(stages)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if len(d.by) > 0 {
			out[i].By = d.by
		}
		out[i].Keep = both(out[i].Keep, d.where)
	}
	if err := d.query.settle(stages, out); err != nil {
		return nil, err
	}
	for _, s := range stages {
		if slices.ContainsFunc(gates, func(g gate) bool { return slices.Contains(g.stages, s.Name) }) {
			for _, spec := range analysis.Default(s) {
				spec.Gates = true
				out = append(out, spec)
			}
		}
	}
	return out, nil
}

// both keeps what two conditions keep; nil keeps all.
func both(a, b func(*analysis.Row) bool) func(*analysis.Row) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(r *analysis.Row) bool { return a(r) && b(r) }
}
