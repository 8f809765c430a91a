package crashtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatSettlesAPairIsBoughtOnceHoweverOftenItIsKilled kills the program while it buys comparisons for a finished run, and types the same
// command again.
func TestWhatSettlesAPairIsBoughtOnceHoweverOftenItIsKilled(t *testing.T) {
	t.Parallel()
	settle := []string{"run", "study.yaml", "--yes", "--no-canary", "--settle", "b, c", "--budget", "1 USD"}
	ran := func(t *testing.T) scene {
		s := newScene(t, "settle")
		e, err := s.assay(t.Context(), nil, "run", "study.yaml", "--yes", "--no-canary")
		s.ok(err)
		s.said(0, e, "")
		return s
	}
	whole := ran(t)
	before := len(whole.looked())
	e, err := whole.assay(t.Context(), nil, settle...)
	whole.ok(err)
	whole.said(0, e, "It is a further look")
	want := whole.looked()
	if len(want) < before+5 {
		t.Fatalf("an undisturbed run bought %q", want)
	}
	for _, at := range []Point{{"ledger buy comparisons", 1, Before}, {"ledger buy comparisons", 1, After}, {"POST /openai/v1/batches", 1, Before}, {"POST /openai/v1/batches", 1, Accepted}, {"ledger put look", 1, Before}, {"ledger put look", 1, After}} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s := ran(t)
			e, err := s.assay(t.Context(), &at, settle...)
			s.ok(err)
			if !e.reached {
				t.Fatalf("it came to no %s: %s", at, e)
			}
			e, err = s.assay(t.Context(), nil, settle...)
			s.ok(err)
			s.said(0, e, "")
			if diff := cmp.Diff(want, s.looked()); diff != "" {
				t.Errorf("looks and comparisons (-undisturbed +killed):\n%s", diff)
			}
			s.whole()
			e, err = s.assay(t.Context(), nil, settle...) // and once more
			s.ok(err)
			s.said(0, e, "Nothing is bought.")
			if diff := cmp.Diff(want, s.looked()); diff != "" {
				t.Errorf("the same command once more (-undisturbed +again):\n%s", diff)
			}
		})
	}
}
