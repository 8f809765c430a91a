package cli

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
)

// batchRefs are the batches that a command line names: our own, and jobs that were made elsewhere with the same key.
type batchRefs struct {
	runs    []store.Run
	foreign []batchrun.Foreign
}

// findBatches reads what the arguments mean. Without any, it is all batches that are open, or the newest.
func findBatches(ctx context.Context, w *World, h *home, args []string, reach reachFlags) (batchRefs, error) {
	var refs batchRefs
	if len(args) == 0 {
		runs, err := h.Batches().Open(ctx)
		return batchRefs{runs: runs}, err
	}
	for _, arg := range args {
		run, ok, err := h.Batches().Find(ctx, arg)
		if err != nil {
			return refs, err
		}
		if ok {
			refs.runs = append(refs.runs, run)
			continue
		}
		at, err := w.workspace().Resolver().Keyed(reach.asked())
		if err != nil {
			return refs, err
		}
		if h.Rehearsal { // whose jobs no provider knows
			at = nil
		}
		job, err := batchrun.Search(ctx, arg, at, w.workspace().Dial)
		if err != nil {
			return refs, err
		}
		refs.foreign = append(refs.foreign, job)
	}
	return refs, nil
}

// ownBatches are the batches that the arguments mean, where a command can do nothing about those made elsewhere: hint and why
// say so of the first.
func ownBatches(ctx context.Context, w *World, h *home, args []string, reach reachFlags, hint, why string) ([]store.Run, error) {
	refs, err := findBatches(ctx, w, h, args, reach)
	if err != nil {
		return nil, err
	}
	if len(refs.foreign) > 0 {
		return nil, usage(hint, "batch %s was made elsewhere%s", refs.foreign[0].Status.Job, why)
	}
	return refs.runs, nil
}
