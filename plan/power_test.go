package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/plan"
	"assay/study"
)

// sized is a study of so many items.
func sized(t *testing.T, items int, stages string) *plan.Plan {
	t.Helper()
	var rows strings.Builder
	for i := range items {
		fmt.Fprintf(&rows, "{\"id\": \"i%d\", \"text\": \"question %d\"}\n", i, i)
	}
	_, lanes, _ := strings.Cut(head, "lane_defaults:")
	text := "study: s\ninputs: {q: {file: q.jsonl}}\nlane_defaults:" + lanes + stages + "\n"
	return must(t, desk(t, text, fstest.MapFS{"q.jsonl": {Data: []byte(rows.String())}}), plan.Options{Workers: 1})
}

func TestAPlanSaysWhatItsSizeCanShow(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054 + 0.8416212335729143 // of 5% two-sided, and of 80% power
	normal := func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }
	// Of one draw a quarter of 1 varies; of four draws an eighth, and an eighth over four.
	judged := func(stage string, n, draws, variance float64) plan.Power {
		se := math.Sqrt(variance / n)
		return plan.Power{
			Stage: stage, Verb: study.VerbJudge, Items: int64(n), Draws: int64(draws), Difference: z * se,
			Chance: normal(0.1/se-1.959963984540054) + normal(-0.1/se-1.959963984540054), Need: int64(math.Ceil(z * z * variance / 0.05 / 0.05)),
		}
	}
	gated := judged("some", 60, 1, 0.25)
	gated.AtMost = true
	for name, c := range map[string]struct {
		items  int
		stages string
		want   []plan.Power
	}{
		"labels of two lanes": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}`, []plan.Power{judged("ok", 60, 1, 0.25)}},
		"four draws of each item": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h], repeats: 4}
  - {name: ok, judge: one, rubric: stance_keywords}`, []plan.Power{judged("ok", 60, 4, 0.125+0.125/4)}},
		"two lanes from two stages": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: g}
  - {name: two, ask: q, prompt: "{{ text }}", lanes: h}
  - {name: ok, judge: [one, two], rubric: stance, judges: j}`, []plan.Power{judged("ok", 60, 1, 0.25)}},
		"a condition": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}
  - {name: some, judge: one, where: verdict("ok").label == "safe", rubric: stance, judges: j}`, []plan.Power{judged("ok", 60, 1, 0.25), gated}},
		"one lane has nothing to differ from": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, among: g, rubric: stance, judges: j}`, nil},
		"scores without labels": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: likert, judges: j}`, nil},
		"pairs of lanes": {200, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: arena, compare: one, pairs: all, rubric: better, judges: j}`,
			// 60:40 needs (z / 0.2)² = 197 pairs, 59:41 needs 243.
			[]plan.Power{{Stage: "arena", Verb: study.VerbCompare, Pairs: 200, Share: 0.6, Need: 785}}},
	} {
		got := sized(t, c.items, c.stages).Power
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 0.0006)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if p := sized(t, 1, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}`).Power; len(p) != 1 || p[0].Difference != 0 {
		t.Errorf("one item shows %+v", p)
	}
}

// The difference that a plan promises shows in four of five studies of lanes whose answers differ as is assumed: by a variance of 0.25.
func TestThePromisedDifferenceShows(t *testing.T) {
	t.Parallel()
	const items, studies = 60, 4000
	d := sized(t, items, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}`).Power[0].Difference
	first, second := 0.5+d/2, 0.5-d/2
	apart := first*(1-second) + second*(1-first) // how often independent answers differ; those to the same luck differ d of the time
	alike := (apart - (0.25 + d*d)) / (apart - d)
	r := rand.New(rand.NewPCG(4, 13))
	shows := 0
	for range studies {
		sum, squares := 0.0, 0.0
		for range items {
			a, b := r.Float64(), r.Float64()
			if r.Float64() < alike {
				b = a
			}
			diff := 0.0
			if a < first {
				diff++
			}
			if b < second {
				diff--
			}
			sum, squares = sum+diff, squares+diff*diff
		}
		mean := sum / items
		se := math.Sqrt((squares/items - mean*mean) / (items - 1))
		if math.Abs(mean) > 1.96*se {
			shows++
		}
	}
	if share := float64(shows) / studies; share < 0.77 || share > 0.87 {
		t.Errorf("a difference of %.3f showed in %.3f of the studies", d, share)
	}
}
