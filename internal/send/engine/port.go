package engine

import (
	"cmp"
	"context"
	"io"
	"iter"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/ratelimit"
	"assay/internal/study/catalog"
	"assay/internal/study/media"
)

// Planner derives what a run has to send, from the snapshot of its study and from what is answered. It decides nothing
// about time, money or providers.
type Planner interface {
	// Policy is how the run is to be driven.
	Policy(ctx context.Context, run store.Run) (Policy, error)

	// Route is how a lane's requests of a stage travel in a mode.
	Route(ctx context.Context, run store.Run, stage, lane string, mode store.SegmentMode) (Route, error)

	// Absorb reads the newest answers and writes the verdicts they make possible. It may be called again at any time.
	Absorb(ctx context.Context, run store.Run) error

	// Groups lists what can be asked, given what is answered: one lane in one turn of one stage each, earlier waves
	// first. Groups that the ledger knows to be complete may be left out.
	Groups(ctx context.Context, run store.Run) ([]Group, error)

	// Requests walks over those requests of a group that all they need is answered for, in the order of the items, the
	// same for all lanes. What was sent before is left out before anything is made of it; nil: nothing was.
	Requests(ctx context.Context, run store.Run, g Group, sent Sent) iter.Seq2[Planned, error]

	// Redo counts, by stage and lane, the requests that one more draw of an item adds to the run. What the run never asks
	// adds none.
	Redo(ctx context.Context, run store.Run, r store.Redo) ([]store.Share, error)
	// Retries counts, by stage and lane, the judges' requests that a retry of verdicts in these states adds to the run.
	Retries(ctx context.Context, run store.Run, what []string) ([]store.Share, error)

	// OpenShown opens a file that requests of the run show, with the bytes of its hash; of one that is lost for good the error is
	// *assay.LostFileError.
	OpenShown(ctx context.Context, run store.Run, sum assay.Sum) (io.ReadCloser, error)

	// Build makes requests again from their coordinates, in the same order.
	Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]Planned, error)
}

// Rereader is a planner that reads answers of earlier runs again, those that are too long for a row of the ledger.
type Rereader interface {
	// Whole is an answer with all of its text. Bytes that are gone for good are fs.ErrNotExist or artifacts.ErrDamaged; any
	// other error may pass.
	Whole(ctx context.Context, run store.Run, a store.Answer) (store.Answer, error)
}

// Sent finds which requests of a group were sent before.
type Sent func(ctx context.Context, refs []assay.Ref) (map[assay.Key]int64, error)

// Policy is how a run is to be driven.
type Policy struct {
	Deadline    time.Duration // per job: after this it is cancelled; 0: never
	Then        Then          // what becomes of the rest
	LiveBelow   int           // a later wave of fewer requests than this goes live where the lane can
	VerifyFirst bool          // show a canary's answer and wait for a yes
	NoCanary    bool          // what goes first does so for the provider's cache alone: its answer is like any other
	ReserveHigh bool          // reserve the high estimate: a hard cap
	Reuse       *store.ReuseFrom
	Cleanup     Cleanup
	// StopAbove stops a lane when more than this share of its requests ends without an answer; 0: never.
	StopAbove map[string]float64
}

// Cleanup decides whether what a job left at its provider is deleted there as soon as all of it is here.
type Cleanup string

// The ways to clean up.
const (
	CleanupUsual  Cleanup = "" // only where the provider's room for files is small
	CleanupAlways Cleanup = "always"
	CleanupNever  Cleanup = "never"
)

// Then is the next step for requests that a job did not answer by its deadline.
type Then string

// The ways on after a deadline.
const (
	ThenStop Then = ""
	ThenLive Then = "live"
)

// Route is how a lane's requests travel.
type Route struct {
	Lane  assay.Lane
	Wire  assay.Wire
	Price catalog.Price
	Live  Live

	Shows   bool          // its requests may show files
	Uploads media.Uploads // those that are named by an id at the provider

	Size     int // most requests a segment; 0: the provider's limit
	Segments int // how many segments a wave is divided into; 0: as few as possible

	// BaseURL is where the lane's requests went when the run began, for a process that has no key and may not know.
	BaseURL string

	// Verdict reads a judge's reply; nil: the lane judges nothing in the stage.
	Verdict func(assay.Outcome) assay.Verdict
}

// Unread reports whether an outcome is a judge's reply that no verdict can be read from.
func (r *Route) Unread(o assay.Outcome) bool {
	return r.Verdict != nil && o.Ending.Stands() && r.Verdict(o).State == assay.VerdictMalformed
}

// Tier returns the service tier that live requests ask for; empty: the usual one.
func (r *Route) Tier() string { return cmp.Or(r.Wire.Tier, r.Lane.Params.ServiceTier) }

// Bill returns what an outcome cost; nil: unknown. What no model worked on costs nothing.
func (r *Route) Bill(mode store.SegmentMode, o assay.Outcome) *assay.Money {
	zero := assay.Money(0)
	billed := o.Ending.Stands() || o.Ending == assay.Empty || o.Usage.Known
	if !billed {
		return &zero
	}
	how := catalog.Billing{Mode: assay.ModeBatch, Smallest: r.Lane.Params.ServerTools.CodeExecution}
	if mode == store.Live {
		how.Mode, how.Tier = assay.ModeLive, o.Tier
	}
	c := r.Price.Bill(o.Usage, how)
	if !c.Known() {
		return nil
	}
	return &c.Sum
}

// Live are the study's caps on live requests.
type Live struct {
	Lane    ratelimit.Caps // of this lane alone
	Account ratelimit.Caps // of all lanes that use the account
	Retries *int           // tries after the first; nil: as many as usual
}

// Group is the requests of one lane in one turn of one stage.
type Group struct {
	store.GroupKey     // its lane is the one that answers: a judge's, where a judge is asked
	Wave           int // from 1
	Mode           store.SegmentMode
	Final          bool // nothing can join any more
	Whole          bool // nothing more joins before what is ready was answered: it waits for no company
}

// Planned is a request with what it may cost.
type Planned struct {
	At       assay.Coordinates
	Request  *assay.Request
	Expected assay.Cost
	High     assay.Cost
	Guessed  string // the kind of lane, of which no answer is known: lanes of one kind cost about the same; empty: some are
}
