package store

import (
	"time"

	"assay/internal/assay"
)

// Flow is where the open requests of a lane in a stage are, and since when it has been at work.
type Flow struct {
	Run         int64
	Stage, Lane string
	Staged      int64     // made, and sent to no provider
	Away        int64     // in jobs at a provider, or on the way there or back
	Live        int64     // in segments whose requests are asked one by one
	Held        int64     // in segments that wait for a person
	Again       int64     // ended without an answer, and to be sent again
	First       time.Time // when the first of its requests left; zero: none did
	Since       time.Time // when the first of the jobs began that are at a provider now; zero: none is
	Progress    time.Time // when a request last left or came back, or a provider counted others than before
	Wait        time.Time // until when its provider asked to wait; zero: it did not
	Jobs        []JobCount
}

// JobCount is a provider's report about a job whose results are not all here.
type JobCount struct {
	Requests int64
	Here     int64  // of them: those whose answers are here, as a provider counts answers
	Counts   string // JSON
}

// JobTime is how long a job was at its provider.
type JobTime struct {
	Provider, Model string
	Took            time.Duration
}

// LaneState is whether a lane may send in a stage.
type LaneState string

// The states of a lane in a stage.
const (
	LaneOpen    LaneState = "open"
	LaneStopped LaneState = "stopped" // the provider refuses its key, its money or its requests
	LaneHeld    LaneState = "held"    // a person has to look
	LanePaused  LaneState = "paused"  // a person wants nothing sent for a while
)

// LaneCause is why a lane is not open, as far as something is decided by it. Words for people are in its reason.
type LaneCause string

// The causes that something is decided by.
const (
	CauseOther       LaneCause = ""
	CauseUser        LaneCause = "user"         // a person cancelled it
	CauseAccount     LaneCause = "account"      // its key was refused, or its account is empty
	CauseNothingGood LaneCause = "nothing good" // none of its first answers is of use
)

// Canary is the state of the one live request before a lane's first batch.
type Canary string

// The states of a canary.
const (
	CanaryOff    Canary = "off"    // not wanted, or the lane cannot answer live
	CanaryDue    Canary = "due"    // to be asked
	CanaryAsked  Canary = "asked"  // in flight
	CanaryShown  Canary = "shown"  // answered; waits for a person's yes
	CanaryPassed Canary = "passed" // answered: the batches may go
	CanaryFailed Canary = "failed" // rejected: nothing more goes
)

// Lane is a lane in one stage of a run, with its requests counted by their current outcome.
type Lane struct {
	Run             int64
	Stage, Name     string
	Provider, Model string
	Label           string
	Params          string // JSON of the effective parameters
	Planned         int64  // at most this many requests
	Spared          int64  // of them: those that need no asking
	State           LaneState
	Cause           LaneCause
	Reason          string // why it is not open, in words
	Canary          Canary
	Open            int64 // requests staged or sent that have not ended
	Endings         map[assay.Ending]int64
	CacheHits       int64
	Reused          int64
	Imported        int64 // answers made elsewhere
	Surplus         int64 // answers paid for twice
	Unread          int64 // replies of a judge that no verdict can be read from
}

// Served is how many answers of a lane in a stage a model gave, as replies name it: a provider may serve another version of a model at any
// time.
type Served struct {
	Stage, Lane, Model string
	Answers            int64
}

// Shut reports whether the lane was stopped or is held: nothing more of it goes out before a person looked.
func (l Lane) Shut() bool { return l.State == LaneStopped || l.State == LaneHeld }

// Ended returns how many requests have ended, with an answer or without.
func (l Lane) Ended() int64 { return ended(l.Endings) }

// ModelID returns the model with its provider; empty: the answers were imported, and which model gave them is not known.
func (l Lane) ModelID() string {
	if l.Provider == "" && l.Model == "" {
		return ""
	}
	return l.Provider + "/" + l.Model
}

// LaneStop is a state that a lane is brought into, and why.
type LaneStop struct {
	State  LaneState
	Cause  LaneCause
	Reason string
	From   LaneCause // only a lane that is stopped for this; empty: any
}

// GroupKey names what one lane is asked in one turn of one stage. Second tries after malformed verdicts are a group of
// their own.
type GroupKey struct {
	Stage, Lane string
	Turn        int
	Again       int // of a judge's further tries: which
}

// Group describes a group of a run.
type Group struct {
	Run int64
	GroupKey
	First    time.Time // when its first request that has not gone became ready; zero: none waits
	Complete bool      // nothing can join it any more, and all of it is staged
}
