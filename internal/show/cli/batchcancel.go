package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/keep/store"
)

func batchCancelCommand(w *World) *cobra.Command {
	var home homeFlags
	var reach reachFlags
	var all bool
	c := &cobra.Command{
		Use:   "cancel BATCH…",
		Short: "Stop batches; what the providers still hand out is kept",
		Long: "Stops the jobs of batches. What was done is kept and can be collected. As with `assay cancel`, the exit code is 3 where requests have no answer,\n" +
			"0 where all have one, and 0 where the batch has ended already.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if len(args) == 0 && !all {
				return usage("--all stops every open one", "assay batch cancel needs BATCH")
			}
			h, err := home.open(ctx, w, false)
			if err != nil {
				return err
			}
			defer h.Close()
			refs, err := findBatches(ctx, w, h, args, reach)
			if err != nil {
				return err
			}
			return cancelBatches(ctx, w, h, refs)
		},
	}
	home.register(c)
	reach.registerPlace(c, "where to look for a job that was made elsewhere")
	c.Flags().BoolVar(&all, "all", false, "every open batch of this ledger")
	return c
}

func cancelBatches(ctx context.Context, w *World, h *home, refs batchRefs) error {
	var open []store.Run
	for _, run := range refs.runs {
		if run.State == store.RunClosed {
			fmt.Fprintf(w.Stderr, "batch %s has ended already, and nothing was cancelled\n", run.ID)
			continue
		}
		if err := orderBatch(ctx, w, h, run, store.Order{Kind: store.OrderCancel}); err != nil {
			return err
		}
		open = append(open, run)
	}
	for _, j := range refs.foreign {
		if err := j.Cancel(ctx); err != nil {
			return err
		}
		fmt.Fprintf(w.Stderr, "%s was asked to stop %s\n", j.Target.Name, j.Status.Job)
	}
	if len(open) == 0 {
		return nil
	}
	if err := printBatches(ctx, w, h, open); err != nil {
		return err
	}
	return cancelled(ctx, h, open)
}

// cancelled is what batches came to that were stopped: as with a run of a study, requests without an answer are exit code 3.
func cancelled(ctx context.Context, h *home, runs []store.Run) error {
	var all []error
	for _, r := range runs {
		run, err := h.Ledger.Reader.Run(ctx, r.No)
		switch {
		case err != nil:
			return err
		case run.State != store.RunClosed:
			all = append(all, fmt.Errorf("batch %s is being stopped: `assay batch resume %s` brings back what was done", run.ID, h.named(run)))
		case run.Result != store.ResultDone:
			all = append(all, fmt.Errorf("batch %s is %s: `assay batch errors %s` lists what has no answer", run.ID, run.Result, h.named(run)))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &exitError{code: exitIncomplete, err: errors.Join(all...)}
}
