package providertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"assay/internal/send/provider"
	"assay/internal/simulator"
)

func (w *world) search(c testInput, cursor string) provider.Search {
	return provider.Search{
		Stamp: c.Stamp, Nonce: c.nonce, Model: c.Model, Wire: c.Wire, Count: c.Count, Cursor: cursor, NotBefore: w.clock.Now(),
	}
}

// finder returns the vendor's power to find, and the mark before the launch.
func (w *world) finder() (provider.Finder, string) {
	w.t.Helper()
	f, ok := w.batch.(provider.Finder)
	if !ok {
		w.t.Fatalf("%s cannot find a lost job", w.s.Kind)
	}
	cursor, err := f.Cursor(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return f, cursor
}

// find asks, and moves the clock on as long as the answer is unclear.
func (w *world) find(f provider.Finder, s provider.Search) provider.Found {
	w.t.Helper()
	for range 100 {
		found, err := f.Find(context.Background(), s)
		if err != nil {
			w.t.Fatal(err)
		}
		if found.Sighting != provider.Unclear {
			return found
		}
		if f.Stamped() {
			w.t.Fatal("unclear, although jobs carry a stamp")
		}
		w.clock.Advance(time.Hour)
	}
	w.t.Fatal("unclear for ever")
	return provider.Found{}
}

// lostReply loses the answer to one launch among others of the same size. Only the job of that launch is found.
func lostReply(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Queue: 10 * time.Minute}, "create drop-reply nth=3")
	old := w.launch(w.input(questions(7)...))
	w.clock.Advance(time.Minute)
	f, cursor := w.finder()
	stranger := w.launch(w.input(questions(7)...))
	w.clock.Advance(time.Second)
	c := w.input(questions(7)...)
	h := w.prepare(c)
	search := w.search(c, cursor)
	search.Handle = h
	r := w.batch.Launch(context.Background(), c.BatchInput, h)
	diff(t, provider.Unknown, r.Status)
	w.clock.Advance(time.Second)
	other := w.launch(w.input(questions(7)...))

	jobs := w.sim.Ledger().Jobs
	diff(t, 4, len(jobs))
	found := w.find(f, search)
	if found.Sighting != provider.Located || len(found.Jobs) != 1 ||
		slices.Contains([]string{old.ID, stranger.ID, other.ID}, found.Jobs[0]) {
		t.Fatalf("found %+v among %s, %s and %s", found, old.ID, stranger.ID, other.ID)
	}
	job := w.job(c, h, found.Jobs[0])
	got := w.collect(job, w.settle(job)).endings(c)
	diff(t, 7, got["answered"])

	search.Handle = "" // a ledger may have lost it
	diff(t, found, w.find(f, search))
	search.Taken = func(id string) bool { return id == job.ID }
	diff(t, provider.Absent, w.find(f, search).Sighting)
}

func neverMade(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "create drop nth=2")
	f, cursor := w.finder()
	w.launch(w.input(questions(3)...))
	c := w.input(questions(3)...)
	h := w.prepare(c)
	search := w.search(c, cursor)
	search.Handle = h
	diff(t, provider.Unknown, w.batch.Launch(context.Background(), c.BatchInput, h).Status)
	diff(t, provider.Found{Sighting: provider.Absent}, w.find(f, search))
	job := w.launch(c) // the same bytes under the same stamp
	diff(t, provider.Found{Sighting: provider.Located, Jobs: []string{job.ID}}, w.find(f, search))
}

// lateJob has a job show up in the lists only after a while.
func lateJob(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "create drop-reply once", "list hide=30s", "check hide=30s")
	f, cursor := w.finder()
	c := w.input(questions(3)...)
	h := w.prepare(c)
	search := w.search(c, cursor)
	search.Handle = h
	diff(t, provider.Unknown, w.batch.Launch(context.Background(), c.BatchInput, h).Status)
	found, err := f.Find(context.Background(), search)
	if err != nil || found.Sighting == provider.Located {
		t.Errorf("found %+v, %v before it shows", found, err)
	}
	w.clock.Advance(time.Minute)
	diff(t, provider.Located, w.find(f, search).Sighting)
}

func brokenList(t *testing.T, s Subject) {
	for _, rule := range []string{"500", "429=1s", "drop", "truncate=50%", "redirect=https://thief.example", "revoke"} {
		w := newWorld(t, s, simulator.Options{}, "create drop-reply once", "list "+rule, "check "+rule)
		f, ok := w.batch.(provider.Finder)
		if !ok {
			t.Fatalf("%s cannot find a lost job", s.Kind)
		}
		c := w.input(questions(3)...)
		h := w.prepare(c)
		diff(t, provider.Unknown, w.batch.Launch(context.Background(), c.BatchInput, h).Status)
		found, err := f.Find(context.Background(), w.search(c, ""))
		if err == nil {
			t.Errorf("%s: found %+v in a list that cannot be read", rule, found)
		}
		w.class(err)
	}
}

// failedAttempt has the job of a first attempt fail, and the create call of the second one lose its reply or itself. The job
// that failed is neither found again nor called a double.
func failedAttempt(t *testing.T, s Subject) {
	for _, rule := range []string{"create drop-reply nth=2", "create drop nth=2"} {
		w := newWorld(t, s, simulator.Options{Queue: time.Minute}, "create fail=INTERNAL once", rule)
		c := w.input(questions(4)...)
		h := w.prepare(c)
		r := w.batch.Launch(context.Background(), c.BatchInput, h)
		if r.Status == provider.Refused { // found at once
			return
		}
		failed := w.job(c, h, r.Job)
		if w.settle(failed).State != provider.StateFailed {
			return // every request fails by itself
		}
		w.clock.Advance(time.Minute)
		f, cursor := w.finder()
		c.Stamp.Attempt++
		search := w.search(c, cursor)
		search.Handle = w.prepare(c)
		diff(t, provider.Unknown, w.batch.Launch(context.Background(), c.BatchInput, search.Handle).Status)
		w.clock.Advance(time.Second)
		search.Cursor = "" // a list that has no order shows all
		found := w.find(f, search)
		switch jobs := w.sim.Ledger().Jobs; {
		case len(jobs) == 1:
			diff(t, provider.Found{Sighting: provider.Absent}, found)
		case found.Sighting != provider.Located || len(found.Jobs) != 1 || found.Jobs[0] == failed.ID:
			t.Errorf("%s: found %+v, and %s has failed", rule, found, failed.ID)
		}
	}
}
