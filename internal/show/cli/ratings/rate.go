package ratings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/tables"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type rateFlags struct {
	yes, no []string
	other   string
	by      []string
	cluster string
	columns columnNames
	json    bool
}

// rateCommand makes the command `assay table rate`.
func rateCommand(w *shell.World) *cobra.Command {
	var f rateFlags
	c := &cobra.Command{
		Use:   "rate FILE",
		Short: "Print the share of yes in a CSV file, with its error",
		Long: "Counts yes and no in a column called label or value: true, yes, 1 against false, no, 0. With --yes WORD that word is " +
			"yes and every\n" +
			"other is no; with --no as well, other words are problems. Rows without a value are counted apart, and so are the bounds " +
			"they leave.\n" +
			"FILE may be - for standard input; .tsv means tabs.",
		Args: shell.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return runRate(w, args[0], f) },
	}
	c.Flags().StringSliceVar(&f.yes, "yes", nil, "words that are yes")
	c.Flags().StringSliceVar(&f.no, "no", nil, "words that are no")
	f.other = "problem"
	shell.Choice(c, &f.other, "other", []string{"problem", "exclude"},
		"what becomes of words that are neither: problem, or exclude (counted as missing)")
	c.Flags().StringSliceVar(&f.by, "by", nil, "count apart by these columns")
	c.Flags().StringVar(&f.cluster, "cluster", "",
		"errors are by the clusters of this column, such as the topic")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil, "what the file calls its column of answers: label=…")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f *rateFlags) words() (tables.Words, error) {
	w := tables.Words{Yes: f.yes, No: f.no}
	if f.other == "exclude" {
		w.Other = tables.OtherIsMissing
	}
	if len(f.no) > 0 && len(f.yes) == 0 {
		return w, shell.Usage("", "--no needs --yes too")
	}
	for _, word := range f.yes {
		if slices.Contains(f.no, word) {
			return w, shell.Usage("", "%q is both under --yes and under --no", word)
		}
	}
	return w, f.columns.check("label", "value")
}

// column returns the column of answers: what --columns says, else label, else value.
func (f *rateFlags) column(t *tables.Table) string {
	for _, name := range []string{"label", "value"} {
		if column := f.columns.ifThere(t, name); column != "" {
			return column
		}
	}
	return "label"
}

func runRate(w *shell.World, name string, f rateFlags) error {
	words, err := f.words()
	if err != nil {
		return err
	}
	t, closer, err := openTable(w, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	r, err := t.Rates(tables.AnswerColumns{Value: f.column(t), By: f.by, Cluster: f.cluster}, words)
	if err != nil {
		return err
	}
	if f.json {
		err = term.WriteJSON(w.Stdout, r)
	} else {
		err = printRates(w, r, f.cluster != "")
	}
	if err == nil && slices.ContainsFunc(r.Groups, func(g tables.Rate) bool { return g.Rate == nil }) {
		err = &shell.ExitError{Code: shell.ExitIncomplete, Err: errors.New("a rate is unknown: none of its rows has an answer")}
	}
	return err
}

func printRates(w *shell.World, r *tables.Rates, clustered bool) error {
	t := term.Table{Right: map[int]bool{}}
	for _, column := range r.By {
		t.Head = append(t.Head, strings.ToUpper(assay.Clean(column, 60)))
	}
	numbers := []string{"YES", "OF", "RATE", "LOW", "HIGH", "MISSING", "OTHER", "AT LEAST", "AT MOST"}
	if clustered {
		numbers = append(numbers, "CLUSTERS", "SE", "DESIGN")
	}
	for k := range numbers {
		t.Right[len(r.By)+k] = true
	}
	t.Head = append(t.Head, numbers...)
	for _, g := range r.Groups {
		var row []any
		for _, column := range r.By {
			row = append(row, g.By[column])
		}
		row = append(row, g.Yes, g.N, term.Percent(g.Rate), term.Percent(g.Low), term.Percent(g.High), g.Missing, g.Other,
			term.Percent(g.BoundLow), term.Percent(g.BoundHigh))
		if clustered {
			row = append(row, *g.Clusters, term.Number(g.SE, 4), term.Number(g.DesignEffect, 2))
		}
		t.Add(row...)
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	how := "Wilson's formula"
	if clustered {
		how = "Wilson's formula for as many independent answers as the clusters are worth"
	}
	_, err := fmt.Fprintf(w.Stdout,
		"\nlow and high: 95%% from %s; at least and at most: if all missing and other rows were no, or yes\n", how)
	return err
}
