package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// Issue is something wrong with a lane.
type Issue struct {
	Param   string // the lane's key to point at: temperature, max_tokens, thinking, model …
	Kind    IssueKind
	What    string
	Hint    string // empty: none
	Warning bool   // a warning never stops anything
}

// IssueKind lets a caller fold issues of one kind together.
type IssueKind string

// The kinds of issues.
const (
	Illegal  IssueKind = "illegal"  // the vendor would refuse it
	Retired  IssueKind = "retired"  // the model is no longer served
	Unknown  IssueKind = "unknown"  // the catalogue has no row for the model
	Floating IssueKind = "floating" // the name may mean another model tomorrow
	Unkept   IssueKind = "unkept"   // it goes out, but not as written, or against the vendor's advice
)

// Check returns what is wrong with a lane at a vendor: parameters that the vendor would refuse as problems; models that
// are retired, unknown or floating as warnings. What the catalogue does not know is no issue. With an unknown day `on`,
// nothing is retired.
func (c *Catalog) Check(lane assay.Lane, vendor string, on Date) []Issue {
	v, ok := c.Vendor(vendor)
	if !ok {
		return []Issue{{Param: "model", Kind: Illegal, What: fmt.Sprintf("no vendor is called %q", vendor), Hint: c.vendorHint(vendor)}}
	}
	k := &checker{catalog: c, vendor: v, lane: lane, p: lane.Params, found: c.Find(vendor, lane.Model)}
	if !k.speaks() || !k.answers() {
		return k.issues
	}
	k.api = c.apiOf(v, lane)
	k.rule = thinkingRule(v, k.api, k.found.Family)
	k.keys()
	k.sampling()
	k.logprobs()
	k.limit()
	k.effort()
	k.thinking()
	k.thoughts()
	k.stop()
	k.schema()
	k.tier()
	k.serverTools()
	k.extra()
	k.standing(on)
	return k.issues
}

// checker gathers the issues of one lane.
type checker struct {
	catalog *Catalog
	vendor  Vendor
	api     api
	lane    assay.Lane
	p       assay.Params
	found   Match
	rule    *ThinkingRule // nil: the lane cannot ask for thinking
	issues  []Issue
}

func (k *checker) problem(param, hint, format string, args ...any) {
	k.issues = append(k.issues, Issue{Param: param, Kind: Illegal, What: fmt.Sprintf(format, args...), Hint: hint})
}

func (k *checker) warn(kind IssueKind, param, hint, format string, args ...any) {
	k.issues = append(k.issues, Issue{Param: param, Kind: kind, What: fmt.Sprintf(format, args...), Hint: hint, Warning: true})
}

// name returns the model as messages call it.
func (k *checker) name() string { return k.lane.Model }

func (c *Catalog) vendorHint(name string) string {
	var names []string
	for _, v := range c.vendors {
		names = append(names, v.Name)
	}
	return assay.DidYouMean(name, names)
}

// speaks reports whether the vendor has the API that the lane names.
func (k *checker) speaks() bool {
	if k.lane.API == "" || slices.Contains(k.vendor.APIs, k.lane.API) {
		return true
	}
	k.problem("api", "write "+either("api: ", k.vendor.APIs), "%s has no api %q", k.vendor.Title, k.lane.API)
	return false
}

// answers reports whether the model answers questions at all.
func (k *checker) answers() bool {
	switch {
	case strings.TrimSpace(k.lane.Model) == "":
		k.problem("model", "write model: PROVIDER/MODEL", "the lane names no model")
		return false
	case k.found.Family.NoAnswers:
		k.problem("model", "", "%s does not answer questions", k.name())
		return false
	}
	return true
}

// standing warns about models that are gone, unknown, or not the same from day to day.
func (k *checker) standing(on Date) {
	m := k.found.Model
	near, living := k.catalog.Nearest(k.vendor.Name, k.lane.Model, on)
	switch {
	case m.Retired.Reached(on) && living:
		k.warn(Retired, "model", "use "+near.Name, "%s is retired since %s", k.name(), m.Retired)
	case m.Retired.Reached(on):
		k.warn(Retired, "model", "", "%s is retired since %s", k.name(), m.Retired)
	case !k.found.Known && !k.vendor.AnyModel:
		k.warn(Unknown, "model", k.meant(near, on), "%s is not in the catalogue: the rules of %s are used", k.name(), k.found.Family.Title)
	}
	if m.Floating {
		hint := "name a dated snapshot to ask the same model every time"
		if floats(m.Name) { // the catalogue has no snapshot of it
			hint = "a name with a date stays the same, but the catalogue knows none"
		}
		k.warn(Floating, "model", hint,
			"%s is an alias that moves from snapshot to snapshot", k.name())
	}
	if m.NoBatch && k.lane.Mode == assay.ModeBatch {
		k.warn(Unkept, "mode", "write mode: live", "%s was seen refused in batches", k.name())
	}
}

// meant returns what an unknown model's name may stand for: a model that is gone by its words in another order, one of another
// vendor, or the nearest by letters.
func (k *checker) meant(near Model, on Date) string {
	hint := ""
	if near.Name != "" {
		hint = "did you mean " + near.Name + "?"
	}
	if same, ok := k.catalog.Reordered(k.vendor.Name, k.lane.Model); ok && same.Retired.Reached(on) {
		return strings.TrimSuffix(same.Name+" is retired since "+string(same.Retired)+", "+hint, ", ")
	}
	for _, m := range k.catalog.models {
		if m.Name == k.lane.Model {
			return "did you mean " + m.Vendor + "/" + m.Name + "?"
		}
	}
	return hint
}

