package catalog

import (
	"math"

	"assay/internal/assay"
)

// guesses are the figures behind estimates of output; see data/output.yaml.
type guesses struct {
	Plain         guess              `yaml:"plain"`
	Schema        guess              `yaml:"schema"`
	AssumedLimit  int                `yaml:"assumed_limit"`
	LowOfExpected float64            `yaml:"low_of_expected"`
	BudgetShare   float64            `yaml:"budget_share"`
	LeastThinking int                `yaml:"least_thinking"`
	Efforts       map[string]float64 `yaml:"efforts"`
	Date          Date               `yaml:"date"`
	Source        string             `yaml:"source"`
}

type guess struct {
	Low      int `yaml:"low"`
	Expected int `yaml:"expected"`
}

// OutputGuess estimates the output tokens of one request before anything is observed. High is the output limit: the lane's,
// else the model's, else an assumed one.
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

// thoughtGuess estimates the tokens spent on thinking: a share of the budget, or of the output limit.
func (c *Catalog) thoughtGuess(f Family, p assay.Params) int {
	if !f.thinks(p) {
		return 0
	}
	if p.Thinking.Mode == assay.ThinkingTokens {
		return int(math.Min(float64(p.Thinking.Tokens)*c.guesses.BudgetShare, math.MaxInt32))
	}
	limit := p.MaxTokens
	if limit <= 0 {
		limit = c.guesses.AssumedLimit
	}
	return int(math.Min(float64(limit)*f.Share*c.effortFactor(f, p), math.MaxInt32))
}

// leastThinking is the least output limit that leaves a model that thinks something for its answer.
func (c *Catalog) leastThinking(f Family, p assay.Params) int {
	return int(float64(c.guesses.LeastThinking) * c.effortFactor(f, p))
}

// effortFactor is how much more or less than at medium effort a model thinks.
func (c *Catalog) effortFactor(f Family, p assay.Params) float64 {
	for _, word := range []string{p.Effort, p.Thinking.Level, f.EffortDefault} {
		if factor, ok := c.guesses.Efforts[word]; ok {
			return factor
		}
	}
	return 1
}

// TokenFactor is how many tokens a model counts for one token of o200k: an estimate, 1 for OpenAI's own models.
func (c *Catalog) TokenFactor(vendor, model string) float64 {
	if f := c.Find(vendor, model).Family; f.Tokens > 0 {
		return f.Tokens
	}
	return 1
}
