package workspace

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
)

func TestADriveWaitsForALaneThatIsPausedMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	paused, asleep := false, 0
	c := r.drive(h, run, Drive{Moved: func(ctx context.Context) error {
		if !paused {
			paused = true
			words, err := h.Tune(ctx, run, Tune{Pause: []string{"b"}})
			if words != "lane b paused" {
				t.Error(words)
			}
			return err
		}
		lane, err := h.Ledger.Reader.Lane(ctx, run.No, "answers", "a")
		if err != nil || lane.Ended() < 2 {
			return err
		}
		if next, err := h.Ledger.Reader.NextDue(ctx, run.No); err != nil || !next.IsZero() {
			return err
		}
		if asleep++; asleep == 3 { // it went on looking
			_, err = h.Tune(ctx, run, Tune{Unpause: []string{"b"}})
		}
		return err
	}})
	if c.State != runs.StateDone || asleep < 3 {
		t.Errorf("it ended as %s, after %d looks at nothing", c.State, asleep)
	}
	events, err := h.Ledger.Reader.Events(r.ctx, run.No, 0, 1000)
	if err != nil || !slices.ContainsFunc(events,
		func(e store.Event) bool { return e.Kind == "tuned" && e.Text == "lane b goes on (by ada)" }) {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestThePausedLaneIsWhyADriveEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if _, err := h.Tune(r.ctx, run, Tune{Pause: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if c := r.drive(h, run, Drive{Once: true}); c.Cause != runs.CausePaused || c.Lane.Name != "a" {
		t.Errorf("%+v", c)
	}
}

func TestTheLastWordOnALimitCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy+"budget: 1 USD\n")
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	five := 5 * assay.Dollar
	for _, c := range []struct {
		tune  Tune
		words string
		want  string // what is tuned then
		lane  int    // requests of lane a in flight
	}{
		{Tune{Limits: store.Limits{Concurrency: 4, Rate: 0.5}}, "every lane: at most 4 requests in flight, 30 a minute",
			"every lane: at most 4 requests in flight, 30 a minute", 4},
		{Tune{Lanes: []string{"a"}, Limits: store.Limits{Concurrency: 9}}, "lane a: at most 9 requests in flight",
			"every lane: at most 4 requests in flight, 30 a minute; lane a: at most 9 requests in flight", 9},
		{Tune{Providers: []string{"openai"}, Limits: store.Limits{Rate: 2}, Budget: &five},
			"provider openai: 2 a second; budget $5.00, was $1.00",
			"every lane: at most 4 requests in flight, 30 a minute; lane a: at most 9 requests in flight; provider openai: 2 a second", 9},
		{Tune{Limits: store.Limits{Concurrency: 6}}, "every lane: at most 6 requests in flight",
			"every lane: at most 6 requests in flight, 30 a minute; lane a: at most 6 requests in flight; provider openai: 2 a second", 6},
		{Tune{Reset: true}, "limits as the study says", "", 0},
	} {
		words, err := h.Tune(r.ctx, run, c.tune) // the run as it was at first: another person was first each time
		if err != nil {
			t.Fatal(err)
		}
		now, err := h.Ledger.Reader.Run(r.ctx, run.No)
		if err != nil {
			t.Fatal(err)
		}
		tuned, err := TunedWords(now)
		if err != nil {
			t.Fatal(err)
		}
		route, err := h.Planner.Route(r.ctx, now, "answers", "a", store.Live)
		if err != nil || route.Live.Lane.Concurrency != c.lane {
			t.Errorf("%s: lane a may have %d in flight, %v", words, route.Live.Lane.Concurrency, err)
		}
		if d := cmp.Diff([]string{c.words, c.want}, []string{words, tuned}); d != "" {
			t.Error(d)
		}
	}
}
