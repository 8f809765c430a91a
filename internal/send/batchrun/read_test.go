package batchrun_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
)

// collect writes a run's results.
func (r *rig) collect(run store.Run, f batchrun.Format) (batchrun.Tally, string, string) {
	r.t.Helper()
	var results, failed bytes.Buffer
	got, err := r.read.Collect(r.ctx, run, batchrun.Output{Format: f, Results: &results, Errors: &failed})
	if err != nil {
		r.t.Fatal(err)
	}
	return got, results.String(), failed.String()
}

// idsIn returns the ids of result lines, in their order.
func idsIn(t *testing.T, text string) []string {
	t.Helper()
	var ids []string
	for line := range strings.Lines(text) {
		var v struct {
			ID string `json:"custom_id"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		ids = append(ids, v.ID)
	}
	return ids
}

func TestResultsComeInTheOrderOfTheFileInEveryFormat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	want := []string{"z", "=a", "ü \"b\"", "4"}
	run := r.begin("first", "in.jsonl", lines(want...), batchfile.Options{})
	got, results, _ := r.collect(run, batchrun.FormatJSONL)
	if diff := cmp.Diff(batchrun.Tally{Open: 4}, got); diff != "" || !strings.Contains(results, `"status":"open"`) {
		t.Errorf("before it was sent (-want +got):\n%s\n%s", diff, results)
	}
	run, _ = r.drive(run, nil)
	for _, f := range []batchrun.Format{batchrun.FormatProvider, batchrun.FormatJSONL} {
		got, results, failed := r.collect(run, f)
		if diff := cmp.Diff(batchrun.Tally{Answers: 4}, got); diff != "" || failed != "" {
			t.Errorf("%s (-want +got):\n%s\nerrors: %s", f, diff, failed)
		}
		if diff := cmp.Diff(want, idsIn(t, results)); diff != "" {
			t.Errorf("%s: ids (-want +got):\n%s", f, diff)
		}
	}
	_, results, _ = r.collect(run, batchrun.FormatCSV)
	rows, err := csv.NewReader(strings.NewReader(results)).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if diff := cmp.Diff([]string{"'=a", "2", "gpt-4.1-mini", "answered"}, rows[2][:4]); diff != "" || rows[2][4] == "" || rows[2][8] == "" {
		t.Errorf("a row (-want +got):\n%s\n%q", diff, rows[2])
	}
	if _, err := r.read.Collect(r.ctx, store.Run{NewRun: store.NewRun{ID: "s"}}, batchrun.Output{}); err == nil {
		t.Error("a run of a study was collected as a batch")
	}
}

func TestALiveRunComesBackInTheFormOfABatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run, _ := r.drive(r.begin("live", "in.jsonl", lines("a", "b"), batchfile.Options{Mode: assay.ModeLive}), nil)
	got, results, _ := r.collect(run, batchrun.FormatProvider)
	if diff := cmp.Diff([]string{"a", "b"}, idsIn(t, results)); diff != "" || got.Answers != 2 ||
		!strings.Contains(results, `"status_code":200`) {
		t.Errorf("%+v (-want +got):\n%s\n%s", got, diff, results)
	}
	jobs, err := r.read.Jobs(r.ctx, run)
	if err != nil || len(jobs) != 1 || jobs[0].Status != "answered live" {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
}

// talker gives everybody the same long answer.
type talker string

func (t talker) Respond(*minds.Question) minds.Answer { return minds.Answer{Text: string(t)} }

func TestLongAnswersAreReadFromTheirBytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 600_000)
	r := newRigWith(t, simulator.Options{Responder: talker(long)})
	text := strings.ReplaceAll(lines("a", "b"), `"max_tokens":50,`, "")
	for id, mode := range map[string]assay.Mode{"batch": assay.ModeBatch, "live": assay.ModeLive} {
		run, _ := r.drive(r.begin(id, id+".jsonl", text, batchfile.Options{Mode: mode}), nil)
		got, results, _ := r.collect(run, batchrun.FormatJSONL)
		if got.Answers != 2 || strings.Count(results, long) != 2 {
			t.Errorf("%s: %+v: %d bytes of results", id, got, len(results))
		}
	}
}

func TestWhatHasNoAnswerIsListedCountedAndWrittenApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, "openai create fail-lines=100%")
	run, _ := r.drive(r.begin("bad", "in.jsonl", lines("a", "b", "c"), batchfile.Options{}), nil)
	var failures []batchrun.Failure
	for f, err := range r.read.Failures(r.ctx, run) {
		if err != nil {
			t.Fatal(err)
		}
		failures = append(failures, f)
	}
	if len(failures) != 3 || failures[1].ID != "b" || failures[1].Line != 2 || failures[1].Status == "" || failures[1].Message == "" ||
		failures[1].Attempts == 0 {
		t.Fatalf("failures %+v", failures)
	}
	got, results, failed := r.collect(run, batchrun.FormatProvider)
	if diff := cmp.Diff([]string{"a", "b", "c"}, idsIn(t, failed)); diff != "" || results != "" || got.Failures != 3 {
		t.Errorf("%+v: results %q, errors (-want +got):\n%s", got, results, diff)
	}
	if _, rows, _ := r.collect(run, batchrun.FormatJSONL); !strings.Contains(rows, `"error":"`) {
		t.Errorf("rows without errors: %s", rows)
	}
	jobs, err := r.read.Jobs(r.ctx, run)
	if err != nil || jobs[0].Failed != 3 {
		t.Errorf("jobs %+v, %v", jobs, err)
	}
}

func TestBatchesAreFoundByIDBeginningFileAndJob(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	wantUsage := func(err error, part string) {
		t.Helper()
		var u *batchrun.UsageError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q", err, part)
		}
	}
	_, err := r.read.Open(r.ctx)
	wantUsage(err, "there is no batch yet")
	r.begin("abc1", "one.jsonl", lines("a"), batchfile.Options{})
	run, _ := r.drive(r.begin("abd2", "dir/two.jsonl", lines("b"), batchfile.Options{}), nil)
	newest, err := r.planner.Runs.CreateRun(r.ctx, store.NewRun{ID: "abe3", Study: "a study", Settings: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.planner.Runs.OpenRun(r.ctx, newest.No); err != nil {
		t.Fatal(err)
	}
	jobs, err := r.read.Jobs(r.ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"abc1": "abc1", "abd": "abd2", "dir/two.jsonl": "abd2", jobs[0].ID: "abd2", "abe3": "",
		"none": ""} {
		got, ok, err := r.read.Find(r.ctx, ref)
		if err != nil || ok != (want != "") || got.ID != want {
			t.Errorf("%s is %q, %v, %v", ref, got.ID, ok, err)
		}
	}
	_, _, err = r.read.Find(r.ctx, "ab")
	wantUsage(err, `2 batches begin with "ab"`)
	open, err := r.read.Open(r.ctx)
	if err != nil || len(open) != 1 || open[0].ID != "abc1" {
		t.Errorf("open are %v, %v", open, err)
	}
	b, _ := batchrun.Of(run)
	if got, ok, err := r.read.SentBefore(r.ctx, "dir/two.jsonl", *b); err != nil || !ok || got.ID != "abd2" {
		t.Errorf("sent before: %v, %v, %v", got.ID, ok, err)
	}
	b.Reach.BaseURL = "http://elsewhere"
	if _, ok, err := r.read.SentBefore(r.ctx, "dir/two.jsonl", *b); err != nil || ok {
		t.Errorf("sent elsewhere before: %v, %v", ok, err)
	}
}

func TestJobsAreShownAsTheyStand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin("jobs", "in.jsonl", lines("a", "b"), batchfile.Options{})
	jobs, err := r.read.Jobs(r.ctx, run)
	if err != nil || len(jobs) != 1 || jobs[0].Status != "recorded" || jobs[0].Requests != 2 || jobs[0].Model != "gpt-4.1-mini" {
		t.Fatalf("before: %+v, %v", jobs, err)
	}
	if expected, high, err := batchrun.Expected(run); err != nil || expected.Sum <= 0 || high.Sum < expected.Sum {
		t.Errorf("%s expected, at most %s: %v", expected, high, err)
	}
	run, _ = r.drive(run, nil)
	jobs, err = r.read.Jobs(r.ctx, run)
	if err != nil || len(jobs) != 1 || jobs[0].Done != 2 || jobs[0].ID == "" {
		t.Fatalf("after: %+v, %v", jobs, err)
	}
	for _, c := range []struct {
		cost batchrun.Cost
		want string
	}{
		{batchrun.Cost{File: "f", Provider: "p", Model: "m", Mode: assay.ModeBatch, Requests: 2},
			`{"file":"f","provider":"p","model":"m","mode":"batch","requests":2,"expected_usd":0,"most_usd":0}`},
		{batchrun.Cost{Expected: assay.Cost{Unknown: 1}},
			`{"file":"","provider":"","model":"","mode":"","requests":0,"expected_usd":null,"most_usd":0}`},
	} {
		if text, err := json.Marshal(c.cost); err != nil || string(text) != c.want {
			t.Errorf("%s, %v\nwant %s", text, err, c.want)
		}
	}
}

func TestJobsMadeElsewhereAreSearchedListedFetchedAndCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run, _ := r.drive(r.begin("here", "in.jsonl", lines("a", "b"), batchfile.Options{}), nil)
	jobs, err := r.read.Jobs(r.ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	at := []batchrun.Target{{Name: "nosuch"}, {Name: "groq"}, {Name: "openai"}}
	f, err := batchrun.Search(r.ctx, jobs[0].ID, at, r.dial)
	if err != nil || f.Target.Name != "openai" || f.Row().File != "(made elsewhere)" || f.Row().Requests != 2 || f.Row().Created.IsZero() {
		t.Fatalf("%+v, %v", f.Row(), err)
	}
	var results bytes.Buffer
	if err := f.Fetch(r.ctx, provider.PartResults, &results); err != nil || strings.Count(results.String(), "\n") != 2 {
		t.Errorf("%q, %v", results.String(), err)
	}
	if err := f.Cancel(r.ctx); err == nil {
		t.Error("a job that has ended was cancelled")
	}
	if _, err := batchrun.Search(r.ctx, "none", at, r.dial); err == nil ||
		!strings.Contains(err.Error(), `neither here nor at groq with the key of key, openai with the key of key`) {
		t.Errorf("%v", err)
	}
	if _, err := batchrun.Search(r.ctx, "none", nil, r.dial); err == nil ||
		err.Error() != `no batch is called "none" (assay jobs --elsewhere lists those there are)` {
		t.Errorf("%v", err)
	}
	known, err := r.read.Ledger.Jobs(r.ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	for want, ours := range map[int][]store.Job{0: known, 1: nil} {
		if got, err := batchrun.List(r.ctx, at[2], r.dial, ours); err != nil || len(got.Jobs) != want || got.More {
			t.Errorf("%d jobs are ours: listed %+v, %v", len(ours), got, err)
		}
	}
	if _, err := batchrun.List(r.ctx, at[0], r.dial, nil); err == nil {
		t.Error("an account that cannot be opened was listed")
	}
	r.key = "bad"
	if _, err := batchrun.Search(r.ctx, jobs[0].ID, at[2:], r.dial); err == nil || !strings.Contains(err.Error(), "which is refused") {
		t.Errorf("%v", err)
	}
}

func TestARunningJobIsCancelledAtItsProvider(t *testing.T) {
	t.Parallel()
	r := newRig(t, "openai create stuck")
	run, _ := r.drive(r.begin("slow", "in.jsonl", lines("a"), batchfile.Options{}), func(engine.RunStatus) bool { return true })
	jobs, err := r.read.Jobs(r.ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	find := func() batchrun.Foreign {
		f, err := batchrun.Search(r.ctx, jobs[0].ID, []batchrun.Target{{Name: "openai"}}, r.dial)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := find(); f.Status.State.Terminal() || f.Cancel(r.ctx) != nil {
		t.Errorf("%+v was not cancelled", f.Status)
	}
	if word := find().Row().Status; !strings.HasPrefix(word, "cancel") {
		t.Errorf("after the call it is %q", word)
	}
}

// TestMoreThanIsExpectedIsReservedBeforeTheFirstAnswer holds the reserve of a first job against what was shown.
func TestMoreThanIsExpectedIsReservedBeforeTheFirstAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, "openai * revoke")
	run, _ := r.drive(r.begin("refused", "in.jsonl", strings.ReplaceAll(lines("a"), `"max_tokens":50`, `"max_tokens":5000`),
		batchfile.Options{}), nil)
	expected, high, err := batchrun.Expected(run)
	if err != nil {
		t.Fatal(err)
	}
	segments, err := r.planner.Reader.Segments(r.ctx, run.No)
	if err != nil || expected.Sum == 0 || segments[0].Expected < 2*expected.Sum || segments[0].Expected > high.Sum {
		t.Errorf("%s to %s was shown, %s is reserved: %v", expected, high, segments[0].Expected, err)
	}
}

func TestABatchSaysOfItsProviderWhatAStudyWould(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin("it", "in.jsonl", lines("a"), batchfile.Options{})
	b, _ := batchrun.Of(run)
	b.Reach = batchrun.Reach{BaseURL: "http://x", Key: "${K}", Project: "p"}
	p, ok := b.Study().Providers.Find("openai")
	if !ok || p.BaseURL != "http://x" || p.Key != "${K}" || p.Project != "p" {
		t.Errorf("provider %+v", p)
	}
	if shares, err := r.planner.Redo(r.ctx, run, store.Redo{}); shares != nil || err != nil {
		t.Errorf("redo adds %v, %v", shares, err)
	}
	if policy, err := r.planner.Policy(r.ctx, run); err != nil {
		t.Errorf("policy %+v, %v", policy, err)
	}
	if route, err := r.planner.Route(r.ctx, run, "", "gpt-4.1-mini", store.Live); err != nil || route.Wire.Carrier != "" ||
		route.Live.Lane.Concurrency != 0 {
		t.Errorf("live route %+v, %v", route, err)
	}
	if _, err := r.planner.Route(r.ctx, run, "", "another", store.Batch); err == nil {
		t.Error("a lane that is not there has a route")
	}
}

// What came back is kept as it came: among the requests without an answer.
func TestAnEmptyAnswerIsNoneInEveryFormat(t *testing.T) {
	t.Parallel()
	r := newRigWith(t, simulator.Options{Responder: talker(" ")})
	for id, mode := range map[string]assay.Mode{"batch": assay.ModeBatch, "live": assay.ModeLive} {
		run, _ := r.drive(r.begin(id, id+".jsonl", lines("a", "b"), batchfile.Options{Mode: mode}), nil)
		for _, f := range []batchrun.Format{batchrun.FormatProvider, batchrun.FormatJSONL, batchrun.FormatCSV} {
			got, results, failed := r.collect(run, f)
			if diff := cmp.Diff(batchrun.Tally{Failures: 2}, got); diff != "" {
				t.Errorf("%s as %s (-want +got):\n%s", id, f, diff)
			}
			if f == batchrun.FormatProvider && (results != "" || strings.Count(failed, `"finish_reason"`) != 2) {
				t.Errorf("%s: results %q, errors %q", id, results, failed)
			}
		}
	}
}
