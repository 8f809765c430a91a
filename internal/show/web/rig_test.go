package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/web"
	"assay/internal/show/web/site"
	"assay/internal/study/catalog"
)

const token = "a-token-that-no-one-guesses"

// hostile is a text by which a model attacks a dashboard.
const hostile = `<script>alert(1)</script><svg onload="alert(2)"><img src=x onerror=alert(3)>` +
	"\x1b[31mred\x1b[0m \u202eevil\u202c \u2066x\u2069 </div></main>{{.CSRF}}"

// rig is a dashboard over a ledger with one run: two lanes, four items each, and verdicts.
type rig struct {
	t      testing.TB
	ledger *ledger.Ledger
	files  *artifacts.Folder
	run    store.Run
	server *httptest.Server
	clock  time.Time
	reader *results.Reader
	home   *site.Home
	where  string // the ledger
	long   int    // bytes of the longest answer
}

// demo is the study of the rig's run.
const demo = `
study: demo
inputs: {questions: {file: questions.jsonl}}
lanes:
  gpt:   {model: openai/gpt-4.1-mini}
  opus:  {model: openai/gpt-4.1-nano}
  judge: {model: openai/gpt-4.1}
rubrics:
  nice: {prompt: "Is it nice? {{ answer.text }}", labels: {yes: 1, no: 0}}
stages:
  - {name: answers, ask: questions, system: Be brief., prompt: "What is {{ text }}?", lanes: [gpt, opus]}
  - {name: good, judge: answers, rubric: nice, judges: [judge]}
  - {name: arena, compare: answers, pairs: {all: true}, rubric: better, judges: [judge]}
`

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigAt(t, filepath.Join(t.TempDir(), "ledger.db"), 100<<10)
}

