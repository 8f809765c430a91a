package catalog

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
)

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

// efforts are the words that both the family and the vendor know.
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
		k.problem("thinking", fmt.Sprintf("write thinking: %d or more", k.rule.Min), "%s takes a thinking budget of at least %s tokens, not %s", k.name(), assay.Thousands(k.rule.Min), assay.Thousands(n))
	case k.rule.Max > 0 && n > k.rule.Max:
		k.problem("thinking", fmt.Sprintf("write thinking: %d or less", k.rule.Max), "%s takes a thinking budget of at most %s tokens, not %s", k.name(), assay.Thousands(k.rule.Max), assay.Thousands(n))
	case k.rule.UnderMaxTokens && limit > 0 && n >= limit:
		k.problem("thinking", "raise max_tokens, or lower the budget", "a thinking budget of %s tokens leaves no room in max_tokens %s", assay.Thousands(n), assay.Thousands(limit))
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

// thinkingHint says how this lane can ask for thinking.
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

// written is a wish for thinking as the study wrote it.
func written(t assay.Thinking) string {
	switch t.Mode {
	case assay.ThinkingTokens:
		return "budget"
	case assay.ThinkingLevel:
		return fmt.Sprintf("level %q", t.Level)
	}
	return string(t.Mode)
}
