package checked

import (
	"maps"
	"math"
	"slices"

	"assay/internal/find/stats"
)

// Wanted is the purpose of labels.
type Wanted struct {
	Target   float64 // half the width of an interval; with a power, the difference that is to be told apart
	Power    float64 // 0: a width is wanted
	Level    float64
	Tests    int     // that are corrected for
	Residual float64 // variance of what verdicts leave open, of one item
	Label    float64 // variance of labels, of one item
	Items    int     // there are
}

// BeforeLabels returns what is wanted of a rate as long as nothing is known of the judge: it is taken to be wrong on 15 of 100 answers,
// half of which are yes.
func BeforeLabels(target float64, items int) Wanted {
	return Wanted{Target: target, Level: 0.95, Tests: 1, Residual: 0.15 * 0.85, Label: 0.25, Items: items}
}

// ApartBefore returns what is wanted of a difference between any two of some lanes, as long as nothing is known of the judge: to be shown
// with a chance of 80%.
func ApartBefore(difference float64, lanes, items int) Wanted {
	return Wanted{Target: difference, Power: 0.8, Level: 0.95, Tests: max(1, lanes*(lanes-1)/2), Residual: 0.20, Label: 0.35, Items: items}
}

// ItemsToLabel returns how many items are to be labelled; false: not with so many items.
func (w Wanted) ItemsToLabel() (int, bool) {
	power := 0.0
	if w.Power > 0 {
		power = stats.NormalQuantile(w.Power)
	}
	for n := 3; n <= w.Items; n++ {
		if (stats.StudentCritical((1-w.Level)/float64(w.Tests), n)+power)*w.se(n) <= w.Target {
			return n, true
		}
	}
	return 0, false
}

// se returns the error of a value with so many labelled items.
func (w Wanted) se(n int) float64 {
	all := float64(w.Items)
	return math.Sqrt(w.Residual*max(0, 1/float64(n)-1/all) + w.Label/all)
}

// HalfWidth returns half the width of a value's interval with so many labelled items.
func (w Wanted) HalfWidth(n int) float64 {
	return stats.StudentCritical((1-w.Level)/float64(max(1, w.Tests)), n) * w.se(n)
}

// Pilot returns the variances of one item as labels so far show them: of what verdicts leave open, and of labels. They know nothing of
// values or differences, so that people may look after every label.
func (s *Sample) Pilot(scale Scale) (residual, label float64) {
	lanes, _ := s.labelledLanes()
	p := within(s.raw(), lanes)
	free := max(1, float64(len(s.labels)-len(lanes)))
	share := usable(p, len(lanes), scale.steepest())
	weight := float64(len(s.labels)) / max(p.n, nothing)
	residual = weight * (p.yy - 2*share*p.yf + share*share*p.ff) / free
	label = weight * p.yy / free
	least := scale.Step * scale.Step / float64(max(1, len(s.drawn())))
	return max(residual, least), max(label, residual, least)
}

// PilotApart returns the variances of differences between two lanes on one item, as Pilot does of values: means over all pairs of lanes.
// False: no two lanes have labels on two items.
func (s *Sample) PilotApart(scale Scale) (residual, label float64, ok bool) {
	lanes, _ := s.labelledLanes()
	share := usable(within(s.raw(), lanes), len(lanes), scale.steepest())
	byItem := map[int][]Label{}
	for _, l := range s.labels {
		byItem[l.Item] = append(byItem[l.Item], l)
	}
	rest, said := map[[2]int]*spread{}, map[[2]int]*spread{}
	for _, i := range slices.Sorted(maps.Keys(byItem)) {
		for _, a := range byItem[i] {
			for _, b := range byItem[i] {
				at := [2]int{a.Lane, b.Lane}
				if a.Lane >= b.Lane {
					continue
				}
				if rest[at] == nil {
					rest[at], said[at] = &spread{}, &spread{}
				}
				said[at].add(a.Value - b.Value)
				rest[at].add(a.Value - share*a.Verdict - (b.Value - share*b.Verdict))
			}
		}
	}
	pairs := 0.0
	for _, at := range slices.SortedFunc(maps.Keys(rest), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if n := rest[at].n; n > 1 {
			pairs++
			residual, label = residual+rest[at].squares()/(n-1), label+said[at].squares()/(n-1)
		}
	}
	least := scale.Step * scale.Step / float64(max(1, len(s.drawn())))
	residual = max(residual/max(1, pairs), least)
	return residual, max(label/max(1, pairs), residual), pairs > 0
}

// Look is a planned time at which corrected numbers are computed.
type Look struct {
	Items int
	Alpha float64 // what it may spend of the whole error
}

// PlannedItems is how many items are labelled unless another number is planned.
const PlannedItems = 60

// Looks returns the planned looks of so many items.
func Looks(items int, alpha float64) []Look {
	return []Look{{(items + 3) / 4, 0.1 * alpha}, {(items + 1) / 2, 0.2 * alpha}, {items, 0.7 * alpha}}
}

// Worth is the worth of a label.
type Worth struct {
	Verdicts float64 // one label is worth so many more judged items
	Labels   float64 // with the judge the labelled items are as good as so many
}

// WorthOf returns it of so many labelled items of all, where the judge knows so much of the labels' variance.
func WorthOf(labelled, items int, r2 float64) Worth {
	n, all := float64(labelled), float64(items)
	return Worth{Verdicts: all / n * all / n * (1 - r2) / r2, Labels: 1 / ((1-r2)*(1/n-1/all) + 1/all)}
}

// Planned returns those looks, none of them before a judge's state can be known: what it shows would not count.
func Planned(items int, alpha float64) []Look {
	out := Looks(items, alpha)
	for i := range out {
		out[i].Items = min(max(out[i].Items, FewestChecked), items)
	}
	return out
}
