package dialect_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

var update = flag.Bool("update", false, "write the golden files anew")

const testID = "aplan222222-aaaaaaaaaaaaaaaaaaaaaaaaaa"

func ptr[T any](v T) *T { return &v }

const answerSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {"reason": {"type": "string"}, "label": {"enum": ["yes", "no", null], "type": ["string", "null"]}},
  "required": ["reason", "label"],
  "additionalProperties": false
}`

// hostile is text that has broken someone's JSON, lines or terminal.
const hostile = "quotes \" \\ \\\" slash / <b>&amp;</b> nul \x00 bell \a tab \t cr \r\n" +
	" esc \x1b[31m del \x7f nel \u0085 ls \u2028 ps \u2029 bom \ufeff " +
	"rtl \u202e emoji 👩‍👩‍👧 astral \U0010ffff \"custom_id\":\"a\" {{ text }} \n{\"custom_id\":\"evil\"}\n"

// wires returns the dialects in the carriers that are used with them, as the catalogue would resolve them for a batch.
func wires() map[string]assay.Wire {
	chat := assay.Wire{
		Dialect: assay.DialectChat, URL: "/v1/chat/completions", ModelInBody: true, Schema: assay.SchemaWireStrict,
		MaxTokensField: "max_completion_tokens", SystemRole: "developer", StoreFalse: true, CacheKey: true,
	}
	openai := chat
	openai.Carrier = assay.CarrierOpenAI
	bare := chat
	bare.Carrier, bare.ModelInBody, bare.StoreFalse, bare.CacheKey = assay.CarrierBare, false, false, false
	bare.SeedField, bare.MaxTokensField, bare.SystemRole, bare.Thinking = "random_seed", "", "", assay.ThinkingWireEnableFlag
	router := chat
	router.Carrier, router.Thinking, router.StoreFalse = assay.CarrierOpenRouter, assay.ThinkingWireReasoning, false
	responses := assay.Wire{
		Dialect: assay.DialectResponses, Carrier: assay.CarrierOpenAI, URL: "/v1/responses", ModelInBody: true,
		StoreFalse: true, CacheKey: true, Schema: assay.SchemaWireStrict, SeedField: "seed",
	}
	messages := assay.Wire{
		Dialect: assay.DialectMessages, Carrier: assay.CarrierAnthropic, ModelInBody: true, Thinking: assay.ThinkingWireAdaptive,
		Schema: assay.SchemaWireStrict, CacheMarks: true, CacheTTL: "1h",
	}
	gemini := assay.Wire{
		Dialect: assay.DialectGenerate, Carrier: assay.CarrierGemini, Thinking: assay.ThinkingWireGemLevel, Schema: assay.SchemaWireStrict,
	}
	vertex := gemini
	vertex.Carrier, vertex.Thinking = assay.CarrierVertex, assay.ThinkingWireGemBudget
	converse := assay.Wire{
		Dialect: assay.DialectConverse, Carrier: assay.CarrierBedrock, MaxTokensField: "maxTokens", Thinking: assay.ThinkingWireAdaptive,
		Schema: assay.SchemaWireStrict,
	}
	return map[string]assay.Wire{
		"converse-bedrock": converse,
		"chat-openai":      openai, "chat-bare": bare, "chat-openrouter": router, "responses-openai": responses,
		"messages-anthropic": messages, "generate-gemini": gemini, "generate-vertex": vertex,
	}
}

// requests returns the same questions for every wire, with all parameters that the dialect has a place for.
func requests(w assay.Wire) []*assay.Request {
	plain := assay.Params{MaxTokens: 2000}
	full := assay.Params{
		Temperature: ptr(1.0), TopP: ptr(0.95), MaxTokens: 4096, Thoughts: true, ServiceTier: "flex",
		Schema: json.RawMessage(answerSchema),
		Extra:  map[string]json.RawMessage{"zeta": []byte(`[1, 2]`), "alpha": []byte(`{"b": "\u2028 "}`)},
	}
	switch w.Dialect {
	case assay.DialectResponses:
		full.Effort = "minimal"
		full.Extra["text"] = []byte(`{"verbosity": "low"}`)
	case assay.DialectMessages:
		full.Effort, full.Thinking = "high", assay.Thinking{Mode: assay.ThinkingOn}
	case assay.DialectConverse:
		full.Effort, full.Thinking, full.Stop = "high", assay.Thinking{Mode: assay.ThinkingOn}, []string{"END"}
		full.Extra["additionalModelRequestFields"] = []byte(`{"anthropic_beta": ["x"]}`)
	case assay.DialectGenerate:
		full.Extra["generationConfig"] = []byte(`{"presencePenalty": 0.5}`)
		full.Extra["labels"] = []byte(`{"team":"a"}`)
		full.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: 512}
		if w.Thinking == assay.ThinkingWireGemLevel {
			full.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: "low"}
		}
	default:
		full.Effort, full.Stop = "low", []string{"\n\n", "END"}
		full.Thinking.Mode = assay.ThinkingOn
		if w.Thinking == assay.ThinkingWireNone {
			full.Thinking.Mode = assay.ThinkingOff
		}
	}
	if w.Dialect != assay.DialectMessages && w.Dialect != assay.DialectConverse {
		full.Seed = ptr(int64(-7))
	}
	talk := &assay.Prompt{System: "Be kind.", Context: "A long shared text.", Messages: []assay.Message{
		{Role: assay.RoleUser, Text: "One?"}, {Role: assay.RoleAssistant, Text: "1"}, {Role: assay.RoleUser, Text: "Sure?"},
	}}
	one := func(text string) *assay.Prompt {
		return &assay.Prompt{System: "Be kind.", Messages: []assay.Message{{Role: assay.RoleUser, Text: text}}}
	}
	return []*assay.Request{
		{Wire: &w, Lane: &assay.Lane{Model: "m-1", Params: plain}, Prompt: one("One?")},
		{Wire: &w, Lane: &assay.Lane{Model: "m-1", Params: full}, Prompt: talk},
		{Wire: &w, Lane: &assay.Lane{Model: "m-1", Params: plain}, Prompt: &assay.Prompt{Messages: talk.Messages}},
		{Wire: &w, Lane: &assay.Lane{Model: "m-1", Params: plain}, Prompt: one(hostile)},
	}
}

func TestEveryWireWritesTheLinesOfItsGoldenFile(t *testing.T) {
	t.Parallel()
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []byte
			for _, req := range requests(w) {
				var err error
				if got, err = dialect.AppendLine(got, testID, req); err != nil {
					t.Fatal(err)
				}
				got = append(got, '\n')
			}
			golden(t, "request-"+name+".jsonl", got)
		})
	}
}

func TestBodiesOutsideBatchesMatchTheirGoldenFile(t *testing.T) {
	t.Parallel()
	var got []byte
	write := func(b []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(b, '\n')
	}
	ollama := assay.Wire{
		Dialect: assay.DialectOllama, ModelInBody: true, Thinking: assay.ThinkingWireThink, Schema: assay.SchemaWireStrict,
	}
	for _, req := range requests(ollama) {
		req.Lane.Params.ServiceTier = ""
		req.Lane.Params.Effort = ""
		write(dialect.AppendBody(got, req))
	}
	golden(t, "request-live.jsonl", got)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestNoTextBreaksALineOrChangesOnItsWay(t *testing.T) {
	t.Parallel()
	texts := []string{hostile, "", " ", "\ufffd", "lone \xed\xa0\x80 surrogate", "bad \xff\xfe utf8 \xc3", strings.Repeat("a\"b\n", 1000)}
	for i := range 40 { // every offset of a special character in a group of eight
		for _, special := range []string{"\"", "\\", "\n", "\x1f", "é", "\xff", "\u2029"} {
			texts = append(texts, strings.Repeat("x", i)+special+strings.Repeat("y", 40-i))
		}
	}
	for name, w := range wires() {
		req := requests(w)[0]
		for _, text := range texts {
			req.Prompt = &assay.Prompt{System: text, Context: text, Messages: []assay.Message{{Role: assay.RoleUser, Text: text}}}
			line, err := dialect.AppendLine(nil, testID, req)
			if err != nil {
				t.Fatal(name, err)
			}
			if !json.Valid(line) || !utf8.Valid(line) || bytes.ContainsAny(line, "\n\r\u0085\u2028\u2029") {
				t.Fatalf("%s: %q gives the line %q", name, text, line)
			}
			var all any
			if err := json.Unmarshal(line, &all); err != nil {
				t.Fatal(name, err)
			}
			want := string([]rune(text)) // every broken byte becomes U+FFFD
			if got := stringsIn(all); text != "" && !contains(got, want) {
				t.Fatalf("%s: %q is not among %q", name, want, got)
			}
		}
	}
}

func contains(texts []string, want string) bool {
	for _, s := range texts {
		if strings.Contains(s, want) {
			return true
		}
	}
	return false
}

func stringsIn(v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, e := range v {
			all = append(all, stringsIn(e)...)
		}
	case map[string]any:
		for _, e := range v {
			all = append(all, stringsIn(e)...)
		}
	}
	return all
}

func TestThePromptSaysNothingAboutTheLane(t *testing.T) {
	t.Parallel()
	for name, w := range wires() {
		req := requests(w)[0]
		first, err := dialect.AppendBody(nil, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Lane = &assay.Lane{Name: "other", Label: "a label", Notes: "notes", Model: "m-1", Params: req.Lane.Params}
		second, err := dialect.AppendBody(nil, req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(second)); diff != "" {
			t.Error(name, diff)
		}
	}
}

func TestWritingAllocatesNothingWhenThereIsRoom(t *testing.T) {
	for name, w := range wires() {
		for i, req := range requests(w) {
			buf, err := dialect.AppendLine(nil, testID, req)
			if err != nil {
				t.Fatal(err)
			}
			buf = append(buf, make([]byte, 1000)...)
			n := testing.AllocsPerRun(100, func() {
				_, _ = dialect.AppendLine(buf[:0], testID, req)
			})
			if n > 0 {
				t.Errorf("%s: request %d: %v allocations", name, i, n)
			}
		}
	}
}

func TestFramesMakeOneDocumentOfTheirLines(t *testing.T) {
	t.Parallel()
	for name, w := range wires() {
		frame := dialect.FrameOf(w, "m \"1\"")
		var lines int64
		doc := []byte(frame.Open)
		for i, req := range requests(w) {
			if i > 0 {
				doc = append(doc, frame.Separator...)
			}
			before := len(doc)
			var err error
			if doc, err = dialect.AppendLine(doc, testID, req); err != nil {
				t.Fatal(err)
			}
			lines += int64(len(doc) - before)
		}
		doc = append(doc, frame.Close...)
		if got := frame.Size(len(requests(w)), lines); got != int64(len(doc)) {
			t.Errorf("%s: size %d, want %d", name, got, len(doc))
		}
		if frame.Open == "" {
			if n := bytes.Count(doc, []byte("\n")); n != len(requests(w)) || frame.Type != "application/jsonl" {
				t.Errorf("%s: %d newlines in %s", name, n, frame.Type)
			}
			continue
		}
		if !json.Valid(doc) || frame.Type != "application/json" {
			t.Errorf("%s: not one document: %s", name, doc[:100])
		}
		var whole struct {
			Requests []json.RawMessage `json:"requests"`
		}
		if err := json.Unmarshal(doc, &whole); err != nil || len(whole.Requests) != len(requests(w)) {
			t.Errorf("%s: %d requests, %v", name, len(whole.Requests), err)
		}
	}
	router := dialect.FrameOf(wires()["chat-openrouter"], "m/1").Open
	want := `{"endpoint":"/v1/chat/completions","model":"m/1","completion_window":"24h","requests":[`
	if diff := cmp.Diff(want, router); diff != "" {
		t.Error(diff)
	}
}
