package wire

import (
	"net/http"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
)

// The vendors that answer live only.

func deepSeekVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "deepseek", Prefix: "/deepseek", Base: "/deepseek", Key: backend.HeaderKey("X-Api-Key"), Shape: openAIShape, Caches: true,
		BrokeStatus: http.StatusPaymentRequired, BrokeAs: "insufficient_balance",
		Routes: func(rt backend.Routes) {
			for _, path := range []string{"", "/v1"} {
				rt.On(fault.Ask, "POST", path+"/chat/completions", func(c *backend.Call) {
					c.Ask(bodies.Chat{Thoughts: "reasoning_content", Hits: true}, "")
				})
				modelsRoutes(rt, path)
			}
			rt.On(fault.Ask, "POST", "/anthropic/v1/messages", func(c *backend.Call) { c.Ask(bodies.Messages{}, "") })
		},
	}
}

func ollamaVendor() *backend.Vendor {
	return &backend.Vendor{
		Name: "ollama", Prefix: "/ollama", Base: "/ollama", Key: func(*http.Request) string { return "local" }, Shape: ollamaShape,
		Routes: func(rt backend.Routes) {
			rt.On(fault.Ask, "POST", "/api/chat", func(c *backend.Call) { c.Ask(bodies.Ollama{}, "") })
			rt.On(fault.Ask, "POST", "/v1/chat/completions", func(c *backend.Call) { c.Ask(bodies.Chat{Thoughts: "reasoning"}, "") })
			rt.On(fault.Models, "GET", "/api/tags", func(c *backend.Call) {
				c.Reply(http.StatusOK,
					map[string]any{"models": []any{map[string]any{"name": "sim:latest", "model": "sim:latest", "size": 1 << 30}}})
			})
			rt.On(fault.Models, "GET", "/api/version", func(c *backend.Call) {
				c.Reply(http.StatusOK, map[string]any{"version": "0.13.0"})
			})
			modelsRoutes(rt, "/v1")
		},
	}
}

// ollamaShape is {"error":"text"}.
func ollamaShape(_ *backend.Call, r *rules.Rejection) any { return map[string]any{"error": r.Message} }
