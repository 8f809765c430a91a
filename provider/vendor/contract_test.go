package vendor_test

import (
	"slices"
	"testing"

	"assay/catalog"
	"assay/provider"
	"assay/provider/providertest"
	"assay/provider/vendor"
)

// subjects are the vendors as the contract needs them: a model each, and what else their configuration has.
func subjects() []providertest.Subject {
	return []providertest.Subject{
		{Kind: catalog.Compatible, Model: "some-model", Sim: "generic"},
		{Kind: "openai", Model: "gpt-4.1"},
		{Kind: "openai", Model: "gpt-4.1", API: "chat"},
		{Kind: "azure", Model: "my-deployment"},
		{Kind: "groq", Model: "llama-3.3-70b-versatile"},
		{Kind: "anthropic", Model: "claude-sonnet-4-5"},
		{Kind: "gemini", Model: "gemini-2.5-flash", LosesExpired: true},
		{Kind: "vertex", Model: "gemini-2.5-flash", NoStrangers: true, Shards: true, More: func(cfg *provider.Config, simulated map[string]string) {
			cfg.Project, cfg.Location = "my-project", "us-central1"
			cfg.Input, cfg.Output, cfg.Storage = "gs://my-bucket/in/", "gs://my-bucket/out", simulated["gcs"]
		}},
		{Kind: "together", Model: "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		{Kind: "xai", Model: "grok-4-1-fast"},
		{Kind: "fireworks", Model: "accounts/fireworks/models/llama-v3p3-70b-instruct", More: func(cfg *provider.Config, _ map[string]string) {
			cfg.Account = "my-account"
		}},
		{Kind: "openrouter", Model: "meta-llama/llama-3.3-70b-instruct", LosesExpired: true},
		{Kind: "mistral", Model: "mistral-small-latest"},
	}
}

// copies are the vendors that copied OpenAI's API, which the simulator speaks for any of them.
func copies() []providertest.Subject {
	var out []providertest.Subject
	for _, kind := range []string{
		"dashscope", "zhipu", "moonshot", "siliconflow", "nebius", "deepinfra", "novita", "parasail", "doubleword", "inferencenet", "ovh", "perplexity", "morph",
	} {
		out = append(out, providertest.Subject{Kind: kind, Model: "some-model", Sim: "generic", Moves: kind == "parasail"})
	}
	return out
}

// askers are the vendors that can only be asked live.
func askers() []providertest.Subject {
	return []providertest.Subject{
		{Kind: "deepseek", Model: "deepseek-v4-flash"},
		{Kind: "vllm", Model: "some-model", Sim: "generic"},
		{Kind: "ollama", Model: "llama3", NoRefusals: true},
		{Kind: "ollama", Model: "llama3", API: "chat"},
	}
}

func TestEveryVendorKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(subjects(), copies(), askers()) {
		s.Open = vendor.Open
		t.Run(s.Kind+s.API+" live", func(t *testing.T) {
			t.Parallel()
			providertest.RunLive(t, s)
		})
	}
	for _, s := range slices.Concat(subjects(), copies()) {
		s.Open = vendor.Open
		t.Run(s.Kind+s.API+" batch", func(t *testing.T) {
			t.Parallel()
			providertest.RunBatch(t, s)
		})
	}
	for _, s := range subjects() {
		s.Open = vendor.Open
		t.Run(s.Kind+s.API+" socket", func(t *testing.T) {
			t.Parallel()
			providertest.RunSocket(t, s)
		})
	}
}

func TestEveryVendorOfTheListIsHeldAgainstTheContract(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, s := range slices.Concat(subjects(), copies(), askers()) {
		tested[s.Kind] = true
	}
	for _, e := range vendor.Vendors() {
		if !tested[e.Kind] {
			t.Errorf("%s is in the list and not in the contract test", e.Kind)
		}
		row, ok := catalog.Default().Vendor(e.Kind)
		if !ok {
			t.Errorf("%s is in the list and not in the catalogue", e.Kind)
		}
		if row.Batch != slices.ContainsFunc(slices.Concat(subjects(), copies()), func(s providertest.Subject) bool { return s.Kind == e.Kind }) {
			t.Errorf("%s: the catalogue says batch: %v, the contract test does not", e.Kind, row.Batch)
		}
	}
	for _, row := range catalog.Default().Vendors() {
		if !slices.ContainsFunc(vendor.Vendors(), func(e vendor.Entry) bool { return e.Kind == row.Name }) {
			t.Errorf("%s is in the catalogue and not in the list", row.Name)
		}
	}
}
