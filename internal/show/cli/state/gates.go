package state

import (
	"context"
	"fmt"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
)

// printRoundsOf prints how far the stages are that buy their pairs in rounds.
func printRoundsOf(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	all, err := runs.RoundStates(ctx, h.Results(), run)
	if err != nil || len(all) == 0 {
		return err
	}
	fmt.Fprintln(w.Stdout)
	for _, s := range all {
		fmt.Fprintln(w.Stdout, s.Words(h.Named(run)))
	}
	return nil
}

// printGatesOf prints which stages and lanes a gate of the study left out.
func printGatesOf(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	n := 0
	for d, err := range h.Ledger.Reader.Decisions(ctx, run.No) {
		if err != nil {
			return err
		}
		if d.Passed {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintln(w.Stdout)
		}
		if d.Lane == "" {
			fmt.Fprintf(w.Stdout, "Stage %s is closed by its gate: %s\n", d.Stage, d.Why)
			continue
		}
		fmt.Fprintf(w.Stdout, "Stage %s leaves lane %s out: %s\n", d.Stage, d.Lane, d.Why)
	}
	return nil
}
