package answers

import (
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
	size, value      []float64
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
	size, value, ok := l.read(r)
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
	d.size, d.value = append(d.size, size), append(d.value, value)
}

// read returns the length of an answer, in doublings, and the value of its verdict. Of a pair it returns, for the lane whose name comes
// first, whether its answer was longer (1, 0 or -1) and its score. Not ok: a length or a value is not known.
func (l *lengths) read(r *analysis.Row) (size, value float64, ok bool) {
	if l.Stage.Verb == analysis.Judged {
		value, ok = gather.ValueOf(r, l.yes, false)
		return math.Log2(float64(r.Length)), value, ok && r.Length > 0
	}
	result, ok := gather.ResultOf(r.Label)
	if !ok || r.Length == 0 || r.OtherLength == 0 {
		return 0, 0, false
	}
	value, size = result.Score(), float64(sign(r.Length-r.OtherLength))
	if r.Lane > r.Other {
		value, size = 1-value, -size
	}
	return size, value, true
}

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
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
	of, how := slope, "within lanes, per doubling"
	if l.Stage.Verb == analysis.Compared {
		of, how, f.Unit = mantelHaenszel, "Mantel-Haenszel over pairs of lanes", analysis.Logit
	}
	rows := d.byCluster(l.Known)
	f.Clusters, f.Method = len(rows), how+", bootstrap of clusters"
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	sums := newLengthSums(len(l.strata.List))
	f.Value = of(sums.over(d, rows, all))
	switch {
	case !f.Value.OK:
		f.Interval = stats.NoInterval("%s", f.Value.Why)
	case len(rows) < 2:
		f.Interval = stats.NoInterval("an error needs two clusters, there are %d", len(rows))
	default:
		resamples := max(50, min(l.Options.Resamples, lengthWork/(len(d.value)+1)))
		r, err := stats.Bootstrap(len(rows), resamples, l.Options.Seed, func(drawn []int) stats.Number {
			return of(newLengthSums(len(l.strata.List)).over(d, rows, drawn))
		})
		if err != nil {
			return nil, err
		}
		f.Interval, f.SE = r.Interval(l.Options.Level), r.SE()
		if len(rows) < stats.FewClusters {
			f.Interval, f.Method = r.Student(f.Value, l.Options.Level, len(rows)), how+", Student, bootstrap of clusters"
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
	slices.SortFunc(order, func(a, b int) int { return analysis.Natural(clusters.List[ids[a]], clusters.List[ids[b]]) })
	return gather.Permuted(out, order)
}

// lengthSums are sums by stratum: of all rows, and of the longer and the shorter ones.
type lengthSums struct {
	n, x, y, xx, xy                   []float64
	longWon, longLost, shortW, shortL []float64
}

func newLengthSums(strata int) *lengthSums {
	cols := make([][]float64, 9)
	for i := range cols {
		cols[i] = make([]float64, strata)
	}
	return &lengthSums{cols[0], cols[1], cols[2], cols[3], cols[4], cols[5], cols[6], cols[7], cols[8]}
}

func (s *lengthSums) over(d *lengthRows, rows [][]int32, drawn []int) *lengthSums {
	for _, c := range drawn {
		for _, k := range rows[c] {
			at, x, y := d.stratum[k], d.size[k], d.value[k]
			s.n[at], s.x[at], s.y[at], s.xx[at], s.xy[at] = s.n[at]+1, s.x[at]+x, s.y[at]+y, s.xx[at]+x*x, s.xy[at]+x*y
			switch {
			case x > 0:
				s.longWon[at], s.longLost[at] = s.longWon[at]+y, s.longLost[at]+1-y
			case x < 0:
				s.shortW[at], s.shortL[at] = s.shortW[at]+y, s.shortL[at]+1-y
			}
		}
	}
	return s
}

// slope returns the common slope within strata.
func slope(s *lengthSums) stats.Number {
	up, down := 0.0, 0.0
	for k, n := range s.n {
		if n > 0 {
			up, down = up+s.xy[k]-s.x[k]*s.y[k]/n, down+s.xx[k]-s.x[k]*s.x[k]/n
		}
	}
	if down < 1e-12 {
		return stats.Undefined("no two answers of a lane differ in length")
	}
	return stats.Known(up / down)
}

// mantelHaenszel returns the log of the common odds ratio of winning, longer against shorter.
func mantelHaenszel(s *lengthSums) stats.Number {
	up, down := 0.0, 0.0
	for k := range s.n {
		if n := s.longWon[k] + s.longLost[k] + s.shortW[k] + s.shortL[k]; n > 0 {
			up, down = up+s.longWon[k]*s.shortL[k]/n, down+s.longLost[k]*s.shortW[k]/n
		}
	}
	if up == 0 || down == 0 {
		return stats.Undefined("no two lanes met with now one, now the other longer, and both winning")
	}
	return stats.Known(math.Log(up / down))
}
