package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/results"
	"assay/store"
)

const (
	// errorQuery lists the requests of one run that have no answer.
	errorQuery = "SELECT stage, lane, item, turn, branch, judged_lane, first, second, status, class, http_status, code, message, attempt, segment, job FROM run_errors" +
		" WHERE run = '%s' ORDER BY stage, lane, item, turn"
	// silentQuery lists the verdicts of one run that judge nothing.
	silentQuery = "SELECT stage, judge, lane, first, second, item, turn, branch, prompt, trait, vote, state, reason FROM verdicts_named" +
		" WHERE run = '%s' AND state IN ('abstained', 'malformed', 'failed') ORDER BY stage, judge, lane, first, second, item, turn, branch"
	silentCounts = "SELECT state, COUNT(*) FROM verdicts WHERE run_no = %d AND stale = 0 AND state IN ('abstained', 'malformed', 'failed') GROUP BY state ORDER BY state"
)

func errorsCommand(w *World) *cobra.Command {
	var f sqlFlags
	var verdicts bool
	c := &cobra.Command{
		Use:     "errors [RUN]",
		GroupID: groupLook,
		Short:   "List the requests of a run that have no answer, and why",
		Long: "Lists the requests that ended without an answer, and what the provider said. --verdicts lists what judges could not say instead: replies that\n" +
			"cannot be read (malformed), judges and programs that failed, and those that abstained, each with the reason.",
		Args: upTo("RUN"),
		RunE: f.home.looking(w, func(ctx context.Context, h *home, run store.Run) error {
			h.watermark(w)
			if verdicts {
				return printQuery(ctx, w, h, fmt.Sprintf(silentQuery, run.ID), f)
			}
			if err := printQuery(ctx, w, h, fmt.Sprintf(errorQuery, run.ID), f); err != nil {
				return err
			}
			if err := printUnasked(ctx, w, h, run); err != nil {
				return err
			}
			return printUnjudged(ctx, w, h, run)
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&verdicts, "verdicts", false, "list the verdicts that judge nothing instead")
	return c
}

// printUnasked says how an incomplete run stands: what could not be asked is no error of any request.
func printUnasked(ctx context.Context, w *World, h *home, run store.Run) error {
	if run.Result != store.ResultIncomplete {
		return nil
	}
	far, err := h.results().Progress(ctx, run)
	if err != nil {
		return err
	}
	cost, err := h.results().Spent(ctx, run)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.Stderr, results.Standing(run, far[run.No].Progress, cost))
	return err
}

// printUnjudged says how many verdicts of a run judge nothing: a run whose requests are all answered may still be judged in part.
func printUnjudged(ctx context.Context, w *World, h *home, run store.Run) error {
	var parts []string
	err := h.Ledger.Query(ctx, fmt.Sprintf(silentCounts, run.No), func(_ []string, values []any) error {
		parts = append(parts, fmt.Sprintf("%v %s", values[1], cell(values[0])))
		return nil
	})
	if err != nil || len(parts) == 0 {
		return err
	}
	_, err = fmt.Fprintf(w.Stderr, "verdicts that judge nothing: %s (assay errors %s --verdicts lists why)\n", strings.Join(parts, ", "), run.ID)
	return err
}
