package store

import (
	"encoding/json"
	"fmt"
	"time"

	"assay/internal/assay"
)

// Event is a line of a run's history.
type Event struct {
	No      int64
	Run     int64
	Segment int64 // 0: the run as a whole
	At      time.Time
	Kind    string
	Text    string
}

// Headline is what a run found, in a few words, as it was last computed.
type Headline struct {
	Version string // of the run when it was computed: Version spells it
	Text    string
}

// OrderKind is what a person or process wants of the holder of a run.
type OrderKind string

// The orders.
const (
	OrderCancel  OrderKind = "cancel"  // stop jobs, keep what the provider hands out, send nothing more
	OrderRetry   OrderKind = "retry"   // send again what ended without an answer
	OrderResolve OrderKind = "resolve" // decide about a held segment
	OrderCollect OrderKind = "collect" // fetch what is ready now
	OrderProceed OrderKind = "proceed" // a yes to the canaries shown
	OrderRedo    OrderKind = "redo"    // ask again what has an answer
)

// Order is a wish that the holder of a run obeys.
type Order struct {
	No      int64
	Run     int64
	Segment int64 // 0: the whole run
	Kind    OrderKind
	Args    string // JSON, by kind
	By      string
	Given   time.Time
	Obeyed  time.Time
	Answer  string
}

// Redo is a person's word to ask again, as one more draw, what a lane was asked about an item in a stage.
type Redo struct {
	Run    int64
	Stage  string
	Lane   string // that answers: a judge's, where a judge is asked again
	Item   string
	Nth    int    // the further draw it makes, from 1
	Branch string // only this branch; empty: all
	Draw   int    // only this draw; 0: all
}

// Share is how many requests belong to a lane in a stage.
type Share struct {
	Stage, Lane string
	Requests    int64
}

// RunState is where a run stands.
type RunState string

// The states of a run.
const (
	RunPreparing RunState = "preparing" // its snapshot is being written
	RunOpen      RunState = "open"
	RunClosed    RunState = "closed"
)

// Result is how a closed run ended.
type Result string

// The results of a run.
const (
	ResultDone       Result = "done"       // every planned request has an answer
	ResultIncomplete Result = "incomplete" // some have none, and nothing more will be sent
	ResultCancelled  Result = "cancelled"
)

// NewRun is what a run begins with.
type NewRun struct {
	ID        string // opaque, unique in the world
	Study     string
	Folder    string // where the study file lies
	Digest    string // of the study: shows whether it was edited since
	Settings  string // JSON: what the command line said
	Note, By  string
	Rehearsal bool
	Budget    *assay.Money // nil: none
}

// Run is one execution of one study.
type Run struct {
	NewRun
	No       int64
	Tuned    string // limits that were set while it went on, as JSON: Limits reads it
	State    RunState
	Result   Result
	Reserved assay.Money
	Spent    assay.Money // of settled segments
	Perhaps  assay.Money // what live calls cost at most that may be billed without an answer: the budget counts them
	Unpriced int64       // settled attempts without a known price
	Created  time.Time
	Due      time.Time // when to extend it next; zero: when a segment settles
	Closed   time.Time
	Idle     time.Duration // how long, in all, no process drove it while no job was in flight
	Unseen   time.Duration // the longest time in which no process drove it while one was
	Driven   time.Time     // since when it has been driven again after the last such time; zero: there was none
	Lease    Lease         // zero: no process holds it
}

// Claim is what one of several processes that want to begin the same run has to win.
type Claim struct {
	After  int64 // the newest run of the study in its folder that was seen; 0: none
	Holder string
	TTL    time.Duration
}

// Abandoned reports whether a run in preparation was given up: it can never be opened.
func (r Run) Abandoned() bool {
	return r.State == RunPreparing && r.Lease.Holder == "" && r.Lease.Epoch > 0
}

// Spending is what a lane has cost in a stage by now, requests in flight included as far as they came back.
type Spending struct {
	Stage, Lane string
	Cost        assay.Cost
}

// Paid is what single requests of a lane have cost.
type Paid struct {
	N                int64 // requests with a price
	Sum, Least, Most assay.Money
}

// Tuning is what a person allows a run to send live, set while it goes on. It stands before what the study says.
type Tuning struct {
	Every     Limits            `json:"every,omitzero"`      // of every lane that is not named
	Lanes     map[string]Limits `json:"lanes,omitempty"`     // by name
	Providers map[string]Limits `json:"providers,omitempty"` // of all lanes of a provider together
}

// Limits are caps on live requests. Zero: as the study says.
type Limits struct {
	Concurrency int     `json:"concurrency,omitempty"` // requests in flight
	Rate        float64 `json:"rate,omitempty"`        // requests a second
}

// Over is the limits, with those of another where they say nothing.
func (l Limits) Over(other Limits) Limits {
	if l.Concurrency == 0 {
		l.Concurrency = other.Concurrency
	}
	if l.Rate == 0 {
		l.Rate = other.Rate
	}
	return l
}

// Lane is what is set for a lane.
func (t Tuning) Lane(name string) Limits { return t.Lanes[name].Over(t.Every) }

// Limits reads what was tuned.
func (r Run) Limits() (Tuning, error) {
	var t Tuning
	if r.Tuned == "" {
		return t, nil
	}
	if err := json.Unmarshal([]byte(r.Tuned), &t); err != nil {
		return t, fmt.Errorf("read the limits of run %s: %w", r.ID, err)
	}
	return t, nil
}

// PausedByUser is the reason of lanes that a person paused.
const PausedByUser = "nothing new is sent until it is unpaused"

// Retuning changes the limits of a run.
type Retuning struct {
	Run     int64
	Was     string // Run.Tuned as it was seen
	Is      Tuning
	Budget  *assay.Money // nil: as it is
	Pause   []string     // lanes that send nothing more until they are unpaused, in all stages
	Unpause []string
	What    string // changed, in words
}
