package findings

import (
	"context"
	"fmt"

	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/study/plan"
)

// Keep makes a filter of the verdicts of a stage, by the very rows that findings are made from.
func Keep(ctx context.Context, r *results.Reader, run store.Run, stage string,
	fields map[string]string) (func(*store.Verdict) (bool, error), error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	of, ok := st.Stage(stage)
	if !ok {
		return nil, fmt.Errorf("the study has no stage %q", stage)
	}
	if !results.GivesVerdicts(of) {
		return nil, fmt.Errorf("stage %q of run %s gives no verdicts", stage, run.ID)
	}
	input := (&plan.Input{Study: st}).Root(of)
	sieve := &rowSieve{origins: originsOf(st), Reader: r, run: run, input: input, fields: fields, known: map[string]*analysedItem{}}
	return func(v *store.Verdict) (bool, error) {
		return sieve.keeps(ctx, script.ReadingOf(v.At))
	}, nil
}

// rowSieve keeps rows whose fields have the values asked for. It reads an item only where a field of it is asked for.
type rowSieve struct {
	*results.Reader
	origins
	run    store.Run
	input  string
	fields map[string]string
	known  map[string]*analysedItem
}

// maxSieved bounds the items that one look holds.
const maxSieved = 20_000

func (s *rowSieve) keeps(ctx context.Context, r script.Reading) (bool, error) {
	row := rowOf(r, nil)
	s.origins.fill(&row)
	foreign := false
	for name, want := range s.fields {
		if ofItem(name) {
			foreign = true
		} else if row.Field(name) != want {
			return false, nil
		}
	}
	if !foreign || r.Items {
		return !foreign, nil
	}
	it, err := s.item(ctx, r.Item)
	if err != nil {
		return false, err
	}
	row = rowOf(r, it)
	s.origins.fill(&row)
	for name, want := range s.fields {
		if row.Field(name) != want {
			return false, nil
		}
	}
	return true, nil
}

// ofItem reports whether a field is the item's, not the row's own.
func ofItem(name string) bool {
	return name == analysis.ByCluster || name == analysis.ByExpect || analysis.OfItems(name)
}

func (s *rowSieve) item(ctx context.Context, id string) (*analysedItem, error) {
	if it, ok := s.known[id]; ok {
		return it, nil
	}
	it, err := s.Ledger.Item(ctx, s.run.No, s.input, id)
	if err != nil {
		return nil, err
	}
	if len(s.known) >= maxSieved {
		clear(s.known)
	}
	kept := &analysedItem{cluster: it.Cluster, expect: it.Expect, texts: map[string]string{}}
	for name, v := range it.Fields {
		kept.texts[name] = fmt.Sprint(v)
	}
	s.known[id] = kept
	return kept, nil
}
