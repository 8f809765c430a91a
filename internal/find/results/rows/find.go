package rows

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// Found is the resolution of a person's reference: requests of one run, or a job.
type Found struct {
	Run      store.Run
	Requests []store.Answer // one, or those to choose from
	Job      *store.RunJob
	More     bool // there are more requests than are listed
}

// Narrow selects one of several requests; empty fields do not narrow.
type Narrow struct {
	Run, Stage, Judge, Branch string
	Turn, Draw                int
}

func (n Narrow) takes(a store.Answer) bool {
	return (n.Stage == "" || a.At.Stage == n.Stage) && (n.Judge == "" || a.At.Judge == n.Judge) &&
		(n.Branch == "" || a.At.Branch == n.Branch) &&
		(n.Turn == 0 || a.At.Turn == n.Turn) && (n.Draw == 0 || a.At.Draw == n.Draw)
}

// String returns the equivalent flags.
func (n Narrow) String() string {
	var out []string
	for _, f := range [][2]string{{"stage", n.Stage}, {"judge", n.Judge}, {"branch", n.Branch}} {
		if f[1] != "" {
			out = append(out, "--"+f[0]+" "+f[1])
		}
	}
	if n.Turn != 0 {
		out = append(out, fmt.Sprintf("--turn %d", n.Turn))
	}
	if n.Draw != 0 {
		out = append(out, fmt.Sprintf("--draw %d", n.Draw))
	}
	return strings.Join(out, " ")
}

// NoneLeft is the error of a reference whose requests a Narrow all excludes. It is a kind of store.ErrNotFound.
type NoneLeft struct {
	Ref    string
	Of     int // requests that are meant
	Narrow Narrow
}

// Error returns how many there are, and what excludes them.
func (e *NoneLeft) Error() string {
	verb := "are"
	if e.Of == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s called %q, and none passes %s", assay.Count(e.Of, "request"), verb, e.Ref, e.Narrow)
}

// Is reports whether it is of that kind.
func (e *NoneLeft) Is(kind error) bool { return kind == store.ErrNotFound }

// The most requests that a reference may mean, and how many runs are read at a time.
const (
	maxFound     = 1000
	searchedRuns = 200
)

// Find finds what a reference means: a provider's job, RUN:ITEM or RUN:ITEM:LANE, the key of a request or its
// beginning, or an id that a provider saw. A key that several runs have means the newest one's. What is not there is
// store.ErrNotFound.
func Find(ctx context.Context, r *results.Reader, ref string, n Narrow) (Found, error) {
	jobs, err := r.Pages.JobsPage(ctx, store.JobFilter{Job: ref}, 1)
	if err != nil {
		return Found{}, err
	}
	if len(jobs) == 1 {
		f := Found{Run: jobs[0].Run, Job: &jobs[0]}
		of, err := f.take(r.Ledger.SegmentAnswers(ctx, jobs[0].Segment), n)
		if err == nil && len(f.Requests) == 0 && of > 0 {
			err = &NoneLeft{Ref: ref, Of: of, Narrow: n}
		}
		return f, err
	}
	if run, rest, ok := strings.Cut(ref, ":"); ok {
		return findItem(ctx, r, run, rest, n)
	}
	if _, key, err := assay.ParseCustomID(ref); err == nil {
		ref = key.String()
	}
	return findKey(ctx, r, ref, n)
}

// findItem finds requests on an item of a run, in one lane where the reference ends with one.
func findItem(ctx context.Context, r *results.Reader, ref, rest string, n Narrow) (Found, error) {
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
	of, err := f.take(onItem(ctx, r, run, filter), n)
	switch {
	case err != nil:
		return f, err
	case of == 0:
		return f, fmt.Errorf("run %s was not asked about item %q: %w", run.ID, rest, store.ErrNotFound)
	case len(f.Requests) == 0:
		return f, &NoneLeft{Ref: ref + ":" + rest, Of: of, Narrow: n}
	}
	if asked := slices.DeleteFunc(slices.Clone(f.Requests), func(a store.Answer) bool { return a.At.Judge != "" }); len(asked) == 1 {
		f.Requests = asked // the answer itself; its verdicts are shown with it
	}
	return f, nil
}

// findKey finds requests by the beginning of their key: in one run, or in the newest that has some.
func findKey(ctx context.Context, r *results.Reader, begin string, n Narrow) (Found, error) {
	first, last, err := assay.KeyRange(begin)
	if err != nil {
		return Found{}, &results.Mistake{What: err.Error(), Hint: "assay results lists keys"}
	}
	none := fmt.Errorf("request %s: %w", begin, store.ErrNotFound)
	in := func(run store.Run) (Found, error) {
		f := Found{Run: run}
		of, err := f.take(keyAnswers(ctx, r, run.No, first, last), n)
		switch {
		case err != nil:
			return f, err
		case len(f.Requests) > 0:
			return f, nil
		case of > 0:
			none = &NoneLeft{Ref: begin, Of: of, Narrow: n}
		}
		return f, none
	}
	if n.Run != "" {
		run, err := r.Ledger.FindRun(ctx, n.Run, "")
		if err != nil {
			return Found{}, err
		}
		return in(run)
	}
	for before := int64(0); ; {
		runs, err := r.Pages.RunsPage(ctx, before, searchedRuns)
		if err != nil {
			return Found{}, err
		}
		if len(runs) == 0 {
			return Found{}, none
		}
		for _, run := range runs {
			before = run.No
			if f, err := in(run); !errors.Is(err, store.ErrNotFound) {
				return f, err
			}
		}
	}
}

// keyAnswers walks over the requests of a run whose keys are between two, page by page.
func keyAnswers(ctx context.Context, r *results.Reader, run int64, first, last assay.Key) iter.Seq2[store.Answer, error] {
	return func(yield func(store.Answer, error) bool) {
		for {
			refs, err := r.Pages.KeysBetween(ctx, run, first, last, maxFound)
			var found map[assay.Key]store.Answer
			if err == nil {
				found, err = r.Ledger.AnswersTo(ctx, run, refs)
			}
			if err != nil {
				yield(store.Answer{}, err)
				return
			}
			for _, ref := range refs {
				a, ok := found[ref.Key]
				if ok && !yield(a, nil) {
					return
				}
			}
			if len(refs) < maxFound || refs[len(refs)-1].Key == last {
				return
			}
			first = after(refs[len(refs)-1].Key)
		}
	}
}

// after returns the key that follows another; after the last of all comes the first.
func after(k assay.Key) assay.Key {
	for i := len(k) - 1; i >= 0; i-- {
		if k[i]++; k[i] != 0 {
			break
		}
	}
	return k
}

// take keeps the first requests of a walk that pass, and returns how many it saw.
func (f *Found) take(all iter.Seq2[store.Answer, error], n Narrow) (seen int, err error) {
	for a, err := range all {
		switch {
		case err != nil:
			return seen, err
		case !n.takes(a):
		case len(f.Requests) == maxFound:
			f.More = true
			return seen, nil
		default:
			f.Requests = append(f.Requests, a)
		}
		seen++
	}
	return seen, nil
}
