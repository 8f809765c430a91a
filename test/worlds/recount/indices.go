package recount

import "math"

// rated returns how often each label was given to an answer, of those with so many labels at least.
func (p *panel) rated(least int) (out []map[string]float64) {
	for _, answer := range p.answers {
		counts := map[string]float64{}
		for _, r := range p.given[answer] {
			if r.Label != "" {
				counts[r.Label]++
			}
		}
		if sum(counts) >= float64(least) && len(counts) > 0 {
			out = append(out, counts)
		}
	}
	return out
}

func sum(counts map[string]float64) float64 {
	all := 0.0
	for _, n := range counts {
		all += n
	}
	return all
}

// alike returns the share of equal pairs of labels on an answer.
func alike(counts map[string]float64) float64 {
	n, same := sum(counts), 0.0
	for _, k := range counts {
		same += k * (k - 1)
	}
	return same / (n * (n - 1))
}

// fleiss returns Fleiss' kappa of answers with the same number of labels.
func fleiss(all []map[string]float64) *float64 {
	if len(all) == 0 || sum(all[0]) < 2 {
		return nil
	}
	observed, chance, labels := 0.0, 0.0, map[string]float64{}
	for _, counts := range all {
		observed += alike(counts) / float64(len(all))
		for label, k := range counts {
			labels[label] += k / sum(counts) / float64(len(all))
		}
	}
	for _, share := range labels {
		chance += share * share
	}
	return beyond(observed, chance)
}

// gwet returns Gwet's AC1.
func gwet(all []map[string]float64, categories int) *float64 {
	observed, both, labels := 0.0, 0.0, map[string]float64{}
	for _, counts := range all {
		for label, k := range counts {
			labels[label] += k / sum(counts) / float64(len(all))
		}
		if sum(counts) > 1 {
			observed, both = observed+alike(counts), both+1
		}
	}
	if both == 0 || categories < 2 {
		return nil
	}
	chance := 0.0
	for _, share := range labels {
		chance += share * (1 - share) / float64(categories-1)
	}
	return beyond(observed/both, chance)
}

func beyond(observed, chance float64) *float64 {
	if chance >= 1-1e-12 {
		return nil
	}
	return some((observed - chance) / (1 - chance))
}

// alpha returns Krippendorff's: one less the disagreement inside answers by that of all pairs of values.
func (p *panel) alpha() *float64 {
	var all []row
	within := 0.0
	for _, answer := range p.answers {
		var here []row
		for _, judge := range p.judges {
			if r, ok := p.given[answer][judge]; ok && (r.Label != "" || len(p.labels) == 0) {
				here = append(here, r)
			}
		}
		if len(here) < 2 {
			continue
		}
		for _, a := range here {
			for _, b := range here {
				within += p.distance(a, b) / float64(len(here)-1)
			}
		}
		all = append(all, here...)
	}
	between := 0.0
	for _, a := range all {
		for _, b := range all {
			between += p.distance(a, b)
		}
	}
	if between == 0 {
		return nil
	}
	return some(1 - float64(len(all)-1)*within/between)
}

// distance returns how far two verdicts are apart: of labels whether they differ, of scores the square of it.
func (p *panel) distance(a, b row) float64 {
	if len(p.labels) > 0 {
		return one(a.Label != b.Label)
	}
	if a.Score == nil || b.Score == nil {
		return 0
	}
	return math.Pow(*a.Score-*b.Score, 2)
}
