package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/stats"
	"assay/tables"
)

type rateFlags struct {
	yes, no []string
	other   string
	by      []string
	cluster string
	columns columnNames
	json    bool
}

func rateCommand(w *World) *cobra.Command {
	var f rateFlags
	c := &cobra.Command{
		Use:     "rate FILE",
		GroupID: groupDecide,
		Short:   "Tell the share of yes in a CSV file, with its error",
		Long: "Counts yes and no in a column called label or value: true, yes, 1 against false, no, 0. With --yes WORD that word is yes and every\n" +
			"other is no; with --no as well, other words are problems. Rows without a value are counted apart, and so are the bounds they leave.\n" +
			"FILE may be - for standard input; .tsv means tabs.",
		Args: args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return runRate(w, args[0], f) },
	}
	c.Flags().StringSliceVar(&f.yes, "yes", nil, "words that are yes")
	c.Flags().StringSliceVar(&f.no, "no", nil, "words that are no")
	c.Flags().StringVar(&f.other, "other", "problem", "what becomes of words that are neither: problem, or exclude (counted as missing)")
	c.Flags().StringSliceVar(&f.by, "by", nil, "count apart by these columns")
	c.Flags().StringVar(&f.cluster, "cluster", "", "the column whose values are independent of each other, such as the prompt: errors are cluster-robust")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil, "what the file calls its column of answers: label=…")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f *rateFlags) words() (tables.Words, error) {
	w := tables.Words{Yes: f.yes, No: f.no}
	switch f.other {
	case "exclude":
		w.Other = tables.OtherIsMissing
	case "problem":
	default:
		return w, usage("there is problem, exclude", "--other: nothing is called %q", f.other)
	}
	if len(f.no) > 0 && len(f.yes) == 0 {
		return w, usage("", "--no wants --yes too")
	}
	for _, word := range f.yes {
		if slices.Contains(f.no, word) {
			return w, usage("", "%q is both under --yes and under --no", word)
		}
	}
	return w, f.columns.check("label", "value")
}

// column is the column of answers: what --columns says, else label, else value.
func (f *rateFlags) column(t *tables.Table) string {
	for _, name := range []string{"label", "value"} {
		if column := f.columns.ifThere(t, name); column != "" {
			return column
		}
	}
	return "label"
}

func runRate(w *World, name string, f rateFlags) error {
	words, err := f.words()
	if err != nil {
		return err
	}
	t, closer, err := openTable(w, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	groups, err := t.Answers(tables.AnswerColumns{Value: f.column(t), By: f.by, Cluster: f.cluster}, words)
	if err != nil {
		return err
	}
	doc := rateDocument{By: f.by, Groups: []rateGroup{}}
	for _, g := range groups {
		one, err := rateOf(g, f)
		if err != nil {
			return err
		}
		doc.N += one.N
		doc.Groups = append(doc.Groups, one)
	}
	if f.json {
		err = writeJSON(w.Stdout, doc)
	} else {
		err = doc.print(w, f.cluster != "")
	}
	if err == nil && slices.ContainsFunc(doc.Groups, func(g rateGroup) bool { return g.Rate == nil }) {
		err = &exitError{code: exitIncomplete, err: errors.New("a rate is unknown: none of its rows has an answer")}
	}
	return err
}

// rateOf is the rate of one group.
func rateOf(g tables.Answers, f rateFlags) (rateGroup, error) {
	out := rateGroup{N: g.Yes + g.No, Yes: g.Yes, Missing: g.Missing, Other: g.Other}
	if len(f.by) > 0 {
		out.By = map[string]string{}
		for k, column := range f.by {
			out.By[column] = g.By[k]
		}
	}
	out.key = g.By
	out.BoundLow, out.BoundHigh = bounds(stats.MissingBounds(g.Yes, g.No, g.Missing+g.Other))
	if f.cluster == "" {
		r := stats.NewRate(g.Yes, g.Yes+g.No, level)
		out.Rate = orNull(r.Share)
		out.Low, out.High = bounds(r.Interval)
		return out, nil
	}
	r, err := stats.RateByCluster(g.Clusters, level)
	if err != nil {
		return out, err
	}
	out.Clusters = &r.Clusters
	out.Rate, out.SE, out.DesignEffect = orNull(r.Share), orNull(r.SE), orNull(r.DesignEffect)
	out.Low, out.High = bounds(r.Interval)
	if !r.Interval.OK {
		out.Why = r.Interval.Why
	} else if !r.SE.OK {
		out.Why = r.SE.Why
	}
	return out, nil
}

func (d *rateDocument) print(w *World, clustered bool) error {
	t := table{right: map[int]bool{}}
	for _, column := range d.By {
		t.head = append(t.head, strings.ToUpper(assay.Clean(column, 60)))
	}
	numbers := []string{"YES", "OF", "RATE", "LOW", "HIGH", "MISSING", "OTHER", "AT LEAST", "AT MOST"}
	if clustered {
		numbers = append(numbers, "CLUSTERS", "SE", "DESIGN")
	}
	for k := range numbers {
		t.right[len(d.By)+k] = true
	}
	t.head = append(t.head, numbers...)
	for _, g := range d.Groups {
		var row []any
		for _, value := range g.key {
			row = append(row, value)
		}
		row = append(row, g.Yes, g.N, shownShare(g.Rate), shownShare(g.Low), shownShare(g.High), g.Missing, g.Other, shownShare(g.BoundLow), shownShare(g.BoundHigh))
		if clustered {
			row = append(row, *g.Clusters, shownNumber(g.SE, 4), shownNumber(g.DesignEffect, 2))
		}
		t.add(row...)
	}
	if err := t.write(w.Stdout); err != nil {
		return err
	}
	how := "Wilson's formula"
	if clustered {
		how = "Wilson's formula for as many independent answers as the clusters are worth"
	}
	_, err := fmt.Fprintf(w.Stdout, "\nlow and high: 95%% from %s; at least and at most: if all missing and other rows were no, or yes\n", how)
	return err
}

// rateDocument is rates for programs. What does not exist is null.
type rateDocument struct {
	N      int         `json:"n"` // answers
	By     []string    `json:"by,omitempty"`
	Groups []rateGroup `json:"groups"`
}

type rateGroup struct {
	By           map[string]string `json:"by,omitempty"`
	N            int               `json:"n"`
	Yes          int               `json:"yes"`
	Rate         *float64          `json:"rate"`
	Low          *float64          `json:"low"`
	High         *float64          `json:"high"`
	Missing      int               `json:"missing"`
	Other        int               `json:"other"`
	BoundLow     *float64          `json:"bound_low"`  // the rate if all missing and other rows were no
	BoundHigh    *float64          `json:"bound_high"` // if they were yes
	Clusters     *int              `json:"clusters"`
	SE           *float64          `json:"se"`
	DesignEffect *float64          `json:"design_effect"`
	Why          string            `json:"why,omitempty"` // why a number is missing

	key []string // the values of By in their order
}
