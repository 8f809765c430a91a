package cli

import (
	"context"
	"fmt"
	"strings"

	"assay"
	"assay/batchrun"
	"assay/engine"
	"assay/provider"
	"assay/store"
)

// batchRefs are the batches that a command line names: our own, and jobs that were made elsewhere with the same key.
type batchRefs struct {
	runs    []store.Run
	foreign []foreignJob
}

// foreignJob is a job that this ledger did not make.
type foreignJob struct {
	target batchrun.Target
	access engine.Access
	status provider.Status
}

// findBatches reads what the arguments mean. Without any, it is all batches that are open, or the newest.
func findBatches(ctx context.Context, w *World, h *home, args []string, reach reachFlags) (batchRefs, error) {
	var refs batchRefs
	all, err := batchRuns(ctx, h)
	if err != nil {
		return refs, err
	}
	if len(args) == 0 {
		for _, r := range all {
			if r.State == store.RunOpen {
				refs.runs = append(refs.runs, r)
			}
		}
		if len(refs.runs) == 0 && len(all) > 0 {
			refs.runs = all[:1]
		}
		if len(refs.runs) == 0 {
			return refs, usage("assay batch submit FILE sends one", "there is no batch yet")
		}
		return refs, nil
	}
	for _, arg := range args {
		run, ok, err := ownBatch(ctx, h, all, arg)
		if err != nil {
			return refs, err
		}
		if ok {
			refs.runs = append(refs.runs, run)
			continue
		}
		job, err := findForeign(ctx, w, h, arg, reach)
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
		return nil, usage(hint, "batch %s was made elsewhere%s", refs.foreign[0].status.Job, why)
	}
	return refs.runs, nil
}

// batchRuns are the runs of batch files, newest first.
func batchRuns(ctx context.Context, h *home) ([]store.Run, error) {
	runs, err := h.ledger.Runs(ctx, "", store.RunOpen, store.RunClosed)
	if err != nil {
		return nil, err
	}
	var out []store.Run
	for _, r := range runs {
		if _, ok := batchrun.Of(r); ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// ownBatch finds a batch by its id, the beginning of one, its file's name (the newest) or one of its jobs.
func ownBatch(ctx context.Context, h *home, all []store.Run, arg string) (store.Run, bool, error) {
	var begin []store.Run
	for _, r := range all {
		b, _ := batchrun.Of(r)
		switch {
		case r.ID == arg || r.Study == arg || b.File.Name == arg:
			return r, true, nil
		case strings.HasPrefix(r.ID, arg):
			begin = append(begin, r)
		}
	}
	if len(begin) > 1 {
		return store.Run{}, false, usage("write more of it", "%d batches begin with %q", len(begin), arg)
	}
	if len(begin) == 1 {
		return begin[0], true, nil
	}
	jobs, err := h.ledger.Jobs(ctx, 0)
	if err != nil {
		return store.Run{}, false, err
	}
	for _, j := range jobs {
		if j.ID != arg {
			continue
		}
		g, err := h.ledger.Segment(ctx, j.Segment)
		if err != nil {
			return store.Run{}, false, err
		}
		run, err := h.ledger.Run(ctx, g.Run)
		if err != nil {
			return store.Run{}, false, err
		}
		if _, ok := batchrun.Of(run); !ok {
			return run, false, usage("assay status "+run.ID+" looks at it", "job %s belongs to run %s of study %s", arg, run.ID, run.Study)
		}
		return run, true, nil
	}
	return store.Run{}, false, nil
}

// findForeign looks for a job at the providers whose keys are set.
func findForeign(ctx context.Context, w *World, h *home, id string, reach reachFlags) (foreignJob, error) {
	targets, err := w.resolver().Keyed(reach.asked())
	if err != nil {
		return foreignJob{}, err
	}
	var looked []string
	for _, t := range targets {
		access, err := dial(w, t)
		if err != nil || access.Batch == nil || h.rehearsal {
			continue
		}
		st, err := access.Batch.Check(ctx, provider.Job{ID: id})
		if err == nil && st.Job != "" {
			return foreignJob{t, access, st}, nil
		}
		if ctx.Err() != nil {
			return foreignJob{}, ctx.Err()
		}
		look := fmt.Sprintf("%s with the key %s", t.Name, access.Fingerprint)
		if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultDenied {
			look += ", which is refused"
		}
		looked = append(looked, look)
	}
	if len(looked) == 0 {
		return foreignJob{}, usage("assay batch list shows those there are", "no batch is called %q", id)
	}
	return foreignJob{}, usage("assay batch list shows those there are; a job is seen only by the account that made it",
		"no batch is called %q, neither here nor at %s", id, strings.Join(looked, ", "))
}

// dial opens a provider's account.
func dial(w *World, t batchrun.Target) (engine.Access, error) {
	return w.workspace().Accounts(batchrun.Providers("", t.Name, t.Kind, t.Reach)).Access(t.Name)
}