// newRigAt makes a rig with a ledger somewhere, and an answer of so many bytes.
func newRigAt(t testing.TB, where string, long int) *rig {
	t.Helper()
	r := &rig{t: t, where: where, long: long, clock: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	var err error
	r.ledger, err = ledger.Open(context.Background(), where, ledger.Options{Now: func() time.Time { return r.clock }})
	r.ok(err)
	t.Cleanup(func() { r.ledger.Close() })
	r.files, err = artifacts.Open(filepath.Join(t.TempDir(), "runs"))
	r.ok(err)
	t.Cleanup(func() { r.files.Close() })
	r.reader = &results.Reader{Ledger: r.ledger.Reader, Pages: r.ledger.Pages,
		Scripts: &script.Library{Files: r.files, Store: snapshot.Store{
			Runs: r.ledger.Runs, Leases: r.ledger.Leases, Imports: r.ledger.Imports, Reader: r.ledger.Reader, Catalog: catalog.Default()}}}
	r.fill()
	r.home = &site.Home{Reader: r.reader, Files: r.files, Orders: r.ledger.Runs, Clients: r.ledger.Clients}
	s, err := web.New(site.Options{Homes: func() []*site.Home { return []*site.Home{r.home} }, Token: token,
		Hosts: []string{"assay.example"}, By: "tester", Version: "test", Now: func() time.Time { return r.clock }})
	r.ok(err)
	r.server = httptest.NewServer(s)
	t.Cleanup(r.server.Close)
	return r
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) fill() {
	ctx := context.Background()
	var err error
	budget := 10 * assay.Dollar
	r.run, err = r.ledger.Runs.CreateRun(ctx, store.NewRun{ID: "run1", Study: "<b>demo</b>", Folder: "here", Digest: "d",
		Settings: `{"file":"demo.yaml"}`, Note: hostile, By: "me", Budget: &budget})
	r.ok(err)
	r.ok(r.ledger.Runs.PutPart(ctx, r.run.No, "file/demo.yaml", strings.NewReader(demo)))
	r.ok(r.ledger.Runs.PutItems(ctx, r.run.No, "questions", func(yield func(assay.Item, error) bool) {
		for i := range 4 {
			if !yield(assay.Item{ID: itemID(i), Cluster: "c", Fields: map[string]any{"text": hostile}}, nil) {
				return
			}
		}
	}))
	var lanes []store.Lane
	for _, name := range []string{"gpt", "opus"} {
		lanes = append(lanes, store.Lane{Run: r.run.No, Stage: "answers", Name: name, Provider: "openai", Model: "m-" + name, Params: "{}",
			Planned: 5})
	}
	lanes = append(lanes, store.Lane{Run: r.run.No, Stage: "good", Name: "judge", Provider: "openai", Model: "m", Params: "{}", Planned: 8})
	r.ok(r.ledger.Runs.PutLanes(ctx, lanes))
	r.ok(r.ledger.Runs.OpenRun(ctx, r.run.No))
	r.settle("gpt")
	r.settle("opus")
	r.run, err = r.ledger.Reader.Run(ctx, r.run.No)
	r.ok(err)
}

// itemID returns an id that no address and no page may trip over.
func itemID(i int) string { return fmt.Sprintf("q/%d&x=<i>", i) }

func coordinates(lane string, i int) assay.Coordinates {
	return assay.Coordinates{Stage: "answers", Item: itemID(i), Lane: lane, Turn: 1, Draw: 1}
}

// settle sends five requests of a lane: a hostile answer, a long one, an ordinary one, an error, and one that stays
// open.
func (r *rig) settle(lane string) {
	ctx := context.Background()
	g, err := r.ledger.Work.AddSegment(ctx, store.NewSegment{Run: r.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: lane, Turn: 1},
		Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "m-" + lane, Nonce: "aaaaaaaaaa"}, "me", time.Minute)
	r.ok(err)
	var attempts []store.Attempt
	for i := range 5 {
		at := coordinates(lane, i)
		attempts = append(attempts, store.Attempt{Ord: int64(i), Key: at.Key(), Try: 1, At: at})
	}
	r.ok(r.ledger.Work.AddAttempts(ctx, g.Lease, attempts))
	r.ok(r.ledger.Work.Stage(ctx, g.Lease, store.Bytes{Name: "s-" + lane, Size: 1, SHA256: "ab"}, assay.Dollar, 0, r.clock))
	r.ok(r.ledger.Work.Upload(ctx, g.Lease, "{}", r.clock))
	r.ok(r.ledger.Work.Intend(ctx, g.Lease, store.Intent{Account: "k1", Stamped: true, Reserve: assay.Dollar, Due: r.clock}))
	r.ok(r.ledger.Work.Launched(ctx, g.Lease, store.Launch{Job: "job-" + lane, At: r.clock, Due: r.clock}))
	r.ok(r.ledger.Work.Ended(ctx, g.Lease, store.Sighting{State: "ended", Word: "completed", Counts: "{}", Parts: "[]", Due: r.clock}))
	own := map[string]string{"gpt": "", "opus": " indeed"}[lane]
	long := strings.Repeat("long <b> ", 7000) // fits a row of the ledger
	if lane == "opus" {
		long = strings.Repeat("long <b> ", r.long/9) // does not
	}
	name := "results-" + lane
	raw := "first line\n" + `{"text":"` + hostile + `"}` + "\n"
	w, err := artifacts.Create(context.Background(), r.files, r.run.ID, name)
	r.ok(err)
	line := fmt.Sprintf(`{"custom_id":"x","response":{"status_code":200,"body":{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}]}}}`, long)
	_, err = io.WriteString(w, raw+line)
	r.ok(err)
	info, err := w.Commit()
	r.ok(err)
	no, err := r.ledger.Work.AddArtifact(ctx, g.Lease, store.Artifact{Name: name, Kind: "results", Size: info.Size, SHA256: info.SHA256})
	r.ok(err)
	r.ok(r.ledger.Work.Fetched(ctx, g.Lease, r.clock))
	cost := assay.Dollars(0.01)
	known := assay.Usage{Known: true, Input: 10, Output: 5}
	_, err = r.ledger.Work.Settle(ctx, g.Lease, []store.Settlement{
		{Ord: 0, Key: attempts[0].Key, Cost: &cost, Artifact: no, Offset: 11, Length: int64(len(raw) - 12),
			Outcome: assay.Outcome{Ending: assay.Answered, Text: hostile + own, Thoughts: hostile, Usage: known}},
		{Ord: 1, Key: attempts[1].Key, Cost: &cost, Artifact: no, Offset: int64(len(raw)), Length: int64(len(line)),
			Outcome: assay.Outcome{Ending: assay.Answered, Text: long, Usage: known}},
		{Ord: 2, Key: attempts[2].Key, Cost: &cost,
			Outcome: assay.Outcome{Ending: assay.Answered, Text: "the answer is Paris, surely" + own, Usage: known}},
		{Ord: 3, Key: attempts[3].Key, Outcome: assay.Outcome{Ending: assay.Errored,
			Fault: &assay.Fault{Class: assay.FaultBusy, Status: 500, Code: "oops", Message: hostile}}},
	})
	r.ok(err)
	r.ok(r.ledger.Leases.Release(ctx, g.Lease))
	subject, other := coordinates("gpt", 0).Key(), coordinates("opus", 0).Key()
	_, err = r.ledger.Runs.AddVerdicts(ctx, []store.Verdict{
		{Run: r.run.No, At: r.expected("good", itemID(0), lane), Subject: coordinates(lane, 0).Key(), State: assay.VerdictValid,
			Label: "yes", Reason: hostile},
		{Run: r.run.No, At: r.expected("good", itemID(2), lane), Subject: coordinates(lane, 2).Key(), State: assay.VerdictMalformed,
			Reason: "unreadable"},
		{Run: r.run.No, At: r.expected("arena", itemID(0), ""), Subject: subject, Against: other, State: assay.VerdictValid, Label: "b"},
	})
	r.ok(err)
}

