package origin_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/origin"
)

// TestACopyOfALedgerReconcilesFirst copies a ledger's file: open runs of the copy compare the jobs at their providers, those of the
// original do not.
func TestACopyOfALedgerReconcilesFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	owes := func(file string) bool {
		t.Helper()
		l, err := ledger.Open(t.Context(), file, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if file == first {
			if r, err := l.Runs.CreateRun(t.Context(), store.NewRun{ID: "r", Study: "s", Settings: "{}"}); err == nil {
				if err := l.Runs.OpenRun(t.Context(), r.No); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := origin.Check(t.Context(), l, file); err != nil {
			t.Fatal(err)
		}
		open, err := l.Reader.Runs(t.Context(), "", store.RunOpen)
		if err != nil || len(open) != 1 {
			t.Fatal(len(open), err)
		}
		return open[0].Reconcile != ""
	}
	for range 2 {
		if owes(first) {
			t.Error("the original owes a reconciliation")
		}
	}
	text, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(second, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if !owes(second) {
		t.Error("the copy owes nothing")
	}
	moved := filepath.Join(dir, "c.db")
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	if owes(moved) {
		t.Error("a ledger that was only moved owes a reconciliation")
	}
}

// TestALedgerWithoutARunBesideArtifactsIsLost has the folder of artifacts hold a run.
func TestALedgerWithoutARunBesideArtifactsIsLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, "l.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	folder := filepath.Join(dir, "runs")
	if err := os.MkdirAll(filepath.Join(folder, artifacts.Shelf), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := origin.Lost(t.Context(), l, folder); err != nil {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*origin.LostLedgerError](origin.Lost(t.Context(), l, folder)); !ok {
		t.Error("it is taken for a new one")
	}
}
