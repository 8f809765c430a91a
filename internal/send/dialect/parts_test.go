package dialect_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// medium returns a medium that has its bytes.
func medium(kind assay.MediaKind, mime, name, content string) *assay.Media {
	return &assay.Media{Kind: kind, Type: mime, Name: name, Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// oneOfEach returns one wire of each dialect.
func oneOfEach() []assay.Wire {
	var all []assay.Wire
	for _, d := range []assay.Dialect{assay.DialectChat, assay.DialectResponses, assay.DialectMessages, assay.DialectGenerate,
		assay.DialectConverse, assay.DialectOllama} {
		all = append(all, assay.Wire{Dialect: d, Schema: assay.SchemaWireStrict})
	}
	mistral := assay.Wire{Dialect: assay.DialectChat, Media: assay.MediaWireMistral}
	return append(all, mistral, assay.Wire{Dialect: assay.DialectChat, Media: assay.MediaWireImages})
}

// A message with parts, and tools, in every dialect: what is written, or what the dialect has no place for.
func TestPartsAndToolsInEveryDialect(t *testing.T) {
	t.Parallel()
	part := func(parts ...assay.Part) []assay.Message {
		return []assay.Message{{Role: assay.RoleUser, Parts: parts}}
	}
	text := assay.Part{Text: "What is it?"}
	low := medium(assay.MediaImage, "image/png", "", "\x89PNG")
	low.Detail = "low"
	schema := json.RawMessage(`{"type":"object","properties":{"at":{"$ref":"#/$defs/place"}},"required":["at"],
		"$defs":{"place":{"type":"string","description":"a town"}}}`)
	tools := []assay.Tool{{Name: "weather", Description: "of a town", Schema: schema, Strict: ptr(true)}, {Name: "now"}}
	talk := []assay.Message{
		{Role: assay.RoleUser, Text: "Weather?"},
		{Role: assay.RoleAssistant, Parts: []assay.Part{{Text: "I look."},
			{Call: &assay.ToolCall{ID: "c1", Name: "weather", Arguments: json.RawMessage(`{"at":"Rome"}`), Signature: "s1"}},
			{Call: &assay.ToolCall{ID: "c2", Name: "now"}}}},
		{Role: assay.RoleUser, Parts: []assay.Part{{Result: &assay.ToolResult{ID: "c1", Name: "weather", Text: "rain"}},
			{Result: &assay.ToolResult{ID: "c2", Name: "now", Parts: []assay.Part{{Text: "no clock"}}, Failed: true}}, {Text: "And?"}}},
	}
	cases := []struct {
		name     string
		messages []assay.Message
		params   assay.Params
	}{
		{"image", part(text, assay.Part{Media: medium(assay.MediaImage, "image/png", "", "\x89PNG")}), assay.Params{}},
		{"image at low detail", part(assay.Part{Media: low}, text), assay.Params{}},
		{"image by URL", part(text, assay.Part{Media: &assay.Media{Kind: assay.MediaImage, URL: "https://x.test/a.png"}}), assay.Params{}},
		{"image in a bucket", part(text, assay.Part{Media: &assay.Media{Kind: assay.MediaImage, Type: "image/png", URL: "s3://b/a.png"}}),
			assay.Params{}},
		{"image by upload", part(text, assay.Part{Media: &assay.Media{Kind: assay.MediaImage, File: "file_1"}}), assay.Params{}},
		{"document", part(assay.Part{Media: medium(assay.MediaDocument, "application/pdf", "a.pdf", "%PDF")}, text), assay.Params{}},
		{"text document", part(assay.Part{Media: medium(assay.MediaDocument, "text/plain", "a.txt", "é\n")}, text), assay.Params{}},
		{"document by URL", part(assay.Part{Media: &assay.Media{Kind: assay.MediaDocument, URL: "https://x.test/"}}, text), assay.Params{}},
		{"document by upload", part(assay.Part{Media: &assay.Media{Kind: assay.MediaDocument, File: "file_2"}}, text), assay.Params{}},
		{"audio", part(text, assay.Part{Media: medium(assay.MediaAudio, "audio/mpeg", "", "ID3")}), assay.Params{}},
		{"tools", part(text), assay.Params{Tools: tools, ToolChoice: assay.ToolChoice{Mode: assay.ToolAny}}},
		{"named tool", part(text), assay.Params{Tools: tools[1:], ToolChoice: assay.ToolChoice{Mode: assay.ToolNamed, Name: "now"}}},
		{"no tool", part(text), assay.Params{Tools: tools[1:], ToolChoice: assay.ToolChoice{Mode: assay.ToolNone}}},
		{"one call at a time", part(text), assay.Params{Tools: tools[1:], Parallel: ptr(false)}},
		{"conversation with calls", talk, assay.Params{Tools: tools[1:]}},
		{"json object", part(text), assay.Params{JSON: true}},
		{"several answers", part(text), assay.Params{N: 2}},
		{"logprobs", part(text), assay.Params{Logprobs: 3}},
	}
	var got []byte
	for _, c := range cases {
		for _, w := range oneOfEach() {
			c.params.MaxTokens = 9
			body, err := dialect.AppendBody(nil, &assay.Request{Wire: &w, Lane: &assay.Lane{Params: c.params},
				Prompt: &assay.Prompt{System: "S", Messages: c.messages}})
			head := fmt.Sprintf("%s, %s %s: ", c.name, w.Dialect, w.Media)
			if err != nil {
				got = fmt.Appendf(got, "%s%v\n", head, err)
				continue
			}
			if !json.Valid(body) {
				t.Errorf("%snot JSON: %s", head, body)
			}
			got = append(append(append(got, head...), body...), '\n')
		}
	}
	golden(t, "parts.golden", got)
}

func TestAMediumThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	gone := medium(assay.MediaImage, "image/png", "a.png", "abc")
	gone.Size = 4
	for _, w := range oneOfEach()[:6] {
		_, err := dialect.AppendBody(nil, &assay.Request{Wire: &w, Lane: &assay.Lane{Params: assay.Params{MaxTokens: 9}},
			Prompt: &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Parts: []assay.Part{{Text: "?"}, {Media: gone}}}}}})
		if err == nil || !strings.Contains(err.Error(), "a.png: it has 3 bytes now, not 4") {
			t.Errorf("%s: %v", w.Dialect, err)
		}
	}
}

