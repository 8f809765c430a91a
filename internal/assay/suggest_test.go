package assay_test

import (
	"testing"

	"assay/internal/assay"
)

func TestDidYouMeanNamesTheNearestWordOnly(t *testing.T) {
	t.Parallel()
	words := []string{"temperature", "top_p", "max_tokens", "effort", "lanes"}
	for in, want := range map[string]string{
		"temprature":  "did you mean temperature?",
		"temperatuer": "did you mean temperature?",
		"maxtokens":   "did you mean max_tokens?",
		"Lane":        "did you mean lanes?",
		"colour":      "",
		"":            "",
	} {
		if got := assay.DidYouMean(in, words); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestChoicesAreTheNearestNameOrAllOfThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word  string
		names []string
		want  string
	}{
		{"jsonk", []string{"csv", "jsonl"}, "did you mean jsonl?"},
		{"excel", []string{"csv", "jsonl"}, "there are csv, jsonl"},
		{"excel", []string{"csv"}, "there is csv"},
		{"excel", nil, ""},
	} {
		if got := assay.Choices(c.word, c.names); got != c.want {
			t.Errorf("%q among %q: %q, want %q", c.word, c.names, got, c.want)
		}
	}
}
