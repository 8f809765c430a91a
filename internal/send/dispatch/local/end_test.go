package local

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/storetest"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
)

// hands is a clock that is read and notes what it is asked to wait.
type hands struct{ asked chan time.Duration }

func (hands) Now() time.Time { return time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC) }

func (h hands) Sleep(_ context.Context, d time.Duration) error {
	h.asked <- d
	return nil
}

// begun returns a drive of a run that has one lane and one segment that moves.
func begun(t *testing.T) (*drive, *ledger.Ledger, store.Segment) {
	t.Helper()
	ctx, clock := t.Context(), hands{make(chan time.Duration, 1)}
	where := filepath.Join(t.TempDir(), "ledger.db")
	storetest.NewFile(t, where)
	l, err := ledger.Open(ctx, where, ledger.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r, err := l.Runs.CreateRun(ctx, store.NewRun{ID: "r", Study: "s", Settings: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	lane := store.Lane{Run: r.No, Stage: "answers", Name: "a", Provider: "openai", Model: "m", Params: "{}", Planned: 1}
	if err := l.Runs.PutLanes(ctx, []store.Lane{lane}); err != nil {
		t.Fatal(err)
	}
	if err := l.Runs.OpenRun(ctx, r.No); err != nil {
		t.Fatal(err)
	}
	g, err := l.Work.AddSegment(ctx, store.NewSegment{Run: r.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "a", Turn: 1},
		Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "m", Nonce: "aaaaaaaaaa"}, "me", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	at := assay.Coordinates{Stage: "answers", Item: "q", Lane: "a", Turn: 1}
	if err := l.Work.AddAttempts(ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, At: at}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Work.Stage(ctx, g.Lease, store.Bytes{Name: "s1-in", Size: 1, SHA256: "ab"}, assay.Dollar, 0, clock.Now()); err != nil {
		t.Fatal(err)
	}
	e := runs.New(engine.Config{Clock: clock, Timing: engine.DefaultTiming(), Holder: "me",
		Ledger: engine.Ledger{Work: l.Work, Leases: l.Leases, Limits: l.Limits, Reuse: l.Reuse, Reader: l.Reader}})
	return &drive{Driver: &Driver{Engine: e}, run: r.No, at: map[store.Work]bool{}}, l, g
}

// What comes next may be a look for results that come late: nobody waits for that when nothing moves any more, though something did at the
// last look.
func TestADriveDoesNotWaitForLateResultsAlone(t *testing.T) {
	t.Parallel()
	v, l, g := begun(t)
	now, wait := v.Engine.Clock.Now(), v.Engine.Timing
	v.st.Moving = 1
	is := func(next time.Time) bool {
		t.Helper()
		idle, err := v.idle(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		return idle
	}
	if !is(time.Time{}) || is(now.Add(wait.Late)) {
		t.Error("nothing is due, or a segment moves")
	}
	if err := l.Work.Wake(t.Context(), g.Lease, time.Time{}, string(store.AwaitsMoney)); err != nil {
		t.Fatal(err)
	}
	if !is(now.Add(wait.Late)) || is(now.Add(wait.Busy)) {
		t.Error("it waits for money: what comes soon is waited for, what comes late is not")
	}
	if v.st.Waiting = true; is(now.Add(wait.Late)) {
		t.Error("a wave waits for company")
	}
	v.st.Waiting, v.st.Moving = false, 0
	if is(now.Add(wait.Late)) {
		t.Error("the last look knew that nothing moves: rests decides")
	}
}

// A lane that was paused before the process began is not waited for, and one that is paused while it works is.
func TestALaneThatIsPausedMeanwhileIsWaitedFor(t *testing.T) {
	t.Parallel()
	v, l, _ := begun(t)
	ctx := t.Context()
	if err := v.begins(ctx); err != nil {
		t.Fatal(err)
	}
	paused := store.LaneStop{State: store.LanePaused, Reason: "a person paused it"}
	if err := l.Work.SetLane(ctx, v.run, "answers", "a", paused); err != nil {
		t.Fatal(err)
	}
	if err := v.begins(ctx); err != nil {
		t.Fatal(err)
	}
	v.st.Paused = []string{"a"}
	if !v.justPaused() {
		t.Error("it was paused after the process began")
	}
	if v.st.Held = 1; v.justPaused() {
		t.Error("something else waits for a person")
	}
	later := &drive{Driver: v.Driver, run: v.run, st: engine.RunStatus{Paused: []string{"a"}}}
	if err := later.begins(ctx); err != nil || later.justPaused() {
		t.Errorf("%v: it was paused before", err)
	}
}

// While a run is extended it is looked for more at first after a moment, then less and less often.
func TestARunThatIsExtendedForLongIsLookedAtLessOften(t *testing.T) {
	t.Parallel()
	v, _, _ := begun(t)
	v.at[store.Work{Run: v.run}] = true
	var got []time.Duration
	for v.still = range 6 {
		v.wait(t.Context())
		got = append(got, <-v.Engine.Clock.(hands).asked)
	}
	want := []time.Duration{growing, 2 * growing, 4 * growing, 8 * growing, v.Engine.Timing.Busy, v.Engine.Timing.Busy}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
