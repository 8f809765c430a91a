package dialect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/test/ratiotest"
)

const benchText = "The committee reviewed the proposal in detail, and found that \"most\" of its claims hold up.\n" +
	"Two of them do not: the figure for 2019 is off by a factor of ten, and the appendix contradicts table 3.\n"

func benchRequest(d assay.Dialect, c assay.Carrier) *assay.Request {
	temperature, topP := 0.7, 0.95
	return &assay.Request{
		Lane: &assay.Lane{Model: "gpt-4.1-mini", Params: assay.Params{Temperature: &temperature, TopP: &topP, MaxTokens: 2000}},
		Wire: &assay.Wire{Dialect: d, Carrier: c, URL: "/v1/chat/completions", ModelInBody: true, StoreFalse: true},
		Prompt: &assay.Prompt{
			System:   "You are a careful assistant.",
			Messages: []assay.Message{{Role: assay.RoleUser, Text: strings.Repeat(benchText, 10)}},
		},
	}
}

const benchID = "aplan222222-aaaaaaaaaaaaaaaaaaaaaaaaaa"

func BenchmarkAppendLine(b *testing.B) {
	req := benchRequest(assay.DialectChat, assay.CarrierOpenAI)
	buf, err := dialect.AppendLine(nil, benchID, req)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if buf, err = dialect.AppendLine(buf[:0], benchID, req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendLineByEncodingJSON writes the same line with structs, for comparison.
func BenchmarkAppendLineByEncodingJSON(b *testing.B) {
	req := benchRequest(assay.DialectChat, assay.CarrierOpenAI)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	write := func() {
		buf.Reset()
		if err := enc.Encode(asStructs(req)); err != nil {
			b.Fatal(err)
		}
	}
	write()
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		write()
	}
}

func asStructs(req *assay.Request) chatLine {
	p := &req.Lane.Params
	body := chatBody{Model: req.Lane.Model, Temperature: p.Temperature, TopP: p.TopP, MaxTokens: p.MaxTokens}
	body.Messages = append(body.Messages, chatMessage{"system", req.Prompt.System})
	for _, m := range req.Prompt.Messages {
		body.Messages = append(body.Messages, chatMessage{string(m.Role), m.Text})
	}
	return chatLine{CustomID: benchID, Method: "POST", URL: req.Wire.URL, Body: body}
}

// resultFile returns a result file of OpenAI chat with so many lines of the usual length.
func resultFile(lines int) []byte {
	var b bytes.Buffer
	text, _ := json.Marshal(strings.Repeat(benchText, 8))
	for i := range lines {
		fmt.Fprintf(&b, `{"id": "batch_req_%d", "custom_id": %q, "response": {"status_code": 200, "request_id": "req_%d", "body": `+
			`{"id": "chatcmpl-%d", "object": "chat.completion", "created": 1762000000, "model": "gpt-4.1-mini-2025-04-14", "choices": `+
			`[{"index": 0, "message": {"role": "assistant", "content": %s, "refusal": null, "annotations": []}, "logprobs": null, "finish_reason": "stop"}], `+
			`"usage": {"prompt_tokens": 512, "completion_tokens": 380, "total_tokens": 892, "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}, `+
			`"completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}}, `+
			`"service_tier": "default", "system_fingerprint": "fp_1"}}, "error": null}`+"\n", i, benchID, i, i, text)
	}
	return b.Bytes()
}

// BenchmarkDecodeFile holds decoding a result file against a plain parser that takes the answers out and nothing else.
func BenchmarkDecodeFile(b *testing.B) {
	file := resultFile(2000)
	w := assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI}
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	var d dialect.Decoder
	ratiotest.Against(b, func() { parseFile(b, file) }, func() {
		for line, err := range dialect.Lines(bytes.NewReader(file), dialect.MaxLine) {
			if err != nil {
				b.Fatal(err)
			}
			if r := d.Line(w, line.Bytes); r.Outcome.Ending != assay.Answered {
				b.Fatal(r)
			}
		}
	})
}

func parseFile(b *testing.B, file []byte) {
	var p fastjson.Parser
	for line := range bytes.Lines(file) {
		v, err := p.ParseBytes(line)
		if err != nil {
			b.Fatal(err)
		}
		text := string(v.GetStringBytes("response", "body", "choices", "0", "message", "content"))
		if text == "" {
			b.Fatal("no text")
		}
	}
}

type chatLine struct {
	CustomID string   `json:"custom_id"`
	Method   string   `json:"method"`
	URL      string   `json:"url"`
	Body     chatBody `json:"body"`
}

type chatBody struct {
	Model       string        `json:"model"`
	Messages    []chatMessage `json:"messages"`
	Temperature *float64      `json:"temperature,omitempty"`
	TopP        *float64      `json:"top_p,omitempty"`
	MaxTokens   int           `json:"max_tokens,omitempty"`
	Store       bool          `json:"store"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}
