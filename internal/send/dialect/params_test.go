package dialect_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// asked returns a request with one short message.
func asked(w assay.Wire, p assay.Params) *assay.Request {
	return &assay.Request{
		Wire: &w, Lane: &assay.Lane{Model: "m", Params: p},
		Prompt: &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: "Q"}}},
	}
}

func TestParametersStandInTheirPlace(t *testing.T) {
	t.Parallel()
	const q = `"messages":[{"role":"user","content":"Q"}]`
	const g = `"contents":[{"role":"user","parts":[{"text":"Q"}]}]`
	thinking := func(m assay.ThinkingMode) assay.Thinking { return assay.Thinking{Mode: m, Tokens: 2048, Level: "high"} }
	chat := assay.Wire{Dialect: assay.DialectChat}
	budget := assay.Wire{Dialect: assay.DialectMessages, Thinking: assay.ThinkingWireBudget}
	adaptive := assay.Wire{Dialect: assay.DialectMessages, Thinking: assay.ThinkingWireAdaptive}
	router := assay.Wire{Dialect: assay.DialectChat, Thinking: assay.ThinkingWireReasoning}
	gemBudget := assay.Wire{Dialect: assay.DialectGenerate, Thinking: assay.ThinkingWireGemBudget}
	gemLevel := assay.Wire{Dialect: assay.DialectGenerate, Thinking: assay.ThinkingWireGemLevel}
	ollama := assay.Wire{Dialect: assay.DialectOllama, Thinking: assay.ThinkingWireThink}
	search := func(most int) assay.ServerTools {
		return assay.ServerTools{WebSearch: &assay.ServerTool{MaxUses: most}}
	}
	schema := json.RawMessage(`{"type":"object"}`)
	with := func(w assay.Wire, change func(*assay.Wire)) assay.Wire {
		change(&w)
		return w
	}
	for _, c := range []struct {
		name   string
		wire   assay.Wire
		params assay.Params
		want   string
	}{
		{"numbers are as short as they can be", chat, assay.Params{Temperature: ptr(0.0), TopP: ptr(1e-7), TopK: ptr(40)},
			q + `,"temperature":0,"top_p":1e-07,"top_k":40`},
		{"JSON without a schema", with(chat, func(w *assay.Wire) { w.Schema = assay.SchemaWireJSONObject }), assay.Params{Schema: schema},
			q + `,"response_format":{"type":"json_object"}`},
		{"no structured output", chat, assay.Params{Schema: schema}, q},
		{"a flat effort by another name", with(router, func(w *assay.Wire) { w.EffortField = "depth" }), assay.Params{Effort: "low"},
			q + `,"depth":"low"`},
		{"effort in a reasoning object", router, assay.Params{Effort: "low"}, q + `,"reasoning":{"effort":"low"}`},
		{"thinking tokens in a reasoning object", router, assay.Params{Thinking: thinking(assay.ThinkingTokens)},
			q + `,"reasoning":{"max_tokens":2048}`},
		{"a thinking level in a reasoning object", router, assay.Params{Thinking: thinking(assay.ThinkingLevel)},
			q + `,"reasoning":{"effort":"high"}`},
		{"no thinking in a reasoning object", router, assay.Params{Thinking: thinking(assay.ThinkingOff)},
			q + `,"reasoning":{"enabled":false}`},
		{"a reasoning object of the study's own", router,
			assay.Params{Extra: map[string]json.RawMessage{"reasoning": []byte(`{"exclude": true}`)}}, q + `,"reasoning":{"exclude":true}`},
		{"a reasoning object shared with the study", router,
			assay.Params{Effort: "low", Extra: map[string]json.RawMessage{"reasoning": []byte(`{"exclude": true}`)}},
			q + `,"reasoning":{"effort":"low","exclude":true}`},
		{"a budget", budget, assay.Params{MaxTokens: 9000, Thinking: thinking(assay.ThinkingTokens)},
			q + `,"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"thinking on without a number", budget, assay.Params{MaxTokens: 9000, Thinking: thinking(assay.ThinkingOn)},
			q + `,"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4500}`},
		{"thinking off", budget, assay.Params{MaxTokens: 9, Thinking: thinking(assay.ThinkingOff)},
			q + `,"max_tokens":9,"thinking":{"type":"disabled"}`},
		{"effort of a model with budgets", budget, assay.Params{MaxTokens: 9, Effort: "low"},
			q + `,"max_tokens":9,"output_config":{"effort":"low"}`},
		{"adaptive thinking", adaptive, assay.Params{MaxTokens: 9, Thinking: thinking(assay.ThinkingOn)},
			q + `,"max_tokens":9,"thinking":{"type":"adaptive"}`},
		{"adaptive thinking at a level", adaptive, assay.Params{MaxTokens: 9, Thinking: thinking(assay.ThinkingLevel)},
			q + `,"max_tokens":9,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}`},
		{"adaptive thinking off", adaptive, assay.Params{MaxTokens: 9, Thoughts: true, Thinking: thinking(assay.ThinkingOff)},
			q + `,"max_tokens":9,"thinking":{"type":"disabled"}`},
		{"thoughts alone", adaptive, assay.Params{MaxTokens: 9, Thoughts: true},
			q + `,"max_tokens":9,"thinking":{"type":"adaptive","display":"summarized"}`},
		{"stops of messages", adaptive, assay.Params{MaxTokens: 9, Stop: []string{"a"}}, q + `,"max_tokens":9,"stop_sequences":["a"]`},
		{"Gemini without thinking", gemBudget, assay.Params{Thinking: thinking(assay.ThinkingOff)},
			g + `,"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}`},
		{"Gemini thinks as it likes", gemBudget, assay.Params{Thinking: thinking(assay.ThinkingOn)},
			g + `,"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}`},
		{"Gemini's thoughts alone", gemLevel, assay.Params{Thoughts: true},
			g + `,"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`},
		{"Gemini's level by the name of effort", gemLevel, assay.Params{Effort: "minimal"},
			g + `,"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`},
		{"Gemini without parameters", gemLevel, assay.Params{}, g},
		{"Claude searches the web", adaptive, assay.Params{MaxTokens: 9, ServerTools: search(3)},
			q + `,"max_tokens":9,"tools":[{"type":"web_search_20260318","name":"web_search","allowed_callers":["direct"],"max_uses":3}]`},
		{"Claude searches and calls", adaptive,
			assay.Params{MaxTokens: 9, ServerTools: search(0), Tools: []assay.Tool{{Name: "f"}}},
			q + `,"max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}},` +
				`{"type":"web_search_20260318","name":"web_search","allowed_callers":["direct"]}]`},
		{"OpenAI searches the web", assay.Wire{Dialect: assay.DialectResponses}, assay.Params{ServerTools: search(2)},
			`"input":[{"role":"user","content":"Q"}],"tools":[{"type":"web_search"}],"max_tool_calls":2`},
		{"OpenAI searches and runs code", assay.Wire{Dialect: assay.DialectResponses},
			assay.Params{ServerTools: assay.ServerTools{WebSearch: &assay.ServerTool{}, CodeExecution: true}},
			`"input":[{"role":"user","content":"Q"}],"tools":[{"type":"web_search"},` +
				`{"type":"code_interpreter","container":{"type":"auto"}}]`},
		{"Claude runs code", adaptive, assay.Params{MaxTokens: 9, ServerTools: assay.ServerTools{CodeExecution: true}},
			q + `,"max_tokens":9,"tools":[{"type":"code_execution_20250825","name":"code_execution"}]`},
		{"Gemini runs code", gemLevel, assay.Params{ServerTools: assay.ServerTools{CodeExecution: true}},
			g + `,"tools":[{"codeExecution":{}}]`},
		{"Gemini searches the web", gemLevel, assay.Params{ServerTools: search(0)}, g + `,"tools":[{"googleSearch":{}}]`},
		{"Gemini's config of the study's own", gemLevel,
			assay.Params{Extra: map[string]json.RawMessage{"generationConfig": []byte(`{"seed":1}`)}},
			g + `,"generationConfig":{"seed":1}`},
		{"Ollama's level", ollama, assay.Params{Thinking: thinking(assay.ThinkingLevel)}, q + `,"stream":false,"think":"high"`},
		{"Ollama's level by the name of effort", ollama, assay.Params{Effort: "low"}, q + `,"stream":false,"think":"low"`},
		{"Ollama without thinking", ollama, assay.Params{Thinking: thinking(assay.ThinkingOff)}, q + `,"stream":false,"think":false`},
		{"Ollama's JSON without a schema", with(ollama, func(w *assay.Wire) { w.Schema = assay.SchemaWireJSONObject }),
			assay.Params{Schema: schema}, q + `,"stream":false,"format":"json"`},
		{"Ollama's options shared with the study", ollama,
			assay.Params{MaxTokens: 5, Extra: map[string]json.RawMessage{"options": []byte(`{"num_ctx":8192}`)}},
			q + `,"stream":false,"options":{"num_predict":5,"num_ctx":8192}`},
	} {
		got, err := dialect.AppendBody([]byte("before "), asked(c.wire, c.params))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff("before {"+c.want+"}", string(got)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestWhatHasNoPlaceIsRefusedAndNotDropped(t *testing.T) {
	t.Parallel()
	extra := func(name, value string) assay.Params {
		return assay.Params{MaxTokens: 9, Temperature: ptr(1.0), Extra: map[string]json.RawMessage{name: []byte(value)}}
	}
	level, tokens := assay.Thinking{Mode: assay.ThinkingLevel, Level: "high"}, assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 9}
	wire := func(d assay.Dialect, t assay.ThinkingWire) assay.Wire { return assay.Wire{Dialect: d, Thinking: t} }
	chat, responses := wire(assay.DialectChat, ""), wire(assay.DialectResponses, "")
	messages, generate, ollama := wire(assay.DialectMessages, ""), wire(assay.DialectGenerate, ""), wire(assay.DialectOllama, "")
	search := assay.ServerTools{WebSearch: &assay.ServerTool{MaxUses: 1}}
	object := assay.Wire{Dialect: assay.DialectMessages, Schema: assay.SchemaWireJSONObject}
	strict := func(d assay.Dialect) assay.Wire { return assay.Wire{Dialect: d, Schema: assay.SchemaWireStrict} }
	for _, c := range []struct {
		wire   assay.Wire
		params assay.Params
		want   string
	}{
		{responses, assay.Params{TopK: ptr(1)}, "no place for top_k"},
		{responses, assay.Params{Stop: []string{"x"}}, "no place for stop"},
		{responses, assay.Params{Seed: ptr(int64(1))}, "no place for seed"},
		{messages, assay.Params{MaxTokens: 9, Seed: ptr(int64(1))}, "no place for seed"},
		{chat, assay.Params{ServerTools: search}, "no place for server_tools"},
		{ollama, assay.Params{ServerTools: search}, "no place for server_tools"},
		{assay.Wire{Dialect: assay.DialectConverse}, assay.Params{ServerTools: search}, "no place for server_tools"},
		{generate, assay.Params{ServerTools: search}, "no place for max_uses of web_search"},
		{messages, assay.Params{}, "needs max_tokens"},
		{messages, assay.Params{MaxTokens: 9, Thinking: level}, "no place for thinking"},
		{object, assay.Params{MaxTokens: 9, Schema: []byte(`{}`)}, "no place for JSON without a schema"},
		{chat, assay.Params{Thinking: tokens}, "no place for thinking"},
		{chat, assay.Params{Temperature: ptr(math.NaN())}, "temperature is not a number"},
		{chat, assay.Params{TopP: ptr(math.Inf(1))}, "top_p is not a number"},
		{strict(assay.DialectChat), assay.Params{Schema: []byte(`{"a":`)}, "schema is not valid JSON"},
		{strict(assay.DialectGenerate), assay.Params{Schema: []byte(`nope`)}, "schema is not valid JSON"},
		{strict(assay.DialectGenerate), assay.Params{Schema: []byte(`{"properties":{"a":{"$ref":"#/x"}}}`)}, "has a $ref"},
		{wire(assay.DialectChat, assay.ThinkingWireReasoning), assay.Params{Effort: "low", Thinking: tokens}, "exclude each other"},
		{wire(assay.DialectChat, assay.ThinkingWireEnableFlag), assay.Params{Thinking: level}, "only on or off"},
		{wire(assay.DialectChat, assay.ThinkingWireBudget), assay.Params{}, "cannot be written as budget"},
		{wire(assay.DialectMessages, assay.ThinkingWireBudget), assay.Params{MaxTokens: 9, Thinking: level}, "number of tokens here"},
		{wire(assay.DialectMessages, assay.ThinkingWireAdaptive), assay.Params{MaxTokens: 9, Thinking: tokens}, "takes a level"},
		{wire(assay.DialectMessages, assay.ThinkingWireAdaptive), assay.Params{MaxTokens: 9, Thinking: level, Effort: "low"},
			"exclude each other"},
		{wire(assay.DialectMessages, assay.ThinkingWireThink), assay.Params{MaxTokens: 9}, "cannot be written as think"},
		{generate, assay.Params{Thinking: tokens}, "no place for thinking"},
		{generate, assay.Params{Effort: "low"}, "no place for effort"},
		{wire(assay.DialectGenerate, assay.ThinkingWireGemBudget), assay.Params{Thinking: level}, "number of tokens here"},
		{wire(assay.DialectGenerate, assay.ThinkingWireGemBudget), assay.Params{Effort: "low"}, "no place for effort"},
		{wire(assay.DialectGenerate, assay.ThinkingWireGemLevel), assay.Params{Thinking: tokens}, "takes a level"},
		{wire(assay.DialectGenerate, assay.ThinkingWireGemLevel), assay.Params{Thinking: assay.Thinking{Mode: assay.ThinkingOff}},
			"cannot be off"},
		{wire(assay.DialectGenerate, assay.ThinkingWireGemLevel), assay.Params{Effort: "a\nb"}, "no thinking level"},
		{strict(assay.DialectGenerate), assay.Params{Schema: []byte(`{"type":"str\u0069ng"}`)}, "no type"},
		{wire(assay.DialectGenerate, assay.ThinkingWireThink), assay.Params{}, "cannot be written as think"},
		{ollama, assay.Params{Thinking: level}, "no place for thinking"},
		{ollama, assay.Params{ServiceTier: "flex"}, "no place for service_tier"},
		{wire(assay.DialectOllama, assay.ThinkingWireThink), assay.Params{Thinking: tokens}, "not a number of tokens"},
		{wire(assay.DialectOllama, assay.ThinkingWireThink), assay.Params{Thinking: level, Effort: "low"}, "exclude each other"},
		{chat, extra("temperature", "2"), "extra field temperature"},
		{chat, extra("model", `"x"`), "extra field model"},
		{chat, extra("messages", `[]`), "extra field messages"},
		{chat, extra("stream", `true`), "extra field stream"},
		{chat, extra("n", `2`), "extra field n"},
		{chat, extra("max_completion_tokens", `2`), "extra field max_completion_tokens"},
		{chat, extra("broken", "{"), "extra field broken: not valid JSON"},
		{chat, extra("", "1"), "no name"},
		{generate, extra("generationConfig", `{"temperature":2}`), "extra field generationConfig.temperature"},
		{generate, extra("generationConfig", `{"\u0074emperature":2}`), "the lane has set it already"},
		{generate, extra("generationConfig", `2`), "extra field generationConfig"},
		{generate, extra("generationConfig", `{`), "not valid JSON"},
		{wire("klingon", ""), assay.Params{}, "no such dialect"},
	} {
		got, err := dialect.AppendBody([]byte("kept"), asked(c.wire, c.params))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %+v: %v does not say %q", c.wire.Dialect, c.params, err, c.want)
		}
		if string(got) != "kept" {
			t.Errorf("%s: the buffer changed to %q", c.want, got)
		}
	}
}

func TestRequestsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	chat := assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI}
	unasked := asked(chat, assay.Params{})
	unasked.Prompt = &assay.Prompt{Context: "c", Messages: []assay.Message{{Role: assay.RoleAssistant, Text: "A"}}}
	stranger := asked(chat, assay.Params{})
	stranger.Prompt.Messages[0].Role = "tool"
	for name, req := range map[string]*assay.Request{
		"nothing":        {},
		"no prompt":      {Wire: &chat, Lane: &assay.Lane{}},
		"no question":    unasked,
		"a stranger":     stranger,
		"no carrier":     asked(assay.Wire{Dialect: assay.DialectChat}, assay.Params{}),
		"chat in Vertex": asked(assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierVertex}, assay.Params{}),
	} {
		if got, err := dialect.AppendLine([]byte("kept"), testID, req); err == nil || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestTheCacheKeyNamesTheSharedPrefixAlone(t *testing.T) {
	t.Parallel()
	req := asked(assay.Wire{Dialect: assay.DialectChat, CacheKey: true}, assay.Params{})
	key := func() string {
		var body struct {
			Key string `json:"prompt_cache_key"`
		}
		b, err := dialect.AppendBody(nil, req)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &body); err != nil {
			t.Fatal(err)
		}
		return body.Key
	}
	if diff := cmp.Diff("", key()); diff != "" {
		t.Error("without a context:", diff)
	}
	req.Prompt.System, req.Prompt.Context = "system", "context"
	sum := sha256.Sum256([]byte("systemcontext"))
	want := hex.EncodeToString(sum[:8])
	if diff := cmp.Diff(want, key()); diff != "" {
		t.Error(diff)
	}
	req.Prompt.Messages[0].Text, req.Lane.Model = "another question", "another model"
	if diff := cmp.Diff(want, key()); diff != "" {
		t.Error("for another question:", diff)
	}
}

