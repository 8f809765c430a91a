package dialect

import (
	"strconv"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// reasoning is the way a provider counts reasoning tokens.
type reasoning int

const (
	reasoningWithin reasoning = iota // among the output tokens
	reasoningApart                   // beside them
)

// maxTokenCount is where a count stops being one: no reply consumes a trillion tokens.
const maxTokenCount = 1_000_000_000_000

// counts reads the token counts of one reply and remembers whether they make sense.
type counts struct{ bad bool }

// of returns a count that may be missing.
func (c *counts) of(v jsontext.Value) int64 {
	n, _ := c.read(v)
	return n
}

// need returns a count without which the others mean nothing.
func (c *counts) need(v jsontext.Value) int64 {
	n, ok := c.read(v)
	c.bad = c.bad || !ok
	return n
}

// read takes a whole number, also one in quotes or with a decimal point. ok is false if there is none.
func (c *counts) read(v jsontext.Value) (n int64, ok bool) {
	switch v.Kind() {
	case 0, jsontext.Null:
		return 0, false
	case jsontext.Number, jsontext.Text:
	default:
		c.bad = true
		return 0, true
	}
	n, ok = wholeNumber(v.Source())
	c.bad = c.bad || !ok
	return n, true
}

// wholeNumber is false for what cannot be a count of tokens.
func wholeNumber(source []byte) (int64, bool) {
	const plainDigits = 12
	var n int64
	for i, c := range source {
		if c < '0' || c > '9' || i == plainDigits {
			f, err := strconv.ParseFloat(string(cut(source, maxCode)), 64)
			n = int64(max(0, min(f, maxTokenCount+1)))
			return n, err == nil && f == float64(n) && f <= maxTokenCount
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(source) > 0
}

// known is u, or the zero usage where its counts cannot be.
func (c *counts) known(u assay.Usage) assay.Usage {
	if c.bad || u.Cached+u.Written() > u.Input || u.Reasoning > u.Output {
		return assay.Usage{}
	}
	u.Known = true
	return u
}

// openUsage reads OpenAI's usage, in chat's words or in those of responses, and its relatives: DeepSeek names its cache
// hits otherwise, Moonshot counts them at the top, xAI leaves reasoning out of the output.
func openUsage(v jsontext.Value, r reasoning) assay.Usage {
	var c counts
	var u assay.Usage
	var input, output jsontext.Value
	var total int64
	for name, n := range v.Members() {
		switch string(name) {
		case "prompt_tokens", "input_tokens":
			input = n
		case "completion_tokens", "output_tokens":
			output = n
		case "total_tokens":
			total = c.of(n)
		case "prompt_cache_hit_tokens", "cached_tokens":
			u.Cached = max(u.Cached, c.of(n))
		case "reasoning_tokens":
			u.Reasoning = max(u.Reasoning, c.of(n))
		case "prompt_tokens_details", "input_tokens_details":
			u.Cached = max(u.Cached, c.of(n.Get("cached_tokens")))
			u.CacheWrite5m = c.of(n.Get("cache_write_tokens"))
		case "num_server_side_tools_used", "server_side_tools_used": // xAI: whatever they are, they cost no more than a search
			u.Tools.Searches = c.of(n)
		case "completion_tokens_details", "output_tokens_details":
			u.Reasoning = max(u.Reasoning, c.of(n.Get("reasoning_tokens")))
		}
	}
	u.Input, u.Output = c.need(input), c.need(output)
	return c.known(withReasoning(u, total, r))
}

// withReasoning adds reasoning to the output if it is counted beside it. The reply's own total decides; without one
// the wire's setting does, and a reasoning larger than the output it should be part of.
func withReasoning(u assay.Usage, total int64, r reasoning) assay.Usage {
	apart := r == reasoningApart || u.Reasoning > u.Output
	switch total {
	case u.Input + u.Output:
		apart = u.Reasoning > u.Output
	case u.Input + u.Output + u.Reasoning:
		apart = true
	}
	if apart {
		u.Output += u.Reasoning
	}
	return u
}

// messagesUsage reads Anthropic's usage, whose input leaves out what was read from the cache or written to it.
func messagesUsage(v jsontext.Value) assay.Usage {
	var c counts
	fresh := c.need(v.Get("input_tokens"))
	written := c.of(v.Get("cache_creation_input_tokens"))
	u := assay.Usage{
		Cached:       c.of(v.Get("cache_read_input_tokens")),
		CacheWrite5m: c.of(v.Get("cache_creation").Get("ephemeral_5m_input_tokens")),
		CacheWrite1h: c.of(v.Get("cache_creation").Get("ephemeral_1h_input_tokens")),
		Output:       c.need(v.Get("output_tokens")),
		Reasoning:    c.of(v.Get("output_tokens_details").Get("thinking_tokens")),
		Tools:        assay.ToolCalls{Searches: c.of(v.Get("server_tool_use").Get("web_search_requests"))},
	}
	if rest := written - u.CacheWrite5m - u.CacheWrite1h; rest > 0 {
		u.CacheWrite5m += rest // given without its lifetime: the shorter is the default
	}
	u.Input = fresh + u.Cached + u.CacheWrite5m + u.CacheWrite1h
	return c.known(u)
}

// generateUsage reads Gemini's usage, which leaves zero counts out and thoughts beside the candidates.
func generateUsage(v jsontext.Value) assay.Usage {
	var c counts
	thoughts := c.of(v.Get("thoughtsTokenCount"))
	u := assay.Usage{
		Input:     c.need(v.Get("promptTokenCount")) + c.of(v.Get("toolUsePromptTokenCount")),
		Cached:    c.of(v.Get("cachedContentTokenCount")),
		Output:    c.of(v.Get("candidatesTokenCount")) + thoughts,
		Reasoning: thoughts,
	}
	return c.known(u)
}

func ollamaUsage(v jsontext.Value) assay.Usage {
	var c counts
	return c.known(assay.Usage{Input: c.need(v.Get("prompt_eval_count")), Output: c.need(v.Get("eval_count"))})
}
