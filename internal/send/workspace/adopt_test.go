package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
)

// adoption looks at the jobs of an account from a home.
func (r *rig) adoption(h *Home, name string) *Adoption {
	r.t.Helper()
	access, err := r.world.Accounts(&study.Study{}).Access(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return &Adoption{Home: h, Provider: name, Access: access, Gone: func(string) {},
		Follow: func(context.Context, store.Run) error { return nil }}
}

func TestALostLedgersAnswersAreRecovered(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	r.place.Home = "lost"
	lost := r.finished(r.open(false), r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.place.Home = "found"
	h := r.open(false)
	a := r.adoption(h, "openai")
	jobs, err := a.Jobs(r.ctx, "")
	if err != nil || len(jobs) == 0 {
		t.Fatal(jobs, err)
	}
	if some, err := a.Jobs(r.ctx, "another"); err != nil || len(some) > 0 {
		t.Error(some, err)
	}
	for _, st := range jobs {
		if got, err := a.Take(r.ctx, st); err != nil || got.Result != RunUnknown {
			t.Error(got, err)
		}
	}
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	now, err := h.Current(r.ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	run, all, err := a.Recover(r.ctx, want, now, jobs)
	if err != nil || run.ID == lost.ID || run.No == 0 {
		t.Fatal(run.ID, err)
	}
	joined := int64(0)
	for _, got := range all {
		joined += got.Joined
		if got.AllForeign() || got.Status.Stamp.Run != lost.ID {
			t.Errorf("%+v", got)
		}
	}
	if joined != 4 {
		t.Errorf("%d answers joined, want 4", joined)
	}
	if _, _, err := a.Recover(r.ctx, want, now, nil); !errors.Is(err, ErrNoJobs) {
		t.Error(err)
	}
	if c := r.drive(h, run, Drive{}); c.State != runs.StateDone {
		t.Error(c.State)
	}
}

const judgedAbroad = `study: judged
inputs:
  questions:
    items: [{id: one, text: What is one?, expect: "1"}, {id: two, text: What is two?, expect: "2"}]
canary: false
live_below: 0
lane_defaults: {max_tokens: 100, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1}
  b: {model: gemini/gemini-2.5-flash-lite}
  j: {model: openai/gpt-4.1-mini}
stages:
  - {name: answers, ask: questions, turns: ["{{ text }}"], lanes: [a, b]}
  - {name: judged, judge: answers, judges: [j], rubric: {prompt: "Right? {{ answer.text }}", labels: {right: 1, wrong: 0}}}
`

// TestAJobWhoseAnswersWereJoinedInTwoLooksIsKnown adopts the judge's provider before one whose answers it judged. The second look joins
// the rest of its job, and nothing of it is left to be adopted or asked again.
func TestAJobWhoseAnswersWereJoinedInTwoLooksIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t, judgedAbroad)
	r.place.Home = "lost"
	r.finished(r.open(false), r.wanted(StudyOptions{}, snapshot.Settings{}))
	billed := r.sim.Ledger()
	r.place.Home = "found"
	h := r.open(false)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	var joined []int64
	var run store.Run
	for _, name := range []string{"openai", "gemini", "openai"} {
		a := r.adoption(h, name)
		jobs, err := a.Jobs(r.ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		now, err := h.Current(r.ctx, want)
		if err != nil {
			t.Fatal(err)
		}
		var all []Recovered
		if run, all, err = a.Recover(r.ctx, want, now, jobs); err != nil {
			t.Fatal(name, err)
		}
		n := int64(0)
		for _, got := range all {
			n += got.Joined
		}
		joined = append(joined, n)
	}
	if !slices.Equal(joined, []int64{4, 2, 2}) {
		t.Errorf("%d answers joined, want a lane and its verdicts, another lane, and its verdicts", joined)
	}
	a := r.adoption(h, "openai")
	jobs, err := a.Jobs(r.ctx, "")
	if err == nil {
		jobs, err = a.Unknown(r.ctx, jobs)
	}
	if err != nil || len(jobs) > 0 {
		t.Error("still to be adopted:", jobs, err)
	}
	if c := r.drive(h, run, Drive{}); c.State != runs.StateDone {
		t.Error(c.State)
	}
	if d := cmp.Diff(billed, r.sim.Ledger()); d != "" {
		t.Errorf("something was paid for again (-before +after):\n%s", d)
	}
}

func TestAJobIsTakenForTheSegmentInItsStamp(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	a := r.adoption(h, "openai")
	jobs, err := a.Jobs(r.ctx, run.ID)
	if err != nil || len(jobs) == 0 || !a.Stamped() {
		t.Fatal(jobs, err)
	}
	st := jobs[0]
	if unknown, err := a.Unknown(r.ctx, jobs); err != nil || len(unknown) != 0 {
		t.Error("the ledger knows its jobs", unknown, err)
	}
	st.Job = "another"
	if got, err := a.Take(r.ctx, st); err != nil || got.Result != Second || got.Segment.No == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	failed, other := st, st
	failed.State, other.Stamp.SHA256 = provider.StateFailed, strings.Repeat("ab", 32)
	if got, err := a.Take(r.ctx, failed); err != nil || got.Result != Failed {
		t.Errorf("it failed: %+v, %v", got, err)
	}
	if got, err := a.Take(r.ctx, other); err != nil || got.Result != SegmentUnknown {
		t.Errorf("it has other bytes: %+v, %v", got, err)
	}
	st.Stamp.Segment = "s999"
	if got, err := a.Take(r.ctx, st); err != nil || got.Result != SegmentUnknown {
		t.Errorf("%+v, %v", got, err)
	}
	st.Stamp.Segment = "nonsense"
	if got, err := a.Take(r.ctx, st); err != nil || got.Result != StampUnclear {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnswersOfAForeignJobGoIntoAFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{Lanes: []string{"a"}}))
	a := r.adoption(h, "openai")
	jobs, err := a.Jobs(r.ctx, run.ID)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	st, err := a.Job(r.ctx, jobs[0].Job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Job(r.ctx, "batch_none"); err == nil {
		t.Error("there is no such job")
	}
	if got, want := a.ForeignFile("batch/1"), "openai-"; !strings.HasPrefix(got, want) || strings.Contains(got, "/") {
		t.Error(got)
	}
	var text bytes.Buffer
	n, err := a.WriteForeign(r.ctx, st, func() (io.Writer, error) { return &text, nil })
	if err != nil || n != 2 || strings.Count(text.String(), "\n") != 2 || !strings.Contains(text.String(), `"ending":"answered"`) {
		t.Errorf("%d, %s, %v", n, &text, err)
	}
	broken := errors.New("no file")
	if _, err := a.WriteForeign(r.ctx, st, func() (io.Writer, error) { return nil, broken }); err != broken {
		t.Error(err)
	}
	if _, err := a.WriteForeign(r.ctx, provider.Status{Job: "batch_none"}, nil); err == nil {
		t.Error("there is no such job")
	}
}
