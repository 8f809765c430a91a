package store

import (
	"fmt"
	"time"

	"assay/internal/assay"
)

// Sighting is the state of a job as its provider reports it.
type Sighting struct {
	State         string
	Word          string // the provider's own
	Counts        string // JSON
	Parts         string // JSON
	CollectBefore time.Time
	Due           time.Time
}

// Artifact is a file of raw bytes that belongs to a segment.
type Artifact struct {
	No     int64
	Name   string
	Kind   ArtifactKind
	Part   string // the provider's part it holds
	Size   int64
	SHA256 string

	Replaced bool // in ArtifactsOf: it was fetched again, and nothing in the ledger is in it
}

// ArtifactKind is the kind of an artifact's content.
type ArtifactKind string

// The kinds of artifacts. Those of a job have the names of its parts.
const (
	ArtifactResults ArtifactKind = "results"
	ArtifactLive    ArtifactKind = "live" // the log of live calls
)

// Later is when a step that did not work is tried again, and why it did not.
type Later struct {
	Reason string
	Due    time.Time
	Asked  bool // the provider asked to wait until then
}

// Back is a step back: surely no job was made, or the job failed without doing anything.
type Back struct {
	To     State // Staged: prepare again; Uploaded: create again
	Reason string
	Due    time.Time
	Asked  bool // the provider asked to wait until then
	Lost   bool // the create call was taken for lost: what it names is fenced off, and its job is looked for once more
	Capped bool // what was reserved for a lost call is perhaps spent until its job was looked for
}

// Audit is the result of looking once more for the jobs of lost create calls.
type Audit struct {
	Due     time.Time
	Unclear bool // whether there are any cannot be learned: what they may cost stays perhaps spent
}

// CancelCause is why a job was asked to stop.
type CancelCause string

// The causes of a cancel.
const (
	ByUser     CancelCause = "user"
	ByDeadline CancelCause = "deadline"
	ByRule     CancelCause = "rule" // no answer of the lane is good
)

// Job is a job that a provider made for one of our segments.
type Job struct {
	Provider string
	ID       string
	Segment  int64
	Account  string // whose key
	Role     JobRole
	Created  time.Time
}

// JobRole is the role of a job for its segment.
type JobRole string

// The roles of jobs.
const (
	JobCurrent JobRole = "current"
	JobFailed  JobRole = "failed"
	JobDouble  JobRole = "double"
	JobSurplus JobRole = "surplus" // a double whose end is reported
)

// Double is a job that is one too many for its segment.
type Double struct {
	Job  string
	What string       // what it has done, and what becomes of it
	Over bool         // it is over: nothing more can be known of it
	Done int64        // requests that it has done, as far as is known: they are billed
	Cost *assay.Money // what these cost; nil: as much as those of its segment do on average
}

// TakenJob is a job that another copy of the ledger made, and what became of its answers.
type TakenJob struct {
	Provider, Job   string
	Answers, Joined int64       // its answers; of these, those to questions that had none
	Twice           assay.Money // what the others cost
	Segment         int64       // where that is booked; 0: at the first of the run that the provider answered
}

// Joined counts the answers of a run that were taken over.
type Joined struct {
	Answers int64
	Cost    assay.Money
	Segment int64 // the first that has any; 0: none has
}

// TierEvent is the kind of events about service tiers that the price list does not have, or that cost more than those asked for.
const TierEvent = "tier"

// ServedEvent is the kind of events about answers of another model than was asked.
const ServedEvent = "served"

// DoubleEvent is the kind of events about jobs that are one too many.
const DoubleEvent = "double"

// TunedEvent is the kind of events about limits, or a budget, that a person changed.
const TunedEvent = "tuned"

// BudgetEvent is the kind of events about what the budget does not cover.
const BudgetEvent = "budget"

// Stray is a result line that belongs to no open attempt of its segment.
type Stray struct {
	Artifact, Offset, Length int64
	Kind                     StrayKind
	CustomID                 string
	Ord                      int64 // with StrayDuplicate: the attempt that has an outcome
}

