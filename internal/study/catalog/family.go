package catalog

import (
	"math"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Family is a group of models that obey the same rules.
type Family struct {
	Name          string           `yaml:"name"`
	Title         string           `yaml:"title"`
	Match         []string         `yaml:"match"`      // patterns of names; the first family that matches wins
	NoAnswers     bool             `yaml:"no_answers"` // such as embedding models
	Reasons       Reasons          `yaml:"reasons"`
	Effort        []string         `yaml:"effort"` // the words it takes; "*": not checked
	EffortUnsure  []string         `yaml:"effort_unsure"`
	EffortDefault string           `yaml:"effort_default"`
	Thinking      *ThinkingRule    `yaml:"thinking"`
	Temperature   *Rule            `yaml:"temperature"`
	TopP          *Rule            `yaml:"top_p"`
	TopK          *Rule            `yaml:"top_k"`
	Exclusive     []string         `yaml:"exclusive"` // lane keys of which only one may be set
	Bars          []string         `yaml:"bars"`      // lane keys it refuses
	Schema        assay.SchemaWire `yaml:"schema"`
	Developer     bool             `yaml:"developer"`  // calls the system role "developer", where the vendor does
	MaxTokens     int              `yaml:"max_tokens"` // what is sent where the API demands a limit and the lane sets none
	Thoughts      int              `yaml:"thoughts"`   // expected tokens of reasoning at medium effort
	Tokens        float64          `yaml:"tokens"`     // tokens for one token of o200k
	Date          Date             `yaml:"date"`
	Source        string           `yaml:"source"`
}

// Reasons is when a model thinks before it answers.
type Reasons string

// When models think.
const (
	ReasonsUnknown Reasons = ""
	ReasonsAlways  Reasons = "always"
	ReasonsDefault Reasons = "default" // unless asked not to
	ReasonsAsked   Reasons = "asked"   // only when asked to
	ReasonsNever   Reasons = "never"
)

// Rule is when a number may be set, and between which bounds.
type Rule struct {
	Allow    Allow `yaml:"allow"`
	Bounds   `yaml:",inline"`
	Thinking *Bounds  `yaml:"thinking"` // while the model reasons; nil: the same
	Advise   *float64 `yaml:"advise"`   // the vendor advises against any other value
}

// Allow is when a parameter may be set at all.
type Allow string

// When parameters may be set.
const (
	AllowAlways Allow = ""
	AllowNever  Allow = "never"
	AllowQuiet  Allow = "quiet" // only while the model does not reason
)

// Bounds hold a number; a missing bound holds nothing.
type Bounds struct {
	Min *float64 `yaml:"min"`
	Max *float64 `yaml:"max"`
}

// ThinkingRule lists the forms in which a model can be asked to think.
type ThinkingRule struct {
	Wire           assay.ThinkingWire   `yaml:"wire"`
	TokensWire     assay.ThinkingWire   `yaml:"tokens_wire"` // how a budget is written, where that differs
	Modes          []assay.ThinkingMode `yaml:"modes"`
	Min            int                  `yaml:"min"` // of a budget
	Max            int                  `yaml:"max"`
	UnderMaxTokens bool                 `yaml:"under_max_tokens"` // a budget must be smaller than max_tokens
	Levels         []string             `yaml:"levels"`
	OffBars        []string             `yaml:"off_bars"` // efforts that cannot go with thinking off
}

// Families lists the families in the order in which they are matched.
func (c *Catalog) Families() []Family { return slices.Clone(c.families) }

// family finds a family by its name.
func (c *Catalog) family(name string) (Family, bool) {
	i := slices.IndexFunc(c.families, func(f Family) bool { return f.Name == name })
	if i < 0 {
		return Family{}, false
	}
	return c.families[i], true
}

// familyOf returns the nearest family to a model that has no row: the first whose pattern matches, else the vendor's
// fallback.
func (c *Catalog) familyOf(v Vendor, model string) Family {
	name := v.plainName(model)
	for _, f := range c.families {
		if slices.ContainsFunc(f.Match, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
			return f
		}
	}
	f, _ := c.family(v.Fallback)
	return f
}

// plainName returns a model's name as patterns see it, whatever this vendor writes in front of it.
func (v Vendor) plainName(model string) string {
	name := bareName(model)
	if v.NameDots {
		name = afterDots(name)
	}
	return name
}

// bareName returns a model's name as patterns see it: lower case, no snapshot, nothing in front of the last slash, the
// base of a fine-tuned model.
func bareName(model string) string {
	name := strings.ToLower(model)
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _ = cutSnapshot(name)
	return name
}

// afterDots returns a name without the words before it that end in a dot: us.maker.model-1.5 is model-1.5.
func afterDots(name string) string {
	for {
		word, rest, ok := strings.Cut(name, ".")
		if !ok || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return name
		}
		name = rest
	}
}

