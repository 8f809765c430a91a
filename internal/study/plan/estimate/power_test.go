package estimate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/internal/find/stats"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// sized returns a study of so many items.
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

// exactPower sums, over the outcomes of n items on which two lanes agree or not, those in which an exact test shows a difference.
func exactPower(n int, difference, variance, alpha float64) float64 {
	apart := min(1, max(difference, variance+difference*difference))
	first := (apart + difference) / 2
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	sum := 0.0
	for k := range n + 1 { // items on which they differ
		for won := range k + 1 {
			tail := 0.0
			for i := range min(won, k-won) + 1 {
				tail += math.Exp(choose(k, i) - float64(k)*math.Ln2)
			}
			if 2*won == k || 2*tail > alpha {
				continue
			}
			sum += math.Exp(choose(n, k)+choose(k, won)) * math.Pow(first, float64(won)) * math.Pow(apart-first,
				float64(k-won)) * math.Pow(1-apart, float64(n-k))
		}
	}
	return sum
}

func TestAPlanSaysWhatItsSizeCanShow(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054 + 0.8416212335729143 // of 5% two-sided, and of 80% power
	const more = 1.959963984540054 * 1.959963984540054 / 2
	normal := func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }
	// Student's t decides where there are several draws, or scores: of four draws an eighth varies, and an eighth over four.
	scored := func(stage string, what plan.Measure, n, draws, variance, scale float64) plan.Power {
		se, point := math.Sqrt(variance/(n-more)), max(1, scale)/100
		return plan.Power{
			Stage: stage, Verb: study.VerbJudge, What: what, Contestants: 2, Tests: 1, Items: int64(n), Draws: int64(draws),
			Difference: z * se, Variance: variance, Scale: scale, Chance: normal(10*point/se-1.959963984540054) +
				normal(-10*point/se-1.959963984540054), Need: int64(math.Ceil(z*z*variance/25/point/point + more)),
		}
	}
	// One answer to each item is tested exactly; 825 items are those for which the sum over all outcomes first stays above 80%.
	judged := func(stage string) plan.Power {
		return plan.Power{
			Stage: stage, Verb: study.VerbJudge, What: plan.OfRates, Contestants: 2, Tests: 1, Items: 60, Draws: 1, Variance: 0.25,
			Need: 825, Chance: exactPower(60, 0.1, 0.25, 0.05),
		}
	}
	gated := judged("some")
	gated.AtMost = true
	for name, c := range map[string]struct {
		items  int
		stages string
		want   []plan.Power
	}{
		"labels of two lanes": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}`, []plan.Power{judged("ok")}},
		"four draws of each item": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h], repeats: 4}
  - {name: ok, judge: one, rubric: stance_keywords}`, []plan.Power{scored("ok", plan.OfRates, 60, 4, 0.125+0.125/4, 0)}},
		"two lanes from two stages": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: g}
  - {name: two, ask: q, prompt: "{{ text }}", lanes: h}
  - {name: ok, judge: [one, two], rubric: stance, judges: j}`, []plan.Power{judged("ok")}},
		"a condition": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}
  - {name: some, judge: one, where: verdict("ok").label == "safe", rubric: stance, judges: j}`, []plan.Power{judged("ok"), gated}},
		"one lane has nothing to differ from": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, among: g, rubric: stance, judges: j}`, nil},
		"scores from 1 to 5": {60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: likert, judges: j}`, []plan.Power{scored("ok", plan.OfMeans, 60, 1, 1, 4)}},
		"flips against a control": {60,
			`  - {name: one, ask: q, lanes: [g, h], turns: ["{{ text }}", {each: {a: "Sure?", b: "No."}}], control: true}
  - {name: ok, judge: one, rubric: flip, judges: j}`, []plan.Power{scored("ok", plan.OfExcess, 60, 2, 0.1+0.05, 0)}},
		"pairs of lanes": {200, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: arena, compare: one, pairs: all, rubric: better, judges: j}`,
			// 200 pairs show strengths that differ by z / √(200 / 4): 59.8% of wins.
			[]plan.Power{{Stage: "arena", Verb: study.VerbCompare, What: plan.OfWins, Contestants: 2, Tests: 1, Pairs: 200, Share: 0.6,
				Need: 780, Information: 0.25}}},
		"pairs of items": {20, `  - {name: arena, compare: q, pairs: all, rubric: better, judges: j}`,
			// 190 pairs of 20: √(19 / 190 · 4) · 2.8 is 1.77, or 86% of wins; with 190 tests together, 4.49 in place of 2.8.
			[]plan.Power{{Stage: "arena", Verb: study.VerbCompare, What: plan.OfWins, Contestants: 20, Tests: 190, Pairs: 1, Share: 0.86,
				ShareAll: 0.95, Need: 78, Information: 0.25}}},
	} {
		got := sized(t, c.items, c.stages).Power
		for i := range got { // the smallest difference is the one that has the power
			if q := &got[i]; q.What == plan.OfRates && q.Draws == 1 {
				if p := exactPower(60, q.Difference, 0.25, 0.05); math.Abs(p-0.8) > 0.01 {
					t.Errorf("%s: %g shows with a chance of %g", name, q.Difference, p)
				}
				q.Difference = 0
			}
		}
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
		won, lost := 0, 0
		for range items {
			a, b := r.Float64(), r.Float64()
			if r.Float64() < alike {
				b = a
			}
			switch {
			case a < first && b >= second:
				won++
			case a >= first && b < second:
				lost++
			}
		}
		if p := stats.BinomialTest(won, won+lost, 0.5); p.OK && p.Value <= 0.05 {
			shows++
		}
	}
	if share := float64(shows) / studies; share < 0.77 || share > 0.87 {
		t.Errorf("a difference of %.3f showed in %.3f of the studies", d, share)
	}
}

// What a difference needs costs as much as so many items in place of those that are planned.
func TestTheSizeThatADifferenceNeedsIsPriced(t *testing.T) {
	t.Parallel()
	p := sized(t, 60, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}
  - {name: arena, compare: one, pairs: all, rubric: better, judges: j}
  - {name: few, compare: one, pairs: {per_lane_pair: 10}, rubric: better, judges: j}`)
	cost := func(stages ...string) float64 {
		sum := 0.0
		for _, q := range p.Parts {
			for _, s := range stages {
				if q.Stage == s {
					sum += q.Cost.Expected.Sum.Float()
				}
			}
		}
		return sum
	}
	p.Reckon(nil, 5)
	byStage := map[string]*plan.Detect{}
	for _, q := range p.Power {
		byStage[q.Stage] = q.Detect
	}
	near := cmpopts.EquateApprox(0, 1e-6)
	check := func(stage string, want plan.Needed, dollars float64) {
		t.Helper()
		got := byStage[stage].TwoLanes
		if got.Cost == nil || !cmp.Equal(dollars, *got.Cost, near) {
			t.Errorf("%s costs %v, want %g", stage, got.Cost, dollars)
		}
		got.Cost, got.Live = nil, nil
		if diff := cmp.Diff(want, got); diff != "" || byStage[stage].AllPairs != nil {
			t.Errorf("%s: %s, all pairs %+v", stage, diff, byStage[stage].AllPairs)
		}
	}
	check("ok", plan.Needed{Items: 825}, cost("one", "ok")*825/60)
	check("arena", plan.Needed{Items: 780, Comparisons: 780}, cost("one", "arena")*780/60)
	check("few", plan.Needed{Items: 780, Comparisons: 780}, cost("one")*780/60+cost("few")*780/10)

	// Measured variance takes the place of the assumed one: of Student's t, 4 · z² / 0.05² and half the square of 1.96.
	p.Reckon(map[string]plan.Varied{"ok": {Run: "r1", Items: 30, Variance: 0.04}, "arena": {Run: "r1", Items: 30, Information: 0.125},
		"few": {Variance: 1}}, 20)
	for _, q := range p.Power {
		n := q.Detect.TwoLanes
		switch q.Stage {
		case "ok":
			if q.Measured == nil || q.Measured.Run != "r1" || n.Items != int64(math.Ceil(7.848879734349*0.04/0.04+1.920729)) {
				t.Errorf("measured: %+v needs %+v", q, n)
			}
		case "arena": // each comparison says half as much; 70:30 is 0.847
			if n.Comparisons != int64(math.Ceil(7.848879734349/0.125/square(math.Log(7./3)))) || n.Items != n.Comparisons {
				t.Errorf("measured: %+v needs %+v", q, n)
			}
		case "few":
			if q.Measured != nil {
				t.Errorf("a variance says nothing about comparisons: %+v", q)
			}
		}
	}
	if p.Reckon(nil, 60); p.Power[1].Detect.Why == "" || p.Power[0].Detect.Why != "" {
		t.Errorf("60 points: %+v, %+v", p.Power[0].Detect, p.Power[1].Detect)
	}
}

