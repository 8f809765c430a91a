package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/store"
)

func batchCancelCommand(w *World) *cobra.Command {
	var home homeFlags
	var reach reachFlags
	var all bool
	c := &cobra.Command{
		Use:   "cancel BATCH…",
		Short: "Stop batches; what the providers still hand out is kept",
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
			fmt.Fprintf(w.Stderr, "batch %s has ended already\n", run.ID)
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
	for _, run := range open {
		if now, err := h.Ledger.Run(ctx, run.No); err == nil && now.State == store.RunOpen {
			fmt.Fprintf(w.Stderr, "batch %s is being stopped: `assay batch resume %s` brings back what was done\n", run.ID, run.ID)
		}
	}
	return nil
}
