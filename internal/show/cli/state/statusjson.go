package state

import (
	"context"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/workers"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type statusDocument struct {
	Run       string     `json:"run"`
	Study     string     `json:"study"`
	State     runs.State `json:"state"`
	Sentence  string     `json:"sentence"`
	Next      []string   `json:"next,omitempty"` // commands to type in this state
	Rehearsal bool       `json:"rehearsal,omitempty"`
	Note      string     `json:"note"`
	By        string     `json:"by"`
	Begun     time.Time  `json:"begun"`
	Closed    *time.Time `json:"closed"`
	runs.Progress
	Spent     *float64       `json:"spent_usd"`          // null: some of it has no known price
	AtLeast   float64        `json:"spent_at_least_usd"` // what has one
	Unpriced  int64          `json:"unpriced,omitempty"`
	AtMost    float64        `json:"unpriced_at_most_usd"` // what answers of unknown cost and results never handed out cost at most
	Reserved  float64        `json:"reserved_usd"`
	Budget    *float64       `json:"budget_usd"`               // null: there is none
	Doubts    int64          `json:"doubts,omitempty"`         // live calls that may be billed without an answer
	Perhaps   float64        `json:"perhaps_spent_usd"`        // what they cost at most, as far as prices are known; and lost create calls
	Before    *time.Time     `json:"collect_before,omitempty"` // when a provider deletes results that are not here yet
	DoneAbout *time.Time     `json:"done_about"`               // at the pace so far; null: not known
	Since     *time.Time     `json:"no_progress_since"`        // when a request last left or came back, where that is minutes ago
	Drivers   []string       `json:"drivers,omitempty"`        // processes at work on it
	Lanes     []laneDocument `json:"lanes"`

	// Tuned are the limits that were set while the run went on.
	Tuned *store.Tuning `json:"tuned,omitempty"`

	// Segments are the groups of requests that travel together, each with its job; only with --segments.
	Segments []segmentDocument `json:"segments,omitempty"`

	// Doubles are the jobs that are one too many, with what they did.
	Doubles []string `json:"doubles,omitempty"`

	// Reconcile is why nothing is sent before the jobs at the providers were compared with the ledger.
	Reconcile string `json:"reconcile,omitempty"`
	// Owed are the jobs that are to be looked for once more, and OwedFrom is when.
	Owed     int64      `json:"owed,omitempty"`
	OwedFrom *time.Time `json:"owed_from,omitempty"`

	// Still are the segments under way whose steps do not work.
	Still []stillDocument `json:"still,omitempty"`

	// Stranded are the segments of a shared run for which no living worker has the key.
	Stranded []strandedDocument `json:"stranded,omitempty"`

	// Unjudged are the stages of a shared run whose judge is a program that no living worker may run.
	Unjudged []string `json:"unjudged,omitempty"`

	// Rounds are the stages that buy their pairs in rounds, from their first look on.
	Rounds []roundsDocument `json:"rounds,omitempty"`
}

type stillDocument struct {
	Segment int64     `json:"segment"`
	Lane    string    `json:"lane"`
	Since   time.Time `json:"since"`
	Reason  string    `json:"reason"`
}

type strandedDocument struct {
	Segment  int64  `json:"segment"`
	Lane     string `json:"lane"`
	Provider string `json:"provider"`
	Account  string `json:"account,omitempty"` // the fingerprint of the one key that would do
}

// roundsDocument is how far a stage is that buys its pairs in rounds.
type roundsDocument struct {
	Stage   string `json:"stage"`
	Looks   int    `json:"looks"`
	Planned int    `json:"planned"`
	Bought  int    `json:"comparisons"`    // until the last look
	Stop    string `json:"stop,omitempty"` // why there is no further round
	Held    string `json:"held,omitempty"` // why the round that follows does not come to its end by itself
	Lane    string `json:"lane,omitempty"` // that is stopped or paused
}

