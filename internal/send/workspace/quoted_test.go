package workspace

import (
	"strings"
	"testing"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
)

const quotedStudy = `study: quoted
inputs:
  tickets: {file: tickets.csv}
canary: false
lane_defaults: {max_tokens: 60, temperature: 0}
lanes:
  big: {model: openai/gpt-4.1}
  small: {model: openai/gpt-4.1-nano}
  j: {model: openai/gpt-4.1-mini}
rubrics:
  own: {prompt: "Is it good? {{ answer.text }}", labels: {yes: 1, no: 0}}
stages:
  - {name: answers, ask: tickets, prompt: "{{ text }}", lanes: [big, small]}
  - {name: fine, judge: answers, rubric: own, judges: [j]}
`

// rows is a table; each word is a question.
func rows(words string) string {
	out := "id,text\n"
	for _, w := range strings.Fields(words) {
		out += w + ",What is " + w + "?\n"
	}
	return out
}

// TestWhatIsQuotedIsWhatIsPaid edits a study after a run: what is counted as new is what is asked, and the bill is below the most that was
// quoted.
func TestWhatIsQuotedIsWhatIsPaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table string
		edits []string // old and new, of the study
		new   int64    // requests that are paid
	}{
		"other questions":             {rows("red blue green grey pink black"), nil, 24},
		"questions in another order":  {rows("six five four three two one"), nil, 0},
		"a question above the others": {rows("zero one two three four five six"), nil, 4},
		"one question less":           {rows("one two three four five"), nil, 0},
		"another model of one lane":   {"", []string{"openai/gpt-4.1-nano", "openai/gpt-4o-mini"}, 12},
		"both":                        {rows("two three four five six"), []string{"openai/gpt-4.1-nano", "openai/gpt-4o-mini"}, 10},
		"another judge":               {"", []string{"j: {model: openai/gpt-4.1-mini}", "j: {model: openai/gpt-4.1}"}, 12},
		"another name of a lane":      {"", []string{"  small:", "  tiny:", "[big, small]", "[big, tiny]"}, 0},
		"another sample":              {"", []string{"tickets.csv", "tickets.csv, sample: {n: 3, seed: 7}"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "study: none\n")
			r.write("tickets.csv", rows("one two three four five six"))
			r.write("study.yaml", quotedStudy)
			h := r.open(false)
			r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if c.table != "" {
				r.write("tickets.csv", c.table)
			}
			r.write("study.yaml", strings.NewReplacer(append(c.edits, "study: quoted", "study: quoted")...).Replace(quotedStudy))
			r.paysAsQuoted(h, c.new)
		})
	}
}

// TestALaneThatComesBackCostsNothing takes a lane out of a study, and in again.
func TestALaneThatComesBackCostsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "study: none\n")
	r.write("tickets.csv", rows("one two three"))
	r.write("study.yaml", quotedStudy)
	h := r.open(false)
	r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", strings.NewReplacer("  small: {model: openai/gpt-4.1-nano}\n", "", "[big, small]", "[big]").Replace(quotedStudy))
	r.paysAsQuoted(h, 0)
	r.write("study.yaml", quotedStudy)
	r.paysAsQuoted(h, 0)
}

// paysAsQuoted runs the study as it is now, and holds what it pays against what was said before.
func (r *rig) paysAsQuoted(h *Home, want int64) {
	r.t.Helper()
	var over TakeOver
	wanted := r.wanted(StudyOptions{}, snapshot.Settings{})
	run, err := h.Run(r.ctx, wanted, Doorkeeper{
		Confirm: func(donors []store.Run, _ *Edit) (err error) {
			over, err = h.TakesOver(r.ctx, wanted, donors)
			return err
		},
		Extend:  func(_ Current, o TakeOver) error { over = o; return nil },
		Resumed: func(Current) error { return nil },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	before := r.spent(h, run) // of a run that goes on
	already := int64(0)
	for _, n := range r.paidIn(h, run) {
		already += int64(n)
	}
	if end := r.drive(h, run, Drive{}); end.State != runs.StateDone {
		r.t.Fatalf("it is %s", end.State)
	}
	paid := -already
	for _, n := range r.paidIn(h, run) {
		paid += int64(n)
	}
	if paid != want || over.New != want {
		r.t.Errorf("%d were to be new, %d were paid, want %d: %v", over.New, paid, want, r.paidIn(h, run))
	}
	if spent := r.spent(h, run) - before; spent > over.Cost.High.Sum {
		r.t.Errorf("at most %s were to be paid, %s were", over.Cost.High, spent)
	}
}