// number writes a parameter's value as a study writes it.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// either lists what may be written, each behind a prefix.
func either(prefix string, words []string) string { return prefix + strings.Join(words, ", ") }

// effort holds the effort against the words that model and vendor take.
func (k *checker) effort() {
	word := k.p.Effort
	if word == "" {
		return
	}
	_, taken := k.api.field(k.vendor, "effort")
	words := k.efforts()
	switch {
	case !taken || len(words) == 0:
		k.problem("effort", k.effortHint(), "%s takes no effort", k.name())
	case slices.Contains(words, "*") || slices.Contains(words, word):
	case slices.Contains(k.found.Family.EffortUnsure, word):
		k.warn(Unkept, "effort", "", "whether %s takes effort %s is not known", k.name(), word)
	default:
		k.problem("effort", "write "+either("effort: ", words), "%s takes no effort %q", k.name(), word)
	}
}

// thinks reports whether this lane makes the model reason. A vendor with efforts of its own turns them into thinking.
func (k *checker) thinks() bool {
	f, word := k.found.Family, k.p.Effort
	return f.thinks(k.p) || (k.vendor.Effort != nil && f.Reasons != ReasonsNever && word != "" && word != "none")
}

// efforts returns the words that both the family and the vendor know.
func (k *checker) efforts() []string {
	own, vendor := k.found.Family.Effort, k.vendor.Effort
	switch {
	case vendor == nil || k.found.Family.Reasons == ReasonsNever:
		return own
	case len(own) == 0 || slices.Contains(own, "*"):
		return vendor
	}
	return slices.DeleteFunc(slices.Clone(own), func(w string) bool { return !slices.Contains(vendor, w) })
}

func (k *checker) effortHint() string {
	if k.rule == nil {
		return "remove effort"
	}
	return k.thinkingHint()
}

// thinking holds the wish for thinking against the forms the model takes.
func (k *checker) thinking() {
	t, f := k.p.Thinking, k.found.Family
	switch {
	case t.Mode == assay.ThinkingUnset:
	case t.Mode == assay.ThinkingOff && f.Reasons == ReasonsNever: // nothing to turn off
	case t.Mode == assay.ThinkingOff && f.Reasons == ReasonsAlways:
		k.problem("thinking", k.thinkingHint(), "%s always thinks", k.name())
	case k.rule == nil || f.Reasons == ReasonsNever:
		k.problem("thinking", k.thinkingHint(), "%s takes no thinking", k.name())
	case !slices.Contains(k.rule.Modes, t.Mode):
		k.problem("thinking", k.thinkingHint(), "%s takes no thinking %s", k.name(), written(t))
	case t.Mode == assay.ThinkingOff && slices.Contains(k.rule.OffBars, k.p.Effort):
		k.problem("thinking", "write a lower effort, or thinking: on", "%s cannot have thinking off at effort %s", k.name(), k.p.Effort)
	case t.Mode == assay.ThinkingTokens:
		k.budget()
	case t.Mode == assay.ThinkingLevel && !slices.Contains(k.rule.Levels, strings.ToLower(t.Level)):
		k.problem("thinking", k.thinkingHint(), "%s takes no thinking %q", k.name(), t.Level)
	}
}

// budget holds a number of thinking tokens against the model's bounds and the lane's output limit.
func (k *checker) budget() {
	n := k.p.Thinking.Tokens
	limit := k.catalog.Effective(k.lane, k.vendor.Name).MaxTokens
	switch {
	case n < k.rule.Min:
		k.problem("thinking", fmt.Sprintf("write thinking: %d or more", k.rule.Min),
			"%s takes a thinking budget of at least %s tokens, not %s", k.name(), assay.Thousands(k.rule.Min), assay.Thousands(n))
	case k.rule.Max > 0 && n > k.rule.Max:
		k.problem("thinking", fmt.Sprintf("write thinking: %d or less", k.rule.Max),
			"%s takes a thinking budget of at most %s tokens, not %s", k.name(), assay.Thousands(k.rule.Max), assay.Thousands(n))
	case k.rule.UnderMaxTokens && limit > 0 && n >= limit:
		k.problem("thinking", "raise max_tokens, or lower the budget", "a thinking budget of %s tokens leaves no room in max_tokens %s",
			assay.Thousands(n), assay.Thousands(limit))
	}
}

// thoughts refuses to ask for thoughts where there are none.
func (k *checker) thoughts() {
	f := k.found.Family
	if !k.p.Thoughts || f.Reasons == ReasonsUnknown || k.thinks() {
		return
	}
	k.problem("thoughts", "remove thoughts, or make it think", "%s has no thoughts to hand out in this lane: it does not think", k.name())
}

// thinkingHint returns how this lane can ask for thinking.
func (k *checker) thinkingHint() string {
	if k.rule == nil {
		if words := k.efforts(); len(words) > 0 && words[0] != "*" {
			return "write " + either("effort: ", words)
		}
		return "remove thinking"
	}
	var forms []string
	for _, m := range k.rule.Modes {
		switch m {
		case assay.ThinkingTokens:
			forms = append(forms, "a number of tokens")
		case assay.ThinkingLevel:
			forms = append(forms, k.rule.Levels...)
		default:
			forms = append(forms, string(m))
		}
	}
	if len(forms) == 0 {
		return "remove thinking"
	}
	return "write " + either("thinking: ", forms)
}

// written returns a wish for thinking as the study wrote it.
func written(t assay.Thinking) string {
	switch t.Mode {
	case assay.ThinkingTokens:
		return "budget"
	case assay.ThinkingLevel:
		return fmt.Sprintf("level %q", t.Level)
	}
	return string(t.Mode)
}
