package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
)

// set returns, by lane key, what the lane sets beside max_tokens.
func set(p assay.Params) map[string]bool {
	return map[string]bool{
		"temperature":  p.Temperature != nil,
		"top_p":        p.TopP != nil,
		"top_k":        p.TopK != nil,
		"stop":         len(p.Stop) > 0,
		"seed":         p.Seed != nil,
		"schema":       len(p.Schema) > 0,
		"service_tier": p.ServiceTier != "",
		"effort":       p.Effort != "",
		"thinking":     p.Thinking.Mode != assay.ThinkingUnset,
		"thoughts":     p.Thoughts,
		"logprobs":     p.Logprobs > 0,
		"server_tools": p.ServerTools.Any(),
	}
}

// keys refuses what the API or the model does not take at all. Effort, thinking and schema have more detailed checks
// and are looked at apart.
func (k *checker) keys() {
	given := set(k.p)
	for _, key := range []string{"temperature", "top_p", "top_k", "stop", "seed", "thoughts", "logprobs", "server_tools"} {
		if !given[key] {
			continue
		}
		if _, ok := k.api.field(k.vendor, key); !ok {
			k.problem(key, k.otherAPI(key), "%s takes no %s through its %s api", k.vendor.Title, key, k.api.Name)
		} else if slices.Contains(k.found.Family.Bars, key) {
			k.problem(key, "remove "+key, "%s takes no %s", k.name(), key)
		}
	}
	var both []string
	for _, key := range k.found.Family.Exclusive {
		if given[key] {
			both = append(both, key)
		}
	}
	if len(both) > 1 {
		k.problem(both[1], "remove one of them", "%s takes either %s or %s, not both", k.name(), both[0], both[1])
	}
}

// otherAPI returns a hint that names an API of the same vendor that takes a key.
func (k *checker) otherAPI(key string) string {
	for _, name := range k.vendor.APIs {
		if _, ok := k.catalog.apis[name].field(k.vendor, key); ok && name != k.api.Name {
			return "write api: " + name + ", or remove " + key
		}
	}
	if key == "server_tools" {
		return k.catalog.toolRunners()
	}
	return "remove " + key
}

// sampling holds temperature, top_p and top_k against the family's rules.
func (k *checker) sampling() {
	f := k.found.Family
	if t := k.p.Temperature; t != nil && k.api.Hottest > 0 && *t > k.api.Hottest {
		k.problem("temperature", "write temperature: "+number(k.api.Hottest)+" or less", "%s takes temperature up to %s, not %s",
			k.vendor.Title, number(k.api.Hottest), number(*t))
	} else if t != nil {
		k.number("temperature", *t, f.Temperature)
	}
	if k.p.TopP != nil {
		k.number("top_p", *k.p.TopP, f.TopP)
	}
	if k.p.TopK != nil {
		k.number("top_k", float64(*k.p.TopK), f.TopK)
	}
}

func (k *checker) number(key string, x float64, rule *Rule) {
	if _, taken := k.api.field(k.vendor, key); rule == nil || !taken {
		return
	}
	thinks := k.thinks()
	switch {
	case rule.Allow == AllowNever:
		k.problem(key, "remove "+key, "%s takes no %s", k.name(), key)
	case rule.Allow == AllowQuiet && thinks:
		k.problem(key, k.quietHint(key), "%s takes no %s while it reasons", k.name(), key)
	case thinks && rule.Thinking != nil && !rule.Thinking.holds(x):
		k.problem(key, "remove "+key+", or write "+rule.Thinking.words(key, x), "thinking needs %s, not %s",
			rule.Thinking.need(key), number(x))
	case !rule.holds(x):
		k.problem(key, "remove "+key+", or write "+rule.words(key, x), "%s takes %s, not %s", k.name(), rule.need(key), number(x))
	case rule.Advise != nil && x != *rule.Advise:
		k.warn(Unkept, key, "remove "+key, "%s is meant to run at %s %s", k.name(), key, number(*rule.Advise))
	}
}

// quietHint returns how to stop the model from reasoning.
func (k *checker) quietHint(key string) string {
	switch {
	case slices.Contains(k.found.Family.Effort, "none"):
		return "write effort: none, or remove " + key
	case k.rule != nil && slices.Contains(k.rule.Modes, assay.ThinkingOff):
		return "write thinking: off, or remove " + key
	}
	return "remove " + key
}

