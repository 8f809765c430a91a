package bodies

import (
	"cmp"
	"fmt"
	"strings"

	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Chat is the dialect of OpenAI's chat completions and its many relatives.
type Chat struct {
	Thoughts  string // where a message carries its reasoning; "": nowhere; "chunks": among the content, as Mistral does
	Apart     bool   // completion tokens do not include the reasoning (xAI)
	Hits      bool   // cache hits and misses are counted apart (DeepSeek)
	Timings   bool   // Groq's times
	Cost      bool   // OpenRouter's and xAI's price of the call
	Tier      string // the usual service tier; "": default
	UsageLast bool   // the last chunk of a stream has the usage, also where it is not asked for
	Prompt    bool   // a reply has a list of prompts, which is empty (Together)
}

// Read takes a body apart.
func (d Chat) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{
		Vendor: rd.Vendor, Model: cmp.Or(rd.Model, stringOf(b, "model")), Stop: stringsOf(b.Get("stop")), Tier: stringOf(b, "service_tier"),
	}}
	msgs := b.GetArray("messages")
	if len(msgs) == 0 {
		return q, rules.Invalid("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
	}
	sees := &viewer{rd: rd, q: &q}
	for i, m := range msgs {
		role := stringOf(m, "role")
		if !strings.Contains(" system developer user assistant tool ", " "+role+" ") {
			return q, rules.Invalid(fmt.Sprintf("messages[%d].role", i), "invalid_value", "Invalid value: '%s'.", role)
		}
		q.addMessage(role, contentText(m.Get("content")))
		q.ToldBack = role == "tool"
		sees.chatParts(m.Get("content"))
	}
	if rd.Batch && b.GetBool("stream") {
		return q, rules.Invalid("stream", "invalid_value", "Streaming is not supported in batches.")
	}
	a := rules.Asked{API: "chat", Model: q.Model, Temperature: floatOf(b, "temperature"), TopP: floatOf(b, "top_p"),
		TopK: intOf(b, "top_k"), Logprobs: b.GetBool("logprobs")}
	for _, f := range []string{"max_tokens", "max_completion_tokens"} {
		if n := b.GetInt(f); n > 0 {
			a.MaxTokens, a.MaxField = n, f
		}
	}
	q.MaxTokens = a.MaxTokens
	q.functions(b, false)
	d.readThinking(&q, &a, b)
	switch stringOf(b, "response_format", "type") {
	case "json_schema":
		q.Schema = schemaOf(b.Get("response_format", "json_schema", "schema"))
	case "json_object":
		q.JSON = true
	}
	if rej := cmp.Or(rd.check(a), sees.end(), q.gptTools(rd), q.gptSearch(rd, b, true)); rej != nil {
		return q, rej
	}
	if rej := q.severalChats(b); rej != nil {
		return q, rej
	}
	if rd.Caches {
		q.ownMarks()
		q.writes = gptWrites(q.Model) && (rd.Vendor == "openai" || rd.Vendor == "azure")
	}
	return q, nil
}

// readThinking reads the many ways to ask for reasoning.
func (d Chat) readThinking(q *Request, a *rules.Asked, b *fastjson.Value) {
	q.Effort, a.EffortField = stringOf(b, "reasoning_effort"), "reasoning_effort"
	if r := b.Get("reasoning"); r != nil { // OpenRouter and Together
		q.Effort = cmp.Or(q.Effort, stringOf(r, "effort"))
		q.Budget = r.GetInt("max_tokens")
		q.Thinks = r.GetBool("enabled") || q.Effort != "" || q.Budget > 0
		a.EffortField = "reasoning.effort"
	}
	a.Effort = q.Effort
	_, reasons := rules.GPTReasons(q.Model)
	q.Thinks = (q.Thinks || reasons || q.Effort != "" || thinksByName(q.Model) || stringOf(b, "prompt_mode") == "reasoning") &&
		q.Effort != "none"
	q.Thoughts = d.Thoughts != "" && !b.GetBool("reasoning", "exclude") && stringOf(b, "reasoning_format") != "hidden"
}

// thinksByName knows the open models that always reason.
func thinksByName(model string) bool {
	m := strings.ToLower(model)
	for _, part := range []string{"deepseek-r", "reasoner", "thinking", "gpt-oss", "magistral", "grok-4"} {
		if strings.Contains(m, part) && !strings.Contains(m, "non-reasoning") {
			return true
		}
	}
	return false
}

// gptWrites reports whether a model bills what it writes to its cache.
func gptWrites(model string) bool {
	return strings.HasPrefix(model, "gpt-5.6") || strings.HasPrefix(model, "gpt-6")
}

// Write appends the body of a reply.
func (d Chat) Write(dst []byte, q *Request, r *Reply) []byte {
	reply := chatReply{
		ID: fmt.Sprintf("chatcmpl-%016x", r.id), Object: "chat.completion", Created: r.made.Unix(), Model: q.Model, Usage: d.usage(r),
		ServiceTier: usedTier(q.Tier, cmp.Or(d.Tier, "default")), SystemFingerprint: "fp_sim",
	}
	for i, one := range r.all() {
		reply.Choices = append(reply.Choices, d.choice(q, one, i))
	}
	if d.Prompt {
		reply.Prompt = &[]any{}
	}
	return AppendJSON(dst, reply)
}

