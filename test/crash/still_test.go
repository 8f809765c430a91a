package crash

import (
	"testing"

	"assay/internal/send/engine"
)

// TestAWaveDoesNotWaitForWhatDoesNotMove: what could still join a judge's requests is stopped, or waits for a person. They go out, and
// the command ends.
func TestAWaveDoesNotWaitForWhatDoesNotMove(t *testing.T) {
	t.Parallel()
	patient := func(t engine.Timing) engine.Timing {
		t = Hasty(t)
		t.Cut = 2 * patience
		return t
	}
	s := newScene(t, "judged", "openai ask revoke after=1")
	s.timing = patient
	s.exits(3, []string{"run", "study.yaml", "--yes", "--no-canary", "--mode", "live"}, "stopped", "assay retry")
	s = newScene(t, "judged")
	s.timing = patient
	s.exits(5, []string{"run", "study.yaml", "--yes", "--verify-first"}, "first answers wait for a yes")
	s.exits(5, []string{"resume"}, "first answers wait for a yes")
}
