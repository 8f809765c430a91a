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
	Clusters  int               `json:"clusters"`
	Errors    map[string]Error  `json:"errors"` // of the measures that exist, by their names
	Why       map[string]string `json:"why,omitempty"`
}

// Error is how far a measure may be off: its standard error and bounds at [Level], or why they do not exist.
type Error struct {
	SE   *float64 `json:"se"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	Why  string   `json:"why,omitempty"`
}

func errorOf(se stats.Number, in stats.Interval) Error {
	e := Error{SE: se.OrNil(), Why: in.Why}
	if e.Low, e.High = in.OrNil(); in.OK {
		e.Why = se.Why
	}
	return e
}

// RaterPair is how far two raters agree about the items that both labelled.
type RaterPair struct {
	First     string           `json:"first"`
	Second    string           `json:"second"`
	N         int              `json:"n"`
	Agreement *float64         `json:"agreement"`
	Kappa     *float64         `json:"kappa"`
	Errors    map[string]Error `json:"errors"`
	Why       string           `json:"why,omitempty"`
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
		Level: level, Pairs: []RaterPair{}, Clusters: l.clusters(), Errors: map[string]Error{}, Why: map[string]string{},
	}
	d.Coverage = float64(d.Ratings) / float64(d.N*d.Raters)
	panel := stats.NewPanel(l.Cluster, Level)
	if err := d.measure(l, panel); err != nil {
		return nil, err
	}
	ratings := make([]stats.Rating, len(l.Given))
	for k, g := range l.Given {
		ratings[k] = stats.Rating{Unit: int(g.Item), Value: values[g.Label]}
	}
	alpha, err := panel.Alpha(ratings, scale)
	if err != nil {
		return nil, err
	}
	d.Alpha = d.keep("alpha", alpha)
	return d, d.cohen(l, panel)
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
func (d *Agreement) measure(l *Labels, panel stats.Panel) error {
	counts := l.byItem()
	same, err := ofPairs(l, counts)
	if err != nil {
		return err
	}
	d.Agreement = d.keep("agreement", same)
	ac1, err := panel.AC1(counts)
	if err != nil {
		return err
	}
	d.AC1 = d.keep("ac1", ac1)
	if why := unevenly(counts); why != "" {
		d.Why["fleiss"] = why
		return nil
	}
	kappa, err := panel.Fleiss(counts)
	d.Fleiss = d.keep("fleiss", kappa)
	return err
}

// keep returns a measure that may not exist; its error, or the reason why it does not exist, goes apart.
func (d *Agreement) keep(name string, i stats.Index) *float64 {
	if i.Value.OK {
		d.Errors[name] = errorOf(i.SE, i.Interval)
	} else {
		d.Why[name] = i.Value.Why
	}
	return i.Value.OrNil()
}

// ofPairs returns the share of pairs of labels of the same item that are equal, each item of equal weight.
func ofPairs(l *Labels, counts [][]int) (stats.Index, error) {
	items, same := make([]int, len(counts)), make([]stats.Count, len(counts))
	for i, item := range counts {
		n := 0
		for _, c := range item {
			n += c
			same[i].K += c * (c - 1) / 2
		}
		items[i], same[i].N = i, n*(n-1)/2
	}
	i, err := l.share(items, same)
	if err == nil && !i.Value.OK {
		i.Value = stats.Undefined("no item was labelled twice")
	}
	return i, err
}

// share returns the mean over items of how often labels are the same, by cluster.
func (l *Labels) share(items []int, same []stats.Count) (stats.Index, error) {
	clusters := make([]stats.ItemShares, l.clusters())
	for k, c := range same {
		clusters[l.Cluster[items[k]]].Add(c)
	}
	r, err := stats.ShareByCluster(clusters, Level)
	return stats.Index{Value: r.Share, SE: r.SE, Interval: r.Interval}, err
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
func (d *Agreement) cohen(l *Labels, panel stats.Panel) error {
	if d.Raters > maxPairedRaters {
		d.Why["kappa"] = "more than " + strconv.Itoa(maxPairedRaters) + " raters are not compared two by two"
		return nil
	}
	pairs := l.pairs()
	var kappas []stats.Index
	for i := range uint32(d.Raters) {
		for j := i + 1; j < uint32(d.Raters); j++ {
			both := pairs[[2]uint32{i, j}]
			if both == nil {
				continue
			}
			p, kappa, err := l.pair(both, panel)
			if err != nil {
				return err
			}
			p.First, p.Second = l.Raters[i], l.Raters[j]
			d.Pairs, kappas = append(d.Pairs, p), append(kappas, kappa)
		}
	}
	mean := panel.Mean(kappas)
	if d.Kappa = d.keep("kappa", mean); d.Kappa == nil && len(d.Pairs) > 0 {
		d.Why["kappa"] = d.Pairs[0].Why
	} else if d.Kappa == nil {
		d.Why["kappa"] = "no two raters labelled the same item"
	}
	return nil
}

// both are the labels that two raters gave to the same items.
type both struct{ items, first, second []int }

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
				p.items, p.first, p.second = append(p.items, int(a.Item)), append(p.first, int(a.Label)), append(p.second, int(b.Label))
			}
		}
		from = to
	}
	return pairs
}

// pair compares two raters.
func (l *Labels) pair(b *both, panel stats.Panel) (RaterPair, stats.Index, error) {
	same := make([]stats.Count, len(b.items))
	for k := range same {
		if same[k].N = 1; b.first[k] == b.second[k] {
			same[k].K = 1
		}
	}
	share, err := l.share(b.items, same)
	if err != nil {
		return RaterPair{}, stats.Index{}, err
	}
	kappa, err := panel.Of(b.items).Cohen(b.first, b.second, len(l.Labels))
	p := RaterPair{N: len(same), Agreement: share.Value.OrNil(), Kappa: kappa.Value.OrNil(), Why: kappa.Value.Why,
		Errors: map[string]Error{"agreement": errorOf(share.SE, share.Interval)}}
	if kappa.Value.OK {
		p.Errors["kappa"] = errorOf(kappa.SE, kappa.Interval)
	}
	return p, kappa, err
}
