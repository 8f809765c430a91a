package resultstest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/results"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/send/engine"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/show/web"
	"assay/internal/show/web/site"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
	"assay/internal/study/catalog"
)

// every is a study with every kind of stage: prompts, branches, draws, judges with votes and second tries, a jury,
// lanes and items against each other, traits, answers made elsewhere, gold labels and gates.
var every = map[string]string{
	"every.yaml": `
study: every
inputs:
  q: {file: q.csv, cluster: topic, expect: {field: answer}}
  texts: {file: essays.csv}
canary: false
mode: live
lane_defaults: {max_tokens: 60, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1-mini}
  b: {model: openai/gpt-4.1-nano}
  j: {model: openai/gpt-4.1}
  k: {model: openai/gpt-4o-2024-08-06}
traits:
  brevity: {name: Brevity, description: Says it in few words.}
rubrics:
  fine: {prompt: {plain: "Fine? {{ answer.text }}", strict: "Really fine? {{ answer.text }}"}, labels: {yes: 1, no: 0}}
stages:
  - name: first
    ask: q
    system: Be brief.
    prompt: {plain: "{{ text }}", kind: "Please: {{ text }}"}
    repeats: 2
    lanes: [a, b]
  - {name: talk, ask: q, prompt: "{{ text }}", lanes: [a, b]}
  - {name: more, continue: talk, turns: ["Why?", {each: {doubt: "Are you sure?", calm: "Thank you."}}], lanes: [a, b]}
  - {name: old, import: {file: old.csv, of: q}}
  - {name: right, judge: old, rubric: contains}
  - {name: never, ask: q, prompt: "{{ text }}", lanes: [a], when: 'any(finding("right", "rate"), .value > 2)'}
  - {name: fine, judge: [first, more], rubric: fine, judges: [j], repeats: 2, second_try: true}
  - {name: panel, judge: first, rubric: {prompt: "Good? {{ answer.text }}", labels: {yes: 1, no: 0}}, judges: [j, k], jury: majority, gold: gold.csv}
  - {name: arena, compare: first, rubric: better, judges: [j], second_try: true, identical: ask, pairs: {all: true, order: both}}
  - {name: essays, compare: texts, pairs: all, trait: [overall_quality, brevity], prompt: {brief: short, long: stepwise}, rubric: better_sample, judges: [j]}
analyses:
  - {of: panel, method: rate, by: [lane, topic], primary: true}
require:
  - finding("panel", "rate", "a").high <= 1
  - finding("panel", "rate", "b").low > 2
`,
	"q.csv":      "id,text,topic,answer\nq1,What is two and two?,sums,4\nq2,What is two and three?,sums,5\nq3,Who are you?,talk,a model\n",
	"essays.csv": "id,text\nx,A dog ran.\ny,A cat sat on the mat and looked about.\nz,Birds sing in the morning.\n",
	"old.csv":    "item,lane,text,input_tokens,output_tokens\nq1,ann,It is 4.,12,3\nq2,ann,5 it is.,,\n",
	"gold.csv":   "item,lane,template,draw,label\nq1,a,plain,1,yes\nq2,a,plain,1,no\nq9,a,plain,1,no\n",
}

// bench is a folder with a home, and a simulator whose judges' replies often cannot be parsed.
type bench struct {
	t   *testing.T
	dir string
	url string
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Judges: &minds.Judges{Malformed: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() { server.Close(); sim.Close() })
	b.url = server.URL
	return b
}

// assay runs a command and returns what it prints; it wants one of these exit codes.
func (b *bench) assay(codes []int, args ...string) string {
	b.t.Helper()
	return b.typing("", codes, args...)
}

