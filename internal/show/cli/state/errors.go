package state

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

const (
	// errorQuery lists the requests of one run that have no answer.
	errorQuery = "SELECT key, stage, lane, item, turn, branch, draw, judged_lane, first, second, status, class, http_status, code, " +
		"message, attempt, segment, job FROM run_errors" +
		" WHERE run = '%s' ORDER BY stage, lane, item, turn"
	// silentQuery lists the verdicts of one run that judge nothing.
	silentQuery = "SELECT key, stage, judge, lane, first, second, item, turn, branch, draw, prompt, trait, vote, state, reason FROM " +
		"verdicts_named" +
		" WHERE run = '%s' AND state IN ('abstained', 'malformed', 'failed') ORDER BY stage, judge, lane, first, second, item, turn, branch"
	// silentCauses counts them by cause, with one of each.
	silentCauses = "SELECT COUNT(*), state, reason, stage, judge, MIN(item) FROM verdicts_named WHERE run = '%s' AND state IN " +
		"('abstained', 'malformed', 'failed') GROUP BY state, reason, stage, judge ORDER BY COUNT(*) DESC, stage, judge, reason LIMIT %d"
	// unreadCount counts the replies of models that no verdict was read from.
	unreadCount = "SELECT COUNT(*) FROM verdicts WHERE run_no = %d AND stale = 0 AND state = 'malformed' AND segment_no IS NOT NULL"
)

// Errors makes the command `assay errors`.
func Errors(w *shell.World) *cobra.Command {
	var f shell.SqlFlags
	var verdicts bool
	c := &cobra.Command{
		Use:     "errors [RUN]",
		GroupID: shell.GroupLook,
		Short:   "List the requests of a run that have no answer, and why",
		Long: "Prints why requests ended without an answer, by cause, and below how many could not be asked, and why. --csv and --json " +
			"list every request: of\n" +
			"a judge's, judged_lane is whose answer it reads; of a pair, first and second are what was shown. --verdicts " +
			"lists what judges " +
			"could not say\n" +
			"instead: replies that cannot be read (malformed), judges and programs that failed, and those that abstained, by cause, and " +
			"all with --csv.\n" +
			"`assay show KEY` shows all there is about one. Of a batch file it lists the lines, under the ids of the file.",
		Args: shell.UpTo("RUN"),
		RunE: f.Home.Looking(w, func(ctx context.Context, h *shell.Home, run store.Run) error {
			h.Watermark(w)
			if _, batch := batchrun.Of(run); batch {
				return printFailures(ctx, w, h, run, f)
			}
			if verdicts {
				if err := printSilent(ctx, w, h, run, f); err != nil {
					return err
				}
				return printAskAgain(ctx, w, h, run)
			}
			if err := printErrors(ctx, w, h, run, f); err != nil {
				return err
			}
			if err := printUnasked(ctx, w, h, run, f); err != nil {
				return err
			}
			return PrintUnjudged(ctx, w, h, run)
		}),
	}
	f.Short = true
	f.Register(c)
	c.Flags().BoolVar(&verdicts, "verdicts", false, "list the verdicts that judge nothing instead")
	return c
}

// printAskAgain prints the command that asks models again whose verdicts could not be read.
func printAskAgain(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	if run.State != store.RunClosed {
		return nil
	}
	return h.Ledger.Reader.Query(ctx, fmt.Sprintf(unreadCount, run.No), func(_ []string, values []any) error {
		if n, ok := values[0].(int64); ok && n > 0 {
			fmt.Fprintf(w.Stderr, "`assay retry %s --verdicts malformed` asks again for the %s that cannot be read\n", h.Named(run),
				assay.Count(n, "verdict"))
		}
		return nil
	})
}

// printSilent prints the verdicts of a run that judge nothing: by cause, the most frequent first; for programs, each.
func printSilent(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, f shell.SqlFlags) error {
	if f.Csv || f.Json {
		return shell.PrintQuery(ctx, w, h, fmt.Sprintf(silentQuery, run.ID), f)
	}
	causes := 0
	err := h.Ledger.Reader.Query(ctx, fmt.Sprintf(silentCauses, run.ID, maxCauses), func(_ []string, values []any) error {
		causes++
		n, _ := values[0].(int64)
		cell := func(i int) string { return shell.Cell(values[i]) }
		line := fmt.Sprintf("%s × %s: %s, by %s of %s, such as item %s", assay.Thousands(n), cell(1), cell(2), cell(4), cell(3),
			cell(5))
		_, err := fmt.Fprintln(w.Stdout, term.Wrapped(assay.Clean(line, 700), w.OutWidth(), "    "))
		return err
	})
	switch {
	case err != nil:
		return err
	case causes == 0:
		fmt.Fprintln(w.Stderr, "nothing")
		return nil
	}
	_, err = fmt.Fprintf(w.Stdout, "`assay errors %s --verdicts --csv` lists every verdict.\n", h.Named(run))
	return err
}

