package runs

import (
	"context"
	"encoding/json"
	"time"

	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// Progress is how far a lane of a run is in a stage, or several lanes together. Bars, status, pages and reports all
// count by it.
type Progress struct {
	Wanted   int64 `json:"wanted"`               // requests that are to have an answer: those planned, without those spared
	Answered int64 `json:"answered"`             // have one
	Failed   int64 `json:"ended_without_answer"` // ended without one
	Again    int64 `json:"to_be_sent_again"`     // of those
	InFlight int64 `json:"in_flight"`            // in jobs that a provider has
	Ready    int64 `json:"ready"`                // of those: answered, by the provider's count, and not fetched yet
	Live     int64 `json:"asked_live"`           // asked one by one: some of them are in flight, the others come next
	Staged   int64 `json:"staged"`               // made, and not sent
	Halted   int64 `json:"halted"`               // made, and waiting for a person: their lane is stopped or held, or their segment is

	taken  int64         // answers of other runs or of elsewhere: they do not count for the pace
	stuck  int64         // requests that are not done, in lanes that do not move
	first  time.Time     // when the first request left
	idle   time.Duration // since then: how long nothing could move, because no process drove the run
	unseen time.Duration // since then: the longest time in which jobs went on and no process looked
	moved  time.Time     // when a request last left or came back, or a provider counted others than before
	wait   time.Time     // of one lane: until when its provider asked to wait
	since  time.Time     // of one lane: when the first of its jobs began that are at its provider now
}

// Done returns how many requests are through: with an answer, here or ready at the provider, or without one for good.
func (p Progress) Done() int64 { return p.Answered + p.Failed - p.Again + p.Ready }

// Open returns how many requests were made and have not ended.
func (p Progress) Open() int64 { return p.InFlight + p.Live + p.Staged + p.Halted }

// Complete reports whether nothing is left to do.
func (p Progress) Complete() bool { return p.Done() >= p.Wanted }

// Add returns the sum of both.
func (p Progress) Add(q Progress) Progress {
	p.Wanted, p.Answered, p.Failed, p.Again = p.Wanted+q.Wanted, p.Answered+q.Answered, p.Failed+q.Failed, p.Again+q.Again
	p.InFlight, p.Ready, p.Live, p.Staged, p.Halted = p.InFlight+q.InFlight, p.Ready+q.Ready, p.Live+q.Live, p.Staged+q.Staged,
		p.Halted+q.Halted
	p.taken, p.stuck, p.idle, p.unseen = p.taken+q.taken, p.stuck+q.stuck, max(p.idle, q.idle), max(p.unseen, q.unseen)
	if p.first.IsZero() || !q.first.IsZero() && q.first.Before(p.first) {
		p.first = q.first
	}
	if q.moved.After(p.moved) {
		p.moved = q.moved
	}
	return p
}

// stillAfter is how long nothing has to move before that is reported.
const stillAfter = 5 * time.Minute

// Still returns since when no request has left or come back, where some are open and that is long ago; nil: it is not.
func (p Progress) Still(now time.Time) *time.Time {
	if p.moved.IsZero() || p.InFlight+p.Live+p.Staged == 0 || now.Sub(p.moved) < stillAfter {
		return nil
	}
	return &p.moved
}

// Pace is how fast requests are done, and how long the rest takes at that rate.
type Pace struct {
	Rate float64 // a second
	Left time.Duration
}

// An estimate needs a tenth of the work done, and a few requests: the canary that a lane sends ahead is no measure of a
// batch.
const (
	leastShare = 10
	leastDone  = 5
)

// Pace estimates how long the rest takes, by what was done so far. It reports false where nothing is left, and where it
// would be a guess: too little is done, or no process looked at the run for a long part of that time.
func (p Progress) Pace(now time.Time) (Pace, bool) {
	done, left, worked := p.Done()-p.taken, p.left(), now.Sub(p.first)-p.idle
	if p.first.IsZero() || left <= 0 || done < leastDone || p.begun() || worked < time.Second || p.unseen*leastShare > worked {
		return Pace{}, false
	}
	rate := float64(done) / worked.Seconds()
	return Pace{rate, max(p.wait.Sub(now), 0) + time.Duration(float64(left)/rate*float64(time.Second))}, true
}

// left returns how many requests are still to be done, of those that can be.
func (p Progress) left() int64 { return p.Wanted - p.Done() - p.stuck }

// begun reports whether less than a tenth is done.
func (p Progress) begun() bool {
	done, left := p.Done()-p.taken, p.left()
	return left > 0 && done*leastShare < done+left
}

// LaneProgress is how far a lane is in a stage.
type LaneProgress struct {
	store.Lane
	Progress
}

// RunProgress is how far a run is, and each of its lanes.
type RunProgress struct {
	Progress
	Lanes []LaneProgress
}

// Pace returns the pace of all lanes together. They are not done before the slowest is; while one has only begun, there
// is no estimate.
func (r RunProgress) Pace(now time.Time) (Pace, bool) {
	pace, known := r.Progress.Pace(now)
	for _, l := range r.Lanes {
		lane, _ := l.Pace(now)
		pace.Left = max(pace.Left, lane.Left, l.wait.Sub(now))
		known = known && (l.first.IsZero() || !l.begun())
	}
	if !known {
		return Pace{}, false
	}
	return pace, true
}

// ProgressOf reads how far runs are, by their numbers.
func ProgressOf(ctx context.Context, r *results.Reader, runs ...store.Run) (map[int64]RunProgress, error) {
	all, open, by := make([]int64, len(runs)), []int64{}, map[int64]store.Run{}
	for i, run := range runs {
		all[i], by[run.No] = run.No, run
		if run.State != store.RunClosed {
			open = append(open, run.No)
		}
	}
	lanes, err := r.Ledger.LanesOf(ctx, all)
	if err != nil {
		return nil, err
	}
	flows, err := r.Pages.Flows(ctx, open)
	if err != nil {
		return nil, err
	}
	type place struct {
		run         int64
		stage, lane string
	}
	flow := map[place]store.Flow{}
	for _, f := range flows {
		flow[place{f.Run, f.Stage, f.Lane}] = f
	}
	out := make(map[int64]RunProgress, len(runs))
	for _, l := range lanes {
		far, p := out[l.Run], progressOf(by[l.Run], l, flow[place{l.Run, l.Stage, l.Name}])
		out[l.Run] = RunProgress{far.Add(p), append(far.Lanes, LaneProgress{l, p})}
	}
	return out, nil
}

// progressOf returns how far a lane is.
func progressOf(run store.Run, l store.Lane, f store.Flow) Progress {
	p := Progress{
		Wanted: l.Planned - l.Spared, Again: f.Again, InFlight: f.Away, Live: f.Live, Staged: f.Staged, Halted: f.Held,
		taken: l.Reused + l.Imported, first: f.First, wait: f.Wait, since: f.Since, moved: f.Progress,
	}
	if f.First.Before(run.Driven) { // a lane that began later had no break
		p.idle, p.unseen = run.Idle, run.Unseen
	}
	for e, n := range l.Endings {
		if e.Stands() {
			p.Answered += n
		} else {
			p.Failed += n
		}
	}
	for _, j := range f.Jobs {
		p.Ready += ready(j)
	}
	if l.State != store.LaneOpen {
		p.Halted, p.Staged = p.Halted+p.Staged, 0
		p.stuck = max(0, p.Wanted-p.Done()-p.InFlight+p.Ready)
	}
	return p
}

// ready returns how many requests of a job are answered by its provider's count, and not here yet.
func ready(j store.JobCount) int64 {
	var c provider.Counts
	if json.Unmarshal([]byte(j.Counts), &c) != nil || !c.Known {
		return 0
	}
	return max(0, min(c.Succeeded, j.Requests)-j.Here)
}
