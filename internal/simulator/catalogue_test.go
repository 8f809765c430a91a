package simulator

import (
	"slices"
	"testing"

	"assay/internal/assay"
	"assay/internal/simulator/rules"
	"assay/internal/study/catalog"
)

// TestWhatCheckLetsThroughIsTaken asks every OpenAI model of the catalogue with each effort for what steers sampling and for how likely
// words are: a rehearsal must not fail where `check` finds no problem, nor pass where it finds one.
func TestWhatCheckLetsThroughIsTaken(t *testing.T) {
	t.Parallel()
	c, half := catalog.Default(), 0.5
	asked := 0
	for _, m := range c.Models("openai") {
		if c.Find("openai", m.Name).Family.NoAnswers {
			continue
		}
		for _, effort := range []string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"} {
			plain := assay.Params{Effort: effort}
			unsure := func(i catalog.Issue) bool { return i.Param == "effort" }
			if slices.ContainsFunc(c.Check(laneOf(m.Name, plain), "openai", "2026-08-01"), unsure) {
				continue
			}
			for what, p := range map[string]assay.Params{"nothing": plain, "temperature": {Effort: effort, Temperature: &half},
				"top_p": {Effort: effort, TopP: &half}, "logprobs": {Effort: effort, Logprobs: 5}} {
				refused := rules.Families{}.Check(rules.Asked{Vendor: "openai", API: "responses", Model: m.Name, Effort: effort,
					Temperature: p.Temperature, TopP: p.TopP, Logprobs: p.Logprobs > 0})
				if asked++; (refused != nil) != problem(c, m.Name, p) {
					t.Errorf("%s at effort %q with %s: the simulator says %v, check the opposite", m.Name, effort, what, refused)
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d requests were asked", asked)
	}
}

// problem reports whether `check` refuses a lane.
func problem(c *catalog.Catalog, model string, p assay.Params) bool {
	issues := c.Check(laneOf(model, p), "openai", "2026-08-01")
	return slices.ContainsFunc(issues, func(i catalog.Issue) bool { return !i.Warning })
}

func laneOf(model string, p assay.Params) assay.Lane {
	return assay.Lane{Model: model, API: string(assay.DialectResponses), Params: p}
}