// maxCauses is how many causes are printed.
const maxCauses = 50

// printErrors prints the requests of a run that have no answer: by cause, the most frequent first; for programs, each.
func printErrors(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, f shell.SqlFlags) error {
	if f.Csv || f.Json {
		return shell.PrintQuery(ctx, w, h, fmt.Sprintf(errorQuery, run.ID), f)
	}
	causes, err := h.Ledger.Pages.Causes(ctx, run.No, maxCauses)
	for _, c := range causes {
		why := slices.DeleteFunc([]string{string(c.Class), c.Code, c.Message}, func(s string) bool {
			return s == "" || s == string(assay.FaultUnknown) || s == string(c.Ending)
		})
		if c.Status > 0 {
			why = append(why, fmt.Sprintf("HTTP %d", c.Status))
		}
		line := fmt.Sprintf("%s × %s in %s of %s, such as item %s", assay.Thousands(c.Count),
			strings.Join(append([]string{string(c.Ending)}, why...), ", "), c.Lane, c.Stage, c.Item)
		fmt.Fprintln(w.Stdout, term.Wrapped(assay.Clean(line, 700), w.OutWidth(), "    "))
	}
	switch {
	case len(causes) > 0:
		fmt.Fprintf(w.Stdout, "`assay errors %s --csv` lists every request.\n", h.Named(run))
	case err == nil:
		fmt.Fprintln(w.Stderr, "No request ended without an answer.")
	}
	return err
}

// printFailures lists the lines of a batch file that have no answer, in the order of the file.
func printFailures(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, f shell.SqlFlags) error {
	lines, out := shell.Encoder(w), csv.NewWriter(w.Stdout)
	t := term.Table{Head: []string{"LINE", "ID", "MODEL", "STATUS", "CODE", "MESSAGE", "TRIES"}, Right: map[int]bool{0: true, 6: true}}
	if f.Csv {
		if err := out.Write([]string{"line", "custom_id", "model", "status", "class", "http_status", "code", "message",
			"attempts"}); err != nil {
			return err
		}
	}
	for d, err := range h.Batches().Failures(ctx, run) {
		switch {
		case err != nil:
			return err
		case f.Json:
			err = lines.Encode(d)
		case f.Csv:
			err = out.Write(shell.CsvRow([]any{d.Line, d.ID, d.Model, d.Status, d.Class, d.HTTP, d.Code, d.Message, d.Attempts}))
		case t.Len() == shell.MaxTableRows:
			fmt.Fprintf(w.Stderr, "the first %d; --json prints all\n", shell.MaxTableRows)
			return t.Write(w.Stdout)
		default:
			t.Add(d.Line, d.ID, d.Model, d.Status, d.Code, d.Message, d.Attempts)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case f.Csv:
		out.Flush()
		return out.Error()
	case f.Json:
		return nil
	case t.Len() == 0:
		fmt.Fprintln(w.Stderr, "nothing")
		return nil
	}
	return t.Write(w.Stdout)
}

// printUnasked says where a run stands that is not whole, and lists what a closed one could not ask: it has no request, and so no error of
// its own.
func printUnasked(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, f shell.SqlFlags) error {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	never := runs.Unaskable(run, lanes)
	if run.Result == store.ResultIncomplete || run.State != store.RunClosed {
		is, err := runs.Of(ctx, h.Results(), run)
		if err != nil {
			return err
		}
		fmt.Fprintln(w.Stderr, is.Sentence())
	}
	t := term.Table{Head: []string{"STAGE", "LANE", "NOT ASKED", "WHY"}, Right: map[int]bool{2: true}}
	lines := shell.Encoder(w)
	for _, n := range never {
		if f.Json {
			if err := lines.Encode(n); err != nil {
				return err
			}
			continue
		}
		t.Add(n.Stage, n.Lane, assay.Thousands(n.Count), n.Reason)
	}
	switch {
	case t.Len() == 0:
		return nil
	case f.Csv: // whose columns are those of requests
		return t.Write(w.Stderr)
	}
	fmt.Fprintln(w.Stdout)
	return t.Write(w.Stdout)
}

// PrintUnjudged prints how many verdicts of a run judge nothing: a run whose requests are all answered may still be judged in part.
func PrintUnjudged(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	silent, err := read.CountSilent(ctx, h.Ledger.Reader, run.No)
	if err != nil || len(silent) == 0 {
		return err
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(silent)) {
		parts = append(parts, fmt.Sprintf("%d %s", silent[state], state))
	}
	_, err = fmt.Fprintf(w.Stderr, "verdicts that judge nothing: %s (assay errors %s --verdicts lists why)\n",
		strings.Join(parts, ", "), h.Named(run))
	return err
}
