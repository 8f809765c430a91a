package workspace

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
)

const batchLines = `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"one"}]}}
{"custom_id":"b","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"two"}]}}
`

// sendBatch records a file and drives it to its end.
func (r *rig) sendBatch(h *Home, wish batchrun.Wish) (*BatchFile, store.Run) {
	r.t.Helper()
	r.write("in.jsonl", batchLines)
	file, problems, err := r.world.CheckBatch(r.ctx, "in.jsonl", "", wish)
	if err != nil || file == nil {
		r.t.Fatal(err, problems)
	}
	run, err := h.BeginBatch(r.ctx, file, "a note", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := h.DriveAlone(r.ctx, run, time.Millisecond); err != nil {
		r.t.Fatal(err)
	}
	if run, err = h.Ledger.Reader.Run(r.ctx, run.No); err != nil {
		r.t.Fatal(err)
	}
	return file, run
}

func TestABatchFileIsCheckedSentAndFoundAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	file, run := r.sendBatch(h, batchrun.Wish{})
	if file.Target.Name != "openai" || run.Result != store.ResultDone || run.Note != "a note" || run.By != "ada" {
		t.Errorf("%+v: run %+v", file.Target, run)
	}
	if again, ok, err := h.SentBefore(r.ctx, file); err != nil || !ok || again.ID != run.ID {
		t.Errorf("sent before: %v, %v, %v", again.ID, ok, err)
	}
	jobs, err := h.Batches().Jobs(r.ctx, run)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if other, found, err := r.place.Find(r.ctx, r.world, jobs[0].ID); err != nil || found.ID != run.ID {
		t.Errorf("by its job: %v, %v", found.ID, err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
	if access, err := r.world.Dial(file.Target); err != nil || access.Batch == nil {
		t.Errorf("dial: %v", err)
	}
}

func TestABudgetThatIsSpentIsWhatABatchWaitsFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	r.write("in.jsonl", batchLines)
	file, problems, err := r.world.CheckBatch(r.ctx, "in.jsonl", "", batchrun.Wish{})
	if err != nil || file == nil {
		t.Fatal(err, problems)
	}
	little := assay.Money(1)
	run, err := h.BeginBatch(r.ctx, file, "", &little)
	if err != nil {
		t.Fatal(err)
	}
	st, err := h.DriveAlone(r.ctx, run, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := h.Conclude(r.ctx, run, st); err != nil || c.Cause != runs.CauseBudget {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestWhatIsNoBatchFileIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.write("in.jsonl", "no lines\n")
	if file, problems, err := r.world.CheckBatch(r.ctx, "in.jsonl", "", batchrun.Wish{}); file != nil || err != nil ||
		len(problems.Errors()) != 1 {
		t.Errorf("%v, %v, %v", file, problems, err)
	}
	for name, want := range map[string]error{"none.jsonl": os.ErrNotExist, ".": ErrNoFile} {
		if _, _, err := r.world.CheckBatch(r.ctx, name, "", batchrun.Wish{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var wrong *batchrun.UsageError
	if _, _, err := r.world.CheckBatch(r.ctx, "in.jsonl", "", batchrun.Wish{Provider: "nosuch"}); !errors.As(err, &wrong) {
		t.Errorf("a provider that is not there: %v", err)
	}
}

func TestNewsGoToURLsAndVariables(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	got := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		text := new(strings.Builder)
		_ = q.Write(text)
		got <- text.String()
	}))
	t.Cleanup(server.Close)
	r.env["NEWS"] = "generic+" + server.URL
	if err := h.Notify(r.ctx, []string{"${NEWS}", "$UNSET", "generic+" + server.URL}, "done"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if text := <-got; !strings.Contains(text, "assay: done") {
			t.Errorf("%s", text)
		}
	}
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	if err := h.Notify(ctx, nil, "done"); err != nil {
		t.Errorf("without anywhere to send them: %v", err)
	}
}
