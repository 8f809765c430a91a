package check

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

// dearFields are fields of request bodies that are billed by more than tokens, or change what a token costs.
var dearFields = []string{"web_search_options", "search_parameters", "plugins", "service_tier", "serviceTier", "speed", "inference_geo",
	"modalities", "audio", "container"}

// beyondTokens names the fields of a lane's `extra`, other than tools, whose price nobody here knows.
func beyondTokens(extra map[string]json.RawMessage) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(dearFields, name) {
			out = append(out, name)
		}
	}
	return out
}

// checkTools adds a problem for a lane whose provider runs tools of unknown price or, under a budget, of an unknown number.
func (d checker) checkTools(l *study.Lane, price catalog.Price, say func(at assay.Place, hint, format string, args ...any), so string) {
	tools := catalog.ToolsOf(l.Params, price.ByPrompt)
	at, what, budget := l.Where.Key("extra"), "tools in `extra`", d.Study.Budget.Set
	known, bound := "leave them out", "bound it: `max_uses` of the tool at Anthropic, `max_tool_calls` in `extra` at OpenAI"
	if l.Params.ServerTools.Any() {
		at, what = l.Where.Key("server_tools"), "`server_tools`"
		known, bound = "give the price of a thousand as `search` or `code` under `prices`", "bound it: {web_search: {max_uses: 3}}"
		if v := d.Vendor(l); v.DefaultAPI == string(assay.DialectGenerate) {
			bound = v.Title + " has no bound: take a model that bills searches by prompt, such as gemini-2.5-flash"
		}
	}
	const allow = "or say `unpriced: allow`: then the budget holds for tokens alone"
	switch t := tools.Most; {
	case !tools.Any, l.Params.ServerTools.Any() && !d.Vendor(l).RunsTools(): // the latter is refused anyway
	case t.Other > 0 || t.Searches > 0 && !price.Search.Known || t.Lookups > 0 && !price.Lookup.Known || t.Code > 0 && !price.Code.Known:
		say(at, known+", "+allow, "lane %s: what %s cost beside tokens is not known, so %s", l.Name, what, so)
	case budget && !tools.Bounded:
		say(at, bound+"; "+allow, "lane %s: how often the tools in %s are called is not bounded, so %s", l.Name,
			strings.TrimPrefix(what, "tools in "), so)
	case budget && d.Study.Reserve == study.ReserveHigh:
		say(at, "`reserve: expected`, "+allow,
			"lane %s: what the tools in %s bring into the prompt is not known before, so a hard budget cannot be kept", l.Name,
			strings.TrimPrefix(what, "tools in "))
	}
}
