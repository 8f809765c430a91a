package simulator

import (
	"sort"
	"sync"
	"time"
)

// job is one batch. What it has done is a function of the clock; nothing runs.
//
// Its requests run in the order of a permutation, and results are told in that order too, so that what is finished at any
// time is a prefix, and a result file only ever grows at its end.
type job struct {
	vendor   *vendor
	account  string
	id       string
	key      string // what the registry calls it, where several jobs are one batch (xAI)
	number   uint64 // random, its own
	made     time.Time
	format   format
	lines    lineIndex
	input    string // id of the file it was made from
	name     string // what the client calls it
	meta     map[string]string
	endpoint string
	model    string
	extra    any // what only its vendor needs

	order    permutation
	valid    time.Duration // how long it is validated
	queue    time.Duration // how long it waits, validation included
	tail     time.Duration // how long it takes to hand out results
	window   time.Duration
	rate     float64
	most     int     // requests that ever run; fewer than all where it runs out of time
	troubles float64 // share of requests that end in a provider error
	refusals float64 // share of requests that are refused

	failure  []issue           // why it is invalid as a whole
	bad      []uint32          // places in the order, sorted, of requests that end in an error
	tokens   int64             // of all prompts, roughly
	prefixes map[uint64]uint32 // prompt prefixes and the line that had them first

	mu      sync.Mutex
	stopped time.Time // when it was cancelled
	stopLag time.Duration
	gone    bool // deleted

	outMu    sync.Mutex
	outs     []resultFile
	written  int  // places whose results are written
	closed   bool // those of requests that never ran are written too
	consumed usage
}

// phase is where a job stands.
type phase string

const (
	validating phase = "validating"
	queued     phase = "queued"
	running    phase = "running"
	finalizing phase = "finalizing"
	cancelling phase = "cancelling"
	completed  phase = "completed"
	failed     phase = "failed"
	expired    phase = "expired"
	cancelled  phase = "cancelled"
)

// progress is a job at one moment.
type progress struct {
	phase  phase
	done   int       // requests that have run, with or without an answer
	ran    time.Time // when the last request has run or will have
	ended  time.Time // zero: not yet
	cancel time.Time // when a cancel was asked for; zero: never
}

func (p progress) over() bool { return !p.ended.IsZero() }

// at tells where the job stands.
func (j *job) at(now time.Time) progress {
	j.mu.Lock()
	stopped, lag := j.stopped, j.stopLag
	j.mu.Unlock()
	ready, start := j.made.Add(j.valid), j.made.Add(j.queue)
	p := j.end(start, stopped, lag)
	if len(j.failure) > 0 {
		p = progress{phase: failed, ended: ready}
	}
	p.ran, p.cancel = start.Add(j.running()), stopped
	if !now.Before(p.ended) {
		return p
	}
	p.ended = time.Time{}
	p.done = j.doneBy(now)
	switch {
	case !stopped.IsZero():
		p.phase = cancelling
	case now.Before(ready):
		p.phase, p.done = validating, 0
	case now.Before(start):
		p.phase = queued
	case p.done < j.most:
		p.phase = running
	default:
		p.phase = finalizing
	}
	return p
}

// end tells how and when the job ends if nobody touches it any more.
func (j *job) end(start, stopped time.Time, lag time.Duration) progress {
	p := progress{phase: completed, done: j.most, ended: start.Add(j.running() + j.tail)}
	if j.most < j.lines.n {
		p.phase = expired
	}
	if limit := j.made.Add(j.window); limit.Before(p.ended) {
		p = progress{phase: expired, done: j.doneBy(limit), ended: limit}
	}
	if stop := stopped.Add(lag); !stopped.IsZero() && stop.Before(p.ended) {
		p = progress{phase: cancelled, done: j.doneBy(stop), ended: stop}
	}
	return p
}

// running is how long the requests take to run.
func (j *job) running() time.Duration {
	if j.rate <= 0 {
		return 0
	}
	return time.Duration(min(float64(j.most)/j.rate*float64(time.Second), float64(forever)))
}

// doneBy tells how many requests have run by then.
func (j *job) doneBy(t time.Time) int {
	start := j.made.Add(j.queue)
	switch {
	case t.Before(start) || len(j.failure) > 0:
		return 0
	case j.rate <= 0:
		return j.most
	}
	return min(int(t.Sub(start).Seconds()*j.rate), j.most)
}

// badBefore counts the errors among the first n places.
func (j *job) badBefore(n int) int {
	return sort.Search(len(j.bad), func(i int) bool { return int(j.bad[i]) >= n })
}

// isBad tells whether the request at that place ends in an error.
func (j *job) isBad(place int) bool {
	i := j.badBefore(place)
	return i < len(j.bad) && int(j.bad[i]) == place
}

// stop cancels the job and tells whether there was still something to cancel.
func (j *job) stop(now time.Time, lag time.Duration) bool {
	if j.at(now).over() {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped.IsZero() {
		j.stopped, j.stopLag = now, lag
	}
	return true
}

// view is a job as one call sees it: the truth, unless a rule says otherwise.
type view struct {
	progress
	total, succeeded, errored, pending int
	expired, cancelled                 int    // of those that never ran
	word                               string // a state to tell instead of the true one
	noOutput                           bool   // tell of no result files
	blank                              bool   // tell "" for absent files
}

// look tells a call what it sees of a job.
func (c *call) look(j *job) view {
	p := j.at(c.now)
	v := view{progress: p, total: j.lines.n}
	if len(j.failure) > 0 || p.phase == validating {
		v.total = 0
	}
	v.errored = j.badBefore(p.done)
	v.succeeded = p.done - v.errored
	v.pending = v.total - p.done
	if p.over() {
		switch p.phase {
		case expired:
			v.expired, v.pending = v.pending, 0
		case cancelled:
			v.cancelled, v.pending = v.pending, 0
		}
	}
	if _, ok := c.effect("freeze"); ok {
		v.pending, v.succeeded, v.errored, v.expired, v.cancelled = v.total, 0, 0, 0, 0
	}
	if _, ok := c.effect("wrong-counts"); ok && v.succeeded > 0 {
		v.succeeded--
	}
	if e, ok := c.effect("state"); ok {
		v.word = e.word
	}
	_, v.noOutput = c.effect("no-output")
	_, v.blank = c.effect("blank-ids")
	return v
}
