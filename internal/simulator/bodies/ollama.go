package bodies

import (
	"cmp"
	"time"

	"assay/internal/assay"
	"assay/internal/simulator/eyes"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// Ollama is the dialect of Ollama's own chat call. Its answer is one object, which is also a stream of one.
type Ollama struct{}

// Read takes a body apart.
func (d Ollama) Read(rd Reading, b *fastjson.Value) (Request, *rules.Rejection) {
	q := Request{Question: minds.Question{Vendor: rd.Vendor, Model: stringOf(b, "model"), Stop: stringsOf(b.Get("options", "stop"))}}
	sees := &viewer{rd: rd, q: &q}
	for _, m := range b.GetArray("messages") {
		q.addMessage(stringOf(m, "role"), contentText(m.Get("content")))
		q.ToldBack = stringOf(m, "role") == "tool"
		for _, picture := range m.GetArray("images") {
			sees.inline(eyes.Picture, "", stringOf(picture), "")
		}
	}
	q.functions(b, false)
	q.Choice = assay.ToolChoice{} // it is not honoured
	if len(q.Messages) == 0 {
		return q, rules.Invalid("", "", "messages is required")
	}
	q.MaxTokens = max(b.GetInt("options", "num_predict"), 0)
	if f := b.Get("format"); f != nil {
		q.Schema, q.JSON = schemaOf(f), stringOf(f) == "json"
	}
	if t := b.Get("think"); t != nil {
		q.Effort = stringOf(t)
		q.Thinks = t.GetBool() || q.Effort != ""
		q.Thoughts = q.Thinks
	}
	b.Del("stream") // whole or not, the answer is the same
	return q, cmp.Or(rd.check(rules.Asked{API: "ollama", Model: q.Model, Temperature: floatOf(b, "options", "temperature")}), sees.end())
}

// Write appends the body of a reply.
func (d Ollama) Write(dst []byte, q *Request, r *Reply) []byte {
	done := "stop"
	if r.cut {
		done = "length"
	}
	said := ollamaMessage{Role: "assistant", Content: r.Text, Thinking: r.Thoughts}
	for _, call := range r.Calls {
		said.ToolCalls = append(said.ToolCalls, map[string]any{"function": map[string]any{"name": call.Name, "arguments": call.Arguments}})
	}
	return append(AppendJSON(dst, ollamaReply{
		Model: q.Model, CreatedAt: r.made.UTC().Format(time.RFC3339Nano),
		Message: said, Done: true, DoneReason: done,
		PromptCount: r.Usage.Input, Count: r.Usage.Output, Total: int64(50 * time.Millisecond), Load: int64(time.Millisecond),
		Prompt: int64(9 * time.Millisecond), Eval: int64(40 * time.Millisecond),
	}), '\n')
}

type ollamaMessage struct {
	Role     string `json:"role"`
	Content  string `json:"content"`
	Thinking string `json:"thinking,omitempty"`

	ToolCalls []any `json:"tool_calls,omitempty"`
}

type ollamaReply struct {
	Model       string        `json:"model"`
	CreatedAt   string        `json:"created_at"`
	Message     ollamaMessage `json:"message"`
	Done        bool          `json:"done"`
	DoneReason  string        `json:"done_reason"`
	Total       int64         `json:"total_duration"`
	Load        int64         `json:"load_duration"`
	PromptCount int           `json:"prompt_eval_count"`
	Prompt      int64         `json:"prompt_eval_duration"`
	Count       int           `json:"eval_count"`
	Eval        int64         `json:"eval_duration"`
}
