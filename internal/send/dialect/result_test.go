package dialect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// resultWires returns the wire of each file of result lines.
func resultWires() map[string]assay.Wire {
	return map[string]assay.Wire{
		"chat-openai":        {Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI},
		"chat-usage":         {Dialect: assay.DialectChat, Carrier: assay.CarrierOpenRouter},
		"chat-xai":           {Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI, ReasoningApart: true},
		"chat-bare":          {Dialect: assay.DialectChat, Carrier: assay.CarrierBare},
		"responses-openai":   {Dialect: assay.DialectResponses, Carrier: assay.CarrierOpenAI},
		"messages-anthropic": {Dialect: assay.DialectMessages, Carrier: assay.CarrierAnthropic},
		"generate-gemini":    {Dialect: assay.DialectGenerate, Carrier: assay.CarrierGemini},
		"generate-vertex":    {Dialect: assay.DialectGenerate, Carrier: assay.CarrierVertex},
		"converse-bedrock":   {Dialect: assay.DialectConverse, Carrier: assay.CarrierBedrock},
	}
}

func readLines(t testing.TB, name string) [][]byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for line, err := range dialect.Lines(bytes.NewReader(file), 0) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, bytes.Clone(line.Bytes))
	}
	return lines
}

// The id of every line in these files holds the ending it must have: the word before the dash.
func TestEveryResultLineEndsAsItsIDSays(t *testing.T) {
	t.Parallel()
	for name, w := range resultWires() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d dialect.Decoder
			var got []byte
			for _, line := range readLines(t, "result-"+name+".jsonl") {
				r := d.Line(w, line)
				if want, _, ok := strings.Cut(r.ID, "-"); ok && want != "aplan222222" && want != string(r.Outcome.Ending) {
					t.Errorf("%s: ended %s: %+v %v", r.ID, r.Outcome.Ending, r.Outcome, r.Outcome.Fault)
				}
				if answered := r.Outcome.Ending.Stands() || r.Outcome.Ending == assay.Empty; !answered && r.Outcome.Fault == nil {
					t.Errorf("%s: %s without a fault", r.ID, r.Outcome.Ending)
				}
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				got = append(append(got, text...), '\n')
			}
			golden(t, "result-"+name+".golden", got)
		})
	}
}

