// Package reading has the commands that read the answers, verdicts and findings of runs.
package reading

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/document"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/runs"
	"assay/internal/find/stats"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
	"assay/internal/study"
)

// AnalyseFlags are the flags of `assay analyse`.
type AnalyseFlags struct {
	home  shell.HomeFlags
	query findings.Query
	start float64 // of Elo, where the user gives it
	wide  bool
	junit string
	json  bool
	csv   bool

	control []string // features of style
	margin  string   // of no-worse
	full    bool

	reprice bool
	prices  string
}

// Analyse makes the command `assay analyse`.
func Analyse(w *shell.World) *cobra.Command {
	var f AnalyseFlags
	c := &cobra.Command{
		Use:     "analyse [RUN...]",
		GroupID: shell.GroupDecide,
		Short:   "Print what the verdicts of a run say, with error bars and coverage",
		Long: "Turns the verdicts of a run into findings: by the analyses of the study, or by default ones where it declares none. It " +
			"prints the answer in a\n" +
			"few sentences, what to do about its weak points, and one table for each stage; --full prints every finding, and so does " +
			"every choice of them. RUN is an\n" +
			"id, the beginning of one, a study's name, or latest (the default): the newest open run, else the newest run, and a " +
			"rehearsal only where there is no real run.\n" +
			"Nothing is asked anew: all of it rests on stored verdicts.\n\n" +
			"--by groups by lane, provider, model, effort, thinking, judge, branch, turn, trait, template, prompt, direction (of a " +
			"pair), source (the stage\n" +
			"whose answers are judged), item, cluster, expect, draw, any field of the items (statement.section reaches inside), or " +
			"branch.FIELD where branches\n" +
			"are items. Where lanes are compared, --by provider ranks providers. --where keeps the rows for which a condition on the " +
			"same names is true;\n" +
			"'not second_try' leaves out what judges said when asked once more. --method takes what docs/statistics.md explains, several " +
			"with commas.\n" +
			"--reprice counts costs again by today's prices.\n\n" +
			"Exit code 6: a gate under require failed; 3: less than 95% of the planned verdicts of a table are valid.",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("start") {
				f.query.Settings.Start = stats.Known(f.start)
			}
			return runAnalyse(c.Context(), w, args, f)
		},
	}
	f.home.Register(c)
	f.choose(c)
	c.Flags().StringVar(&f.junit, "junit", "", "write the gates as JUnit XML to this file")
	c.Flags().BoolVar(&f.full, "full", false, "print every finding with its method and notes")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.csv, "csv", false, "print one CSV row for each finding, with a column for each field")
	c.Flags().BoolVar(&f.reprice, "reprice", false, "count costs again, by today's catalogue of prices")
	c.Flags().StringVar(&f.prices, "prices", "", "with --reprice: a file of prices over the catalogue")
	return c
}

func runAnalyse(ctx context.Context, w *shell.World, refs []string, f AnalyseFlags) error {
	if len(refs) == 0 {
		refs = []string{""}
	}
	if f.wide && f.json {
		return shell.Usage("--csv goes with it", "--wide is a table for people and spreadsheets: JSON has every finding")
	}
	if f.json && f.csv {
		return shell.Usage("", "--json or --csv, not both")
	}
	var err error
	if f.query.Settings.Control, err = analysis.ParseControls(f.control); err != nil {
		return shell.Usage("", "--%s", err)
	}
	if f.margin != "" {
		points, ok := study.ParsePoints(f.margin)
		if !ok {
			return shell.Usage("2pt are 2 points: of rates, or hundredths of the scale of scores",
				"--margin %q: want 0.1pt to 99pt", f.margin)
		}
		f.query.Settings.Margin = float64(points)
	}
	if f.prices != "" && !f.reprice {
		return shell.Usage("add --reprice", "--prices belongs to --reprice")
	}
	if f.reprice {
		if f.query.Prices, err = w.Workspace().Catalog(f.prices); err != nil {
			return err
		}
	}
	var all []*Analysed
	for _, ref := range refs {
		one, err := analyseRun(ctx, w, ref, f)
		if err != nil {
			return err
		}
		for _, text := range one.Warnings {
			fmt.Fprintln(w.Stderr, text)
		}
		all = append(all, one)
	}
	if f.junit != "" {
		if err := writeGates(w, f.junit, all); err != nil {
			return err
		}
	}
	switch {
	case f.csv:
		err = writeFindings(w.RawOut(), all, f.wide)
	case f.json:
		doc := analyseDocument{Runs: []findings.JSON{}}
		for _, a := range all {
			doc.Runs = append(doc.Runs, a.JSON().With(words.Summarise(a.Outline)))
		}
		err = term.WriteJSON(w.Stdout, doc)
	default:
		err = PrintAnalysed(w, all, f)
	}
	if err != nil {
		return err
	}
	return VerdictOf(all)
}

