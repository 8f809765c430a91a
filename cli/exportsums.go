package cli

import (
	"slices"

	"assay"
)

// sum is a cost in dollars; nil where a part of it is not known.
func sum(c assay.Cost) *float64 {
	if !c.Known() {
		return nil
	}
	usd := c.Sum.Float()
	return &usd
}

// both64 adds two counts; the sum is known where both are.
func both64(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}

func bothFloat(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	x := *a + *b
	return &x
}

// scoring is what the judges of this stage's answers cost; nil where that is not known, or told together with other stages.
func (x *experiment) scoring() *float64 {
	var all assay.Cost
	for i := range x.study.Stages {
		st := &x.study.Stages[i]
		if !slices.Contains(st.Judge.List, x.st.Name) {
			continue
		}
		cost := x.costs[st.Name]
		if len(st.Judge.List) > 1 && cost != (assay.Cost{}) {
			return nil
		}
		all = all.Add(cost)
	}
	return sum(all)
}
