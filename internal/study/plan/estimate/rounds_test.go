package estimate_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/plan"
)

const rounded = `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: arena, compare: one, rubric: better, judges: j, pairs: {adaptive: {rounds: 5, per_round: 40, KEYS}}}`

func arenaPart(t *testing.T, p *plan.Plan) plan.Part {
	t.Helper()
	i := slices.IndexFunc(p.Parts, func(q plan.Part) bool { return q.Stage == "arena" })
	if i < 0 {
		t.Fatal("the plan has no comparisons")
	}
	return p.Parts[i]
}

func TestAPlanOfRoundsGoesFromTheFirstToAllOfThem(t *testing.T) {
	t.Parallel()
	p := sized(t, 200, strings.Replace(rounded, ", KEYS", "", 1))
	all := sized(t, 200, strings.Replace(rounded, "adaptive: {rounds: 5, per_round: 40, KEYS}", "per_lane_pair: 200", 1))
	got, whole := arenaPart(t, p), arenaPart(t, all)
	if got.Requests != 200 || got.First != 20 || got.Rounds != 5 {
		t.Errorf("%d requests, %d in the first of %d rounds, want 200, 20 and 5", got.Requests, got.First, got.Rounds)
	}
	// the rest of every round may be few, and go live
	if got.Plain.High != whole.Plain.High || got.Cost.Expected != whole.Cost.Expected || got.Cost.High.Sum <= whole.Cost.High.Sum {
		t.Errorf("all rounds cost %v to %v, the same number of pairs at once %v to %v", got.Cost.Expected, got.Cost.High,
			whole.Cost.Expected, whole.Cost.High)
	}
	if want := whole.Cost.Low.Sum / 10; got.Cost.Low.Sum < want-1 || got.Cost.Low.Sum > want+1 {
		t.Errorf("at least %s, want that of a tenth of the pairs: %s", got.Cost.Low.Sum, want)
	}
	if p.Waves != all.Waves+4 {
		t.Errorf("%d waves, want four more than %d", p.Waves, all.Waves)
	}
	if !slices.ContainsFunc(p.Notes, func(n string) bool {
		return strings.Contains(n, "at most 200 comparisons in 5 rounds (20, 50, 100, 150 until")
	}) {
		t.Errorf("the notes are %q", p.Notes)
	}
}

func TestABudgetOfRoundsBoundsTheirPlan(t *testing.T) {
	t.Parallel()
	whole := arenaPart(t, sized(t, 200, strings.Replace(rounded, ", KEYS", "", 1)))
	half := whole.Cost.Expected.Sum / 2
	p := arenaPart(t, sized(t, 200, strings.Replace(rounded, "KEYS", "budget: "+half.String(), 1)))
	near := func(a, b assay.Money) bool { return a > b-b/100 && a < b+b/100 }
	if high := whole.Cost.High.Sum / 2; !near(p.Cost.Expected.Sum, half) || !near(p.Cost.High.Sum, high) || high <= half {
		t.Errorf("expected %s, high %s, want the budget %s, and %s where comparisons cost more than is expected", p.Cost.Expected,
			p.Cost.High, half, high)
	}
}

func TestTheFirstRoundGivesEachContestantEnough(t *testing.T) {
	t.Parallel()
	for contestants := int64(2); contestants < 32; contestants++ {
		p, _, err := plan.Rounds(&study.Adaptive{PerRound: 2000}, contestants, 100)
		if err != nil {
			t.Fatal(err)
		}
		p.Budget = max(200, int(contestants)*20) // so that the first round is no larger than it has to be
		g, err := adaptive.Begin(p)
		if err != nil {
			t.Fatal(err)
		}
		met, buy := make([]int, contestants), g.First()
		for k, two := range adaptive.Pairs(int(contestants)) {
			met[two[0]] += buy[k]
			met[two[1]] += buy[k]
		}
		if slices.Min(met) < adaptive.Least || slices.Max(met) > adaptive.Least+2 && contestants > 2 {
			t.Errorf("%d contestants meet %v times in the first round, want %d each", contestants, met, adaptive.Least)
		}
	}
}

func TestRoundsOfAnySizeArePlanned(t *testing.T) {
	t.Parallel()
	p, _, err := plan.Rounds(&study.Adaptive{Rounds: 20, PerRound: math.MaxInt / 8}, 4, 50)
	if err != nil || p.Budget != 600 {
		t.Errorf("a budget of %d comparisons, error %v, want all 600", p.Budget, err)
	}
}
