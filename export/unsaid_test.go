package export_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"assay"
	"assay/export"
	"assay/results"
)

// counted is a number of tokens; - is not known.
func counted(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// Tokens that a log does not give are unknown, and not 0.
func TestTokensThatALogOfInspectDoesNotGiveAreUnknown(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]string{
		`{"input_tokens":5,"output_tokens":2,"total_tokens":7}`: "in 5 cached - written - out 2 reasoning -",
		`{"input_tokens":5,"output_tokens":2,"total_tokens":7,"input_tokens_cache_read":null,"input_tokens_cache_write":null,"reasoning_tokens":null}`: "in 5 cached - written - out 2 reasoning -",
		`{"input_tokens":5,"output_tokens":2,"total_tokens":17,"input_tokens_cache_read":3,"input_tokens_cache_write":7,"reasoning_tokens":1}`:         "in 15 cached 3 written 7 out 2 reasoning 1",
		`{"input_tokens":5,"output_tokens":2,"total_tokens":7,"input_tokens_cache_read":0,"input_tokens_cache_write":0,"reasoning_tokens":0}`:          "in 5 cached 0 written 0 out 2 reasoning 0",
		`{"input_tokens":null,"output_tokens":2,"total_tokens":2,"input_tokens_cache_read":3}`:                                                         "in - cached 3 written - out 2 reasoning -",
		`{"input_tokens":5}`: "in 5 cached - written - out - reasoning -",
		`null`:               "in - cached - written - out - reasoning -",
	} {
		got := ""
		log := foreignJSON(`{"id":1,"epoch":1,"input":"q","target":"","output":{"completion":"x","usage":` + usage + `}}`)
		ok(t, formatOf(t, "inspect").Read(t.Context(), export.From{Files: fstest.MapFS{stamped + ".json": {Data: log}}}, &export.Sink{
			Item: func(*results.Item) error { return nil },
			Answer: func(a *results.Answer) error {
				got = fmt.Sprintf("in %s cached %s written %s out %s reasoning %s", counted(a.InputTokens), counted(a.CachedTokens), counted(a.Write5m), counted(a.OutputTokens), counted(a.Reasoning))
				return nil
			},
			Bad: func(p assay.Problem) { t.Error(p) },
		}))
		if got != want {
			t.Errorf("%s is read as %s, want %s", usage, got, want)
		}
	}
}
