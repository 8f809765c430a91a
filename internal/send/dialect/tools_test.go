package dialect_test

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

func TestCallsOfAProvidersToolsAreCounted(t *testing.T) {
	t.Parallel()
	const usage = `"usage": {"input_tokens": 9, "output_tokens": 5`
	for _, c := range []struct {
		name string
		as   assay.Dialect
		body string
		want assay.ToolCalls
	}{
		{"Anthropic", assay.DialectMessages, `{"content": [{"type": "server_tool_use", "name": "code_execution"},
			{"type": "text", "text": "a"}], ` +
			usage + `, "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0}}}`, assay.ToolCalls{Searches: 2}},
		{"Anthropic, code alone", assay.DialectMessages, `{"content": [{"type": "server_tool_use", "name": "bash_code_execution"},
			{"type": "text", "text": "a"}], ` + usage + `}}`, assay.ToolCalls{Code: 1}},
		{"OpenAI", assay.DialectResponses, `{"status": "completed", "output": [{"type": "web_search_call", "action": {"type": "search"}},
			{"type": "web_search_call", "action": {"type": "open_page"}}, {"type": "file_search_call"}, {"type": "code_interpreter_call", "container_id": "c"},
			{"type": "code_interpreter_call", "container_id": "c"}, {"type": "code_interpreter_call", "container_id": "d"},
			{"type": "message", "content": [{"text": "a"}]}], ` + usage + `}}`, assay.ToolCalls{Searches: 1, Lookups: 1, Code: 2}},
		{"xAI", assay.DialectResponses, `{"status": "completed", "output": [{"type": "web_search_call"}, {"type": "message",
			"content": [{"text": "a"}]}], ` + usage + `, "num_server_side_tools_used": 3}}`, assay.ToolCalls{Searches: 3}},
		{"Gemini", assay.DialectGenerate, `{"candidates": [{"content": {"parts": [{"text": "a"}]}, "groundingMetadata":
			{"webSearchQueries": ["one", "two"]}}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5}}`,
			assay.ToolCalls{Searches: 2}},
		{"Anthropic, not counted", assay.DialectMessages, `{"content": [
			{"type": "server_tool_use", "name": "web_search"}, {"type": "web_search_tool_result", "content": [{"title": "p"}]},
			{"type": "server_tool_use", "name": "web_search"}, {"type": "web_search_tool_result",
				"content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}},
			{"type": "text", "text": "a"}], ` + usage + `}}`, assay.ToolCalls{Searches: 1}},
		{"Gemini, code", assay.DialectGenerate, `{"candidates": [{"content": {"parts": [{"executableCode": {"code": "print(1)"}},
			{"codeExecutionResult": {"output": "1"}}, {"text": "a"}]}}],
			"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5}}`, assay.ToolCalls{Code: 1}},
		{"Gemini, not counted", assay.DialectGenerate, `{"candidates": [{"content": {"parts": [{"text": "a"}]}, "groundingMetadata":
			{"groundingChunks": [{"web": {"uri": "u"}}]}}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5}}`,
			assay.ToolCalls{Other: 1}},
	} {
		var d dialect.Decoder
		if o := d.Body(c.as, []byte(c.body)); o.Text != "a" || !o.Usage.Known || o.Usage.Tools != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, o.Usage, c.want)
		}
	}
}

// What tools put into the prompt is billed as input, and thoughts as output.
func TestGeminiCountsWhatToolsRead(t *testing.T) {
	t.Parallel()
	var dec dialect.Decoder
	o := dec.Body(assay.DialectGenerate, []byte(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],
		"usageMetadata":{"promptTokenCount":9,"toolUsePromptTokenCount":4,"candidatesTokenCount":5,"thoughtsTokenCount":2}}`))
	if o.Usage.Input != 13 || o.Usage.Output != 7 || o.Usage.Reasoning != 2 {
		t.Errorf("%+v", o.Usage)
	}
}
