package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
)

// whole reports whether an artifact of the run is there with the bytes that the ledger knows by their hash.
func whole(ctx context.Context, w *hold.Work, name, sum string) (bool, error) {
	f, err := w.Files.Open(ctx, w.Run.ID, name)
	if err == nil {
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		if err = errors.Join(err, f.Close()); err == nil {
			return hex.EncodeToString(hash.Sum(nil)) == sum, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, artifacts.ErrDamaged) {
		return false, nil
	}
	return false, fmt.Errorf("read artifact %s: %w", name, err)
}

// inputWhole makes sure that what is sent are the bytes that were cut. A file that is gone or changed is not sent: its requests are
// made again, in a new segment. Where a lost create call may have made a job of it, that is looked for first.
func (w *work) inputWhole(ctx context.Context) (bool, error) {
	ok, err := whole(ctx, w.Work, w.Seg.Input, w.Seg.InputSHA256)
	if ok || err != nil {
		return ok, err
	}
	why := "its file " + w.Seg.Input + " is gone or was changed on the disk"
	if owesAudit(w.Seg) {
		seen, err := w.lookForLost(ctx, why+", and a lost create call may have made a job of it")
		if err != nil || seen == jobSought || seen == jobTaken {
			return false, err
		}
		if err := w.Ledger.Work.Audited(ctx, w.Lease, store.Audit{Due: w.Clock.Now(), Unclear: seen == jobUnclear}); err != nil {
			return false, err
		}
	}
	return false, errors.Join(w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "damaged", why), w.TakeBack(ctx, "not sent: "+why))
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
