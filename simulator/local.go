package simulator

import (
	"net/http"
	"time"

	"github.com/valyala/fastjson"
)

// The vendors that answer live only.

func deepSeekVendor() *vendor {
	return &vendor{
		name: "deepseek", prefix: "/deepseek", base: "/deepseek", key: headerKey("X-Api-Key"), shape: openAIShape, caches: true,
		brokeStatus: http.StatusPaymentRequired, brokeAs: "insufficient_balance",
		routes: func(rt routes) {
			for _, path := range []string{"", "/v1"} {
				rt.on(Ask, "POST", path+"/chat/completions", func(c *call) { c.ask(chat{thoughts: "reasoning_content", hits: true}, "") })
				modelsRoutes(rt, path)
			}
			rt.on(Ask, "POST", "/anthropic/v1/messages", func(c *call) { c.ask(messages{}, "") })
		},
	}
}

func ollamaVendor() *vendor {
	return &vendor{
		name: "ollama", prefix: "/ollama", base: "/ollama", key: func(*http.Request) string { return "local" }, shape: ollamaShape,
		routes: func(rt routes) {
			rt.on(Ask, "POST", "/api/chat", func(c *call) { c.ask(ollama{}, "") })
			rt.on(Ask, "POST", "/v1/chat/completions", func(c *call) { c.ask(chat{thoughts: "reasoning"}, "") })
			rt.on(Models, "GET", "/api/tags", func(c *call) {
				c.reply(http.StatusOK, map[string]any{"models": []any{map[string]any{"name": "sim:latest", "model": "sim:latest", "size": 1 << 30}}})
			})
			rt.on(Models, "GET", "/api/version", func(c *call) { c.reply(http.StatusOK, map[string]any{"version": "0.13.0"}) })
			modelsRoutes(rt, "/v1")
		},
	}
}

// ollamaShape is {"error":"text"}.
func ollamaShape(_ *call, r *Rejection) any { return map[string]any{"error": r.Message} }

// ollama is the dialect of Ollama's own chat call. Its answer is one object, which is also a stream of one.
type ollama struct{}

func (d ollama) read(rd reading, b *fastjson.Value) (Question, *Rejection) {
	q := Question{Vendor: rd.vendor.name, Model: stringOf(b, "model"), Stop: stringsOf(b.Get("options", "stop"))}
	for _, m := range b.GetArray("messages") {
		q.say(stringOf(m, "role"), contentText(m.Get("content")))
	}
	if len(q.Messages) == 0 {
		return q, invalid("", "", "messages is required")
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
	return q, rd.check(Asked{API: "ollama", Model: q.Model, Temperature: floatOf(b, "options", "temperature")})
}

func (d ollama) write(dst []byte, q *Question, r *reply) []byte {
	done := "stop"
	if r.cut {
		done = "length"
	}
	return append(appendJSON(dst, ollamaReply{
		Model: q.Model, CreatedAt: r.made.UTC().Format(time.RFC3339Nano), Message: ollamaMessage{Role: "assistant", Content: r.Text, Thinking: r.Thoughts},
		Done: true, DoneReason: done, PromptCount: r.usage.input, Count: r.usage.output,
		Total: int64(50 * time.Millisecond), Load: int64(time.Millisecond), Prompt: int64(9 * time.Millisecond), Eval: int64(40 * time.Millisecond),
	}), '\n')
}

type ollamaMessage struct {
	Role     string `json:"role"`
	Content  string `json:"content"`
	Thinking string `json:"thinking,omitempty"`
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
