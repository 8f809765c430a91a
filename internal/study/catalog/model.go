package catalog

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Model is what is known about one model of one vendor. 0 and empty mean unknown.
type Model struct {
	Vendor    string           `yaml:"vendor"`
	Name      string           `yaml:"name"`
	Aliases   []string         `yaml:"aliases"`
	Family    string           `yaml:"family"`
	ContextIn int              `yaml:"in"`  // most input tokens
	MaxOut    int              `yaml:"out"` // most output tokens
	Retired   Date             `yaml:"retired"`
	Use       string           `yaml:"use"`      // what to take instead, once it is retired
	Floating  bool             `yaml:"floating"` // an alias that moves from snapshot to snapshot
	NoBatch   bool             `yaml:"no_batch"` // refused in batches
	Schema    assay.SchemaWire `yaml:"schema"`   // where it promises less than its family
	Date      Date             `yaml:"date"`
	Source    string           `yaml:"source"`
}

// Match is what the catalogue found for a name.
type Match struct {
	Model    Model
	Known    bool   // there is a row for it, or for the model it is a dated snapshot of
	Snapshot string // the snapshot's date as the name writes it; empty: none
	Family   Family // its own, or the nearest one
}

// modelKey finds a row; names are compared without regard to case.
type modelKey struct{ vendor, name string }

func keyOf(vendor, name string) modelKey { return modelKey{vendor, strings.ToLower(name)} }

// Models lists the models of one vendor, newest first as far as the rows are in that order.
func (c *Catalog) Models(vendor string) []Model {
	maker := c.maker(vendor)
	var own []Model
	for _, m := range c.models {
		if m.Vendor == maker {
			m.Vendor = vendor
			own = append(own, m)
		}
	}
	return own
}

// Find looks a model up. A dated snapshot takes the row of its base model and does not float. A model without a row gets
// its name and the rules of the nearest family, with nothing else known.
func (c *Catalog) Find(vendor, model string) Match {
	v, _ := c.Vendor(vendor)
	maker, name := c.makerOf(v, model)
	base, snapshot := cutSnapshot(name)
	for _, try := range []struct{ name, snapshot string }{{name, ""}, {base, snapshot}} {
		row, ok := c.row(maker, try.name)
		if !ok {
			continue
		}
		row.Vendor = vendor
		row.Floating = row.Floating && try.snapshot == ""
		family, _ := c.family(row.Family)
		return Match{Model: row, Known: true, Snapshot: try.snapshot, Family: family}
	}
	family := c.familyOf(v, name)
	m := Model{Vendor: vendor, Name: model, Family: family.Name, Floating: floats(name), Date: family.Date, Source: family.Source}
	return Match{Model: m, Snapshot: snapshot, Family: family}
}

// row finds a row by name or alias. Some vendors write versions with a dot where others write a dash.
func (c *Catalog) row(vendor, name string) (Model, bool) {
	for _, n := range []string{name, strings.ReplaceAll(name, ".", "-")} {
		if i, ok := c.names[keyOf(vendor, n)]; ok {
			return c.models[i], true
		}
	}
	return Model{}, false
}

// maker is the vendor under whose name a vendor's models and prices are listed.
func (c *Catalog) maker(vendor string) string {
	if v, ok := c.Vendor(vendor); ok && v.Like != "" {
		return v.Like
	}
	return vendor
}

// makerOf is the vendor that lists a model, and the model's name there: a router's names start with the maker, others may
// start with a path.
func (c *Catalog) makerOf(v Vendor, model string) (vendor, name string) {
	if first, rest, ok := strings.Cut(model, "/"); ok && v.Routes[first] != "" {
		rest, _, _ = strings.Cut(rest, ":")
		return v.Routes[first], rest
	}
	if v.NamePath {
		model = model[strings.LastIndexByte(model, '/')+1:]
	}
	return c.maker(v.Name), model
}

var snapshotForm = regexp.MustCompile(`[-@](20\d\d-?[01]\d-?[0-3]\d)$`)

// cutSnapshot parts a model's name from the date of its snapshot, such as -2024-08-06 or -20250929.
func cutSnapshot(name string) (base, snapshot string) {
	at := snapshotForm.FindStringSubmatchIndex(name)
	if at == nil {
		return name, ""
	}
	return name[:at[0]], name[at[2]:at[3]]
}

// floats reports whether a name says of itself that it moves.
func floats(name string) bool {
	return strings.HasSuffix(name, "-latest") || strings.HasSuffix(name, ":latest")
}

// Nearest is the living model nearest to a name: the model itself while it lives, what its row says to use once it is
// retired, else the one whose name is most alike. It is false when none is near.
func (c *Catalog) Nearest(vendor, model string, on Date) (Model, bool) {
	v, _ := c.Vendor(vendor)
	maker, name := c.makerOf(v, model)
	found := c.Find(maker, name)
	for range len(c.models) { // a replacement may itself be retired
		if !found.Known || !found.Model.Retired.Reached(on) || found.Model.Use == "" {
			break
		}
		found = c.Find(maker, found.Model.Use)
	}
	near, ok := found.Model, found.Known && !found.Model.Retired.Reached(on)
	if !ok {
		near, ok = c.alike(maker, name, on)
	}
	if ok && maker != c.maker(vendor) { // a router puts the maker's name in front
		first, _, _ := strings.Cut(model, "/")
		near.Name = first + "/" + near.Name
	}
	if !ok {
		return Model{}, false
	}
	near.Vendor = vendor
	return near, true
}

// alike is the living model whose name is nearest by letters.
func (c *Catalog) alike(vendor, model string, on Date) (Model, bool) {
	living := slices.DeleteFunc(c.Models(vendor), func(m Model) bool {
		family, _ := c.family(m.Family)
		return m.Retired.Reached(on) || family.NoAnswers
	})
	var names []string
	for _, m := range living {
		names = append(names, m.Name)
	}
	name, ok := assay.Closest(model, names)
	if !ok {
		return Model{}, false
	}
	return living[slices.Index(names, name)], true
}
