package tables

import (
	"errors"
	"fmt"
	"math"

	"assay/internal/assay"
	"assay/internal/find/stats"
)

// bradleyTerry fits Bradley and Terry's model, or Davidson's.
func (r *ranker) bradleyTerry() error {
	o := stats.BTOptions{Order: r.options.Order, Ridge: r.options.Ridge, Firth: r.options.Firth}
	if r.options.Method == Davidson {
		o.Ties = stats.Davidson
	}
	fit, boot, err := r.finite(o)
	var none *stats.NoMaximum
	if errors.As(err, &none) {
		r.out.Why = none.Why
		if none.Components != nil {
			r.group(none.Components)
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.out.LogLik, r.out.OrderEffect, r.out.Tie = stats.Known(fit.LogLik).OrNil(), fit.Order.OrNil(), fit.LogNu.OrNil()
	for i, theta := range fit.Theta {
		r.out.Items[i].Score = stats.Known(theta).OrNil()
	}
	if !*r.out.Connected {
		so := ""
		if fit.Options.Firth && !r.options.Firth {
			so = "; they are drawn together after Firth"
			if ties(r.tally) > 0 {
				so += ", and a tie is half a win to each side"
			}
		}
		r.warn("the items fall into %s between which all wins go one way: without a penalty their scores would be infinite%s",
			assay.Count(len(r.out.Components), "group"), so)
	}
	if err := r.standardErrors(fit); err != nil {
		return err
	}
	if boot != nil {
		r.resampled(boot)
	}
	r.mistrust()
	return nil
}

// mistrust takes away errors of nothing: where no cluster, or no resample, differs from another, that is no certainty.
func (r *ranker) mistrust() {
	alike := false
	for i := range r.out.Items {
		one := &r.out.Items[i]
		if one.Low == nil || one.High == nil || *one.High-*one.Low > 1e-9 {
			continue
		}
		alike, one.Low, one.High = true, nil, nil
		if one.SE != nil && *one.SE < 1e-9 {
			one.SE, one.Quasi = nil, nil
		}
	}
	if alike {
		r.warn("all clusters are alike: nothing shows how far scores could differ, and they have no interval")
	}
}

// finite fits the model, and with Firth's penalty where groups of items that met would have infinite scores, as analyses of
// comparisons do.
func (r *ranker) finite(o stats.BTOptions) (*stats.BTFit, *stats.BTBootstrap, error) {
	fit, boot, err := r.fit(o)
	var none *stats.NoMaximum
	if !errors.As(err, &none) || none.Components == nil || o.Ridge > 0 || o.Firth {
		return fit, boot, err
	}
	return r.fit(stats.BTOptions{Order: o.Order, Firth: true})
}

func (r *ranker) fit(o stats.BTOptions) (*stats.BTFit, *stats.BTBootstrap, error) {
	if r.options.Bootstrap == 0 {
		fit, err := stats.FitBT(r.tally, o)
		return fit, nil, err
	}
	boot, err := stats.BootstrapBT(r.grouped, o, r.options.Bootstrap, r.options.Seed)
	if err != nil {
		return nil, nil, err
	}
	return boot.Fit, boot, nil
}

// standardErrors are those of the model, or of the clusters where they were asked for.
func (r *ranker) standardErrors(fit *stats.BTFit) error {
	var c *stats.Covariance
	var err error
	units := 0 // as many clusters as Student's t of the errors has; 0: the normal distribution
	if r.clustered() {
		if c, units, err = r.byCluster(fit); err != nil || c == nil {
			return err
		}
	} else {
		r.out.SEFrom = "the model"
		if c, err = fit.Covariance(); err != nil {
			return err
		}
		if r.options.Method == BradleyTerry && r.options.Bootstrap == 0 && ties(r.tally) > 0 {
			r.warn("a tie counts as half a win, so the model's errors are somewhat too wide: --method davidson has a parameter for ties")
		}
	}
	r.out.IntervalFrom = r.out.SEFrom
	r.out.OrderSE = c.OrderSE().OrNil()
	for i, se := range c.SE() {
		one := &r.out.Items[i]
		one.SE = stats.Known(se).OrNil()
		if one.Low, one.High = stats.NormalInterval(fit.Theta[i], se, Level).OrNil(); units > 0 {
			one.Low, one.High = stats.StudentInterval(fit.Theta[i], se, Level, units).OrNil()
		}
	}
	if r.options.Quasi {
		r.quasi(c)
	}
	return nil
}

// byCluster returns the covariance by cluster; nil where there are too few clusters for one. Where a cluster is a pair it is
// the model's, widened by how far pairs scatter round their scores, with as many units as Student's t has.
func (r *ranker) byCluster(fit *stats.BTFit) (c *stats.Covariance, units int, err error) {
	r.out.SEFrom, r.out.Clusters = "clusters (CR1)", r.grouped.Clusters()
	if r.grouped.ByPair() {
		return r.byPair(fit)
	}
	if r.out.Clusters < 2 {
		r.warn("there is one cluster: errors need two")
		return nil, 0, nil
	}
	if doubt := r.grouped.Doubt(); doubt != "" {
		instead := "the bootstrap is better (--bootstrap 1000)"
		if r.options.Bootstrap > 0 {
			instead = "low and high are the bootstrap's"
		}
		r.warn("%s: the cluster-robust se is not to be trusted, %s", doubt, instead)
	}
	c, err = fit.ClusterRobust(r.grouped, stats.CR1)
	return c, 0, err
}

func (r *ranker) byPair(fit *stats.BTFit) (c *stats.Covariance, units int, err error) {
	d, err := fit.Dispersion(r.grouped)
	if err != nil {
		return nil, 0, err
	}
	r.out.SEFrom = "the model"
	switch {
	case d.Units() < 2:
		r.warn("no pair is left to show how far pairs scatter round their scores: there are no errors")
		return nil, 0, nil
	case d.Factor > 1:
		r.out.SEFrom = fmt.Sprintf("the model, its variances times %.3g for how far pairs scatter", d.Factor)
	}
	if c, err = fit.Covariance(); err != nil {
		return nil, 0, err
	}
	return c.Widened(d.Factor), d.Units(), nil
}

// quasi adds the errors that make those of all differences.
func (r *ranker) quasi(c *stats.Covariance) {
	variances, err := c.QuasiVariances()
	if err != nil {
		r.warn("no quasi standard errors: %s", err)
		return
	}
	for i, v := range variances {
		one := &r.out.Items[i]
		if v < 0 {
			r.warn("%s has no quasi standard error: its variance would be negative", assay.Clean(one.Item, 80))
			continue
		}
		one.Quasi = stats.Known(math.Sqrt(v)).OrNil()
	}
}

// resampled takes low and high from the bootstrap: percentiles, or with few clusters, whose percentiles are too narrow,
// Student's t with the spread over resamples.
func (r *ranker) resampled(boot *stats.BTBootstrap) {
	r.out.IntervalFrom = fmt.Sprintf("%d resamples", r.options.Bootstrap)
	intervals := boot.Intervals(Level)
	if r.clustered() && boot.Clusters < stats.FewClusters {
		r.out.IntervalFrom += fmt.Sprintf(", Student's t of %s", assay.Count(boot.Clusters, "cluster"))
		for i, theta := range boot.Fit.Theta {
			intervals[i] = boot.Strength(i).Student(stats.Known(theta), Level, boot.Clusters)
		}
	}
	for i, interval := range intervals {
		r.out.Items[i].Low, r.out.Items[i].High = interval.OrNil()
	}
	if boot.Undefined > 0 {
		r.warn("%d of %d resamples have no scores; bounds that they could change are unknown", boot.Undefined, r.options.Bootstrap)
	}
}

// ties returns how many comparisons were tied.
func ties(t *stats.Tally) (n float64) {
	for i := range t.Items() {
		for j := range t.Items() {
			_, _, tied := t.Of(i, j)
			n += tied
		}
	}
	return n
}

// elo rates along the table, or along random orders.
func (r *ranker) elo() error {
	o := stats.DefaultElo()
	o.K, o.Start = r.options.K, r.options.Start
	r.apart("ratings of different groups do not compare")
	if r.options.Orders == 0 {
		ratings, err := stats.Elo(len(r.items), r.rows.Pairs, o)
		for i, rating := range ratings {
			r.out.Items[i].Score = stats.Known(rating).OrNil()
		}
		return err
	}
	runs, err := stats.EloShuffled(len(r.items), r.rows.Pairs, o, r.options.Orders, r.options.Seed)
	if err != nil {
		return err
	}
	for i, mean := range runs.Mean {
		r.out.Items[i].Score, r.out.Items[i].OrderSD = stats.Known(mean).OrNil(), runs.SD[i].OrNil()
	}
	return nil
}
