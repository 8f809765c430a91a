package crash

import (
	"slices"
	"strings"
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
	for _, at := range half([]Point{{"ledger buy comparisons", 1, After}, {"ledger buy comparisons", 1, Before}, {"POST /openai/v1/batches", 1, Before}, {"POST /openai/v1/batches", 1, Accepted},
		{"ledger put look", 1, Before}, {"ledger put look", 1, After}}, *points) {
		settledOnce{ran, settle, want, scene.looked}.killed(t, at)
	}
}

// settledOnce is a command that settles a pair of a finished run, and what there is after it.
type settledOnce struct {
	ran    func(*testing.T) scene
	settle []string
	want   []string // after a run that was not disturbed
	is     func(scene) []string
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
		if diff := cmp.Diff(c.want, c.is(s)); diff != "" {
			t.Errorf("what was bought and asked (-undisturbed +killed):\n%s", diff)
		}
		s.whole()
		e, err = s.assay(t.Context(), nil, c.settle...) // and once more
		s.ok(err)
		s.said(0, e, "Nothing is bought.")
		if diff := cmp.Diff(c.want, c.is(s)); diff != "" {
			t.Errorf("the same command once more (-undisturbed +again):\n%s", diff)
		}
	})
}

// bought are the items that were bought, who was asked about which, and what was judged.
func (s scene) bought() []string {
	s.Helper()
	rows, err := s.rows(s.Context(), `SELECT settings, '', '', '' FROM runs
		UNION ALL SELECT kind, text, '', '' FROM events WHERE kind = 'settle'
		UNION ALL SELECT stage, lane, CAST(planned AS TEXT), '' FROM lanes
		UNION ALL SELECT g.stage, a.lane, a.item, CAST(try AS TEXT) FROM attempts a JOIN segments g ON g.no = a.segment_no
		UNION ALL SELECT stage, lane, item, state FROM verdicts`)
	s.ok(err)
	return rows
}

// TestItemsForTwoLanesAreBoughtOnceHoweverOftenItIsKilled kills the program while it buys items for two lanes of a finished run, and types the
// same command again.
func TestItemsForTwoLanesAreBoughtOnceHoweverOftenItIsKilled(t *testing.T) {
	t.Parallel()
	begin := []string{"run", "study.yaml", "--yes", "--no-canary", "--limit", "24"}
	settle := append(slices.Clone(begin), "--settle", "a, b", "--budget", "0.01 USD")
	ran := func(t *testing.T) scene {
		s := newScene(t, "added")
		e, err := s.assay(t.Context(), nil, begin...)
		s.ok(err)
		s.said(0, e, "")
		return s
	}
	whole := ran(t)
	before := len(whole.bought())
	e, err := whole.assay(t.Context(), nil, settle...)
	whole.ok(err)
	whole.said(0, e, "It is a further look", "Looked at before.")
	want := whole.bought()
	if len(want) < before+20 {
		t.Fatalf("an undisturbed run bought %q", want)
	}
	for _, row := range want {
		if strings.HasPrefix(row, "ask c ") && strings.Contains(row, "q25") {
			t.Errorf("lane c was asked about an item that is not its own: %s", row)
		}
	}
	for _, at := range half([]Point{{"ledger buy items", 1, After}, {"ledger buy items", 1, Before}, {"POST /openai/v1/batches", 1, Before}, {"POST /openai/v1/batches", 3, Accepted},
		{"ledger settle", 1, After}, {"POST /openai/v1/batches", 1, Accepted}, {"ledger close run", 1, After}, {"ledger close run", 1, Before}, {"ledger add verdicts", 1, Before}}, *points) {
		settledOnce{ran, settle, want, scene.bought}.killed(t, at)
	}
}
