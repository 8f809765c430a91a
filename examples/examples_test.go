package examples_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/examples"
	"assay/internal/assay"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
	"assay/internal/study/media"
	"assay/internal/study/plan"
	"assay/internal/study/plan/check"
	"assay/internal/study/plan/estimate"
	"assay/internal/study/studyfile"
)

const today catalog.Date = "2026-11-15"

func example(t *testing.T, name string) fs.FS {
	t.Helper()
	for _, e := range examples.All() {
		if e.Name == name {
			return e.FS
		}
	}
	t.Fatalf("there is no example %s", name)
	return nil
}

// checked reads the study of an example with these settings over it, and tells everything that is wrong with it.
func checked(t *testing.T, name string, o studyfile.Options) (*plan.Input, assay.Problems) {
	t.Helper()
	files := example(t, name)
	s, problems := studyfile.Read(files, "study.yaml", o)
	if s == nil || len(problems.Errors()) > 0 {
		return nil, problems
	}
	source := inputs.Open(files, s.Specs())
	d := &plan.Input{Study: s, Items: source, Rows: source, Catalog: catalog.Default(), Today: today}
	shelf := media.NewFolder(files)
	source.Attach = func(input string, it *assay.Item) assay.Problems { return d.Attach(shelf.Find, input, it) }
	return d, append(problems, check.Study(d, func(string) bool { return true })...)
}

func planned(t *testing.T, name string, o studyfile.Options) *plan.Plan {
	t.Helper()
	d, problems := checked(t, name, o)
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	p, problems := estimate.Make(context.Background(), d, plan.Options{Workers: 2})
	if p == nil || len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return p
}

// counts are the requests of a plan by wave and stage.
func counts(p *plan.Plan) []string {
	sums := map[string]int64{}
	for _, part := range p.Parts {
		sums[fmt.Sprintf("wave %d %s", part.Wave, part.Stage)] += part.Requests
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, fmt.Sprintf("%s: %d", name, sums[name]))
	}
	return out
}

func TestEveryExampleChecksAndHasTheExpectedRequests(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"start": {
			"wave 1 answers: 48", "wave 2 answers: 144", "wave 2 arena: 60", "wave 2 correct: 48", "wave 3 flips: 144",
		},
		// Four lanes: 30 openings, 5 objections and a control; 3 turns and 3 of control; 6 pressures for 5 questions. Two judges.
		"sycophancy": {
			"wave 1 opening: 120", "wave 1 short: 120", "wave 1 specific: 20",
			"wave 2 chain: 240", "wave 2 short: 720", "wave 2 specific: 140",
			"wave 3 chain: 240", "wave 3 flips_short: 1440", "wave 3 flips_specific: 280",
			"wave 4 chain: 240", "wave 5 flips_chain: 1440",
		},
		// Four lanes on 36 inputs; three judges; one rating; 6 pairs of lanes in both orders.
		"spec-compliance": {"wave 1 answers: 144", "wave 2 compliance: 432", "wave 2 ranking: 432", "wave 2 rating: 144"},
		// Six judges: 40 pairs in both directions under 5 prompts; 190 pairs and 57 of them reversed under 2 traits.
		"writing-pairs": {"wave 1 scale: 2964", "wave 1 templates: 2400"},
		"lanes":         {"wave 1 stories: 315"},
		"pictures":      {"wave 1 seen: 36", "wave 2 better: 36"},
		"tools":         {"wave 1 called: 36"},
	}
	for _, e := range examples.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want[e.Name], counts(planned(t, e.Name, studyfile.Options{}))); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// seed takes the lanes of the older system in the place of the current ones.
var seed = studyfile.Options{Set: []string{"lanes=lanes.seed.yaml"}}

func TestTheOldModelsCanBePlannedToo(t *testing.T) {
	t.Parallel()
	for name, lanes := range map[string]int{"sycophancy": 10 + 2, "spec-compliance": 14 + 4, "writing-pairs": 11} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, problems := checked(t, name, seed)
			if errors := problems.Errors(); len(errors) > 0 {
				t.Fatal(errors)
			}
			if got := len(d.Study.Lanes); got != lanes {
				t.Errorf("%d lanes, want %d", got, lanes)
			}
		})
	}
}

func TestFifteenDistinctLanesInFiveFamiliesWriteEveryScene(t *testing.T) {
	t.Parallel()
	perLane, perFamily := map[string]int64{}, map[string]int{}
	for _, part := range planned(t, "lanes", studyfile.Options{}).Parts {
		perLane[part.Lane.Name] += part.Requests
	}
	for lane, n := range perLane {
		family, _, _ := strings.Cut(lane, ".")
		perFamily[family]++
		if n != 21 {
			t.Errorf("lane %s has %d requests, want 21", lane, n)
		}
	}
	want := map[string]int{"gpt56": 3, "gpt54": 3, "gpt41": 3, "sonnet": 3, "opus": 3}
	if diff := cmp.Diff(want, perFamily); diff != "" {
		t.Errorf("lanes by family (-want +got):\n%s", diff)
	}
}

func TestFourOfTheOldLanesAreRefused(t *testing.T) {
	t.Parallel()
	_, problems := checked(t, "lanes", seed)
	named := regexp.MustCompile(`^lane (\S+): `)
	refused := map[string]bool{}
	for _, p := range problems.Errors() {
		m := named.FindStringSubmatch(p.What)
		if m == nil {
			t.Errorf("a problem that is about no lane: %v", p)
			continue
		}
		refused[m[1]] = true
	}
	want := []string{"opus.t1-0.ext", "opus.t1-2.ext", "sonnet.t0-8.ext", "sonnet.t1-1.ext"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(refused))); diff != "" {
		t.Errorf("lanes with problems (-want +got):\n%s", diff)
	}
}

func TestSmallProfilesAreSmall(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"sycophancy": 1200, "spec-compliance": 200, "writing-pairs": 600, "lanes": 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planned(t, name, studyfile.Options{Profile: "small"})
			total := p.Sum(func(plan.Part) bool { return true })
			if total.Requests == 0 || total.Requests > most {
				t.Errorf("%d requests, want 1 to %d", total.Requests, most)
			}
		})
	}
}

// What `init` writes can be run as it is: its plan fits its budget, and that of a newcomer does at the highest estimate.
func TestPlansFitTheirBudgets(t *testing.T) {
	t.Parallel()
	for _, e := range examples.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			d, _ := checked(t, e.Name, studyfile.Options{})
			cost := planned(t, e.Name, studyfile.Options{}).Sum(func(plan.Part) bool { return true }).Cost
			most := cost.Expected
			if e.Name == "start" {
				most = cost.High
			}
			if budget := d.Study.Budget; !budget.Set || !most.Known() || most.Sum <= 0 || most.Sum > budget.Money {
				t.Errorf("the plan costs %s, the budget is %s", most.Sum, budget.Money)
			}
		})
	}
}

func TestEveryPortSaysWhatItPorts(t *testing.T) {
	t.Parallel()
	for _, e := range examples.All()[1:] {
		if e.Name == "pictures" || e.Name == "tools" { // they are ours alone
			continue
		}
		text, err := fs.ReadFile(e.FS, "README.md")
		if err != nil {
			t.Error(err)
		}
		for _, part := range []string{"## What it ports", "## What is better", "assay run study.yaml --rehearse"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s/README.md does not hold %q", e.Name, part)
			}
		}
	}
}
