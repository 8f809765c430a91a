package batchrun_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/study/catalog"
)

const file = `{"custom_id":"x y","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1","messages":[{"role":"user","content":"one"}]}}

{"custom_id":"z","method":"POST","url":"/v1/responses","body":{"model":"gpt-4.1","input":"two","max_output_tokens":20}}
{"custom_id":"w","method":"POST","url":"/v1/chat/completions","body": {"model":"gpt-4.1", "messages":[{"role":"user","content":"three"}]} }
`

func opener(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func begin(t *testing.T, text string, sent string) (*batchrun.Planner, store.Run, error) {
	t.Helper()
	ctx := context.Background()
	ledger, err := ledger.Open(ctx, filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := artifacts.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close(); folder.Close() })
	p := &batchrun.Planner{Runs: ledger.Runs, Clients: ledger.Clients, Reader: ledger.Reader, Files: folder, Catalog: catalog.Default()}
	checked, problems, err := batchfile.Check(ctx, opener(text),
		batchfile.Options{Name: "in.jsonl", Catalog: p.Catalog, Mode: assay.ModeBatch})
	if err != nil || checked == nil {
		t.Fatal(err, problems)
	}
	run, err := p.Begin(ctx, store.NewRun{ID: "run", Study: "in.jsonl"}, batchrun.Batch{File: *checked}, opener(sent))
	return p, run, err
}

func TestRequestsAreTheBodiesOfTheFileInItsOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, run, err := begin(t, file, file)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := p.Groups(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	type request struct{ Lane, Item, Body string }
	var got, again []request
	for _, g := range groups {
		for made, err := range p.Requests(ctx, run, g, nil) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, request{made.At.Lane, made.At.Item, string(made.Request.Body)})
			built, err := p.Build(ctx, run, store.Batch, []assay.Coordinates{made.At})
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, request{built[0].At.Lane, built[0].At.Item, string(built[0].Request.Body)})
			if made.Expected.Sum <= 0 || made.High.Sum < made.Expected.Sum {
				t.Errorf("%s: expected %s, at most %s", made.At.Item, made.Expected, made.High)
			}
		}
	}
	want := []request{
		{"gpt-4.1", "x y", `{"model":"gpt-4.1","messages":[{"role":"user","content":"one"}]}`},
		{"gpt-4.1", "w", `{"model":"gpt-4.1", "messages":[{"role":"user","content":"three"}]}`},
		{"gpt-4.1@responses", "z", `{"model":"gpt-4.1","input":"two","max_output_tokens":20}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("built again (-want +got):\n%s", diff)
	}
	var lines []int
	for l, err := range batchrun.Lines(ctx, p.Reader, run.No) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l.No)
	}
	if diff := cmp.Diff([]int{1, 3, 4}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	for a, err := range batchrun.Answers(ctx, p.Reader, run.No) {
		if err != nil || a.Sent {
			t.Errorf("line %d was sent: %v", a.Line.No, err)
		}
	}
}

func TestAFileThatChangesBetweenCheckAndSendingIsNotSent(t *testing.T) {
	t.Parallel()
	p, _, err := begin(t, file, strings.Replace(file, "one", "two", 1))
	if err == nil || !strings.Contains(err.Error(), "was changed while it was read") {
		t.Errorf("error %v", err)
	}
	run, err := p.Reader.FindRun(context.Background(), "run", "")
	if err == nil && run.State != store.RunPreparing {
		t.Errorf("the run is %s", run.State)
	}
	if names, err := artifacts.Names(t.Context(), p.Files, "run"); err != nil || len(names) > 0 {
		t.Errorf("what was copied is still there: %v, %v", names, err)
	}
}

func TestARunOfAStudyIsNoBatchRun(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{`{"file":"study.yaml"}`, `{}`, ``, `{"batch":null}`} {
		run := store.Run{NewRun: store.NewRun{ID: "r", Settings: settings}}
		if _, ok := batchrun.Of(run); ok {
			t.Errorf("%q was taken for a batch run", settings)
		}
		if _, err := (&batchrun.Planner{}).Groups(context.Background(), run); err == nil {
			t.Errorf("%q has groups", settings)
		}
	}
	var _ engine.Planner = (*batchrun.Planner)(nil)
}
