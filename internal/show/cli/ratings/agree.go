package ratings

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/tables"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type agreeFlags struct {
	level   tables.Measurement
	cluster string
	columns columnNames
	json    bool
}

// agreeCommand makes the command `assay table agree`.
func agreeCommand(w *shell.World) *cobra.Command {
	var f agreeFlags
	c := &cobra.Command{
		Use:   "agree FILE",
		Short: "Print how far raters agree, from labels in a CSV file",
		Long: "Measures agreement from a table of labels: columns item, rater and label, one row for each label. A row without a label " +
			"is missing.\n" +
			"FILE may be - for standard input; .tsv means tabs. A measure or an error that does not exist is printed as its reason, " +
			"never as a number.",
		Args: shell.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return runAgree(w, args[0], f) },
	}
	f.level = tables.Nominal
	shell.Choice(c, &f.level, "level", tables.Measurements(),
		"of labels, for Krippendorff's alpha: nominal, ordinal, interval or ratio")
	c.Flags().StringVar(&f.cluster, "cluster", "",
		"errors are by the clusters of this column, such as the topic")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil, "what the file calls its columns: item=…,rater=…,label=…")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runAgree(w *shell.World, name string, f agreeFlags) error {
	if err := f.columns.check("item", "rater", "label"); err != nil {
		return err
	}
	t, closer, err := openTable(w, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	a, err := t.Agreement(tables.LabelColumns{Item: f.columns.of("item"), Rater: f.columns.of("rater"), Label: f.columns.of("label"),
		Cluster: f.cluster}, f.level)
	if err != nil {
		return err
	}
	if f.json {
		err = term.WriteJSON(w.Stdout, a)
	} else {
		err = printAgreement(w, a, f.cluster != "")
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

func printAgreement(w *shell.World, a *tables.Agreement, clustered bool) error {
	unit, among := "item", ""
	if clustered {
		unit, among = "cluster", " in "+assay.Count(a.Clusters, "cluster")
	}
	_, err := fmt.Fprintf(w.Stdout, "%s%s by %s: %s in %s, %.1f%% of all that could be; %s without a label\n\n",
		assay.Count(a.N, "item"), among, assay.Count(a.Raters, "rater"), assay.Count(a.Ratings, "label"), assay.Count(a.Labels, "kind"),
		100*a.Coverage, assay.Count(a.Missing, "row"))
	if err != nil {
		return err
	}
	t := term.Table{Head: []string{"MEASURE", "VALUE", "SE", "LOW", "HIGH", "NOTE"},
		Right: map[int]bool{1: true, 2: true, 3: true, 4: true}}
	add := func(what, name string, value *float64, note string) {
		e, show := a.Errors[name], index
		if name == "agreement" {
			show = term.Percent
		}
		t.Add(what, show(value), index(e.SE), show(e.Low), show(e.High), cmp.Or(a.Why[name], e.Why, note))
	}
	add("agreement of pairs", "agreement", a.Agreement, "")
	add("Cohen's kappa", "kappa", a.Kappa, "mean over pairs of raters")
	add("Fleiss' kappa", "fleiss", a.Fleiss, "")
	add("Krippendorff's alpha", "alpha", a.Alpha, string(a.Level))
	add("Gwet's AC1", "ac1", a.AC1, "")
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	if err := printRaterPairs(w, a.Pairs); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Stdout,
		"\nlow and high: 95%%, of agreement from Wilson's formula, of the others from leaving out one %s after the other\n", unit)
	return err
}

func index(n *float64) string { return term.Number(n, 4) }

func printRaterPairs(w *shell.World, all []tables.RaterPair) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(w.Stdout)
	t := term.Table{Head: []string{"RATERS", "", "ITEMS", "AGREEMENT", "LOW", "HIGH", "KAPPA", "SE", "LOW", "HIGH", "NOTE"},
		Right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true}}
	for _, p := range all {
		same, kappa := p.Errors["agreement"], p.Errors["kappa"]
		t.Add(p.First, p.Second, p.N, term.Percent(p.Agreement), term.Percent(same.Low), term.Percent(same.High),
			index(p.Kappa), index(kappa.SE), index(kappa.Low), index(kappa.High), cmp.Or(p.Why, kappa.Why, same.Why))
	}
	return t.Write(w.Stdout)
}
