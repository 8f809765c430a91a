package workspace

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/engine"
	"assay/plan"
	"assay/script"
	"assay/store"
)

func TestABudgetThatWasSetForARunOutlivesAnEditOfTheStudys(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy+"budget: 100 USD\n")
	h := r.open(false)
	want, five := r.wanted(StudyOptions{}, script.Settings{}), 5*assay.Dollar
	want.Budget = &five
	run := r.begin(h, want)
	for _, text := range []string{"budget: 200 USD\n", ""} {
		r.write("study.yaml", smallStudy+text)
		own := false
		_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, script.Settings{}), Doorkeeper{Resumed: func(now Current) error { own = now.Edit.OwnBudget(); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		now, err := h.Ledger.Run(r.ctx, run.No)
		if err != nil || now.Budget == nil || *now.Budget != five || !own {
			t.Errorf("%q: the budget is %v, its own: %t, %v", text, now.Budget, own, err)
		}
	}
}

func TestAYesIsForOneRunAndOneEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, script.Settings{}))
	r.write("study.yaml", grown())
	no := errors.New("no")
	asked := ""
	_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, script.Settings{}), Doorkeeper{
		Resumed: func(Current) error { t.Error("it goes on"); return nil },
		Extend: func(now Current, _ TakeOver) error { // meanwhile another process makes the run one about a part of the study
			asked += "extend "
			done, err := h.Ledger.Revise(r.ctx, store.Revision{Run: run.No, Was: now.Run.Digest, Is: "another", Settings: `{"file":"study.yaml","limit":1}`})
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
	if runs, err := h.Ledger.Runs(r.ctx, "small"); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestAYesToOneEditIsNoneToTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, script.Settings{}))
	r.write("study.yaml", grown())
	asked := 0
	_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, script.Settings{}), Doorkeeper{
		Resumed: func(Current) error { return nil },
		Extend: func(now Current, _ TakeOver) error {
			if asked++; asked == 1 { // another process is first
				done, err := h.Ledger.Revise(r.ctx, store.Revision{Run: run.No, Was: now.Run.Digest, Is: "another", Settings: now.Run.Settings})
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
	run := r.begin(h, r.wanted(StudyOptions{}, script.Settings{}))
	r.write("study.yaml", grown())
	want := r.wanted(StudyOptions{}, script.Settings{})
	now, err := h.Current(r.ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(r.ctx)
	now.Edit.input.Rows = breakingRows{now.Edit.input.Rows, stop}
	if done, err := h.revise(ctx, want, now.Edit); done || !errors.Is(err, context.Canceled) {
		t.Error(done, err)
	}
	after, err := h.Ledger.Run(r.ctx, run.No)
	if err != nil || after.Lease.Holder != "" || after.Digest != run.Digest {
		t.Errorf("held by %q, %v", after.Lease.Holder, err)
	}
}

func TestTheLeaseOfARunThatGrowsIsRenewed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, script.Settings{}))
	l, err := h.Ledger.HoldRun(r.ctx, run.No, "me", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	stop := h.Planner.Renewing(r.ctx, l, time.Second)
	defer stop()
	for { // until it is renewed
		now, err := h.Ledger.Run(r.ctx, run.No)
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
	pilot, err := h.BeginAs(r.ctx, r.wanted(StudyOptions{}, script.Settings{}), "small"+pilotSuffix, nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := h.Ledger.Revise(r.ctx, store.Revision{Run: pilot.No, Was: pilot.Digest, Is: "another", Settings: "{"}); !done || err != nil {
		t.Fatal(done, err)
	}
	_, err = h.Run(r.ctx, r.wanted(StudyOptions{}, script.Settings{}), Doorkeeper{Confirm: func([]store.Run, *Edit) error { return nil }})
	if err == nil || !strings.Contains(err.Error(), "read the settings of run "+pilot.ID) {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatALiveSliceHasNotSentIsNotInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, script.Settings{}))
	at := assay.Coordinates{Stage: "answers", Item: "one", Lane: "a", Turn: 1, Draw: 1}
	g, err := h.Ledger.AddSegment(r.ctx, store.NewSegment{
		Run: run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "a", Turn: 1}, Mode: store.Live, Purpose: store.ForWave, Provider: "openai", Model: "gpt-4.1", Nonce: "22222222",
	}, "me", time.Hour)
	if err == nil {
		err = errors.Join(
			h.Ledger.AddAttempts(r.ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, At: at}}),
			h.Ledger.Stage(r.ctx, g.Lease, store.Bytes{}, 0, 0, time.Now()), h.Ledger.GoLive(r.ctx, g.Lease, "an account", 0, time.Now()))
	}
	if err != nil {
		t.Fatal(err)
	}
	rest, err := h.Rest(r.ctx, run)
	if err != nil || rest.Away != 0 || rest.Left != 4 || rest.Cost.Expected.Sum <= 0 || !rest.Cost.Expected.Known() {
		t.Errorf("%+v, %v", rest, err)
	}
	over, err := h.Has(r.ctx, r.wanted(StudyOptions{}, script.Settings{}).Plan, run, nil)
	if err != nil || over.Away != 0 || over.New != 4 {
		t.Errorf("%+v, %v", over, err)
	}
}