// StrayKind is the kind of a line that belongs to no request.
type StrayKind string

// The kinds of strays.
const (
	StrayUnknown   StrayKind = "unknown"   // its id is not one of ours
	StrayDuplicate StrayKind = "duplicate" // its attempt has an outcome
	StrayForeign   StrayKind = "foreign"   // its id is ours, of another segment
)

// StateError reports a segment that is not in the state where a move begins.
type StateError struct {
	Segment int64
	Have    State
}

// Error names the segment and its state.
func (e *StateError) Error() string { return fmt.Sprintf("segment %d is %s", e.Segment, e.Have) }

// BytesPerToken is how many bytes of prompts the estimated tokens of a segment count as one.
const BytesPerToken = 4

// Bytes describes the prompts of a segment, and the file that one of a batch sends.
type Bytes struct {
	Name   string // of the artifact; empty: there is none
	Size   int64
	SHA256 string
	Tokens int64 // of the prompts, as estimated
}

// Intent is recorded just before the create call.
type Intent struct {
	Account string // fingerprint of the key
	Stamped bool   // whether the job will carry our stamp
	Cursor  string // the provider's newest job; empty: there was none
	Reserve assay.Money
	Due     time.Time // when to look for the job if there is no reply
}

// Launch is an accepted create call, or an adopted job.
type Launch struct {
	Job  string
	At   time.Time
	Due  time.Time
	Note string
}

// State is the state of a segment. The picture is in the package comment.
type State string

// The states of a segment.
const (
	Planned   State = "planned"   // its attempts are being written; scratch until it is staged
	Staged    State = "staged"    // its bytes are made
	Uploaded  State = "uploaded"  // its bytes are at the provider; nothing is paid
	Intended  State = "intended"  // the create call is about to go, or went, and its result is not known
	Launched  State = "launched"  // the job is known; live: its requests are being asked
	Ended     State = "ended"     // the job has come to an end
	Fetched   State = "fetched"   // the results are here
	Settled   State = "settled"   // every attempt has an outcome
	Failed    State = "failed"    // the job as a whole was refused or failed
	Cancelled State = "cancelled" // never launched
	Held      State = "held"      // a person has to decide
)

// Terminal reports whether a segment will not move any more.
func (s State) Terminal() bool { return s == Settled || s == Failed || s == Cancelled }

// SegmentMode is how a segment travels.
type SegmentMode string

// The modes of a segment.
const (
	Batch SegmentMode = "batch"
	Live  SegmentMode = "live"
	Reuse SegmentMode = "reuse" // answers of another run, at no cost

	// Imported segments hold answers made elsewhere. They are settled from the start.
	Imported SegmentMode = "import"
)

// Purpose is why a segment exists.
type Purpose string

// The purposes of a segment.
const (
	ForWave   Purpose = "wave"
	ForCanary Purpose = "canary"
	ForAgain  Purpose = "again"
)

// NewSegment describes a segment to plan.
type NewSegment struct {
	Run int64
	GroupKey
	Mode            SegmentMode
	Purpose         Purpose
	Provider, Model string
	Nonce           assay.Nonce
	Recuts          int // how often its requests were cut out of a failed job
}

