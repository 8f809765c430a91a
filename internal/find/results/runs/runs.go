// Package runs lists runs and jobs, and reports how far each is and why it does not go on.
package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/keep/store/runs"
	"assay/internal/send/batchrun"
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

	SpentText string `json:"-"` // in words
	preparing bool
}

// Unfinished reports whether the run may still change by itself.
func (r Row) Unfinished() bool { return r.Closed == nil && !r.preparing }

// Filter narrows a list of runs; what is empty does not.
type Filter struct {
	Study  string // its name, whole
	Kind   Kind
	States []State // any of these; open means all that are not closed
	By     string
	Note   string // a part of it, in any case
	Limit  int    // 0: all
}

// Kind is what a run was made from.
type Kind string

// The kinds of runs.
const (
	KindStudy Kind = "study"
	KindBatch Kind = "batch"
)

// runsPage is how many runs are read at a time.
const runsPage = 200

// List lists runs, newest first, and reports whether there are more than the limit.
func List(ctx context.Context, r *results.Reader, f Filter) (rows []Row, more bool, err error) {
	for before := int64(0); ; {
		page, err := r.Pages.RunsPage(ctx, before, runsPage)
		if err != nil || len(page) == 0 {
			return rows, false, err
		}
		before = page[len(page)-1].No
		page = slices.DeleteFunc(page, func(run store.Run) bool { return !f.takes(run) })
		all, err := runRows(ctx, r, page)
		if err != nil {
			return nil, false, err
		}
		for _, row := range all {
			if !f.takesState(row) {
				continue
			}
			if f.Limit > 0 && len(rows) == f.Limit {
				return rows, true, nil
			}
			rows = append(rows, row)
		}
	}
}

// takes reports whether a run passes what needs no counters.
func (f Filter) takes(run store.Run) bool {
	return (f.Study == "" || run.Study == f.Study) && (f.By == "" || run.By == f.By) && (f.Kind == "" || kindOf(run) == f.Kind) &&
		strings.Contains(strings.ToLower(run.Note), strings.ToLower(f.Note))
}

func (f Filter) takesState(row Row) bool {
	return len(f.States) == 0 || slices.Contains(f.States, row.State) ||
		row.Closed == nil && slices.Contains(f.States, StateOpen)
}

func kindOf(run store.Run) Kind {
	if _, batch := batchrun.Of(run); batch {
		return KindBatch
	}
	return KindStudy
}

// runRows returns the rows of some runs.
func runRows(ctx context.Context, r *results.Reader, runs []store.Run) ([]Row, error) {
	all, err := Standings(ctx, r, runs...)
	if err != nil {
		return nil, err
	}
	found, err := Found(ctx, r, runs)
	if err != nil {
		return nil, err
	}
	out := make([]Row, len(runs))
	for i, run := range runs {
		out[i] = runRow(r, all[run.No])
		out[i].Found = found[run.No]
	}
	return out, nil
}

// KeepHeadline keeps what a run found for lists of runs, as it was computed from the ledger at a version. Lists can do
// without: who reads what was found does so, too, where the ledger takes no writes, as on a full disk.
func KeepHeadline(ctx context.Context, to *runs.Store, run int64, version string, s *words.Summary) {
	_ = to.PutHeadline(ctx, run, store.Headline{Version: version, Text: s.Result})
}

// Found returns what closed runs found, in a few words, as far as it was computed since they last changed: a list
// computes nothing.
func Found(ctx context.Context, r *results.Reader, runs []store.Run) (map[int64]string, error) {
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
	out := map[int64]string{}
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
			out[no] = h.Text
		}
	}
	return out, nil
}

func runRow(r *results.Reader, s Standing) Row {
	run, a := s.Run, s.Needs
	row := Row{
		Run: run.ID, Study: run.Study, Kind: kindOf(run), State: s.State, Sentence: s.Sentence(), Rehearsal: r.Rehearsal || run.Rehearsal,
		Progress: s.Far.Progress, Held: a.Held, Stopped: a.Stopped, Spent: a.Cost.Dollars(), AtLeast: a.Cost.Sum.Float(),
		Unpriced: a.Cost.Unknown, Note: run.Note, By: run.By, Begun: run.Created, Closed: assay.KnownTime(run.Closed),
		Before: assay.KnownTime(a.CollectBefore), SpentText: a.Cost.String(), preparing: run.State == store.RunPreparing,
	}
	if run.Budget != nil {
		row.Budget = new(run.Budget.Float())
	}
	return row
}
