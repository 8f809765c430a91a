package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"assay/store"
)

// printWaits says what an open run waits for, by when its results have to be collected, and who drives it.
func printWaits(ctx context.Context, w *World, h *home, run store.Run) error {
	if run.State == store.RunClosed || h.Temporary != "" {
		return nil
	}
	troubles, err := h.Ledger.Troubles(ctx, run.No, maxTroubles+1)
	if err != nil {
		return err
	}
	far, err := h.Ledger.Progress(ctx, []int64{run.No})
	if err != nil {
		return err
	}
	who, err := driversOf(ctx, h, run)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.Stdout)
	for i, t := range troubles {
		if i == maxTroubles {
			fmt.Fprintln(w.Stdout, "and further segments: --segments lists all")
			break
		}
		fmt.Fprintln(w.Stdout, troubleLine(t))
	}
	p := far[run.No]
	if !p.CollectBefore.IsZero() {
		fmt.Fprintf(w.Stdout, "Collect before %s: then a provider deletes results.\n", p.CollectBefore.Local().Format(time.DateTime))
	}
	if run.Budget != nil && p.Open == 0 {
		fmt.Fprintf(w.Stdout, "Nothing is in flight. Of the budget of %s, %s is left: `assay resume %s --budget AMOUNT` raises it.\n",
			run.Budget, *run.Budget-run.Spent-run.Reserved, run.ID)
	}
	fmt.Fprintln(w.Stdout, who)
	return nil
}

// driversOf says who drives an open run.
func driversOf(ctx context.Context, h *home, run store.Run) (string, error) {
	all, err := h.Ledger.Drivers(ctx, run.No)
	if err != nil {
		return "", err
	}
	var names []string
	for _, d := range all {
		if !h.Gone(d.Holder) {
			names = append(names, processOf(d.Holder))
		}
	}
	if len(names) > 0 {
		return "At work on it: " + strings.Join(names, ", ") + ".", nil
	}
	if alive, err := h.Workers(ctx); err != nil || alive {
		return "Left to the workers.", err
	}
	away, err := h.JobsAway(ctx, run)
	also := ""
	if away {
		also = "; jobs at the providers go on"
	}
	return fmt.Sprintf("No process drives it%s. `assay resume %s` goes on with it.", also, run.ID), err
}
