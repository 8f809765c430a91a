package bodies

import (
	"cmp"
	"strings"

	"assay/internal/simulator/dice"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Messages is the dialect of Anthropic's messages.
type Messages struct {
	Version string
	Betas   string // of the call
}

// Read takes a body apart.
func (d Messages) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{writes: true, Question: minds.Question{
		Vendor: rd.Vendor, Model: cmp.Or(rd.Model, stringOf(b, "model")), MaxTokens: b.GetInt("max_tokens"),
		Stop: stringsOf(b.Get("stop_sequences")), Tier: stringOf(b, "service_tier"),
	}}
	q.mayUse(b.GetArray("tools"), 0)
	q.toolBlocks(b)
	sees := &viewer{rd: rd, q: &q}
	marks := &markReader{q: &q, sees: sees, least: rules.ParseClaude(q.Model).LeastCached()}
	marks.blocks(b.Get("system"), func(text string) { q.addMessage("system", text) })
	msgs := b.GetArray("messages")
	role := ""
	for i, m := range msgs {
		role = stringOf(m, "role")
		if role != "user" && role != "assistant" {
			return q, rules.Invalid("", "", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		text := ""
		marks.blocks(m.Get("content"), func(t string) { text += t })
		q.ToldBack = resultOf(m.Get("content"))
		q.addMessage(role, text)
	}
	if b.Get("cache_control") != nil {
		marks.mark(b.Get("cache_control"))
	}
	switch {
	case len(msgs) == 0:
		return q, rules.Invalid("", "", "messages: at least one message is required")
	case b.Get("max_tokens") == nil:
		return q, rules.Invalid("", "", "max_tokens: Field required")
	case q.MaxTokens < 1:
		return q, rules.Invalid("", "", "max_tokens: Input should be greater than or equal to 1")
	case rd.Batch && b.GetBool("stream"):
		return q, rules.Invalid("", "", "stream: streaming is not supported in message batches")
	case rd.Batch && b.Get("speed") != nil:
		return q, rules.Invalid("", "", "speed: not supported in message batches")
	}
	a := rules.Asked{
		API: "messages", Model: q.Model, Temperature: floatOf(b, "temperature"), TopP: floatOf(b, "top_p"), TopK: intOf(b, "top_k"),
		MaxTokens: q.MaxTokens, MaxField: "max_tokens", Effort: stringOf(b, "output_config", "effort"), Prefill: role == "assistant",
		Thinking: stringOf(b, "thinking", "type"), Budget: b.GetInt("thinking", "budget_tokens"), Version: d.Version,
	}
	if rd.Batch && strings.Contains(d.Betas, "output-300k-2026-03-24") {
		a.Longer = 300_000
	}
	c := rules.ParseClaude(q.Model)
	q.Effort, q.Budget = a.Effort, a.Budget
	q.Thinks = a.Thinking == "enabled" || a.Thinking == "adaptive" || a.Thinking == "" && c.Since(4, 7)
	q.Thoughts = q.Thinks && a.Thinking != "" && stringOf(b, "thinking", "display") != "omitted"
	if stringOf(b, "output_config", "format", "type") == "json_schema" {
		q.Schema = schemaOf(b.Get("output_config", "format", "schema"))
	}
	return q, cmp.Or(rd.check(a), sees.end(), forcing(&q, a.Thinking == "enabled"))
}

// resultOf reports whether a message gives back what a tool said.
func resultOf(content *fastjson.Value) bool {
	for _, b := range content.GetArray() {
		if stringOf(b, "type") == "tool_result" {
			return true
		}
	}
	return false
}

// markReader walks the blocks of a prompt and keeps the prefixes that end in a cache mark.
type markReader struct {
	q     *Request
	sees  *viewer
	least int
	hash  uint64
	bytes int

	looked int // things that were fed
}

func (m *markReader) blocks(v *fastjson.Value, say func(string)) {
	if v == nil {
		return
	}
	if v.Type() == fastjson.TypeString {
		text := string(v.GetStringBytes())
		m.feed(text)
		say(text)
		return
	}
	for _, b := range v.GetArray() {
		text := stringOf(b, "text") + m.sees.block(b)
		m.feed(text)
		m.look()
		say(text)
		if cc := b.Get("cache_control"); cc != nil {
			m.mark(cc)
		}
	}
}

// look feeds what was shown since the last look.
func (m *markReader) look() {
	for ; m.looked < len(m.q.Shown); m.looked++ {
		t := &m.q.Shown[m.looked]
		m.hash = dice.Hash(m.hash, t.Sum)
		m.bytes += 4 * t.Tokens(m.q.Model)
	}
}

func (m *markReader) feed(text string) {
	m.hash = dice.Hash(m.hash, text)
	m.bytes += len(text)
}

func (m *markReader) mark(control *fastjson.Value) {
	if n := tokens(m.bytes); n >= m.least {
		m.q.Marks = append(m.q.Marks, Mark{Hash: dice.Hash(m.hash, m.q.Model), tokens: n, hour: stringOf(control, "ttl") == "1h"})
	}
}

// Write appends the body of a reply.
func (d Messages) Write(dst []byte, q *Request, r *Reply) []byte {
	out := messagesReply{
		ID: "msg_01" + dice.Letters(dice.Base62, 22)(r.id), Type: "message", Role: "assistant", Model: q.Model, Content: []any{},
		StopReason: "end_turn",
	}
	if q.Thinks && (r.Thoughts != "" || !r.Refused) {
		out.Content = append(out.Content,
			map[string]any{"type": "thinking", "thinking": r.Thoughts, "signature": dice.Letters(dice.Base62, 64)(r.id)})
	}
	out.Content = append(out.Content, searchBlocks(r)...)
	if r.Text != "" || !r.cut && len(r.Calls) == 0 {
		out.Content = append(out.Content, textBlocks(r)...)
	}
	for i, call := range r.Calls {
		out.Content = append(out.Content, map[string]any{"type": "tool_use", "id": callID(r, i), "name": call.Name,
			"input": call.Arguments})
		out.StopReason = "tool_use"
	}
	switch {
	case r.Refused:
		out.StopReason = "refusal"
		out.StopDetails = map[string]any{"type": "refusal", "category": nil, "explanation": nil}
	case r.cut:
		out.StopReason = "max_tokens"
	case r.stop != "":
		out.StopReason, out.StopSequence = "stop_sequence", r.stop
	}
	u := r.Usage
	out.Usage = messagesUsage{
		Input: u.Input - u.Cached - u.Write5m - u.Write1h, CacheCreated: u.Write5m + u.Write1h, CacheRead: u.Cached, Output: u.Output,
		Tier: "standard", Geo: "not_available", Details: map[string]int{"thinking_tokens": u.Reasoning},
		Creation: map[string]int{"ephemeral_5m_input_tokens": u.Write5m, "ephemeral_1h_input_tokens": u.Write1h},
	}
	if u.Searches > 0 {
		out.Usage.ServerTools = map[string]int{"web_search_requests": u.Searches, "web_fetch_requests": 0}
	}
	if q.Batch {
		out.Usage.Tier = "batch"
	}
	return AppendJSON(dst, out)
}

// anyRules take every parameter.
type anyRules struct{}

func (anyRules) Check(rules.Asked) *rules.Rejection { return nil }

type messagesReply struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []any         `json:"content"`
	Container    any           `json:"container"`
	Diagnostics  any           `json:"diagnostics"`
	StopReason   string        `json:"stop_reason"`
	StopSequence any           `json:"stop_sequence"`
	StopDetails  any           `json:"stop_details"`
	Usage        messagesUsage `json:"usage"`
}

type messagesUsage struct {
	Input        int            `json:"input_tokens"`
	CacheCreated int            `json:"cache_creation_input_tokens"`
	CacheRead    int            `json:"cache_read_input_tokens"`
	Creation     map[string]int `json:"cache_creation"`
	Output       int            `json:"output_tokens"`
	Details      map[string]int `json:"output_tokens_details"`
	ServerTools  any            `json:"server_tool_use"`
	Tier         string         `json:"service_tier"`
	Geo          string         `json:"inference_geo"`
	Speed        any            `json:"speed"`
}

// CountTokens counts the tokens of the prompt in a body, whatever its parameters.
func (d Messages) CountTokens(raw []byte) (int, *rules.Rejection) {
	b, err := fastjson.ParseBytes(raw)
	if err != nil {
		return 0, rules.Invalid("", "", "The request body is not valid JSON: %s", err)
	}
	b.Set("max_tokens", fastjson.MustParse("1"))
	q, rej := d.Read(Reading{Rules: anyRules{}}, b)
	return PromptTokens(&q), rej
}
