package answers

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// lengths gathers how verdicts go with the length of answers.
type lengths struct {
	gather.Job
	yes     []string
	strata  gather.Names // lanes, or pairs of lanes
	groups  gather.Groups[*lengthRows]
	key     []byte
	unknown int // verdicts on answers whose length is not known
	omitted int // verdicts beyond the most that a group keeps
}

// lengthRows are the verdicts of a group as columns: of a pair, how the one whose name comes first did, and whether it
// was longer.
type lengthRows struct {
	cluster, stratum []uint32
	x, value         []float64 // x: doublings of length; of a pair, 1, 0 or -1
}

// NewLengths returns the collector of how verdicts go with the length of answers.
func NewLengths(j gather.Job) gather.Collector {
	l := &lengths{Job: j, yes: j.Stage.Yes()}
	l.groups = gather.NewGroups(j.Spec.By, func() *lengthRows { return &lengthRows{} })
	return l
}

func (l *lengths) Expect(r *analysis.Row) { l.groups.Expect(r) }

func (l *lengths) Add(r *analysis.Row) {
	g := l.groups.Of(r)
	g.Cover.Count(r)
	if !r.Valid() {
		return
	}
	x, value, ok := l.read(r)
	if !ok {
		l.unknown++
		return
	}
	d := g.Data
	if len(d.value) >= gather.MaxUnits {
		l.omitted++
		return
	}
	low, high := min(r.Lane, r.Other), max(r.Lane, r.Other)
	if r.Other == "" {
		low, high = r.Lane, r.Judge
	}
	l.key = analysis.AppendText(l.key[:0], low, high)
	d.cluster, d.stratum = append(d.cluster, l.Known.Of(r.ClusterName())), append(d.stratum, l.strata.OfBytes(l.key))
	d.x, d.value = append(d.x, x), append(d.value, value)
}

// read returns the length of an answer, in doublings, and the value of its verdict. Of a pair it returns, for the lane whose name comes
// first, whether its answer was longer (1, 0 or -1) and its score. Not ok: a length or a value is not known.
func (l *lengths) read(r *analysis.Row) (x, value float64, ok bool) {
	if l.Stage.Verb == analysis.Judged {
		value, ok = gather.ValueOf(r, l.yes, false)
		return math.Log2(float64(r.Length)), value, ok && r.Length > 0
	}
	result, ok := gather.ResultOf(r.Label)
	if !ok || r.Length == 0 || r.OtherLength == 0 {
		return 0, 0, false
	}
	value, x = result.Score(), float64(cmp.Compare(r.Length, r.OtherLength))
	if r.Lane > r.Other {
		value, x = 1-value, -x
	}
	return x, value, true
}

func (l *lengths) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "length", Coverage: l.groups.Totals()}
	for _, g := range l.groups.Sorted() {
		f, err := l.finding(g)
		if err != nil {
			return nil, err
		}
		t.Findings = append(t.Findings, *f)
	}
	if l.unknown > 0 {
		t.Note("%s on answers whose length is not known left out", analysis.Plural(l.unknown, "verdict"))
	}
	if l.omitted > 0 {
		t.Note("%s left out: lengths are computed over the first %d of a group", analysis.Plural(l.omitted, "verdict"), gather.MaxUnits)
	}
	return []analysis.Table{t}, nil
}

// lengthWork bounds the rows that are looked at over all resamples.
const lengthWork = 200_000_000

