package ratings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/stats"
	"assay/internal/find/tables"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type rankFlags struct {
	method    tables.Method
	order     bool
	ridge     float64
	firth     bool
	quasi     bool
	cluster   string
	bootstrap int
	seed      uint64
	k, start  float64
	orders    int
	columns   columnNames
	json      bool
}

// rankCommand makes the command `assay table rank`.
func rankCommand(w *shell.World) *cobra.Command {
	var f rankFlags
	c := &cobra.Command{
		Use:   "rank FILE",
		Short: "Print a ranking of items, from comparisons of two in a CSV file",
		Long: "Ranks the items of a table of comparisons: columns a and b (the items, a shown first) and winner (a, b, tie or an " +
			"item's name),\n" +
			"and if there are any, weight (how many comparisons a row stands for) and judge. FILE may be - for standard input; .tsv " +
			"means tabs.\n" +
			"Scores of bt and davidson are natural logarithms with mean 0. Where the data leave a score infinite or unknown " +
			"there is none,\n" +
			"the reason is printed, and the exit code is 3.",
		Args: shell.Args("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return runRank(w, args[0], f)
		},
	}
	f.method = tables.BradleyTerry
	shell.Choice(c, &f.method, "method", tables.Methods(), "bt (Bradley-Terry), davidson (with ties), elo or winrate")
	c.Flags().BoolVar(&f.order, "order-effect", false, "estimate the advantage of being shown first (bt, davidson)")
	c.Flags().Float64Var(&f.ridge, "ridge", 0, "penalty L/2 times the sum of squared scores (bt, davidson)")
	c.Flags().BoolVar(&f.firth, "firth", false, "Jeffreys' penalty (bt): less bias, finite scores")
	c.Flags().BoolVar(&f.quasi, "quasi", false, "add quasi standard errors (bt, davidson)")
	c.Flags().StringVar(&f.cluster, "cluster", "", "errors are by the clusters of this column, such as the prompt")
	c.Flags().IntVar(&f.bootstrap, "bootstrap", 0, "low and high from N resamples of clusters, or of rows without --cluster")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "where resamples and random orders begin")
	c.Flags().Float64Var(&f.k, "k", stats.DefaultElo().K, "how far one comparison moves a rating (elo)")
	c.Flags().Float64Var(&f.start, "start", stats.DefaultElo().Start, "the rating that every item starts with (elo)")
	c.Flags().IntVar(&f.orders, "orders", 0, "the mean over N random orders instead of the order of the file (elo)")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil,
		"what the file calls its columns: a=left,b=right,winner=vote,weight=,…; nothing: not read")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// check finds flags that do not go together.
func (f *rankFlags) check(c *cobra.Command) error {
	scores, all := []tables.Method{tables.BradleyTerry, tables.Davidson},
		[]tables.Method{tables.BradleyTerry, tables.Davidson, tables.WinRate}
	for flag, of := range map[string][]tables.Method{
		"order-effect": scores, "ridge": scores, "firth": {tables.BradleyTerry}, "quasi": scores, "cluster": all, "bootstrap": all,
		"k": {tables.Elo}, "start": {tables.Elo}, "orders": {tables.Elo},
	} {
		if c.Flags().Changed(flag) && !slices.Contains(of, f.method) {
			return shell.Usage("", "--%s belongs to --method %s, not to %s", flag, listed(of, " or "), f.method)
		}
	}
	switch {
	case !(f.ridge >= 0) || f.ridge > 1e300:
		return shell.Usage("", "--ridge needs a number from 0 up")
	case f.firth && f.ridge > 0:
		return shell.Usage("", "--firth and --ridge are both penalties: choose one")
	case !(f.k > 0) || f.k > 1e300:
		return shell.Usage("", "--k needs a number above 0")
	case !stats.Known(f.start).OK:
		return shell.Usage("", "--start needs a number")
	case f.bootstrap < 0 || f.orders < 0:
		return shell.Usage("", "--bootstrap and --orders need a number from 0 up")
	}
	return f.columns.check("a", "b", "winner", "weight", "cluster", "judge")
}

