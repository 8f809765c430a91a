package batchfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/batchfile"
	"assay/internal/study/catalog"
)

func newRouter(api string) *batchfile.Router {
	return &batchfile.Router{Catalog: catalog.Default(), API: api, Today: "2026-11-15", Ready: func(provider string) error {
		if provider == "mistral" {
			return errors.New("no key")
		}
		return nil
	}}
}

func TestAModelNamesItsProvider(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"gpt-4o-mini":                   "openai gpt-4o-mini chat",
		"openai/some-new-model":         "openai some-new-model chat",
		"anthropic/claude-sonnet-4-5":   "anthropic claude-sonnet-4-5 messages",
		"claude/claude-sonnet-4-5":      "anthropic claude-sonnet-4-5 messages",
		"claude-sonnet-4-5":             "anthropic claude-sonnet-4-5 messages",
		"gemini-2.5-flash":              "gemini gemini-2.5-flash generate",
		"groq/openai/gpt-oss-120b":      "groq openai/gpt-oss-120b chat",
		"mistral/mistral-small-latest":  "400 provider_not_configured model",
		"some-new-model":                "404 model_not_found model",
		"nobody/some-new-model":         "404 model_not_found model",
		"":                              "400 missing_required_parameter model",
		"anthropic/claude-sonnet-4-5\n": "anthropic claude-sonnet-4-5\n messages",
	} {
		d, bad := newRouter("chat").Route([]byte(fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"x"}]}`, model)))
		got := strings.Join([]string{d.Lane.Provider, d.Lane.Model, d.Lane.API}, " ")
		if bad != nil {
			got = fmt.Sprint(bad.Status, " ", bad.Code, " ", bad.Param)
		}
		if got != want {
			t.Errorf("%q goes to %q, want %q", model, got, want)
		}
	}
}

func TestBodiesAreSentAsTheyAreOrConverted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ api, body, want string }{
		"as it is": {"chat", `{"model":"openai/gpt-4o","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}],"n":2}`,
			`{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}],"n":2}`},
		"converted": {"chat", `{"model":"anthropic/claude-sonnet-4-5","messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}],"max_tokens":9,"user":"u"}`, `{"model":"claude-sonnet-4-5","system":"s","messages":[{"role":"user","content":"x"}],"max_tokens":9}`},
		"responses": {"responses", `{"model":"gemini/gemini-2.5-flash","input":"x","max_output_tokens":9}`,
			`{"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":9}}`},
		"sealed": {"responses", `{"model":"gemini/gemini-2.5-flash","input":"x","include":["reasoning.encrypted_content"]}`,
			`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`},
		"included": {"responses",
			`{"model":"gemini/gemini-2.5-flash","input":"x","include":["reasoning.encrypted_content","message.output_text.logprobs"]}`,
			"400 unsupported_parameter include"},
		"a tool": {"chat",
			`{"model":"anthropic/claude-sonnet-4-5","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}`,
			"400 unsupported_value messages"},
		"a picture": {"chat", `{"model":"anthropic/claude-sonnet-4-5","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`,
			"400 unsupported_value messages"},
		"too hot": {"chat", `{"model":"anthropic/claude-sonnet-4-5","messages":[{"role":"user","content":"x"}],"temperature":1.5}`,
			"400 unsupported_value temperature"},
		"a wrong type": {"chat", `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"temperature":"hot"}`,
			"400 invalid_type temperature"},
		"no messages": {"chat", `{"model":"gpt-4o"}`, "400 missing_required_parameter messages"},
		"an old limit": {"chat", `{"model":"gpt-5","messages":[{"role":"user","content":"x"}],"max_tokens":5}`,
			"400 unsupported_parameter max_tokens"},
	} {
		d, bad := newRouter(c.api).Route([]byte(c.body))
		got := string(d.Body)
		if bad != nil {
			got = fmt.Sprint(bad.Status, " ", bad.Code, " ", bad.Param)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnderABudgetWhatARequestCostsIsBounded(t *testing.T) {
	t.Parallel()
	const question = `"messages":[{"role":"user","content":"x"}]`
	for body, want := range map[string]string{
		`{"model":"gpt-4o",` + question + `,"max_tokens":9,"n":1}`:                      "9",
		`{"model":"gpt-4o",` + question + `,"max_tokens":9,"n":128}`:                    "400 unsupported_value n",
		`{"model":"gpt-4o",` + question + `,"max_tokens":9,"service_tier":"priority"}`:  "400 unsupported_value service_tier",
		`{"model":"gpt-4o",` + question + `,"max_tokens":9000,"Max_Tokens":1,"N":1}`:    "9000",
		`{"model":"gpt-4o",` + question + `,"max_tokens":9,"N":1,"n":2,"Max_Tokens":1}`: "400 unsupported_value n",
	} {
		r := newRouter("chat")
		r.Priced = true
		d, bad := r.Route([]byte(body))
		got := fmt.Sprint(d.Limit)
		if bad != nil {
			got = fmt.Sprint(bad.Status, " ", bad.Code, " ", bad.Param)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
