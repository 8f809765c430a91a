package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// Kept returns the study that a run works from, and the settings it was read with.
func (p *Library) Kept(ctx context.Context, run store.Run) (*study.Study, Settings, error) {
	var s Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return nil, s, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	st, err := p.read(ctx, run.No, s)
	if err != nil {
		return nil, s, fmt.Errorf("read the study of run %s: %w", run.ID, err)
	}
	return st, s, nil
}

// Revision is a study that was changed after its run began: in what its requests do not depend on, or by what it adds to them.
type Revision struct {
	Run        store.Run
	Input      *plan.Input // the study as it is now, read with the settings of the run
	File       string      // its name in its folder
	Digest     string      // of it
	Files      fs.FS       // its folder
	Difference edit.Difference
	What       string // changed, in words

	Plan     *plan.Plan        // of a study that asks more than before; nil: it asks the same
	BaseURLs map[string]string // of its providers, as in Settings
	Lease    store.Lease       // of the run, where it asks more
	Check    func() error      // as in Beginning
}

// Revise changes the snapshot of a run in place: every process goes on with the changed study. It reports whether the study
// was still the one that it was compared with.
func (p *Library) Revise(ctx context.Context, r Revision) (bool, error) {
	was, settings, err := p.Kept(ctx, r.Run)
	if err != nil {
		return false, err
	}
	is := r.Input.Study
	out := store.Revision{Run: r.Run.No, Was: r.Run.Digest, Is: r.Digest, Parts: map[string][]byte{}, Labels: map[string]string{},
		What: r.What, Lease: r.Lease}
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
		if out.Parts[ratesPart], err = json.Marshal(r.Input.LanePrices()); err != nil {
			return false, fmt.Errorf("keep prices: %w", err)
		}
	}
	for i := range is.Lanes {
		out.Labels[is.Lanes[i].Name] = is.Lanes[i].Label
	}
	if now := BudgetAfter(r.Run, was, is); !sameMoney(now, r.Run.Budget) {
		out.Budget = &store.NewBudget{Was: r.Run.Budget, Is: now}
	}
	settings.File = r.File
	if r.Plan != nil {
		if err := p.grow(ctx, r, &settings, &out); err != nil {
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
	return p.Runs.Revise(ctx, out)
}

// BudgetAfter returns what a run may spend after an edit of its study: what the study says now, where the run had the study's budget
// before, else what was said of the run alone; nil: anything.
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
func (p *Library) grow(ctx context.Context, r Revision, s *Settings, out *store.Revision) error {
	out.More = &store.More{Lanes: LanesOf(r.Run.No, Beginning{Input: r.Input, Plan: r.Plan, Settings: *s})}
	retried, err := p.Retried(ctx, r.Run)
	if err != nil {
		return err
	}
	for i, l := range out.More.Lanes {
		out.More.Lanes[i].Planned += retried[store.Share{Stage: l.Stage, Lane: l.Name}]
	}
	for _, e := range r.Input.Study.Inputs {
		n := int64(0)
		for _, err := range p.Reader.ItemHeads(ctx, r.Run.No, e.Name) {
			if err != nil {
				return err
			}
			n++
		}
		out.More.Items = append(out.More.Items,
			store.MoreItems{Input: e.Name, From: n, Items: after(r.Input.FirstItems(ctx, e.Name, s.Limit), n)})
	}
	if err := p.growPairs(ctx, r, out); err != nil {
		return err
	}
	for name, url := range r.BaseURLs {
		if s.BaseURLs == nil {
			s.BaseURLs = map[string]string{}
		}
		if _, known := s.BaseURLs[name]; !known {
			s.BaseURLs[name] = url
		}
	}
	if r.Difference.Touches(edit.Prices) {
		return nil
	}
	rates, err := p.moreRates(ctx, r)
	out.Parts[ratesPart] = rates
	return err
}

// growPairs keeps the pairs of a run by name where they are not those that its study says.
func (p *Library) growPairs(ctx context.Context, r Revision, out *store.Revision) error {
	before, err := p.drawn(ctx, r.Run.No, r.Input.Study)
	if err != nil {
		return err
	}
	now, err := p.Drawn(ctx, r.Run, r.Input)
	if err != nil {
		return err
	}
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
func (p *Library) moreRates(ctx context.Context, r Revision) ([]byte, error) {
	var kept []catalog.Price
	err := json.NewDecoder(p.Reader.Part(ctx, r.Run.No, ratesPart)).Decode(&kept)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the prices of the run: %w", err)
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
