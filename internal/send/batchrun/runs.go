package batchrun

import (
	"context"
	"strings"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/study/catalog"
)

// Reader reads batch runs back: which there are, their jobs, costs and results.
type Reader struct {
	Ledger  *read.Reader
	Pages   *read.Pages
	Files   artifacts.Place
	Catalog *catalog.Catalog
}

// Runs lists the batch runs of the ledger, newest first.
func (r *Reader) Runs(ctx context.Context) ([]store.Run, error) {
	runs, err := r.Ledger.Runs(ctx, "", store.RunOpen, store.RunClosed)
	if err != nil {
		return nil, err
	}
	var out []store.Run
	for _, run := range runs {
		if _, ok := Of(run); ok {
			out = append(out, run)
		}
	}
	return out, nil
}

// Open lists the batch runs that are open; if none is, the newest.
func (r *Reader) Open(ctx context.Context) ([]store.Run, error) {
	all, err := r.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var open []store.Run
	for _, run := range all {
		if run.State == store.RunOpen {
			open = append(open, run)
		}
	}
	if len(open) == 0 && len(all) > 0 {
		open = all[:1]
	}
	if len(open) == 0 {
		return nil, usage("assay batch submit FILE sends one", "there is no batch yet")
	}
	return open, nil
}

// Find finds a batch run by its id, the beginning of one, its file's name (the newest), or any run by one of its jobs;
// false: there is none.
func (r *Reader) Find(ctx context.Context, ref string) (store.Run, bool, error) {
	all, err := r.Runs(ctx)
	if err != nil {
		return store.Run{}, false, err
	}
	var begin []store.Run
	for _, run := range all {
		b, _ := Of(run)
		switch {
		case run.ID == ref || run.Study == ref || b.File.Name == ref:
			return run, true, nil
		case strings.HasPrefix(run.ID, ref):
			begin = append(begin, run)
		}
	}
	if len(begin) > 1 {
		return store.Run{}, false, usage("write more of it", "%d batches begin with %q", len(begin), ref)
	}
	if len(begin) == 1 {
		return begin[0], true, nil
	}
	return r.ofJob(ctx, ref)
}

// ofJob finds the run that a provider's job belongs to.
func (r *Reader) ofJob(ctx context.Context, id string) (store.Run, bool, error) {
	jobs, err := r.Ledger.Jobs(ctx, 0)
	if err != nil {
		return store.Run{}, false, err
	}
	for _, j := range jobs {
		if j.ID != id {
			continue
		}
		g, err := r.Ledger.Segment(ctx, j.Segment)
		if err != nil {
			return store.Run{}, false, err
		}
		run, err := r.Ledger.Run(ctx, g.Run)
		if err != nil {
			return store.Run{}, false, err
		}
		return run, true, nil
	}
	return store.Run{}, false, nil
}

// SentBefore finds the newest run of the same file to the same place; false: there is none.
func (r *Reader) SentBefore(ctx context.Context, file string, b Batch) (store.Run, bool, error) {
	runs, err := r.Ledger.Runs(ctx, file, store.RunOpen, store.RunClosed)
	if err != nil {
		return store.Run{}, false, err
	}
	digest := b.Digest()
	for _, run := range runs {
		if run.Digest == digest {
			return run, true, nil
		}
	}
	return store.Run{}, false, nil
}
