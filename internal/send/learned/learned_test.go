package learned

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study/plan"
)

func TestTheBestSourceIsTaken(t *testing.T) {
	t.Parallel()
	lane := assay.Lane{Name: "a", Provider: "openai", Model: "m", Params: assay.Params{Effort: "low"}}
	row := func(run int64, study, stage string, output int64, params string) store.Took {
		return store.Took{Run: run, Study: study, Stage: stage, Lane: "a", Provider: "openai", Model: "m", Params: params,
			Turn: 1, Answers: 10, Input: 100, Output: 10 * output, Bytes: 400, Counted: 100}
	}
	const low, high, cut = `{"Effort":"low"}`, `{"Effort":"high"}`, `{"Effort":"low","MaxTokens":20}`
	rows := []store.Took{
		row(7, "s", "ask", 1, low), row(5, "s", "ask", 2, low), row(4, "s.pilot", "ask", 3, low), row(3, "other", "x", 4, low),
	}
	for i, want := range []struct {
		from plan.Source
		mean float64
	}{{plan.FromRun, 1}, {plan.FromEarlier, 2}, {plan.FromPilot, 3}, {plan.FromModel, 4}, {"", 0}} {
		b := &Book{run: 7, study: "s", rows: rows[i:]}
		got := b.Before("ask", 1, false, lane)
		if got.From != want.from || got.Mean != want.mean || want.from != "" && (got.N != 10 || got.PerByte != 0.25) {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
	for name, r := range map[string]store.Took{
		"thinks more": row(5, "s", "ask", 2, high), "was held short": row(5, "s", "ask", 18, cut), "unreadable": row(5, "s", "ask", 2, "["),
	} {
		if got := (&Book{study: "s", rows: []store.Took{r}}).Before("ask", 1, false, lane); got.N != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	judged := row(5, "s", "ask", 2, low)
	judged.Judged = true
	if got := (&Book{study: "s", rows: []store.Took{judged}}).Before("ask", 1, false, lane); got.N != 0 {
		t.Errorf("a verdict is taken for an answer: %+v", got)
	}
}

// TestLanesOfARunAreBeforeOtherStudies has a lane without answers, beside one of its model that is asked the same.
func TestLanesOfARunAreBeforeOtherStudies(t *testing.T) {
	t.Parallel()
	row := func(run int64, study, stage string, output int64) store.Took {
		return store.Took{Run: run, Study: study, Stage: stage, Lane: "b", Provider: "p", Model: "m", Turn: 1, Answers: 1, Output: output}
	}
	b := &Book{run: 7, study: "s", rows: []store.Took{row(3, "other", "ask", 90), row(7, "s", "ask", 10), row(7, "s", "else", 50)}}
	if got := b.Before("ask", 1, false, assay.Lane{Name: "a", Provider: "p", Model: "m"}); got.From != plan.FromModel || got.Mean != 10 {
		t.Errorf("%+v", got)
	}
}

// TestATurnGoesByItself has turns of different length: each is expected as its own were.
func TestATurnGoesByItself(t *testing.T) {
	t.Parallel()
	lane := assay.Lane{Name: "a", Provider: "p", Model: "m"}
	row := func(turn int, input, output int64) store.Took {
		return store.Took{Study: "s", Stage: "ask", Lane: "a", Provider: "p", Model: "m", Turn: turn, Answers: 1,
			Input: input, Output: output}
	}
	b := &Book{study: "s", rows: []store.Took{row(1, 10, 100), row(2, 50, 200)}}
	for turn, want := range map[int][2]float64{1: {10, 100}, 2: {50, 200}, 3: {0, 150}} {
		if got := b.Before("ask", turn, false, lane); got.Input != want[0] || got.Mean != want[1] {
			t.Errorf("turn %d: %+v, want %v", turn, got, want)
		}
	}
}
