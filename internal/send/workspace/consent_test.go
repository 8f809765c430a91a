package workspace

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/learned"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/plan"
)

func TestABudgetThatWasSetForARunOutlivesAnEditOfTheStudys(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy+"budget: 100 USD\n")
	h := r.open(false)
	want, five := r.wanted(StudyOptions{}, snapshot.Settings{}), 5*assay.Dollar
	want.Budget = &five
	run := r.begin(h, want)
	for _, text := range []string{"budget: 200 USD\n", ""} {
		r.write("study.yaml", smallStudy+text)
		own := false
		_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}),
			Doorkeeper{Resumed: func(now Current) error { own = now.Edit.OwnBudget(); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		now, err := h.Ledger.Reader.Run(r.ctx, run.No)
		if err != nil || now.Budget == nil || *now.Budget != five || !own {
			t.Errorf("%q: the budget is %v, its own: %t, %v", text, now.Budget, own, err)
		}
	}
}

func TestAYesIsForOneRunAndOneEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", grown())
	no := errors.New("no")
	asked := ""
	_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), Doorkeeper{
		Resumed: func(Current) error { t.Error("it goes on"); return nil },
		Extend: func(now Current, _ TakeOver) error { // meanwhile another process makes the run one about a part of the study
			asked += "extend "
			done, err := h.Ledger.Runs.Revise(r.ctx,
				store.Revision{Run: run.No, Was: now.Run.Digest, Is: "another", Settings: `{"file":"study.yaml","limit":1}`})
			if !done || err != nil {
				t.Error(done, err)
			}
			return nil
		},
		Confirm: func([]store.Run, *Edit) error { asked += "begin"; return no },
	})
	if !errors.Is(err, no) || asked != "extend begin" {
		t.Errorf("asked to %q, %v", asked, err)
	}
	if runs, err := h.Ledger.Reader.Runs(r.ctx, "small"); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestAYesToOneEditIsNoneToTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", grown())
	asked := 0
	_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), Doorkeeper{
		Resumed: func(Current) error { return nil },
		Extend: func(now Current, _ TakeOver) error {
			if asked++; asked == 1 { // another process is first
				done, err := h.Ledger.Runs.Revise(r.ctx,
					store.Revision{Run: run.No, Was: now.Run.Digest, Is: "another", Settings: now.Run.Settings})
				if !done || err != nil {
					t.Error(done, err)
				}
			}
			return nil
		},
	})
	if err != nil || asked != 2 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// breakingRows are the items of a study whose reading the user stops.
type breakingRows struct {
	plan.Rows
	stop func()
}

func (b breakingRows) Items(ctx context.Context, input string) iter.Seq2[assay.Item, error] {
	b.stop()
	return b.Rows.Items(ctx, input)
}

func TestARunIsGivenBackWhenItsExtensionIsStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", grown())
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	now, err := h.Current(r.ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(r.ctx)
	now.Edit.input.Rows = breakingRows{now.Edit.input.Rows, stop}
	if done, err := h.revise(ctx, want, now.Edit); done || !errors.Is(err, context.Canceled) {
		t.Error(done, err)
	}
	after, err := h.Ledger.Reader.Run(r.ctx, run.No)
	if err != nil || after.Lease.Holder != "" || after.Digest != run.Digest {
		t.Errorf("held by %q, %v", after.Lease.Holder, err)
	}
}