// analyseDocument is the findings of runs for programs.
type analyseDocument struct {
	Runs []findings.JSON `json:"runs"`
}

// VerdictOf is the exit code of what was found.
func VerdictOf(all []*Analysed) error {
	failed, incomplete, empty := 0, false, false
	for _, a := range all {
		incomplete = incomplete || a.Report.Incomplete()
		empty = empty || len(a.Report.Tables) == 0
		for _, g := range a.Gates {
			if !g.Passed {
				failed++
			}
		}
	}
	switch {
	case failed > 0:
		return &shell.ExitError{Code: shell.ExitGate, Err: fmt.Errorf("%s under require failed", assay.Count(failed, "gate"))}
	case empty:
		return &shell.ExitError{Code: shell.ExitIncomplete,
			Err: errors.New("there is nothing to analyse: no stage of the run judges or compares, or nothing has been judged yet")}
	case incomplete:
		return &shell.ExitError{Code: shell.ExitIncomplete,
			Err: errors.New("incomplete: less than 95% of the planned verdicts of a table are valid")}
	}
	return nil
}

// Analysed holds what a run found, and its answer.
type Analysed struct {
	*findings.Findings
	Outline *report.Document
}

func analyseRun(ctx context.Context, w *shell.World, ref string, f AnalyseFlags) (*Analysed, error) {
	h, run, err := f.home.Look(ctx, w, ref)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := printRedone(ctx, w, h, run); err != nil {
		return nil, err
	}
	version, err := h.Ledger.Pages.Version(ctx, run.No)
	if err != nil {
		return nil, err
	}
	found, err := findings.Of(ctx, h.Results(), run, f.query)
	if err != nil {
		return nil, err
	}
	var outline *report.Document
	if f.json { // the same wherever it is typed
		outline, err = document.Outline(ctx, h.Results(), found)
	} else {
		outline, err = OutlineOf(ctx, w, h, found)
	}
	if err == nil && run.State == store.RunClosed && h.Temporary == "" && reflect.ValueOf(f.query).IsZero() {
		runs.KeepHeadline(ctx, h.Ledger.Runs, run.No, version, words.Summarise(outline))
	}
	return &Analysed{found, outline}, err
}

// writeGates writes the gates as JUnit XML.
func writeGates(w *shell.World, name string, all []*Analysed) error {
	f, err := w.Disk.Create(name, os.O_TRUNC)
	if err != nil {
		return fmt.Errorf("write the gates: %w", err)
	}
	var found []*findings.Findings
	for _, a := range all {
		found = append(found, a.Findings)
	}
	if err := findings.WriteJUnit(f, found); err != nil {
		f.Close()
		return fmt.Errorf("write the gates: %w", err)
	}
	return f.Close()
}

// writeFindings prints one row a finding, or one row for each group, for spreadsheets.
func writeFindings(w io.Writer, all []*Analysed, wide bool) error {
	var found []*findings.Findings
	for _, a := range all {
		found = append(found, a.Findings)
	}
	rows := findings.Table(found)
	if wide {
		rows = findings.WideTable(found)
	}
	out := assay.NewCSV(w)
	for _, row := range rows {
		if err := out.Write(shell.CsvRow(row)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// printRedone prints that a run has draws that its plan had not: a reader of its numbers should know.
func printRedone(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	redos, err := h.Ledger.Reader.Redos(ctx, run.No)
	switch {
	case err != nil || len(redos) == 0:
		return err
	case len(redos) == 1:
		fmt.Fprintf(w.Stderr, "run %s: 1 redone draw counts as one more draw of its item\n", run.ID)
	default:
		fmt.Fprintf(w.Stderr, "run %s: %d redone draws count as further draws of their items\n", run.ID, len(redos))
	}
	return nil
}
