// Package findings computes what the verdicts of a run show: tables of findings, gates, costs, and differences between
// runs.
//
// A question (what is asked for) leads to facts (what is known before rows are read), and both to a walk that makes
// rows for the analyzer.
package findings

import (
	"context"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/study/catalog"
	"assay/internal/study/declare"
	"assay/internal/study/expr"
)

// Query selects the findings to compute; zero: those of the study.
type Query struct {
	Stages   []string          // only these; none: all
	Methods  []string          // in place of what the study declares
	By       []string          // group by these fields instead
	Where    string            // only rows for which this condition is true
	What     []string          // only these findings; none: all
	Sort     string            // findings of a table by this, such as -value; empty: as the method has them
	Settings analysis.Settings // of all analyses that take them
	Prices   *catalog.Catalog  // count costs again by these prices; nil: what was paid

	gates []gate        // conditions whose analyses are done besides, out of sight
	plan  *declare.Plan // when the study declared what; nil: no one asks
	look  bool          // comparisons that were all planned at once are looked at as if they had been a round
}

// Findings are the findings of one run.
type Findings struct {
	Run       store.Run
	Rehearsal bool
	Report    *analysis.Report
	Gates     []analysis.Passage
	Costs     []Spending
	Warnings  []string
}

// Of computes the findings of a run.
func Of(ctx context.Context, r *results.Reader, run store.Run, q Query) (*Findings, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	if q.gates, err = gatesOf(st); err != nil {
		return nil, err
	}
	if q.plan, err = r.Scripts.Plan(ctx, run); err != nil {
		return nil, err
	}
	w, err := walkOver(ctx, r, run, q)
	if err != nil {
		return nil, err
	}
	out := &Findings{Run: run, Rehearsal: r.Rehearsal}
	if out.Report, err = w.report(ctx); err != nil {
		return nil, err
	}
	out.Report.Plan = q.plan
	out.Report.Leaderboards = slices.DeleteFunc(out.Report.Leaderboards, func(b analysis.Leaderboard) bool {
		return Keeps(st, b.Stage) != "" // what a judge does on a gold set is no result of lanes
	})
	if err := q.narrow(out.Report); err != nil {
		return nil, err
	}
	programs := make([]analysis.Gate, len(q.gates))
	for i, g := range q.gates {
		programs[i] = g.Gate
	}
	out.Gates, out.Warnings = out.Report.Pass(programs), slices.Concat(w.warnings, w.unmatched)
	out.Costs, err = spending(ctx, r, w, q.Prices)
	if len(q.Stages)+len(q.Methods) > 0 { // verdicts of other stages were not counted
		out.Costs = slices.DeleteFunc(out.Costs, func(c Spending) bool {
			st, ok := st.Stage(c.Stage)
			return ok && results.GivesVerdicts(st) &&
				!slices.ContainsFunc(w.stages, func(s analysis.Stage) bool { return s.Name == c.Stage })
		})
	}
	return out, err
}

// walkOver returns the walk over the rows that a query is about.
func walkOver(ctx context.Context, r *results.Reader, run store.Run, query Query) (*walk, error) {
	q, err := newQuestion(ctx, r, run, query)
	if err != nil {
		return nil, err
	}
	f, err := newFacts(ctx, q)
	if err != nil {
		return nil, err
	}
	return newWalk(q, f), nil
}

// Gates answers conditions of a run from its verdicts on some stages, as `require` would be answered.
func Gates(ctx context.Context, r *results.Reader, run store.Run, stages []string) (expr.Source, error) {
	w, err := walkOver(ctx, r, run, Query{gates: []gate{{stages: stages}}})
	if err != nil {
		return nil, err
	}
	report, err := w.report(ctx)
	if err != nil {
		return nil, err
	}
	return analysis.Answers{Report: report}, nil
}
