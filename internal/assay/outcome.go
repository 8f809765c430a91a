package assay

import "strings"

// Ending is the kind of an outcome: how one attempt ended.
type Ending string

// The endings. Answered, cut and refused carry the model's reply and are final; the others may be tried again by the
// rules of the engine.
const (
	Answered  Ending = "answered"  // a whole answer
	Cut       Ending = "cut"       // stopped by the output limit, with text
	Empty     Ending = "empty"     // billed, no text (thinking used up the output limit, for example)
	Refused   Ending = "refused"   // the model or the provider's filter declined
	Rejected  Ending = "rejected"  // the provider found the request invalid
	Errored   Ending = "errored"   // the provider failed on it, or its reply cannot be read
	Expired   Ending = "expired"   // the batch ran out of time before it
	Cancelled Ending = "cancelled" // the batch was cancelled before it
	Lost      Ending = "lost"      // the provider never returned a result for it
)

// Endings lists every ending, in the order tables show them.
func Endings() []Ending {
	return []Ending{Answered, Cut, Empty, Refused, Rejected, Errored, Expired, Cancelled, Lost}
}

// Stands reports whether an outcome of this ending is never replaced by a later attempt.
func (e Ending) Stands() bool { return e == Answered || e == Cut || e == Refused }

// Outcome is how one attempt ended, and what came back.
type Outcome struct {
	Ending    Ending
	Text      string     // the answer alone
	Thoughts  string     // kept apart, never part of the answer
	Calls     []ToolCall `json:",omitempty"` // tools that the model wants called, in its order; with them an answer may have no text
	Likely    []Likely   `json:",omitempty"` // where log probabilities were asked for: what the answer might have begun with
	Finish    string     // the provider's own word for why it stopped
	Usage     Usage
	Model     string // the model that answered, as the reply names it
	RequestID string // the provider's id of this answer
	Tier      string // the service tier that was used, as the reply names it
	Fault     *Fault // why there is no answer; nil with an answer
}

// Likely is a token that an answer began with, or might have, and the natural logarithm of its probability.
type Likely struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Usage is the consumption that a reply reports. The zero value means that it reported none, which is not the same as
// 0.
type Usage struct {
	Known        bool
	Input        int64     // all prompt tokens: fresh, cached and written to the cache
	Cached       int64     // of Input: read from the cache
	CacheWrite5m int64     // of Input: written to the cache for minutes
	CacheWrite1h int64     // of Input: written to the cache for an hour
	Output       int64     // all billed output tokens, reasoning included
	Reasoning    int64     // of Output: spent on thinking
	Tools        ToolCalls `json:",omitzero"`
}

// ToolCalls are calls of tools that a provider ran for an answer and bills beside tokens.
type ToolCalls struct {
	Searches int64 `json:"searches,omitempty"` // of the web
	Lookups  int64 `json:"lookups,omitempty"`  // in files and collections
	Code     int64 `json:"code,omitempty"`     // containers in which code ran
	Other    int64 `json:"other,omitempty"`    // of what is billed in another way, or as often as nobody tells
}

// Expected returns the calls that are expected where these are the most: one of each kind.
func (t ToolCalls) Expected() ToolCalls {
	return ToolCalls{Searches: min(t.Searches, 1), Lookups: min(t.Lookups, 1), Code: min(t.Code, 1), Other: min(t.Other, 1)}
}

// Words tells which tools a provider ran; empty: none.
func (t ToolCalls) Words() string {
	var out []string
	for _, c := range []struct {
		n    int64
		one  string
		many string
	}{{t.Searches, "1 web search", "web searches"}, {t.Lookups, "1 file search", "file searches"},
		{t.Code, "code ran", "containers of code"}, {t.Other, "further tools ran", "further calls of tools"}} {
		switch {
		case c.n == 1:
			out = append(out, c.one)
		case c.n > 1:
			out = append(out, Thousands(c.n)+" "+c.many)
		}
	}
	return strings.Join(out, ", ")
}

// Written returns the tokens that were written to a cache.
func (u Usage) Written() int64 { return u.CacheWrite5m + u.CacheWrite1h }

// TokensText formats a sum of tokens: "unknown" if no reply reported its tokens, "at least" where some did not.
func TokensText(sum, unknown int64) string {
	switch {
	case unknown == 0:
		return Thousands(sum)
	case sum == 0:
		return "unknown"
	}
	return "at least " + Thousands(sum)
}

// KnownTokens returns a sum of tokens for programs: nil if no reply reported its tokens.
func KnownTokens(sum, unknown int64) *int64 {
	if unknown > 0 && sum == 0 {
		return nil
	}
	return &sum
}

// Add sums two usages; the sum is known only when both are.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Known:        u.Known && v.Known,
		Input:        u.Input + v.Input,
		Cached:       u.Cached + v.Cached,
		CacheWrite5m: u.CacheWrite5m + v.CacheWrite5m,
		CacheWrite1h: u.CacheWrite1h + v.CacheWrite1h,
		Output:       u.Output + v.Output,
		Reasoning:    u.Reasoning + v.Reasoning,
		Tools: ToolCalls{Searches: u.Tools.Searches + v.Tools.Searches, Lookups: u.Tools.Lookups + v.Tools.Lookups,
			Code: u.Tools.Code + v.Tools.Code, Other: u.Tools.Other + v.Tools.Other},
	}
}
