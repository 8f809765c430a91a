package workspace

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
)

func TestHowARunStandsIsConcluded(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(true)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	after := func(st engine.RunStatus) runs.State {
		t.Helper()
		c, err := h.Conclude(r.ctx, run, st)
		if err != nil {
			t.Fatal(err)
		}
		return c.State
	}
	if d := cmp.Diff([]runs.State{runs.StateStopped, runs.StatePlanned},
		[]runs.State{after(engine.RunStatus{Budget: true}), after(engine.RunStatus{})}); d != "" {
		t.Error(d)
	}
	if c := r.drive(h, run, Drive{}); c.State != runs.StateDone || c.Run.State != store.RunClosed {
		t.Error(c.State)
	}
	if _, err := h.Conclude(r.ctx, store.Run{No: 99}, engine.RunStatus{}); err == nil {
		t.Error("there is no such run")
	}
}

func TestADeniedKeyHoldsTheLane(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.env["OPENAI_API_KEY"] = "bad-key-of-openai"
	h := r.open(false)
	c := r.drive(h, r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{Lanes: []string{"a"}})), Drive{Interval: time.Millisecond})
	if c.State != runs.StateHeld && c.State != runs.StateStopped || c.Cause != runs.CauseLane || c.Lane.Name != "a" || c.Lane.Reason == "" {
		t.Errorf("%+v", c)
	}
}

func TestARunIsStoppedByItsContext(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(true)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	s, err := h.Planner.Study(r.ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	e, err := h.Engine(r.ctx, run, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	stopped := make(chan int, 1)
	_, err = h.Drive(ctx, run, e,
		Drive{Moved: func(context.Context) error { cancel(); return nil }, Stopping: func(n int) { stopped <- n }})
	if err == nil {
		t.Error("it went on")
	}
	<-stopped
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestArtifactsThatCannotBeWrittenStopADrive(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root can write everywhere")
	}
	r := newRig(t, smallStudy)
	h := r.open(false)
	if err := os.Chmod(h.Files.String(), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(h.Files.String(), 0o700) }) // so that it can be removed
	if _, ok := h.Ready(r.ctx).(*ArtifactsError); !ok {
		t.Error("they can be used")
	}
}

func TestNewsGoWhereTheStudyWantsThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	s := &study.Study{}
	if err := h.Notify(r.ctx, s.Notify.List, "done"); err != nil {
		t.Error(err)
	}
	s.Notify.List = []string{"${NEWS}", "${UNSET}"}
	if err := h.Notify(r.ctx, s.Notify.List, "done"); err != nil {
		t.Error("a variable that is not set is an error:", err)
	}
	r.env["NEWS"] = "nonsense://"
	if err := h.Notify(r.ctx, s.Notify.List, "done"); err == nil {
		t.Error("an address that is none was used")
	}
	h.Rehearsal = true
	if err := h.Notify(r.ctx, s.Notify.List, "done"); err != nil {
		t.Error("news of a rehearsal were sent:", err)
	}
}

func TestALedgerIsSharedByItsURL(t *testing.T) {
	t.Parallel()
	if IsShared("/a/file") || !IsShared("postgres://a") || !IsShared("postgresql://a") {
		t.Error("which ledgers are shared is not clear")
	}
	e := &ForeignPlaceError{Place: "/d", Here: "a", Known: "b"}
	if !strings.Contains(e.Error(), "its mark is a, the ledger knows b") {
		t.Error(e)
	}
}

func TestAnOrderIsAboutASegmentThatIsHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(true)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if err := h.Decidable(r.ctx, run, store.Order{Kind: store.OrderCancel}); err != nil {
		t.Error(err)
	}
	wants[*UndecidableError](t, h.Decidable(r.ctx, run, store.Order{Segment: 999}), "run "+run.ID+" has no segment 999")
	segments, err := h.Ledger.Reader.Segments(r.ctx, run.No)
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	e := wants[*UndecidableError](t, h.Decidable(r.ctx, run, store.Order{Segment: segments[0].No}),
		"segment 1 is "+string(segments[0].State)+", not held: there is nothing to decide")
	if e.Run != run.ID {
		t.Error(e.Run)
	}
	no, err := h.PutOrder(r.ctx, run, store.Order{Kind: store.OrderCollect})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := h.Ledger.Reader.Order(r.ctx, no); err != nil || o.By != "ada" || o.Args != "{}" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestARedoIsPricedByWhatItsLaneHasCost(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(true)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	got, err := h.Redo(r.ctx, run, Redo{Lane: "a", Items: []string{"one", "two"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Orders) != 2 || len(got.Adds) != 1 || got.Adds[0].Stage != "answers" || got.Adds[0].Requests != 2 ||
		got.Cost.Expected.Sum <= 0 || got.Cost != got.Adds[0].Cost ||
		got.Cost.Low.Sum > got.Cost.Expected.Sum || got.Cost.High.Sum < got.Cost.Expected.Sum || got.Stays != 4 {
		t.Errorf("%+v", got)
	}
	_, err = h.Redo(r.ctx, run, Redo{Lane: "c", Items: []string{"one"}})
	wants[*LaneError](t, err, `run `+run.ID+` has no lane "c"`)
	_, err = h.Redo(r.ctx, run, Redo{Lane: "a", Stage: "none", Items: []string{"one"}})
	wants[*LaneError](t, err, `no lane "a" answers in a stage "none" of run `+run.ID)
	_, err = h.Redo(r.ctx, run, Redo{Lane: "a", Items: []string{"three"}})
	wants[*NotAskedError](t, err, `item "three" was not asked like that in lane a of stage answers`)
	both := &LaneError{Lane: "a", Stages: []string{"x", "y"}}
	if both.Error() != "lane a answers in several stages: x, y" {
		t.Error(both)
	}
	for _, o := range got.Orders {
		if _, err := h.PutOrder(r.ctx, run, o); err != nil {
			t.Fatal(err)
		}
	}
	if c := r.drive(h, run, Drive{}); c.State != runs.StateDone {
		t.Error(c.State)
	}
	n := 0
	for range h.Ledger.Reader.Answers(r.ctx, run.No, "answers", "a") {
		n++
	}
	if n != 4 {
		t.Errorf("%d answers, want 4", n)
	}
	if p, err := h.spreadCost(r.ctx, run, store.Share{Stage: "nowhere", Requests: 3}); err != nil ||
		p.Expected != (assay.Cost{Unknown: 3}) {
		t.Error(p, err)
	}
}
