package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// edit changes the study of a session.
func (s scene) edit(old, is string) {
	s.Helper()
	name := filepath.Join(s.dir, "study.yaml")
	text, err := os.ReadFile(name)
	s.ok(err)
	if !strings.Contains(string(text), old) {
		s.Fatalf("%q is not in the study", old)
	}
	s.ok(os.WriteFile(name, []byte(strings.Replace(string(text), old, is, 1)), 0o600))
}

// paidAnewOnce wants every request that the newest run did not take over billed once, so many of them, and every other
// once in the run before.
func (s scene) paidAnewOnce(want int) {
	s.Helper()
	bill, err := s.billed()
	s.ok(err)
	times := map[string]int{}
	for _, j := range bill.Jobs {
		for _, id := range j.Billed {
			_, key, err := assay.ParseCustomID(id)
			s.ok(err)
			times[key.String()]++
		}
	}
	for _, a := range bill.Live {
		if a.Count > 0 {
			s.Errorf("asked live: %+v", a)
		}
	}
	l, err := s.ledger(s.Context())
	s.ok(err)
	defer l.Close()
	runs, err := l.Reader.Runs(s.Context(), "", store.RunClosed)
	s.ok(err)
	if len(runs) != 2 {
		s.Fatalf("%d runs are closed, want 2", len(runs))
	}
	paid := map[int64]int{}
	for _, run := range runs {
		for a, err := range l.Reader.Answers(s.Context(), run.No, "", "") {
			s.ok(err)
			if a.Reused == 0 {
				times[a.Key.String()]--
				paid[run.No]++
			}
		}
	}
	if paid[runs[0].No] != want {
		s.Errorf("%d requests are paid anew, want %d", paid[runs[0].No], want)
	}
	for key, n := range times {
		if n != 0 {
			s.Errorf("request %s was billed %d times too often", key, n)
		}
	}
}

// TestAnEditOfRequestsSurvivesAKillAtAnyStep kills a process that begins a new run of an edited study: what is equal is
// taken over, nothing is asked twice, and the end is that of an undisturbed run.
func TestAnEditOfRequestsSurvivesAKillAtAnyStep(t *testing.T) {
	t.Parallel()
	const old, is = "gpt:   {model: openai/gpt-4.1-mini, temperature: 0}", "gpt:   {model: openai/gpt-4.1, temperature: 0}"
	const touched = 3 + 3 + 6 // answers of one lane, the verdicts on them, and all pairs both ways
	run := []string{"run", "study.yaml", "--yes", "--no-canary"}
	begun := func(t *testing.T) scene {
		s := newScene(t, "judged")
		s.exits(0, run, "18 of 18 requests have an answer")
		s.edit(old, is)
		return s
	}
	whole := begun(t)
	whole.exits(0, run, "model of lane gpt (gpt-4.1-mini → gpt-4.1)", "a new run is begun")
	want, err := whole.state(t.Context())
	whole.ok(err)
	whole.paidAnewOnce(touched)
	for _, at := range half([]Point{
		{"ledger open run", 1, After}, {"ledger stage", 1, After}, {"ledger add attempts", 1, Before},
		{"POST /openai/v1/batches", 1, Accepted}, {"ledger intend", 1, After}, {"ledger settle", 1, After},
		{"ledger add verdicts", 1, Before},
	}, *points) {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s := begun(t)
			s.killedAt(at)
			s.exits(0, run, "18 of 18 requests have an answer")
			got, err := s.state(t.Context())
			s.ok(err)
			s.ok(same(want, got))
			s.ok(s.sound(t.Context()))
			s.paidAnewOnce(touched)
		})
	}
}
