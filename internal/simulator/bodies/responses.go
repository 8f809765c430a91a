package bodies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Responses is the dialect of OpenAI's responses.
type Responses struct{}

// Read takes a body apart.
func (d Responses) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: cmp.Or(rd.Model, stringOf(b, "model")),
		Tier: stringOf(b, "service_tier")}}
	q.mayUse(b.GetArray("tools"), b.GetInt("max_tool_calls"))
	q.System = stringOf(b, "instructions")
	in := b.Get("input")
	if in == nil {
		return q, rules.Invalid("input", "missing_required_parameter", "Missing required parameter: 'input'.")
	}
	if in.Type() == fastjson.TypeString {
		q.addMessage("user", string(in.GetStringBytes()))
	}
	sees := &viewer{rd: rd, q: &q}
	for _, m := range in.GetArray() {
		t := stringOf(m, "type")
		if t == "" || t == "message" {
			q.addMessage(stringOf(m, "role"), contentText(m.Get("content")))
			sees.responsesParts(m.Get("content"))
		}
		q.ToldBack = t == "function_call_output"
	}
	q.functions(b, true)
	for _, f := range []string{"n", "logprobs", "messages", "max_tokens", "max_completion_tokens", "response_format",
		"reasoning_effort", "stop", "seed"} {
		if b.Get(f) != nil {
			return q, rules.Invalid(f, "unknown_parameter", "Unknown parameter: '%s'.", f)
		}
	}
	if rd.Batch && b.GetBool("stream") {
		return q, rules.Invalid("stream", "invalid_value", "Streaming is not supported in batches.")
	}
	q.MaxTokens, q.Effort = b.GetInt("max_output_tokens"), stringOf(b, "reasoning", "effort")
	if q.MaxTokens > 0 && q.MaxTokens < 16 {
		return q, rules.Invalid("max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value.")
	}
	likely := slices.Contains(stringsOf(b.Get("include")), "message.output_text.logprobs")
	if rej := q.weighs(likely, intOf(b, "top_logprobs"), "top_logprobs"); rej != nil {
		return q, rej
	}
	_, reasons := rules.GPTReasons(q.Model)
	q.Thinks = reasons && q.Effort != "none"
	q.Thoughts = stringOf(b, "reasoning", "summary") != ""
	switch stringOf(b, "text", "format", "type") {
	case "json_schema":
		q.Schema = schemaOf(b.Get("text", "format", "schema"))
	case "json_object":
		q.JSON = true
	}
	rej := rd.check(rules.Asked{
		API: "responses", Model: q.Model, Temperature: floatOf(b, "temperature"), TopP: floatOf(b, "top_p"),
		MaxTokens: q.MaxTokens, Effort: q.Effort, EffortField: "reasoning.effort",
		Logprobs: likely,
	})
	if rej = cmp.Or(rej, sees.end(), q.gptSearch(rd, b, false)); rej != nil {
		return q, rej
	}
	q.ownMarks()
	q.writes = gptWrites(q.Model)
	return q, nil
}

// Write appends the body of a reply.
func (d Responses) Write(dst []byte, q *Request, r *Reply) []byte {
	out := responsesReply{
		ID: fmt.Sprintf("resp_%016x", r.id), Object: "response", CreatedAt: r.made.Unix(), CompletedAt: r.made.Unix(), Status: "completed",
		Model: q.Model, Output: []any{}, ParallelToolCalls: true, Temperature: 1, TopP: 1, ToolChoice: "auto", Tools: []any{},
		ServiceTier: usedTier(q.Tier, "default"), Metadata: map[string]string{}, Truncation: "disabled",
		Instructions: Nullable(q.System), Text: map[string]any{"format": map[string]any{"type": "text"}},
		Reasoning: map[string]any{"effort": Nullable(q.Effort), "summary": nil},
	}
	if q.MaxTokens > 0 {
		out.MaxOutputTokens = q.MaxTokens
	}
	if q.Thinks {
		summary := []any{}
		if r.Thoughts != "" {
			summary = append(summary, map[string]any{"type": "summary_text", "text": r.Thoughts})
		}
		out.Output = append(out.Output, map[string]any{"id": fmt.Sprintf("rs_%016x", r.id), "type": "reasoning", "summary": summary})
	}
	out.Output = append(out.Output, searchCalls(r)...)
	status := "completed"
	if r.cut {
		status, out.Status, out.CompletedAt = "incomplete", "incomplete", nil
		out.IncompleteDetails = map[string]any{"reason": "max_output_tokens"}
	}
	for i, call := range r.Calls {
		out.Output = append(out.Output, map[string]any{"id": fmt.Sprintf("fc_%016x", r.id+uint64(i)), "type": "function_call",
			"status": "completed", "call_id": callID(r, i), "name": call.Name, "arguments": call.Given()})
	}
	if !r.cut && len(r.Calls) == 0 || strings.TrimSpace(r.Text) != "" {
		part := map[string]any{"type": "output_text", "text": r.Text, "annotations": []any{}, "logprobs": []any{}}
		if q.Weigh {
			part["logprobs"] = chatTokens(q, r)
		}
		if r.Refused {
			part = map[string]any{"type": "refusal", "refusal": r.Text}
		}
		out.Output = append(out.Output, map[string]any{
			"id": fmt.Sprintf("msg_%016x", r.id), "type": "message", "role": "assistant", "status": status, "content": []any{part},
		})
	}
	out.Usage = NewResponsesUsage(r.Usage)
	return AppendJSON(dst, out)
}

type responsesReply struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	CreatedAt          int64             `json:"created_at"`
	CompletedAt        any               `json:"completed_at"`
	Status             string            `json:"status"`
	AccessPrograms     any               `json:"access_programs"`
	Background         bool              `json:"background"`
	Error              any               `json:"error"`
	IncompleteDetails  any               `json:"incomplete_details"`
	Instructions       any               `json:"instructions"`
	MaxOutputTokens    any               `json:"max_output_tokens"`
	Model              string            `json:"model"`
	Output             []any             `json:"output"`
	ParallelToolCalls  bool              `json:"parallel_tool_calls"`
	PreviousResponseID any               `json:"previous_response_id"`
	Reasoning          any               `json:"reasoning"`
	ServiceTier        string            `json:"service_tier"`
	Store              bool              `json:"store"`
	Temperature        float64           `json:"temperature"`
	Text               any               `json:"text"`
	ToolChoice         string            `json:"tool_choice"`
	Tools              []any             `json:"tools"`
	TopP               float64           `json:"top_p"`
	Truncation         string            `json:"truncation"`
	Usage              ResponsesUsage    `json:"usage"`
	Metadata           map[string]string `json:"metadata"`
}

// ResponsesUsage is the usage as OpenAI's responses show it.
type ResponsesUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// NewResponsesUsage shows a usage so.
func NewResponsesUsage(u Usage) ResponsesUsage {
	out := ResponsesUsage{Input: u.Input, Output: u.Output, Total: u.Input + u.Output}
	out.InputDetails.Cached, out.InputDetails.Write = u.Cached, u.Write5m+u.Write1h
	out.OutputDetails.Reasoning = u.Reasoning
	return out
}