func square(x float64) float64 { return x * x }

// Scores without bounds can differ by any amount; those of a scale by no more than it.
func TestADifferenceIsNoLargerThanTheScaleOfScores(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054 + 0.8416212335729143 // of 5% two-sided, and of 80% power
	for name, c := range map[string]struct {
		bounds   string
		variance float64
		want     float64
	}{
		"no bounds":                {"", 100, z * 10 / math.Sqrt(100-1.920729)},
		"from 0 to 5":              {", minimum: 0, maximum: 5", 100, z * 10 / math.Sqrt(100-1.920729)},
		"from 0 to 2":              {", minimum: 0, maximum: 2", 100, 0},
		"from 0 to a half":         {", minimum: 0, maximum: 0.5", 4, 0},
		"from 0 to a half, closer": {", minimum: 0, maximum: 0.5", 1, z / math.Sqrt(100-1.920729)},
	} {
		p := sized(t, 100, `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: {prompt: "{{ answer.text }}", score: score, schema: {type: object, properties: {score: {type: number`+
			c.bounds+`}}}}, judges: j}`)
		p.Reckon(map[string]plan.Varied{"ok": {Run: "r1", Items: 30, Variance: c.variance}}, 0)
		if q := p.Power[0]; math.Abs(q.Difference-c.want) > 0.0006 || q.What != plan.OfMeans {
			t.Errorf("%s: %+v, want a difference of %g", name, q, c.want)
		}
	}
}

