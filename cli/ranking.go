package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"assay"
	"assay/stats"
)

// rankDocument is a ranking for programs. What does not exist is null.
type rankDocument struct {
	Method       string     `json:"method"`
	N            float64    `json:"n"`         // comparisons, weighted
	Connected    *bool      `json:"connected"` // null: too many items to tell
	Items        []rankItem `json:"items"`
	Tie          *float64   `json:"tie"`
	OrderEffect  *float64   `json:"order_effect"`
	OrderSE      *float64   `json:"order_effect_se"`
	LogLik       *float64   `json:"loglik"`
	Clusters     int        `json:"clusters,omitempty"`
	Judges       int        `json:"judges,omitempty"`
	SEFrom       string     `json:"se_from,omitempty"`
	IntervalFrom string     `json:"interval_from,omitempty"`
	Why          string     `json:"why,omitempty"`        // why there are no scores
	Components   [][]string `json:"components,omitempty"` // the groups that cannot be ranked together
	Warnings     []string   `json:"warnings,omitempty"`
}

type rankItem struct {
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

// join finds out whether all items can be ranked together.
func (d *rankDocument) join(b *ballots) {
	if b.tally == nil {
		return
	}
	groups := stats.Components(b.tally)
	connected := len(groups) == 1
	d.Connected = &connected
	if !connected {
		d.group(b, groups)
	}
}

func (d *rankDocument) group(b *ballots, groups [][]int) {
	d.Components = make([][]string, len(groups))
	for g, members := range groups {
		for _, i := range members {
			d.Components[g] = append(d.Components[g], b.items[i])
		}
	}
}

// bradleyTerry fits bt and davidson.
func (d *rankDocument) bradleyTerry(b *ballots, f rankFlags) error {
	o := stats.BTOptions{Order: f.order, Ridge: f.ridge, Firth: f.firth}
	if f.method == methodDavidson {
		o.Ties = stats.Davidson
	}
	fit, boot, err := fitBallots(b, o, f)
	var none *stats.NoMaximum
	if errors.As(err, &none) {
		d.Why = none.Why
		if none.Components != nil {
			d.group(b, none.Components)
		}
		return nil
	}
	if err != nil {
		return err
	}
	d.LogLik, d.OrderEffect = orNull(stats.Known(fit.LogLik)), orNull(fit.Order)
	if fit.LogNu.OK {
		d.Tie = orNull(stats.Known(math.Exp(fit.LogNu.Value)))
	}
	for i, theta := range fit.Theta {
		d.Items[i].Score = orNull(stats.Known(theta))
	}
	if !*d.Connected {
		d.warn("the items fall into %s between which all wins go one way: without the penalty their scores would be infinite", assay.Count(len(d.Components), "group"))
	}
	if err := d.standardErrors(b, fit, f); err != nil {
		return err
	}
	if boot != nil {
		d.resampled(boot, f)
	}
	return nil
}

func fitBallots(b *ballots, o stats.BTOptions, f rankFlags) (*stats.BTFit, *stats.BTBootstrap, error) {
	if f.bootstrap == 0 {
		fit, err := stats.FitBT(b.tally, o)
		return fit, nil, err
	}
	boot, err := stats.BootstrapBT(b.grouped, o, f.bootstrap, f.seed)
	if err != nil {
		return nil, nil, err
	}
	return boot.Fit, boot, nil
}

// standardErrors are those of the model, or of the clusters where they were asked for.
func (d *rankDocument) standardErrors(b *ballots, fit *stats.BTFit, f rankFlags) error {
	var c *stats.Covariance
	var err error
	if f.clusterColumn() == "" {
		d.SEFrom = "the model"
		c, err = fit.Covariance()
		if f.method == methodBT && f.bootstrap == 0 && ties(b.tally) > 0 {
			d.warn("a tie counts as half a win, so the model's errors are somewhat too wide: --method davidson has a parameter for ties")
		}
	} else {
		d.SEFrom, d.Clusters = "clusters (CR1)", b.grouped.Clusters()
		if d.Clusters < 2 {
			d.warn("there is one cluster: errors need two")
			return nil
		}
		if doubt := b.grouped.Doubt(); doubt != "" {
			instead := "the bootstrap is better (--bootstrap 1000)"
			if f.bootstrap > 0 {
				instead = "low and high are the bootstrap's"
			}
			d.warn("%s: the cluster-robust se is not to be trusted, %s", doubt, instead)
		}
		c, err = fit.ClusterRobust(b.grouped, stats.CR1)
	}
	if err != nil {
		return err
	}
	d.IntervalFrom = d.SEFrom
	d.OrderSE = orNull(c.OrderSE())
	for i, se := range c.SE() {
		d.Items[i].SE = orNull(stats.Known(se))
		d.Items[i].Low, d.Items[i].High = bounds(stats.NormalInterval(fit.Theta[i], se, level))
	}
	if f.quasi {
		d.quasi(c)
	}
	return nil
}

// quasi adds the errors that make those of all differences.
func (d *rankDocument) quasi(c *stats.Covariance) {
	variances, err := c.QuasiVariances()
	if err != nil {
		d.warn("no quasi standard errors: %s", err)
		return
	}
	for i, v := range variances {
		if v < 0 {
			d.warn("%s has no quasi standard error: its variance would be negative", assay.Clean(d.Items[i].Item, 80))
			continue
		}
		d.Items[i].Quasi = orNull(stats.Known(math.Sqrt(v)))
	}
}

// resampled takes low and high from the bootstrap: percentiles, or with few clusters, whose percentiles are too narrow, Student's t
// with the spread over resamples.
func (d *rankDocument) resampled(boot *stats.BTBootstrap, f rankFlags) {
	d.IntervalFrom = fmt.Sprintf("%d resamples", f.bootstrap)
	intervals := boot.Intervals(level)
	if f.clusterColumn() != "" && boot.Clusters < stats.FewClusters {
		d.IntervalFrom += fmt.Sprintf(", Student's t of %s", assay.Count(boot.Clusters, "cluster"))
		for i, theta := range boot.Fit.Theta {
			intervals[i] = boot.Strength(i).Student(stats.Known(theta), level, boot.Clusters)
		}
	}
	for i, interval := range intervals {
		d.Items[i].Low, d.Items[i].High = bounds(interval)
	}
	if boot.Undefined > 0 {
		d.warn("%d of %d resamples have no scores; bounds that they could change are unknown", boot.Undefined, f.bootstrap)
	}
}

func (d *rankDocument) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// ties is how many comparisons were tied.
func ties(t *stats.Tally) (n float64) {
	for i := range t.Items() {
		for j := range t.Items() {
			_, _, tied := t.Of(i, j)
			n += tied
		}
	}
	return n
}

// elo rates along the file, or along random orders.
func (d *rankDocument) elo(b *ballots, f rankFlags) error {
	o := stats.DefaultElo()
	o.K, o.Start = f.k, f.start
	d.apart("ratings of different groups do not compare")
	if f.orders == 0 {
		ratings, err := stats.Elo(len(b.items), b.rows.Pairs, o)
		for i, r := range ratings {
			d.Items[i].Score = orNull(stats.Known(r))
		}
		return err
	}
	runs, err := stats.EloShuffled(len(b.items), b.rows.Pairs, o, f.orders, f.seed)
	if err != nil {
		return err
	}
	for i, r := range runs.Mean {
		d.Items[i].Score, d.Items[i].OrderSD = orNull(stats.Known(r)), orNull(runs.SD[i])
	}
	return nil
}

// apart warns of groups where the method gives numbers all the same.
func (d *rankDocument) apart(so string) {
	if len(d.Components) > 1 {
		d.warn("the items fall into %s that never beat each other both ways: %s", assay.Count(len(d.Components), "group"), so)
	}
}

// winrate are plain shares of wins, a tie worth a half.
func (d *rankDocument) winrate(b *ballots, f rankFlags) error {
	d.apart("who met whom decides their win rates")
	d.SEFrom, d.IntervalFrom = "shares of independent comparisons", "Wilson's formula"
	rates := b.tally.Rates()
	for i := range d.Items {
		one := &d.Items[i]
		one.Score, one.Average = orNull(rates.Overall[i]), orNull(rates.Average[i])
		if n := rates.N[i]; n > 0 {
			if v := spread(b.tally, i, rates); v > 0 { // where all results are alike the data do not tell it
				one.SE = orNull(stats.Known(math.Sqrt(v / n)))
			}
			// Half points and half weights: the bounds of the whole numbers around them.
			low, high := stats.Wilson(int(rates.Won[i]), int(n), level), stats.Wilson(min(int(math.Ceil(rates.Won[i])), int(n)), int(n), level)
			one.Low, one.High = bounds(stats.Between(low.Low, high.High))
		} else {
			d.Why = "an item was never compared: all its rows weigh nothing"
		}
	}
	if b.grouped == nil || d.Why != "" {
		return nil
	}
	if f.clusterColumn() != "" {
		d.Clusters, d.SEFrom, d.IntervalFrom = b.grouped.Clusters(), "clusters", "Wilson's formula for as many independent comparisons"
	}
	return d.winrateByCluster(b, f)
}

// spread is the variance of what one comparison is worth to item i.
func spread(t *stats.Tally, i int, rates *stats.WinRates) float64 {
	squares := 0.0
	for j := range t.Items() {
		won, _, tied := t.Of(i, j)
		_, lost, tiedBack := t.Of(j, i)
		squares += won + lost + (tied+tiedBack)/4
	}
	p := rates.Overall[i].Value
	return max(0, squares/rates.N[i]-p*p)
}

// winrateByCluster replaces errors by those of clusters, and bounds by those of resamples.
func (d *rankDocument) winrateByCluster(b *ballots, f rankFlags) error {
	for i, clusters := range pointsByCluster(b) {
		one := &d.Items[i]
		if f.clusterColumn() != "" {
			rate, err := stats.RateByCluster(clusters, level)
			if err != nil {
				return err
			}
			one.SE = orNull(rate.SE)
			one.Low, one.High = bounds(rate.Interval)
		}
		if f.bootstrap > 0 {
			d.IntervalFrom = fmt.Sprintf("%d resamples", f.bootstrap)
			runs, err := stats.BootstrapRate(clusters, f.bootstrap, f.seed)
			if err != nil {
				return err
			}
			one.Low, one.High = bounds(runs.Interval(level))
		}
	}
	return nil
}

// pointsByCluster are, for each item, the points it made in each cluster: one for a win, or where there are ties two for
// a win and one for a tie, of two for each comparison.
func pointsByCluster(b *ballots) [][]stats.Count {
	scale := 1
	if ties(b.tally) > 0 {
		scale = 2
	}
	p := b.rows.Pairs
	keys := make([]uint64, 0, 2*p.Len()) // item, cluster, points
	for k, r := range p.Result {
		points := uint64(r.Score() * float64(scale))
		cluster := uint64(b.rows.Cluster[k]) << 2
		keys = append(keys, uint64(p.First[k])<<40|cluster|points, uint64(p.Second[k])<<40|cluster|(uint64(scale)-points))
	}
	slices.Sort(keys)
	out := make([][]stats.Count, len(b.items))
	last := ^uint64(0)
	for _, key := range keys {
		item := key >> 40
		if key>>2 != last {
			last = key >> 2
			out[item] = append(out[item], stats.Count{})
		}
		c := &out[item][len(out[item])-1]
		c.K += int(key & 3)
		c.N += scale
	}
	return out
}
