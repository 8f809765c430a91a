package batchfile

import (
	"slices"
	"strings"

	"assay"
	"assay/catalog"
)

// recognise names the provider that a line was written for, from its form and its model. Where it cannot be told, it
// lists those that may be meant.
func recognise(c *catalog.Catalog, e Entry) (provider string, candidates []string) {
	var known []string
	for _, v := range c.Vendors() {
		if !v.Batch || v.Name == catalog.Compatible || shapeOf(v.Carrier) != e.Shape || !slices.Contains(v.APIs, e.API) {
			continue
		}
		candidates = append(candidates, v.Name)
		if e.Model != "" && !v.AnyModel && serves(c, v, e.Model) {
			known = append(known, v.Name)
		}
	}
	switch {
	case len(candidates) == 1:
		return candidates[0], candidates
	case len(known) == 1:
		return known[0], candidates
	case e.Shape == ShapeGemini && e.ID != "": // Vertex has no key in its lines
		return "gemini", candidates
	}
	return "", candidates
}

// serves tells whether the catalogue knows a model at a vendor.
func serves(c *catalog.Catalog, v catalog.Vendor, model string) bool {
	if v.Name == "fireworks" && strings.HasPrefix(model, "accounts/") {
		return true
	}
	return c.Find(v.Name, model).Known
}

// ProviderName is the provider that a word on a command line means: its name, or what people call it.
func ProviderName(word string) string {
	switch w := strings.ToLower(word); w {
	case "claude":
		return "anthropic"
	case "google":
		return "gemini"
	case "grok":
		return "xai"
	default:
		return w
	}
}

// elsewhere names vendors of the same form of lines that know a model which this one does not.
func elsewhere(c *catalog.Catalog, v catalog.Vendor, shape Shape, model string) []string {
	if v.AnyModel || serves(c, v, model) {
		return nil
	}
	var out []string
	for _, o := range c.Vendors() {
		if o.Name != v.Name && !o.AnyModel && o.Batch && shapeOf(o.Carrier) == shape && serves(c, o, model) {
			out = append(out, o.Name)
		}
	}
	return out
}

// laneOf is the lane that carries a model through an API.
func laneOf(provider, name, model, api string) assay.Lane {
	return assay.Lane{Name: name, Provider: provider, Model: model, API: api}
}
