package findings

import (
	"context"
	"fmt"
	"maps"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/study/expr"
)

// walk makes the rows that a question is about, stage by stage. It is for one goroutine.
type walk struct {
	*question
	*facts
	where     func(*analysis.Row) bool        // of the query; nil: all rows
	valid     map[judgeOf]int                 // valid verdicts so far
	shared    map[[2]string]map[string]string // what two items have in common, by field and value
	scratch   map[string]any                  // what conditions look at, row by row
	unmatched []string                        // warnings of gold labels that mean nothing here
	err       error                           // of a condition
	baseline  string                          // what an analysis calls the run, where it is the baseline of another one
}

// judgeOf is a judge in a stage.
type judgeOf struct{ stage, judge string }

func newWalk(q *question, f *facts) *walk {
	w := &walk{question: q, facts: f, valid: map[judgeOf]int{}, shared: map[[2]string]map[string]string{}, scratch: map[string]any{}}
	if q.filter != nil {
		w.where = w.keeper([]*expr.Program{q.filter})
	}
	return w
}

// Seed is where resamples begin, so that the same ledger always gives the same numbers.
const Seed = 1

// report reads all verdicts once and returns what the analyses find in them.
func (w *walk) report(ctx context.Context) (*analysis.Report, error) {
	bases := w.baselines(ctx)
	defer bases.close()
	analyzer, err := methods.Open(w.stages, w.conditioned(), analysis.Options{Seed: Seed})
	if err != nil {
		return nil, results.NewMistake("", "%s", err)
	}
	for _, s := range w.stages {
		if err := w.read(ctx, analyzer, s); err != nil {
			return nil, fmt.Errorf("analyse stage %s: %w", s.Name, err)
		}
		if err := bases.read(ctx, analyzer, s.Name); err != nil {
			return nil, fmt.Errorf("read the baseline of stage %s: %w", s.Name, err)
		}
		if err := analyzer.Done(s.Name); err != nil {
			return nil, err
		}
	}
	if err := w.query.fields(w.seen, w.stages); err != nil {
		return nil, err
	}
	return analyzer.Report()
}

// conditioned returns the analyses with their conditions.
func (w *walk) conditioned() []analysis.Spec {
	out := append([]analysis.Spec(nil), w.specs...)
	for i, programs := range w.only {
		if len(programs) > 0 {
			out[i].Keep = w.keeper(programs)
		}
	}
	return out
}

// keeper returns a filter of rows by conditions; what goes wrong is reported when all rows are read.
func (w *walk) keeper(all []*expr.Program) func(*analysis.Row) bool {
	return func(r *analysis.Row) bool {
		for _, p := range all {
			if !w.keeps(p, r) {
				return false
			}
		}
		return true
	}
}

// whereSecondTry is the field by which a condition knows verdicts of a second try. Where they are left out, their
// places are expected all the same: the table reports how much is missing without them.
const whereSecondTry = "second_try"

// otherLane is the field by which a condition knows the second of a pair.
const otherLane = "other"

// keeps asks a condition about a row: it sees the item's fields and the row's own, of which the latter win.
func (w *walk) keeps(p *expr.Program, r *analysis.Row) bool {
	seen := assay.Item{ID: r.Item, Fields: w.scratch}
	clear(w.scratch)
	if it := w.items[r.Stage][r.Item]; it != nil {
		seen.Expect = it.expect
		maps.Copy(w.scratch, it.fields)
	}
	for _, f := range analysis.OwnFields() {
		if v := r.Field(f); v != "" || !analysis.OfItems(f) {
			w.scratch[f] = v
		}
	}
	w.scratch[analysis.ByTurn], w.scratch[analysis.ByDraw] = int64(r.Turn), int64(r.Draw)
	w.scratch[whereSecondTry] = r.Again
	if r.Other != "" {
		w.scratch[otherLane] = r.Other
	}
	ok, err := p.Bool(expr.Vars{Item: &seen})
	if err != nil && w.err == nil {
		w.err = err
	}
	return ok && err == nil
}

// read enters the verdicts of one stage, and the places where there should be some.
func (w *walk) read(ctx context.Context, analyzer *methods.Analyzer, s analysis.Stage) error {
	rows, err := newStageRows(ctx, w, s)
	if err != nil {
		return err
	}
	if err := rows.gold(ctx, analyzer); err != nil {
		return err
	}
	if !s.Machines() && rows.asksPeople() {
		if err := rows.expectPeople(ctx, analyzer); err != nil {
			return err
		}
	}
	if err := analyzer.Expect(rows.of(rows.expected(ctx))); err != nil {
		return err
	}
	if err := analyzer.Read(rows.of(rows.given(ctx))); err != nil {
		return err
	}
	if rows.panel == nil {
		return w.err
	}
	if err := analyzer.Expect(rows.panel.rows()); err != nil {
		return err
	}
	if err := analyzer.Read(rows.panel.decided()); err != nil {
		return err
	}
	return w.err
}

// expected walks over the places where the stage should have a verdict.
func (s *stageRows) expected(ctx context.Context) coordinated {
	return func(yield func(assay.Coordinates, func(*analysis.Row), error) bool) {
		note := func(r *analysis.Row) {
			if s.panel != nil {
				s.panel.unit(r)
			}
		}
		for at, err := range ahead(s.Scripts.Expected(ctx, s.run, s.stage.Name)) {
			if !yield(at, note, err) {
				return
			}
		}
	}
}

// given walks over the verdicts of the stage.
func (s *stageRows) given(ctx context.Context) coordinated {
	subjects := store.WithoutSubjects
	if len(s.lengths)+len(s.styles)+len(s.endings) > 0 {
		subjects = store.WithSubjects
	}
	return func(yield func(assay.Coordinates, func(*analysis.Row), error) bool) {
		var v store.Verdict
		note := func(r *analysis.Row) {
			s.verdict(r, &v)
			left := v.Again > 0 && s.where != nil && !s.where(r)
			if s.panel != nil && !left && r.Person() == s.panel.people {
				s.panel.enter(r, &v)
			}
		}
		var err error
		for v, err = range ahead(s.Ledger.VerdictRows(ctx, s.run.No, s.stage.Name, subjects)) {
			if !yield(v.At, note, err) {
				return
			}
		}
	}
}
