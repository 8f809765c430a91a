package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

func TestWireOfEveryVendor(t *testing.T) {
	t.Parallel()
	const chat, responses = "/v1/chat/completions", "/v1/responses"
	strict, object := assay.SchemaWireStrict, assay.SchemaWireJSONObject
	for _, c := range []struct {
		name, vendor string
		lane         assay.Lane
		mode         assay.Mode
		want         assay.Wire
	}{
		{"responses", "openai", lane("gpt-5"), assay.ModeBatch, assay.Wire{
			Dialect: "responses", Carrier: "openai", URL: responses, MaxTokensField: "max_output_tokens", SystemRole: "developer",
			Schema: strict, ModelInBody: true, StoreFalse: true, CacheKey: true,
		}},
		{"chat at OpenAI", "openai", via("chat", lane("gpt-4o")), assay.ModeLive, assay.Wire{
			Dialect: "chat", Carrier: "openai", URL: chat, MaxTokensField: "max_completion_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "seed", Schema: strict, ModelInBody: true, CacheKey: true,
		}},
		{"azure", "azure", lane("o3"), assay.ModeBatch, assay.Wire{
			Dialect: "responses", Carrier: "openai", URL: responses, MaxTokensField: "max_output_tokens", SystemRole: "developer",
			Schema: strict, ModelInBody: true, StoreFalse: true,
		}},
		{"anthropic budget in a batch", "anthropic", lane("claude-sonnet-4-5", budget(2000)), assay.ModeBatch, assay.Wire{
			Dialect: "messages", Carrier: "anthropic", MaxTokensField: "max_tokens", SystemRole: "system", Thinking: "budget",
			Schema: strict, ModelInBody: true,
		}},
		{"anthropic adaptive live", "anthropic", lane("claude-opus-4-6", on), assay.ModeLive, assay.Wire{
			Dialect: "messages", Carrier: "anthropic", MaxTokensField: "max_tokens", SystemRole: "system", Thinking: "adaptive",
			Schema: strict, ModelInBody: true, CacheMarks: true, CacheTTL: "5m",
		}},
		{"4.6 with a budget", "anthropic", lane("claude-opus-4-6", budget(2000)), assay.ModeBatch, assay.Wire{
			Dialect: "messages", Carrier: "anthropic", MaxTokensField: "max_tokens", SystemRole: "system", Thinking: "budget",
			Schema: strict, ModelInBody: true,
		}},
		{"anthropic without schemas or thinking", "anthropic", lane("claude-3-5-haiku"), assay.ModeBatchElseLive, assay.Wire{
			Dialect: "messages", Carrier: "anthropic", MaxTokensField: "max_tokens", SystemRole: "system",
			ModelInBody: true,
		}},
		{"gemini 2.5", "gemini", lane("gemini-2.5-pro"), assay.ModeBatch, assay.Wire{
			Dialect: "generate", Carrier: "gemini", MaxTokensField: "maxOutputTokens", SystemRole: "system", Thinking: "gem-budget",
			Schema: strict,
		}},
		{"gemini 3 on vertex", "vertex", lane("gemini-3.6-flash"), assay.ModeLive, assay.Wire{
			Dialect: "generate", Carrier: "vertex", MaxTokensField: "maxOutputTokens", SystemRole: "system", Thinking: "gem-level",
			Schema: strict,
		}},
		{"together", "together", lane("Kimi-K2.5"), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Media: "images", Carrier: "bare", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", Thinking: "enable-flag", SeedField: "seed", Schema: strict, ModelInBody: true,
		}},
		{"groq", "groq", lane("llama-3.3-70b"), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Media: "images", Carrier: "openai", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "seed", Schema: object, ModelInBody: true,
		}},
		{"mistral in a batch", "mistral", lane("mistral-medium"), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Media: "mistral", Carrier: "bare", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "random_seed", Schema: strict,
		}},
		{"mistral live", "mistral", lane("mistral-medium"), assay.ModeLive, assay.Wire{
			Dialect: "chat", Media: "mistral", Carrier: "bare", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "random_seed", Schema: strict, ModelInBody: true,
		}},
		{"xai", "xai", lane("grok-4.3"), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Carrier: "openai", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "seed", Schema: strict, ModelInBody: true, ReasoningApart: true,
		}},
		{"fireworks", "fireworks", lane("glm-5p2"), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Media: "images", Carrier: "bare", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "seed", Schema: strict,
		}},
		{"openrouter", "openrouter", lane("openai/gpt-5", effort("low")), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Media: "openrouter", Carrier: "openrouter", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			Thinking: "reasoning", SeedField: "seed", Schema: strict,
		}},
		{"deepseek has no batches", "deepseek", lane("deepseek-v4-pro"), assay.ModeBatchElseLive, assay.Wire{
			Dialect: "chat", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort",
			SeedField: "seed", Schema: object, ModelInBody: true,
		}},
		{"ollama", "ollama", lane("qwen3:8b", on), assay.ModeLive, assay.Wire{
			Dialect: "ollama", MaxTokensField: "num_predict", SystemRole: "system", Thinking: "think", Schema: strict, ModelInBody: true,
		}},
		{"vllm", "vllm", lane("m"), assay.ModeLive, assay.Wire{
			Dialect: "chat", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort",
			SeedField: "seed", Schema: strict, ModelInBody: true,
		}},
		{"an unknown vendor", "nosuch", lane("gpt-5"), assay.ModeBatch, assay.Wire{
			Dialect: "chat", Carrier: "openai", URL: chat, MaxTokensField: "max_tokens", SystemRole: "system",
			EffortField: "reasoning_effort", SeedField: "seed", Schema: strict, ModelInBody: true,
		}},
	} {
		if d := cmp.Diff(c.want, catalog.Default().Wire(c.lane, c.vendor, c.mode)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestEffectiveFillsInWhatTheWireDemands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, vendor string
		lane         assay.Lane
		want         assay.Params
	}{
		{"nothing demanded", "openai", lane("gpt-5"), assay.Params{}},
		{"a limit at Anthropic", "anthropic", lane("claude-sonnet-4-5"), assay.Params{MaxTokens: 8192}},
		{"room beside the thinking", "anthropic", lane("claude-sonnet-4-5", budget(10000)), assay.Params{
			MaxTokens: 18192, Thinking: assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 10000},
		}},
		{"within what the model writes", "anthropic", lane("claude-opus-4-1", budget(30000)), assay.Params{
			MaxTokens: 32000, Thinking: assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 30000},
		}},
		{"the lane's own limit", "anthropic", lane("claude-opus-5", maxTokens(500)), assay.Params{MaxTokens: 500}},
		{"more for models that think by themselves", "anthropic", lane("claude-opus-5"), assay.Params{MaxTokens: 32000}},
		{"off where off is usual", "anthropic", lane("claude-sonnet-4-5", off, maxTokens(9)), assay.Params{MaxTokens: 9}},
		{"off where on is usual", "anthropic", lane("claude-opus-5", off, maxTokens(9)), assay.Params{
			MaxTokens: 9, Thinking: assay.Thinking{Mode: assay.ThinkingOff},
		}},
		{"nothing is nothing", "openai", lane("gpt-4.1", stop(), extra()), assay.Params{}},
		{"an unknown vendor", "nosuch", lane("m", maxTokens(3)), assay.Params{MaxTokens: 3}},
	} {
		if d := cmp.Diff(c.want, catalog.Default().Effective(c.lane, c.vendor)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
