package asked_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/dialect/asked"
)

func TestABodyIsReadBack(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"properties":{"a":{"type":["string","null"]}},"required":["a"],"type":"object"}`)
	talk := assay.Prompt{System: "Be brief.", Messages: []assay.Message{
		{Role: assay.RoleUser, Text: "1 < 2, \"no\"?\n\u2028é"}, {Role: assay.RoleAssistant, Text: "No."}, {Role: assay.RoleUser, Text: ""},
	}}
	usual := assay.Params{Temperature: ptr(0.5), TopP: ptr(0.9), MaxTokens: 9000, Schema: schema}
	with := func(change func(*assay.Params)) assay.Params {
		p := usual
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		wire   assay.Wire
		params assay.Params
	}{
		"chat": {assay.Wire{Dialect: assay.DialectChat, ModelInBody: true, Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) {
				p.TopK, p.Stop, p.Seed, p.Effort = ptr(3), []string{"END", "."}, ptr(int64(7)), "low"
			})},
		"chat by other names": {assay.Wire{Dialect: assay.DialectChat, MaxTokensField: "max_completion_tokens", SystemRole: "developer",
			SeedField: "random_seed", Schema: assay.SchemaWireStrict}, with(func(p *assay.Params) { p.Seed = ptr(int64(7)) })},
		"a reasoning object": {assay.Wire{Dialect: assay.DialectChat, Thinking: assay.ThinkingWireReasoning,
			Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) { p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 2048} })},
		"thinking off by a flag": {assay.Wire{Dialect: assay.DialectChat, Thinking: assay.ThinkingWireEnableFlag,
			Schema: assay.SchemaWireStrict}, with(func(p *assay.Params) { p.Thinking.Mode = assay.ThinkingOff })},
		"responses": {assay.Wire{Dialect: assay.DialectResponses, ModelInBody: true, StoreFalse: true, Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) { p.Effort, p.Thoughts = "high", true })},
		"messages": {assay.Wire{Dialect: assay.DialectMessages, ModelInBody: true, Thinking: assay.ThinkingWireBudget,
			Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) {
				p.TopK, p.Stop, p.Thinking = ptr(3), []string{"END"}, assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 2048}
			})},
		"adaptive thinking": {assay.Wire{Dialect: assay.DialectMessages, Thinking: assay.ThinkingWireAdaptive,
			Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) { p.Effort, p.Thinking.Mode, p.Thoughts = "high", assay.ThinkingOn, true })},
		"converse": {assay.Wire{Dialect: assay.DialectConverse, Thinking: assay.ThinkingWireBudget, Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) {
				p.TopK, p.Stop, p.Thinking, p.ServiceTier = ptr(3), []string{"END"},
					assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 2048}, "flex"
			})},
		"converse with effort": {assay.Wire{Dialect: assay.DialectConverse, Thinking: assay.ThinkingWireAdaptive,
			Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) { p.Effort, p.Thinking.Mode, p.Thoughts = "high", assay.ThinkingOn, true })},
		"generate": {assay.Wire{Dialect: assay.DialectGenerate, ModelInBody: true, Thinking: assay.ThinkingWireGemBudget,
			Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) {
				p.TopK, p.Stop, p.Seed, p.Thinking.Mode, p.Thoughts = ptr(3), []string{"END"}, ptr(int64(7)), assay.ThinkingOn, true
			})},
		"a level": {assay.Wire{Dialect: assay.DialectGenerate, Thinking: assay.ThinkingWireGemLevel, Schema: assay.SchemaWireStrict},
			with(func(p *assay.Params) { p.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: "low"} })},
	} {
		body, err := dialect.AppendBody(nil,
			&assay.Request{Wire: &c.wire, Lane: &assay.Lane{Model: "m-1", Params: c.params}, Prompt: &talk})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := asked.Read(c.wire.Dialect, body)
		want := asked.Request{Prompt: talk, Params: c.params}
		if c.wire.ModelInBody {
			want.Model = "m-1"
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s\n%s", name, err, diff, body)
		}
	}
}

func TestWhatABodyLosesIsNamed(t *testing.T) {
	t.Parallel()
	const q = `"messages":[{"role":"user","content":"Q"}]`
	for _, c := range []struct {
		dialect    assay.Dialect
		body, want string
	}{
		{assay.DialectChat, `{` + q + `,"stream":false,"n":1,"tools":[],"store":false,"logit_bias":{},"user":null}`, ""},
		{assay.DialectChat, `{` + q + `,"stream":true,"n":3,"store":true,"logprobs":true}`, "logprobs n store stream"},
		{assay.DialectChat, `{"messages":[{"role":"user","name":"ann","content":[{"type":"text","text":"Q","x":1}]}]}`,
			"message 1.x messages.name"},
		{assay.DialectChat, `{` + q + `,"response_format":{"type":"json_object"},"reasoning":{"exclude":true}}`,
			"reasoning.exclude"},
		{assay.DialectResponses, `{"input":"Q","truncation":"auto","text":{"verbosity":"low"}}`, "text.verbosity truncation"},
		{assay.DialectMessages, `{"system":[{"type":"text","text":"S","cache_control":{}}],` + q + `,"metadata":{"user_id":"u"}}`,
			"metadata system.cache_control"},
		{assay.DialectConverse, `{"messages":[{"role":"user","content":[{"text":"Q"}]}],"additionalModelRequestFields":{"x":1},"outputConfig":{"textFormat":{"structure":{"y":1}}}}`,
			"additionalModelRequestFields.x outputConfig.textFormat.structure.y"},
		{assay.DialectGenerate, `{"contents":[{"parts":[{"text":"Q"}]}],"safetySettings":[{}],"generationConfig":{"candidateCount":2,"responseMimeType":"application/json"}}`,
			"generationConfig.candidateCount safetySettings"},
	} {
		got, err := asked.Read(c.dialect, []byte(c.body))
		if lost := strings.Join(got.Lost, " "); err != nil || lost != c.want {
			t.Errorf("%s: lost %q (%v), want %q", c.body, lost, err, c.want)
		}
		if n := len(got.Prompt.Messages); n != 1 || got.Prompt.Messages[0].Text != "Q" {
			t.Errorf("%s: %+v", c.body, got.Prompt)
		}
	}
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`:      "a part of the type image_url has neither a URL nor an id",
		`{"messages":[{"role":"user","content":[{"type":"video_url"}]}]}`:      `message 1 has a part that is no text ("video_url")`,
		`{"messages":[{"role":"tool","content":"Q"}]}`:                         "the result of a tool does not name its call",
		`{"messages":[{"role":"user","content":"Q"}],"tools":[{}]}`:            `tools: no tool of the type ""`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{}]}]}`: "a call names no tool",
		`{"messages":[{"role":"user","content":"Q"},{"role":"system","content":"S"}]}`: "message 2: a system " +
			"message stands behind the conversation's beginning",
		`{"messages":[{"role":"user","content":"Q"}],"temperature":"hot"}`: "temperature: it is a string",
		`{"messages":{}}`: "messages is no list of messages",
		`[]`:              "the body is no JSON object",
	} {
		if _, err := asked.Read(assay.DialectChat, []byte(body)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// A conversation with a picture, calls and results, and tools, is the same by way of every dialect that has a place for it.
func TestPartsAreReadBack(t *testing.T) {
	t.Parallel()
	const chat = `{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"What?"},` +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]},{"role":"assistant","content":"I look.",` +
		`"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"red"},{"role":"user","content":"So?"}],"max_tokens":9,` +
		`"tools":[{"type":"function","function":{"name":"f","description":"looks","parameters":` +
		`{"type":"object","properties":{"a":{"type":"integer"}}}}}],"tool_choice":{"type":"function","function":{"name":"f"}}}`
	plain := assay.Wire{Dialect: assay.DialectChat}
	first, err := asked.Read(assay.DialectChat, []byte(chat))
	if err != nil || len(first.Lost) > 0 {
		t.Fatal(err, first.Lost)
	}
	for _, d := range []assay.Dialect{assay.DialectChat, assay.DialectResponses, assay.DialectMessages, assay.DialectConverse} {
		body, err := dialect.AppendBody(nil, &assay.Request{Lane: &assay.Lane{Params: first.Params}, Wire: &assay.Wire{Dialect: d},
			Prompt: &first.Prompt})
		if err != nil {
			t.Fatal(d, err)
		}
		there, err := asked.Read(d, body)
		if err != nil || len(there.Lost) > 0 {
			t.Fatal(d, err, there.Lost)
		}
		back, err := dialect.AppendBody(nil, &assay.Request{Lane: &assay.Lane{Params: there.Params}, Wire: &plain, Prompt: &there.Prompt})
		if diff := cmp.Diff(chat, string(back)); err != nil || diff != "" {
			t.Errorf("by way of %s: %v %s", d, err, diff)
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"Q"}]}],"stop":"x","response_format":{"type":"json_schema","json_schema":{"schema":{}}}}`,
		`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Q"}]}],"reasoning":{"effort":"low"}}`,
		`{"contents":[{"parts":[{"text":"Q"}]}],"generationConfig":{"responseSchema":{"type":"STRING","nullable":true},"thinkingConfig":{"thinkingBudget":-1}}}`,
		`{"messages":[{"role":"user","content":[{"text":"Q"}]}],"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{}"}}}}}`,
		`{"system":null,"messages":[null],"thinking":[],"output_config":{"format":null}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []assay.Dialect{assay.DialectChat, assay.DialectResponses, assay.DialectMessages, assay.DialectGenerate,
			assay.DialectConverse} {
			a, err := asked.Read(d, body)
			if err != nil {
				continue
			}
			again, err := dialect.AppendBody(nil, &assay.Request{Wire: &assay.Wire{Dialect: assay.DialectChat, ModelInBody: true},
				Lane: &assay.Lane{Model: a.Model, Params: a.Params}, Prompt: &a.Prompt})
			if err == nil && !json.Valid(again) {
				t.Errorf("%s of %s becomes %s", body, d, again)
			}
		}
	})
}

func ptr[T any](v T) *T { return &v }
