package recount

import "slices"

// rate checks the share of a label, the rate of a stage, or the mean score.
func (c *checker) rate(s *stage, t *Table, f *Finding) bool {
	rows, ok := s.of(t, f)
	if !ok {
		return false
	}
	_, branches := f.By["branch"]
	rows = s.counted(t, rows, branches)
	c.covered(s, f.What, f.Coverage, rows)
	all := s.valuesOf(rows, f.What)
	c.boundsOfItems(s, f, all, rows)
	if f.What == "mean" {
		c.estimate("mean", f, meanOfItems(all, f.Level, s.rubric.Low, s.rubric.High))
		return true
	}
	c.estimate("rate", f, shareOfItems(all, f.Level))
	return true
}

// valuesOf returns what valid verdicts count for.
func (s *stage) valuesOf(rows []row, what string) (all []ofItem) {
	for _, r := range rows {
		if x, ok := s.read(&r, what); ok && r.valid() {
			all = append(all, ofItem{r.Item, seen{r.cluster, x}})
		}
	}
	return all
}

// boundsOfItems checks where a mean over items must lie whatever the missing verdicts are.
func (c *checker) boundsOfItems(s *stage, f *Finding, all []ofItem, rows []row) {
	if !s.machines && f.Coverage.Planned > len(rows) {
		return // it is not known here which answers people are to judge
	}
	low, high := some(0), some(1)
	if f.What == "mean" {
		low, high = s.rubric.Low, s.rubric.High
	}
	worst, best, missing := slices.Clone(all), slices.Clone(all), false
	for _, r := range rows {
		if r.valid() || r.State == "excluded" {
			continue
		}
		if missing = true; low != nil && high != nil {
			worst = append(worst, ofItem{r.Item, seen{r.cluster, *low}})
			best = append(best, ofItem{r.Item, seen{r.cluster, *high}})
		}
	}
	if len(all) == 0 && !missing || missing && (low == nil || high == nil) {
		c.same("bounds", f.What+", at least", nil, f.AtLeast)
		return
	}
	c.same("bounds", f.What+", at least", meanOfItems(worst, f.Level, nil, nil).value, f.AtLeast)
	c.same("bounds", f.What+", at most", meanOfItems(best, f.Level, nil, nil).value, f.AtMost)
}

// bounds checks where a share must lie whatever the missing verdicts are.
func (c *checker) bounds(f *Finding, all []seen) {
	missing := float64(f.Coverage.Planned - f.Coverage.Excluded - f.Coverage.Valid)
	n, sum := float64(len(all)), total(values(all))
	if n+missing == 0 {
		c.same("bounds", f.What+", at least", nil, f.AtLeast)
		return
	}
	c.same("bounds", f.What+", at least", some(sum/(n+missing)), f.AtLeast)
	c.same("bounds", f.What+", at most", some((sum+missing)/(n+missing)), f.AtMost)
}

// read returns what a valid verdict counts for: 1 or 0 for a label, the score for the mean.
func (s *stage) read(r *row, what string) (float64, bool) {
	switch yes := s.yes(); {
	case what == "mean":
		if r.Score == nil {
			return 0, false
		}
		return *r.Score, true
	case r.Label == "":
		return 0, false
	case what != "rate":
		return one(r.Label == what), true
	case len(yes) > 0:
		return one(slices.Contains(yes, r.Label)), true
	case r.expect == "":
		return 0, false
	}
	return one(r.Label == r.expect), true
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// value returns what lanes are compared by: the rate of the stage, else the score, else whether the label is the expected one.
func (s *stage) value(r *row) (x float64, scored, ok bool) {
	switch yes := s.yes(); {
	case len(yes) > 0 && r.Label != "":
		return one(slices.Contains(yes, r.Label)), false, true
	case r.Score != nil:
		return *r.Score, true, true
	case r.expect != "":
		return one(r.Label == r.expect), false, true
	}
	return 0, false, false
}

// difference checks what a lane got more than another on the items that both have.
func (c *checker) difference(s *stage, t *Table, f *Finding) bool {
	rows, ok := s.of(t, f, "lane", "against")
	if !ok {
		return false
	}
	_, branches := f.By["branch"]
	rows = s.counted(t, rows, branches)
	first, second := f.By["lane"], f.By["against"]
	both := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Lane != first && r.Lane != second })
	c.covered(s, f.What, f.Coverage, both)
	e := s.between(rows, first, second, f.Level)
	c.estimate("difference", f, e)
	c.same("difference: test", "p of the difference", e.p, f.P)
	return true
}

// between returns the difference of two lanes on the items that both have, each item as the mean of its verdicts.
func (s *stage) between(rows []row, first, second string, level float64) estimate {
	got, clusters := map[string]map[string][]float64{first: {}, second: {}}, map[string]string{}
	scores := false
	for _, r := range rows {
		x, scored, ok := s.value(&r)
		if of := got[r.Lane]; of != nil && ok && r.valid() {
			of[r.Item] = append(of[r.Item], x)
			clusters[r.Item] = r.cluster
			scores = scores || scored
		}
	}
	if scores {
		return meansBetween(got[first], got[second], clusters, false, level, nil, nil)
	}
	return meansBetween(got[first], got[second], clusters, true, level, some(-1), some(1))
}

// meansBetween returns the difference of what two got on the same items, each item as the mean of its values.
func meansBetween(first, second map[string][]float64, clusters map[string]string, single bool, level float64, low, high *float64) estimate {
	var all []twice
	for item, a := range first {
		b, ok := second[item]
		if !ok {
			continue
		}
		single = single && len(a) == 1 && len(b) == 1
		all = append(all, twice{clusters[item], total(a) / float64(len(a)), total(b) / float64(len(b))})
	}
	e := pairedOf(all, single, level, low, high)
	e.n = len(all)
	return e
}