type laneDocument struct {
	Stage   string           `json:"stage"`
	Lane    string           `json:"lane"`
	Model   string           `json:"model"`
	State   string           `json:"state"`
	Reason  string           `json:"reason,omitempty"`
	Planned int64            `json:"planned"`
	Spared  int64            `json:"spared"`
	Open    int64            `json:"open"`
	Endings map[string]int64 `json:"endings"`
	Hits    int64            `json:"cache_hits"`
	// the share of requests that read from the provider's cache; null: it is not used
	Rate     *float64 `json:"cache_rate"`
	Low      bool     `json:"cache_low,omitempty"` // it was paid for, and fewer than half read from it
	Reused   int64    `json:"reused"`
	Imported int64    `json:"imported"`
	Surplus  int64    `json:"paid_twice"`
	runs.Progress
}

// segmentDocument is a segment and its job. Times that have not come are null.
type segmentDocument struct {
	Segment  int64            `json:"segment"`
	Stage    string           `json:"stage"`
	Lane     string           `json:"lane"`
	Turn     int              `json:"turn"`
	Mode     string           `json:"mode"`
	Model    string           `json:"model"`
	State    string           `json:"state"`
	Reason   string           `json:"reason,omitempty"`
	Requests int64            `json:"requests"`
	Done     int64            `json:"done"`
	Endings  map[string]int64 `json:"endings"`
	Reported *int64           `json:"provider_done"` // what the provider counts as done, results not here yet; null: not known
	Job      string           `json:"job,omitempty"`
	Word     string           `json:"job_state,omitempty"` // the provider's own word
	Created  time.Time        `json:"created"`
	Launched *time.Time       `json:"launched"`
	Ended    *time.Time       `json:"ended"`
	Settled  *time.Time       `json:"settled"`
	Before   *time.Time       `json:"collect_before"`
	AtLeast  float64          `json:"spent_at_least_usd"`
	Unpriced int64            `json:"unpriced,omitempty"`
}

func segmentDocuments(all []store.Segment) []segmentDocument {
	out := []segmentDocument{}
	for _, g := range all {
		var reported *int64
		if n, known := runs.Reported(g); known {
			reported = &n
		}
		out = append(out, segmentDocument{
			Reported: reported,
			Segment:  g.No, Stage: g.Stage, Lane: g.Lane, Turn: g.Turn, Mode: string(g.Mode), Model: g.Provider + "/" + g.Model,
			State: string(g.State), Reason: g.Reason.String(), Requests: g.Requests, Done: g.Done(), Endings: endingsOf(g.Endings),
			Job: g.Job, Word: g.JobWord, Created: g.Created, Launched: assay.KnownTime(g.Launched), Ended: assay.KnownTime(g.EndedAt),
			Settled: assay.KnownTime(g.SettledAt), Before: assay.KnownTime(g.CollectBefore), AtLeast: g.Cost.Sum.Float(),
			Unpriced: g.Cost.Unknown,
		})
	}
	return out
}

func endingsOf(all map[assay.Ending]int64) map[string]int64 {
	out := map[string]int64{}
	for e, n := range all {
		out[string(e)] = n
	}
	return out
}

