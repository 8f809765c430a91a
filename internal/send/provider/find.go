package provider

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"assay/internal/assay"
)

// Trail is a walk over an account's jobs, for finding one of them.
type Trail struct {
	Jobs iter.Seq2[Status, error]
	// Sorted promises newest first, so that the walk may stop at the cursor.
	Sorted bool
	// Match reports whether a job is the one that is searched for.
	Match func(Status) bool
}

const (
	clockSlack = 24 * time.Hour   // how far the provider's clock and ours may be apart
	sameMoment = 30 * time.Second // how far jobs may be out of order by the provider's own clock
)

// Stamped walks the trail and finds by stamp: what matches is ours, for certain. The newest that has not failed comes
// first. A failed job is found only if there is no other, and only that of this attempt: what failed before is history.
func (t Trail) Stamped(s Search) (Found, error) {
	var good, failed []Status
	partial := false
	for st, err := range t.newer(s) {
		if errors.Is(err, ErrPartial) {
			partial = true
			break
		}
		if err != nil {
			return Found{}, err
		}
		seen := func(other Status) bool { return other.Job == st.Job } // a list that moves shows some twice
		switch {
		case !t.Match(st) || taken(s, st.Job) || slices.ContainsFunc(good, seen) || slices.ContainsFunc(failed, seen):
		case st.State != StateFailed:
			good = append(good, st)
		case attemptOf(st, s) == s.Stamp.Attempt:
			failed = append(failed, st)
		}
	}
	for _, some := range [][]Status{good, failed} {
		sort.SliceStable(some, func(i, j int) bool {
			a, b := some[i], some[j]
			return cmp.Or(cmp.Compare(attemptOf(b, s), attemptOf(a, s)), b.Created.Compare(a.Created)) < 0
		})
	}
	jobs := ids(good)
	if len(jobs) == 0 && len(failed) > 0 {
		jobs = ids(failed[:1])
	}
	switch {
	case len(jobs) > 0:
		return Found{Sighting: Located, Jobs: jobs}, nil
	case partial:
		return Found{Sighting: Unclear, Why: ErrPartial.Error()}, nil
	}
	return Found{Sighting: Absent}, nil
}

// ErrPartial is the error for a list of jobs that may be incomplete: a job that is not in it may exist.
var ErrPartial = errors.New("the list of jobs may hide more than it shows")

// Partial is the error of such a list.
func Partial(why string) error {
	return fmt.Errorf("list: %s: %w: %w", why, ErrPartial, &assay.Fault{Class: assay.FaultUnknown, Code: "partial_list"})
}

// attemptOf returns the attempt that made a job. One without a stamp was recognised by what this attempt uploaded.
func attemptOf(st Status, s Search) int { return cmp.Or(st.Stamp.Attempt, s.Stamp.Attempt) }

func ids(jobs []Status) []string {
	var all []string
	for _, st := range jobs {
		all = append(all, st.Job)
	}
	return all
}

// Unstamped walks the trail and finds by likeness. A job that is like ours is ours only when confirm finds our nonce in
// its results, which it can only once the job has ended; until then it is unclear.
func (t Trail) Unstamped(s Search, confirm func(Status) (ours bool, err error)) (Found, error) {
	var jobs []string
	open, partial := 0, false
	for st, err := range t.newer(s) {
		if errors.Is(err, ErrPartial) {
			partial = true
			break
		}
		if err != nil {
			return Found{}, err
		}
		if !t.Match(st) || taken(s, st.Job) || slices.Contains(jobs, st.Job) {
			continue
		}
		if st.State == StateFailed && len(st.Parts) == 0 { // nothing came of it, and nothing is billed
			continue
		}
		if !st.State.Terminal() || len(st.Parts) == 0 {
			open++
			continue
		}
		ours, err := confirm(st)
		if err != nil {
			return Found{}, err
		}
		if ours {
			jobs = append(jobs, st.Job)
		}
	}
	switch {
	case len(jobs) > 0:
		return Found{Sighting: Located, Jobs: jobs}, nil
	case open > 0:
		return Found{Sighting: Unclear, Why: "a job of the same size has not ended; only its results can tell whose it is"}, nil
	case partial:
		return Found{Sighting: Unclear, Why: ErrPartial.Error()}, nil
	}
	return Found{Sighting: Absent}, nil
}

// taken reports whether a job is known: another segment's, or one of this that has failed.
func taken(s Search, job string) bool { return s.Taken != nil && s.Taken(job) }

// newer walks what is newer than the cursor, and a little further: jobs made in the same moment have no order. Where the
// cursor is gone, time ends the walk.
func (t Trail) newer(s Search) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		oldest := s.NotBefore
		if !oldest.IsZero() {
			oldest = oldest.Add(-clockSlack)
		}
		for st, err := range t.Jobs {
			if err == nil && t.Sorted {
				if st.Job == s.Cursor {
					if st.Created.IsZero() {
						return
					}
					oldest = st.Created.Add(-sameMoment)
					continue
				}
				if !st.Created.IsZero() && st.Created.Before(oldest) {
					return
				}
			}
			if !yield(st, err) || err != nil {
				return
			}
		}
	}
}

// SameSize matches jobs that have as many requests as the search, and young ones that do not report their number yet.
func SameSize(s Search) func(Status) bool {
	return func(st Status) bool {
		return st.Counts.Total == int64(s.Count) || st.Counts.Total == 0 && !st.State.Terminal()
	}
}

// Newest returns the id of the first job of a sorted walk, for a cursor; empty if there is none.
func Newest(jobs iter.Seq2[Status, error]) (string, error) {
	for st, err := range jobs {
		return st.Job, err
	}
	return "", nil
}
