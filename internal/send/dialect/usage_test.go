package dialect

import (
	"testing"

	"assay/internal/assay"
)

func TestReasoningIsAddedOnlyWhereItIsBesideTheOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output, reasoning, total int64
		r                        reasoning
		want                     int64
	}{
		"inside, as the total says":                 {50, 20, 60, reasoningApart, 50},
		"beside, as the total says":                 {50, 20, 80, reasoningWithin, 70},
		"all of the output, no total":               {20, 20, 0, reasoningWithin, 20},
		"all of the output, as the total says":      {20, 20, 30, reasoningWithin, 20},
		"more than the output, no total":            {20, 21, 0, reasoningWithin, 41},
		"more than the output, whatever total says": {20, 21, 30, reasoningWithin, 41},
		"beside, as the wire says, without a total": {50, 20, 0, reasoningApart, 70},
		"inside, as the wire says, a strange total": {50, 20, 7, reasoningWithin, 50},
	} {
		u := assay.Usage{Known: true, Input: 10, Output: c.output, Reasoning: c.reasoning}
		if got := withReasoning(u, c.total, c.r); got.Output != c.want {
			t.Errorf("%s: %d, want %d", name, got.Output, c.want)
		}
	}
}

func TestAKeyIsTakenOutFromSixteenCharactersOn(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"sk-456789012345": "sk-456789012345", "sk-4567890123456": secretMark, "sk-45678901234567": secretMark,
		"task-4567890123456": "task-4567890123456", "(sk-4567890123456": "(" + secretMark,
	} {
		if got := withoutSecret(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestAnErrorThatCameAsASuccessHasItsOwnNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ status, number, want int }{
		{200, 429, 429}, {299, 500, 500}, {300, 429, 300}, {400, 429, 400}, {200, 99, 200}, {200, 100, 100}, {200, 0, 200},
	} {
		if got := (&complaint{number: c.number}).fault(c.status); got.Status != c.want {
			t.Errorf("%d with %d: %d, want %d", c.status, c.number, got.Status, c.want)
		}
	}
}
