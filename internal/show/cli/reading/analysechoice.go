package reading

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/report/figures"
)

// choose registers what is analysed, how, and in which order it is shown.
func (f *AnalyseFlags) choose(c *cobra.Command) {
	flags, q := c.Flags(), &f.query
	flags.StringSliceVar(&q.Stages, "stage", nil, "only these stages")
	flags.StringSliceVar(&q.Methods, "method", nil, "by these methods instead of the study's, such as ranking or stances")
	flags.StringSliceVar(&q.What, "what", nil, "only findings that are called so, such as strength or rate")
	flags.StringSliceVar(&q.By, "by", nil, "group by these fields instead")
	flags.StringVar(&q.Where, "where", "", "only rows for which this is true, such as 'lane != \"haiku\"'")
	flags.StringVar(&q.Sort, "sort", "", "sort each table by a column, such as value, se, rank or lane; -value: the highest first")
	flags.BoolVar(&f.wide, "wide", false, "one row for each group, one column for each kind of finding")
	s := &q.Settings
	flags.StringVar(&s.With, "with", "", "correlation: the field of the items that holds what is known")
	flags.StringVar(&f.margin, "margin", "", "no-worse: what may be lost at most, such as 2pt")
	flags.StringVar(&s.Baseline, "baseline", "", "no-worse: the earlier run, or a bundle of one, that lanes are held against")
	flags.StringVar(&s.Against, "against", "", "no-worse: the lane that all are held against, of the baseline or of the same run")
	flags.StringSliceVar(&f.control, "control", nil, "strengths: with and without differences of style, such as length,markdown,lists")
	flags.Float64Var(&s.Ridge, "ridge", 0, "strengths: penalty, such as 0.5")
	flags.BoolVar(&s.Firth, "firth", false, "strengths: Jeffreys' penalty, which keeps them finite")
	flags.Float64Var(&s.K, "k", 0, "Elo: what a surprise is worth (default 32)")
	flags.Float64Var(&f.start, "start", 0, "Elo: where all begin (default 1500)")
	flags.IntVar(&s.Orders, "orders", 0, "Elo: how many random orders")
	flags.IntVar(&s.Bootstrap, "bootstrap", 0, "how many resamples errors come from")
	flags.Uint64Var(&s.Seed, "seed", 0, "of resamples and random orders (default 1)")
	flags.Float64Var(&s.Level, "level", 0, "of intervals (default 0.95)")
}

// chosen reports whether the user asks for certain findings, which are then printed in full.
func (f *AnalyseFlags) chosen() bool {
	q := &f.query
	return len(q.By)+len(q.Methods)+len(q.What) > 0 || q.Sort != "" || f.wide
}

// picked reports whether only some of the findings are asked for: costs are of all.
func (f *AnalyseFlags) picked() bool {
	q := &f.query
	return len(q.Stages)+len(q.Methods)+len(q.What) > 0 || f.wide
}

// printWide prints a table with one row for each group: a column for each kind of finding, with its standard error.
func printWide(w *shell.World, t *analysis.Table, mark string) error {
	fmt.Fprintf(w.Stdout, "\n%s%s: %s%s\n%s\n", mark, t.Stage, t.Title, incompleteMark(t), figures.CoverageLine(t.Coverage))
	by := figures.FieldsOf(t)
	var kinds, groups []string
	cells, counts := map[[2]string]string{}, map[string][]analysis.Counted{}
	first := map[string]*analysis.Finding{}
	for i := range t.Findings {
		f := &t.Findings[i]
		group := groupOf(f)
		if first[group] == nil {
			first[group] = f
			groups = append(groups, group)
		}
		if !slices.Contains(kinds, f.What) {
			kinds = append(kinds, f.What)
		}
		if len(f.Counts) > 0 {
			counts[group] = f.Counts
		}
		cells[[2]string{group, f.What}] = withError(f)
	}
	out := term.Table{Right: map[int]bool{}}
	for _, name := range append(slices.Clone(by), kinds...) {
		out.Right[len(out.Head)] = len(out.Head) >= len(by)
		out.Head = append(out.Head, strings.ToUpper(assay.Clean(name, 60)))
	}
	for _, g := range groups {
		for _, c := range counts[g] {
			if head := strings.ToUpper(c.Name) + " N"; !slices.Contains(out.Head, head) {
				out.Right[len(out.Head)] = true
				out.Head = append(out.Head, head)
			}
		}
	}
	for _, g := range groups {
		var row []any
		for _, name := range by {
			row = append(row, first[g].Of(name))
		}
		for _, what := range kinds {
			row = append(row, cells[[2]string{g, what}])
		}
		for _, c := range counts[g] {
			row = append(row, assay.Thousands(c.N))
		}
		out.Add(row...)
	}
	if err := out.Write(w.Stdout); err != nil {
		return err
	}
	for _, n := range t.AllNotes() {
		fmt.Fprintf(w.Stdout, "note: %s\n", assay.Clean(n, 400))
	}
	return nil
}

// groupOf distinguishes the groups of a table.
func groupOf(f *analysis.Finding) string { return fmt.Sprintf("%q", f.By) }

// withError returns a value and its 95% interval (or that of its level); without one, its standard error by name.
func withError(f *analysis.Finding) string {
	value := strings.TrimSuffix(shownIn(f.Shown(), f.Value), " pt")
	switch {
	case f.Value.OK && f.Interval.OK:
		low, high := shownIn(f.Shown(), stats.Known(f.Interval.Low)), shownIn(f.Shown(), stats.Known(f.Interval.High))
		bare := strings.NewReplacer("%", "", " pt", "")
		return fmt.Sprintf("%s [%s, %s]", value, bare.Replace(low), bare.Replace(high))
	case f.Value.OK && f.SE.OK:
		return value + " SE " + strings.TrimSuffix(f.Shown().ShowError(f.SE.Value), "%")
	}
	return shownIn(f.Shown(), f.Value)
}
