package dialect_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

func FuzzLine(f *testing.F) {
	var all []assay.Wire
	for name, w := range resultWires() {
		all = append(all, w)
		for _, line := range readLines(f, "result-"+name+".jsonl") {
			f.Add(line)
		}
	}
	var d dialect.Decoder
	f.Fuzz(func(t *testing.T, line []byte) {
		given := bytes.Clone(line)
		for _, w := range all {
			r := d.Line(w, line)
			checkOutcome(t, r.Outcome)
			if !utf8.ValidString(r.ID) {
				t.Errorf("id %q", r.ID)
			}
		}
		if !bytes.Equal(given, line) {
			t.Error("the line was changed")
		}
	})
}

func FuzzBody(f *testing.F) {
	dialects := []assay.Dialect{assay.DialectChat, assay.DialectResponses, assay.DialectMessages, assay.DialectGenerate,
		assay.DialectOllama, assay.DialectConverse}
	for _, body := range []string{
		`{"choices":[{"message":{"content":"\ud83dYes"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2.0}}`,
		`{"output":[{"type":"message","content":[{"text":"a"},{"refusal":"b"}]}],"status":"incomplete"}`,
		`{"content":[{"type":"thinking","thinking":"a"}],"stop_reason":"refusal","usage":{"input_tokens":1,"output_tokens":-1}}`,
		`{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]}}],"usageMetadata":{"promptTokenCount":"7"}}`,
		`{"output":{"message":{"content":[{"text":"a"},{"reasoningContent":{"reasoningText":{"text":"b"}}}]}},"stopReason":"max_tokens","usage":{"inputTokens":1,"outputTokens":2,"cacheWriteInputTokens":3,"cacheDetails":[{"ttl":"1h","inputTokens":9}]}}`,
		`{"message":{"content":"a","thinking":"b"},"prompt_eval_count":1e2,"eval_count":3}`,
		`{"error":[{"message":{"detail":[{"loc":[1]}]}}]}`, "\ufeff\n{}", `[[[[`, `"`,
	} {
		f.Add([]byte(body))
	}
	var d dialect.Decoder
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, name := range dialects {
			checkOutcome(t, d.Body(name, body))
		}
	})
}

// checkOutcome holds what is true of every outcome, whatever it was read from.
func checkOutcome(t *testing.T, o assay.Outcome) {
	t.Helper()
	if !slices.Contains(assay.Endings(), o.Ending) || !sound(o.Usage) {
		t.Errorf("%+v", o)
	}
	for _, s := range []string{o.Text, o.Thoughts, o.Finish, o.Model, o.RequestID, o.Tier} {
		if !utf8.ValidString(s) {
			t.Errorf("%q is not UTF-8", s)
		}
	}
	if o.Fault != nil {
		checkFault(t, *o.Fault)
	}
}

func checkFault(t *testing.T, f assay.Fault) {
	t.Helper()
	for _, s := range []string{f.Code, f.Message, f.Param, f.RequestID} {
		if !utf8.ValidString(s) || len(s) > 500 ||
			strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
			t.Errorf("%q is not fit to print", s)
		}
	}
	if f.Class == "" || f.RetryAfter < 0 {
		t.Errorf("%+v", f)
	}
}

func FuzzClassify(f *testing.F) {
	for _, body := range []string{
		"", "Bad Gateway", `{"error":{"message":"a\u001b","type":"b","param":"c","code":7}}`, `{"error":"a","code":"b"}`,
		`{"type":"error","error":{"type":"api_error"}}`,
		`[{"error":{"details":[{"retryDelay":"3.5s"},{"violations":[{"quotaId":"PerDay"}]},{"fieldViolations":[{"field":"x"}]}]}}]`,
		`{"detail":[{"loc":["a",1,[2]],"msg":"m"}]}`, `{"message":{"detail":{"detail":"x"}}}`, `{"errors":["x"]}`,
		`{"__type":"a#bException:c","Message":"x"}`, "<Error><Code>a</Code><Message>b</Message></Error>", "<", "RESOURCE_EXHAUSTED: x",
		"https://a?b sk-aaaaaaaaaaaaaaaaaaa",
	} {
		f.Add(429, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		checkFault(t, dialect.Classify(status, body))
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n c "), 1)
	f.Add([]byte("\ufeff\ufeff\n\u2028\n"), 0)
	f.Fuzz(func(t *testing.T, file []byte, max int) {
		max = min(max, 1<<20)
		got, err := collect(dialect.Lines(bytes.NewReader(file), max))
		if err != nil {
			t.Fatal(err)
		}
		again, err := collect(dialect.Lines(iotest.OneByteReader(bytes.NewReader(file)), max))
		if err != nil || !slices.Equal(got, again) {
			t.Errorf("read bytewise: %v %v, %v", got, again, err)
		}
		var want []string
		for i, line := range strings.Split(string(file), "\n") {
			if i == 0 {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			if line = strings.Trim(line, " \t\r"); line != "" {
				want = append(want, line)
			}
		}
		for i, l := range got {
			if max > 0 && len(l.Text) > max || l.TooLong != (max > 0 && int(l.Length) > max) {
				t.Errorf("limit %d: %+v", max, l)
			}
			if !l.TooLong && (i >= len(want) || l.Text != want[i] || string(file[l.Offset:l.Offset+l.Length]) != l.Text) {
				t.Errorf("%+v is not line %d", l, i)
			}
		}
		if len(got) < len(want) {
			t.Errorf("%d of %d lines", len(got), len(want))
		}
	})
}

func FuzzAppendLine(f *testing.F) {
	f.Add("Q", "", "", `{"type":"object"}`, 0.5)
	f.Add(hostile, hostile, hostile, `{"properties":{"a":{"enum":["x",1]}}}`, 1e-9)
	var all []assay.Wire
	for _, w := range wires() {
		all = append(all, w)
	}
	f.Fuzz(func(t *testing.T, text, system, context, schema string, temperature float64) {
		for _, w := range all {
			req := asked(w, assay.Params{MaxTokens: 9, Temperature: &temperature, Schema: json.RawMessage(schema),
				Extra: map[string]json.RawMessage{"x" + text: []byte(schema)}})
			req.Prompt.System, req.Prompt.Context, req.Prompt.Messages[0].Text = system, context, text
			line, err := dialect.AppendLine(nil, testID, req)
			if err != nil {
				continue
			}
			if !json.Valid(line) || !utf8.Valid(line) || bytes.ContainsAny(line, "\n\r\u0085\u2028\u2029") {
				t.Errorf("%q", line)
			}
		}
	})
}