func TestTheLeaseOfARunThatGrowsIsRenewed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	l, err := h.Ledger.Leases.HoldRun(r.ctx, run.No, "me", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	stop := h.Planner.Renewing(r.ctx, l, time.Second)
	defer stop()
	for { // until it is renewed
		now, err := h.Ledger.Reader.Run(r.ctx, run.No)
		if err != nil {
			t.Fatal(err)
		}
		if now.Lease.Until.After(l.Until) {
			return
		}
		if err := engine.WallClock().Sleep(r.ctx, 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPilotThatCannotBeComparedIsAnError(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	pilot, err := h.BeginAs(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), "small"+learned.PilotSuffix, nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := h.Ledger.Runs.Revise(r.ctx, store.Revision{Run: pilot.No, Was: pilot.Digest, Is: "another", Settings: "{"}); !done ||
		err != nil {
		t.Fatal(done, err)
	}
	_, err = h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), Doorkeeper{Confirm: func([]store.Run, *Edit) error { return nil }})
	if err == nil || !strings.Contains(err.Error(), "read the settings of run "+pilot.ID) {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatALiveSliceHasNotSentIsNotInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.live(h, run, "a", "gpt-4.1")
	rest, err := h.Rest(r.ctx, run)
	if err != nil || rest.Away != 0 || rest.Left != 4 || rest.Cost.Expected.Sum <= 0 || !rest.Cost.Expected.Known() {
		t.Errorf("%+v, %v", rest, err)
	}
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	over, err := h.Has(r.ctx, want, want.Plan, run)
	if err != nil || over.Away != 0 || over.New != 4 {
		t.Errorf("%+v, %v", over, err)
	}
}

// TestAYesToAPlanIsNoneToAStudyThatWasChangedMeanwhile changes the study and its items while the question waits, and while they are copied.
func TestAYesToAPlanIsNoneToAStudyThatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const filed = `study: small
inputs: {questions: {file: q.csv}}
canary: false
lane_defaults: {max_tokens: 100, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1}
stages:
  - {name: answers, ask: questions, turns: ["{{ text }}"]}
`
	const more = "id,text\none,What is one?\ntwo,What is two?\nthree,What is three?\n"
	for name, c := range map[string]struct {
		extends bool                // a run is there, and its study was changed
		asked   func(r *rig)        // while the question waits
		copied  func(r *rig) func() // while the items are copied
		want    int                 // items that a second look finds
	}{
		"an item while a new run is asked for": {asked: func(r *rig) { r.write("q.csv", more) }, want: 3},
		"a lane while a new run is asked for": {asked: func(r *rig) {
			r.write("study.yaml", strings.Replace(filed, "stages:", "  b: {model: openai/gpt-4.1-mini}\nstages:", 1))
		}, want: 2},
		"an item while a run is to be extended": {extends: true,
			asked: func(r *rig) { r.write("q.csv", more+"four,What is four?\n") }, want: 4},
		"an item while a new run is written": {copied: func(r *rig) func() { return func() { r.write("q.csv", more) } }, want: 3},
		"an item while a run is extended": {extends: true,
			copied: func(r *rig) func() { return func() { r.write("q.csv", more+"four,What is four?\n") } }, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, filed)
			r.write("q.csv", "id,text\none,What is one?\ntwo,What is two?\n")
			h := r.open(false)
			o := StudyOptions{Running: true}
			var run store.Run
			if c.extends {
				run = r.finished(h, r.wanted(o, snapshot.Settings{}))
				r.write("q.csv", more)
			}
			want := r.wanted(o, snapshot.Settings{})
			change := func() {
				if c.asked != nil {
					c.asked(r)
				} else {
					want.Input.Rows = breakingRows{want.Input.Rows, c.copied(r)}
				}
			}
			begun, err := h.Run(r.ctx, want, Doorkeeper{
				Resumed: func(Current) error { t.Error("it goes on"); return nil },
				Confirm: func([]store.Run, *Edit) error { change(); return nil },
				Extend:  func(Current, TakeOver) error { change(); return nil },
			})
			if !errors.Is(err, ErrMoved) {
				t.Fatalf("run %q, %v", begun.ID, err)
			}
			if n := countOf(t, h, "SELECT COUNT(*) FROM runs WHERE state = 'open'"); n != 0 {
				t.Errorf("%d runs are open", n)
			}
			if run.No != 0 {
				if now, err := h.Ledger.Reader.Run(r.ctx, run.No); err != nil || now.Digest != run.Digest || now.Lease.Holder != "" {
					t.Errorf("the run is %+v, %v", now, err)
				}
			}
			// A second look asks about what is there now.
			want = r.wanted(o, snapshot.Settings{})
			var fresh int64
			end, err := h.Run(r.ctx, want, Doorkeeper{
				Waiting: func() {}, Resumed: func(Current) error { return nil }, Confirm: func([]store.Run, *Edit) error { return nil },
				Extend: func(_ Current, over TakeOver) error { fresh = over.New; return nil },
			})
			if err != nil || c.extends && (end.No != run.No || fresh != 2) {
				t.Fatalf("run %s, %d are new, %v", end.ID, fresh, err)
			}
			if n := countOf(t, h, "SELECT COUNT(*) FROM items WHERE run_no = (SELECT MAX(no) FROM runs)"); n != c.want {
				t.Errorf("%d items, want %d", n, c.want)
			}
		})
	}
}
