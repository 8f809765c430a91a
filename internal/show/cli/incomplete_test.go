package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/show/cli"
)

// missingStudy has 20 answers of each of four lanes but the last, which has 18: all lanes together have 97.5% of the plan.
const missingStudy = `study: gaps
inputs: {q: {file: q.csv, expect: {field: answer}}}
stages:
  - {name: old, import: {file: answers.csv, of: q}}
  - {name: right, judge: old, rubric: contains}
analyses: [{of: right, by: [lane], primary: true}]
`

// TestALaneWithATenthMissingIsIncompleteInEveryOutput: the lane's numbers rest on too little, however complete the others are.
func TestALaneWithATenthMissingIsIncompleteInEveryOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	items, answers := "id,text,answer\n", "item,lane,text\n"
	for i := range 20 {
		items += fmt.Sprintf("%d,What?,yes\n", i)
		for k, lane := range []string{"a", "b", "c", "d"} {
			if lane != "d" || i >= 2 {
				answers += fmt.Sprintf("%d,%s,%s\n", i, lane, []string{"yes", "no"}[min(i%(k+2), 1)])
			}
		}
	}
	for name, text := range map[string]string{"s.yaml": missingStudy, "q.csv": items, "answers.csv": answers} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do := func(code int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if got := cli.Main(t.Context(), worldIn(dir, &out, &errs, args...)); got != code {
			t.Fatalf("%s: exit code %d\n%s%s", args, got, &out, &errs)
		}
		return out.String()
	}
	do(3, "run", "s.yaml", "--rehearse")
	const sentence = "too little of the plan is there to rely on it"
	text := do(3, "analyse", "--full")
	for _, want := range []string{"right: rates INCOMPLETE", "whatever the missing verdicts are, it lies between", sentence,
		"\nd     rate"} {
		if !strings.Contains(text, want) {
			t.Errorf("analyse does not say %q:\n%s", want, text)
		}
	}
	incompleteJSON(t, do(3, "analyse", "--json"))
	incompleteCSV(t, do(3, "analyse", "--csv"))
	do(3, "analyse", "--junit", "gates.xml")
	do(0, "report", "--format", "md", "--out", "r.md")
	do(0, "report", "--format", "html", "--out", "r.html")
	for file, wants := range map[string][]string{
		"gates.xml": {`<skipped message="incomplete: coverage `}, "r.md": {"incomplete", sentence},
		"r.html": {`<span class="badge warn">incomplete</span>`, sentence},
	} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s does not say %q", file, want)
			}
		}
	}
	d := openDashboard(t, dir)
	var runs struct{ Runs []struct{ Run string } }
	d.json("/runs", &runs)
	status, found := d.get("/api/runs/" + runs.Runs[0].Run + "/findings")
	if status != 200 {
		t.Fatalf("findings: %d %s", status, found)
	}
	incompleteJSON(t, found)
	if _, page := d.get("/runs/" + runs.Runs[0].Run + "/findings"); !strings.Contains(page, `<span class="badge warn">incomplete</span>`) {
		t.Errorf("the dashboard's page does not say incomplete:\n%s", page)
	}
}

// incompleteJSON reads what analyse --json prints, or what the dashboard's API gives of one run.
func incompleteJSON(t *testing.T, text string) {
	t.Helper()
	type run struct {
		Incomplete bool
		Tables     []struct {
			Title      string
			Incomplete bool
			Notes      []string
		}
	}
	var doc struct {
		run
		Runs []run
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	one := doc.run
	if len(doc.Runs) > 0 {
		one = doc.Runs[0]
	}
	const why = "incomplete: less than 95% of what was planned of d is there"
	if !one.Incomplete || len(one.Tables) == 0 || !one.Tables[0].Incomplete || !slices.Contains(one.Tables[0].Notes, why) {
		t.Errorf("incomplete is not said in %s", text)
	}
}

func incompleteCSV(t *testing.T, text string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) int { return slices.Index(rows[0], name) }
	seen := 0
	for _, r := range rows[1:] {
		if r[at("title")] == "rates" && r[at("what")] == "rate" {
			seen++
			if r[at("incomplete")] != "true" {
				t.Errorf("a row of an incomplete table: %v", r)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d rates of four lanes", seen)
	}
}
