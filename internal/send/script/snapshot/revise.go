package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/declare"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// Revision is a study that was changed after its run began: in what its requests do not depend on, or by what it adds to them.
type Revision struct {
	Run        store.Run
	Input      *plan.Input // the study as it is now, read with the settings of the run
	File       string      // its name in its folder
	Digest     string      // of it
	Files      fs.FS       // its folder
	Difference edit.Difference
	What       string            // changed, in words
	Now        time.Time         // when it is changed
	Datasets   map[string]string // as in Settings
	Lock       *Locked           // of the run, with what was changed since; nil: it has none

	Check func() error // as in Beginning
	More  *More        // nil: it asks the same as before
}

// More has the requests that a changed study adds.
type More struct {
	Plan     *plan.Plan
	Drawn    map[string][]plan.Drawn // pairs of stages that are not those of a new run
	Retried  map[store.Share]int64   // requests that retries of verdicts added to the plan so far
	BaseURLs map[string]string       // of its providers, as in Settings
	Lease    store.Lease             // of the run
	Looked   []declare.Look          // looks at the run so far
}

// Revise changes the snapshot of a run in place: every process goes on with the changed study. It reports whether the study
// was still the one that it was compared with.
func (s *Store) Revise(ctx context.Context, r Revision) (bool, error) {
	was, settings, err := s.Kept(ctx, r.Run)
	if err != nil {
		return false, err
	}
	is := r.Input.Study
	out := store.Revision{Run: r.Run.No, Was: r.Run.Digest, Is: r.Digest, Parts: map[string][]byte{}, Labels: map[string]string{},
		What: r.What}
	names := append([]string{r.File}, is.Loaded...)
	for _, name := range names {
		if out.Parts[filePart+name], err = fs.ReadFile(r.Files, name); err != nil {
			return false, fmt.Errorf("keep %s: %w", name, err)
		}
	}
	for _, name := range append([]string{settings.File}, was.Loaded...) {
		if !slices.Contains(names, name) {
			out.Gone = append(out.Gone, filePart+name)
		}
	}
	if err := goldParts(out.Parts, is, r.Files); err != nil {
		return false, err
	}
	if r.Difference.Touches(edit.Prices) {
		if out.Parts[ratesPart], err = ratesOf(r.Input); err != nil {
			return false, err
		}
	}
	for i := range is.Lanes {
		out.Labels[is.Lanes[i].Name] = is.Lanes[i].Label
	}
	if now := BudgetAfter(r.Run, was, is); !sameMoney(now, r.Run.Budget) {
		out.Budget = &store.NewBudget{Was: r.Run.Budget, Is: now}
	}
	if err := s.reviseDeclared(ctx, r, &out); err != nil {
		return false, err
	}
	settings.File, settings.Datasets = r.File, r.Datasets
	if r.More != nil {
		if err := s.grow(ctx, r, &settings, &out); err != nil {
			return false, err
		}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return false, err
	}
	out.Settings = string(text)
	if r.Check != nil {
		if err := r.Check(); err != nil {
			return false, err
		}
		if m := out.More; m != nil && len(m.Items) > 0 { // items are read while they are written
			last := &m.Items[len(m.Items)-1]
			last.Items = checked(last.Items, r.Check)
		}
	}
	return s.Runs.Revise(ctx, out)
}

// BudgetAfter returns what a run may spend after an edit of its study: the budget of the study now, where the run had the study's budget
// before, else that of the run alone; nil: anything.
func BudgetAfter(run store.Run, was, is *study.Study) *assay.Money {
	if !sameMoney(run.Budget, budgetOf(was)) {
		return run.Budget
	}
	return budgetOf(is)
}

func budgetOf(s *study.Study) *assay.Money {
	if !s.Budget.Set {
		return nil
	}
	return &s.Budget.Money
}

func sameMoney(a, b *assay.Money) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// goldParts adds the gold labels that are there to the parts of a snapshot.
func goldParts(parts map[string][]byte, s *study.Study, files fs.FS) error {
	for i := range s.Stages {
		name := s.Stages[i].Gold
		if name == "" {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			continue // they come later, or lie elsewhere
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
		parts[GoldPart+name] = text
	}
	return nil
}

// grow adds what a run asks besides: lanes with their planned requests, items, prices and addresses.
func (s *Store) grow(ctx context.Context, r Revision, o *Settings, out *store.Revision) error {
	out.More = &store.More{Lanes: LanesOf(r.Run.No, Beginning{Input: r.Input, Plan: r.More.Plan, Settings: *o})}
	out.Lease = r.More.Lease
	for i, l := range out.More.Lanes {
		out.More.Lanes[i].Planned += r.More.Retried[store.Share{Stage: l.Stage, Lane: l.Name}]
	}
	for _, e := range r.Input.Study.Inputs {
		n := int64(0)
		for _, err := range s.Reader.ItemHeads(ctx, r.Run.No, e.Name) {
			if err != nil {
				return err
			}
			n++
		}
		items := after(r.Input.FirstItems(ctx, e.Name, o.Limit), n)
		if r.Input.Study.Shows() {
			for _, err := range s.keepShown(ctx, r.Files, items) { // files are copied before the ledger is held
				if err != nil {
					return err
				}
			}
		}
		out.More.Items = append(out.More.Items, store.MoreItems{Input: e.Name, From: n, Items: items})
	}
	if err := s.growPairs(ctx, r, out); err != nil {
		return err
	}
	if len(r.More.Looked) > 0 {
		text, err := json.Marshal(r.More.Looked)
		if err != nil {
			return err
		}
		out.Parts[lookedPart] = text
	}
	for name, url := range r.More.BaseURLs {
		if o.BaseURLs == nil {
			o.BaseURLs = map[string]string{}
		}
		if _, known := o.BaseURLs[name]; !known {
			o.BaseURLs[name] = url
		}
	}
	if r.Difference.Touches(edit.Prices) {
		return nil
	}
	rates, err := s.moreRates(ctx, r)
	out.Parts[ratesPart] = rates
	return err
}

// growPairs keeps the pairs of a run by name where they are not those of its study.
func (s *Store) growPairs(ctx context.Context, r Revision, out *store.Revision) error {
	before, err := s.drawn(ctx, r.Run.No, r.Input.Study)
	if err != nil {
		return err
	}
	now := r.More.Drawn
	for name, all := range now {
		if out.Parts[drawnPart+name], err = json.Marshal(all); err != nil {
			return fmt.Errorf("keep the pairs of stage %s: %w", name, err)
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			out.Gone = append(out.Gone, drawnPart+name)
		}
	}
	return nil
}

// moreRates returns the prices of a run, with those of models that come to it.
func (s *Store) moreRates(ctx context.Context, r Revision) ([]byte, error) {
	kept, err := s.Rates(ctx, r.Run.No)
	if err != nil {
		return nil, err
	}
	for _, price := range r.Input.LanePrices() {
		if !slices.ContainsFunc(kept, func(k catalog.Price) bool { return k.Vendor == price.Vendor && k.Model == price.Model }) {
			kept = append(kept, price)
		}
	}
	return json.Marshal(kept)
}

// after returns the items behind the first n.
func after(items iter.Seq2[assay.Item, error], n int64) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		left := n
		for it, err := range items {
			if left--; left >= 0 && err == nil {
				continue
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// checked are items with a look at their end.
func checked(items iter.Seq2[assay.Item, error], check func() error) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		for it, err := range items {
			if !yield(it, err) {
				return
			}
		}
		if err := check(); err != nil {
			yield(assay.Item{}, err)
		}
	}
}
