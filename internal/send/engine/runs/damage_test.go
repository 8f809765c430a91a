package runs_test

import (
	"os"
	"path/filepath"
	"testing"

	"assay/internal/keep/inventory"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
)

// spoiled are ways in which a file changes on a disk.
func spoiled(t *testing.T, at string) map[string]func() {
	t.Helper()
	change := func(do func(text []byte) []byte) func() {
		return func() {
			text, err := os.ReadFile(at)
			if err == nil {
				err = os.WriteFile(at, do(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return map[string]func(){
		"gone":    func() { _ = os.Remove(at) },
		"shorter": change(func(text []byte) []byte { return text[:len(text)-1] }),
		"changed": change(func(text []byte) []byte { text[len(text)/2] ^= 1; return text }),
	}
}

// TestAnInputThatChangedOnTheDiskIsMadeAgain damages the file of a segment before it is uploaded: other bytes go out than those, once.
func TestAnInputThatChangedOnTheDiskIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "shorter", "changed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			w.untilStep(func() bool { return len(w.segments(store.Staged)) == 1 })
			spoiled(t, filepath.Join(w.files.String(), "run1", "s1-in"))[how]()
			w.finished(store.ResultDone)
			w.answers(3)
			w.billedOnce(3)
			if got := w.events("damaged"); len(got) != 1 {
				t.Errorf("%+v\n%s", got, w.history())
			}
		})
	}
}

// TestResultsThatChangedOnTheDiskAreFetchedAgain damages the file of results between their fetch and their settling.
func TestResultsThatChangedOnTheDiskAreFetchedAgain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "shorter", "changed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			w.untilStep(func() bool { return len(w.segments(store.Fetched)) == 1 })
			spoiled(t, filepath.Join(w.files.String(), "run1", "s1-0-output"))[how]()
			w.finished(store.ResultDone)
			w.answers(3)
			w.billedOnce(3)
			for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
				w.ok(err)
				if want := "answer to q " + a.At.Item; a.Outcome.Text != want {
					t.Errorf("%q, want %q", a.Outcome.Text, want)
				}
			}
			if got := w.events("damaged"); len(got) != 1 {
				t.Errorf("%+v\n%s", got, w.history())
			}
			if bad := w.faults(); len(bad) > 0 {
				t.Errorf("a file that was fetched again is a fault: %+v", bad)
			}
			w.ok(os.Remove(filepath.Join(w.files.String(), "run1", "s1-1-output.zst")))
			if bad := w.faults(); len(bad) != 1 || bad[0].Kind != inventory.Missing {
				t.Errorf("the file with its answers is gone: %+v", bad)
			}
		})
	}
}

// faults compares the artifacts of the run, which is closed, with the ledger.
func (w *world) faults() []inventory.Difference {
	w.t.Helper()
	run, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if run.State != store.RunClosed {
		w.t.Errorf("run %s is %s", run.ID, run.State)
	}
	bad, _, err := inventory.Check{Ledger: w.s, Files: w.files, Others: batchrun.Kept, Hash: true}.Run(w.ctx, run)
	w.ok(err)
	return bad
}

// TestAFileWithAnswersIsMissedThoughResultsWereFetchedAgain loses each file of results of which one line came later.
func TestAFileWithAnswersIsMissedThoughResultsWereFetchedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(9, "late", good(""))
	w.finished(store.ResultDone)
	for i, name := range []string{"s1-0-output", "s1-1-output"} {
		w.ok(os.Remove(filepath.Join(w.files.String(), "run1", name+".zst")))
		if bad := w.faults(); len(bad) != i+1 || bad[i].Name != name {
			t.Errorf("%s is gone: %+v\n%s", name, bad, w.history())
		}
	}
}
