package ratings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/tables"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type agreeFlags struct {
	level   tables.Measurement
	columns columnNames
	json    bool
}

// Agree makes the command `assay agree`.
func Agree(w *shell.World) *cobra.Command {
	var f agreeFlags
	c := &cobra.Command{
		Use:     "agree FILE",
		GroupID: shell.GroupDecide,
		Short:   "Print how far raters agree, from labels in a CSV file",
		Long: "Measures agreement from a table of labels: columns item, rater and label, one row for each label. A row without a label " +
			"is missing.\n" +
			"FILE may be - for standard input; .tsv means tabs. A measure that does not exist is printed as its reason, never as a number.",
		Args: shell.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return runAgree(w, args[0], f) },
	}
	c.Flags().StringVar((*string)(&f.level), "level", string(tables.Nominal),
		"what labels are, for Krippendorff's alpha: nominal, ordinal, interval or ratio; all but the first want numbers")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil, "what the file calls its columns: item=…,rater=…,label=…")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runAgree(w *shell.World, name string, f agreeFlags) error {
	if !slices.Contains(tables.Measurements(), f.level) {
		return shell.Usage(assay.ThereAre(tables.Measurements()), "--level: no level is called %q", f.level)
	}
	if err := f.columns.check("item", "rater", "label"); err != nil {
		return err
	}
	t, closer, err := openTable(w, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	a, err := t.Agreement(tables.LabelColumns{Item: f.columns.of("item"), Rater: f.columns.of("rater"), Label: f.columns.of("label")},
		f.level)
	if err != nil {
		return err
	}
	if f.json {
		err = term.WriteJSON(w.Stdout, a)
	} else {
		err = printAgreement(w, a)
	}
	switch {
	case err != nil:
		return err
	case a.Agreement == nil:
		return &shell.ExitError{Code: shell.ExitIncomplete, Err: errors.New("no agreement: " + a.Why["agreement"])}
	case a.Kappa == nil && a.Fleiss == nil && a.Alpha == nil && a.AC1 == nil:
		return &shell.ExitError{Code: shell.ExitIncomplete, Err: errors.New("no agreement beyond chance: " + a.Why["alpha"])}
	}
	return nil
}

func printAgreement(w *shell.World, a *tables.Agreement) error {
	_, err := fmt.Fprintf(w.Stdout, "%s by %s: %s in %s, %.1f%% of all that could be; %s without a label\n\n",
		assay.Count(a.N, "item"), assay.Count(a.Raters, "rater"), assay.Count(a.Ratings, "label"), assay.Count(a.Labels, "kind"),
		100*a.Coverage, assay.Count(a.Missing, "row"))
	if err != nil {
		return err
	}
	t := term.Table{Head: []string{"MEASURE", "VALUE", "NOTE"}, Right: map[int]bool{1: true}}
	t.Add("agreement of pairs", term.Percent(a.Agreement), a.Why["agreement"])
	t.Add("Cohen's kappa", term.Number(a.Kappa, 4), cmp.Or(a.Why["kappa"], "mean over pairs of raters"))
	t.Add("Fleiss' kappa", term.Number(a.Fleiss, 4), a.Why["fleiss"])
	t.Add("Krippendorff's alpha", term.Number(a.Alpha, 4), cmp.Or(a.Why["alpha"], string(a.Level)))
	t.Add("Gwet's AC1", term.Number(a.AC1, 4), a.Why["ac1"])
	if err := t.Write(w.Stdout); err != nil || len(a.Pairs) == 0 {
		return err
	}
	fmt.Fprintln(w.Stdout)
	pairs := term.Table{Head: []string{"RATERS", "", "ITEMS", "AGREEMENT", "KAPPA", "SE", "NOTE"},
		Right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	for _, p := range a.Pairs {
		pairs.Add(p.First, p.Second, p.N, term.Percent(p.Agreement), term.Number(p.Kappa, 4), term.Number(p.SE, 4), p.Why)
	}
	return pairs.Write(w.Stdout)
}
