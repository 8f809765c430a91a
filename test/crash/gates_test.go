package crash

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
)

// decided returns the decisions of all conditions, and their events in the history.
func (s scene) decided() []string {
	s.Helper()
	rows, err := s.rows(s.Context(),
		"SELECT stage, lane, passed FROM decisions UNION ALL SELECT kind, text, 0 FROM events WHERE kind LIKE 'gate %'")
	s.ok(err)
	return rows
}

// asked returns the lanes that were asked in the stage behind the gate.
func (s scene) asked() []string {
	s.Helper()
	rows, err := s.rows(s.Context(), "SELECT DISTINCT lane FROM segments WHERE stage = 'more'")
	s.ok(err)
	return rows
}

func TestAGateDecidesOnceHoweverOftenItsRunIsKilled(t *testing.T) {
	t.Parallel()
	const closed = `gate closed stage more, lane flash: lane == "gpt" and finding("said", "rate", lane).value > 0.5: it is not so 0`
	want := []string{closed, "gate opened stage more, lane gpt 0", "more flash 0", "more gpt 1"}
	for _, at := range []Point{{"ledger decide", 1, Before}, {"ledger decide", 1, After}, {"ledger decide", 2, Before},
		{"ledger decide", 2, After}} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "gated")
			s.killedAt(at)
			e, err := s.assay(t.Context(), nil, "resume")
			s.ok(err)
			s.said(0, e, "leaves lane flash out")
			if diff := cmp.Diff(want, s.decided()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"gpt"}, s.asked()); diff != "" {
				t.Errorf("lanes behind the gate (-want +got):\n%s", diff)
			}
			s.whole()
		})
	}
}

// A decision that is in the ledger is obeyed even where the finding would decide otherwise by now.
func TestWhatAGateDecidedStandsAgainstALaterFinding(t *testing.T) {
	t.Parallel()
	s := newScene(t, "gated")
	s.killedAt(Point{"ledger decide", 1, Before})
	l, err := s.ledger(t.Context())
	s.ok(err)
	run, err := l.Reader.FindRun(t.Context(), "latest", "")
	s.ok(err)
	for _, d := range []store.Decision{{Lane: "gpt", Why: "it was not so"}, {Lane: "flash", Passed: true}} {
		d.Run, d.Stage, d.Condition = run.No, "more", "an earlier finding"
		_, err := l.Runs.Decide(t.Context(), d)
		s.ok(err)
	}
	s.ok(l.Close())
	e, err := s.assay(t.Context(), nil, "resume")
	s.ok(err)
	s.said(0, e, "leaves lane gpt out: it was not so")
	if diff := cmp.Diff([]string{"flash"}, s.asked()); diff != "" {
		t.Errorf("lanes behind the gate (-want +got):\n%s", diff)
	}
	s.whole()
}
