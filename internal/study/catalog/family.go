package catalog

import (
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
	Share         float64          `yaml:"share"`      // expected output as a share of max_tokens, while reasoning
	Tokens        float64          `yaml:"tokens"`     // tokens for one token of o200k
	Date          Date             `yaml:"date"`
	Source        string           `yaml:"source"`
}

// Reasons says when a model thinks before it answers.
type Reasons string

// When models think.
const (
	ReasonsUnknown Reasons = ""
	ReasonsAlways  Reasons = "always"
	ReasonsDefault Reasons = "default" // unless asked not to
	ReasonsAsked   Reasons = "asked"   // only when asked to
	ReasonsNever   Reasons = "never"
)

// Rule says when a number may be set, and between which bounds.
type Rule struct {
	Allow    Allow `yaml:"allow"`
	Bounds   `yaml:",inline"`
	Thinking *Bounds  `yaml:"thinking"` // while the model reasons; nil: the same
	Advise   *float64 `yaml:"advise"`   // the vendor advises against any other value
}

// Allow says when a parameter may be set at all.
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

// ThinkingRule says in which forms a model can be asked to think.
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

// familyOf is the nearest family to a model that has no row: the first whose pattern matches, else the vendor's fallback.
func (c *Catalog) familyOf(v Vendor, model string) Family {
	name := bareName(model)
	if v.NameDots {
		name = afterDots(name)
	}
	for _, f := range c.families {
		if slices.ContainsFunc(f.Match, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
			return f
		}
	}
	f, _ := c.family(v.Fallback)
	return f
}

// bareName is a model's name as patterns see it: lower case, no snapshot, nothing in front of the last slash, the base
// of a fine-tuned model.
func bareName(model string) string {
	name := strings.ToLower(model)
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _ = cutSnapshot(name)
	return name
}

// afterDots is a name without the words before it that end in a dot: us.maker.model-1.5 is model-1.5.
func afterDots(name string) string {
	for {
		word, rest, ok := strings.Cut(name, ".")
		if !ok || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return name
		}
		name = rest
	}
}

// thinks reports whether a lane with these parameters makes the model reason. Where the catalogue does not know, it says no.
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
