package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"assay"
	"assay/catalog"
	"assay/cli/term"
	"assay/report"
	"assay/results"
)

type analyseFlags struct {
	home  homeFlags
	by    []string
	where string
	junit string
	json  bool
	csv   bool
	full  bool

	reprice bool
	prices  string
	anew    *catalog.Catalog // prices to count by; nil: those that were paid
}

func analyseCommand(w *World) *cobra.Command {
	var f analyseFlags
	c := &cobra.Command{
		Use:     "analyse [RUN...]",
		GroupID: groupDecide,
		Short:   "Print what the verdicts of a run say, with error bars and coverage",
		Long: "Turns the verdicts of a run into findings: by the analyses of the study, or by default ones where it declares none. It prints the answer in a\n" +
			"few sentences, what to do about its weak points, and one table a stage; --full prints every finding, and so does --by. RUN is an id, the\n" +
			"beginning of one, a study's name, or latest (the default). --by groups by lane, judge, branch, turn, trait, template, prompt, item,\n" +
			"cluster, expect, draw, any field of the items (statement.section reaches inside), or branch.FIELD where branches are items; --where keeps\n" +
			"the rows for which a condition on the same names is true; 'not second_try' leaves out what judges said when asked once more. --reprice counts costs again by today's prices.\n" +
			"Exit code 6: a gate under require failed; 3: less than 95% of the planned verdicts of a table are valid.",
		RunE: func(c *cobra.Command, args []string) error { return runAnalyse(c.Context(), w, args, f) },
	}
	f.home.register(c)
	c.Flags().StringSliceVar(&f.by, "by", nil, "group by these fields instead")
	c.Flags().StringVar(&f.where, "where", "", "only rows for which this is true, such as 'lane != \"haiku\"'")
	c.Flags().StringVar(&f.junit, "junit", "", "write the gates as JUnit XML to this file")
	c.Flags().BoolVar(&f.full, "full", false, "print every finding with its method and notes")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.csv, "csv", false, "print one CSV row a finding")
	c.Flags().BoolVar(&f.reprice, "reprice", false, "count costs again, by today's catalogue of prices")
	c.Flags().StringVar(&f.prices, "prices", "", "with --reprice: a file of prices over the catalogue")
	return c
}

func runAnalyse(ctx context.Context, w *World, refs []string, f analyseFlags) error {
	if len(refs) == 0 {
		refs = []string{""}
	}
	if f.json && f.csv {
		return usage("", "--json or --csv, not both")
	}
	if f.prices != "" && !f.reprice {
		return usage("add --reprice", "--prices belongs to --reprice")
	}
	if f.reprice {
		var err error
		if f.anew, err = w.workspace().Catalog(f.prices); err != nil {
			return err
		}
	}
	var all []*analysed
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
	var err error
	switch {
	case f.csv:
		err = writeFindings(w.rawOut(), all)
	case f.json:
		doc := analyseDocument{Runs: []results.FindingsJSON{}}
		for _, a := range all {
			doc.Runs = append(doc.Runs, a.JSON().With(a.outline.Summary()))
		}
		err = term.WriteJSON(w.Stdout, doc)
	default:
		err = printAnalysed(w, all, f)
	}
	if err != nil {
		return err
	}
	return verdictOf(all)
}

// analyseDocument is the findings of runs for programs.
type analyseDocument struct {
	Runs []results.FindingsJSON `json:"runs"`
}

// verdictOf is the exit code of what was found.
func verdictOf(all []*analysed) error {
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
		return &exitError{code: exitGate, err: fmt.Errorf("%s under require failed", assay.Count(failed, "gate"))}
	case empty:
		return &exitError{code: exitIncomplete, err: errors.New("there is nothing to analyse: no stage of the run judges or compares")}
	case incomplete:
		return &exitError{code: exitIncomplete, err: errors.New("incomplete: less than 95% of the planned verdicts of a table are valid")}
	}
	return nil
}

// analysed is what a run found, and its answer.
type analysed struct {
	*results.Findings
	outline *report.Document
}

func analyseRun(ctx context.Context, w *World, ref string, f analyseFlags) (*analysed, error) {
	h, run, err := f.home.look(ctx, w, ref)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := printRedone(ctx, w, h, run); err != nil {
		return nil, err
	}
	found, err := h.results().Findings(ctx, run, results.Query{By: f.by, Where: f.where, Prices: f.anew})
	if err != nil {
		return nil, err
	}
	var outline *report.Document
	if f.json { // the same wherever it is typed
		outline, err = h.results().Outline(ctx, found)
	} else {
		outline, err = h.outline(ctx, w, found)
	}
	return &analysed{found, outline}, err
}

// writeGates writes the gates as JUnit XML.
func writeGates(w *World, name string, all []*analysed) error {
	f, err := w.Disk.Create(name, os.O_TRUNC)
	if err != nil {
		return fmt.Errorf("write the gates: %w", err)
	}
	var found []*results.Findings
	for _, a := range all {
		found = append(found, a.Findings)
	}
	if err := results.WriteJUnit(f, found); err != nil {
		f.Close()
		return fmt.Errorf("write the gates: %w", err)
	}
	return f.Close()
}

// writeFindings prints one row a finding, for spreadsheets.
func writeFindings(w io.Writer, all []*analysed) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvRow(results.FindingColumns())); err != nil {
		return err
	}
	for _, a := range all {
		for _, row := range a.Rows() {
			if err := out.Write(csvRow(row)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
