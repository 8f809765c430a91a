package backend

import (
	"errors"
	"iter"
	"sort"
	"sync"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/spill"

	"github.com/valyala/fastjson"
)

// Job is one batch. What it has done is a function of the clock; nothing runs.
//
// Its requests run in the order of a permutation, and results come in that order too, so that what is finished at any
// time is a prefix, and a result file only ever grows at its end.
type Job struct {
	Vendor   *Vendor
	Account  string
	ID       string
	key      string // what the registry calls it, where several jobs are one batch (xAI)
	Number   uint64 // random, its own
	Made     time.Time
	Format   Format
	Lines    spill.LineIndex
	Input    string // id of the file it was made from
	Name     string // what the client calls it
	Meta     map[string]string
	Endpoint string
	Model    string
	Extra    any // what only its vendor needs

	Order      dice.Permutation
	Validation time.Duration // how long it is validated
	Queue      time.Duration // how long it waits, validation included
	tail       time.Duration // how long it takes to hand out results
	Window     time.Duration
	rate       float64
	runnable   int     // requests that ever run; fewer than all where it runs out of time
	troubles   float64 // share of requests that end in a provider error
	refusals   float64 // share of requests that are refused

	Failure  []Issue           // why it is invalid as a whole
	bad      []uint32          // places in the order, sorted, of requests that end in an error
	tokens   int64             // of all prompts, roughly
	prefixes map[uint64]uint32 // prompt prefixes and the line that had them first
	warm     map[uint64]bool   // of these, those that a batch before it has written to the cache

	mu      sync.Mutex
	stopped time.Time // when it was cancelled
	stopLag time.Duration
	gone    bool // deleted

	outMu    sync.Mutex
	outs     []resultFile
	written  int  // places whose results are written
	closed   bool // those of requests that never ran are written too
	consumed bodies.Usage
}

// Phase is the state of a job.
type Phase string

// The phases of jobs.
const (
	Validating Phase = "validating"
	Queued     Phase = "queued"
	Running    Phase = "running"
	Finalizing Phase = "finalizing"
	Cancelling Phase = "cancelling"
	Completed  Phase = "completed"
	Failed     Phase = "failed"
	Expired    Phase = "expired"
	Cancelled  Phase = "cancelled"
)

// Progress is a job at one moment.
type Progress struct {
	Phase  Phase
	Done   int       // requests that have run, with or without an answer
	Ran    time.Time // when the last request has run or will have
	Ended  time.Time // zero: not yet
	Cancel time.Time // when a cancel was asked for; zero: never
}

// Over reports whether the job has ended.
func (p Progress) Over() bool { return !p.Ended.IsZero() }

// At returns the progress of the job.
func (j *Job) At(now time.Time) Progress {
	j.mu.Lock()
	stopped, lag := j.stopped, j.stopLag
	j.mu.Unlock()
	ready, start := j.Made.Add(j.Validation), j.Made.Add(j.Queue)
	p := j.end(start, stopped, lag)
	if len(j.Failure) > 0 {
		p = Progress{Phase: Failed, Ended: ready}
	}
	p.Ran, p.Cancel = start.Add(j.running()), stopped
	if !now.Before(p.Ended) {
		return p
	}
	p.Ended = time.Time{}
	p.Done = j.doneBy(now)
	switch {
	case !stopped.IsZero():
		p.Phase = Cancelling
	case now.Before(ready):
		p.Phase, p.Done = Validating, 0
	case now.Before(start):
		p.Phase = Queued
	case p.Done < j.runnable:
		p.Phase = Running
	default:
		p.Phase = Finalizing
	}
	return p
}

// end returns how and when the job ends if it is left alone.
func (j *Job) end(start, stopped time.Time, lag time.Duration) Progress {
	p := Progress{Phase: Completed, Done: j.runnable, Ended: start.Add(j.running() + j.tail)}
	if j.runnable < j.Lines.Len {
		p.Phase = Expired
	}
	if limit := j.Made.Add(j.Window); limit.Before(p.Ended) {
		p = Progress{Phase: Expired, Done: j.doneBy(limit), Ended: limit}
	}
	if stop := stopped.Add(lag); !stopped.IsZero() && stop.Before(p.Ended) {
		p = Progress{Phase: Cancelled, Done: j.doneBy(stop), Ended: stop}
	}
	return p
}

// running returns how long the requests take to run.
func (j *Job) running() time.Duration {
	if j.rate <= 0 {
		return 0
	}
	return time.Duration(min(float64(j.runnable)/j.rate*float64(time.Second), float64(forever)))
}

// doneBy counts how many requests have run by then.
func (j *Job) doneBy(t time.Time) int {
	start := j.Made.Add(j.Queue)
	switch {
	case t.Before(start) || len(j.Failure) > 0:
		return 0
	case j.rate <= 0:
		return j.runnable
	}
	return min(int(t.Sub(start).Seconds()*j.rate), j.runnable)
}

// ranAt returns when the request on a line has run or will have.
func (j *Job) ranAt(line int) time.Time {
	at := j.Made.Add(j.Queue)
	if j.rate <= 0 {
		return at
	}
	return at.Add(time.Duration(min(float64(j.Order.Place(line)+1)/j.rate*float64(time.Second), float64(forever))))
}

// badBefore counts the errors among the first n places.
func (j *Job) badBefore(n int) int {
	return sort.Search(len(j.bad), func(i int) bool { return int(j.bad[i]) >= n })
}

// IsBad reports whether the request at that place ends in an error.
func (j *Job) IsBad(place int) bool {
	i := j.badBefore(place)
	return i < len(j.bad) && int(j.bad[i]) == place
}

// stop cancels the job and reports whether there was still something to cancel.
func (j *Job) stop(now time.Time, lag time.Duration) bool {
	if j.At(now).Over() {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped.IsZero() {
		j.stopped, j.stopLag = now, lag
	}
	return true
}

// IDs returns the custom ids of the lines that are wanted, in the order of the lines.
func (j *Job) IDs(wanted func(line int) bool) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var p fastjson.Parser
		if j.Lines.Data.Path == "" { // its file was not there
			return
		}
		n, stop := 0, errors.New("enough")
		err := spill.EachLine(j.Lines.Data, func(line []byte, _ int64) error {
			n++
			if !wanted(n - 1) {
				return nil
			}
			v, err := p.ParseBytes(line)
			if err != nil {
				return nil // such a job failed as a whole: the line was never a request
			}
			if in, rej := j.Format.Open(j, v); rej == nil && !yield(in.ID, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield("", err)
		}
	}
}

// Billed reports whether a line was answered by then, and so is charged.
func (j *Job) Billed(line int, p Progress) bool {
	place := j.Order.Place(line)
	return place < p.Done && !j.IsBad(place) && !(j.Vendor.ExpiredFree && p.Phase == Expired)
}
