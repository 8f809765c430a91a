package runs

import (
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// at is when the estimates of these tests are made.
var at = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func answers(n int64) map[assay.Ending]int64 { return map[assay.Ending]int64{assay.Answered: n} }

func counted(requests, here int64, counts string) []store.JobCount {
	return []store.JobCount{{Requests: requests, Here: here, Counts: counts}}
}

func TestAnEstimateIsNoGuess(t *testing.T) {
	t.Parallel()
	anHourAgo := at.Add(-time.Hour)
	open := store.Run{State: store.RunOpen}
	left := func(d time.Duration) *time.Duration { return &d }
	for name, c := range map[string]struct {
		run  store.Run
		lane store.Lane
		flow store.Flow
		want *time.Duration // nil: no estimate
	}{
		"half of it took an hour": {open, store.Lane{Planned: 100, Endings: answers(50)}, store.Flow{First: anHourAgo},
			left(time.Hour)},
		"what is spared takes no time": {open, store.Lane{Planned: 150, Spared: 50, Endings: answers(50)},
			store.Flow{First: anHourAgo}, left(time.Hour)},
		"what was taken over took none": {open, store.Lane{Planned: 150, Reused: 30, Imported: 20, Endings: answers(100)},
			store.Flow{First: anHourAgo}, left(time.Hour)},
		"the provider's count is used": {open, store.Lane{Planned: 144, Endings: answers(1)},
			store.Flow{First: anHourAgo, Away: 143, Jobs: counted(143, 0, `{"Known":true,"Succeeded":71}`)}, left(time.Hour)},
		"one of 144 says nothing": {open, store.Lane{Planned: 144, Endings: answers(1)},
			store.Flow{First: anHourAgo, Away: 143, Jobs: counted(143, 0, `{"Known":false}`)}, nil},
		"nine of a hundred are too few": {open, store.Lane{Planned: 100, Endings: answers(9)}, store.Flow{First: anHourAgo}, nil},
		"so are four of eight":          {open, store.Lane{Planned: 8, Endings: answers(4)}, store.Flow{First: anHourAgo}, nil},
		"nothing was sent":              {open, store.Lane{Planned: 100, Reused: 50, Endings: answers(50)}, store.Flow{}, nil},
		"all is done":                   {open, store.Lane{Planned: 100, Endings: answers(100)}, store.Flow{First: anHourAgo}, nil},
		"a stopped lane does not move": {open, store.Lane{Planned: 100, State: store.LaneStopped, Endings: answers(50)},
			store.Flow{First: anHourAgo, Staged: 50}, nil},
		"but its jobs in flight do": {open, store.Lane{Planned: 100, State: store.LaneStopped, Endings: answers(50)},
			store.Flow{First: anHourAgo, Staged: 25, Away: 25}, left(30 * time.Minute)},
		"a break without jobs is taken off": {store.Run{State: store.RunOpen, Idle: 72 * time.Hour, Driven: at.Add(-time.Minute)},
			store.Lane{Planned: 100, Endings: answers(50)}, store.Flow{First: at.Add(-73 * time.Hour)}, left(time.Hour)},
		"a break before it began is not": {store.Run{State: store.RunOpen, Idle: 72 * time.Hour, Driven: at.Add(-2 * time.Hour)},
			store.Lane{Planned: 100, Endings: answers(50)}, store.Flow{First: anHourAgo}, left(time.Hour)},
		"no one saw how long the jobs took": {store.Run{State: store.RunOpen, Unseen: 72 * time.Hour, Driven: at.Add(-time.Minute)},
			store.Lane{Planned: 100, Endings: answers(50)}, store.Flow{First: at.Add(-73 * time.Hour)}, nil},
		"a short look away is no harm": {store.Run{State: store.RunOpen, Unseen: time.Minute, Driven: at.Add(-time.Minute)},
			store.Lane{Planned: 100, Endings: answers(50)}, store.Flow{First: anHourAgo}, left(time.Hour)},
		"what goes out again is not done": {open, store.Lane{Planned: 100, Endings: map[assay.Ending]int64{assay.Answered: 50,
			assay.Errored: 20}}, store.Flow{First: anHourAgo, Again: 20}, left(time.Hour)},
	} {
		if c.lane.State == "" {
			c.lane.State = store.LaneOpen
		}
		pace, known := progressOf(c.run, c.lane, c.flow).Pace(at)
		switch {
		case known != (c.want != nil):
			t.Errorf("%s: %s, %v", name, pace.Left, known)
		case known && (pace.Left-*c.want).Abs() > time.Second:
			t.Errorf("%s: %s, want %s", name, pace.Left, *c.want)
		}
	}
}

// A run that is nearly through has one lane that is not: it is not done before that lane is.
func TestARunIsNotDoneBeforeItsSlowestLane(t *testing.T) {
	t.Parallel()
	lane := func(planned, done int64, since time.Duration) LaneProgress {
		l := store.Lane{State: store.LaneOpen, Planned: planned, Endings: answers(done)}
		f := store.Flow{}
		if since > 0 {
			f.First = at.Add(-since)
		}
		return LaneProgress{l, progressOf(store.Run{State: store.RunOpen}, l, f)}
	}
	run := func(lanes ...LaneProgress) RunProgress {
		r := RunProgress{Lanes: lanes}
		for _, l := range lanes {
			r.Progress = r.Add(l.Progress)
		}
		return r
	}
	fast, slow := lane(900, 900, time.Hour), lane(100, 20, time.Hour)
	if p, known := run(fast, slow).Pace(at); !known || p.Left != 4*time.Hour {
		t.Errorf("with a slow lane: %s, %v", p.Left, known)
	}
	if p, known := run(fast, lane(100, 1, time.Minute)).Pace(at); known {
		t.Errorf("one lane has only begun: %s", p.Left)
	}
	if p, known := run(fast, lane(900, 0, 0)).Pace(at); !known || p.Left != time.Hour {
		t.Errorf("one lane's time has not come: %s, %v", p.Left, known)
	}
}
