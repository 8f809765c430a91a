package people

import (
	"cmp"
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
	"assay/internal/keep/store"
)

// Plan writes down how many items people are to label. It is known before the first label, or does not change any more; what holds is
// returned.
func (s *Stage) Plan(ctx context.Context, d *analysis.Draw, items int) (int, error) {
	labels, err := s.Reader.People(ctx, s.Run.No, s.Name)
	if err != nil || len(labels) > 0 || d.Planned == items {
		return cmp.Or(d.Planned, checked.PlannedItems), err
	}
	d.Planned = items
	return items, s.keep(ctx, d)
}

// Probabilities returns with which chance each drawn item was, of those that have all of their labels; nil where nothing was drawn.
func (s *Stage) Probabilities(ctx context.Context) (map[string]float64, error) {
	d, err := s.Draw(ctx)
	if d == nil || err != nil {
		return nil, err
	}
	labelled := map[string]map[store.Task]bool{}
	for v, err := range s.Reader.PeopleVerdicts(ctx, s.Run.No, s.Name) {
		if err != nil {
			return nil, err
		}
		chosen, _ := ChosenAs(&v)
		if chosen != analysis.ChosenDrawn && chosen != analysis.ChosenAdjudicated || v.State != assay.VerdictValid {
			continue
		}
		if labelled[v.At.Item] == nil {
			labelled[v.At.Item] = map[store.Task]bool{}
		}
		labelled[v.At.Item][v.Task()] = true
	}
	var items []string
	for item, tasks := range labelled {
		if len(tasks) == checked.LabelsOfItem(len(d.Lanes), s.pairs()) {
			items = append(items, item)
		}
	}
	out := map[string]float64{}
	for item, weight := range d.Weights(items) {
		if out[item] = 1 / weight; s.pairs() { // of two of its lanes
			out[item] *= float64(len(d.Drawn(item))-1) / float64(len(d.Lanes)-1)
		}
	}
	return out, nil
}

// AskRaters has so many people asked about each drawn answer from now on.
func (s *Stage) AskRaters(ctx context.Context, d *analysis.Draw, raters int) error {
	if d.Raters == raters {
		return nil
	}
	d.Raters = raters
	return s.keep(ctx, d)
}

// LabelsLeft returns how many answers of the first items of a draw too few people have labelled yet.
func (s *Stage) LabelsLeft(ctx context.Context, d *analysis.Draw, items int) (n int, err error) {
	seen, err := s.tally(ctx, "")
	if err != nil {
		return 0, err
	}
	earlier := map[string]bool{}
	err = s.eachItem(ctx, seen, func(item string, all []analysis.Task) {
		earlier[item] = slices.ContainsFunc(all, func(t analysis.Task) bool { return t.Earlier })
	})
	if err != nil {
		return 0, err
	}
	first := map[string]bool{}
	for _, item := range d.Order() {
		if !earlier[item] && len(first) < items {
			first[item] = true
		}
	}
	err = s.eachItem(ctx, seen, func(item string, all []analysis.Task) {
		if !first[item] {
			return
		}
		found := places(all)
		for _, t := range s.ofLanes(found[d.Place(item, len(found))], d.Drawn(item)) {
			if t.Forward+t.Turned < max(1, d.Raters) {
				n++
			}
		}
	})
	return n, err
}