func statusJSON(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, segments bool) error {
	is, err := runs.Of(ctx, h.Results(), run)
	if err != nil {
		return err
	}
	far, cost := is.Far, is.Needs.Cost
	doc := statusDocument{
		Run: run.ID, Study: run.Study, State: is.State, Sentence: is.Sentence(), Next: is.Commands(h.Named(run)), Rehearsal: h.Rehearsal,
		Note: run.Note, By: run.By, Begun: run.Created, Closed: assay.KnownTime(run.Closed),
		Spent: cost.Dollars(), AtLeast: cost.Sum.Float(), Unpriced: cost.Unknown, Reserved: run.Reserved.Float(),
		Lanes: []laneDocument{}, Progress: far.Progress,
	}
	doubts, err := h.Ledger.Reader.DoubtSum(ctx, run.No)
	if err != nil {
		return err
	}
	if run.Tuned != "" {
		tuned, err := run.Limits()
		if err != nil {
			return err
		}
		doc.Tuned = &tuned
	}
	doc.Doubts, doc.Perhaps = doubts.Calls, (doubts.Cost.Sum + doubts.Lost).Float()
	doc.AtMost = (run.Perhaps - doubts.Cost.Sum - doubts.Lost).Float()
	if err := doc.waits(ctx, w, h, is); err != nil {
		return err
	}
	parts, err := h.Ledger.Reader.Segments(ctx, run.No)
	if err != nil {
		return err
	}
	caches := runs.Caches(parts)
	for _, l := range far.Lanes {
		rate, low := cacheOf(caches, l.Lane)
		doc.Lanes = append(doc.Lanes, laneDocument{
			Rate: rate, Low: low,
			Stage: l.Stage, Lane: l.Name, Model: l.ModelID(), State: LaneState(run, l.Lane), Reason: l.Reason, Planned: l.Planned,
			Spared: l.Spared, Open: l.Lane.Open, Progress: l.Progress,
			Endings: endingsOf(l.Endings), Hits: l.CacheHits, Reused: l.Reused, Imported: l.Imported, Surplus: l.Surplus,
		})
	}
	stranded, err := workers.Stranded(ctx, h.Home, run)
	if err != nil {
		return err
	}
	for _, g := range stranded {
		doc.Stranded = append(doc.Stranded, strandedDocument{Segment: g.Segment, Lane: g.Lane, Provider: g.Provider, Account: g.Account})
	}
	if doc.Unjudged, err = workers.WaitingForProgram(ctx, h.Home, run); err != nil {
		return err
	}
	rounds, err := runs.RoundStates(ctx, h.Results(), run)
	if err != nil {
		return err
	}
	for _, l := range rounds {
		doc.Rounds = append(doc.Rounds, roundsDocument{Stage: l.Stage, Looks: l.Number, Planned: l.Planned, Bought: l.Bought,
			Stop: string(l.Stop), Held: string(l.Held), Lane: l.Lane})
	}
	if segments {
		doc.Segments = segmentDocuments(parts)
	}
	return term.WriteJSON(w.Stdout, doc)
}

// cacheOf returns what share of a lane's requests read from the provider's cache, and whether it was paid for and hardly read.
func cacheOf(all []runs.Cache, l store.Lane) (rate *float64, low bool) {
	for _, c := range all {
		if c.Stage == l.Stage && c.Lane == l.Name {
			return new(c.Rate()), c.Low()
		}
	}
	return nil, false
}

// waits adds what an open run waits for, and who drives it.
func (d *statusDocument) waits(ctx context.Context, w *shell.World, h *shell.Home, is runs.Standing) error {
	run, p := is.Run, is.Far
	doubles, err := h.Ledger.Reader.EventsOf(ctx, run.No, store.DoubleEvent)
	if err != nil {
		return err
	}
	for _, e := range doubles {
		d.Doubles = append(d.Doubles, e.Text)
	}
	d.Reconcile, d.Owed, d.OwedFrom = run.Reconcile, is.Needs.Owed, assay.KnownTime(is.Needs.OwedFrom)
	if run.Budget != nil {
		d.Budget = new(run.Budget.Float())
	}
	if run.State == store.RunClosed {
		return nil
	}
	if left, known := timeLeft(w, is); known {
		d.DoneAbout = new(w.Now().Add(left).UTC().Truncate(time.Second))
	}
	d.Before, d.Since = assay.KnownTime(is.Needs.CollectBefore), p.Still(w.Now())
	troubles, err := h.Ledger.Pages.Troubles(ctx, run.No, 1000)
	if err != nil {
		return err
	}
	for _, t := range troubles {
		if !t.Still.IsZero() {
			d.Still = append(d.Still, stillDocument{Segment: t.Segment, Lane: t.Lane, Since: t.Still, Reason: t.Reason.String()})
		}
	}
	all, err := h.Ledger.Leases.Drivers(ctx, run.No)
	for _, p := range all {
		d.Drivers = append(d.Drivers, p.Holder)
	}
	return err
}
