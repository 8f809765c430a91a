package runs

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/study"
)

// Listed is a run in a list of runs, with all that lists show of it. What is not known is nil or empty.
type Listed struct {
	Standing
	Found string // of a closed run: who leads; empty: that was not computed yet
	Lead  store.Lead
	Size  Size

	Rehearsal bool
}

// Size is how large a run is.
type Size struct {
	Items int64 `json:"items,omitempty"` // of the input that it asks first; 0: it asks none
	Lanes int   `json:"lanes,omitempty"` // that answer them
}

// String returns the size as lists show it; empty: it is not known.
func (s Size) String() string {
	switch {
	case s.Items == 0:
		return ""
	case s.Lanes == 0:
		return assay.Count(s.Items, "item")
	}
	return assay.Thousands(s.Items) + " × " + assay.Thousands(int64(s.Lanes))
}

// Filter narrows a list of runs; what is empty does not.
type Filter struct {
	Study     string // its name, whole
	Kind      Kind
	States    []State // any of these; open means all that are not closed
	By        string
	Note      string // a part of it, in any case
	Text      string // a part of its id, study, note or person, in any case
	Real      bool   // no rehearsals
	Rehearsed bool   // nothing else
	Before    int64  // only runs with smaller numbers; 0: all
	Sort      Sort   // empty: newest
	Limit     int    // 0: all
}

// Kind tells what a run was made from.
type Kind string

// The kinds of runs.
const (
	KindStudy Kind = "study"
	KindBatch Kind = "batch"
)

// runsPage is how many runs are read at a time.
const runsPage = 200

// Walk lists the runs of a home, newest first.
func Walk(ctx context.Context, r *results.Reader, f Filter) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		studies, rows := map[string]*study.Study{}, runsPage
		if f.Limit > 0 {
			rows = min(rows, f.Limit+1)
		}
		for before := f.Before; ; {
			page, err := r.Pages.RunsPage(ctx, before, rows)
			if err != nil {
				yield(Listed{}, err)
			}
			if err != nil || len(page) == 0 {
				return
			}
			before = page[len(page)-1].No
			page = slices.DeleteFunc(page, func(run store.Run) bool { return !f.takes(run, r.Rehearsal) })
			all, err := listed(ctx, r, page, studies)
			if err != nil {
				yield(Listed{}, err)
				return
			}
			for _, l := range all {
				if f.takesState(l.Standing) && !yield(l, nil) {
					return
				}
			}
		}
	}
}

// List lists runs in an order, and reports whether there are more than the limit.
func List(ctx context.Context, r *results.Reader, f Filter) (all []Listed, more bool, err error) {
	limit := f.Limit
	if f.Sort != "" && f.Sort != SortNewest {
		f.Limit = 0
	}
	for l, err := range Walk(ctx, r, f) {
		if err != nil {
			return nil, false, err
		}
		if f.Limit > 0 && len(all) == f.Limit {
			return all, true, nil
		}
		all = append(all, l)
	}
	switch f.Sort { // the ledger's own order is that of time, whatever the clocks of its machines say
	case "", SortNewest:
	case SortOldest:
		slices.Reverse(all)
	default:
		slices.SortStableFunc(all, f.Sort.Compare)
	}
	if limit > 0 && len(all) > limit {
		return all[:limit], true, nil
	}
	return all, false, nil
}

// takes reports whether a run passes what needs no counters.
func (f Filter) takes(run store.Run, rehearsal bool) bool {
	if rehearsal = rehearsal || run.Rehearsal; f.Real && rehearsal || f.Rehearsed && !rehearsal {
		return false
	}
	return f.names(run) && (f.Study == "" || run.Study == f.Study) && (f.By == "" || run.By == f.By) &&
		(f.Kind == "" || kindOf(run) == f.Kind) &&
		strings.Contains(strings.ToLower(run.Note), strings.ToLower(f.Note))
}

// names reports whether a run has the text that is searched for.
func (f Filter) names(run store.Run) bool {
	text := strings.ToLower(f.Text)
	return slices.ContainsFunc([]string{run.ID, run.Study, run.Note, run.By}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), text)
	})
}

func (f Filter) takesState(s Standing) bool {
	return len(f.States) == 0 || slices.Contains(f.States, s.State) ||
		s.Run.State != store.RunClosed && slices.Contains(f.States, StateOpen)
}

func kindOf(run store.Run) Kind {
	if _, batch := batchrun.Of(run); batch {
		return KindBatch
	}
	return KindStudy
}

// listed returns runs with what a list shows of them.
func listed(ctx context.Context, r *results.Reader, runs []store.Run, studies map[string]*study.Study) ([]Listed, error) {
	all, err := standings(ctx, r, studies, runs)
	if err != nil {
		return nil, err
	}
	kept, err := found(ctx, r, runs)
	if err != nil {
		return nil, err
	}
	out := make([]Listed, len(runs))
	for i, run := range runs {
		h := kept[run.No]
		out[i] = Listed{Standing: all[run.No], Found: h.Text, Lead: h.Lead, Rehearsal: r.Rehearsal || run.Rehearsal}
		if out[i].Size, err = sizeOf(ctx, r, run, studies); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sizeOf returns how many items a run asks about first, and how many lanes answer them.
func sizeOf(ctx context.Context, r *results.Reader, run store.Run, studies map[string]*study.Study) (Size, error) {
	if _, batch := batchrun.Of(run); batch || run.State == store.RunPreparing {
		return Size{}, nil
	}
	st, err := studyOf(ctx, r, run, studies)
	if err != nil || len(st.Stages) == 0 {
		return Size{}, err
	}
	first := &st.Stages[0]
	input := cmp.Or(first.Ask, first.Compare)
	if first.Import != nil {
		input = first.Import.Of
	}
	var size Size
	if first.Compare == "" {
		size.Lanes = len(st.Contestants(first))
	}
	size.Items, err = r.Pages.ItemCount(ctx, run.No, input)
	return size, err
}
