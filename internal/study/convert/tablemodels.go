package convert

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// snapshot is the date at the end of a model's name.
var snapshot = regexp.MustCompile(`-\d{4}-?\d{2}-?\d{2}$`)

// candidate writes a lane for PROVIDER/MODEL, called after the model unless it has a name.
func (d *drafter) candidate(id, called string) error {
	l := &lane{}
	provider, model, ok := strings.Cut(id, "/")
	if !ok {
		return fmt.Errorf("%q is no model: want PROVIDER/MODEL", id)
	}
	l.Model = model
	if called != "" {
		d.same = map[string]string{} // a judge may be the model of a candidate
		d.steady(l, provider)
	} else {
		called = snapshot.ReplaceAllString(model, "")
	}
	var err error
	if l.Name, err = d.fresh(called, "lane"); err != nil {
		return err
	}
	if !d.lane(l, provider) {
		return errors.New(d.left[len(d.left)-1])
	}
	return nil
}

// ownModels writes what models need that have no batches, or no price. Those that nobody knows are left to people.
func (d *drafter) ownModels(t Table) {
	var live, free []string
	for _, id := range append(slices.Clone(t.Models), t.Judge) {
		provider, model, _ := strings.Cut(id, "/")
		v, ok := d.vendor(provider, model)
		if ok && !v.Batch && !slices.Contains(live, v.Name) {
			live = append(live, v.Name)
		}
		if _, priced := d.Catalog.Price(v.Name, model); priced || !ok || slices.Contains(free, id) {
			continue
		}
		if v.AnyModel {
			free = append(free, id)
			continue
		}
		d.left = append(d.left, fmt.Sprintf("the price of %s: it is not in the catalogue%s", id, d.meant(model, v)))
	}
	if len(live) > 0 {
		d.line("mode: batch-else-live    # %s: no batches", strings.Join(live, ", "))
	}
	if len(free) > 0 {
		d.line("unpriced: allow    # no price is known for %s", assay.Clean(strings.Join(free, ", "), maxComment))
	}
}

// meant returns which model somebody may have meant, as a hint.
func (d *drafter) meant(model string, v catalog.Vendor) string {
	for _, issue := range d.Catalog.Check(assay.Lane{Model: model}, v.Name, d.Today) {
		if issue.Kind == catalog.Unknown && issue.Hint != "" {
			return " (" + issue.Hint + ")"
		}
	}
	return ""
}

// steady has a judge answer without chance and without thinking, where its model takes that: it chooses a label, and thoughts would be
// most of what it costs.
func (d *drafter) steady(l *lane, provider string) {
	v, ok := d.vendor(provider, l.Model)
	if !ok {
		return
	}
	least, was, _ := d.Catalog.OutputGuess(l.Lane, v.Name)
	quiet := l.Lane
	quiet.Params.Thinking = assay.Thinking{Mode: assay.ThinkingOff}
	issues := len(d.Catalog.Check(l.Lane, v.Name, d.Today))
	low, less, _ := d.Catalog.OutputGuess(quiet, v.Name)
	if low+less < least+was && len(d.Catalog.Check(quiet, v.Name, d.Today)) == issues {
		l.Lane, l.keys = quiet, append(l.keys, "thinking: off")
	}
	cold := l.Lane
	cold.Params.Temperature = new(0.0)
	if len(d.Catalog.Check(cold, v.Name, d.Today)) == issues {
		l.Lane, l.keys = cold, append(l.keys, "temperature: 0")
	}
}
