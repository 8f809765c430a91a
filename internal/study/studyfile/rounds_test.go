package studyfile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study"
	"assay/internal/study/studyfile"
)

const rounds = `study: s
inputs: {q: q.jsonl}
lanes: {x: {model: openai/gpt-4o-mini}, y: {model: openai/gpt-4.1-mini}, z: {model: openai/gpt-4.1}, j: {model: openai/gpt-4.1-nano}}
stages:
  - {name: one, ask: q, prompt: "{{ text }}", lanes: [x, y, z]}
  - name: arena
    compare: one
    rubric: better
    judges: [j]
    pairs: {adaptive: KEYS}
`

func readRounds(keys string) (*study.Study, string) {
	text := strings.ReplaceAll(rounds, "KEYS", keys)
	s, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}, "q.jsonl": {Data: []byte(`{"id": "a", "text": "A"}`)}},
		"s.yaml", studyfile.Options{})
	var out []string
	for _, p := range problems {
		out = append(out, p.What)
	}
	return s, strings.Join(out, "\n")
}

func TestRoundsAreRead(t *testing.T) {
	t.Parallel()
	s, problems := readRounds("{goal: {between: [x, z]}, rounds: 6, per_round: 200, budget: 12 USD, seed: 7}")
	if problems != "" {
		t.Fatal(problems)
	}
	a := s.Stages[1].Pairs.Adaptive
	if a == nil || a.Planned() != 6 || a.PerRound != 200 || a.Budget.Money.Float() != 12 || a.Seed != 7 ||
		strings.Join(a.Goal.Between.List, " ") != "x z" {
		t.Errorf("read %+v", a)
	}
	for keys, want := range map[string]study.Goal{
		"{per_round: 10}":                     {},
		"{goal: ranking, per_round: 10}":      {},
		"{goal: {top: 2}, per_round: 10}":     {Top: 2},
		"{goal: {width: 0.2}, per_round: 10}": {Width: 0.2},
	} {
		s, problems := readRounds(keys)
		if problems != "" {
			t.Errorf("%s: %s", keys, problems)
			continue
		}
		a := s.Stages[1].Pairs.Adaptive
		if a.Planned() != 5 || a.Goal.Top != want.Top || a.Goal.Width != want.Width || len(a.Goal.Between.List) != 0 {
			t.Errorf("%s: read %+v", keys, a)
		}
	}
}

func TestRoundsThatCannotBeMeantAreProblems(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"{}":                                         "adaptive does not say how many comparisons a round has",
		"{per_round: 0}":                             "per_round: want at least 1, got 0",
		"{per_round: 9, rounds: 0}":                  "rounds: want 1 to 20, got 0",
		"{per_round: 9, rounds: 21}":                 "rounds: want 1 to 20, got 21",
		"{per_round: 9, budget: 0 USD}":              "budget: want more than 0",
		"{per_round: 9, goal: best}":                 `want ranking, {top: 3}, {between: [a, b]} or {width: 0.2}, got the text "best"`,
		"{per_round: 9, goal: {top: 0}}":             "top: want at least 1, got 0",
		"{per_round: 9, goal: {top: 3}}":             "stage arena: the best 3 of 3 lanes are known already",
		"{per_round: 9, goal: {top: 1, width: 0.2}}": "goal: want one goal, got 2",
		"{per_round: 9, goal: {between: [x]}}":       "between: want two names, got 1",
		"{per_round: 9, goal: {between: [x, x]}}":    `between: "x" is named twice`,
		"{per_round: 9, goal: {between: [x, j]}}":    `no lane of stage arena is called "j"`,
		"{per_round: 9, goal: {width: 0}}":           "width: want more than 0, got 0",
		"{per_round: 9}, sample: 3":                  "pairs: want one of all, sample, per_item, per_lane_pair, file, adaptive",
		"{per_round: 9}, seed: 3":                    `"seed" does not belong beside adaptive`,
		"{per_round: 9}, within: text":               `"within" does not belong beside adaptive`,
		"{per_round: 9}, order: both":                `"order" does not belong beside adaptive`,
	} {
		if _, problems := readRounds(keys); !strings.Contains(problems, want) {
			t.Errorf("%s: got %q, want %q", keys, problems, want)
		}
	}
}
