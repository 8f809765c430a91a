package storetest

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// searches: answers are found by words, block by block.
func searches(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	texts := []string{"Paris", "100% of it", "a_b", `c:\dir`, "ÄRGER in parIS", "nothing", "thought"}
	for range 2 {
		g := b.to(b.staged(store.Batch, len(texts)+1), store.Fetched)
		var all []store.Settlement
		for i, text := range texts {
			s := b.outcome(g, int64(i), assay.Answered)
			s.Outcome.Text = text
			if text == "thought" {
				s.Outcome.Text, s.Outcome.Thoughts = "", "PARIS?"
			}
			all = append(all, s)
		}
		b.settle(g, append(all, b.outcome(g, int64(len(texts)), assay.Errored))...)
	}
	for words, want := range map[string]int{"paris": 3, "%": 1, "_": 1, `\`: 1, "ÄRGER": 1, "ärger": 0, "nowhere": 0, "100%": 1,
		"busy (HTTP 500) OOPS: it b": 0} {
		found, faults, seen, after := 0, 0, 0, store.Mark{}
		for {
			some, err := b.s.Pages.AnswersWith(b.ctx, b.run.No, store.AnswerFilter{Stage: "answers"}, words, after, 3)
			b.ok(err)
			for _, a := range some.Answers {
				if a.Outcome.Fault != nil {
					faults++
				} else {
					found++
				}
			}
			seen, after = seen+some.Seen, some.Next
			if after == (store.Mark{}) {
				break
			}
		}
		wantFaults := 0
		if strings.HasPrefix(words, "busy") { // as a fault is printed
			wantFaults = 2
		}
		if found != 2*want || faults != wantFaults || seen != 2*(len(texts)+1) {
			t.Errorf("%q: %d found, want %d; %d faults, %d seen", words, found, 2*want, faults, seen)
		}
	}
	if some, err := b.s.Pages.AnswersWith(b.ctx, b.run.No, store.AnswerFilter{Stage: "none"}, "paris", store.Mark{}, 3); err != nil ||
		some.Seen > 0 || some.Next != (store.Mark{}) {
		t.Errorf("another stage: %+v, %v", some, err)
	}
}
