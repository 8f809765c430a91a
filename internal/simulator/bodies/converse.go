package bodies

import (
	"cmp"
	"strings"

	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Converse is the dialect of Bedrock's Converse.
type Converse struct{}

// Read takes a body apart.
func (d Converse) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: rd.Model, Tier: stringOf(b, "serviceTier", "type")}}
	for _, s := range b.GetArray("system") {
		q.addMessage("system", stringOf(s, "text"))
	}
	msgs := b.GetArray("messages")
	sees := &viewer{rd: rd, q: &q}
	role := ""
	for i, m := range msgs {
		role = stringOf(m, "role")
		if role != "user" && role != "assistant" {
			return q, rules.Invalid("", "", "messages.%d.role: Value must be one of [user, assistant]", i)
		}
		content := m.GetArray("content")
		if len(content) == 0 {
			return q, rules.Invalid("", "", "The content field in the Message object at messages.%d is empty. Add a ContentBlock object "+
				"to the content field and try again.", i)
		}
		text := ""
		for _, block := range content {
			text += stringOf(block, "text")
		}
		q.addMessage(role, text)
		sees.converseBlocks(content)
		q.ToldBack = false
		for _, block := range content {
			q.ToldBack = q.ToldBack || block.Get("toolResult") != nil
		}
	}
	q.specs(b)
	switch {
	case len(msgs) == 0:
		return q,
			rules.Invalid("", "", "A conversation must start with a user message. Try again with a conversation that starts with a user "+
				"message.")
	case rd.Batch && b.Get("toolConfig") != nil:
		return q, rules.Invalid("", "", "toolConfig is not supported in batch inference with Converse")
	}
	if rej := d.config(&q, b); rej != nil {
		return q, rej
	}
	a := d.asked(&q, b, role == "assistant")
	return q, cmp.Or(rd.check(a), sees.end(), forcing(&q, a.Thinking == "enabled"))
}

func (d Converse) config(q *Request, b *fastjson.Value) *rules.Rejection {
	c := b.Get("inferenceConfig")
	if c != nil {
		q.MaxTokens, q.Stop = c.GetInt("maxTokens"), stringsOf(c.Get("stopSequences"))
		if c.Get("maxTokens") != nil && q.MaxTokens < 1 {
			return rules.Invalid("", "", "inferenceConfig.maxTokens: Member must have value greater than or equal to 1")
		}
		for _, name := range []string{"temperature", "topP"} {
			if f := floatOf(c, name); f != nil && (*f < 0 || *f > 1) {
				return rules.Invalid("", "", "inferenceConfig.%s: Member must have value between 0 and 1", name)
			}
		}
	}
	format := b.Get("outputConfig", "textFormat")
	if format == nil {
		return nil
	}
	schema := format.Get("structure", "jsonSchema", "schema")
	if stringOf(format, "type") != "json_schema" || schema == nil || schema.Type() != fastjson.TypeString {
		return rules.Invalid("", "", "outputConfig.textFormat: the schema must be a string")
	}
	v, err := fastjson.Parse(string(schema.GetStringBytes()))
	if err != nil {
		return rules.Invalid("", "", "outputConfig.textFormat: the schema is not valid JSON")
	}
	q.Schema = schemaOf(v)
	return nil
}

// asked returns the model's own vendor's rejection of the parameters.
func (d Converse) asked(q *Request, b *fastjson.Value, prefill bool) rules.Asked {
	a := rules.Asked{
		API: "converse", Model: q.Model, Temperature: floatOf(b, "inferenceConfig", "temperature"), TopP: floatOf(b, "inferenceConfig",
			"topP"), TopK: intOf(b, "additionalModelRequestFields", "top_k"), MaxTokens: q.MaxTokens, MaxField: "maxTokens",
		Effort: stringOf(b, "outputConfig", "effort"), Thinking: stringOf(b, "additionalModelRequestFields", "thinking", "type"),
		Budget: b.GetInt("additionalModelRequestFields", "thinking", "budget_tokens"), Prefill: prefill,
	}
	if at := strings.Index(q.Model, "claude-"); at >= 0 {
		a.API, a.Model = "messages", q.Model[at:]
		q.Thinks = a.Thinking == "enabled" || a.Thinking == "adaptive" || a.Thinking == "" && rules.ParseClaude(a.Model).Since(4, 7)
		q.Thoughts = q.Thinks && a.Thinking != "" && stringOf(b, "additionalModelRequestFields", "thinking", "display") != "omitted"
	}
	q.Effort, q.Budget = a.Effort, a.Budget
	return a
}

// Write appends the body of a reply.
func (d Converse) Write(dst []byte, q *Request, r *Reply) []byte {
	var out converseReply
	out.Output.Message.Role, out.Output.Message.Content, out.StopReason = "assistant", []any{}, "end_turn"
	if r.Thoughts != "" {
		out.add(map[string]any{"reasoningContent": map[string]any{"reasoningText": map[string]any{"text": r.Thoughts, "signature": "sim"}}})
	}
	if r.Text != "" {
		out.add(map[string]any{"text": r.Text})
	}
	for i, call := range r.Calls {
		out.add(map[string]any{"toolUse": map[string]any{"toolUseId": callID(r, i), "name": call.Name, "input": call.Arguments}})
		out.StopReason = "tool_use"
	}
	switch {
	case r.Refused:
		out.StopReason = "content_filtered"
	case r.cut:
		out.StopReason = "max_tokens"
	case r.stop != "":
		out.StopReason = "stop_sequence"
	}
	u := r.Usage
	fresh := u.Input - u.Cached - u.Write5m - u.Write1h
	out.Usage = map[string]any{
		"inputTokens": fresh, "outputTokens": u.Output, "totalTokens": u.Input + u.Output,
		"cacheReadInputTokens": u.Cached, "cacheWriteInputTokens": u.Write5m + u.Write1h,
	}
	out.Metrics.Latency = 100 + u.Output
	if q.Tier != "" {
		out.Tier = map[string]string{"type": q.Tier}
	}
	return AppendJSON(dst, out)
}

func (c *converseReply) add(block any) {
	c.Output.Message.Content = append(c.Output.Message.Content, block)
}

type converseReply struct {
	Output struct {
		Message struct {
			Role    string `json:"role"`
			Content []any  `json:"content"`
		} `json:"message"`
	} `json:"output"`
	StopReason string         `json:"stopReason"`
	Usage      map[string]any `json:"usage"`
	Metrics    struct {
		Latency int `json:"latencyMs"`
	} `json:"metrics"`
	Tier map[string]string `json:"serviceTier,omitempty"`
}
