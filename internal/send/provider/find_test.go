package provider

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
)

var intended = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// jobs returns a list of an account: newest first, each a minute older than the one before.
func jobs(list ...Status) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		for i, s := range list {
			if s.Created.IsZero() {
				s.Created = intended.Add(time.Minute - time.Duration(i)*time.Minute)
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

func TestAStampedJobIsFoundAmongOthers(t *testing.T) {
	t.Parallel()
	mine := Stamp{Run: "r", Segment: "s1", SHA256: "0123456789abcdef"}
	other := Stamp{Run: "r", Segment: "s2", SHA256: "0123456789abcdef"}
	match := func(st Status) bool { return st.Stamp.Same(mine) }
	attempt := func(n int) Stamp { s := mine; s.Attempt = n; return s }
	for name, c := range map[string]struct {
		list   iter.Seq2[Status, error]
		sorted bool
		search Search
		want   Found
	}{
		"alone": {jobs(Status{Job: "a", Stamp: mine}), true, Search{}, Found{Located, []string{"a"}, ""}},
		"beside a foreign one": {jobs(Status{Job: "x", Stamp: other}, Status{Job: "a", Stamp: mine}, Status{Job: "y"}), true,
			Search{}, Found{Located, []string{"a"}, ""}},
		"twice": {jobs(Status{Job: "b", Stamp: mine}, Status{Job: "a", Stamp: mine}), true, Search{},
			Found{Located, []string{"b", "a"}, ""}},
		"seen twice in a list that moves": {jobs(Status{Job: "a", Stamp: mine}, Status{Job: "a", Stamp: mine}), true, Search{},
			Found{Located, []string{"a"}, ""}},
		"in the same moment as the cursor": {jobs(Status{Job: "cur", Created: intended}, Status{Job: "a", Stamp: mine, Created: intended}),
			true, Search{Cursor: "cur"}, Found{Located, []string{"a"}, ""}},
		"behind a cursor without a time": {func(yield func(Status, error) bool) {
			_ = yield(Status{Job: "cur"}, nil) && yield(Status{Job: "a", Stamp: mine}, nil)
		}, true, Search{Cursor: "cur"}, Found{Sighting: Absent}},
		"of an attempt before": {jobs(Status{Job: "a", Stamp: attempt(1)}), true, Search{Stamp: attempt(2)},
			Found{Located, []string{"a"}, ""}},
		"of two attempts, the older first": {jobs(Status{Job: "a", Stamp: attempt(1)}, Status{Job: "b", Stamp: attempt(2)}), false,
			Search{Stamp: attempt(2)}, Found{Located, []string{"b", "a"}, ""}},
		"failed beside a good one": {jobs(Status{Job: "a", Stamp: attempt(2), State: StateFailed},
			Status{Job: "b", Stamp: attempt(1), State: StateRunning}), false, Search{Stamp: attempt(2)}, Found{Located, []string{"b"}, ""}},
		"failed, of an attempt before": {jobs(Status{Job: "a", Stamp: attempt(1), State: StateFailed}), true, Search{Stamp: attempt(2)},
			Found{Sighting: Absent}},
		"failed, of this attempt": {jobs(Status{Job: "a", Stamp: attempt(2), State: StateFailed}), true, Search{Stamp: attempt(2)},
			Found{Located, []string{"a"}, ""}},
		"two in a list without order": {jobs(Status{Job: "old", Stamp: mine, Created: intended}, Status{Job: "new", Stamp: mine,
			Created: intended.Add(time.Minute)}), false, Search{}, Found{Located, []string{"new", "old"}, ""}},
		"not there": {jobs(Status{Job: "x", Stamp: other}), true, Search{}, Found{Sighting: Absent}},
		"behind the cursor": {jobs(Status{Job: "new"}, Status{Job: "cur"}, Status{Job: "a", Stamp: mine}), true,
			Search{Cursor: "cur"}, Found{Sighting: Absent}},
		"behind the cursor, unsorted": {jobs(Status{Job: "cur"}, Status{Job: "a", Stamp: mine}), false, Search{Cursor: "cur"},
			Found{Located, []string{"a"}, ""}},
		"taken by another segment": {jobs(Status{Job: "a", Stamp: mine}), true, Search{Taken: func(id string) bool { return id == "a" }},
			Found{Sighting: Absent}},
		"days before the intent": {jobs(Status{Job: "a", Stamp: mine, Created: intended.Add(-49 * time.Hour)}), true,
			Search{NotBefore: intended}, Found{Sighting: Absent}},
		"a clock that is hours off": {jobs(Status{Job: "a", Stamp: mine, Created: intended.Add(-5 * time.Hour)}), true,
			Search{NotBefore: intended}, Found{Located, []string{"a"}, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Trail{Jobs: c.list, Sorted: c.sorted, Match: match}.Stamped(c.search)
			if err != nil {
				t.Fatal(err)
			}
			diff(t, c.want, got)
		})
	}
}

func TestAJobWithoutAStampIsOursOnlyWhenItsResultsSaySo(t *testing.T) {
	t.Parallel()
	ended := func(job string, n int64) Status {
		return Status{Job: job, State: StateEnded, Counts: Counts{Total: n}, Parts: []Part{{Name: "results"}}}
	}
	running := func(job string, n int64) Status {
		return Status{Job: job, State: StateRunning, Counts: Counts{Total: n}}
	}
	for name, c := range map[string]struct {
		list iter.Seq2[Status, error]
		want Found
	}{
		"ended, ours":                     {jobs(ended("ours", 3)), Found{Sighting: Located, Jobs: []string{"ours"}}},
		"ended, a stranger's":             {jobs(ended("stranger", 3)), Found{Sighting: Absent}},
		"ours beside a stranger's":        {jobs(ended("stranger", 3), ended("ours", 3)), Found{Sighting: Located, Jobs: []string{"ours"}}},
		"running":                         {jobs(running("x", 3)), Found{Sighting: Unclear}},
		"running, of no size yet":         {jobs(running("x", 0)), Found{Sighting: Unclear}},
		"ended, of no size":               {jobs(ended("x", 0)), Found{Sighting: Absent}},
		"failed":                          {jobs(Status{Job: "x", State: StateFailed, Counts: Counts{Total: 3}}), Found{Sighting: Absent}},
		"running, of another size":        {jobs(running("x", 4)), Found{Sighting: Absent}},
		"running beside an ended strange": {jobs(running("x", 3), ended("stranger", 3)), Found{Sighting: Unclear}},
		"ended without results":           {jobs(Status{Job: "x", State: StateEnded, Counts: Counts{Total: 3}}), Found{Sighting: Unclear}},
		"before the cursor":               {jobs(Status{Job: "cur"}, running("x", 3)), Found{Sighting: Absent}},
		"nothing":                         {jobs(), Found{Sighting: Absent}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trail := Trail{Jobs: c.list, Sorted: true, Match: SameSize(Search{Count: 3})}
			got, err := trail.Unstamped(Search{Cursor: "cur"}, func(st Status) (bool, error) { return st.Job == "ours", nil })
			if err != nil {
				t.Fatal(err)
			}
			diff(t, c.want, got, cmpopts.IgnoreFields(Found{}, "Why"))
		})
	}
}

func TestAListThatCannotBeReadIsNeverAbsence(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	broken := func(yield func(Status, error) bool) {
		if yield(Status{Job: "x"}, nil) {
			yield(Status{}, down)
		}
	}
	trail := Trail{Jobs: broken, Sorted: true, Match: func(Status) bool { return false }}
	if _, err := trail.Stamped(Search{}); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if _, err := trail.Unstamped(Search{}, nil); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	trail = Trail{Jobs: jobs(Status{Job: "x", State: StateEnded, Parts: []Part{{}}}), Match: func(Status) bool { return true }}
	if _, err := trail.Unstamped(Search{}, func(Status) (bool, error) { return false, down }); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
}

func TestTheNewestJobIsTheCursor(t *testing.T) {
	t.Parallel()
	got, err := Newest(jobs(Status{Job: "new"}, Status{Job: "old"}))
	if err != nil || got != "new" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = Newest(jobs()); err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}
