package tables

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/assay"
	"assay/internal/find/stats"
)

// maxPairedRaters is how many raters are compared two by two; a longer list is of no use.
const maxPairedRaters = 100

// What a table of kinds of labels by items may hold.
const (
	maxKinds = 1_000
	maxCells = 200_000_000
)

// Agreement is how far raters agree. What does not exist is nil, and Why has the reason.
type Agreement struct {
	N         int               `json:"n"` // items
	Raters    int               `json:"raters"`
	Labels    int               `json:"labels"`   // kinds
	Ratings   int               `json:"ratings"`  // labels given
	Missing   int               `json:"missing"`  // rows without a label
	Coverage  float64           `json:"coverage"` // share of items times raters that has a label
	Agreement *float64          `json:"agreement"`
	Kappa     *float64          `json:"kappa"` // Cohen's, the mean over pairs of raters
	Pairs     []RaterPair       `json:"pairs"`
	Fleiss    *float64          `json:"fleiss"`
	Level     Measurement       `json:"level"`
	Alpha     *float64          `json:"alpha"` // Krippendorff's
	AC1       *float64          `json:"ac1"`   // Gwet's
	Why       map[string]string `json:"why,omitempty"`
}

// RaterPair is how far two raters agree about the items that both labelled.
type RaterPair struct {
	First     string   `json:"first"`
	Second    string   `json:"second"`
	N         int      `json:"n"`
	Agreement *float64 `json:"agreement"`
	Kappa     *float64 `json:"kappa"`
	SE        *float64 `json:"se"`
	Why       string   `json:"why,omitempty"`
}

// Measurement is the level of measurement of labels: names, or numbers of some kind.
type Measurement string

// The levels of measurement.
const (
	Nominal  Measurement = "nominal"
	Ordinal  Measurement = "ordinal"
	Interval Measurement = "interval"
	Ratio    Measurement = "ratio"
)

// Measurements lists them all.
func Measurements() []Measurement { return []Measurement{Nominal, Ordinal, Interval, Ratio} }

func (m Measurement) scale() (stats.Scale, error) {
	switch m {
	case Nominal:
		return stats.NominalScale, nil
	case Ordinal:
		return stats.OrdinalScale, nil
	case Interval:
		return stats.IntervalScale, nil
	case Ratio:
		return stats.RatioScale, nil
	}
	return 0, fmt.Errorf("no level of measurement is called %q", m)
}

// wants returns what a level asks of a label.
func (m Measurement) wants() string {
	if m == Ratio {
		return "a number from 0 up"
	}
	return "a number"
}

// Agreement reads the labels of a table and measures in all ways how far their raters agree.
func (t *Table) Agreement(c LabelColumns, level Measurement) (*Agreement, error) {
	scale, err := level.scale()
	if err != nil {
		return nil, err
	}
	l, err := t.Labels(c)
	if err != nil {
		return nil, err
	}
	values, err := t.values(l, level)
	if err != nil {
		return nil, err
	}
	d := &Agreement{
		N: len(l.Items), Raters: len(l.Raters), Labels: len(l.Labels), Ratings: len(l.Given), Missing: l.Missing,
		Level: level, Pairs: []RaterPair{}, Why: map[string]string{},
	}
	d.Coverage = float64(d.Ratings) / float64(d.N*d.Raters)
	if err := d.measure(l.byItem()); err != nil {
		return nil, err
	}
	ratings := make([]stats.Rating, len(l.Given))
	for k, g := range l.Given {
		ratings[k] = stats.Rating{Unit: int(g.Item), Value: values[g.Label]}
	}
	alpha, err := stats.KrippendorffAlpha(ratings, scale)
	if err != nil {
		return nil, err
	}
	d.Alpha = d.keep("alpha", alpha)
	return d, d.cohen(l)
}

// values are labels as numbers where the level asks for them, and their places in the list where it does not.
func (t *Table) values(l *Labels, level Measurement) ([]float64, error) {
	if len(l.Labels) > maxKinds || len(l.Items)*len(l.Labels) > maxCells {
		return nil, assay.Problems{{Place: assay.Place{File: t.name}, Hint: "is this the right column?",
			What: fmt.Sprintf("%d kinds of label for %s are too many to compare", len(l.Labels), assay.Count(len(l.Items), "item"))}}
	}
	var problems assay.Problems
	values := make([]float64, len(l.Labels))
	for k, label := range l.Labels {
		values[k] = float64(k)
		if level == Nominal {
			continue
		}
		v, err := strconv.ParseFloat(label, 64)
		if values[k] = v; err != nil || math.IsNaN(v) || math.IsInf(v, 0) || level == Ratio && v < 0 {
			problems.Add(assay.Place{File: t.name, Line: l.firstLine(uint32(k))}, "labels that are names need --level nominal",
				"--level %s: the label %q is not %s", level, label, level.wants())
		}
	}
	if len(problems) > 0 {
		return nil, problems.Sort()[:min(len(problems), maxProblems)]
	}
	return values, nil
}

