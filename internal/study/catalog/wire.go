package catalog

import (
	"path"
	"slices"

	"assay/internal/assay"
)

// Wire returns how a lane's requests are written for a vendor. A vendor that is not known gets the wire of a server
// that speaks the OpenAI API.
func (c *Catalog) Wire(lane assay.Lane, vendor string, mode assay.Mode) assay.Wire {
	v, ok := c.Vendor(vendor)
	if !ok {
		v, _ = c.Vendor(Compatible)
	}
	found := c.Find(v.Name, lane.Model)
	a := c.apiOf(v, lane)
	inBatch := v.Batch && mode != assay.ModeLive
	own := c.invokes(v, lane) && (inBatch || lane.API == v.Invoked.API)
	if own {
		a = c.apis[v.Invoked.API]
	}
	w := assay.Wire{
		Dialect:        assay.Dialect(a.Name),
		Carrier:        v.Carrier,
		URL:            a.URL,
		MaxTokensField: a.MaxTokensField,
		SystemRole:     "system",
		EffortField:    a.EffortField,
		Schema:         schemaWire(v, found),
		SeedField:      a.SeedField,
		Media:          v.Media,
		ModelInBody:    !a.ModelInPath && !(inBatch && v.ModelAtJob),
		StoreFalse:     a.StoreFalse,
		CacheMarks:     v.CacheMarks,
		CacheKey:       v.CacheKey,
		ReasoningApart: v.ReasoningApart && a.Name == v.DefaultAPI,
	}
	if own {
		w.ModelInBody, w.Version = false, v.Invoked.Version
	}
	if url := v.URLs[a.Name]; url != "" {
		w.URL = url
	}
	if a.Data {
		return assay.Wire{Dialect: assay.DialectData, Carrier: w.Carrier, URL: w.URL, ModelInBody: w.ModelInBody}
	}
	if field := v.MaxTokensField[a.Name]; field != "" {
		w.MaxTokensField = field
	}
	if v.SeedField != "" {
		w.SeedField = v.SeedField
	}
	if v.DeveloperRole && found.Family.Developer {
		w.SystemRole = "developer"
	}
	if rule := wireRule(v, a, found.Family); rule != nil {
		w.Thinking = rule.wire(lane.Params.Thinking.Mode)
	}
	if w.Thinking == assay.ThinkingWireReasoning { // effort is a field of the same object
		w.EffortField = ""
	}
	if w.CacheMarks = w.CacheMarks && !inBatch; w.CacheMarks { // a batch reads nothing of what it writes: plan.Primes
		w.CacheTTL = "5m"
	}
	return w
}

// invoked is an API of models' maker that a vendor takes in batches beside its own.
type invoked struct {
	Models  string `yaml:"models"` // a pattern of their names
	API     string `yaml:"api"`
	Version string `yaml:"version"` // that bodies name
}

// invokes reports whether a lane's requests go into batches as bodies of the model's maker: for their tools, which the vendor's own have
// not. A lane of that API has them live, too.
func (c *Catalog) invokes(v Vendor, lane assay.Lane) bool {
	if v.Invoked == nil || len(lane.Params.Tools) == 0 && lane.API != v.Invoked.API {
		return false
	}
	_, name := c.makerOf(v, lane.Model)
	ok, _ := path.Match(v.Invoked.Models, v.plainName(name))
	return ok
}

// wire returns the way to write thinking in one mode.
func (r ThinkingRule) wire(mode assay.ThinkingMode) assay.ThinkingWire {
	if mode == assay.ThinkingTokens && r.TokensWire != "" {
		return r.TokensWire
	}
	return r.Wire
}

// wireRule returns the rule for writing thinking: the vendor's own form for every model, else the
// family's.
func wireRule(v Vendor, a api, f Family) *ThinkingRule {
	if v.Thinking != nil && a.Name == v.DefaultAPI {
		return v.Thinking
	}
	return thinkingRule(v, a, f)
}

