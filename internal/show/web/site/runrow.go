package site

import (
	"context"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
)

// RunRow is the state of a run.
type RunRow struct {
	ID        string     `json:"run"`
	Study     string     `json:"study"`
	State     runs.State `json:"state"`
	Sentence  string     `json:"sentence"`
	Next      []string   `json:"next"` // commands to type in this state
	Rehearsal bool       `json:"rehearsal"`
	Note      string     `json:"note,omitempty"`
	By        string     `json:"by,omitempty"`
	Created   time.Time  `json:"created"`
	Closed    *time.Time `json:"closed"`
	Planned   int64      `json:"planned"`
	Spared    int64      `json:"spared"` // of those: need no asking
	runs.Progress
	Segments      int64      `json:"segments"`
	Held          int64      `json:"held"`
	Stopped       int64      `json:"stopped"`
	PaidTwice     int64      `json:"paid_twice"`
	Spent         float64    `json:"spent_at_least_usd"`
	Unpriced      int64      `json:"unpriced"`
	Reserved      float64    `json:"reserved_usd"`
	Budget        *float64   `json:"budget_usd"`
	CollectBefore *time.Time `json:"collect_before"`
	Owed          int64      `json:"owed,omitempty"`      // jobs that are to be looked for once more
	OwedFrom      *time.Time `json:"owed_from,omitempty"` // when
	Reconcile     string     `json:"reconcile,omitempty"` // why nothing is sent before the jobs at its providers were compared
	DoneAbout     *time.Time `json:"done_about"`          // at the pace so far; null: not known
	Since         *time.Time `json:"no_progress_since"`   // when a request last left or came back, where that is minutes ago

	Found string `json:"found,omitempty"` // in a list, of a closed run: who leads; empty: that was not computed yet
	store.Lead
	runs.Size

	No       int64 `json:"-"`
	now      time.Time
	Standing runs.Standing `json:"-"`
}

// SpentText returns what was spent, in words.
func (r RunRow) SpentText() string { return r.Standing.Needs.Cost.String() }

// SpentWords returns the label of the amount spent: of a rehearsal, what it would have been.
func (r RunRow) SpentWords() string {
	if r.Rehearsal {
		return r.Standing.Needs.Cost.WouldBe()
	}
	return r.Standing.Needs.Cost.Spent()
}

// soon is how long before a provider deletes results that is worth a line in a list.
const soon = 3 * 24 * time.Hour

// CollectSoon reports whether a provider deletes results soon that are not here yet.
func (r RunRow) CollectSoon() bool {
	return r.CollectBefore != nil && r.CollectBefore.Sub(r.now) < soon
}

// Live reports whether the run may still change.
func (r RunRow) Live() bool { return r.Closed == nil }

// Steps returns what to type in the state of the run.
func (r RunRow) Steps() []runs.Step { return r.Standing.Next(r.ID) }

func (s *Site) RowOf(ctx context.Context, h *Home, run store.Run) (RunRow, error) {
	rows, err := s.RowsOf(ctx, h, []store.Run{run})
	if err != nil {
		return RunRow{}, err
	}
	return rows[0], nil
}

func (s *Site) RowsOf(ctx context.Context, h *Home, of []store.Run) ([]RunRow, error) {
	all, err := runs.Standings(ctx, h.Reader, of...)
	if err != nil {
		return nil, err
	}
	rows := make([]RunRow, len(of))
	for i, r := range of {
		rows[i] = s.rowOf(h, all[r.No])
	}
	return rows, nil
}

// Listed returns a run of a list.
func (s *Site) Listed(h *Home, l runs.Listed) RunRow {
	row := s.rowOf(h, l.Standing)
	row.Found, row.Lead, row.Size = l.Found, l.Lead, l.Size
	return row
}

func (s *Site) rowOf(h *Home, is runs.Standing) RunRow {
	out := row(h, is)
	out.now = s.Now()
	if is.Run.State == store.RunClosed {
		return out
	}
	out.Since = is.Far.Still(s.Now())
	if pace, known := is.Far.Pace(s.Now()); known && is.Alive {
		out.DoneAbout = assay.KnownTime(s.Now().Add(pace.Left))
	}
	return out
}

func row(h *Home, s runs.Standing) RunRow {
	r, a, p := s.Run, s.Needs, s.Far
	row := RunRow{
		ID: r.ID, Study: r.Study, State: s.State, Sentence: s.Sentence(), Next: s.Commands(r.ID), Standing: s,
		Rehearsal: h.Rehearsal || r.Rehearsal, Note: r.Note, By: r.By, Created: r.Created, Closed: assay.KnownTime(r.Closed),
		Progress: p.Progress, Segments: a.Segments, Held: a.Held, Stopped: a.Stopped, Spent: a.Cost.Sum.Float(), Unpriced: a.Cost.Unknown,
		Reserved: r.Reserved.Float(), CollectBefore: assay.KnownTime(a.CollectBefore), Owed: a.Owed, OwedFrom: assay.KnownTime(a.OwedFrom),
		Reconcile: r.Reconcile, No: r.No,
	}
	if r.Budget != nil {
		row.Budget = new(r.Budget.Float())
	}
	for _, l := range p.Lanes {
		row.Planned, row.Spared, row.PaidTwice = row.Planned+l.Planned, row.Spared+l.Spared, row.PaidTwice+l.Surplus
	}
	return row
}
