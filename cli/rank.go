package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/stats"
	"assay/tables"
)

// The methods of assay rank.
const (
	methodBT       = "bt"
	methodDavidson = "davidson"
	methodElo      = "elo"
	methodWinrate  = "winrate"
)

type rankFlags struct {
	method    string
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

func rankCommand(w *World) *cobra.Command {
	var f rankFlags
	c := &cobra.Command{
		Use:     "rank FILE",
		GroupID: groupDecide,
		Short:   "Rank items by comparisons of two in a CSV file",
		Long: "Ranks the items of a table of comparisons: columns a and b (the items, a shown first) and winner (a, b, tie or an item's name),\n" +
			"and if there are any, weight (how many comparisons a row stands for) and judge. FILE may be - for standard input; .tsv means tabs.\n" +
			"Scores of bt and davidson are natural logarithms with mean 0. Where the data leave a score infinite or unknown there is none,\n" +
			"the reason is told, and the exit code is 3.",
		Args: args("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return runRank(w, args[0], f)
		},
	}
	c.Flags().StringVar(&f.method, "method", methodBT, "bt (Bradley-Terry, a tie is half a win), davidson (ties have their own parameter), elo or winrate")
	c.Flags().BoolVar(&f.order, "order-effect", false, "estimate the advantage of being shown first (bt, davidson)")
	c.Flags().Float64Var(&f.ridge, "ridge", 0, "penalty L/2 times the sum of squared scores (bt, davidson)")
	c.Flags().BoolVar(&f.firth, "firth", false, "Firth's correction (Jeffreys' penalty): less bias, and a finite score for whoever never lost (bt)")
	c.Flags().BoolVar(&f.quasi, "quasi", false, "add quasi standard errors: two of them give the error of a difference, whichever two (bt, davidson)")
	c.Flags().StringVar(&f.cluster, "cluster", "", "the column whose values are independent of each other, such as the prompt: errors are cluster-robust")
	c.Flags().IntVar(&f.bootstrap, "bootstrap", 0, "low and high from N resamples of clusters, or of rows without --cluster")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "where resamples and random orders begin")
	c.Flags().Float64Var(&f.k, "k", stats.DefaultElo().K, "what a surprise is worth (elo)")
	c.Flags().Float64Var(&f.start, "start", stats.DefaultElo().Start, "where everybody starts (elo)")
	c.Flags().IntVar(&f.orders, "orders", 0, "the mean over N random orders instead of the order of the file (elo)")
	c.Flags().StringToStringVar((*map[string]string)(&f.columns), "columns", nil, "what the file calls its columns: a=left,b=right,winner=vote,weight=,…; nothing: not read")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// check finds flags that do not go together.
func (f *rankFlags) check(c *cobra.Command) error {
	methods := []string{methodBT, methodDavidson, methodElo, methodWinrate}
	if !slices.Contains(methods, f.method) {
		return usage("there is "+strings.Join(methods, ", "), "--method: no method is called %q", f.method)
	}
	for flag, of := range map[string][]string{
		"order-effect": {methodBT, methodDavidson}, "ridge": {methodBT, methodDavidson}, "firth": {methodBT}, "quasi": {methodBT, methodDavidson}, "k": {methodElo}, "start": {methodElo}, "orders": {methodElo},
		"cluster": {methodBT, methodDavidson, methodWinrate}, "bootstrap": {methodBT, methodDavidson, methodWinrate},
	} {
		if c.Flags().Changed(flag) && !slices.Contains(of, f.method) {
			return usage("", "--%s belongs to --method %s, not to %s", flag, strings.Join(of, " or "), f.method)
		}
	}
	switch {
	case !(f.ridge >= 0) || f.ridge > 1e300:
		return usage("", "--ridge wants a number from 0 up")
	case f.firth && f.ridge > 0:
		return usage("", "--firth and --ridge are both penalties: choose one")
	case !(f.k > 0) || f.k > 1e300:
		return usage("", "--k wants a number above 0")
	case !stats.Known(f.start).OK:
		return usage("", "--start wants a number")
	case f.bootstrap < 0 || f.orders < 0:
		return usage("", "--bootstrap and --orders want a number from 0 up")
	}
	return f.columns.check("a", "b", "winner", "weight", "cluster", "judge")
}

func runRank(w *World, name string, f rankFlags) error {
	b, err := readBallots(w, name, f)
	if err != nil {
		return err
	}
	doc := rankDocument{Method: f.method, N: b.n, Judges: b.judges, Warnings: b.warnings, Items: make([]rankItem, len(b.items))}
	for i, item := range b.items {
		doc.Items[i].Item = item
	}
	doc.join(b)
	switch f.method {
	case methodElo:
		err = doc.elo(b, f)
	case methodWinrate:
		err = doc.winrate(b, f)
	default:
		err = doc.bradleyTerry(b, f)
	}
	if err != nil {
		return err
	}
	doc.place()
	warnAll(w, shownName(name), doc.Warnings)
	if f.json {
		err = writeJSON(w.Stdout, doc)
	} else {
		err = doc.print(w)
	}
	if err == nil && doc.Why != "" {
		err = &exitError{code: exitIncomplete, err: errors.New("no scores: " + doc.Why), hint: doc.advice()}
	}
	return err
}

// ballots are the comparisons as a method wants them.
type ballots struct {
	items    []string
	n        float64 // weighted
	judges   int
	warnings []string
	rows     *tables.Rows   // nil where counts are enough
	tally    *stats.Tally   // nil where items are too many to be counted by pairs
	grouped  *stats.Grouped // nil without clusters and resamples
}

func readBallots(w *World, name string, f rankFlags) (*ballots, error) {
	t, closer, err := openTable(w, name)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	columns := tables.Columns{
		A: f.columns.of("a"), B: f.columns.of("b"), Winner: f.columns.of("winner"),
		Weight: f.columns.ifThere(t, "weight"), Judge: f.columns.ifThere(t, "judge"), Cluster: f.clusterColumn(),
	}
	b := &ballots{}
	limit, keep := tables.MaxTallied, columns.Cluster != "" || f.bootstrap > 0
	if f.method == methodElo {
		if columns.Weight != "" {
			return nil, usage("--columns weight= leaves the column out", "--method elo takes rows one by one and cannot weigh them")
		}
		limit, keep = tables.MaxItems, true
	} else if columns.Cluster == "" && t.Has("cluster") {
		b.warnings = append(b.warnings, "the column cluster is not used without --cluster cluster")
	}
	c, err := t.Comparisons(columns, limit)
	if err != nil {
		return nil, err
	}
	if keep {
		b.rows, err = c.Keep()
	} else {
		b.tally, err = c.Tally()
	}
	if err != nil {
		return nil, err
	}
	b.items, b.n, b.judges = c.Items(), float64(c.Rows()), c.Judges()
	if err := b.count(f); err != nil {
		return nil, err
	}
	if b.tally != nil {
		b.n = b.tally.N()
	}
	return b, nil
}

// clusterColumn is the column of clusters in the file, empty when none was asked for.
func (f rankFlags) clusterColumn() string {
	if own, ok := f.columns["cluster"]; ok && (f.cluster == "" || f.cluster == "cluster") {
		return own
	}
	return f.cluster
}

// count makes of the rows what the method wants.
func (b *ballots) count(f rankFlags) (err error) {
	switch {
	case b.rows == nil:
	case f.method == methodElo:
		if len(b.items) <= tables.MaxTallied {
			b.tally = stats.NewTally(len(b.items))
			return b.tally.Add(b.rows.Pairs)
		}
	default:
		if b.rows.Cluster == nil { // each row by itself
			b.rows.Cluster = make([]uint32, b.rows.Pairs.Len())
			for k := range b.rows.Cluster {
				b.rows.Cluster[k] = uint32(k)
			}
		}
		if b.grouped, err = stats.Group(len(b.items), b.rows.Pairs, b.rows.Cluster); err != nil {
			return err
		}
		b.tally = b.grouped.Tally()
	}
	return nil
}

// place sorts the items by their scores and gives them their ranks.
func (d *rankDocument) place() {
	var scores []float64
	for _, i := range d.Items {
		if i.Score == nil {
			return
		}
		scores = append(scores, *i.Score)
	}
	for k, rank := range stats.Ranking(scores) {
		d.Items[k].Rank = &rank
	}
	slices.SortStableFunc(d.Items, func(a, b rankItem) int { return cmp.Compare(*a.Rank, *b.Rank) })
}

func (d *rankDocument) print(w *World) error {
	digits := 4
	if d.Method == methodElo {
		digits = 2
	}
	t := table{head: []string{"RANK", "ITEM", "SCORE", "SE", "LOW", "HIGH"}, right: map[int]bool{0: true, 2: true, 3: true, 4: true, 5: true, 6: true}}
	quasi := slices.ContainsFunc(d.Items, func(i rankItem) bool { return i.Quasi != nil })
	if quasi {
		t.head = append(t.head, "QUASI SE")
	}
	for _, i := range d.Items {
		rank := "–"
		if i.Rank != nil {
			rank = fmt.Sprint(*i.Rank)
		}
		row := []any{rank, i.Item, shownNumber(i.Score, digits), shownNumber(i.SE, digits), shownNumber(i.Low, digits), shownNumber(i.High, digits)}
		if quasi {
			row = append(row, shownNumber(i.Quasi, digits))
		}
		t.add(row...)
	}
	if err := t.write(w.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.Stdout, "\n%s\n", strings.Join(d.footer(), "\n"))
	return err
}

func methodName(method string) string {
	switch method {
	case methodBT:
		return "Bradley-Terry"
	case methodDavidson:
		return "Davidson's model"
	case methodElo:
		return "Elo"
	}
	return "win rate"
}

// footer says in lines what belongs to the whole table.
func (d *rankDocument) footer() []string {
	lines := []string{fmt.Sprintf("comparisons: %s, by %s", strconv.FormatFloat(d.N, 'f', -1, 64), methodName(d.Method))}
	if d.Clusters > 0 {
		lines[0] += fmt.Sprintf(" in %s", assay.Count(d.Clusters, "cluster"))
	}
	if d.SEFrom != "" {
		lines = append(lines, fmt.Sprintf("se from %s; low and high: 95%% from %s", d.SEFrom, d.IntervalFrom))
	}
	if d.Tie != nil {
		lines = append(lines, "tie parameter "+shownNumber(d.Tie, 4))
	}
	if d.OrderEffect != nil {
		lines = append(lines, fmt.Sprintf("order effect %s for the item shown first, se %s", shownNumber(d.OrderEffect, 4), shownNumber(d.OrderSE, 4)))
	}
	if d.LogLik != nil {
		lines = append(lines, "log likelihood "+shownNumber(d.LogLik, 4))
	}
	for k, group := range d.Components {
		if k == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more groups", len(d.Components)-maxShown))
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

func (d *rankDocument) advice() string {
	if len(d.Components) > 0 {
		return "compare items of different groups, or look at --firth, --ridge 1 or --method winrate"
	}
	return ""
}
