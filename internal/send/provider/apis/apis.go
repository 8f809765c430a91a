// Package apis drives the providers: one file each, and the list of them.
package apis

import (
	"fmt"

	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// Entry is one vendor: its kind, as the catalogue names it, and how an account there is opened.
type Entry struct {
	Kind string
	Open func(provider.Config) (provider.Account, error)
}

// Vendors lists every vendor there is.
func Vendors() []Entry {
	return []Entry{
		{"openai", openOpenAI},
		{"azure", openAzure},
		{"anthropic", openAnthropic},
		{"gemini", openGemini},
		{"vertex", openVertex},
		{"bedrock", openBedrock},
		{"together", openTogether},
		{"groq", openGroq},
		{"mistral", openMistral},
		{"xai", openXAI},
		{"fireworks", openFireworks},
		{"openrouter", openOpenRouter},
		{"dashscope", openCompatible},
		{"zhipu", openCompatible},
		{"siliconflow", openCompatible},
		{"nebius", openCompatible},
		{"deepinfra", openCompatible},
		{"novita", openCompatible},
		{"parasail", openParasail},
		{"deepseek", openLive},
		{"ollama", openOllama},
		{"vllm", openLive},
		{catalog.Compatible, openCompatible},
	}
}

// Open opens an account of the configuration's kind.
func Open(cfg provider.Config) (provider.Account, error) {
	if cfg.Name == "" {
		cfg.Name = cfg.Kind
	}
	for _, e := range Vendors() {
		if e.Kind != cfg.Kind {
			continue
		}
		a, err := e.Open(cfg)
		if err != nil {
			return provider.Account{}, fmt.Errorf("open provider %s: %w", cfg.Name, err)
		}
		a.Name, a.Kind = cfg.Name, cfg.Kind
		return a, nil
	}
	return provider.Account{}, fmt.Errorf("open provider %s: no vendor %q", cfg.Name, cfg.Kind)
}