// TestItemsThatShareAClusterShowLess: a fifth of what varies is taken to be the cluster's, by the formula of designs with clusters.
func TestItemsThatShareAClusterShowLess(t *testing.T) {
	t.Parallel()
	const z, more = 1.959963984540054 + 0.8416212335729143, 1.959963984540054 * 1.959963984540054 / 2
	var rows strings.Builder
	for i := range 140 {
		fmt.Fprintf(&rows, "{\"id\": \"i%d\", \"text\": \"question %d\", \"page\": \"p%d\"}\n", i, i, i/7)
	}
	_, lanes, _ := strings.Cut(head, "lane_defaults:")
	text := "study: s\ninputs: {q: {file: q.jsonl, cluster: page}}\nlane_defaults:" + lanes +
		`  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: likert, judges: j}
  - {name: arena, compare: one, pairs: all, rubric: better, judges: j}
`
	p := must(t, desk(t, text, fstest.MapFS{"q.jsonl": {Data: []byte(rows.String())}}), plan.Options{Workers: 1})
	effect := 1 + 6*0.2 // of 7 items in each of 20 clusters
	judged, compared := p.Power[0], p.Power[1]
	units := math.Floor(140 / effect)
	if judged.Clusters != 20 || judged.Items != 140 || math.Abs(judged.Difference-z*math.Sqrt(1/(units-more))) > 0.002 {
		t.Errorf("%+v", judged)
	}
	if want := math.Ceil(math.Ceil(z*z/0.04+more) * effect); math.Abs(float64(judged.Need)-want) > 2 {
		t.Errorf("needs %d items, want %g", judged.Need, want)
	}
	if compared.Clusters != 20 || math.Abs(compared.Information-0.25/effect) > 1e-9 {
		t.Errorf("%+v", compared)
	}
	// Measured variances are those of whole clusters: so many clusters are there.
	p.Reckon(map[string]plan.Varied{"ok": {Run: "r", Items: 20, Variance: 0.5}}, 5)
	if q := p.Power[0]; math.Abs(q.Difference-z*math.Sqrt(0.5/(20-more))) > 0.002 ||
		math.Abs(float64(q.Detect.TwoLanes.Items)-7*math.Ceil(z*z*0.5/0.04+more)) > 8 {
		t.Errorf("measured: %+v", q)
	}
}

// TestTheFirstOfTheItemsAreALook: who asks more later has spent the level of 5%, which is told before; too few items to claim anything,
// all of them, or answers that nobody judges are no look.
func TestTheFirstOfTheItemsAreALook(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	for i := range 30 {
		fmt.Fprintf(&rows, "{\"id\": \"i%d\", \"text\": \"question %d\"}\n", i, i)
	}
	_, lanes, _ := strings.Cut(head, "lane_defaults:")
	text := "study: s\ninputs: {q: {file: q.jsonl}}\nlane_defaults:" + lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: j}
  - {name: score, judge: one, rubric: likert, judges: j}
`
	for limit, want := range map[int][2]float64{0: {}, 3: {0, 0.0025}, 5: {0, 0.0025}, 6: {0.0025, 0.0025}, 20: {0.0025, 0.0025}, 40: {}} {
		p := must(t, desk(t, text, fstest.MapFS{"q.jsonl": {Data: []byte(rows.String())}}), plan.Options{Workers: 1, Limit: limit})
		for i, q := range p.Power {
			if math.Abs(q.Further-want[i]) > 1e-12 {
				t.Errorf("limit %d, stage %s: %g, want %g", limit, q.Stage, q.Further, want[i])
			}
		}
	}
}
