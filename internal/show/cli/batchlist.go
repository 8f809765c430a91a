package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay/internal/send/batchrun"
)

func batchListCommand(w *World) *cobra.Command {
	var f statusBatchFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List all batches at all providers whose keys are set: of files, of studies, and those made elsewhere",
		Args:  args(),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			h, err := f.home.open(ctx, w, f.rehears)
			if err != nil {
				return err
			}
			defer h.Close()
			jobs, err := listAll(ctx, w, h, f)
			if err != nil {
				return err
			}
			return f.print(w, h, jobs)
		},
	}
	f.reach.registerPlace(c, "only this provider")
	f.home.register(c)
	c.Flags().BoolVar(&f.json, "json", false, `print JSON: {"batches":[{"provider","batch_id","model","created","status"}]}`)
	c.Flags().BoolVar(&f.offline, "offline", false, "only what the ledger knows; ask no provider")
	c.Flags().BoolVar(&f.rehears, "rehearsal", false, "list the rehearsals")
	return c
}

// listAll is what the ledger knows, and what the providers know beside it.
func listAll(ctx context.Context, w *World, h *home, f statusBatchFlags) ([]batchrun.Job, error) {
	runs, err := h.Batches().Runs(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := h.Batches().Jobs(ctx, runs...)
	if err != nil {
		return nil, err
	}
	ofStudies, studies, err := h.Batches().StudyJobs(ctx)
	if err != nil {
		return nil, err
	}
	jobs, runs = append(jobs, ofStudies...), append(runs, studies...)
	if !f.offline && !h.Rehearsal {
		found, err := listElsewhere(ctx, w, h, f.reach)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, found...)
		h.RefreshJobs(ctx, runs, jobs)
	}
	if name := f.reach.wish.Provider; name != "" {
		jobs = slices.DeleteFunc(jobs, func(j batchrun.Job) bool { return j.Provider != name })
	}
	return jobs, nil
}

// listElsewhere lists the jobs at the providers that this ledger did not make.
func listElsewhere(ctx context.Context, w *World, h *home, reach reachFlags) ([]batchrun.Job, error) {
	ours, err := h.Ledger.Reader.Jobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	targets, err := w.workspace().Resolver().Keyed(reach.asked())
	if err != nil {
		return nil, err
	}
	var jobs []batchrun.Job
	for _, t := range targets {
		found, err := batchrun.List(ctx, t, w.workspace().Dial, ours)
		if err != nil {
			fmt.Fprintf(w.Stderr, "%s: its jobs cannot be listed: %s\n", t.Name, err)
		}
		if found.More {
			fmt.Fprintf(w.Stderr, "%s: the newest %d jobs are shown\n", t.Name, batchrun.MaxListed)
		}
		jobs = append(jobs, found.Jobs...)
	}
	return jobs, nil
}
