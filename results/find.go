package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/store"
)

// Found is what a person's reference means: requests of one run, or a job.
type Found struct {
	Run      store.Run
	Requests []store.Answer // one, or those to choose from
	Job      *store.RunJob
	More     bool // there are more requests than are listed
}

// Narrow says which of several requests is meant; what is empty does not.
type Narrow struct {
	Run, Stage, Judge, Branch string
	Turn, Draw                int
}

func (n Narrow) takes(a store.Answer) bool {
	return (n.Stage == "" || a.At.Stage == n.Stage) && (n.Judge == "" || a.At.Judge == n.Judge) && (n.Branch == "" || a.At.Branch == n.Branch) &&
		(n.Turn == 0 || a.At.Turn == n.Turn) && (n.Draw == 0 || a.At.Draw == n.Draw)
}

// maxFound is how many requests a reference may mean.
const maxFound = 1000

// Find finds what a reference means: a provider's job, RUN:ITEM or RUN:ITEM:LANE, the key of a request or its beginning, or an
// id that a provider saw. A key that several runs have means the newest one's. What is not there is store.ErrNotFound.
func (r *Reader) Find(ctx context.Context, ref string, n Narrow) (Found, error) {
	jobs, err := r.Ledger.JobsPage(ctx, store.JobFilter{Job: ref}, 1)
	if err != nil {
		return Found{}, err
	}
	if len(jobs) == 1 {
		f := Found{Run: jobs[0].Run, Job: &jobs[0]}
		f.Requests, f.More, err = firstOf(r.Ledger.SegmentAnswers(ctx, jobs[0].Segment), n)
		return f, err
	}
	if run, rest, ok := strings.Cut(ref, ":"); ok {
		return r.findItem(ctx, run, rest, n)
	}
	if _, key, err := assay.ParseCustomID(ref); err == nil {
		ref = key.String()
	}
	return r.findKey(ctx, ref, n)
}

// findItem finds requests on an item of a run, in one lane where the reference ends with one.
func (r *Reader) findItem(ctx context.Context, ref, rest string, n Narrow) (Found, error) {
	run, err := r.Ledger.FindRun(ctx, ref, "")
	if err != nil {
		return Found{}, err
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return Found{}, err
	}
	f := Found{Run: run}
	filter := store.AnswerFilter{Item: rest}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		if lane := rest[i+1:]; slices.ContainsFunc(lanes, func(l store.Lane) bool { return l.Name == lane }) {
			filter.Item, filter.Lane = rest[:i], lane
		}
	}
	all, err := r.Ledger.AnswersPage(ctx, run.No, filter, store.Mark{}, maxFound)
	if err != nil {
		return f, err
	}
	f.More = len(all) == maxFound
	f.Requests = slices.DeleteFunc(all, func(a store.Answer) bool { return !n.takes(a) })
	if len(f.Requests) == 0 {
		return f, fmt.Errorf("run %s was not asked about item %q: %w", run.ID, rest, store.ErrNotFound)
	}
	if asked := slices.DeleteFunc(slices.Clone(f.Requests), func(a store.Answer) bool { return a.At.Judge != "" }); len(asked) == 1 {
		f.Requests = asked // the answer itself; what judges said of it is shown with it
	}
	return f, nil
}

// findKey finds requests by the beginning of their key: in one run, or in the newest that has some.
func (r *Reader) findKey(ctx context.Context, begin string, n Narrow) (Found, error) {
	first, last, err := assay.KeyRange(begin)
	if err != nil {
		return Found{}, &Mistake{What: err.Error(), Hint: "assay results lists keys"}
	}
	if n.Run != "" {
		run, err := r.Ledger.FindRun(ctx, n.Run, "")
		if err != nil {
			return Found{}, err
		}
		return r.keysOf(ctx, run, begin, first, last)
	}
	for before := int64(0); ; {
		runs, err := r.Ledger.RunsPage(ctx, before, runsPage)
		if err != nil {
			return Found{}, err
		}
		if len(runs) == 0 {
			return Found{}, fmt.Errorf("request %s: %w", begin, store.ErrNotFound)
		}
		for _, run := range runs {
			before = run.No
			if f, err := r.keysOf(ctx, run, begin, first, last); !errors.Is(err, store.ErrNotFound) {
				return f, err
			}
		}
	}
}

func (r *Reader) keysOf(ctx context.Context, run store.Run, begin string, first, last assay.Key) (Found, error) {
	f := Found{Run: run}
	keys, err := r.Ledger.KeysBetween(ctx, run.No, first, last, maxFound)
	if err != nil {
		return f, err
	}
	if len(keys) == 0 {
		return f, fmt.Errorf("request %s of run %s: %w", begin, run.ID, store.ErrNotFound)
	}
	found, err := r.Ledger.AnswersTo(ctx, run.No, keys)
	if err != nil {
		return f, err
	}
	for _, k := range keys {
		f.Requests = append(f.Requests, found[k])
	}
	f.More = len(keys) == maxFound
	return f, nil
}

// firstOf are the first requests of a walk that pass.
func firstOf(all func(yield func(store.Answer, error) bool), n Narrow) (out []store.Answer, more bool, err error) {
	for a, err := range all {
		switch {
		case err != nil:
			return nil, false, err
		case len(out) == maxFound:
			return out, true, nil
		case n.takes(a):
			out = append(out, a)
		}
	}
	return out, false, nil
}
