package declare_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/declare"
)

func TestADeclarationKeepsItsFirstMomentUntilItIsDropped(t *testing.T) {
	t.Parallel()
	at := func(n int64) declare.Moment { return declare.Moment{At: time.Unix(n, 0).UTC(), Verdicts: n} }
	a, b := declare.Said{Kind: declare.Primary, Text: "a"}, declare.Said{Kind: declare.Primary, Text: "b"}
	first := declare.Track(nil, []declare.Said{a}, at(0))
	moved := declare.Track(first, []declare.Said{b}, at(8))
	back := declare.Track(moved, []declare.Said{a, b}, at(9))
	eight := at(8)
	want := []declare.Entry{{Said: a, Moment: at(0), Dropped: &eight}, {Said: b, Moment: at(8)}, {Said: a, Moment: at(9)}}
	if d := cmp.Diff(want, back); d != "" {
		t.Error(d)
	}
	plan := &declare.Plan{Known: true, Entries: moved}
	for s, planned := range map[declare.Said]bool{a: true, b: false} {
		if got := plan.Planned(s, s == b); got != planned {
			t.Errorf("%v: planned %v", s, got)
		}
	}
	if late, dropped := plan.Late(), plan.Dropped(); len(late) != 1 || late[0].Said != b || len(dropped) != 1 || dropped[0].Said != a {
		t.Errorf("late %v, dropped %v", late, dropped)
	}
	before := &declare.Plan{Known: true, Entries: declare.Track(first, []declare.Said{b}, at(0))}
	if before.Planned(a, false) || !before.Planned(b, true) || len(before.Dropped()) > 0 {
		t.Errorf("moved before the data: %+v", before.Entries)
	}
	if unknown := (&declare.Plan{}); !unknown.Planned(b, true) || unknown.Planned(b, false) {
		t.Error("what nothing is known of is as the study has it")
	}
}
