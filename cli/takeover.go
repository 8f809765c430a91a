package cli

import (
	"context"
	"path/filepath"

	"assay/plan"
	"assay/store"
)

// changedFrom is the newest closed run of the study in its folder, whose answers a changed study takes over: whoever adds or
// changes a judge does not pay for the answers again. A study that says what it reuses is obeyed, and a rehearsal is never
// reused.
func changedFrom(ctx context.Context, w *World, h *home, d *plan.Input, name string, f runFlags) (store.Run, bool, error) {
	if f.anew || f.rehearse || d.Study.Reuse != nil {
		return store.Run{}, false, nil
	}
	runs, err := h.ledger.Runs(ctx, d.Study.Study, store.RunClosed)
	if err != nil {
		return store.Run{}, false, err
	}
	folder := filepath.Dir(w.Disk.Path(name))
	for _, r := range runs {
		if r.Folder == folder && !r.Rehearsal {
			return r, true, nil
		}
	}
	return store.Run{}, false, nil
}
