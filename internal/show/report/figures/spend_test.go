package figures_test

import (
	"testing"

	"assay/internal/show/report"
	"assay/internal/show/report/figures"
)

func TestTokensThatRepliesDidNotSayAreUnknown(t *testing.T) {
	t.Parallel()
	g := figures.SpendGrid([]report.Spend{{Stage: "s", Lane: "mute", Mute: 2}, {Stage: "s", Lane: "half", Input: 1200, Output: 30, Mute: 1},
		{Stage: "s", Lane: "said", Input: 5, Output: 7}})
	in := -1
	for i, h := range g.Head {
		if h.Text == "input tokens" {
			in = i
		}
	}
	for i, want := range []string{"unknown", "at least 1,200", "5", "at least 1,205"} {
		if got := g.Rows[i][in].Text; got != want {
			t.Errorf("row %d says %q, want %q", i, got, want)
		}
	}
}