func TestBodiesOfLiveRepliesAreReadLikeThoseOfLines(t *testing.T) {
	t.Parallel()
	var d dialect.Decoder
	for _, c := range []struct {
		name, body string
		dialect    assay.Dialect
		want       assay.Outcome
	}{
		{
			"an Ollama answer",
			`{"model":"qwen3","message":{"role":"assistant","content":"Yes.","thinking":"hm"},"done":true,"done_reason":"stop",` +
				`"prompt_eval_count":26,"eval_count":298,"total_duration":4883583458}`, assay.DialectOllama,
			assay.Outcome{Ending: assay.Answered, Text: "Yes.", Thoughts: "hm", Finish: "stop", Model: "qwen3",
				Usage: assay.Usage{Known: true, Input: 26, Output: 298}},
		},
		{
			"an Ollama answer that hit its limit", `{"message":{"content":"Ye"},"done_reason":"length","eval_count":3}`,
			assay.DialectOllama, assay.Outcome{Ending: assay.Cut, Text: "Ye", Finish: "length"},
		},
		{
			"an Ollama error", `{"error":"model requires more system memory"}`, assay.DialectOllama,
			assay.Outcome{Ending: assay.Errored,
				Fault: &assay.Fault{Class: assay.FaultUnknown, Message: "model requires more system memory"}},
		},
		{
			"a Mistral error under a good status", `{"object":"error","message":"Service unavailable.","type":"unavailable","code":"3505"}`,
			assay.DialectChat, assay.Outcome{Ending: assay.Errored,
				Fault: &assay.Fault{Class: assay.FaultBusy, Code: "3505", Message: "Service unavailable."}},
		},
		{
			"reasoning beside the output, as the total says", `{"choices":[{"message":{"content":"Yes."}}],"usage":{"prompt_tokens":1,` +
				`"completion_tokens":50,"total_tokens":71,"completion_tokens_details":{"reasoning_tokens":20}}}`, assay.DialectChat,
			assay.Outcome{Ending: assay.Answered, Text: "Yes.", Usage: assay.Usage{Known: true, Input: 1, Output: 70, Reasoning: 20}},
		},
		{
			"a count that is an empty text", `{"choices":[{"message":{"content":"Yes."}}],"usage":{"prompt_tokens":"","completion_tokens":5}}`,
			assay.DialectChat, assay.Outcome{Ending: assay.Answered, Text: "Yes."},
		},
		{
			"a body behind blank lines and a byte order mark", "\ufeff\n\n {\"content\":\"Yes.\"}\n", assay.DialectMessages,
			assay.Outcome{Ending: assay.Answered, Text: "Yes."},
		},
		{
			"a page in the place of a reply", "<html>\x1b[2J</html>", assay.DialectResponses,
			assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultUnknown, Code: "unreadable_reply",
				Message: `not valid JSON: <html>\u001b[2J</html>`}},
		},
		{
			"a dialect that does not exist", "{}", "klingon",
			assay.Outcome{Ending: assay.Errored,
				Fault: &assay.Fault{Class: assay.FaultUnknown, Code: "no_dialect", Message: "no dialect klingon"}},
		},
	} {
		if diff := cmp.Diff(c.want, d.Body(c.dialect, []byte(c.body))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// replies wrap a text as each carrier's providers do.
func replies() map[string]func(text string) any {
	type m = map[string]any
	chat := func(text string) any {
		return m{"choices": []any{m{"message": m{"content": text}, "finish_reason": "stop"}}}
	}
	return map[string]func(text string) any{
		"chat-openai": func(text string) any {
			return m{"custom_id": testID, "response": m{"status_code": 200, "body": chat(text)}}
		},
		"chat-bare": func(text string) any { return m{"custom_id": testID, "response": chat(text)} },
		"chat-xai": func(text string) any {
			return m{"batch_request_id": testID, "batch_result": m{"response": m{"chat_get_completion": chat(text)}}}
		},
		"responses-openai": func(text string) any {
			return m{"custom_id": testID, "response": m{"status_code": 200, "body": m{
				"output": []any{m{"type": "message", "content": []any{m{"type": "output_text", "text": text}}}}}}}
		},
		"messages-anthropic": func(text string) any {
			return m{"custom_id": testID, "result": m{"type": "succeeded", "message": m{"content": []any{m{"type": "text", "text": text}}}}}
		},
		"generate-gemini": func(text string) any {
			return m{"key": testID, "response": m{"candidates": []any{m{"content": m{"parts": []any{m{"text": text}}}}}}}
		},
		"generate-vertex": func(text string) any {
			return m{"request": m{"labels": m{"assay_id": testID}}, "status": "",
				"response": m{"candidates": []any{m{"content": m{"parts": []any{m{"text": text}}}}}}}
		},
	}
}

func TestAnswersComeBackAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The answer is 42.\n\"é\u2028", 500_000)
	var d dialect.Decoder
	for name, wrap := range replies() {
		texts := []string{hostile, "x", "\\", "\"", "ends in a backslash \\"}
		if name == "chat-openai" {
			texts = append(texts, long)
		}
		for _, text := range texts {
			line, err := json.Marshal(wrap(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, source := range [][]byte{line, ascii(line)} {
				r := d.Line(resultWires()[name], source)
				if r.ID != testID || r.Malformed || r.Outcome.Ending != assay.Answered || r.Outcome.Text != text {
					t.Errorf("%s: %d bytes come back as %s %s with %d bytes", name, len(text), r.ID, r.Outcome.Ending, len(r.Outcome.Text))
				}
			}
		}
	}
}

// ascii escapes all that is not ASCII, as many servers do.
func ascii(line []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(line) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04X\u%04X`, high, low)
		}
	}
	return b.Bytes()
}

func TestBrokenCharactersCostNothingButThemselves(t *testing.T) {
	t.Parallel()
	var d dialect.Decoder
	for source, want := range map[string]string{
		`a\ud83dA`:             "a\ufffdA", // a lone surrogate, high
		`a\ude00A`:             "a\ufffdA", // … and low
		`\ud83d\u0041\ud83d`:   "\ufffdA\ufffd",
		`\ud83d\ud83d\ude00`:   "\ufffd😀",
		"raw \xff\xfe bytes":   "raw \ufffd bytes",
		"cut \xe2\x80":         "cut \ufffd",
		"raw \x01\n control":   "raw \x01\n control",
		`\q \u12 \u12G4 kept`:  `\q \u12 \u12G4 kept`,
		`nul \u0000 nul`:       "nul \x00 nul",
		`\/ \b\f\n\r\t \" \\n`: "/ \b\f\n\r\t \" \\n",
	} {
		body := `{"choices":[{"message":{"content":"` + source + `"}}]}`
		o := d.Body(assay.DialectChat, []byte(body))
		if diff := cmp.Diff(want, o.Text); diff != "" {
			t.Errorf("%q: %s", source, diff)
		}
	}
}

func TestNamesMayBeEscapedAndRepeated(t *testing.T) {
	t.Parallel()
	var d dialect.Decoder
	line :=
		`{"\u0063ustom_id":"one","custom_id":"two","response":{"status_code":200,"body":{"choices":[{"m\u0065ssage":{"content":"Yes."}}]}}}`
	r := d.Line(resultWires()["chat-openai"], []byte(line))
	if r.ID != "one" || r.Outcome.Text != "Yes." {
		t.Errorf("%+v", r)
	}
}

func TestAValueOfTheWrongKindNeverHurtsMoreThanItsLine(t *testing.T) {
	t.Parallel()
	wrong := []any{nil, true, -1, 1e300, json.Number("123456789012345678901234567890"), "", "text", []any{}, []any{nil, 1},
		map[string]any{}, map[string]any{"type": 1}}
	var d dialect.Decoder
	for name, w := range resultWires() {
		for _, line := range readLines(t, "result-"+name+".jsonl") {
			var doc any
			if json.Unmarshal(line, &doc) != nil {
				continue
			}
			spoil(&doc, wrong, func() {
				spoiled, err := json.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				r := d.Line(w, spoiled)
				if u := r.Outcome.Usage; !slices.Contains(assay.Endings(), r.Outcome.Ending) || !sound(u) {
					t.Errorf("%s: %s gives %+v", name, spoiled, r)
				}
			})
		}
	}
}

// spoil puts every wrong value in the place of every value of a document, one at a time.
func spoil(at *any, wrong []any, try func()) {
	kept := *at
	for _, w := range wrong {
		*at = w
		try()
	}
	*at = kept
	switch v := kept.(type) {
	case map[string]any:
		for name := range v {
			inner := v[name]
			spoil(&inner, wrong, func() { v[name] = inner; try() })
			v[name] = inner
		}
	case []any:
		for i := range v {
			spoil(&v[i], wrong, try)
		}
	}
}

// sound usages can be priced: nothing is negative, and no part is larger than its whole.
func sound(u assay.Usage) bool {
	if !u.Known {
		return u == assay.Usage{}
	}
	return min(u.Input, u.Cached, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning) >= 0 &&
		u.Cached+u.CacheWrite5m+u.CacheWrite1h <= u.Input && u.Reasoning <= u.Output
}

func TestDocumentsBeyondAllMeasureAreNotParsed(t *testing.T) {
	t.Parallel()
	var d dialect.Decoder
	for name, line := range map[string]string{
		"too deep":        `{"custom_id":"x","response":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
		"too many values": `{"custom_id":"x","response":[` + strings.Repeat("1,", 5_000_000) + "1]}",
	} {
		r := d.Line(resultWires()["chat-openai"], []byte(line))
		if !r.Malformed || r.ID != "x" || r.Outcome.Ending != assay.Errored || len(r.Outcome.Fault.Message) > 500 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestReadingKeepsNothingOfTheLine(t *testing.T) {
	t.Parallel()
	var d dialect.Decoder
	for _, line := range readLines(t, "result-chat-openai.jsonl") {
		r := d.Line(resultWires()["chat-openai"], line)
		before := fmt.Sprintf("%+v %+v", r, r.Outcome.Fault)
		for i := range line {
			line[i] = 'x'
		}
		d.Body(assay.DialectChat, []byte(`{"model":"other","id":"\u0041"}`))
		if diff := cmp.Diff(before, fmt.Sprintf("%+v %+v", r, r.Outcome.Fault)); diff != "" {
			t.Error(diff)
		}
	}
}

// A status that no server gives is none.
func TestAStatusBeyondThoseOfHTTPIsNone(t *testing.T) {
	t.Parallel()
	var dec dialect.Decoder
	for code, want := range map[string]string{"599": "", "600": "no_status_code", `"x"`: "no_status_code"} {
		got := dec.Line(assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI},
			[]byte(`{"custom_id":"a","response":{"status_code":`+code+`,"body":"gone"}}`))
		if f := got.Outcome.Fault; f == nil || f.Code != want {
			t.Errorf("%s: %+v", code, f)
		}
	}
}