func TestGeminiGetsTheSchemaItUnderstands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, want string }{
		{"unknown keywords go, also below", `{"$schema":"x","$id":"y","type":"object","additionalProperties":false,"properties":{"a":{"type":"string","examples":["x"],"default":1}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"a property may have the name of a keyword",
			`{"type":"object","properties":{"additionalProperties":{"type":"integer"},"$ref":{"type":"number"}},"required":["$ref"]}`,
			`{"type":"OBJECT","properties":{"additionalProperties":{"type":"INTEGER"},"$ref":{"type":"NUMBER"}},"required":["$ref"]}`},
		{"a list", `{"type":"array","items":{"type":"string","format":"email"},"minItems":1,"uniqueItems":true}`,
			`{"type":"ARRAY","items":{"type":"STRING"},"minItems":1}`},
		{"choices", `{"oneOf":[{"type":"string","const":"a"},{"type":"null"}]}`,
			`{"anyOf":[{"type":"STRING","enum":["a"]},{"type":"NULL"}]}`},
		{"several types", `{"type":["string","integer","null"]}`, `{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`},
		{"no type but null", `{"type":["null"]}`, `{"nullable":true}`},
		{"no type at all", `{"type":[]}`, `{}`},
		{"values that are not texts", `{"type":"integer","enum":[1,2],"minimum":1,"maximum":2}`,
			`{"type":"INTEGER","minimum":1,"maximum":2}`},
		{"a format it knows", `{"type":"string","format":"date-time"}`, `{"type":"STRING","format":"date-time"}`},
		{"anything", ` true `, `{}`},
		{"space and odd names", "{ \"type\" :\n\"object\" , \"properties\" : { \"a \\\" }\" : { } , \"b\" : { \"type\" : \"boolean\" } } }",
			`{"type":"OBJECT","properties":{"a \" }":{},"b":{"type":"BOOLEAN"}}}`},
	} {
		req := asked(assay.Wire{Dialect: assay.DialectGenerate, Schema: assay.SchemaWireStrict}, assay.Params{Schema: []byte(c.schema)})
		b, err := dialect.AppendBody(nil, req)
		if err != nil {
			t.Fatal(c.name, err)
		}
		_, got, _ := strings.Cut(string(b), `"responseSchema":`)
		if diff := cmp.Diff(c.want+"}}", got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