func (l *lengths) finding(g *gather.Group[*lengthRows]) (*analysis.Finding, error) {
	d := g.Data
	f := &analysis.Finding{What: analysis.WhatLength, Unit: analysis.Score, By: g.By(l.Spec.By), Coverage: g.Cover.WithMissing(),
		Rule: l.Stage.CountingRule(), N: len(d.value), Bounds: stats.NoInterval("not computed")}
	estimate, how := slope, "within lanes, per doubling"
	switch {
	case l.Stage.Verb == analysis.Judged && len(l.yes) > 0:
		f.Unit = analysis.Share // of points that a rate gains
	case l.Stage.Verb == analysis.Compared:
		estimate, how, f.Unit = mantelHaenszel, "Mantel-Haenszel over pairs of lanes", analysis.Logit
	}
	rows := d.byCluster(l.Known)
	f.Clusters, f.Method = len(rows), how+", bootstrap of clusters"
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	strata := l.strata.Len()
	f.Value = estimate(sumLengths(d, rows, all, strata))
	switch {
	case !f.Value.OK:
		f.Interval = stats.NoInterval("%s", f.Value.Why)
	case len(rows) < 2:
		f.Interval = stats.NoInterval(stats.NoErrorBar)
	default:
		resamples := gather.Resamples(l.Options.Resamples, lengthWork, len(d.value))
		r, err := stats.Bootstrap(len(rows), resamples, l.Options.Seed, func(drawn []int) stats.Number {
			return estimate(sumLengths(d, rows, drawn, strata))
		})
		if err != nil {
			return nil, err
		}
		f.Interval, f.SE = r.Interval(l.Options.Level), r.SE()
		if len(rows) < stats.FewClusters {
			f.Interval, f.Method = r.Student(f.Value, l.Options.Level, len(rows)), how+", Student, bootstrap of clusters"
		}
		if f.SE.OK && stats.Same(f.SE.Value, 0) {
			f.Interval, f.SE = stats.NoInterval(stats.AlikeClusters), stats.Undefined(stats.AlikeClusters)
		}
	}
	return f, nil
}

// byCluster returns the rows of each cluster, in the order of the clusters' names.
func (d *lengthRows) byCluster(clusters *gather.Names) [][]int32 {
	at := map[uint32]int{}
	var ids []uint32
	var out [][]int32
	for k, c := range d.cluster {
		i, ok := at[c]
		if !ok {
			i = len(out)
			at[c] = i
			ids, out = append(ids, c), append(out, nil)
		}
		out[i] = append(out[i], int32(k))
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return analysis.Natural(clusters.Text(ids[a]), clusters.Text(ids[b])) })
	return gather.Permuted(out, order)
}

// lengthSum is the sums over the rows of one stratum: over all, and over the longer and the shorter ones.
type lengthSum struct{ n, x, y, xx, xy, longWon, longLost, shortWon, shortLost float64 }

// sumLengths returns the sums by stratum over the rows of the clusters that were drawn.
func sumLengths(d *lengthRows, rows [][]int32, drawn []int, strata int) []lengthSum {
	sums := make([]lengthSum, strata)
	for _, c := range drawn {
		for _, k := range rows[c] {
			s, x, y := &sums[d.stratum[k]], d.x[k], d.value[k]
			s.n, s.x, s.y, s.xx, s.xy = s.n+1, s.x+x, s.y+y, s.xx+x*x, s.xy+x*y
			switch {
			case x > 0:
				s.longWon, s.longLost = s.longWon+y, s.longLost+1-y
			case x < 0:
				s.shortWon, s.shortLost = s.shortWon+y, s.shortLost+1-y
			}
		}
	}
	return sums
}

// slope returns the common slope within strata.
func slope(sums []lengthSum) stats.Number {
	numerator, denominator := 0.0, 0.0
	for _, s := range sums {
		if s.n > 0 {
			numerator, denominator = numerator+s.xy-s.x*s.y/s.n, denominator+s.xx-s.x*s.x/s.n
		}
	}
	if denominator < 1e-12 {
		return stats.Undefined("no two answers of a lane differ in length")
	}
	return stats.Known(numerator / denominator)
}

// mantelHaenszel returns the log of the common odds ratio of winning, longer against shorter.
func mantelHaenszel(sums []lengthSum) stats.Number {
	numerator, denominator := 0.0, 0.0
	for _, s := range sums {
		if n := s.longWon + s.longLost + s.shortWon + s.shortLost; n > 0 {
			numerator, denominator = numerator+s.longWon*s.shortLost/n, denominator+s.longLost*s.shortWon/n
		}
	}
	if numerator == 0 || denominator == 0 {
		return stats.Undefined("the odds ratio of longer against shorter answers is 0, infinite or not defined")
	}
	return stats.Known(math.Log(numerator / denominator))
}
