// Package origin finds out whether a ledger is the one that was last driven: not a copy, not put back, and not a new one beside the
// artifacts of one that was lost.
package origin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/backup"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// Check makes open runs compare the jobs at their providers with the ledger where its file is not the one that was last driven: it was
// copied, or put back from a copy.
func Check(ctx context.Context, l *ledger.Ledger, file string) error {
	id := backup.Identity(file)
	if id == "" {
		return nil
	}
	before, err := l.Runs.Put(ctx, "origin", id)
	if err != nil || before == "" || before == id {
		return err
	}
	return OweAll(ctx, l, "the ledger's file was copied, or put back from a copy, since it was last driven")
}

// OweAll makes all open runs compare the jobs at their providers with the ledger before they send anything.
func OweAll(ctx context.Context, l *ledger.Ledger, why string) error {
	open, err := l.Reader.Runs(ctx, "", store.RunOpen)
	for _, r := range open {
		err = errors.Join(err, l.Work.OweReconcile(ctx, r.No, why))
	}
	return err
}

// LostLedgerError reports a ledger without a run beside artifacts of runs: it was lost, and what they asked would be paid again.
type LostLedgerError struct {
	Folder string // of the artifacts
	Runs   []string
}

// Error names the runs.
func (e *LostLedgerError) Error() string {
	return fmt.Sprintf("the ledger has no run, and %s holds artifacts of %s (%s): it was lost, or put back without its -wal file",
		e.Folder, assay.Count(len(e.Runs), "run"), strings.Join(e.Runs[:min(3, len(e.Runs))], ", "))
}

// Lost makes sure that a ledger without a run is a new one: the folder of its artifacts is empty.
func Lost(ctx context.Context, l *ledger.Ledger, folder string) error {
	if l.Postgres() {
		return nil
	}
	// One whose maker was killed while it was being prepared is a run, too: it may have artifacts.
	if _, err := l.Reader.FindRun(ctx, "latest", ""); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return LostOf(folder)
}

// LostOf makes sure that the folder of the artifacts of a ledger without a run is empty.
func LostOf(folder string) error {
	entries, _ := os.ReadDir(folder) // a bucket is no folder
	var names []string
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(artifacts.Shelves(), e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &LostLedgerError{Folder: folder, Runs: names}
}