// thinks reports whether a lane with these parameters makes the model reason. Where the catalogue does not know, it is
// false.
func (f Family) thinks(p assay.Params) bool {
	switch {
	case f.Reasons == ReasonsNever:
		return false
	case f.Reasons == ReasonsAlways:
		return true
	case p.Thinking.Enabled():
		return true
	case p.Thinking.Mode == assay.ThinkingOff, p.Effort == "none":
		return false
	case f.Reasons == ReasonsDefault:
		return true
	}
	return p.Effort != "" && f.Thinking == nil // where thinking is a switch of its own, effort alone does not turn it on
}

// holds reports whether a number keeps the bounds.
func (b Bounds) holds(x float64) bool {
	return (b.Min == nil || x >= *b.Min) && (b.Max == nil || x <= *b.Max)
}

// guesses are the figures behind estimates of output; see data/output.yaml.
type guesses struct {
	Plain         guess              `yaml:"plain"`
	Schema        guess              `yaml:"schema"`
	AssumedLimit  int                `yaml:"assumed_limit"`
	LowOfExpected float64            `yaml:"low_of_expected"`
	BudgetShare   float64            `yaml:"budget_share"`
	Reserve       float64            `yaml:"reserve"`
	LeastThinking int                `yaml:"least_thinking"`
	Efforts       map[string]float64 `yaml:"efforts"`
	Date          Date               `yaml:"date"`
	Source        string             `yaml:"source"`
}

type guess struct {
	Low      int `yaml:"low"`
	Expected int `yaml:"expected"`
}

// OutputGuess estimates the output tokens of one request before anything is observed. High is the output limit: the
// lane's, else the model's, else an assumed one.
func (c *Catalog) OutputGuess(lane assay.Lane, vendor string) (low, expected, high int) {
	answer := c.guesses.Plain
	if c.Effective(lane, vendor).Schema != nil {
		answer = c.guesses.Schema
	}
	return c.OutputOf(lane, vendor, answer.Low, answer.Expected)
}

// OutputOf is OutputGuess for an answer whose length is known by itself, thoughts aside: the least and the expected.
func (c *Catalog) OutputOf(lane assay.Lane, vendor string, least, usual int) (low, expected, high int) {
	found := c.Find(vendor, lane.Model)
	if v, _ := c.Vendor(vendor); slices.Contains(v.Data, lane.API) {
		return 0, 0, 0 // only what goes in is counted
	}
	p := c.Effective(lane, vendor)
	high = p.MaxTokens
	if high <= 0 {
		high = found.Model.MaxOut
	}
	if high <= 0 {
		high = c.guesses.AssumedLimit
	}
	expected, low = usual, least
	if thoughts := c.thoughtGuess(found.Family, p); thoughts > 0 {
		expected += thoughts
		low += int(float64(thoughts) * c.guesses.LowOfExpected)
	}
	expected = min(expected, high)
	return min(low, expected), expected, high
}

// Careful returns the output tokens that are reserved for one request before anything is observed: more than are expected.
func (c *Catalog) Careful(expected, high int) int {
	return min(int(float64(expected)*c.guesses.Reserve), high)
}

// thoughtGuess estimates the tokens spent on thinking: a share of the budget, or what the family takes at its effort.
func (c *Catalog) thoughtGuess(f Family, p assay.Params) int {
	if !f.thinks(p) {
		return 0
	}
	if p.Thinking.Mode == assay.ThinkingTokens {
		return int(math.Min(float64(p.Thinking.Tokens)*c.guesses.BudgetShare, math.MaxInt32))
	}
	return int(float64(f.Thoughts) * c.effortFactor(f, p))
}

// leastThinking returns the least output limit that leaves a model that thinks something for its answer.
func (c *Catalog) leastThinking(f Family, p assay.Params) int {
	return int(float64(c.guesses.LeastThinking) * c.effortFactor(f, p))
}

// effortFactor returns how much more or less than at medium effort a model thinks.
func (c *Catalog) effortFactor(f Family, p assay.Params) float64 {
	for _, word := range []string{p.Effort, p.Thinking.Level, f.EffortDefault} {
		if factor, ok := c.guesses.Efforts[word]; ok {
			return factor
		}
	}
	return 1
}

// CountsTokens reports whether a model is known to count tokens by o200k, as we do.
func (c *Catalog) CountsTokens(vendor, model string) bool {
	return c.Find(vendor, model).Family.Tokens == 1
}

// TokenFactor returns how many tokens a model counts for one token of o200k: an estimate, 1 for OpenAI's own models.
func (c *Catalog) TokenFactor(vendor, model string) float64 {
	if f := c.Find(vendor, model).Family; f.Tokens > 0 {
		return f.Tokens
	}
	return 1
}
