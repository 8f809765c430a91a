package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/show/cli"
)

// sparedStudy plans more than it asks: of six answers four are alike in pairs, and need no judge.
const sparedStudy = `study: spared
inputs: {q: {items: [{id: a, text: one}, {id: b, text: two}, {id: c, text: three}]}}
canary: false
lanes: {j: {model: openai/gpt-4.1-mini-2025-04-14, max_tokens: 100}}
stages:
  - {name: old, import: {file: answers.csv, of: q}}
  - {name: arena, compare: old, rubric: better, judges: [j], pairs: {all: true, order: random}}
`

// TestOneRunHasOneCount holds all places that say how far a run is against each other: of nine planned requests two are spared, and
// seven of seven have an answer wherever one looks.
func TestOneRunHasOneCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"study.yaml": sparedStudy,
		"answers.csv": "item,lane,text\na,x,same\na,y,same\nb,x,same\nb,y,same\nc,x,this\nc,y,that\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := cli.Main(t.Context(), worldIn(dir, &out, &out, args...)); code != 0 {
			t.Fatalf("assay %s: exit code %d\n%s", strings.Join(args, " "), code, &out)
		}
		return out.String()
	}
	driven := run("run", "study.yaml", "--rehearse")
	status := run("status", "spared")
	report := run("report", "spared", "--format", "md", "--out", "-")
	view := openDashboard(t, dir)
	page := func(path string) string {
		t.Helper()
		code, text := view.get(path)
		if code != 200 {
			t.Fatalf("%s: %d", path, code)
		}
		return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ")), " ")
	}
	id := regexp.MustCompile(`Run (\w+) of spared`).FindStringSubmatch(status)[1]
	list, first, progress := page("/runs"), page("/runs/"+id), page("/runs/"+id+"/progress")
	for place, c := range map[string]struct{ text, want string }{
		"the end of run":            {driven, "7 of 7 requests have an answer"},
		"the sentence of status":    {status, "7 of 7 requests have an answer"},
		"the sentence of a report":  {report, "7 of 7 requests have an answer"},
		"the tile of a report":      {report, "requests answered: 7 of 7"},
		"the list of runs":          {list, "3 × 2 7 requests"},
		"assay runs":                {run("runs", "--rehearsal"), "7 of 7"},
		"the first page of a run":   {first, "7 of 7 requests have an answer"},
		"the tiles of its progress": {progress, "answered 7 of 7"},
		"a lane of its progress":    {progress, "1 of 1"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s does not say %q:\n%s", place, c.want, c.text)
		}
		// which says first what was planned
		if wrong := regexp.MustCompile(`\d+ of 9\b`).FindString(c.text); wrong != "" && place != "the end of run" {
			t.Errorf("%s says %q", place, wrong)
		}
	}
	for place, text := range map[string]string{"the table of status": status, "the table of a report": report} {
		if !regexp.MustCompile(`arena[ |]+j[ |]+(closed )?[ |]*1[ |]`).MatchString(text) {
			t.Errorf("%s counts what was spared:\n%s", place, text)
		}
	}
	_, listed := view.get("/api/runs")
	_, one := view.get("/api/runs/" + id)
	for place, c := range map[string]struct {
		text string
		path []any
	}{
		"status --json":     {run("status", "spared", "--json"), nil},
		"runs --json":       {run("runs", "--rehearsal", "--json"), []any{"runs", 0}},
		"/api/runs":         {listed, []any{"runs", 0}},
		"/api/runs/RUN":     {one, []any{"run"}},
		"a lane of the API": {one, []any{"lanes", 0}},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.text[strings.Index(c.text, "{"):]), &v); err != nil { // after what stands on stderr
			t.Fatalf("%s: %v", place, err)
		}
		for _, p := range c.path {
			switch p := p.(type) {
			case string:
				v = v.(map[string]any)[p]
			case int:
				v = v.([]any)[p]
			}
		}
		got := v.(map[string]any)
		want := "7 7 9 2"
		if place == "a lane of the API" {
			want = "1 1 3 2"
		}
		if place == "status --json" || place == "runs --json" {
			got["planned"], got["spared"] = 9, 2 // its lanes have these
		}
		if text := fmt.Sprint(got["answered"], got["wanted"], got["planned"], got["spared"]); text != want {
			t.Errorf("%s: answered, wanted, planned, spared are %s, want %s", place, text, want)
		}
	}
	_, metrics := view.get("/metrics")
	if !regexp.MustCompile(`assay_requests_planned\{[^}]*stage="arena"[^}]*\} 1\n`).MatchString(metrics) {
		t.Errorf("metrics count what was spared:\n%s", metrics)
	}
}
