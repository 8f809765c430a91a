// Package runs lists runs and jobs, and reports how far each is and why it does not go on.
package runs

import (
	"context"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/keep/store/runs"
	"assay/internal/show/report/words"
)

// Row is a run in a list of runs, from counters alone. What is not known is null, never 0.
type Row struct {
	Home      string `json:"home,omitempty"` // where it is kept, in a list of several homes
	Run       string `json:"run"`
	Study     string `json:"study"` // or the name of a batch file
	Kind      Kind   `json:"kind"`
	State     State  `json:"state"`
	Sentence  string `json:"sentence"`
	Rehearsal bool   `json:"rehearsal,omitempty"`
	Progress
	Held     int64      `json:"held"`
	Stopped  int64      `json:"stopped"`
	Spent    *float64   `json:"spent_usd"` // null: some of it has no known price
	AtLeast  float64    `json:"spent_at_least_usd"`
	Unpriced int64      `json:"unpriced,omitempty"`
	Budget   *float64   `json:"budget_usd"`
	Note     string     `json:"note"`
	By       string     `json:"by"`
	Begun    time.Time  `json:"begun"`
	Closed   *time.Time `json:"closed"`
	Before   *time.Time `json:"collect_before"`  // when a provider deletes results that are not here yet
	Found    string     `json:"found,omitempty"` // of a closed run: who leads; empty: that was not computed yet
	store.Lead
	Size

	SpentText string `json:"-"` // in words
	preparing bool
}

// Unfinished reports whether the run may still change by itself.
func (r Row) Unfinished() bool { return r.Closed == nil && !r.preparing }

// KeepHeadline keeps what a run found for lists of runs, as it was computed from the ledger at a version. Lists can do
// without: who reads what was found does so, too, where the ledger takes no writes, as on a full disk.
func KeepHeadline(ctx context.Context, to *runs.Store, run int64, version string, s *words.Summary) {
	h := store.Headline{Version: version, Text: s.Result}
	if f := s.First; f != nil {
		h.Lead = store.Lead{Leader: f.Name, Score: f.Cell.Text, Range: f.Cell.Between, Value: &f.Value}
	}
	_ = to.PutHeadline(ctx, run, h)
}

// found returns what closed runs found, in a few words, as far as it was computed since they last changed: a list
// computes nothing.
func found(ctx context.Context, r *results.Reader, runs []store.Run) (map[int64]store.Headline, error) {
	var closed []int64
	for _, run := range runs {
		if run.State == store.RunClosed {
			closed = append(closed, run.No)
		}
	}
	kept, err := r.Pages.Headlines(ctx, closed)
	if err != nil {
		return nil, err
	}
	out := map[int64]store.Headline{}
	for _, no := range closed {
		h, ok := kept[no]
		if !ok {
			continue
		}
		version, err := r.Pages.Version(ctx, no)
		if err != nil {
			return nil, err
		}
		if version == h.Version {
			out[no] = h
		}
	}
	return out, nil
}

// Row returns the run as JSON has it.
func (s Listed) Row() Row {
	run, a := s.Run, s.Needs
	row := Row{
		Run: run.ID, Study: run.Study, Kind: kindOf(run), State: s.State, Sentence: s.Sentence(), Rehearsal: s.Rehearsal,
		Progress: s.Far.Progress, Held: a.Held, Stopped: a.Stopped, Spent: a.Cost.Dollars(), AtLeast: a.Cost.Sum.Float(),
		Unpriced: a.Cost.Unknown, Note: run.Note, By: run.By, Begun: run.Created, Closed: assay.KnownTime(run.Closed),
		Before: assay.KnownTime(a.CollectBefore), SpentText: a.Cost.String(), preparing: run.State == store.RunPreparing,
		Found: s.Found, Lead: s.Lead, Size: s.Size,
	}
	if run.Budget != nil {
		row.Budget = new(run.Budget.Float())
	}
	return row
}
