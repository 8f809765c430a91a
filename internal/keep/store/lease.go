package store

import (
	"fmt"
	"time"
)

// Driver is a process that drives a run, or holds a lease of it.
type Driver struct {
	Holder string
	Until  time.Time // when it counts as gone unless it gives a further sign
}

// Trouble is why a segment that is under way does not move as it should.
type Trouble struct {
	Segment     int64
	Stage, Lane string
	State       State
	Provider    string
	Reason      Reason
	Still       time.Time // since when no step works; zero: the last one did
	Due         time.Time // when the next step is; zero: not by itself, or it is at it
	Wait        time.Time // until when the provider asked to wait; zero: it did not
}

// Gate closes a model at an account for a while: nothing is sent to it before it opens.
type Gate struct {
	Account, Model string
	Until          time.Time
	Failures       int64 // in a row
	Reason         string
}

// Reason is why a segment waits: one of the codes below where something is decided by it, else words for people.
type Reason string

// The reasons by which something is decided.
const (
	AwaitsMoney Reason = "#money" // the budget does not cover it
	AwaitsAudit Reason = "#audit" // settled, and due so that a process with its key compares the provider's list of jobs with the ledger
	AwaitsRoom  Reason = "#room"  // until jobs before it have made room at the provider
)

// String returns the reason in words.
func (r Reason) String() string {
	switch r {
	case AwaitsMoney:
		return "the budget does not cover it"
	case AwaitsAudit:
		return "the provider's list of jobs is to be compared with the ledger"
	case AwaitsRoom:
		return "the provider has as many tokens waiting as it takes at a time: goes as soon as one of the jobs before it has ended"
	}
	return string(r)
}

// Lease is the right to work on a segment or a run until a moment. It belongs to one piece of work, not to a process: the
// same holder cannot take it twice. Every write carries its epoch, so that a holder who was asleep for too long cannot
// write any more.
type Lease struct {
	No     int64 // of the segment or the run
	Holder string
	Epoch  int64
	Until  time.Time
	Run    bool
}

// HeldError names the holder of a lease.
type HeldError struct {
	Holder string
	Until  time.Time
}

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("held by %s until %s", e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// CapShare is one worker's demand on a cap of requests in flight.
type CapShare struct {
	Scope  string
	Holder string
	Cap    int64         // of all workers together
	Uses   int64         // requests that it has in flight
	Wants  int64         // as many as it could have in flight
	For    time.Duration // how long the share is its own, unless it asks again
}

// WorkerKey is a key that a living worker or gateway has for a provider of a run.
type WorkerKey struct {
	Run      int64
	Provider string
	Account  string // the key's fingerprint
}

// ProgramKey takes the place of a provider where a worker reports that it may run the judging programs of a run. No
// provider has such a name.
const ProgramKey = "(program)"

// Stranded is a segment that no living worker can work on, or a lane that has none yet.
type Stranded struct {
	Segment  int64 // 0: the lane has none yet
	Stage    string
	Lane     string
	Provider string
	Account  string // the fingerprint of the one key that would do; empty: any key of the provider
	Due      time.Time
}
