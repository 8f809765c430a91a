package batch

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
)

// whole reports whether an artifact of the run is there with the bytes that the ledger knows by their hash.
func whole(ctx context.Context, w *hold.Work, name, sum string) (bool, error) {
	ok, err := artifacts.Whole(ctx, w.Files, w.Run.ID, name, sum)
	if err != nil {
		err = fmt.Errorf("read artifact %s: %w", name, err)
	}
	return ok, err
}

// mostDamaged is how often results are fetched again because their file was damaged here.
const mostDamaged = 8

// resultsWhole makes sure that what is settled are the bytes that were fetched. Where a file is gone or was changed, all are fetched again.
func resultsWhole(ctx context.Context, w *hold.Work, files []store.Artifact) (bool, error) {
	for _, a := range files {
		ok, err := whole(ctx, w, a.Name, a.SHA256)
		if err != nil {
			return false, err
		}
		if ok {
			continue
		}
		why := "the file " + a.Name + " with results is gone or was changed on the disk; it is fetched again"
		if w.Seg.Refetches >= mostDamaged {
			return false, w.Ledger.Work.Hold(ctx, w.Lease, why+", for the last time")
		}
		return false, errors.Join(w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "damaged", why),
			w.Ledger.Work.Refetch(ctx, w.Lease, why, w.Clock.Now()))
	}
	return true, nil
}