// choice returns one answer of several.
func (d Chat) choice(q *Request, r *Reply, index int) chatChoice {
	msg := chatMessage{Role: "assistant", Content: r.Text, Annotations: []any{}}
	switch {
	case r.Refused:
		msg.Content, msg.Refusal = nil, r.Text
	case r.Thoughts == "":
	case d.Thoughts == "chunks":
		msg.Content = []any{
			map[string]any{"type": "thinking", "thinking": []any{map[string]any{"type": "text", "text": r.Thoughts}}},
			map[string]any{"type": "text", "text": r.Text},
		}
	case d.Thoughts == "reasoning":
		msg.Reasoning = r.Thoughts
	default:
		msg.ReasoningContent = r.Thoughts
	}
	one := chatChoice{Index: index, FinishReason: "stop", Message: msg}
	if len(r.Calls) > 0 {
		one.FinishReason = "tool_calls"
		one.Message.addCalls(r, d.Thoughts == "chunks")
	}
	if r.cut {
		one.FinishReason = "length"
	}
	if q.Weigh {
		one.Logprobs = map[string]any{"content": chatTokens(q, r), "refusal": nil}
	}
	return one
}

// usedTier returns the tier a call was served in.
func usedTier(asked, usual string) string {
	if asked == "" || asked == "auto" {
		return usual
	}
	return asked
}

func (d Chat) usage(r *Reply) chatUsage {
	u := chatUsage{Prompt: r.Usage.Input, Completion: r.Usage.Output, Total: r.Usage.Input + r.Usage.Output}
	if d.Apart {
		u.Completion -= r.Usage.Reasoning
	}
	u.PromptDetails.Cached, u.PromptDetails.Write = r.Usage.Cached, r.Usage.Write5m+r.Usage.Write1h
	u.PromptDetails.Images, u.PromptDetails.Audio = r.Usage.Pictures, r.Usage.Sounds
	u.CompletionDetails.Reasoning = r.Usage.Reasoning
	if d.Hits {
		u.Hit, u.Miss = &r.Usage.Cached, new(r.Usage.Input-r.Usage.Cached)
	}
	if d.Timings {
		u.QueueTime, u.PromptTime, u.CompletionTime, u.TotalTime = 0.001, 0.002, 0.05, 0.052
	}
	if d.Cost {
		u.Cost = Cost(r.Usage)
		u.CostTicks = int64(u.Cost * 1e10)
	}
	return u
}

// Cost returns what usage costs, in dollars, at vendors that report it.
func Cost(u Usage) float64 { return float64(u.Input+4*u.Output) * 1e-6 }

type chatReply struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []chatChoice `json:"choices"`
	Usage             chatUsage    `json:"usage"`
	ServiceTier       string       `json:"service_tier"`
	SystemFingerprint string       `json:"system_fingerprint"`
	Prompt            *[]any       `json:"prompt,omitempty"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	Logprobs     any         `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type chatMessage struct {
	Role             string `json:"role"`
	Content          any    `json:"content"`
	Refusal          any    `json:"refusal"`
	Annotations      []any  `json:"annotations"`
	Reasoning        string `json:"reasoning,omitempty"`
	ToolCalls        []any  `json:"tool_calls,omitempty"`
	ReasoningContent string `json:"reasoning_content,omitempty"`
}

type chatUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens,omitempty"`
		Audio  int `json:"audio_tokens"`
		Images int `json:"image_tokens,omitempty"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
		Audio     int `json:"audio_tokens"`
		Accepted  int `json:"accepted_prediction_tokens"`
		Rejected  int `json:"rejected_prediction_tokens"`
	} `json:"completion_tokens_details"`
	Hit            *int    `json:"prompt_cache_hit_tokens,omitempty"`
	Miss           *int    `json:"prompt_cache_miss_tokens,omitempty"`
	QueueTime      float64 `json:"queue_time,omitempty"`
	PromptTime     float64 `json:"prompt_time,omitempty"`
	CompletionTime float64 `json:"completion_time,omitempty"`
	TotalTime      float64 `json:"total_time,omitempty"`
	Cost           float64 `json:"cost,omitempty"`
	CostTicks      int64   `json:"cost_in_usd_ticks,omitempty"`
}

// mostLikely are the most tokens told with each place of an answer.
const mostLikely = 20

// weighs sets whether it is told how likely words are, and how many likely ones are told.
func (q *Request) weighs(wanted bool, top *int, name string) *rules.Rejection {
	q.Weigh = wanted
	switch {
	case top == nil:
	case !wanted:
		return rules.Invalid(name, "invalid_value", "'%s' goes with log probabilities only, which are not asked for.", name)
	case *top < 0 || *top > mostLikely:
		return rules.Invalid(name, "integer_above_max_value", "Invalid '%s': expected a value from 0 to %d.", name, mostLikely)
	default:
		q.likely = *top
	}
	return nil
}

// mostAnswers are the most to one request.
const mostAnswers = 128

// severalChats reads how many answers are wanted, and whether it is told how likely their words are.
func (q *Request) severalChats(b *fastjson.Value) *rules.Rejection {
	if n := intOf(b, "n"); n != nil {
		if *n < 1 || *n > mostAnswers {
			return rules.Invalid("n", "integer_out_of_range", "Invalid 'n': integer out of range. Expected a value from 1 to %d.",
				mostAnswers)
		}
		q.n = *n
	}
	return q.weighs(b.GetBool("logprobs"), intOf(b, "top_logprobs"), "top_logprobs")
}

// chatTokens returns the tokens of an answer as OpenAI shows them.
func chatTokens(q *Request, r *Reply) []any {
	out := []any{}
	for _, t := range r.Tokens(q.likely) {
		one := chatToken(t)
		top := []any{}
		for _, o := range t.Others {
			top = append(top, chatToken(o))
		}
		one["top_logprobs"] = top
		out = append(out, one)
	}
	return out
}

func chatToken(t minds.Token) map[string]any {
	raw := []int{}
	for _, c := range []byte(t.Text) {
		raw = append(raw, int(c))
	}
	return map[string]any{"token": t.Text, "logprob": t.Logprob, "bytes": raw}
}
