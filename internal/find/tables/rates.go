package tables

import (
	"assay/internal/find/stats"
)

// Rates are shares of yes by group. What does not exist is nil.
type Rates struct {
	N      int      `json:"n"` // answers
	By     []string `json:"by,omitempty"`
	Groups []Rate   `json:"groups"`
}

// Rate is the share of yes in one group.
type Rate struct {
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
}

// Rates counts yes and no and estimates their shares, by cluster where the columns name one.
func (t *Table) Rates(c AnswerColumns, w Words) (*Rates, error) {
	groups, err := t.Answers(c, w)
	if err != nil {
		return nil, err
	}
	all := &Rates{By: c.By, Groups: []Rate{}}
	for _, g := range groups {
		one, err := g.rate(c)
		if err != nil {
			return nil, err
		}
		all.N += one.N
		all.Groups = append(all.Groups, one)
	}
	return all, nil
}

// rate returns the rate of one group.
func (a Answers) rate(c AnswerColumns) (Rate, error) {
	out := Rate{N: a.Yes + a.No, Yes: a.Yes, Missing: a.Missing, Other: a.Other}
	if len(c.By) > 0 {
		out.By = map[string]string{}
		for k, column := range c.By {
			out.By[column] = a.By[k]
		}
	}
	out.BoundLow, out.BoundHigh = stats.MissingBounds(a.Yes, a.No, a.Missing+a.Other).OrNil()
	if c.Cluster == "" {
		r := stats.NewRate(a.Yes, a.Yes+a.No, Level)
		out.Rate = r.Share.OrNil()
		out.Low, out.High = r.Interval.OrNil()
		return out, nil
	}
	r, err := stats.RateByCluster(a.Clusters, Level)
	if err != nil {
		return out, err
	}
	out.Clusters = &r.Clusters
	out.Rate, out.SE, out.DesignEffect = r.Share.OrNil(), r.SE.OrNil(), r.DesignEffect.OrNil()
	out.Low, out.High = r.Interval.OrNil()
	if !r.Interval.OK {
		out.Why = r.Interval.Why
	} else if !r.SE.OK {
		out.Why = r.SE.Why
	}
	return out, nil
}
