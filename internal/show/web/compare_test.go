package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// another begins a second run of the rig's study, over other items, in which opus is worse and gpt the same.
func (r *rig) another() {
	r.t.Helper()
	ctx := context.Background()
	text := strings.Replace(demo, "openai/gpt-4.1-nano", "openai/gpt-4.1", 1)
	run, err := r.ledger.Runs.CreateRun(ctx,
		store.NewRun{ID: "run2", Study: "<b>demo</b>", Folder: "here", Digest: "e", Settings: `{"file":"demo.yaml"}`, By: "me"})
	r.ok(err)
	r.ok(r.ledger.Runs.PutPart(ctx, run.No, "file/demo.yaml", strings.NewReader(text)))
	r.ok(r.ledger.Runs.PutItems(ctx, run.No, "questions", func(yield func(assay.Item, error) bool) {
		for i := range 3 {
			if !yield(assay.Item{ID: itemID(i), Cluster: "c", Fields: map[string]any{"text": hostile}}, nil) {
				return
			}
		}
	}))
	var lanes []store.Lane
	for _, name := range []string{"gpt", "opus"} {
		lanes = append(lanes, store.Lane{Run: run.No, Stage: "answers", Name: name, Provider: "openai", Model: "m2-" + name, Params: "{}",
			Planned: 3})
	}
	r.ok(r.ledger.Runs.PutLanes(ctx, lanes))
	r.ok(r.ledger.Runs.OpenRun(ctx, run.No))
	first := r.run
	r.run = run
	var all []store.Verdict
	for lane, label := range map[string]string{"gpt": "yes", "opus": "no"} {
		at := r.expected("good", itemID(0), lane)
		all = append(all, store.Verdict{Run: run.No, At: at, Subject: coordinates(lane, 0).Key(), State: assay.VerdictValid, Label: label})
	}
	r.run = first
	_, err = r.ledger.Runs.AddVerdicts(ctx, all)
	r.ok(err)
}

func TestTwoRunsStandSideBySide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.clock = r.clock.Add(time.Hour)
	r.another()
	a := r.get("/compare?a=run1&b=run2")
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	places := []int{strings.Index(a.body, "Settings that differ"), strings.Index(a.body, "lane opus model"),
		strings.Index(a.body, "What came out"), strings.Index(a.body, "differences between runs"),
		strings.Index(a.body, "Item by item, worse first"), strings.Index(a.body, "worse in 1 lane")}
	if !slices.IsSorted(places) || places[0] < 0 || strings.Contains(a.body, "<script>alert") {
		t.Errorf("settings, findings, items stand at %v", places)
	}
	if !strings.Contains(a.body, "3 items in both") || !strings.Contains(a.body, "1 item worse in at least one lane, 0 items better") {
		t.Error("items are not counted")
	}
	if n := len(links(r.get("/compare?a=run1&b=run2&only=better").body, "/runs/run2/item?")); n != 0 {
		t.Errorf("%d links to items that became better", n)
	}
	if n := len(links(r.get("/compare?a=run2&b=run1&only=better").body, "/runs/run1/item?")); n != 3 {
		t.Errorf("the other way round %d links to items that became better, want one item with two lanes", n)
	}
	difference := func(path string) float64 {
		for _, table := range r.json(path)["tables"].([]any) {
			for _, f := range table.(map[string]any)["findings"].([]any) {
				if f := f.(map[string]any); f["what"] == "difference" && strings.Contains(mustJSON(f), `"opus"`) {
					return f["value"].(float64)
				}
			}
		}
		t.Fatalf("%s: no difference of opus", path)
		return 0
	}
	if x, y := difference("/compare?a=run1&b=run2"), difference("/compare?a=run2&b=run1"); x != -1 || y != 1 {
		t.Errorf("from run 1 to run 2 opus changed by %v, the other way by %v; want -1 and 1", x, y)
	}
	files := links(a.body, "/compare/figures/")
	if len(files) == 0 || len(files)%4 != 0 {
		t.Fatalf("the figures have the files %q", files)
	}
	for _, f := range files {
		a := r.get(f)
		if a.status != http.StatusOK || len(a.body) < 40 || strings.Contains(f, ".csv?") && !strings.HasPrefix(a.body, "run,") {
			t.Errorf("%s: %d %.80s", f, a.status, a.body)
		}
	}
	if a := r.get("/compare/figures/t1-1.csv?a=run1&b=none"); a.status != http.StatusNotFound {
		t.Errorf("a figure of a run that is not there: %d", a.status)
	}
	if to := links(r.get("/runs/run2").body, "/compare?a=run1&b=run2"); len(to) != 1 {
		t.Errorf("a run leads to %q", to)
	}
	if body := r.get("/runs").body; !strings.Contains(body, `form="pick-two"`) || !strings.Contains(body, `action="/compare"`) {
		t.Error("the list of runs offers no comparison")
	}
	if to := links(r.get("/runs").body, "/runs/run2/trend"); len(to) != 1 {
		t.Errorf("the newest run of a study leads to its trend: %q", to)
	}
	for _, ticked := range []string{"/compare?run=run1&run=run2", "/compare?run=run2&run=run1"} { // the older one is the first
		if x := difference(ticked); x != -1 {
			t.Errorf("%s: a difference of %g", ticked, x)
		}
	}
	for _, ticked := range []string{"/compare?run=run1", "/compare?run=run1&run=run2&run=run1"} {
		if a := r.get(ticked); a.status != http.StatusBadRequest || !strings.Contains(a.body, "tick two runs") {
			t.Errorf("%s: %d", ticked, a.status)
		}
	}
	if a := r.get("/compare?a=run1&b=run2&stage=none"); a.status != http.StatusBadRequest {
		t.Errorf("a stage that is not there: %d", a.status)
	}
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestAStudyIsShownOverItsRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if body := r.get("/runs/run1/trend").body; !strings.Contains(body, "A trend needs two closed runs") {
		t.Errorf("of an open run: %s", body)
	}
	r.another()
	r.closeRun()
	first := r.run
	second, err := r.ledger.Reader.FindRun(context.Background(), "run2", "")
	r.ok(err)
	r.run = second
	r.closeRun()
	r.run = first
	r.clock = r.clock.Add(time.Hour)
	a := r.get("/runs/run2/trend")
	for _, want := range []string{"2 closed runs", "<svg", "From run1 to run2, 3 items in both:", "Stage <bdi>good</bdi>",
		"the study has no gold set that it judges in every run", "/compare?a=run1"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q in %s", want, a.body)
		}
	}
	if strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "<b>demo</b>") {
		t.Error("a name is markup")
	}
	doc := r.json("/runs/run2/trend")
	if n := len(doc["runs"].([]any)); n != 2 {
		t.Errorf("%d runs in JSON", n)
	}
	if to := links(r.get("/runs/run2").body, "/runs/run2/trend"); len(to) != 1 {
		t.Errorf("a run leads to %q", to)
	}
}
