package workspace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/script/snapshot"
)

// TestABudgetThatBindsSendsFewJobs has 40 lanes under a budget for a part of them: what answers cost is known from canaries, or from a
// few answers of one lane of each model, and then each lane has one job.
func TestABudgetThatBindsSendsFewJobs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget, canary string
		items          int
		models         []string
		least          int64 // requests
	}{
		"canaries":                 {"0.004", "true", 20, []string{"gpt-4.1-nano"}, 200},
		"no canaries":              {"0.004", "false", 20, []string{"gpt-4.1-nano"}, 200},
		"a larger budget":          {"0.02", "false", 100, []string{"gpt-4.1-nano"}, 1000},
		"several models":           {"0.02", "false", 60, []string{"gpt-4.1-nano", "gpt-4.1-mini", "gpt-5-nano"}, 200},
		"a larger one, canaries":   {"0.02", "true", 100, []string{"gpt-4.1-nano"}, 1000},
		"several models, canaries": {"0.02", "true", 60, []string{"gpt-4.1-nano", "gpt-4.1-mini", "gpt-5-nano"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			fmt.Fprintf(&b, "study: forty\ncanary: %s\nbudget: %s USD\ninputs:\n  q:\n    items:\n", c.canary, c.budget)
			for i := range c.items {
				fmt.Fprintf(&b, "      - {id: i%d, text: What is %d?}\n", i, i)
			}
			b.WriteString("lanes:\n")
			for i := range 40 {
				apart := fmt.Sprintf("max_tokens: 3000, temperature: 0.%02d", i)
				if len(c.models) > 1 { // not all of them take a temperature
					apart = fmt.Sprintf("max_tokens: %d", 3000+i)
				}
				fmt.Fprintf(&b, "  l%d: {model: openai/%s, %s}\n", i, c.models[i%len(c.models)], apart)
			}
			b.WriteString("stages: [{name: a, ask: q, prompt: \"{{ text }}\"}]\n")
			r := newRig(t, b.String())
			h := r.open(false)
			run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			r.drive(h, run, Drive{})
			jobs, sent := r.jobs(h, run)
			if run, _ = h.Ledger.Reader.Run(r.ctx, run.No); jobs > 60 || sent < c.least || run.Spent > *run.Budget {
				t.Errorf("%d jobs for %d requests, %s of %s: %s", jobs, sent, run.Spent, *run.Budget, run.Result)
			}
			if few, many := r.spread(h, run); few != many && c.items == 100 {
				t.Errorf("lanes have %d to %d requests", few, many)
			}
		})
	}
}

// spread returns how many requests the lanes of a run were asked at least and at most.
func (r *rig) spread(h *Home, run store.Run) (few, many int64) {
	r.t.Helper()
	lanes, err := h.Ledger.Reader.Lanes(r.ctx, run.No)
	if err != nil {
		r.t.Fatal(err)
	}
	for i, l := range lanes {
		if n := l.Ended(); i == 0 {
			few, many = n, n
		} else {
			few, many = min(few, n), max(many, n)
		}
	}
	return few, many
}

// TestAFileThatFitsItsBudgetGoesInFewJobs has a file that is guessed to cost many times what it does.
func TestAFileThatFitsItsBudgetGoesInFewJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"custom_id":"r%d","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-5","messages":[{"role":"user",`+
			`"content":"Case %d: is it so?"}]}}`+"\n", i, i)
	}
	r.write("in.jsonl", b.String())
	file, problems, err := r.world.CheckBatch(r.ctx, "in.jsonl", "", batchrun.Wish{})
	if err != nil || file == nil {
		t.Fatal(err, problems)
	}
	budget := assay.Dollar * 9 / 10
	run, err := h.BeginBatch(r.ctx, file, "", &budget)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.DriveAlone(r.ctx, run, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	jobs, sent := r.jobs(h, run)
	if run, _ = h.Ledger.Reader.Run(r.ctx, run.No); jobs > 3 || sent != 300 || run.Result != store.ResultDone || run.Spent > budget {
		t.Errorf("%d jobs for %d requests, %s: %s", jobs, sent, run.Spent, run.Result)
	}
}

// jobs counts the jobs of a run and the requests in them.
func (r *rig) jobs(h *Home, run store.Run) (jobs int, requests int64) {
	r.t.Helper()
	all, err := h.Ledger.Reader.Segments(r.ctx, run.No)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, g := range all {
		if g.Mode == store.Batch {
			jobs, requests = jobs+1, requests+g.Requests
		}
	}
	return jobs, requests
}
