package resultstest

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// stated is a home with one run in each state, by the ids of the runs.
type stated struct {
	*bench
	ledger *ledger.Ledger
}

// stateStudies are run to their ends: one is done, one is left to people, and the judge of one gives no verdict.
var stateStudies = map[string]string{
	"done.yaml": "study: done\ninputs: {q: {file: q.csv}}\nstages:\n  - {name: old, import: {file: old.csv, of: q}}\n" +
		"  - {name: right, judge: old, rubric: {rule: {contains: [\"4\"]}}}\n",
	"people.yaml": "study: people\ninputs: {q: {file: q.csv}}\nstages:\n  - {name: old, import: {file: old.csv, of: q}}\n" +
		"  - {name: nice, judge: old, rubric: {prompt: \"Nice? {{ answer.text }}\", labels: {yes: 1, no: 0}}, judges: [\"human:ann\"]}\n" +
		"  - {name: stars, judge: old, rubric: likert, judges: [\"human:*\"]}\n",
	"failed.yaml": "study: failed\ninputs: {q: {file: q.csv}}\nmode: live\nlanes: {j: {model: openai/gpt-4.1-mini, max_tokens: 50}}\n" +
		"stages:\n  - {name: old, import: {file: old.csv, of: q}}\n" +
		"  - {name: odd, judge: old, rubric: {prompt: \"Say OK. {{ answer.text }}\", labels: {zyx: 1, xyz: 0}}, judges: [j]}\n",
	"q.csv":   "id,text\nq1,What is two and two?\n",
	"old.csv": "item,lane,text\nq1,ann,It is 4.\n",
}

// place makes a run that asks one question, opens it, and brings it into a state.
func (s *stated) place(id string, into func(run store.Run)) {
	ctx := s.t.Context()
	run, err := s.ledger.Runs.CreateRun(ctx, store.NewRun{ID: id, Study: id, Folder: s.dir, Digest: "d", Settings: `{"file":"s.yaml"}`})
	s.ok(err)
	s.ok(s.ledger.Runs.PutPart(ctx, run.No, "file/s.yaml", strings.NewReader(
		"study: s\ninputs: {q: {file: q.jsonl}}\nlanes: {a: {model: openai/gpt-4.1-mini}}\nstages:\n"+
			"  - {name: answers, ask: q, prompt: \"{{ text }}\"}\n")))
	s.ok(s.ledger.Runs.PutItems(ctx, run.No, "q", func(yield func(assay.Item, error) bool) {
		yield(assay.Item{ID: "q1", Cluster: "q1", Fields: map[string]any{"text": "?"}}, nil)
	}))
	s.ok(s.ledger.Runs.PutLanes(ctx, []store.Lane{{Run: run.No, Stage: "answers", Name: "a", Provider: "openai",
		Model: "gpt-4.1-mini", Params: "{}", Planned: 1}}))
	s.ok(s.ledger.Runs.OpenRun(ctx, run.No))
	into(run)
}

func (s *stated) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// launch gives the run's request to a provider.
func (s *stated) launch(run store.Run) {
	ctx, now := s.t.Context(), time.Now()
	g, err := s.ledger.Work.AddSegment(ctx, store.NewSegment{Run: run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "a", Turn: 1},
		Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "gpt-4.1-mini", Nonce: "aaaaaaaaaa"}, "me", time.Minute)
	s.ok(err)
	at := assay.Coordinates{Stage: "answers", Item: "q1", Lane: "a", Turn: 1, Draw: 1}
	s.ok(s.ledger.Work.AddAttempts(ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, At: at}}))
	s.ok(s.ledger.Work.Stage(ctx, g.Lease, store.Bytes{Name: "s", Size: 1, SHA256: "ab"}, 0, 0, now))
	s.ok(s.ledger.Work.Upload(ctx, g.Lease, "{}", now))
	s.ok(s.ledger.Work.Intend(ctx, g.Lease, store.Intent{Account: "k", Stamped: true, Due: now}))
	s.ok(s.ledger.Work.Launched(ctx, g.Lease, store.Launch{Job: "job-" + run.ID, At: now, Due: now.Add(-time.Hour)}))
	s.ok(s.ledger.Leases.Release(ctx, g.Lease))
}

func (s *stated) lane(run store.Run, stop store.LaneStop) {
	s.ok(s.ledger.Work.SetLane(s.t.Context(), run.No, "answers", "a", stop))
}

func (s *stated) end(run store.Run, as store.Result) {
	lease, err := s.ledger.Leases.HoldRun(s.t.Context(), run.No, "me", time.Minute)
	s.ok(err)
	run, err = s.ledger.Reader.Run(s.t.Context(), run.No)
	s.ok(err)
	s.ok(s.ledger.Work.CloseRun(s.t.Context(), lease, run.Due, as))
}

