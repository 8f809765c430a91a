package cli

import (
	"context"
	"fmt"

	"assay/analysis"
	"assay/expr"
	"assay/store"
)

// findings answers the gates of a run from its verdicts on some stages, as `require` would be answered.
func (h *home) findings(ctx context.Context, run store.Run, stages []string) (expr.Source, error) {
	st, err := h.planner.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	d := &rowReader{h: h, run: run, study: st}
	report, err := d.report(ctx, []gate{{stages: stages}})
	if err != nil {
		return nil, err
	}
	return analysis.Answers{Report: report}, nil
}

// printGatesOf tells which stages and lanes a gate of the study left out.
func printGatesOf(ctx context.Context, w *World, h *home, run store.Run) error {
	n := 0
	for d, err := range h.ledger.Decisions(ctx, run.No) {
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