// expected returns the coordinates of a verdict that a stage asks for.
func (r *rig) expected(stage, item, lane string) assay.Coordinates {
	r.t.Helper()
	for at, err := range r.reader.Scripts.Expected(context.Background(), r.run, stage) {
		r.ok(err)
		if at.Item == item && (lane == "" || at.Lane == lane) {
			return at
		}
	}
	r.t.Fatalf("stage %s expects nothing about %s of %q", stage, item, lane)
	return assay.Coordinates{}
}

// said returns the labels that a person gave in a stage.
func (r *rig) said(stage, person string) []string {
	r.t.Helper()
	var out []string
	for v, err := range r.ledger.Reader.Verdicts(context.Background(), r.run.No, stage) {
		r.ok(err)
		if v.At.Judge == person {
			out = append(out, v.Label)
		}
	}
	return out
}

// answer is a response of the dashboard.
type answer struct {
	status int
	header http.Header
	body   string
}

// get asks with the token, again while a part of the answer is still being prepared: on a busy machine pages come
// before their numbers.
func (r *rig) get(path string) answer {
	r.t.Helper()
	for {
		a := r.ask(path)
		if !slices.ContainsFunc(unfinished(), func(mark string) bool { return strings.Contains(a.body, mark) }) {
			return a
		}
	}
}

// unfinished returns the words of answers that come without what takes long.
func unfinished() []string {
	return []string{
		"The findings are being computed.", "The grid is being made.", "The two runs are being compared.",
		"The runs are being compared.", "The study is being prepared.",
		"What was asked is being prepared.", "the study is being prepared: reload in a moment", "Being counted…",
		"What comes next is being chosen…", `"causes_incomplete":true`, `"being_chosen":true`, `"questions_being_prepared":true`,
		`"being_prepared":true`,
	}
}

// ask asks once, with the token.
func (r *rig) ask(path string) answer {
	r.t.Helper()
	return r.do(http.MethodGet, path, nil, func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+token) })
}

func (r *rig) do(method, path string, form url.Values, edit func(*http.Request)) answer {
	r.t.Helper()
	q, err := http.NewRequest(method, r.server.URL+path, strings.NewReader(form.Encode()))
	r.ok(err)
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if edit != nil {
		edit(q)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := client.Do(q)
	r.ok(err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	r.ok(err)
	return answer{a.StatusCode, a.Header, string(text)}
}

// json asks the API and takes the answer apart.
func (r *rig) json(path string) map[string]any {
	r.t.Helper()
	a := r.get("/api" + path)
	if a.status != http.StatusOK {
		r.t.Fatalf("GET /api%s: %d %s", path, a.status, a.body)
	}
	var v map[string]any
	r.ok(json.Unmarshal([]byte(a.body), &v))
	return v
}
