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

// Headline is a short form of a run's findings, as last computed.
type Headline struct {
	Version string // of the run when it was computed: Version spells it
	Text    string
	Lead    Lead
}

// Lead is who is first in a run, and what it reached. What is not known is empty or nil.
type Lead struct {
	Leader string   `json:"leader"`
	Score  string   `json:"leader_score"`    // as it is shown
	Range  string   `json:"leader_interval"` // of its score
	Value  *float64 `json:"leader_value"`    // to sort by: more is better
}

// OrderKind is the kind of an order to the holder of a run.
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

// RunState is the state of a run.
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

// NewRun describes a run to begin.
type NewRun struct {
	ID        string // opaque, unique in the world
	Study     string
	Folder    string // where the study file lies
	Digest    string // of the study: shows whether it was edited since
	Settings  string // JSON: the settings of the command line
	Note, By  string
	Rehearsal bool
	Budget    *assay.Money // nil: none
}

// Run is one execution of one study.
type Run struct {
	NewRun
	No     int64
	Tuned  string // limits that were set while it went on, as JSON: Limits reads it
	State  RunState
	Result Result

	// Reconcile is why nothing of it is sent before its providers' lists were compared with the ledger; empty: nothing is owed.
	Reconcile string

	Reserved assay.Money
	Spent    assay.Money // of settled segments
	Perhaps  assay.Money // the most that calls without an answer and answers of unknown cost may cost: the budget counts it
	Unpriced int64       // settled attempts without a known price
	Created  time.Time
	Due      time.Time // when to extend it next; zero: when a segment settles
	Closed   time.Time
	Idle     time.Duration // how long, in all, no process drove it while no job was in flight
	Unseen   time.Duration // the longest time in which no process drove it while one was
	Driven   time.Time     // since when it has been driven again after the last such time; zero: there was none
	Lease    Lease         // zero: no process holds it
}

// Claim is the claim of one of several processes that want to begin the same run: the first wins.
type Claim struct {
	After  int64 // the newest run of the study in its folder that was seen; 0: none
	Holder string
	TTL    time.Duration
}

// Abandoned reports whether a run in preparation was given up: it can never be opened.
func (r Run) Abandoned() bool {
	return r.State == RunPreparing && r.Lease.Holder == "" && r.Lease.Epoch > 0
}

// Overdrawn reports whether the budget covers less than what is spent, perhaps spent and reserved.
func (r Run) Overdrawn() bool { return r.Budget != nil && r.Spent+r.Reserved+r.Perhaps > *r.Budget }

// Spending is the cost of a lane in a stage so far, with those requests of open segments that came back.
type Spending struct {
	Stage, Lane string
	Cost        assay.Cost
}

// DayBill is the cost of one model's answers on one day.
type DayBill struct {
	Day           string // in UTC, such as 2026-11-15
	Model         string // as the replies named it
	Cost          assay.Cost
	Input, Output int64 // tokens, of the replies that counted them
	Mute          int64 // replies that did not
}

// Paid is the cost of single requests of a lane.
type Paid struct {
	N                int64 // requests with a price
	Sum, Least, Most assay.Money
}

// Took holds what the answers of a lane in one turn of a stage of a run took, as far as they came back and reported it.
type Took struct {
	Run                     int64
	Study, Stage, Lane      string
	Provider, Model, Params string
	Turn                    int
	Judged                  bool  // they are a judge's
	Answers                 int64 // that reported their tokens
	Input, Output           int64 // tokens of these
	Reasoning               int64 // of the output
	Bytes, Counted          int64 // bytes of prompts, and the input tokens that they were counted as; 0: not known
}

// Tuning holds the limits on live requests that a person sets while a run goes on. They override those of the study.
type Tuning struct {
	Every     Limits            `json:"every,omitzero"`      // of every lane that is not named
	Lanes     map[string]Limits `json:"lanes,omitempty"`     // by name
	Providers map[string]Limits `json:"providers,omitempty"` // of all lanes of a provider together
}

// Limits are caps on live requests. Zero: as in the study.
type Limits struct {
	Concurrency int     `json:"concurrency,omitempty"` // requests in flight
	Rate        float64 `json:"rate,omitempty"`        // requests a second
}

// Over returns the limits, with those of another where they are zero.
func (l Limits) Over(other Limits) Limits {
	if l.Concurrency == 0 {
		l.Concurrency = other.Concurrency
	}
	if l.Rate == 0 {
		l.Rate = other.Rate
	}
	return l
}

// Lane returns the limits of a lane.
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
	Budget  *assay.Money // nil: unchanged
	Pause   []string     // lanes that send nothing more until they are unpaused, in all stages
	Unpause []string
	What    string // changed, in words
}
