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
			run, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			check := inventory.Check{Ledger: w.s, Files: w.files, Others: batchrun.Kept, Hash: true}
			if bad, _, err := check.Run(w.ctx, run); err != nil || run.State != store.RunClosed || len(bad) > 0 {
				t.Errorf("a file that was fetched again is a fault: %+v, %v", bad, err)
			}
			w.ok(os.Remove(filepath.Join(w.files.String(), "run1", "s1-1-output.zst")))
			if bad, _, err := check.Run(w.ctx, run); err != nil || len(bad) != 1 || bad[0].Kind != inventory.Missing {
				t.Errorf("the file with its answers is gone: %+v, %v", bad, err)
			}
		})
	}
}