// Segment is requests of one group that travel together.
type Segment struct {
	NewSegment
	No            int64
	State         State
	MovedFrom     State
	Moved         time.Time
	Created       time.Time
	Due           time.Time
	Wait          time.Time // until when its provider asked to wait; zero: it did not
	Reason        Reason
	Requests      int64
	MaxTry        int64
	Expected      assay.Money
	Unpriced      int64 // requests without an expected price
	Tokens        int64 // of its prompts, as estimated
	Input         string
	InputBytes    int64
	InputSHA256   string
	Handle        string
	Account       string // whose key: a fingerprint
	Stamped       bool
	Cursor        string
	Intended      time.Time
	Intends       int64
	LostCreates   int64       // create calls that were taken for lost: their jobs may show yet
	Audited       int64       // of these, those whose jobs were looked for once more
	LostMost      assay.Money // what they cost at most, as far as it counts as perhaps spent
	Aside         assay.Money // the most that its answers of unknown cost and its results that were never handed out cost
	Fence         string      // the handle of what a lost call names: to be deleted before anything is sent again
	LostHandles   []string    // the handles of what earlier lost calls named
	Absents       int64
	Absent        time.Time
	Reserved      assay.Money
	Job           string
	Launched      time.Time
	JobState      string
	JobWord       string
	JobCounts     string // JSON
	Parts         string // JSON
	CollectBefore time.Time
	CancelCause   CancelCause
	CancelAsked   time.Time
	EndedAt       time.Time
	FetchedAt     time.Time
	Refetches     int64
	SettledAt     time.Time
	Failures      int64
	HeldFrom      State
	Removed       time.Time // when what the job left at its provider was deleted there
	Lease         Lease
	Endings       map[assay.Ending]int64
	Late, Surplus int64
	Cost          assay.Cost
	CacheHits     int64
	InputTokens   int64 // sums of what replies reported
	CachedTokens  int64
	WrittenTokens int64 // to a cache
	OutputTokens  int64
	Reasoning     int64
	UsageUnknown  int64       // replies that did not report their tokens
	Taken         Taken       // of answers of other runs
	Doubled       assay.Money // of Cost: what jobs that were one too many have cost
}

// Taken sums what answers of other runs took and cost there. The sums of a segment have none of it.
type Taken struct {
	Cost                  assay.Money
	Unpriced              int64 // those whose cost is not known
	Input, Cached, Output int64 // tokens
	Mute                  int64 // those whose tokens are not known
}

// Spent returns what the segment has cost its run. Imported answers were paid for elsewhere.
func (g Segment) Spent() assay.Cost {
	if g.Mode == Imported {
		return assay.Cost{}
	}
	return g.Cost
}

// Price returns what its answers cost where they were paid for: here, in another run, or elsewhere. What was paid twice counts once.
func (g Segment) Price() assay.Cost {
	return g.Cost.Add(assay.Cost{Sum: g.Taken.Cost - g.Doubled, Priced: -g.Taken.Unpriced, Unknown: g.Taken.Unpriced})
}

// Done returns how many attempts have an outcome.
func (g Segment) Done() int64 {
	return ended(g.Endings)
}

func ended(endings map[assay.Ending]int64) int64 {
	var n int64
	for _, m := range endings {
		n += m
	}
	return n
}

// Open returns how many attempts have none yet.
func (g Segment) Open() int64 { return g.Requests - g.Done() }

// OpenSegments is how many segments of a run are staged and not at their end.
type OpenSegments struct {
	Held    int // wait for a person
	Asleep  int // wait for a lane, a canary or money
	Moving  int // move by themselves
	Blocked int // of the last two: by the budget
}

// Work is something that is due.
type Work struct {
	Run     int64
	Segment int64       // 0: the run itself is to be extended
	Mode    SegmentMode // of the segment
	Due     time.Time   // zero: its holder's lease ended while it worked
}

// Span is a segment as a stretch of time: when it was made, sent, ended and settled, and what it cost.
type Span struct {
	No          int64
	Stage, Lane string
	Mode        SegmentMode
	State       State
	Requests    int64
	Created     time.Time
	Launched    time.Time // zero: not sent
	Ended       time.Time // zero: not ended; live: when it settled
	Settled     time.Time // zero: not settled
	Cost        assay.Cost
}

// Cause is requests of a lane that ended without an answer for the same reason.
type Cause struct {
	Stage, Lane string
	Ending      assay.Ending
	Class       assay.FaultClass // empty: the provider gave no reason
	Status      int
	Code        string
	Message     string // one of their messages
	Count       int64
	Item        string // one of their items
}
