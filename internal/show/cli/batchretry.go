package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

type retryFlags struct {
	home  homeFlags
	only  []string
	yes   bool
	watch bool
}

func batchRetryCommand(w *World) *cobra.Command {
	var f retryFlags
	c := &cobra.Command{
		Use:   "retry [BATCH…]",
		Short: "Send again only what has no answer",
		Long: "Sends again the requests of a batch that ended without an answer, as a job of their own; the results belong to the same batch.\n" +
			"What the provider rejected or answered with nothing is left alone unless --only names it: it would cost and end the same.",
		RunE: func(c *cobra.Command, args []string) error { return retryBatches(c.Context(), w, args, f) },
	}
	f.home.register(c)
	c.Flags().StringSliceVar(&f.only, "only", nil, "only these endings: empty, rejected, errored, expired, cancelled, lost")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	c.Flags().BoolVar(&f.watch, "wait", false, "stay and drive it until everything is back")
	return c
}

func retryBatches(ctx context.Context, w *World, args []string, f retryFlags) error {
	only := []assay.Ending{assay.Errored, assay.Expired, assay.Cancelled, assay.Lost}
	if len(f.only) > 0 {
		only = nil
	}
	for _, name := range f.only {
		e, err := endingOf(name)
		if err != nil {
			return err
		}
		only = append(only, e)
	}
	h, err := f.home.open(ctx, w, false)
	if err != nil {
		return err
	}
	defer h.Close()
	runs, err := ownBatches(ctx, w, h, args, reachFlags{}, "submit its file here", ": what it asked is not known")
	if err != nil {
		return err
	}
	var again []store.Run
	for _, run := range runs {
		a, err := h.Batches().Again(ctx, run, only)
		if err != nil {
			return err
		}
		if a.Requests+a.Unsent == 0 {
			fmt.Fprintf(w.Stderr, "batch %s: nothing to send again\n", run.ID)
			continue
		}
		fmt.Fprintf(w.Stderr, "batch %s: %s kept, %s without an answer to be sent again: %s expected, at most %s\n", run.ID,
			assay.Count(a.Kept, "answer"), assay.Count(a.Requests+a.Unsent, "request"), a.Expected, a.High)
		again = append(again, run)
	}
	if len(again) == 0 {
		return nil
	}
	if err := ask(w, f.yes, "Send?"); err != nil {
		return err
	}
	return sendAgain(ctx, w, h, again, only, f.watch)
}

func sendAgain(ctx context.Context, w *World, h *home, runs []store.Run, only []assay.Ending, watch bool) error {
	live := false
	for i, run := range runs {
		asked, err := h.RetryBatch(ctx, run, only)
		if err != nil {
			return err
		}
		live = live || asked
		if _, err := driveFor(ctx, w, h, run, 0, once); err != nil {
			return err
		}
		if runs[i], err = h.Ledger.Reader.Run(ctx, run.No); err != nil {
			return err
		}
	}
	if watch || live {
		return watchBatches(ctx, w, h, runs, watchFlags{})
	}
	return sendOff(ctx, w, h, runs)
}
