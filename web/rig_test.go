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
	"strings"
	"testing"
	"time"

	"assay"
	"assay/analysis"
	"assay/artifacts"
	"assay/report"
	"assay/stats"
	"assay/store"
	"assay/web"
)

const token = "a-token-that-nobody-guesses"

// hostile is what a model may say to a dashboard.
const hostile = `<script>alert(1)</script><svg onload="alert(2)"><img src=x onerror=alert(3)>` + "\x1b[31mred\x1b[0m \u202eevil\u202c \u2066x\u2069 </div></main>{{.CSRF}}"

// rig is a dashboard over a ledger with one run: two lanes, four items each, and what judges said.
type rig struct {
	t      testing.TB
	ledger *store.Ledger
	files  *artifacts.Folder
	run    store.Run
	server *httptest.Server
	clock  time.Time
	long   int // bytes of the longest answer
	found  int // how often findings were computed
	panels map[string]*panel
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigAt(t, filepath.Join(t.TempDir(), "ledger.db"), 100<<10)
}

// newRigAt makes a rig with a ledger somewhere, and an answer of so many bytes.
func newRigAt(t testing.TB, where string, long int) *rig {
	t.Helper()
	r := &rig{t: t, long: long, clock: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	var err error
	r.ledger, err = store.Open(context.Background(), where, store.Options{Now: func() time.Time { return r.clock }})
	r.ok(err)
	t.Cleanup(func() { r.ledger.Close() })
	r.files, err = artifacts.Open(filepath.Join(t.TempDir(), "runs"))
	r.ok(err)
	t.Cleanup(func() { r.files.Close() })
	r.fill()
	home := &web.Home{Ledger: r.ledger, Files: r.files, Load: func(context.Context, store.Run) error { return nil }, Findings: r.findings, Prompts: prompts, Keep: keep,
		Person: personOf, Panels: func(context.Context, store.Run) ([]string, error) { return []string{"arena", "good"}, nil }, Panel: r.panel, Doubt: doubt}
	s, err := web.New(web.Options{Homes: func() []*web.Home { return []*web.Home{home} }, Token: token, Hosts: []string{"assay.example"}, By: "tester", Version: "test", Now: func() time.Time { return r.clock }})
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

func (r *rig) findings(context.Context, store.Run, []string) (*web.Findings, error) {
	r.found++
	f := analysis.Finding{Stage: "good", What: "rate", By: []analysis.Value{{Field: "lane", Value: "gpt"}}, Unit: analysis.Share, Value: stats.Known(0.5), N: 4, Clusters: 4}
	doc := &report.Document{Run: r.run.ID, Report: &analysis.Report{Tables: []analysis.Table{{Stage: "good", Title: "rates", Method: analysis.Rates, Findings: []analysis.Finding{f}}}}}
	return &web.Findings{Document: doc, JSON: map[string]any{"tables": 1}}, nil
}

func prompts(_ context.Context, _ store.Run, at []assay.Coordinates) ([]assay.Prompt, error) {
	var out []assay.Prompt
	for _, c := range at {
		out = append(out, assay.Prompt{System: "Be brief.", Messages: []assay.Message{{Role: assay.RoleUser, Text: "What is " + c.Item + "? " + hostile}}})
	}
	return out, nil
}

func keep(_ context.Context, _ store.Run, _ string, fields map[string]string) (func(*store.Verdict) (bool, error), error) {
	return func(v *store.Verdict) (bool, error) { return fields["item"] == "" || fields["item"] == v.At.Item, nil }, nil
}

func (r *rig) fill() {
	ctx := context.Background()
	var err error
	budget := 10 * assay.Dollar
	r.run, err = r.ledger.CreateRun(ctx, store.NewRun{ID: "run1", Study: "<b>demo</b>", Folder: "here", Digest: "d", Settings: "{}", Note: hostile, By: "me", Budget: &budget})
	r.ok(err)
	r.ok(r.ledger.PutItems(ctx, r.run.No, "questions", func(yield func(assay.Item, error) bool) {
		for i := range 4 {
			if !yield(assay.Item{ID: itemID(i), Cluster: "c", Fields: map[string]any{"text": hostile}}, nil) {
				return
			}
		}
	}))
	var lanes []store.Lane
	for _, name := range []string{"gpt", "opus"} {
		lanes = append(lanes, store.Lane{Run: r.run.No, Stage: "answers", Name: name, Provider: "openai", Model: "m-" + name, Params: "{}", Planned: 5})
	}
	lanes = append(lanes, store.Lane{Run: r.run.No, Stage: "good", Name: "judge", Provider: "openai", Model: "m", Params: "{}", Planned: 8})
	r.ok(r.ledger.PutLanes(ctx, lanes))
	r.ok(r.ledger.OpenRun(ctx, r.run.No))
	r.settle("gpt")
	r.settle("opus")
	r.run, err = r.ledger.Run(ctx, r.run.No)
	r.ok(err)
}

// itemID is an id that no address and no page may trip over.
func itemID(i int) string { return fmt.Sprintf("q/%d&x=<i>", i) }

func coordinates(lane string, i int) assay.Coordinates {
	return assay.Coordinates{Stage: "answers", Item: itemID(i), Lane: lane, Turn: 1, Draw: 1}
}

// settle sends five requests of a lane: a hostile answer, a long one, an ordinary one, an error, and one that stays open.
func (r *rig) settle(lane string) {
	ctx := context.Background()
	g, err := r.ledger.AddSegment(ctx, store.NewSegment{Run: r.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: lane, Turn: 1}, Mode: store.Batch, Purpose: store.ForWave, Provider: "openai",
		Model: "m-" + lane, Nonce: "aaaaaaaaaa"}, "me", time.Minute)
	r.ok(err)
	var attempts []store.Attempt
	for i := range 5 {
		at := coordinates(lane, i)
		attempts = append(attempts, store.Attempt{Ord: int64(i), Key: at.Key(), Try: 1, At: at})
	}
	r.ok(r.ledger.AddAttempts(ctx, g.Lease, attempts))
	r.ok(r.ledger.Stage(ctx, g.Lease, store.Bytes{Name: "s-" + lane, Size: 1, SHA256: "ab"}, assay.Dollar, 0, r.clock))
	r.ok(r.ledger.Upload(ctx, g.Lease, "{}", r.clock))
	r.ok(r.ledger.Intend(ctx, g.Lease, store.Intent{Account: "k1", Stamped: true, Reserve: assay.Dollar, Due: r.clock}))
	r.ok(r.ledger.Launched(ctx, g.Lease, store.Launch{Job: "job-" + lane, At: r.clock, Due: r.clock}))
	r.ok(r.ledger.Ended(ctx, g.Lease, store.Sighting{State: "ended", Word: "completed", Counts: "{}", Parts: "[]", Due: r.clock}))
	long := strings.Repeat("long <b> ", 7000) // fits a row of the ledger
	if lane == "opus" {
		long = strings.Repeat("long <b> ", r.long/9) // does not
	}
	name := "results-" + lane
	raw := "first line\n" + `{"text":"` + hostile + `"}` + "\n"
	w, err := r.files.Create(r.run.ID, name)
	r.ok(err)
	_, err = io.WriteString(w, raw+long)
	r.ok(err)
	info, err := w.Commit()
	r.ok(err)
	no, err := r.ledger.AddArtifact(ctx, g.Lease, store.Artifact{Name: name, Kind: "results", Size: info.Size, SHA256: info.SHA256})
	r.ok(err)
	r.ok(r.ledger.Fetched(ctx, g.Lease, r.clock))
	cost := assay.Dollars(0.01)
	known := assay.Usage{Known: true, Input: 10, Output: 5}
	_, err = r.ledger.Settle(ctx, g.Lease, []store.Settlement{
		{Ord: 0, Key: attempts[0].Key, Cost: &cost, Artifact: no, Offset: 11, Length: int64(len(raw) - 12), Outcome: assay.Outcome{Ending: assay.Answered, Text: hostile, Thoughts: hostile, Usage: known}},
		{Ord: 1, Key: attempts[1].Key, Cost: &cost, Artifact: no, Offset: int64(len(raw)), Length: int64(len(long)), Outcome: assay.Outcome{Ending: assay.Answered, Text: long, Usage: known}},
		{Ord: 2, Key: attempts[2].Key, Cost: &cost, Outcome: assay.Outcome{Ending: assay.Answered, Text: "the answer of " + lane + " is Paris, surely", Usage: known}},
		{Ord: 3, Key: attempts[3].Key, Outcome: assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultBusy, Status: 500, Code: "oops", Message: hostile}}},
	})
	r.ok(err)
	r.ok(r.ledger.Release(ctx, g.Lease))
	subject, other := coordinates("gpt", 0).Key(), coordinates("opus", 0).Key()
	_, err = r.ledger.AddVerdicts(ctx, []store.Verdict{
		{Run: r.run.No, At: assay.Coordinates{Stage: "good", Item: itemID(0), Lane: lane, Turn: 1, Judge: "judge"}, Subject: coordinates(lane, 0).Key(), State: store.VerdictValid, Label: "yes", Reason: hostile},
		{Run: r.run.No, At: assay.Coordinates{Stage: "good", Item: itemID(2), Lane: lane, Turn: 1, Judge: "judge"}, Subject: coordinates(lane, 2).Key(), State: store.VerdictMalformed, Reason: "unreadable"},
		{Run: r.run.No, At: assay.Coordinates{Stage: "arena", Item: itemID(0), Source: "answers", Lane: "gpt", Against: "opus", Turn: 1, Judge: "judge"}, Subject: subject, Against: other, State: store.VerdictValid, Label: "b"},
	})
	r.ok(err)
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// get asks as somebody who knows the token.
func (r *rig) get(path string) answer {
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

func personOf(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, " <>") {
		return "", fmt.Errorf("%q cannot be a name", name)
	}
	return "human:" + name, nil
}