func TestCallsOfToolsAreReadInEveryDialect(t *testing.T) {
	t.Parallel()
	want := []assay.ToolCall{{Name: "weather", Arguments: json.RawMessage(`{"at":"Rome"}`)}}
	for d, body := range map[assay.Dialect]string{
		assay.DialectChat: `{"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[{"id":"1","type":"function",
			"function":{"name":"weather","arguments":"{\"at\": \"Rome\"}"}}]}}]}`,
		assay.DialectResponses: `{"status":"completed","output":[{"type":"function_call","call_id":"1","name":"weather","arguments":"{\"at\":\"Rome\"}"}]}`,
		assay.DialectMessages:  `{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"1","name":"weather","input":{"at":"Rome"}}]}`,
		assay.DialectGenerate:  `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"functionCall":{"id":"1","name":"weather","args":{"at":"Rome"}}}]}}]}`,
		assay.DialectConverse:  `{"stopReason":"tool_use","output":{"message":{"content":[{"toolUse":{"toolUseId":"1","name":"weather","input":{"at":"Rome"}}}]}}}`,
		assay.DialectOllama:    `{"done_reason":"stop","message":{"content":"","tool_calls":[{"id":"1","function":{"name":"weather","arguments":{"at":"Rome"}}}]}}`,
	} {
		o := new(dialect.Decoder).Body(d, []byte(body))
		want[0].ID = "1"
		if o.Ending != assay.Answered || !slices.EqualFunc(o.Calls, want, func(a, b assay.ToolCall) bool {
			return a.ID == b.ID && a.Name == b.Name && string(a.Arguments) == string(b.Arguments)
		}) {
			t.Errorf("%s: %s %+v", d, o.Ending, o.Calls)
		}
	}
	broken := new(dialect.Decoder).Body(assay.DialectChat, []byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":"}}]}}]}`))
	if len(broken.Calls) != 1 || broken.Calls[0].Broken != `{"a":` {
		t.Errorf("broken arguments: %+v", broken.Calls)
	}
}
