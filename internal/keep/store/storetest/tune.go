package storetest

import (
	"slices"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func tuning(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	b.ok(b.s.Leases.SleepRun(b.ctx, b.run.No, b.run.Due, b.run.Due.AddDate(1, 0, 0)))
	three := 3 * assay.Dollar
	limits := store.Tuning{Every: store.Limits{Concurrency: 32}, Lanes: map[string]store.Limits{"gpt": {Rate: 5}}}
	r := store.Retuning{Run: b.run.No, Is: limits, Budget: &three, Pause: []string{"opus"}, What: "all lanes: 32 at a time"}
	done, err := b.s.Runs.Tune(b.ctx, r)
	b.ok(err)
	run, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	is, err := run.Limits()
	b.ok(err)
	if !done || is.Lane("gpt") != (store.Limits{Concurrency: 32, Rate: 5}) || is.Lane("opus") != (store.Limits{Concurrency: 32}) ||
		run.Budget == nil || *run.Budget != three {
		t.Errorf("%t, %+v, budget %v", done, is, run.Budget)
	}
	if run.Due.After(b.clock.now()) {
		t.Error("the run is not looked at before", run.Due)
	}
	events, err := b.s.Reader.Events(b.ctx, run.No, 0, 100)
	b.ok(err)
	if !slices.ContainsFunc(events, func(e store.Event) bool { return e.Kind == "tuned" && e.Text == r.What }) {
		t.Errorf("events %+v", events)
	}
	state := func(lane string) store.LaneState {
		l, err := b.s.Reader.Lane(b.ctx, run.No, "answers", lane)
		b.ok(err)
		return l.State
	}
	if state("opus") != store.LanePaused || state("gpt") != store.LaneOpen {
		t.Errorf("opus %s, gpt %s", state("opus"), state("gpt"))
	}
	if done, err := b.s.Runs.Tune(b.ctx, r); done || err != nil { // it was seen before the change
		t.Error("a second one from the same state:", done, err)
	}
	b.ok(b.s.Work.SetLane(b.ctx, run.No, "answers", "gpt", store.LaneStop{State: store.LaneStopped, Reason: "no money"}))
	done, err = b.s.Runs.Tune(b.ctx, store.Retuning{Run: run.No, Was: run.Tuned, Pause: []string{"gpt"}, Unpause: []string{"opus", "gpt"}})
	b.ok(err)
	run, err = b.s.Reader.Run(b.ctx, run.No)
	b.ok(err)
	if !done || run.Tuned != "" || state("opus") != store.LaneOpen || state("gpt") != store.LaneStopped || *run.Budget != three {
		t.Errorf("%t, limits %q, opus %s, gpt %s, budget %s", done, run.Tuned, state("opus"), state("gpt"), run.Budget)
	}
}

func pausing(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	for _, why := range []string{string(store.AwaitsMoney), "waits for the lane's canary"} {
		g := b.staged(store.Batch, 1)
		b.ok(b.s.Work.Wake(b.ctx, g.Lease, time.Time{}, why))
		run, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		_, err = b.s.Runs.Tune(b.ctx, store.Retuning{Run: run.No, Was: run.Tuned, Pause: []string{g.Lane}, What: "a pause"})
		b.ok(err)
		if got := b.segmentNow(g).Reason; got == store.AwaitsMoney || why != string(store.AwaitsMoney) && got != store.Reason(why) {
			t.Errorf("in a paused lane, what waited because of %q waits because of %q", why, got)
		}
	}
	if open, err := b.s.Work.OpenSegments(b.ctx, b.run.No); err != nil || open.Blocked != 0 {
		t.Errorf("%+v wait for money (%v)", open, err)
	}
}

func lowered(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	share := func(holder string, to, uses, wants int64) int64 {
		has, err := b.s.Limits.Share(b.ctx,
			store.CapShare{Scope: "lowered", Holder: holder, Cap: to, Uses: uses, Wants: wants, For: time.Hour})
		b.ok(err)
		return has
	}
	for i, c := range []struct {
		holder                string
		to, uses, wants, want int64
	}{
		{"a", 8, 0, 4, 4},
		{"b", 8, 0, 4, 4},
		{"a", 2, 4, 2, 1}, // the cap is lower now: three of them have to end before the next one goes
		{"b", 2, 4, 2, 1},
		{"a", 2, 1, 2, 1},
		{"b", 2, 1, 2, 1}, // and now both are within it
		{"a", 6, 1, 6, 3}, // it is higher again
		{"b", 6, 1, 6, 3},
	} {
		if got := share(c.holder, c.to, c.uses, c.wants); got != c.want {
			t.Errorf("cap %d, step %d: %s gets %d, want %d", c.to, i, c.holder, got, c.want)
		}
	}
}
