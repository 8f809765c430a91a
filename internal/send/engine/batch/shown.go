package batch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/send/engine/hold"
	"assay/internal/send/inlay"
	"assay/internal/send/provider"
)

// named lists the files that the lines of the segment name by ids.
func (w *work) named(ctx context.Context) ([]inlay.Named, error) {
	if !strings.HasSuffix(w.Seg.Input, inlay.Suffix) || !w.Keeps() {
		return nil, nil
	}
	f, err := w.Files.Open(ctx, w.Run.ID, w.Seg.Input)
	if err != nil {
		return nil, err
	}
	all, err := inlay.Uploaded(f, w.Seg.Nonce)
	return all, errors.Join(err, f.Close())
}

// shown makes sure that the files which its lines name are at the provider. It is false where that takes longer.
func (w *work) shown(ctx context.Context) (bool, error) {
	files, err := w.named(ctx)
	if err != nil {
		return false, err
	}
	p, err := w.Present(ctx, files)
	switch {
	case err != nil && (ctx.Err() != nil || provider.FaultOf(err) == nil):
		return false, err
	case err != nil:
		return false, w.stumble(ctx, err)
	case p.Left > 0:
		return false, w.Ledger.Work.Wake(ctx, w.Lease, p.Due, fmt.Sprintf("uploads what its requests show: %s to come",
			assay.Count(p.Left, "file")))
	}
	w.ids = p.IDs
	return true, nil
}

// idOf returns the id of a file that a line names.
func (w *work) idOf(f inlay.Named) (string, error) {
	if id := w.ids[f.Sum]; id != "" {
		return id, nil
	}
	return "", fmt.Errorf("a file that a request shows is not at %s", w.Seg.Provider)
}

// gone reports whether a line is no answer because files that its segment names are not at the provider any more.
func (r *reading) gone(ctx context.Context, line provider.Line) (bool, error) {
	if line.Outcome.Ending.Stands() || !hold.AboutFile(line.Outcome.Fault) {
		return false, nil
	}
	if r.lostFiles == nil {
		files, err := r.w.named(ctx)
		if err != nil {
			return false, err
		}
		gone := false
		if len(files) > 0 {
			if gone, err = r.w.Gone(ctx, files); err != nil {
				return false, err
			}
		}
		r.lostFiles = &gone
	}
	return *r.lostFiles, nil
}