// need returns in words which values of a key are allowed: "temperature 1", "top_p from 0 to 1".
func (b Bounds) need(key string) string {
	switch {
	case b.Min != nil && b.Max != nil && *b.Min == *b.Max:
		return key + " " + number(*b.Min)
	case b.Min != nil && b.Max != nil:
		return fmt.Sprintf("%s from %s to %s", key, number(*b.Min), number(*b.Max))
	case b.Min != nil:
		return fmt.Sprintf("%s of at least %s", key, number(*b.Min))
	}
	return fmt.Sprintf("%s of at most %s", key, number(*b.Max))
}

// words returns an example of a legal value, as a study writes it.
func (b Bounds) words(key string, x float64) string {
	if b.Max != nil && (b.Min == nil || x > *b.Min) {
		return key + ": " + number(*b.Max)
	}
	return key + ": " + number(*b.Min)
}

// meant reports whether a lane asks for the beta, and its model has it.
func (b LongBeta) meant(headers map[string]string, model string) bool {
	return b.Header != "" && slices.ContainsFunc(strings.Split(headers[b.Header], ","), func(v string) bool {
		return strings.TrimSpace(v) == b.Value
	}) && slices.ContainsFunc(b.Models, func(p string) bool { ok, _ := path.Match(p, bareName(model)); return ok })
}

// limit holds max_tokens against what the model can write.
func (k *checker) limit() {
	n, most := k.p.MaxTokens, k.found.Model.MaxOut
	if long := k.vendor.LongOutput; most > 0 && long.meant(k.p.Headers, k.lane.Model) && k.lane.Mode != assay.ModeLive {
		most = max(most, long.Tokens)
	}
	switch {
	case n < 0:
		k.problem("max_tokens", "write a positive number, or remove max_tokens", "max_tokens %d is negative", n)
	case n > 0 && n < k.api.MinOutput:
		k.problem("max_tokens", fmt.Sprintf("write max_tokens: %d or more", k.api.MinOutput),
			"the %s api takes max_tokens of at least %d, not %d", k.api.Name, k.api.MinOutput, n)
	case most > 0 && n > most:
		k.problem("max_tokens", fmt.Sprintf("write max_tokens: %d or less", most), "%s writes at most %s tokens, not %s", k.name(),
			assay.Thousands(most), assay.Thousands(n))
	case n > 0 && k.p.Thinking.Mode != assay.ThinkingTokens && k.thinks():
		if least := k.catalog.leastThinking(k.found.Family, k.p); n < least {
			k.warn(Unkept, "max_tokens", fmt.Sprintf("%smax_tokens: %d or more", k.lessThinking(), least),
				"%s thinks, and max_tokens %s may leave nothing for its answer", k.name(), assay.Thousands(n))
		}
	}
}

// lessThinking returns how the model can be kept from thinking, where it can.
func (k *checker) lessThinking() string {
	switch {
	case k.found.Family.Reasons == ReasonsAlways || k.rule == nil:
		return ""
	default:
		return "thinking: off, or "
	}
}

// MostLikely returns how many likely tokens a vendor tells of each place of an answer.
func (v Vendor) MostLikely() int { return cmp.Or(v.LikelyMax, 20) }

// logprobs holds the number of likely tokens against the vendor's limit, and the wish for them against models that tell none while
// they reason: those that take no temperature then.
func (k *checker) logprobs() {
	n, rule := k.p.Logprobs, k.found.Family.Temperature
	if _, taken := k.api.field(k.vendor, "logprobs"); n == 0 || !taken {
		return
	}
	switch most := k.vendor.MostLikely(); {
	case n > most:
		k.problem("logprobs", fmt.Sprintf("write logprobs: %d or less", most), "%s tells at most %d likely tokens, not %d",
			k.vendor.Title, most, n)
	case rule != nil && rule.Allow == AllowNever:
		k.problem("logprobs", "remove logprobs, or take a model that does not reason", "%s tells no logprobs", k.name())
	case rule != nil && rule.Allow == AllowQuiet && k.thinks():
		k.problem("logprobs", k.quietHint("logprobs"), "%s tells no logprobs while it reasons", k.name())
	}
}

// stop holds the number of stop sequences against the vendor's limit.
func (k *checker) stop() {
	if most := k.vendor.StopMax; most > 0 && len(k.p.Stop) > most {
		k.problem("stop", "", "%s takes at most %d stop sequences, not %d", k.vendor.Title, most, len(k.p.Stop))
	}
}

// schema warns where the answer's form is not promised.
func (k *checker) schema() {
	if len(k.p.Schema) == 0 {
		return
	}
	switch schemaWire(k.vendor, k.found) {
	case assay.SchemaWireNone:
		k.warn(Unkept, "schema", "ask for the form in the prompt", "%s has no structured output: the schema is not sent", k.name())
	case assay.SchemaWireJSONObject:
		k.warn(Unkept, "schema", "ask for the fields in the prompt", "%s promises JSON, but not the schema", k.name())
	}
}

