package crash

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
	for _, at := range half([]Point{{"ledger buy comparisons", 1, After}, {"ledger buy comparisons", 1, Before},
		{"POST /openai/v1/batches", 1, Before}, {"POST /openai/v1/batches", 1, Accepted},
		{"ledger put look", 1, Before}, {"ledger put look", 1, After}}, *points) {
		settledOnce{ran, settle, want}.killed(t, at)
	}
}

// settledOnce is a command that settles a pair of a finished run, and what there is after it.
type settledOnce struct {
	ran    func(*testing.T) scene
	settle []string
	want   []string // after a run that was not disturbed
}

// killed kills the command at a point, and types it twice more: then there is what there should be, and the last one buys nothing.
func (c settledOnce) killed(t *testing.T, at Point) {
	t.Run(at.String(), func(t *testing.T) {
		t.Parallel()
		s := c.ran(t)
		e, err := s.assay(t.Context(), &at, c.settle...)
		s.ok(err)
		if !e.reached {
			t.Fatalf("it came to no %s: %s", at, e)
		}
		e, err = s.assay(t.Context(), nil, c.settle...)
		s.ok(err)
		s.said(0, e, "")
		if diff := cmp.Diff(c.want, s.looked()); diff != "" {
			t.Errorf("what was bought and asked (-undisturbed +killed):\n%s", diff)
		}
		s.whole()
		e, err = s.assay(t.Context(), nil, c.settle...) // and once more
		s.ok(err)
		s.said(0, e, "Nothing is bought.")
		if diff := cmp.Diff(c.want, s.looked()); diff != "" {
			t.Errorf("the same command once more (-undisturbed +again):\n%s", diff)
		}
	})
}

// looked returns the interim analyses of a run's rounds, their events in its history, and the requests of the stage.
func (s scene) looked() []string {
	s.Helper()
	rows, err := s.rows(s.Context(), `SELECT number, bought, next, stop, found FROM looks
		UNION ALL SELECT 0, 0, kind, text, '' FROM events WHERE kind = 'look'
		UNION ALL SELECT try, 0, a.item, a.lane, a.against FROM attempts a JOIN segments g ON g.no = a.segment_no WHERE g.stage = 'arena'`)
	s.ok(err)
	return rows
}
