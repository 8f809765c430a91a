package cli

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/cli/term"
	"assay/store"
)

func TestNamesOfLanesSteerNoTerminal(t *testing.T) {
	t.Parallel()
	s := barOf(store.Lane{Stage: "a", Name: "x\x1b[2J\ny", Planned: 5, Spared: 1, State: store.LaneHeld,
		Endings: map[assay.Ending]int64{assay.Answered: 1, assay.Errored: 2}}, assay.Cost{})
	want := term.Bar{Name: `a x\u001b[2J\ny`, Planned: 4, Answered: 1, Errors: 2, Halt: "held"}
	if d := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", s)); d != "" {
		t.Error(d)
	}
}