// tier holds the service tier against what the vendor offers.
func (k *checker) tier() {
	tiers := k.vendor.ServiceTiers
	if _, taken := k.api.field(k.vendor, "service_tier"); !taken {
		tiers = nil
	}
	switch {
	case k.p.ServiceTier == "" || slices.Contains(tiers, "*") || slices.Contains(tiers, k.p.ServiceTier):
	case len(tiers) == 0:
		k.problem("service_tier", "remove service_tier", "%s has no service tiers", k.vendor.Title)
	default:
		k.problem("service_tier", "write "+either("service_tier: ", tiers), "%s has no service tier %q", k.vendor.Title, k.p.ServiceTier)
	}
}

// extra refuses further body fields that would overwrite the request's own. Fields beside those of the lane,
// also inside the same object, are the user's to add.
func (k *checker) extra() {
	taken := k.taken()
	for _, field := range slices.Sorted(maps.Keys(k.p.Extra)) {
		if slices.Contains(k.api.Reserved, field) || taken[field] != "" {
			k.overwrites(field, taken[field])
			continue
		}
		k.ofChat(field)
		var inside map[string]json.RawMessage
		if json.Unmarshal(k.p.Extra[field], &inside) != nil && holdsInside(taken, field) {
			k.problem("extra", "write an object", "extra would overwrite %s, which the lane fills", field)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(inside)) {
			path := field + "." + name
			if slices.Contains(k.api.Reserved, path) || taken[path] != "" {
				k.overwrites(path, taken[path])
			}
		}
	}
}

// chatFields are fields of OpenAI's chat completions that its newer API refuses.
func chatFields() []string {
	return []string{"frequency_penalty", "logit_bias", "logprobs", "presence_penalty", "seed", "stop"}
}

// ofChat warns of fields that go through the chat api alone.
func (k *checker) ofChat(field string) {
	if k.api.Name == "responses" && slices.Contains(chatFields(), field) && slices.Contains(k.vendor.APIs, "chat") {
		k.warn(Illegal, "extra", "write api: chat", "%s takes no %s through its responses api", k.vendor.Title, field)
	}
}

// taken returns the body's fields that the lane sets, and by which of its keys.
func (k *checker) taken() map[string]string {
	taken, given := map[string]string{}, set(k.p)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if field, ok := k.api.field(k.vendor, key); given[key] && ok && field != "" {
			taken[field] = key
		}
	}
	return taken
}

func (k *checker) overwrites(field, key string) {
	if key == "" {
		k.problem("extra", "remove "+field+" from extra", "extra may not overwrite %s", field)
		return
	}
	k.problem("extra", "say it in one place", "extra would overwrite %s, which carries %s", field, key)
}

func holdsInside(taken map[string]string, field string) bool {
	for path := range taken {
		if strings.HasPrefix(path, field+".") {
			return true
		}
	}
	return false
}

// serverTools holds the tools that the provider is to run against what it and the model take.
func (k *checker) serverTools() {
	s := k.p.ServerTools
	if _, taken := k.api.field(k.vendor, "server_tools"); !s.Any() || !taken {
		return
	}
	k.issues = append(k.issues, k.catalog.toolIssues(k.lane, k.vendor.Name, map[string]string{
		"search": on(s.WebSearch != nil, "server_tools"), "schema": on(len(k.p.Schema) > 0, "schema")})...)
	if s.WebSearch != nil && s.WebSearch.MaxUses > 0 && assay.Dialect(k.api.Name) == assay.DialectGenerate {
		k.problem("server_tools", "leave max_uses out", "%s bounds no searches", k.vendor.Title)
	}
	if _, said := k.p.Extra["max_tool_calls"]; said {
		k.problem("extra", "write max_uses in server_tools", "extra would overwrite max_tool_calls, which carries max_uses")
	}
}

// RunsTools reports whether lanes of a vendor can name tools that it runs.
func (v Vendor) RunsTools() bool { return v.Also["server_tools"] != "" }

// toolRunners returns a hint that names the vendors whose tools a lane can ask for.
func (c *Catalog) toolRunners() string {
	var names []string
	for _, v := range c.vendors {
		if v.RunsTools() {
			names = append(names, v.Title)
		}
	}
	return "remove server_tools: those of " + strings.Join(names, ", ") + " are known; what others have goes through `extra`"
}
