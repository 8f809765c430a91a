package crash

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// looked returns the interim analyses of a run's rounds, their events in its history, and the requests of the stage.
func (s scene) looked() []string {
	s.Helper()
	rows, err := s.rows(s.Context(), `SELECT number, bought, next, stop, found FROM looks
		UNION ALL SELECT 0, 0, kind, text, '' FROM events WHERE kind = 'look'
		UNION ALL SELECT try, 0, a.item, a.lane, a.against FROM attempts a JOIN segments g ON g.no = a.segment_no WHERE g.stage = 'arena'`)
	s.ok(err)
	return rows
}

func TestARoundIsDecidedOnceHoweverOftenItsRunIsKilled(t *testing.T) {
	t.Parallel()
	whole := newScene(t, "rounds")
	e, err := whole.assay(t.Context(), nil, "run", "study.yaml", "--yes")
	whole.ok(err)
	whole.said(0, e, "")
	want := whole.looked()
	if len(want) < 2+2+20 {
		t.Fatalf("an undisturbed run looked %q", want)
	}
	for _, at := range []Point{{"ledger put look", 1, Before}, {"ledger put look", 1, After}, {"ledger put look", 2, Before},
		{"ledger put look", 2, After}} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "rounds")
			s.killedAt(at)
			e, err := s.assay(t.Context(), nil, "resume")
			s.ok(err)
			s.said(0, e, "")
			if diff := cmp.Diff(want, s.looked()); diff != "" {
				t.Errorf("looks and comparisons (-undisturbed +killed):\n%s", diff)
			}
			s.whole()
		})
	}
}
