package crash

import (
	"strings"
	"testing"
	"time"

	"assay/internal/send/workspace"
	"assay/internal/simulator"
)

// TestTheTierThatWasUsedIsThePrice asks in the flex tier, by its name and by the mode: the simulator serves it, and reports that.
func TestTheTierThatWasUsedIsThePrice(t *testing.T) {
	t.Parallel()
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	s := newStation(t, tierStudy, 3, sim.Transport(), keys(sim))
	if code := s.run(t.Context(), "run", "study.yaml", "--yes"); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.out.String())
	}
	s.out.Reset()
	// gpt-5: 1.25 and 10 dollars for a million tokens, half of it in the flex tier.
	code := s.run(t.Context(), "sql",
		`SELECT g.lane, o.tier, SUM(o.cost_nano) * 2 / SUM(o.input_tokens * 1250 + o.output_tokens * 10000) AS halves
		FROM outcomes o JOIN segments g ON g.no = o.segment_no GROUP BY 1, 2 ORDER BY 1`, "--csv")
	want := "lane,tier,halves\ncheap,flex,1\nroom,flex,1\nusual,default,2\n"
	if code != 0 || strings.ReplaceAll(s.out.String(), "\r", "") != want {
		t.Errorf("exit %d, got\n%s", code, s.out.String())
	}
}

// TestWhatMissesItsDeadlineGoesInTheFlexTier has a job that would wait for an hour: what it leaves goes live in the flex tier, at the price
// of a batch, and the answers are those of equal requests: a second run takes them over.
func TestWhatMissesItsDeadlineGoesInTheFlexTier(t *testing.T) {
	t.Parallel()
	sim, err := simulator.New(simulator.Options{Seed: 1, Queue: time.Hour, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	s := newStation(t, lateStudy, 3, sim.Transport(), keys(sim))
	s.world.Seams = workspace.Seams{Timing: Hasty}
	for _, args := range [][]string{{"run", "study.yaml", "--yes"}, {"run", "study.yaml", "--yes", "--new"}} {
		if code := s.run(t.Context(), args...); code != 0 {
			t.Fatalf("exit %d\n%s", code, s.out.String())
		}
	}
	s.out.Reset()
	code := s.run(t.Context(), "sql",
		`SELECT g.mode, o.tier, COUNT(*) AS n, SUM(o.cost_nano) * 2 / SUM(o.input_tokens * 1250 + o.output_tokens * 10000) AS halves
		FROM outcomes o JOIN segments g ON g.no = o.segment_no WHERE o.stands = 1 GROUP BY 1, 2 ORDER BY 1`, "--csv")
	if want := "mode,tier,n,halves\nlive,flex,3,1\nreuse,flex,3,0\n"; code != 0 || strings.ReplaceAll(s.out.String(), "\r", "") != want {
		t.Errorf("exit %d, got\n%s", code, s.out.String())
	}
}

const lateStudy = `study: late
canary: false
deadline: {after: 1s, then: flex}
reuse: {study: late, for: 1d}
inputs: {items: {file: items.txt}}
lanes: {a: {model: openai/gpt-5, max_tokens: 2000, effort: minimal}}
stages: [{name: answers, ask: items, prompt: "What is {{ text }}?"}]
`

const tierStudy = `study: tiers
mode: live
inputs: {items: {file: items.txt}}
lane_defaults: {model: openai/gpt-5, max_tokens: 2000, effort: minimal}
lanes:
  usual: {}
  cheap: {service_tier: flex}
  room: {mode: flex}
stages: [{name: answers, ask: items, prompt: "What is {{ text }}?"}]
`