func doubt(context.Context, store.Run, string) (func(string) float64, error) {
	return func(string) float64 { return 1 }, nil
}

// panel is a stage with a few tasks, which remembers what was said.
type panel struct {
	pairs bool
	said  []string
	tasks []analysis.Task
	doubt bool // the last queue asked for what is least certain
}

func (r *rig) panel(_ context.Context, _ store.Run, stage string) (web.Panel, error) {
	if stage != "arena" && stage != "good" {
		return nil, fmt.Errorf("stage %q neither judges nor compares", stage)
	}
	if r.panels == nil {
		r.panels = map[string]*panel{}
	}
	if r.panels[stage] == nil {
		p := &panel{pairs: stage == "arena"}
		for i := range 4 {
			p.tasks = append(p.tasks, analysis.Task{ID: coordinates("gpt", i).Key(), At: coordinates("gpt", i)})
		}
		r.panels[stage] = p
	}
	return r.panels[stage], nil
}

func (p *panel) Pairs() bool { return p.pairs }

func (p *panel) Choices() []web.Choice {
	return []web.Choice{{Key: "a", Text: "A is better"}, {Key: "b", Text: hostile}}
}

func (p *panel) Next(_ context.Context, q analysis.Queue) ([]analysis.Task, error) {
	p.doubt = q.Doubt != nil
	var out []analysis.Task
	for _, t := range p.tasks {
		if !q.Skip(t.ID) {
			out = append(out, t)
		}
	}
	p.tasks = nil
	return out, nil
}

func (p *panel) Sheet(_ context.Context, t analysis.Task) (web.Sheet, bool, error) {
	return web.Sheet{Asked: "about " + t.At.Item, A: hostile, B: "b", Answer: hostile}, t.At.Item != itemID(1), nil
}

func (p *panel) Say(_ context.Context, t analysis.Task, person, key string) error {
	if key != "a" && key != "b" {
		return fmt.Errorf("no choice %q", key)
	}
	p.said = append(p.said, person+" "+t.At.Item+" "+key)
	return nil
}

func (p *panel) Withdraw(context.Context, analysis.Task, string) error {
	p.said = p.said[:len(p.said)-1]
	return nil
}
