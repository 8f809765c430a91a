package dialect_test

import (
	"fmt"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// TestWhatAnAnswerMightHaveBegunWithIsRead reads the first place of an answer that is no white space, the likeliest token first.
func TestWhatAnAnswerMightHaveBegunWithIsRead(t *testing.T) {
	t.Parallel()
	const (
		token = `{"token": "yes", "logprob": -0.25, "bytes": [121],
			"top_logprobs": [{"token": "yes", "logprob": -0.25}, {"token": "no", "logprob": -1.5}]}`
		second = `{"token": ".", "logprob": -3, "top_logprobs": [{"token": "!", "logprob": -0.1}]}`
		rare   = `{"token": "no", "logprob": -4, "top_logprobs": [{"token": "yes", "logprob": -0.1}, {"token": " the", "logprob": -3}]}`
		blank  = `{"token": "\n", "logprob": -0.01, "top_logprobs": [{"token": "\n", "logprob": -0.01}]}`
	)
	chat := func(places string) string {
		return `{"choices": [{"message": {"content": "yes."}, "finish_reason": "stop", "logprobs": ` + places + `}], "usage": {}}`
	}
	responses := func(places string) string {
		return `{"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "yes.", "logprobs": ` +
			places + `}]}]}`
	}
	generate := func(result string) string {
		return `{"candidates": [{"content": {"parts": [{"text": "yes."}]}, "finishReason": "STOP", "logprobsResult": ` + result + `}]}`
	}
	const both = "[{yes -0.25} {no -1.5}]"
	for _, c := range []struct {
		name string
		as   assay.Dialect
		body string
		want string
	}{
		{"chat", assay.DialectChat, chat(`{"content": [` + token + `,` + second + `]}`), both},
		{"chat, white space first", assay.DialectChat, chat(`{"content": [` + blank + `,` + token + `]}`), both},
		{"chat, a token that is not among the likeliest", assay.DialectChat, chat(`{"content": [` + rare + `]}`),
			"[{yes -0.1} { the -3} {no -4}]"},
		{"chat, none asked for", assay.DialectChat, chat(`null`), "[]"},
		{"chat, of a refusal alone", assay.DialectChat, chat(`{"content": null, "refusal": []}`), "[]"},
		{"chat, no number", assay.DialectChat, chat(`{"content": [{"token": "yes", "logprob": "-1"}]}`), "[]"},
		{"chat, more than certain", assay.DialectChat, chat(`{"content": [{"token": "yes", "logprob": 0.5}]}`), "[]"},
		{"chat, rounded up", assay.DialectChat, chat(`{"content": [{"token": "yes", "logprob": 1e-7}]}`), "[{yes 0}]"},
		{"responses", assay.DialectResponses, responses(`[` + token + `]`), both},
		{"responses, none", assay.DialectResponses, responses(`[]`), "[]"},
		{"Gemini", assay.DialectGenerate, generate(`{"topCandidates": [{"candidates": [{"token": "yes", "logProbability": -0.25},
			{"token": "no", "logProbability": -1.5}]}, {"candidates": []}],
			"chosenCandidates": [{"token": "yes", "logProbability": -0.25}, {"token": ".", "logProbability": -3}]}`), both},
		{"Gemini, white space first", assay.DialectGenerate, generate(`{"topCandidates": [{"candidates": [{"token": " ",
			"logProbability": -0.1}]}, {"candidates": [{"token": "no", "logProbability": -1.5}]}],
			"chosenCandidates": [{"token": " ", "logProbability": -0.1}, {"token": "yes", "logProbability": -0.25}]}`), both},
		{"Gemini, the chosen alone", assay.DialectGenerate, generate(`{"chosenCandidates": [{"token": "yes", "logProbability": -0.25}]}`),
			"[{yes -0.25}]"},
	} {
		var d dialect.Decoder
		if o := d.Body(c.as, []byte(c.body)); fmt.Sprint(o.Likely) != c.want || o.Text != "yes." {
			t.Errorf("%s: %v of %q, want %s", c.name, o.Likely, o.Text, c.want)
		}
	}
}