// typing runs a command with something on its standard input.
func (b *bench) typing(keys string, codes []int, args ...string) string {
	b.t.Helper()
	var out, trouble bytes.Buffer
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": b.url + "/openai/v1", "USER": "tester"}
	got := cli.Main(b.t.Context(), shell.World{
		Args: args, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Stdin: strings.NewReader(keys),
		Stdout: &out, Stderr: &trouble, Now: time.Now, Disk: shell.Disk{Dir: b.dir}, HTTP: http.DefaultTransport,
		Seams: workspace.Seams{Timing: func(t engine.Timing) engine.Timing { return t.Scaled(1000) }},
	})
	if !slices.Contains(codes, got) {
		b.t.Fatalf("assay %s: exit code %d\n%s%s", strings.Join(args, " "), got, out.String(), trouble.String())
	}
	return out.String()
}

// open opens the ledger of a home.
func (b *bench) open(home string) *ledger.Ledger {
	b.t.Helper()
	l, err := ledger.Open(b.t.Context(), filepath.Join(b.dir, home, "ledger.db"), ledger.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { l.Close() })
	return l
}

// reader opens a home for reading.
func (b *bench) reader(home string) (*results.Reader, *artifacts.Folder) {
	b.t.Helper()
	ledger := b.open(home)
	files, err := artifacts.Open(filepath.Join(b.dir, home, "runs"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { files.Close() })
	return &results.Reader{Ledger: ledger.Reader, Pages: ledger.Pages,
		Scripts: &script.Library{Files: files, Store: snapshot.Store{
			Runs: ledger.Runs, Leases: ledger.Leases, Imports: ledger.Imports, Reader: ledger.Reader, Catalog: catalog.Default()}}}, files
}

type row = map[string]any

// lines reads JSON lines.
func lines(t *testing.T, text string) []row {
	t.Helper()
	var out []row
	for line := range strings.Lines(text) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %s", err, line)
		}
		out = append(out, r)
	}
	return out
}

func (b *bench) file(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// api asks the dashboard of a home.
type api struct {
	t      *testing.T
	server *httptest.Server
	run    string
}

func (b *bench) api(home string) *api {
	b.t.Helper()
	reader, files := b.reader(home)
	l := b.open(home)
	at := []*site.Home{{Reader: reader, Files: files, Orders: l.Runs, Clients: l.Clients}}
	s, err := web.New(site.Options{Homes: func() []*site.Home { return at }, Token: "0123456789abcdef"})
	if err != nil {
		b.t.Fatal(err)
	}
	runs, err := reader.Pages.RunsPage(b.t.Context(), 0, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	a := &api{t: b.t, server: httptest.NewServer(s), run: runs[0].ID}
	b.t.Cleanup(a.server.Close)
	return a
}

func (a *api) get(path string) row {
	a.t.Helper()
	q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, a.server.URL+"/api/runs/"+a.run+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer 0123456789abcdef")
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		a.t.Fatal(err)
	}
	defer got.Body.Close()
	var out row
	if err := json.NewDecoder(got.Body).Decode(&out); err != nil || got.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: %d %v %v", path, got.StatusCode, err, out)
	}
	return out
}

// all reads a list of the API page by page.
func (a *api) all(path, list string) []row {
	a.t.Helper()
	var out []row
	for after := any(""); after != nil; {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		page := a.get(path + sep + "limit=100&after=" + url.QueryEscape(shown(after)))
		for _, r := range page[list].([]any) {
			out = append(out, r.(row))
		}
		after = page["next"]
	}
	return out
}

