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

// TestABudgetThatBindsSendsFewJobs has 40 lanes under a budget for a part of them: after the canaries it is known what answers cost,
// and each lane has one job.
func TestABudgetThatBindsSendsFewJobs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("study: forty\nbudget: 0.004 USD\ninputs:\n  q:\n    items:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "      - {id: i%d, text: What is %d?}\n", i, i)
	}
	b.WriteString("lanes:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  l%d: {model: openai/gpt-4.1-nano, max_tokens: 3000, temperature: 0.%02d}\n", i, i)
	}
	b.WriteString("stages: [{name: a, ask: q, prompt: \"{{ text }}\"}]\n")
	r := newRig(t, b.String())
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.drive(h, run, Drive{})
	jobs, sent := r.jobs(h, run)
	if run, _ = h.Ledger.Reader.Run(r.ctx, run.No); jobs > 60 || sent < 200 || run.Spent > *run.Budget {
		t.Errorf("%d jobs for %d requests, %s of %s: %s", jobs, sent, run.Spent, *run.Budget, run.Result)
	}
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