// firstLine returns where a label was given first.
func (l *Labels) firstLine(label uint32) int {
	line := 0
	for _, g := range l.Given {
		if g.Label == label && (line == 0 || g.Line < line) {
			line = g.Line
		}
	}
	return line
}

// byItem counts the labels of each kind that each item has.
func (l *Labels) byItem() [][]int {
	counts := make([][]int, len(l.Items))
	for i := range counts {
		counts[i] = make([]int, len(l.Labels))
	}
	for _, g := range l.Given {
		counts[g.Item][g.Label]++
	}
	return counts
}

// measure takes the measures that want no more than the counts of labels by item.
func (d *Agreement) measure(counts [][]int) error {
	d.Agreement = d.keep("agreement", ofPairs(counts))
	ac1, err := stats.GwetAC1(counts)
	if err != nil {
		return err
	}
	d.AC1 = d.keep("ac1", ac1)
	if why := unevenly(counts); why != "" {
		d.Why["fleiss"] = why
		return nil
	}
	kappa, err := stats.FleissKappa(counts)
	d.Fleiss = d.keep("fleiss", kappa)
	return err
}

// keep returns a number that may not exist; the reason why it does not goes apart.
func (d *Agreement) keep(name string, n stats.Number) *float64 {
	if !n.OK {
		d.Why[name] = n.Why
	}
	return n.OrNil()
}

// ofPairs returns the share of pairs of labels of the same item that are equal, each item of equal weight.
func ofPairs(counts [][]int) stats.Number {
	sum, items := 0.0, 0.0
	for _, item := range counts {
		n, same := 0, 0
		for _, c := range item {
			n += c
			same += c * (c - 1)
		}
		if n > 1 {
			sum += float64(same) / float64(n*(n-1))
			items++
		}
	}
	if items == 0 {
		return stats.Undefined("no item was labelled twice")
	}
	return stats.Known(sum / items)
}

// unevenly returns the range of the number of labels of an item; empty when all items have equally many.
func unevenly(counts [][]int) string {
	given := make([]int, len(counts))
	for i, item := range counts {
		for _, c := range item {
			given[i] += c
		}
	}
	low, high := slices.Min(given), slices.Max(given)
	if low == high {
		return ""
	}
	return fmt.Sprintf("items have from %d to %d labels, and it needs as many for each", low, high)
}

// cohen compares the raters two by two.
func (d *Agreement) cohen(l *Labels) error {
	if d.Raters > maxPairedRaters {
		d.Why["kappa"] = "more than " + strconv.Itoa(maxPairedRaters) + " raters are not compared two by two"
		return nil
	}
	pairs := l.pairs()
	var kappas []float64
	for i := range uint32(d.Raters) {
		for j := i + 1; j < uint32(d.Raters); j++ {
			p := pairs[[2]uint32{i, j}]
			if p == nil {
				continue
			}
			a, err := stats.Agree(p.first, p.second, d.Labels)
			if err != nil {
				return err
			}
			if a.Kappa.OK {
				kappas = append(kappas, a.Kappa.Value)
			}
			d.Pairs = append(d.Pairs, RaterPair{
				First: l.Raters[i], Second: l.Raters[j], N: a.N,
				Agreement: a.Observed.OrNil(), Kappa: a.Kappa.OrNil(), SE: a.SE.OrNil(), Why: a.Kappa.Why,
			})
		}
	}
	switch {
	case len(kappas) > 0:
		d.Kappa = stats.Mean(kappas).OrNil()
	case len(d.Pairs) > 0:
		d.Why["kappa"] = d.Pairs[0].Why
	default:
		d.Why["kappa"] = "no two raters labelled the same item"
	}
	return nil
}

// both are the labels that two raters gave to the same items.
type both struct{ first, second []int }

// pairs returns those of all raters two by two. Labels come by item, then rater.
func (l *Labels) pairs() map[[2]uint32]*both {
	pairs := map[[2]uint32]*both{}
	for from := 0; from < len(l.Given); {
		to := from
		for to < len(l.Given) && l.Given[to].Item == l.Given[from].Item {
			to++
		}
		for i, a := range l.Given[from:to] {
			for _, b := range l.Given[from+i+1 : to] {
				p := pairs[[2]uint32{a.Rater, b.Rater}]
				if p == nil {
					p = &both{}
					pairs[[2]uint32{a.Rater, b.Rater}] = p
				}
				p.first, p.second = append(p.first, int(a.Label)), append(p.second, int(b.Label))
			}
		}
		from = to
	}
	return pairs
}
