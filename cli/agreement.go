package cli

import (
	"fmt"
	"math"
	"strconv"

	"assay"
	"assay/stats"
	"assay/tables"
)

// maxPairedRaters is how many raters are compared two by two; beyond, the list is of no use to anybody.
const maxPairedRaters = 100

// What a table of kinds of labels by items may hold.
const (
	maxKinds = 1_000
	maxCells = 200_000_000
)

// agreeDocument is agreement for programs. What does not exist is null, and why says the reason.
type agreeDocument struct {
	N         int               `json:"n"` // items
	Raters    int               `json:"raters"`
	Labels    int               `json:"labels"`   // kinds
	Ratings   int               `json:"ratings"`  // labels given
	Missing   int               `json:"missing"`  // rows without a label
	Coverage  float64           `json:"coverage"` // share of items times raters that has a label
	Agreement *float64          `json:"agreement"`
	Kappa     *float64          `json:"kappa"` // Cohen's, the mean over pairs of raters
	Pairs     []agreePair       `json:"pairs"`
	Fleiss    *float64          `json:"fleiss"`
	Level     string            `json:"level"`
	Alpha     *float64          `json:"alpha"`
	AC1       *float64          `json:"ac1"`
	Why       map[string]string `json:"why,omitempty"`
}

// agreePair is what two raters said about the items that both labelled.
type agreePair struct {
	First     string   `json:"first"`
	Second    string   `json:"second"`
	N         int      `json:"n"`
	Agreement *float64 `json:"agreement"`
	Kappa     *float64 `json:"kappa"`
	SE        *float64 `json:"se"`
	Why       string   `json:"why,omitempty"`
}

func scaleNamed(level string) (stats.Scale, bool) {
	switch level {
	case "nominal":
		return stats.NominalScale, true
	case "ordinal":
		return stats.OrdinalScale, true
	case "interval":
		return stats.IntervalScale, true
	case "ratio":
		return stats.RatioScale, true
	}
	return 0, false
}

// agreement measures the labels in all ways.
func agreement(file string, l *tables.Labels, level string, scale stats.Scale) (*agreeDocument, error) {
	d := &agreeDocument{
		N: len(l.Items), Raters: len(l.Raters), Labels: len(l.Labels), Ratings: len(l.Given), Missing: l.Missing,
		Level: level, Pairs: []agreePair{}, Why: map[string]string{},
	}
	if d.Labels > maxKinds || d.N*d.Labels > maxCells {
		return nil, usage("is this the right column?", "%s: %s for %s are too many to compare", shownName(file), fmt.Sprintf("%d kinds of label", d.Labels), assay.Count(d.N, "item"))
	}
	d.Coverage = float64(d.Ratings) / float64(d.N*d.Raters)
	table := make([][]int, d.N) // labels of each kind by item
	for i := range table {
		table[i] = make([]int, d.Labels)
	}
	for _, g := range l.Given {
		table[g.Item][g.Label]++
	}
	d.Agreement = d.keep("agreement", ofPairs(table))
	alpha, err := krippendorff(file, l, level, scale)
	if err != nil {
		return nil, err
	}
	d.Alpha = d.keep("alpha", alpha)
	ac1, err := stats.GwetAC1(table)
	if err != nil {
		return nil, err
	}
	d.AC1 = d.keep("ac1", ac1)
	if d.Fleiss, err = d.fleiss(table); err != nil {
		return nil, err
	}
	return d, d.cohen(l)
}

// keep is a number for JSON; the reason why there is none goes apart.
func (d *agreeDocument) keep(name string, n stats.Number) *float64 {
	if !n.OK {
		d.Why[name] = n.Why
	}
	return orNull(n)
}

// ofPairs is the share of pairs of labels of the same item that are equal, each item of equal weight.
func ofPairs(table [][]int) stats.Number {
	sum, items := 0.0, 0.0
	for _, item := range table {
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

func (d *agreeDocument) fleiss(table [][]int) (*float64, error) {
	counts := make([]int, len(table))
	for i, item := range table {
		for _, c := range item {
			counts[i] += c
		}
	}
	if why := unevenly(counts); why != "" {
		d.Why["fleiss"] = why
		return nil, nil
	}
	kappa, err := stats.FleissKappa(table)
	return d.keep("fleiss", kappa), err
}

// krippendorff reads labels as numbers where the level asks for them.
func krippendorff(file string, l *tables.Labels, level string, scale stats.Scale) (stats.Number, error) {
	var problems assay.Problems
	values := make([]float64, len(l.Labels))
	for k, label := range l.Labels {
		values[k] = float64(k)
		if scale == stats.NominalScale {
			continue
		}
		v, err := strconv.ParseFloat(label, 64)
		if values[k] = v; err != nil || math.IsNaN(v) || math.IsInf(v, 0) || scale == stats.RatioScale && v < 0 {
			problems.Add(assay.Place{File: shownName(file), Line: firstLine(l, uint32(k))}, "labels that are names want --level nominal",
				"--level %s: the label %q is not %s", level, label, wanted(level))
		}
	}
	if len(problems) > 0 {
		return stats.Number{}, problems.Sort()[:min(len(problems), maxShown)]
	}
	ratings := make([]stats.Rating, len(l.Given))
	for k, g := range l.Given {
		ratings[k] = stats.Rating{Unit: int(g.Item), Value: values[g.Label]}
	}
	return stats.KrippendorffAlpha(ratings, scale)
}

// firstLine is where a label was given first.
func firstLine(l *tables.Labels, label uint32) int {
	line := 0
	for _, g := range l.Given {
		if g.Label == label && (line == 0 || g.Line < line) {
			line = g.Line
		}
	}
	return line
}

// cohen compares the raters two by two.
func (d *agreeDocument) cohen(l *tables.Labels) error {
	if d.Raters > maxPairedRaters {
		d.Why["kappa"] = "more than " + strconv.Itoa(maxPairedRaters) + " raters are not compared two by two"
		return nil
	}
	type both struct{ first, second []int }
	pairs := make(map[[2]uint32]*both)
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
			d.Pairs = append(d.Pairs, agreePair{
				First: l.Raters[i], Second: l.Raters[j], N: a.N,
				Agreement: orNull(a.Observed), Kappa: orNull(a.Kappa), SE: orNull(a.SE), Why: a.Kappa.Why,
			})
		}
	}
	switch {
	case len(kappas) > 0:
		d.Kappa = orNull(stats.Mean(kappas))
	case len(d.Pairs) > 0:
		d.Why["kappa"] = d.Pairs[0].Why
	default:
		d.Why["kappa"] = "no two raters labelled the same item"
	}
	return nil
}
