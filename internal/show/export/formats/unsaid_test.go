package formats_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
)

// counted returns a number of tokens; - is not known.
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
			Item: func(*rows.Item) error { return nil },
			Answer: func(a *rows.Answer) error {
				got = fmt.Sprintf("in %s cached %s written %s out %s reasoning %s", counted(a.InputTokens), counted(a.CachedTokens),
					counted(a.Write5m), counted(a.OutputTokens), counted(a.Reasoning))
				return nil
			},
			Bad: func(p assay.Problem) { t.Error(p) },
		}))
		if got != want {
			t.Errorf("%s is read as %s, want %s", usage, got, want)
		}
	}
}

// Questions whose hashes begin alike are two items. Only an output that is null or absent is empty, and tokens that are
// not given are unknown.
func TestResultsOfPromptfooAreNotTakenForOthers(t *testing.T) {
	t.Parallel()
	row := func(q, response string) string {
		return `{"provider":"echo","vars":{"q":"` + q + `"},"prompt":{"label":"p","raw":"Q"},"response":` + response +
			`,"failureReason":0}` + "\n"
	}
	text := row("769211", `{"output":"first"}`) + row("1357040", `{"output":"second"}`) // the first 5 bytes of both are the same
	for _, response := range []string{`{"output":[]}`, `{"output":{}}`, `{"output":false}`, `{"output":0}`, `{"output":null}`,
		`{"output":""}`, `{}`} {
		text += row("more", response)
	}
	text += row("more", `{"output":"x","tokenUsage":{"prompt":5,"completion":1}}`) +
		row("more", `{"output":"x","tokenUsage":{"prompt":5,"completion":1,"completionDetails":{"reasoning":0}}}`)
	items := map[string]bool{}
	var got []string
	ok(t, formatOf(t, "promptfoo").Read(t.Context(), export.From{Files: fstest.MapFS{"r.jsonl": {Data: []byte(text)}}, File: "r.jsonl"},
		&export.Sink{
			Item: func(it *rows.Item) error { items[it.Item] = true; return nil },
			Answer: func(a *rows.Answer) error {
				got = append(got, fmt.Sprintf("%d %s %q reasoning %s", a.Draw, a.Ending, a.Text, counted(a.Reasoning)))
				return nil
			},
			Bad: func(p assay.Problem) { t.Error(p) },
		}))
	want := []string{
		`1 answered "first" reasoning -`, `1 answered "second" reasoning -`,
		`1 answered "[]" reasoning -`, `2 answered "{}" reasoning -`, `3 answered "false" reasoning -`, `4 answered "0" reasoning -`,
		`5 empty "" reasoning -`, `6 empty "" reasoning -`, `7 empty "" reasoning -`,
		`8 answered "x" reasoning -`, `9 answered "x" reasoning 0`,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(items) != 3 {
		t.Errorf("%d items; %s", len(items), diff)
	}
}
