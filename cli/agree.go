package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay"
	"assay/tables"
)

type agreeFlags struct {
	level   string
	columns columnNames
	json    bool
}

func agreeCommand(w *World) *cobra.Command {
	var f agreeFlags
	c := &cobra.Command{
		Use:     "agree FILE",
		GroupID: groupDecide,
		Short:   "Tell how far raters agree, from labels in a CSV file",
		Long: "Measures agreement from a table of labels: columns item, rater and label, one row for each label. A row without a label is missing.\n" +
			"FILE may be - for standard input; .tsv means tabs. A measure that does not exist is told with its reason, never as a number.",
		Args: args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return runAgree(w, args[0], f) },
	}
	c.Flags().StringVar(&f.level, "level", "nominal", "what labels are, for Krippendorff's alpha: nominal, ordinal, interval or ratio; all but the first want numbers")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil, "what the file calls its columns: item=…,rater=…,label=…")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runAgree(w *World, name string, f agreeFlags) error {
	scale, ok := scaleNamed(f.level)
	if !ok {
		return usage("there is nominal, ordinal, interval, ratio", "--level: no level is called %q", f.level)
	}
	if err := f.columns.check("item", "rater", "label"); err != nil {
		return err
	}
	t, closer, err := openTable(w, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	labels, err := t.Labels(tables.LabelColumns{Item: f.columns.of("item"), Rater: f.columns.of("rater"), Label: f.columns.of("label")})
	if err != nil {
		return err
	}
	doc, err := agreement(name, labels, f.level, scale)
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(w.Stdout, doc)
	} else {
		err = doc.print(w)
	}
	if err == nil && doc.Agreement == nil {
		err = &exitError{code: exitIncomplete, err: errors.New("no agreement: " + doc.Why["agreement"])}
	}
	return err
}

func (d *agreeDocument) print(w *World) error {
	_, err := fmt.Fprintf(w.Stdout, "%s by %s: %s in %s, %.1f%% of all that could be; %s without a label\n\n",
		assay.Count(d.N, "item"), assay.Count(d.Raters, "rater"), assay.Count(d.Ratings, "label"), assay.Count(d.Labels, "kind"), 100*d.Coverage, assay.Count(d.Missing, "row"))
	if err != nil {
		return err
	}
	t := table{head: []string{"MEASURE", "VALUE", "NOTE"}, right: map[int]bool{1: true}}
	t.add("agreement of pairs", shownShare(d.Agreement), d.Why["agreement"])
	t.add("Cohen's kappa", shownNumber(d.Kappa, 4), cmp.Or(d.Why["kappa"], "mean over pairs of raters"))
	t.add("Fleiss' kappa", shownNumber(d.Fleiss, 4), d.Why["fleiss"])
	t.add("Krippendorff's alpha", shownNumber(d.Alpha, 4), cmp.Or(d.Why["alpha"], d.Level))
	t.add("Gwet's AC1", shownNumber(d.AC1, 4), d.Why["ac1"])
	if err := t.write(w.Stdout); err != nil || len(d.Pairs) == 0 {
		return err
	}
	fmt.Fprintln(w.Stdout)
	pairs := table{head: []string{"RATERS", "", "ITEMS", "AGREEMENT", "KAPPA", "SE", "NOTE"}, right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	for _, p := range d.Pairs {
		pairs.add(p.First, p.Second, p.N, shownShare(p.Agreement), shownNumber(p.Kappa, 4), shownNumber(p.SE, 4), p.Why)
	}
	return pairs.write(w.Stdout)
}

// unevenly says between which numbers the labels of an item lie; empty when all items have equally many.
func unevenly(counts []int) string {
	low, high := slices.Min(counts), slices.Max(counts)
	if low == high {
		return ""
	}
	return fmt.Sprintf("items have from %d to %d labels, and it wants as many for each", low, high)
}

// wanted names what a level asks of a label.
func wanted(level string) string {
	if level == "ratio" {
		return "a number from 0 up"
	}
	return "a number"
}