// thinkingRule returns how a lane may ask a model to think, or nil where it cannot. A vendor with a form of its own
// narrows what the family can.
func thinkingRule(v Vendor, a api, f Family) *ThinkingRule {
	if _, ok := a.field(v, "thinking"); !ok {
		return nil
	}
	if v.Thinking == nil || a.Name != v.DefaultAPI {
		return f.Thinking
	}
	if f.Thinking == nil && len(f.Effort) > 0 && !slices.Contains(f.Effort, "*") { // it knows effort and nothing else
		return nil
	}
	rule := *v.Thinking
	if own := f.Thinking; own != nil {
		rule.Min, rule.Max, rule.UnderMaxTokens = own.Min, own.Max, own.UnderMaxTokens
		rule.Modes = slices.DeleteFunc(slices.Clone(rule.Modes), func(m assay.ThinkingMode) bool {
			return !slices.Contains(own.Modes, m)
		})
	}
	return &rule
}

// schemaWire returns the most that vendor, family and model all promise.
func schemaWire(v Vendor, found Match) assay.SchemaWire {
	order := []assay.SchemaWire{assay.SchemaWireNone, assay.SchemaWireJSONObject, assay.SchemaWireStrict}
	best := slices.Index(order, found.Family.Schema)
	for _, less := range []assay.SchemaWire{v.Schema, found.Model.Schema} {
		if less != "" {
			best = min(best, slices.Index(order, less))
		}
	}
	return order[max(best, 0)]
}

// Has reports whether a vendor has an API, for text or for data.
func (v Vendor) Has(api string) bool {
	return slices.Contains(v.APIs, api) || slices.Contains(v.Data, api)
}

// Effective returns a lane's parameters with what the wire demands filled in, and with every wish written in one way,
// so that lanes that would send the same are equal. A vendor that is not known demands nothing.
func (c *Catalog) Effective(lane assay.Lane, vendor string) assay.Params {
	p := lane.Params
	v, ok := c.Vendor(vendor)
	if !ok {
		return p
	}
	found := c.Find(vendor, lane.Model)
	if (c.apiOf(v, lane).NeedsMaxTokens || c.invokes(v, lane)) && p.MaxTokens == 0 {
		p.MaxTokens = found.demandedLimit(p)
	}
	if p.Thinking.Mode == assay.ThinkingOff && (found.Family.Reasons == ReasonsNever || found.Family.Reasons == ReasonsAsked) {
		p.Thinking = assay.Thinking{}
	}
	if len(p.Stop) == 0 {
		p.Stop = nil
	}
	if len(p.Extra) == 0 {
		p.Extra = nil
	}
	if len(p.Schema) == 0 {
		p.Schema = nil
	}
	return p
}

// EffortAsThinking returns a lane's parameters with its effort as thinking, where the model knows no effort: as its level, or as a
// number of tokens. The numbers are those of the vendor's own endpoint in OpenAI's form.
func (c *Catalog) EffortAsThinking(lane assay.Lane, vendor string) assay.Params {
	p := lane.Params
	v, ok := c.Vendor(vendor)
	f := c.Find(vendor, lane.Model).Family
	rule := thinkingRule(v, c.apiOf(v, lane), f)
	if !ok || p.Effort == "" || p.Thinking.Mode != assay.ThinkingUnset || rule == nil || v.Effort != nil || len(f.Effort) > 0 {
		return p
	}
	tokens := map[string]int{"minimal": 1024, "low": 1024, "medium": 8192, "high": 24_576}[p.Effort]
	switch {
	case p.Effort == "none":
		p.Thinking.Mode = assay.ThinkingOff
	case slices.Contains(rule.Modes, assay.ThinkingLevel):
		p.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: p.Effort}
	case slices.Contains(rule.Modes, assay.ThinkingTokens) && tokens > 0:
		p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: tokens}
	default:
		return p
	}
	p.Effort = ""
	return p
}

// demandedLimit returns the output limit to send where the API demands one and the lane sets none: room for an answer
// beside the thinking, within what the model can write.
func (m Match) demandedLimit(p assay.Params) int {
	limit := m.Family.MaxTokens
	if limit == 0 {
		limit = 4096
	}
	if p.Thinking.Mode == assay.ThinkingTokens && p.Thinking.Tokens > 0 && p.Thinking.Tokens < 1<<30 {
		limit += p.Thinking.Tokens
	}
	if m.Model.MaxOut > 0 {
		limit = min(limit, m.Model.MaxOut)
	}
	return limit
}
