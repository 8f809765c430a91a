package runs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// backup is a copy of a home: of the ledger, and of the artifacts where they are copied too.
type backup struct{ ledger, files string }

// save copies the home of a world, as a person would who has stopped the process first.
func (w *world) save() backup {
	w.t.Helper()
	b := backup{ledger: filepath.Join(w.t.TempDir(), "copy.db"), files: filepath.Join(w.t.TempDir(), "files")}
	w.ok(w.s.Close())
	text, err := os.ReadFile(w.where)
	w.ok(err)
	w.ok(os.WriteFile(b.ledger, text, 0o600))
	w.ok(os.CopyFS(b.files, os.DirFS(w.files.String())))
	w.reopen()
	return b
}

// putBack replaces the ledger by its copy, and the artifacts if they are put back, too.
func (w *world) putBack(b backup, filesToo bool) {
	w.t.Helper()
	w.ok(w.s.Close())
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(w.where + end); err != nil && end == "" {
			w.t.Fatal(err)
		}
	}
	text, err := os.ReadFile(b.ledger)
	w.ok(err)
	w.ok(os.WriteFile(w.where, text, 0o600))
	if filesToo {
		w.ok(w.files.Close())
		at := w.files.String()
		w.ok(os.RemoveAll(at))
		w.ok(os.CopyFS(at, os.DirFS(b.files)))
		files, err := artifacts.Open(at)
		w.ok(err)
		w.t.Cleanup(func() { files.Close() })
		w.files = files
	}
	w.reopen()
	w.clock.to(w.clock.Now().Add(3 * time.Minute)) // leases of before end
}

// TestALedgerThatIsPutBackPaysForNothingTwice saves a home at a moment of a study of two turns, goes on for a while, and puts back the
// ledger, with its artifacts or without.
func TestALedgerThatIsPutBackPaysForNothingTwice(t *testing.T) {
	t.Parallel()
	moments := map[string]func(w *world) bool{
		"uploaded": func(w *world) bool { return len(w.segments(store.Uploaded)) == 1 },
		"launched": func(w *world) bool { return len(w.segments(store.Launched)) == 1 },
		"settled":  func(w *world) bool { return len(w.segments(store.Settled)) == 1 },
	}
	ends := map[string]func(w *world) bool{
		"turn 2 in flight": func(w *world) bool { return len(w.fake.jobs) == 2 },
		"all over": func(w *world) bool {
			r, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			return r.State == store.RunClosed
		},
	}
	for moment, saved := range moments {
		for end, over := range ends {
			for _, filesToo := range []bool{false, true} {
				for _, stamped := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %s, files too %v, stamped %v", moment, end, filesToo, stamped), func(t *testing.T) {
						t.Parallel()
						w := newWorld(t, one, func(w *world) { w.plan.turns, w.fake.stamped = 2, stamped })
						w.untilStep(func() bool { return saved(w) })
						b := w.save()
						w.untilStep(func() bool { return over(w) })
						w.putBack(b, filesToo)
						if !stamped && filesToo && moment != "uploaded" {
							w.ok(w.s.Work.OweReconcile(w.ctx, w.run.No, "put back")) // nothing but `assay restore` can tell
						}
						w.finished(store.ResultDone)
						w.answers(6)
						w.billedOnce(6)
						if n := len(w.fake.jobs); n != 2 {
							t.Errorf("%d jobs\n%s", n, w.history())
						}
					})
				}
			}
		}
	}
}

// untilStep drives by single steps of segments, so that no state is passed over, until something is so.
func (w *world) untilStep(so func() bool) {
	w.t.Helper()
	stop := fmt.Errorf("that is enough: %w", errDead)
	around := w.around
	w.around = func(op string, call func() error) error {
		if so() {
			return stop
		}
		return call()
	}
	defer func() { w.around = around; w.reopen() }()
	w.reopen()
	for range 2000 {
		if so() {
			return
		}
		if _, err := w.drive(); err != nil && !strings.Contains(err.Error(), stop.Error()) {
			w.t.Fatal(err)
		}
	}
	w.t.Fatal("it never comes to that\n" + w.history())
}

// TestAJobWithTheNumberOfAReusedSegmentIsNoDouble has a job carry the stamp of a segment that has no job and no provider.
func TestAJobWithTheNumberOfAReusedSegmentIsNoDouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.until(func() bool { return len(w.fake.jobs) == 1 })
	real := w.fake.jobs[0]
	w.fake.jobs = append(w.fake.jobs, &fakeJob{id: "other", made: real.made, ends: w.clock.Now(), lines: real.lines, count: real.count,
		stamp: provider.Stamp{Run: "run1", Segment: "s2", Attempt: 1, SHA256: strings.Repeat("ab", 32)}})
	w.finished(store.ResultDone)
	w.answers(3)
	if got := w.events("double"); len(got) == 0 || !strings.Contains(got[0].Text, "billed twice") {
		t.Errorf("doubles: %+v\n%s", got, w.history())
	}
}

// TestAJobOfACopyIsNotCancelled has a second job with the stamp of a segment that never lost a create call: a copy of the ledger waits
// for it.
func TestAJobOfACopyIsNotCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.until(func() bool { return len(w.segments(store.Settled)) == 1 })
	real := w.fake.jobs[0]
	w.fake.jobs = append(w.fake.jobs,
		&fakeJob{id: "copy", made: real.made, ends: w.clock.Now().Add(5 * time.Hour), count: 3, stamp: real.stamp})
	w.finished(store.ResultDone)
	if got := w.events("double"); len(got) == 0 || !strings.Contains(got[0].Text, "left alone") || w.fake.calls["cancel"] > 0 {
		t.Errorf("doubles: %+v, %d cancels\n%s", got, w.fake.calls["cancel"], w.history())
	}
}

// TestAnAuditWhoseListFailsIsRepeated breaks the list when the run closes: it is compared later, and what is there twice is told.
func TestAnAuditWhoseListFailsIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.until(func() bool { return len(w.segments(store.Settled)) == 1 })
	real := w.fake.jobs[0]
	w.fake.jobs = append(w.fake.jobs, &fakeJob{id: "copy", made: real.made, ends: w.clock.Now(), lines: nil, done: true,
		state: provider.StateEnded, counts: provider.Counts{Known: true, Total: 3, Succeeded: 3}, count: 3, stamp: real.stamp})
	broken := 0
	w.fake.wobble = func(call string, _ int) error {
		if call == "list" && broken < 5 {
			broken++
			return &assay.Fault{Class: assay.FaultBusy, Status: 500}
		}
		return nil
	}
	w.finished(store.ResultDone)
	if got := w.events("double"); len(got) == 0 || !strings.Contains(got[0].Text, "3 requests of its 3 were done, and are billed twice") {
		t.Errorf("doubles: %+v\n%s", got, w.history())
	}
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	var once assay.Money
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		once += assay.Money(20 * 1000) // ten tokens in and out, a dollar a million
		_ = a
	}
	if r.Spent != 2*once {
		t.Errorf("spent %s, want twice %s", r.Spent, once)
	}
}
