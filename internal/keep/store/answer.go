package store

import (
	"time"

	"assay/internal/assay"
)

// OfSegment returns the names of the coordinates that all attempts of a segment share.
func OfSegment() []string { return []string{"stage", "turn"} }

// Attempt is one sending of one request in one segment.
type Attempt struct {
	Ord    int64 // its place in the segment, from 0
	Key    assay.Key
	Try    int64 // 1 for the first sending of a request
	Digest []byte
	At     assay.Coordinates
}

// AttemptPlace is the place of a key in a segment.
type AttemptPlace struct {
	Ord  int64
	Done bool // it has an outcome
	Seen bool // it got it on this walk; for the caller
}

// Resend is a request that is to be sent again.
type Resend struct {
	Attempt             // the one to come: its Try is the next; Ord is 0
	Lane    string      // the lane it travels in
	Segment int64       // of the attempt before
	Mode    SegmentMode // how it is to travel
	After   time.Time
	Cause   string
	Recuts  int
	Second  bool // it was in the second half of that attempt's segment
}

// Group returns the group that it belongs to.
func (r Resend) Group() GroupKey {
	return GroupKey{Stage: r.At.Stage, Lane: r.Lane, Turn: r.At.Turn, Again: r.At.Again}
}

// Queue is the list of requests that a lane has to send again in one way.
type Queue struct {
	GroupKey
	Mode        SegmentMode
	Requests    int64
	First, Last time.Time // when the first of them may go, and the last
}

// InFlight is a live request that may have been sent, and has no answer here.
type InFlight struct {
	Ord  int64
	High *assay.Money // what it costs at most; nil: not known
}

// DoubtSum is how many live calls of a run may be billed without their answer being kept, and what they cost at most; and the same of
// create calls that were taken for lost, as far as a hard budget counts them.
type DoubtSum struct {
	Calls   int64
	Cost    assay.Cost
	Creates int64
	Lost    assay.Money
}

// Doubtful is a live request that may be billed without its answer being kept: once for each of its Times.
type Doubtful struct {
	Segment int64
	Ord     int64
	Key     assay.Key
	Item    string
	Lane    string
	At      time.Time
	Times   int64
	Lost    bool // its reply was lost in flight; otherwise its worker stopped while it was in flight
}

// Import is answers made elsewhere, of one lane in one turn of one stage. They have no job; what they cost was not spent
// by the run.
type Import struct {
	Run int64
	GroupKey
	Provider, Model string
	File            string // where they came from
	Attempts        []Attempt
	Outcomes        []Settlement // one for each attempt, in the same order; all of them answers
}

// textLimit is how much answer text a row keeps; a longer one is read from its artifact.
const textLimit = 64 << 10

// Settlement is the outcome of one attempt, ready to be written.
type Settlement struct {
	Ord      int64
	Key      assay.Key
	Outcome  assay.Outcome
	Cost     *assay.Money // nil: not known
	Artifact int64        // where the raw line lies; 0: nowhere
	Offset   int64
	Length   int64
	Sum      uint32       // checksum of the raw line; 0: not kept
	Again    *Again       // the request is to be sent again; nil: not by itself
	Reused   int64        // number of the run whose answer this is; 0: our own
	Price    *assay.Money // of a reused answer: what it cost where it was paid for; nil: not known
	Aside    assay.Money  // of a late one: what was set aside for it when it was given up
	Unread   bool         // it is a judge's reply that no verdict can be read from
}

// Long reports whether the text is too long for a row, and is read from the raw line.
func (o *Settlement) Long() bool {
	return len(o.Outcome.Text)+len(o.Outcome.Thoughts) > textLimit && o.Artifact != 0
}

// Again is how a request is to be sent again.
type Again struct {
	Mode  SegmentMode
	After time.Time
	Cause string
	Cap   int64 // not if more attempts of the request than this have ended in the same way
}

// Tally counts the effects of a settled block.
type Tally struct {
	Written int64 // outcomes that are new
	Surplus int64 // of them: second answers
}

// EndOpen ends all attempts of a segment that have no outcome, in the same way.
type EndOpen struct {
	Ending  assay.Ending
	Message string
	Again   *Again // nil: not by itself
}

// Answer is a request and its current answer, else the ending of its latest attempt.
type Answer struct {
	Attempt
	Lane     string // the lane it travelled in
	Segment  int64
	Mode     SegmentMode
	Ended    bool // false: in flight, and Outcome is zero
	Outcome  assay.Outcome
	Over     bool // the text is too long for a row: read it from the artifact
	Cost     *assay.Money
	Price    *assay.Money // what it cost where it was paid for: Cost, of a reused answer that of the run that asked; nil: not known
	Surplus  bool
	Reused   int64 // number of the run it came from; 0: asked by this one
	Artifact int64 // 0: no raw line
	Offset   int64
	Length   int64
	Sum      uint32 // checksum of the raw line; 0: not kept
	Settled  time.Time
}

// Length is how long an answer is, in characters.
type Length struct {
	Key   assay.Key
	Chars int64
}

// Flaw is how an answer ended that was refused or cut short.
type Flaw struct {
	Key    assay.Key
	Ending assay.Ending
}

// ReuseFrom selects the runs whose answers may be reused.
type ReuseFrom struct {
	Run   int64   // not from this run itself
	Study string  // from runs of this study; or
	From  []int64 // from these runs
	Whole bool    // also cut answers, and those that were themselves reused
	Since time.Time
}

// Question is a request that an answer of another run may serve.
type Question struct {
	Key    assay.Key
	At     assay.Coordinates
	Digest []byte
}

// Stock is how many requests of a lane have a current answer in some runs.
type Stock struct {
	Stage, Lane, Provider, Model, Params string
	Requests                             int64
}

// CurrentAnswer is the current answer of a run to a request, without its text.
type CurrentAnswer struct {
	Run      int64
	Key      assay.Key
	At       assay.Coordinates
	Digest   []byte // of what was asked
	Lane     string // that answered
	Provider string
	Model    string
	Params   string // of the lane, as JSON
	Reused   int64  // the run that it was taken over from; 0: it was asked here
}