func shown(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func by(rows []row, fields ...string) []row {
	slices.SortStableFunc(rows, func(x, y row) int {
		for _, f := range fields {
			if c := strings.Compare(shown(x[f]), shown(y[f])); c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// TestEveryOutletHasTheSameRows asks the command line, an export, the API and an import for the rows of one run.
func TestEveryOutletHasTheSameRows(t *testing.T) {
	t.Parallel()
	b := newBench(t, every)
	b.assay([]int{0, 3, 6}, "run", "every.yaml", "--yes", "--home", "home")
	b.assay([]int{0}, "export", "--home", "home", "--format", "jsonl", "--out", "out")

	printed := by(lines(t, b.assay([]int{0}, "results", "--home", "home", "--json")), "key", "segment")
	exported := by(lines(t, b.file("out/answers.jsonl")), "key", "segment")
	exported = slices.DeleteFunc(exported, func(r row) bool { return r["ending"] == rows.Unasked })
	a := b.api("home")
	served := by(a.all("/answers", "answers"), "key", "segment")
	kinds := map[string]bool{}
	for _, r := range exported {
		kinds[shown(r["stage"])] = true
		kinds["second try with its verdict"] = kinds["second try with its verdict"] ||
			r["second_try"] == true && len(r["verdicts"].([]any)) == 1
	}
	want := []string{"arena", "essays", "fine", "first", "more", "old", "panel", "second try with its verdict", "talk"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(kinds))); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff(exported, printed); d != "" {
		t.Errorf("results --json differs from the export: %s", d)
	}
	if d := cmp.Diff(exported, served); d != "" {
		t.Errorf("the API differs from the export: %s", d)
	}

	said := by(lines(t, b.file("out/verdicts.jsonl")), "key", "given_at")
	if d := cmp.Diff(said, by(a.all("/verdicts", "verdicts"), "key", "given_at")); d != "" {
		t.Errorf("the verdicts of the API differ: %s", d)
	}
	for _, stage := range []string{"first", "panel", "arena", "essays"} {
		i := slices.IndexFunc(exported, func(r row) bool { return r["stage"] == stage })
		one := a.get("/answers/" + shown(exported[i]["key"]))["answer"]
		if d := cmp.Diff(exported[i], one); d != "" {
			t.Errorf("one answer of stage %s differs: %s", stage, d)
		}
		item := a.get("/item?id=" + url.QueryEscape(shown(exported[i]["item"])) + "&stage=" + stage)
		for _, lane := range item["lanes"].([]any) {
			for _, r := range lane.(row)["answers"].([]any) {
				k := slices.IndexFunc(exported, func(e row) bool {
					return e["key"] == r.(row)["key"] && e["segment"] == r.(row)["segment"]
				})
				if d := cmp.Diff(exported[k], r); d != "" {
					t.Errorf("the item's page of stage %s differs: %s", stage, d)
				}
			}
		}
	}
	b.reimported(exported, said)
}

// reimported holds a run that is made of the export against it: what was asked where, what came back, what its verdicts
// are.
func (b *bench) reimported(exported, said []row) {
	b.t.Helper()
	b.assay([]int{0, 3}, "import", "--format", "jsonl", "out", "--out", "again", "--home", "other", "--study", "every")
	b.assay([]int{0}, "export", "--home", "other", "--format", "jsonl", "--out", "back")
	carried := []string{"stage", "item", "lane", "template", "turn", "branch", "draw", "ending", "text", "thoughts"}
	own := func(all []row) []row {
		all = slices.DeleteFunc(slices.Clone(all), func(r row) bool { return r["judge"] != "" || r["ending"] == rows.Unasked })
		return by(project(all, carried), carried...)
	}
	if d := cmp.Diff(own(exported), own(lines(b.t, b.file("back/answers.jsonl")))); d != "" {
		b.t.Errorf("the answers of an import differ: %s", d)
	}
	// not which try it was
	kept := []string{"stage", "verb", "item", "lane", "template", "turn", "branch", "draw", "first", "second", "trait", "prompt", "vote",
		"state", "label", "score", "reason"}
	if d := cmp.Diff(by(project(said, kept), kept...), by(project(lines(b.t, b.file("back/verdicts.jsonl")), kept), kept...)); d != "" {
		b.t.Errorf("the verdicts of an import differ: %s", d)
	}
}

func project(rows []row, fields []string) []row {
	out := make([]row, len(rows))
	for i, r := range rows {
		out[i] = row{}
		for _, f := range fields {
			out[i][f] = r[f]
		}
	}
	return out
}
