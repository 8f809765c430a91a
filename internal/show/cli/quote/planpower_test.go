package quote

import (
	"strings"
	"testing"

	"assay/internal/study/plan"
)

// Scores without bounds may be large: what can be shown is a plain number.
func TestLargeDifferencesOfScoresArePlainNumbers(t *testing.T) {
	t.Parallel()
	measured := &plan.Varied{Run: "r1", Items: 30}
	for _, c := range []struct {
		difference float64
		want       string
	}{
		{0, "Stage ok: 100 items for each lane can show no difference (5% level, 80% power, as run r1 varied over 30 items).\n"},
		{2.829, "Stage ok: 100 items for each lane can show a difference of about 2.8 of the score (5% level, 80% power, as run r1 " +
			"varied over 30 items).\n"},
		{99.6, "Stage ok: 100 items for each lane can show a difference of about 100 of the score (5% level, 80% power, as run r1 varied " +
			"over 30 items).\n"},
		{282.9, "Stage ok: 100 items for each lane can show a difference of about 283 of the score (5% level, 80% power, as run r1 " +
			"varied over 30 items).\n"},
	} {
		q := plan.Power{Stage: "ok", What: plan.OfMeans, Contestants: 2, Tests: 1, Items: 100, Draws: 1, Difference: c.difference,
			Measured: measured}
		if got := powerLines(q); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestAFirstLookIsToldBefore(t *testing.T) {
	t.Parallel()
	q := plan.Power{Stage: "ok", What: plan.OfRates, Contestants: 2, Tests: 1, Items: 20, Draws: 1, Further: 0.0025}
	want := "  These items are a first look at 5%: if more are asked later, what is new is claimed at 0.25%. " +
		"`assay plan STUDY --pilot 20` asks without judging, and is no look.\n"
	if got := powerLines(q); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
