package planner_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/planner"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
	"assay/internal/study/studyfile"
)

const gated = `study: gated
inputs: {q: {items: [{id: "1", text: 2+2, answer: "4"}, {id: "2", text: 3+3, answer: "6"}], expect: {field: answer}}}
live_below: 7
reserve: high
deadline: {after: 2h, then: live}
cleanup: true
stop_if: error_rate > 0.4
batch: {size: 50}
providers: {openai: {live: {concurrency: 9}}}
lane_defaults: {max_tokens: 100}
lanes:
  m: {model: openai/gpt-4.1-2025-04-14, rate: 3/s}
stages:
  - {name: old, import: {file: answers.csv, of: q}, prompt: "{{ text }}"}
  - {name: right, judge: old, rubric: contains}
  - {name: some, ask: q, prompt: "Again: {{ text }}", lanes: [m], when: 'any(finding("right", "rate"), .value >= 0)'}
  - {name: never, ask: q, prompt: "Never: {{ text }}", lanes: [m], when: 'any(finding("right", "rate"), .value > 2)'}
`

func newPlanner(t *testing.T) *planner.Planner {
	t.Helper()
	dir := t.TempDir()
	ledger, err := ledger.Open(t.Context(), filepath.Join(dir, "ledger.db"), ledger.Options{})
	ok(t, err)
	t.Cleanup(func() { ledger.Close() })
	files, err := artifacts.Open(filepath.Join(dir, "runs"))
	ok(t, err)
	t.Cleanup(func() { files.Close() })
	lib := &script.Library{Files: files, Store: snapshot.Store{
		Runs: ledger.Runs, Leases: ledger.Leases, Imports: ledger.Imports, Reader: ledger.Reader, Catalog: catalog.Default()}}
	return &planner.Planner{
		Library: lib, Results: &results.Reader{Ledger: ledger.Reader, Pages: ledger.Pages, Scripts: lib},
		Batches: &batchrun.Planner{Runs: ledger.Runs, Clients: ledger.Clients,
			Reader: ledger.Reader, Files: files, Catalog: catalog.Default()},
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin writes a run of the study gated, with answers made elsewhere in it.
func begin(t *testing.T, p *planner.Planner, id string, s snapshot.Settings) store.Run {
	t.Helper()
	folder := fstest.MapFS{"s.yaml": {Data: []byte(gated)}, "answers.csv": {Data: []byte("item,lane,text\n1,old,4\n2,old,5\n")}}
	st, problems := studyfile.Read(folder, "s.yaml", studyfile.Options{})
	if st == nil || len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	source := inputs.Open(folder, st.Specs())
	d := &plan.Input{Study: st, Items: source, Rows: source, Catalog: catalog.Default(), Today: "2026-11-15"}
	made, problems := estimate.Make(t.Context(), d, plan.Options{})
	if made == nil {
		t.Fatal(problems)
	}
	s.File, s.BaseURLs = "s.yaml", map[string]string{"openai": "http://there.example"}
	run, err := p.Begin(t.Context(),
		snapshot.Beginning{Run: store.NewRun{ID: id, Study: st.Study}, Input: d, Plan: made, Files: folder, Settings: s})
	ok(t, err)
	return run
}

func TestAGateOpensWhenWhatItLooksAtIsFoundAndIsDecidedOnce(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	run := begin(t, p, "r1", snapshot.Settings{})
	groups, err := p.Groups(t.Context(), run)
	ok(t, err)
	if len(groups) != 0 {
		t.Errorf("before any verdict %+v can be asked", groups)
	}
	for range 2 { // the second time nothing is decided again
		ok(t, p.Absorb(t.Context(), run))
	}
	var decided []store.Decision
	for d, err := range p.Reader.Decisions(t.Context(), run.No) {
		ok(t, err)
		decided = append(decided, store.Decision{Stage: d.Stage, Passed: d.Passed})
	}
	if d := cmp.Diff([]store.Decision{{Stage: "never"}, {Stage: "some", Passed: true}}, decided); d != "" {
		t.Errorf("decisions (-want +got):\n%s", d)
	}
	groups, err = p.Groups(t.Context(), run)
	ok(t, err)
	asked := map[string][]engine.Planned{}
	for _, g := range groups {
		for r, err := range p.Requests(t.Context(), run, g, nil) {
			ok(t, err)
			asked[g.Stage] = append(asked[g.Stage], r)
		}
	}
	if len(asked["some"]) != 2 || len(asked["never"]) != 0 {
		t.Errorf("%d requests of the open stage, %d of the closed one", len(asked["some"]), len(asked["never"]))
	}
	at := []assay.Coordinates{asked["some"][0].At, asked["some"][1].At}
	built, err := p.Build(t.Context(), run, store.Batch, at)
	ok(t, err)
	if d := cmp.Diff([]string{"Again: 2+2", "Again: 3+3"},
		[]string{built[0].Request.Prompt.Messages[0].Text, built[1].Request.Prompt.Messages[0].Text}); d != "" {
		t.Errorf("built again (-want +got):\n%s", d)
	}
	more, err := p.Redo(t.Context(), run, store.Redo{Run: run.No, Stage: "some", Lane: "m", Item: "1"})
	ok(t, err)
	if d := cmp.Diff([]store.Share{{Stage: "some", Lane: "m", Requests: 1}}, more); d != "" {
		t.Errorf("a redo (-want +got):\n%s", d)
	}
}

func TestPolicyAndRoutesAreWhatTheStudySays(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	begin(t, p, "r1", snapshot.Settings{})
	run := begin(t, p, "r2", snapshot.Settings{VerifyFirst: true, ReuseRuns: []string{"r1"}})
	got, err := p.Policy(t.Context(), run)
	ok(t, err)
	if got.Reuse == nil || len(got.Reuse.From) != 1 || !got.Reuse.Whole {
		t.Errorf("reuse %+v, want that of the run before", got.Reuse)
	}
	got.Reuse = nil
	want := engine.Policy{
		LiveBelow: 7, ReserveHigh: true, VerifyFirst: true, Deadline: 2 * time.Hour, Then: engine.ThenLive, Cleanup: engine.CleanupAlways,
		StopAbove: map[string]float64{"m": 0.4},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("policy (-want +got):\n%s", d)
	}
	route, err := p.Route(t.Context(), run, "some", "m", store.Batch)
	ok(t, err)
	if route.Size != 50 || route.BaseURL != "http://there.example" || route.Live.Lane.Rate != 3 || route.Live.Account.Concurrency != 9 ||
		route.Lane.Name != "m" {
		t.Errorf("route %+v", route)
	}
	if _, err := p.Route(t.Context(), run, "some", "nosuch", store.Batch); err == nil ||
		!strings.Contains(err.Error(), `no lane "nosuch"`) {
		t.Errorf("a lane that is not there: %v", err)
	}
	if _, err := p.Policy(t.Context(), begin(t, p, "r3", snapshot.Settings{ReuseRuns: []string{"nosuch"}})); err == nil {
		t.Error("a run that reuses what is not there has a policy")
	}
}

func TestARunOfABatchFileIsPlannedFromTheFile(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	const file = `{"custom_id":"x","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1","messages":[{"role":"user","content":"one"}]}}` + "\n"
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }
	checked, problems, err := batchfile.Check(t.Context(), open,
		batchfile.Options{Name: "in.jsonl", Catalog: p.Catalog, Mode: assay.ModeBatch})
	if err != nil || checked == nil {
		t.Fatal(err, problems)
	}
	run, err := p.Batches.Begin(t.Context(), store.NewRun{ID: "b1", Study: "in.jsonl"}, batchrun.Batch{File: *checked}, open)
	ok(t, err)
	ok(t, p.Absorb(t.Context(), run))
	st, err := p.Study(t.Context(), run)
	ok(t, err)
	if st.Study != "in.jsonl" && len(st.Lanes) == 0 {
		t.Errorf("the study of a batch file: %+v", st)
	}
	groups, err := p.Groups(t.Context(), run)
	ok(t, err)
	var at []assay.Coordinates
	for _, g := range groups {
		if _, err := p.Route(t.Context(), run, g.Stage, g.Lane, g.Mode); err != nil {
			t.Error(err)
		}
		for r, err := range p.Requests(t.Context(), run, g, nil) {
			ok(t, err)
			at = append(at, r.At)
		}
	}
	built, err := p.Build(t.Context(), run, store.Batch, at)
	ok(t, err)
	if len(built) != 1 || !strings.Contains(string(built[0].Request.Body), `"one"`) {
		t.Errorf("built %+v", built)
	}
	if _, err := p.Policy(t.Context(), run); err != nil {
		t.Error(err)
	}
	if more, err := p.Redo(t.Context(), run, store.Redo{Run: run.No}); err != nil || more != nil {
		t.Errorf("a redo of a batch file adds %v, %v", more, err)
	}
}
