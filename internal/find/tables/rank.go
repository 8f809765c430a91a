package tables

import (
	"fmt"
	"sort"

	"assay/internal/assay"
	"assay/internal/find/stats"
)

// Level is the confidence level of all intervals.
const Level = 0.95

// Method is how items are ranked.
type Method string

// The methods.
const (
	BradleyTerry Method = "bt"       // a tie is half a win
	Davidson     Method = "davidson" // ties have a parameter of their own
	Elo          Method = "elo"
	WinRate      Method = "winrate"
)

// Methods lists them all.
func Methods() []Method { return []Method{BradleyTerry, Davidson, Elo, WinRate} }

// RankOptions configure the ranking of a table of comparisons. With Columns.Cluster set, errors are cluster-robust.
type RankOptions struct {
	Method    Method
	Columns   Columns
	Order     bool    // estimate the advantage of being shown first
	Ridge     float64 // penalty on the squares of the scores
	Firth     bool    // Jeffreys' penalty
	Quasi     bool    // add quasi standard errors
	Bootstrap int     // low and high from so many resamples of clusters, or of rows; 0: none
	Seed      uint64  // where resamples and random orders begin
	K, Start  float64 // of Elo
	Orders    int     // Elo's mean over so many random orders; 0: the order of the table
}

// Ranking is how the items of a table rank. What does not exist is nil.
type Ranking struct {
	Method       Method       `json:"method"`
	N            float64      `json:"n"`                 // comparisons, weighted
	Missing      int          `json:"missing,omitempty"` // rows without a winner, or that compare nothing
	Connected    *bool        `json:"connected"`         // nil: too many items to find out
	Items        []RankedItem `json:"items"`             // by rank, or as in the table where there is none
	Tie          *float64     `json:"tie"`               // log of Davidson's nu, as analyses have it
	OrderEffect  *float64     `json:"order_effect"`
	OrderSE      *float64     `json:"order_effect_se"`
	LogLik       *float64     `json:"loglik"`
	Clusters     int          `json:"clusters,omitempty"`
	Judges       int          `json:"judges,omitempty"`
	SEFrom       string       `json:"se_from,omitempty"`
	IntervalFrom string       `json:"interval_from,omitempty"`
	Why          string       `json:"why,omitempty"`        // why there are no scores
	Components   [][]string   `json:"components,omitempty"` // the groups that cannot be ranked together
	Warnings     []string     `json:"warnings,omitempty"`
}

// RankedItem is one item of a ranking.
type RankedItem struct {
	Item    string   `json:"item"`
	Score   *float64 `json:"score"`
	SE      *float64 `json:"se"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Rank    *int     `json:"rank"`
	Average *float64 `json:"average,omitempty"`  // win rate with equal weight for each opponent
	Quasi   *float64 `json:"quasi_se,omitempty"` // two of them make the error of a difference
	OrderSD *float64 `json:"order_sd,omitempty"` // spread of an Elo rating over random orders
}

// Rank reads the comparisons of a table and ranks their items.
func (t *Table) Rank(o RankOptions) (*Ranking, error) {
	r := ranker{options: o}
	if err := r.read(t); err != nil {
		return nil, err
	}
	r.join()
	var err error
	switch o.Method {
	case BradleyTerry, Davidson:
		err = r.bradleyTerry()
	case Elo:
		err = r.elo()
	case WinRate:
		err = r.winRate()
	default:
		err = fmt.Errorf("no method is called %q", o.Method)
	}
	if err != nil {
		return nil, err
	}
	r.out.place()
	return &r.out, nil
}

// ranker holds the comparisons as a method wants them, and the ranking that becomes of them.
type ranker struct {
	options RankOptions
	items   []string
	rows    *Rows          // nil where counts are enough
	tally   *stats.Tally   // nil where items are too many to be counted by pairs
	grouped *stats.Grouped // nil without clusters and resamples
	out     Ranking
}

func (r *ranker) read(t *Table) error {
	o := r.options
	limit, keep := MaxTallied, r.clustered() || o.Bootstrap > 0
	if o.Method == Elo {
		limit, keep = MaxItems, true
	} else if !r.clustered() && t.Has("cluster") {
		r.warn("the column cluster is not used without --cluster cluster")
	}
	c, err := t.Comparisons(o.Columns, limit)
	if err != nil {
		return err
	}
	if keep {
		r.rows, err = c.Keep()
	} else {
		r.tally, err = c.Tally()
	}
	if err != nil {
		return err
	}
	r.items = c.Items()
	if err := r.count(); err != nil {
		return err
	}
	r.out.Method, r.out.N, r.out.Judges, r.out.Items = o.Method, float64(c.Rows()), c.Judges(), make([]RankedItem, len(r.items))
	r.out.Missing = c.Missing()
	if r.tally != nil {
		r.out.N = r.tally.N()
	}
	for i, item := range r.items {
		r.out.Items[i].Item = item
	}
	return nil
}

// clustered reports whether errors are asked for by cluster.
func (r *ranker) clustered() bool { return r.options.Columns.Cluster != "" }

// count makes of the rows what the method wants.
func (r *ranker) count() (err error) {
	switch {
	case r.rows == nil:
	case r.options.Method == Elo:
		if len(r.items) <= MaxTallied {
			r.tally = stats.NewTally(len(r.items))
			return r.tally.Add(r.rows.Pairs)
		}
	default:
		if r.rows.Cluster == nil { // each row by itself
			r.rows.Cluster = make([]uint32, r.rows.Pairs.Len())
			for k := range r.rows.Cluster {
				r.rows.Cluster[k] = uint32(k)
			}
		}
		if r.grouped, err = stats.Group(len(r.items), r.rows.Pairs, r.rows.Cluster); err != nil {
			return err
		}
		r.tally = r.grouped.Tally()
	}
	return nil
}

// join finds out whether all items can be ranked together.
func (r *ranker) join() {
	if r.tally == nil {
		return
	}
	groups := stats.Components(r.tally)
	connected := len(groups) == 1
	r.out.Connected = &connected
	if !connected {
		r.group(groups)
	}
}

func (r *ranker) group(groups [][]int) {
	r.out.Components = make([][]string, len(groups))
	for g, members := range groups {
		for _, i := range members {
			r.out.Components[g] = append(r.out.Components[g], r.items[i])
		}
	}
}

// apart warns of groups where the method gives numbers all the same.
func (r *ranker) apart(so string) {
	if len(r.out.Components) > 1 {
		r.warn("the items fall into %s that never beat each other both ways: %s", assay.Count(len(r.out.Components), "group"), so)
	}
}

func (r *ranker) warn(format string, args ...any) {
	r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
}

// place sorts the items by their scores and gives them their ranks.
func (d *Ranking) place() {
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
	sort.SliceStable(d.Items, func(i, j int) bool { return *d.Items[i].Rank < *d.Items[j].Rank })
}
