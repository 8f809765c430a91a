package estimate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

// TestTooFewForABatchAreSaidOrGoLive plans stages of sizes around the fewest requests that a batch of the provider must have.
func TestTooFewForABatchAreSaidOrGoLive(t *testing.T) {
	t.Parallel()
	study := func(more string) string {
		return "study: few\n" + more + "lanes: {nova: {model: \"bedrock/amazon.nova-lite-v1:0\"}}\ninputs: {q: {file: q.jsonl}}\n" +
			"stages:\n  - {name: a, ask: q, prompt: \"{{ text }}\", lanes: [nova]}\n"
	}
	items := func(n int) fstest.MapFS {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"id": "i%d", "text": "Question %d?"}`+"\n", i, i)
		}
		return fstest.MapFS{"q.jsonl": {Data: []byte(b.String())}}
	}
	for _, c := range []struct {
		items      int
		more, want string
	}{
		{101, "", "batch"}, // one is the canary
		{100, "", "problem: lane nova: stage a has 99 requests for a batch, and Amazon Bedrock takes none of fewer than 100"},
		{100, "canary: false\n", "batch"},
		{7, "mode: batch-else-live\n", "live"},
		{7, "mode: live\n", "live"},
		{7, "providers: {bedrock: {limits: {least: 5}}}\n", "batch"},
		{300, "batch: {size: 60}\n",
			"problem: lane nova: stage a is cut into batches of 60 requests, and Amazon Bedrock takes none of fewer than 100"},
		{300, "batch: {segments: 4}\n", "problem: lane nova: stage a is cut into batches of 74 requests"},
	} {
		p, problems := estimate.Make(context.Background(), desk(t, study(c.more), items(c.items)), plan.Options{})
		got := ""
		switch {
		case len(problems.Errors()) > 0:
			got = "problem: " + problems.Errors()[0].What
		case len(p.Parts) == 1:
			got = string(p.Parts[0].Mode)
			if live := p.Parts[0].Cost == p.Parts[0].Live; live != (got == "live") {
				t.Errorf("%d, %s: the price is not that of %s", c.items, c.more, got)
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%d, %q: %s, want %s", c.items, c.more, got, c.want)
		}
	}
}
