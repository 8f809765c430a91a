package findings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/results"
	"assay/internal/study/plan"
)

// baselines are the earlier runs that analyses of a walk hold lanes against.
type baselines []*baseline

type baseline struct {
	*results.Opened
	name  string
	walk  *walk
	stage string
	left  map[string]bool // items that are not the same in both runs
}

// baselines opens the runs that analyses name, each once for every stage, and writes into the stages which they are. One that cannot be
// read leaves its findings without a number, with the reason.
func (w *walk) baselines(ctx context.Context) baselines {
	var out baselines
	for i := range w.stages {
		s := &w.stages[i]
		for _, p := range w.specs {
			if _, known := s.Baselines[p.Baseline]; p.Stage != s.Name || p.Baseline == "" || known {
				continue
			}
			b, err := w.open(ctx, s.Name, p.Baseline)
			about := analysis.Baseline{}
			if b != nil {
				out = append(out, b)
				about.Run, about.Left = b.Run.ID, len(b.left)
			}
			if err != nil {
				about.Why = fmt.Sprintf("baseline %s: %s", p.Baseline, err)
			}
			if s.Baselines == nil {
				s.Baselines = map[string]analysis.Baseline{}
			}
			s.Baselines[p.Baseline] = about
		}
	}
	return out
}

// open opens the baseline of a stage.
func (w *walk) open(ctx context.Context, stage, name string) (*baseline, error) {
	if w.Elsewhere == nil {
		return nil, errors.New("no other run can be read here")
	}
	opened, err := w.Elsewhere(ctx, w.run, name)
	if err != nil {
		return nil, err
	}
	b := &baseline{Opened: opened, name: name, stage: stage}
	if opened.Run.ID == w.run.ID {
		return b, errors.New("it is this run itself; name an earlier one by its id")
	}
	q, err := rowsAlone(ctx, opened.Reader, opened.Run)
	if err != nil {
		return b, err
	}
	q.fields = w.fields
	if !slices.ContainsFunc(q.stages, func(s analysis.Stage) bool { return s.Name == stage && s.Verb == analysis.Judged }) {
		return b, fmt.Errorf("run %s has no stage %s that judges", opened.Run.ID, stage)
	}
	f, err := newFacts(ctx, q)
	if err != nil {
		return b, err
	}
	b.walk = newWalk(q, f)
	b.walk.baseline = name
	b.left, err = w.changed(ctx, b)
	return b, err
}

// changed returns the items of a stage that a baseline has under the same name with something else in them. Fields that only one of the
// two has do not count.
func (w *walk) changed(ctx context.Context, b *baseline) (map[string]bool, error) {
	seed := maphash.MakeSeed()
	here, err := fieldsOfItems(ctx, w.question, b.stage, seed)
	if err != nil {
		return nil, err
	}
	there, err := fieldsOfItems(ctx, b.walk.question, b.stage, seed)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for id, was := range there {
		for name, hash := range was {
			if is, ok := here[id][name]; ok && is != hash {
				out[id] = true
			}
		}
	}
	return out, nil
}

// expected stands for the expected answer among the fields of an item.
const expected = "\x00expect"

// fieldsOfItems returns the hashes of what the items of a stage hold, by item and field.
func fieldsOfItems(ctx context.Context, q *question, stage string, seed maphash.Seed) (map[string]map[string]uint64, error) {
	st, _ := q.study.Stage(stage)
	out := map[string]map[string]uint64{}
	for it, err := range q.Ledger.Items(ctx, q.run.No, (&plan.Input{Study: q.study}).Root(st)) {
		if err != nil {
			return nil, err
		}
		one := map[string]uint64{expected: maphash.String(seed, it.Expect)}
		for name, v := range it.Fields {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("item %s: %w", it.ID, err)
			}
			one[name] = maphash.Bytes(seed, text)
		}
		out[it.ID] = one
	}
	return out, nil
}

// read enters the verdicts of the baselines of a stage.
func (all baselines) read(ctx context.Context, analyzer *methods.Analyzer, stage string) error {
	for _, b := range all {
		if b.stage != stage || b.walk == nil {
			continue
		}
		at := slices.IndexFunc(b.walk.stages, func(s analysis.Stage) bool { return s.Name == stage })
		rows, err := newStageRows(ctx, b.walk, b.walk.stages[at])
		if err != nil {
			return err
		}
		if err := analyzer.Read(b.same(rows.of(rows.given(ctx)))); err != nil {
			return err
		}
		if rows.panel != nil {
			if err := analyzer.Read(b.same(rows.panel.decided())); err != nil {
				return err
			}
		}
	}
	return nil
}

// same leaves out the rows about items that were changed.
func (b *baseline) same(rows iter.Seq2[*analysis.Row, error]) iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		for r, err := range rows {
			if (err != nil || !b.left[r.Item]) && !yield(r, err) {
				return
			}
		}
	}
}

func (all baselines) close() {
	for _, b := range all {
		_ = b.Close() // it was read only
	}
}
