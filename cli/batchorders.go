package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay"
	"assay/batchfile"
	"assay/batchrun"
	"assay/catalog"
	"assay/engine"
	"assay/provider"
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
				return usage("--all stops every open one", "assay batch cancel wants BATCH")
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
		c, ok := j.access.Batch.(provider.Canceler)
		if !ok {
			return usage("", "%s cannot cancel a job", j.target.Name)
		}
		if err := c.Cancel(ctx, provider.Job{ID: j.status.Job, Model: j.status.Model}); err != nil {
			return fmt.Errorf("cancel %s at %s: %w", j.status.Job, j.target.Name, err)
		}
		fmt.Fprintf(w.Stderr, "%s was asked to stop %s\n", j.target.Name, j.status.Job)
	}
	if len(open) == 0 {
		return nil
	}
	if err := printBatches(ctx, w, h, open); err != nil {
		return err
	}
	for _, run := range open {
		if now, err := h.ledger.Run(ctx, run.No); err == nil && now.State == store.RunOpen {
			fmt.Fprintf(w.Stderr, "batch %s is being stopped: `assay batch watch %s` brings back what was done\n", run.ID, run.ID)
		}
	}
	return nil
}

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
	c.Flags().BoolVar(&f.watch, "watch", false, "stay until everything is back")
	return c
}

func retryBatches(ctx context.Context, w *World, args []string, f retryFlags) error {
	order := engine.Retry{Only: []assay.Ending{assay.Errored, assay.Expired, assay.Cancelled, assay.Lost}}
	if len(f.only) > 0 {
		order.Only = nil
	}
	for _, name := range f.only {
		e, err := endingOf(name)
		if err != nil {
			return err
		}
		order.Only = append(order.Only, e)
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
		n, cost, waiting, err := toRetry(ctx, h, run, order.Only)
		if err != nil {
			return err
		}
		if n == 0 && !waiting {
			fmt.Fprintf(w.Stderr, "batch %s: nothing to send again\n", run.ID)
			continue
		}
		fmt.Fprintf(w.Stderr, "batch %s: %s requests without an answer go out again, %s\n", run.ID, assay.Thousands(n), cost)
		again = append(again, run)
	}
	if len(again) == 0 {
		return nil
	}
	if err := ask(w, f.yes, "Send?"); err != nil {
		return err
	}
	return sendAgain(ctx, w, h, again, order, f.watch)
}

func sendAgain(ctx context.Context, w *World, h *home, runs []store.Run, order engine.Retry, watch bool) error {
	live := false
	for i, run := range runs {
		b, _ := batchrun.Of(run)
		own := order
		if own.Mode = store.Batch; b.File.Mode == assay.ModeLive {
			own.Mode, live = store.Live, true
		}
		text, err := json.Marshal(own)
		if err != nil {
			return err
		}
		if err := h.ledger.ReopenRun(ctx, run.No, "retry"); err != nil {
			return err
		}
		if err := orderBatch(ctx, w, h, run, store.Order{Kind: store.OrderRetry, Args: string(text)}); err != nil {
			return err
		}
		if runs[i], err = h.ledger.Run(ctx, run.No); err != nil {
			return err
		}
	}
	if watch || live {
		return watchBatches(ctx, w, h, runs, watchFlags{})
	}
	return sendOff(ctx, w, h, runs)
}

// toRetry counts what would go out again, and what it may cost. Waiting tells of lanes that were stopped or held.
func toRetry(ctx context.Context, h *home, run store.Run, only []assay.Ending) (n int64, cost assay.Cost, waiting bool, err error) {
	b, _ := batchrun.Of(run)
	meters := map[string]*batchfile.Meter{}
	for _, l := range b.File.Lanes {
		meters[l.Name] = batchfile.NewMeter(catalog.Default(), b.File.Kind, l.Lane, b.File.Mode)
	}
	for a, err := range batchrun.Answers(ctx, h.ledger.Reader, run.No) {
		if err != nil {
			return 0, cost, false, err
		}
		if !a.Ended || !slices.Contains(only, a.Outcome.Ending) {
			continue
		}
		expected, _ := meters[a.Line.Lane].Estimate(a.Line.Prompt, a.Line.Limit)
		n, cost = n+1, cost.Add(expected)
	}
	lanes, err := h.ledger.Lanes(ctx, run.No)
	for _, l := range lanes {
		waiting = waiting || l.State != store.LaneOpen && l.Open > 0
	}
	return n, cost, waiting, err
}
