package batchfile

import (
	"strings"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// recognise names the provider that a line was written for, from its form and its model. If it cannot be known, it
// lists those that may be meant.
func recognise(c *catalog.Catalog, e Entry) (provider string, candidates []string) {
	var known []string
	for _, v := range c.Vendors() {
		if !v.Batch || v.Name == catalog.Compatible || ShapeOf(v) != e.Shape || !v.Has(e.API) ||
			e.ID != "" && nameless(v.Carrier) {
			continue
		}
		candidates = append(candidates, v.Name)
		if e.Model != "" && !v.AnyModel && c.Serves(v, e.Model) {
			known = append(known, v.Name)
		}
	}
	switch {
	case len(candidates) == 1:
		return candidates[0], candidates
	case len(known) == 1:
		return known[0], candidates
	}
	return "", candidates
}

// ProviderName returns the provider that a word on a command line means: its name, or what people call it.
func ProviderName(c *catalog.Catalog, word string) string {
	word = strings.ToLower(word)
	if _, ok := c.Vendor(word); ok {
		return word
	}
	if called := c.Called(word); len(called) > 0 {
		return called[0]
	}
	return word
}

// elsewhere names vendors of the same form of lines that know a model which this one does not.
func elsewhere(c *catalog.Catalog, v catalog.Vendor, shape Shape, model string) []string {
	if v.AnyModel || c.Serves(v, model) {
		return nil
	}
	var out []string
	for _, o := range c.Vendors() {
		if o.Name != v.Name && !o.AnyModel && o.Batch && ShapeOf(o) == shape && c.Serves(o, model) {
			out = append(out, o.Name)
		}
	}
	return out
}

// laneOf returns the lane that carries a model through an API.
func laneOf(provider, name, model, api string) assay.Lane {
	return assay.Lane{Name: name, Provider: provider, Model: model, API: api}
}