func runRank(w *shell.World, name string, f rankFlags) error {
	t, closer, err := openTable(w, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	o := tables.RankOptions{
		Method: f.method, Order: f.order, Ridge: f.ridge, Firth: f.firth, Quasi: f.quasi, Bootstrap: f.bootstrap, Seed: f.seed, K: f.k,
		Start: f.start, Orders: f.orders,
		Columns: tables.Columns{
			A: f.columns.of("a"), B: f.columns.of("b"), Winner: f.columns.of("winner"),
			Weight: f.columns.ifThere(t, "weight"), Judge: f.columns.ifThere(t, "judge"), Cluster: f.clusterColumn(),
		},
	}
	if f.method == tables.Elo && o.Columns.Weight != "" {
		return shell.Usage("--columns weight= leaves the column out", "--method elo takes rows one by one and cannot weigh them")
	}
	r, err := t.Rank(o)
	if err != nil {
		return err
	}
	warnAll(w, shownName(name), r.Warnings)
	if f.json {
		err = term.WriteJSON(w.Stdout, r)
	} else {
		err = printRanking(w, r)
	}
	if err == nil && r.Why != "" {
		err = &shell.ExitError{Code: shell.ExitIncomplete, Err: errors.New("no scores: " + r.Why), Hint: rankAdvice(r)}
	}
	return err
}

// clusterColumn returns the column of clusters in the file, empty when none was asked for.
func (f rankFlags) clusterColumn() string {
	if own, ok := f.columns["cluster"]; ok && (f.cluster == "" || f.cluster == "cluster") {
		return own
	}
	return f.cluster
}

func printRanking(w *shell.World, r *tables.Ranking) error {
	digits := 4
	if r.Method == tables.Elo {
		digits = 2
	}
	t := term.Table{Head: []string{"RANK", "ITEM", "SCORE", "SE", "LOW", "HIGH"},
		Right: map[int]bool{0: true, 2: true, 3: true, 4: true, 5: true, 6: true}}
	quasi := slices.ContainsFunc(r.Items, func(i tables.RankedItem) bool { return i.Quasi != nil })
	if quasi {
		t.Head = append(t.Head, "QUASI SE")
	}
	for _, i := range r.Items {
		rank := "–"
		if i.Rank != nil {
			rank = fmt.Sprint(*i.Rank)
		}
		row := []any{rank, i.Item, term.Number(i.Score, digits), term.Number(i.SE, digits), term.Number(i.Low, digits),
			term.Number(i.High, digits)}
		if quasi {
			row = append(row, term.Number(i.Quasi, digits))
		}
		t.Add(row...)
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.Stdout, "\n%s\n", strings.Join(rankFooter(r), "\n"))
	return err
}

func methodName(m tables.Method) string {
	switch m {
	case tables.BradleyTerry:
		return "Bradley-Terry"
	case tables.Davidson:
		return "Davidson's model"
	case tables.Elo:
		return "Elo"
	}
	return "win rate"
}

// rankFooter returns in lines what belongs to the whole table.
func rankFooter(r *tables.Ranking) []string {
	lines := []string{fmt.Sprintf("comparisons: %s, by %s", strconv.FormatFloat(r.N, 'f', -1, 64), methodName(r.Method))}
	if r.Missing > 0 {
		lines = append(lines, fmt.Sprintf("without a winner: %s", assay.Count(r.Missing, "row")))
	}
	if r.Clusters > 0 {
		lines[0] += fmt.Sprintf(" in %s", assay.Count(r.Clusters, "cluster"))
	}
	if r.SEFrom != "" {
		lines = append(lines, fmt.Sprintf("se from %s; low and high: 95%% from %s", r.SEFrom, r.IntervalFrom))
	}
	if r.Tie != nil {
		lines = append(lines, "tie parameter (log ν) "+term.Number(r.Tie, 4))
	}
	if r.OrderEffect != nil {
		lines = append(lines, fmt.Sprintf("order effect %s for the item shown first, se %s", term.Number(r.OrderEffect, 4),
			term.Number(r.OrderSE, 4)))
	}
	if r.LogLik != nil {
		lines = append(lines, "log likelihood "+term.Number(r.LogLik, 4))
	}
	for k, group := range r.Components {
		if k == maxShown {
			lines = append(lines, "and "+assay.Count(len(r.Components)-maxShown, "more group"))
			break
		}
		names := strings.Join(group[:min(len(group), maxShown)], ", ")
		if len(group) > maxShown {
			names += fmt.Sprintf(" and %d more", len(group)-maxShown)
		}
		lines = append(lines, fmt.Sprintf("group %d: %s", k+1, assay.Clean(names, 400)))
	}
	return lines
}

// maxShown is how many groups, and names in a group, are shown; JSON has them all.
const maxShown = 10

func rankAdvice(r *tables.Ranking) string {
	if len(r.Components) > 0 {
		return "compare items of different groups, or look at --ridge 1 or --method winrate"
	}
	return ""
}
