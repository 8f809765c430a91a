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
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
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
	if _, err := h.DriveBatch(r.ctx, run, BatchDrive{Interval: time.Millisecond}); err != nil {
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
	if !h.Sent(r.ctx, run, time.Now().Add(time.Hour))(engine.Standing{}) {
		t.Error("a run that is done has jobs to send")
	}
	jobs, err := h.Batches().Jobs(r.ctx, run)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	status := jobs[0].Status
	if h.RefreshJobs(r.ctx, []store.Run{run}, jobs); jobs[0].Status != status || jobs[0].Note != "" {
		t.Errorf("a job that has ended was asked about: %+v", jobs[0])
	}
	if access, err := r.world.Dial(file.Target); err != nil || access.Batch == nil {
		t.Errorf("dial: %v", err)
	}
}

func TestARetryTakesTheModeOfItsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	for _, want := range []bool{false, true} {
		_, run := r.sendBatch(h, batchrun.Wish{Live: want})
		live, err := h.RetryBatch(r.ctx, run, []assay.Ending{assay.Lost})
		if err != nil || live != want {
			t.Errorf("live is %v, %v", live, err)
		}
		if run, err = h.Ledger.Reader.Run(r.ctx, run.No); err != nil || run.State != store.RunOpen {
			t.Errorf("the run is %s, %v", run.State, err)
		}
	}
}

func TestWhatIsNoBatchFileIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.write("in.jsonl", "no lines\n")
	if file, problems, err := r.world.CheckBatch(r.ctx, "in.jsonl", "", batchrun.Wish{}); file != nil || err != nil || len(problems.Errors()) != 1 {
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

func TestNewsOfBatchesGoToURLsAndVariables(t *testing.T) {
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
	runs := []store.Run{{NewRun: store.NewRun{ID: "x", Study: "in.jsonl"}}}
	if err := h.NotifyBatches(r.ctx, runs, []string{"${NEWS}", "$UNSET"}, "done"); err != nil {
		t.Fatal(err)
	}
	if text := <-got; !strings.Contains(text, "batch x (in.jsonl): done") {
		t.Errorf("%s", text)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	if err := h.NotifyBatches(ctx, runs, nil, "done"); err != nil {
		t.Errorf("without anywhere to send them: %v", err)
	}
}
