package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// lane is a lane on its way into the study.
type lane struct {
	assay.Lane
	keys  []string // as the study writes them
	extra []string // further fields of the body
	about []string // for people
	left  []string // parameters that have no place
}

func (l *lane) set(key string, value any) {
	l.keys = append(l.keys, key+": "+quoted(value))
}

// params takes the parameters of a lane.
func (l *lane) params(m map[string]any) {
	m = folded(m)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if m[key] != nil && !l.param(key, m[key]) {
			l.left = append(l.left, key)
		}
	}
	if len(l.extra) > 0 {
		l.keys = append(l.keys, "extra: {"+strings.Join(l.extra, ", ")+"}")
	}
}

// folded returns parameters with thinking in one of them, where they name its switch and its budget apart.
func folded(m map[string]any) map[string]any {
	thinking := map[string]any{}
	for key, as := range map[string]string{"thinking_enabled": "enabled", "thinking_budget_tokens": "budget_tokens"} {
		if value, ok := m[key]; ok && m["thinking"] == nil {
			thinking[as] = value
		}
	}
	if len(thinking) == 0 {
		return m
	}
	m = maps.Clone(m)
	delete(m, "thinking_enabled")
	delete(m, "thinking_budget_tokens")
	m["thinking"] = thinking
	return m
}

// param takes one parameter; false where it has no place.
func (l *lane) param(key string, value any) bool {
	x, isNumber := number(value)
	whole := isNumber && x == math.Trunc(x) && x >= 0 && x < 1e9
	switch key {
	case "temperature":
		l.Params.Temperature = &x
	case "top_p":
		l.Params.TopP = &x
	case "top_k":
		l.Params.TopK = new(int(x))
		isNumber = whole
	case "max_tokens", "max_output_tokens":
		l.Params.MaxTokens, key, isNumber = int(x), "max_tokens", whole
	case "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty":
		if !isNumber {
			return false
		}
		if l.Params.Extra == nil {
			l.Params.Extra = map[string]json.RawMessage{}
		}
		l.Params.Extra[key] = json.RawMessage(quoted(x))
		l.extra = append(l.extra, key+": "+quoted(x))
		return true
	case "reasoning_effort":
		l.Params.Effort = text(value)
		l.set("effort", l.Params.Effort)
		return l.Params.Effort != ""
	case "thinking":
		return l.thinking(object(value))
	default:
		return false
	}
	if isNumber {
		l.set(key, x)
	}
	return isNumber
}

// thinking takes {enabled, budget_tokens}.
func (l *lane) thinking(m map[string]any) bool {
	on, said := m["enabled"].(bool)
	budget, counted := number(m["budget_tokens"])
	switch {
	case said && !on:
		return true // nothing to ask for
	case counted && budget >= 1 && budget == math.Trunc(budget) && budget < 1e9:
		l.Params.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: int(budget)}
		l.set("thinking", int(budget))
		return true
	case said:
		l.Params.Thinking = assay.Thinking{Mode: assay.ThinkingOn}
		l.set("thinking", true)
		return true
	}
	return false
}

// vendor returns the provider that a word means; empty: the one that serves the model.
func (d *drafter) vendor(word, model string) (catalog.Vendor, bool) {
	if word != "" {
		word = strings.ToLower(word)
		if called := d.Catalog.Called(word); len(called) > 0 {
			word = called[0]
		}
		return d.Catalog.Vendor(word)
	}
	for _, v := range d.Catalog.Vendors() {
		if v.Batch && !v.AnyModel && v.Name != catalog.Compatible && d.Catalog.Serves(v, model) {
			return v, true
		}
	}
	return catalog.Vendor{}, false
}

// lane writes a lane into the study, or a comment with the reason why it cannot be asked; it reports which.
func (d *drafter) lane(l *lane, provider string) bool {
	v, ok := d.vendor(provider, l.Model)
	if !ok {
		what := fmt.Sprintf("no provider is called %q here", provider)
		if provider == "" {
			what = "no provider is known for the model"
		}
		d.omit("  ", "lane %s (%s): %s", l.Name, l.Model, what)
		return false
	}
	l.Provider = v.Name
	if len(l.extra) > 0 && v.DefaultAPI == string(assay.DialectResponses) && slices.Contains(v.APIs, string(assay.DialectChat)) {
		l.API = string(assay.DialectChat) // the other API takes no penalties
		l.set("api", l.API)
	}
	text := fmt.Sprintf("%s: {%s}", quoted(l.Name),
		strings.Join(slices.Concat([]string{"model: " + quoted(l.ID())}, l.keys, l.about), ", "))
	why := d.refusals(l, v)
	if len(l.left) > 0 { // without them it would be another lane under this name
		why = "parameter " + strings.Join(l.left, ", parameter ") + after("; ", why)
	}
	if why != "" {
		d.omit("  ", "lane %s: %s", l.Name, why)
		d.remark("  ", "%s", text)
		return false
	}
	asks := strings.Join(append([]string{l.ID()}, slices.Sorted(slices.Values(l.keys))...), ", ")
	if was, twice := d.same[asks]; twice {
		d.omit("  ", "lane %s: it asks the same as lane %s", l.Name, was)
		d.remark("  ", "%s", text)
		return false
	}
	d.same[asks] = l.Name
	d.line("  %s", text)
	return true
}

func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// refusals returns the reasons for which no provider would take a lane.
func (d *drafter) refusals(l *lane, v catalog.Vendor) string {
	var why []string
	for _, issue := range d.Catalog.Check(l.Lane, v.Name, d.Today) {
		if !issue.Warning {
			why = append(why, issue.What)
		}
	}
	return strings.Join(why, "; ")
}

// fresh gives a lane a name that no other has.
func (d *drafter) fresh(text, otherwise string) (string, error) {
	n := name(text, otherwise)
	if d.names == nil {
		d.names, d.same = map[string]bool{}, map[string]string{}
	}
	if d.names[n] {
		return n, fmt.Errorf("two lanes are called %q", n)
	}
	d.names[n] = true
	return n, nil
}
