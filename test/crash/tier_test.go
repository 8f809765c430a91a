package crash

import (
	"strings"
	"testing"

	"assay/internal/simulator"
)

// TestTheTierThatWasUsedIsThePrice asks in the flex tier: the simulator serves it, and reports that.
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
	if want := "lane,tier,halves\ncheap,flex,1\nusual,default,2\n"; code != 0 || strings.ReplaceAll(s.out.String(), "\r", "") != want {
		t.Errorf("exit %d, got\n%s", code, s.out.String())
	}
}

const tierStudy = `study: tiers
mode: live
inputs: {items: {file: items.txt}}
lane_defaults: {model: openai/gpt-5, max_tokens: 2000, effort: minimal}
lanes:
  usual: {}
  cheap: {service_tier: flex}
stages: [{name: answers, ask: items, prompt: "What is {{ text }}?"}]
`
