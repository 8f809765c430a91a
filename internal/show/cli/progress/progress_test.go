package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

func TestNamesOfLanesSteerNoTerminal(t *testing.T) {
	t.Parallel()
	lane := runs.LaneProgress{Lane: store.Lane{Stage: "a", Name: "x\x1b[2J\ny", State: store.LaneHeld},
		Progress: runs.Progress{Wanted: 4, Answered: 1, Failed: 2, Again: 1, InFlight: 1, Ready: 1}}
	p := &Progress{World: &shell.World{}}
	bars := p.bars(time.Now(), runs.RunProgress{Progress: lane.Progress, Lanes: []runs.LaneProgress{lane}}, []assay.Cost{{}})
	want := term.Bar{Name: `a x\u001b[2J\ny`, Stage: "a", Wanted: 4, Answered: 2, Ready: 1, Failed: 1, Errors: 2, Halt: "held"}
	if d := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", bars.Lanes[0])); d != "" {
		t.Error(d)
	}
}

// What a provider counts as answered is done, and so is not open any more.
func TestARequestIsDoneOrOpen(t *testing.T) {
	t.Parallel()
	if got := countsOf(runs.Progress{Wanted: 320, Answered: 2, InFlight: 159, Ready: 33, Staged: 100}); got != "35 of 320 done, 226 open" {
		t.Error(got)
	}
}

// A look at a run with many jobs takes its time: the longer it takes, the longer it is before the next, whether anything changed or not.
func TestALookThatTakesLongIsRare(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	p := &Progress{}
	if p.rests(now, often) {
		t.Error("the first look has to wait")
	}
	p.looked, p.took = now, 30*time.Millisecond
	for after, want := range map[time.Duration]bool{100 * time.Millisecond: true, 2 * time.Second: true, 4 * time.Second: false} {
		if got := p.rests(now.Add(after), frame); got != want {
			t.Errorf("after %s: rests is %v", after, got)
		}
	}
}

func TestColoursAreLeftOutWhereTheUserSaysSo(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{"TERM=xterm": true, "TERM=dumb": false, "NO_COLOR=1": false, "NO_COLOR=": true} {
		name, value, _ := strings.Cut(env, "=")
		w := shell.World{Env: func(n string) (string, bool) {
			if n == name {
				return value, true
			}
			return "", false
		}}
		if got := w.Colours(); got != want {
			t.Errorf("%s: %v", env, got)
		}
	}
}