// statesOfRuns makes a run in each state.
func statesOfRuns(t *testing.T) (*stated, map[string]runs.State) {
	s := &stated{bench: newBench(t, stateStudies)}
	for _, study := range []string{"done", "people", "failed"} {
		s.assay([]int{0, 3}, "run", study+".yaml", "--yes", "--home", "home")
	}
	s.ledger = s.open("home")
	s.place("planned", func(store.Run) {})
	s.place("inflight", s.launch)
	s.place("waiting", func(run store.Run) {
		s.launch(run)
		s.ok(s.ledger.Work.OweReconcile(t.Context(), run.No, "a copy of the ledger came back"))
	})
	s.place("held", func(run store.Run) {
		s.lane(run, store.LaneStop{State: store.LaneHeld, Reason: "a person has to look"})
	})
	s.place("stopped", func(run store.Run) { s.lane(run, store.LaneStop{State: store.LaneStopped, Reason: "nothing works"}) })
	s.place("cancelling", func(run store.Run) {
		s.launch(run)
		s.lane(run, store.LaneStop{State: store.LaneStopped, Cause: store.CauseUser, Reason: "cancelled"})
	})
	s.place("cancelled", func(run store.Run) { s.end(run, store.ResultCancelled) })
	s.place("incomplete", func(run store.Run) { s.end(run, store.ResultIncomplete) })
	return s, map[string]runs.State{"done": runs.StateDone, "people": runs.StatePeople, "failed": runs.StateJudges,
		"planned": runs.StatePlanned, "inflight": runs.StateInFlight, "waiting": runs.StateWaiting, "held": runs.StateHeld,
		"stopped": runs.StateStopped, "cancelling": runs.StateCancelled, "cancelled": runs.StateCancelled,
		"incomplete": runs.StateIncomplete}
}

// page returns a page of the dashboard as text.
func (a *api) page(path string) string {
	a.t.Helper()
	q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, a.server.URL+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer 0123456789abcdef")
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		a.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: %d %v", path, got.StatusCode, err)
	}
	return html.UnescapeString(string(text))
}

// A run is in one state, whoever asks: lists, status, documents, pages and the API have the same word and sentence.
func TestEveryPlaceHasTheStateOfARun(t *testing.T) {
	t.Parallel()
	s, want := statesOfRuns(t)
	dashboard := s.api("home")
	reader, _ := s.reader("home")
	var list struct {
		Runs []struct{ Run, Study, State, Sentence string }
	}
	s.ok(json.Unmarshal([]byte(s.assay([]int{0}, "runs", "--home", "home", "--json")), &list))
	if len(list.Runs) != len(want) {
		t.Fatalf("%d runs are listed, not %d", len(list.Runs), len(want))
	}
	all, err := reader.Pages.RunsPage(t.Context(), 0, 100)
	s.ok(err)
	seen := map[runs.State]bool{}
	table, rows := s.assay([]int{0}, "runs", "--home", "home", "--wide"), dashboard.page("/runs")
	for _, row := range list.Runs {
		run := all[slices.IndexFunc(all, func(r store.Run) bool { return r.ID == row.Run })]
		is, err := runs.Of(t.Context(), reader, run)
		s.ok(err)
		seen[is.State] = true
		if is.State != want[row.Study] {
			t.Errorf("run %s is %s (%s)", row.Study, is.State, is.Sentence())
			continue
		}
		for place, text := range map[string]string{
			"runs --json":   row.State + "|" + row.Sentence,
			"runs":          lineWith(table, row.Run) + is.Sentence(),
			"status":        string(is.State) + oneLine(s.assay([]int{0, 3, 6}, "status", row.Run, "--home", "home")),
			"status --json": s.assay([]int{0, 3, 6}, "status", row.Run, "--home", "home", "--json"),
			"report":        string(is.State) + s.reported(row.Run),
			"API":           s.answered(dashboard, row.Run),
			"progress page": dashboard.page("/runs/" + row.Run + "/progress"),
		} {
			if !strings.Contains(text, string(is.State)) || !strings.Contains(text, is.Sentence()) {
				t.Errorf("%s of run %s has not\n%s: %s\nbut\n%s", place, row.Study, is.State, is.Sentence(), text)
			}
		}
		badge := ">" + string(is.State) + "<"
		for place, text := range map[string]string{"list": rows, "summary page": dashboard.page("/runs/" + row.Run)} {
			if !strings.Contains(text, badge) || place == "list" && !strings.Contains(text, is.Why()) {
				t.Errorf("the %s has not that run %s is %s", place, row.Study, is.State)
			}
		}
	}
	for _, state := range runs.States() {
		if !seen[state] {
			t.Errorf("no run is %s", state)
		}
	}
}

// What is left to people is named whole, and a scale that nobody has used yet is no result and no end.
func TestStagesOfPeopleAreNamedBeforeAnyoneJudged(t *testing.T) {
	t.Parallel()
	s := newBench(t, stateStudies)
	s.assay([]int{0}, "run", "people.yaml", "--yes", "--home", "home")
	text := s.assay([]int{0}, "status", "people", "--home", "home")
	if !strings.Contains(text, "Stages nice and stars are left to people.") {
		t.Errorf("status says:\n%s", text)
	}
	text = oneLine(s.assay([]int{0, 3}, "analyse", "people", "--home", "home"))
	for _, want := range []string{"No votes yet: 0 of 1.", "0 of 1 verdict of stage stars are there. Judge some: assay label",
		"Incomplete. 0% of the planned verdicts are there."} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary has no %q:\n%s", want, text)
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// reported returns the report of a run as text.
func (s *stated) reported(run string) string {
	s.assay([]int{0, 3, 6}, "report", run, "--home", "home", "--out", "report.html")
	return html.UnescapeString(s.file("report.html"))
}

// answered returns what the API has of a run.
func (s *stated) answered(a *api, run string) string {
	a.run = run
	row := a.get("")["run"].(map[string]any)
	return row["state"].(string) + row["sentence"].(string)
}
