package assay_test

import (
	"testing"

	"assay"
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
