package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// flowing: where open requests are, and for how long no process drove a run.
func flowing(t *testing.T, fresh Fresh) {
	t.Run("open requests are counted where they are", func(t *testing.T) { flows(t, fresh) })
	t.Run("jobs that ended lately tell how long they took", func(t *testing.T) { jobTimes(t, fresh) })
	t.Run("breaks are counted once, by what went on in them", func(t *testing.T) { breaks(t, fresh) })
}

func flows(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	look := func() []store.Flow {
		t.Helper()
		all, err := b.s.Pages.Flows(b.ctx, []int64{b.run.No})
		b.ok(err)
		slices.SortFunc(all, func(a, b store.Flow) int { return cmp.Compare(a.Lane, b.Lane) })
		return all
	}
	if all := look(); len(all) > 0 {
		t.Errorf("nothing was made: %+v", all)
	}
	b.segment(store.Batch, 7) // planned: not open yet
	b.staged(store.Batch, 3)
	b.to(b.staged(store.Batch, 2), store.Uploaded)
	began := b.clock.now()
	b.to(b.staged(store.Batch, 4), store.Intended)
	away := b.to(b.staged(store.Batch, 10), store.Launched)
	b.clock.pass(time.Minute)
	b.ok(b.s.Work.Checked(b.ctx, away.Lease, store.Sighting{State: "running", Counts: `{"Known":true}`, Due: b.clock.now()}))
	back := b.to(b.staged(store.Batch, 5), store.Fetched)
	resent := b.outcome(back, 1, assay.Errored)
	resent.Again = &store.Again{Mode: store.Live, Cause: "busy", After: b.clock.now(), Cap: 3}
	b.settle(back, b.outcome(back, 0, assay.Answered), resent)
	live := b.staged(store.Live, 6)
	b.ok(b.s.Work.GoLive(b.ctx, live.Lease, "k1", 0, b.clock.now()))
	held := b.staged(store.Batch, 8)
	b.ok(b.s.Work.Hold(b.ctx, held.Lease, "unclear"))
	want := []store.Flow{{
		Run: b.run.No, Stage: "answers", Lane: "gpt", Staged: 5, Away: 4 + 10 + 3, Live: 6, Held: 8, Again: 1, First: began.UTC(),
		Since:    began.UTC(),
		Progress: b.clock.now().UTC(),
		Jobs:     []store.JobCount{{Requests: 10, Counts: `{"Known":true}`}, {Requests: 5, Here: 1, Counts: "{}"}},
	}}
	got := look()
	if len(got) == 1 {
		slices.SortFunc(got[0].Jobs, func(a, b store.JobCount) int { return cmp.Compare(b.Requests, a.Requests) })
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("flows (-want +got):\n%s", d)
	}
	b.clock.pass(time.Minute)
	sight := func(counts string) {
		b.ok(b.s.Work.Checked(b.ctx, away.Lease, store.Sighting{State: "running", Counts: counts, Due: b.clock.now()}))
	}
	if sight(`{"Known":true}`); !look()[0].Progress.Equal(got[0].Progress) {
		t.Error("the same counts are progress")
	}
	if sight(`{"Known":true,"Succeeded":1}`); !look()[0].Progress.Equal(b.clock.now()) {
		t.Error("other counts are no progress")
	}
	open := got[0].Staged + got[0].Away + got[0].Live + got[0].Held
	if l := b.lane("gpt"); l.Open != open {
		t.Errorf("the lane has %d open requests, and %d are somewhere", l.Open, open)
	}
}

// jobTimes: how long jobs took that ended lately.
func jobTimes(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	ended := b.to(b.staged(store.Batch, 1), store.Launched)
	b.clock.pass(9 * time.Minute)
	b.ok(b.s.Work.Ended(b.ctx, ended.Lease, store.Sighting{State: "ended", Word: "completed", Counts: "{}", Parts: "[]",
		Due: b.clock.now()}))
	b.ok(b.s.Work.Fetched(b.ctx, ended.Lease, b.clock.now()))
	b.settle(ended, b.outcome(ended, 0, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, ended.Lease, time.Time{}))
	for since, want := range map[time.Duration][]store.JobTime{
		0: {{Provider: "openai", Model: ended.Model, Took: 9 * time.Minute}}, time.Minute: nil,
	} {
		took, err := b.s.Pages.JobTimes(b.ctx, false, b.clock.now().Add(since))
		b.ok(err)
		if d := gocmp.Diff(want, took); d != "" {
			t.Errorf("how long jobs took (-want +got):\n%s", d)
		}
	}
	if took, err := b.s.Pages.JobTimes(b.ctx, true, b.clock.now()); err != nil || len(took) > 0 {
		t.Errorf("no job of a rehearsal ended, and %v are there (%v)", took, err)
	}
}

func breaks(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	now := func() store.Run {
		t.Helper()
		r, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		return r
	}
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "anna", ttl))
	if r := now(); r.Idle != 0 || r.Unseen != 0 || !r.Driven.IsZero() {
		t.Errorf("it was never left: %+v", r)
	}
	// A sign that is already over simulates a process that stopped so long ago: the clock of a database cannot be
	// moved.
	b.ok(b.s.Leases.Leaves(b.ctx, b.run.No, "anna"))
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "old", -time.Hour))
	idle := now().Idle
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "bert", ttl))
	if r := now(); r.Idle-idle < time.Hour || r.Unseen != 0 || r.Driven.IsZero() {
		t.Errorf("an hour without a driver and without a job: %+v", r)
	}
	idle = now().Idle
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "bert", ttl))
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "carl", ttl))
	if r := now(); r.Idle != idle || r.Unseen != 0 {
		t.Errorf("a further sign, and a further process: %+v", r)
	}
	b.to(b.staged(store.Batch, 1), store.Launched)
	for _, d := range []time.Duration{2 * time.Hour, time.Hour} {
		for _, name := range []string{"bert", "carl", "dora"} {
			b.ok(b.s.Leases.ReleaseDead(b.ctx, name))
		}
		b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "old", -d))
		b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "dora", ttl))
	}
	if r := now(); r.Idle-idle > time.Minute || r.Unseen < 2*time.Hour || r.Unseen > 2*time.Hour+time.Minute {
		t.Errorf("two hours, and one, with a job in flight: %+v", r)
	}
}
