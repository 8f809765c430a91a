package contests

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// leastStyled is in how many comparisons the two have to differ in a feature.
const leastStyled = 20

// controlled are comparisons whose strengths are shown with and without what style did.
type controlled struct {
	*Contest
	features []analysis.Feature
	rows     gather.Groups[*styledBouts]
	unknown  int // verdicts on answers whose text is not known
}

// styledBouts are the comparisons of one group with their differences of style.
type styledBouts struct{ rows []styledBout }

type styledBout struct {
	cluster       uint32
	first, second uint16
	result        stats.Result
	x             [6]float32 // by feature
}

// NewControlled returns the collector of comparisons whose strengths are shown with and without what style did.
func NewControlled(j gather.Job) gather.Collector {
	c := &controlled{Contest: New(j), features: j.Spec.Control.Features()}
	c.rows = gather.NewGroups(j.Spec.By, func() *styledBouts { return &styledBouts{} })
	return c
}

func (c *controlled) Add(r *analysis.Row) {
	c.Contest.Add(r)
	if c.inside(r) || !r.Valid() {
		return
	}
	result, ok := gather.ResultOf(r.Label)
	first, second, numbered := c.sides(r)
	if !ok || !numbered {
		return
	}
	if !r.Style.Known || !r.OtherStyle.Known {
		c.unknown++
		return
	}
	b := styledBout{cluster: c.Known.Of(r.ClusterName()), first: uint16(first), second: uint16(second), result: result}
	for j, f := range c.features {
		b.x[j] = apartIn(f.Count(&r.Style), f.Count(&r.OtherStyle))
	}
	d := c.rows.Of(r).Data
	d.rows = append(d.rows, b)
}

// apartIn returns the difference of two counts as a part of their sum; two that have none are alike.
func apartIn(a, b int32) float32 {
	if a+b <= 0 {
		return 0
	}
	return float32(float64(a-b) / float64(a+b))
}

func (c *controlled) Tables() ([]analysis.Table, error) {
	out, err := c.Contest.Tables()
	if err != nil || len(out) != 1 {
		return out, err
	}
	t := &out[0]
	for _, g := range c.rows.Sorted() {
		if err := c.put(t, g); err != nil {
			return nil, err
		}
	}
	if c.unknown > 0 {
		t.Note("%s on answers whose text is not known: not in the controlled strengths", analysis.Plural(c.unknown, "verdict"))
	}
	if c.Stage.Rounds != nil {
		t.Note("pairs were bought by what was found: intervals of controlled strengths may be too narrow")
	}
	return out, nil
}

// styledGroup is a group whose comparisons are in an order that does not depend on that of rows.
type styledGroup struct {
	stats.Styled
	by       []analysis.Value
	names    []string
	features []analysis.Feature
	rms      []float64
	options  stats.BTOptions
	n        []int
}

// put adds the findings of one group to the table and to its leaderboard.
func (c *controlled) put(t *analysis.Table, g *gather.Group[*styledBouts]) error {
	s := c.styled(t, g)
	if len(s.features) == 0 || s.Items < 2 {
		return nil
	}
	bare := s.Styled
	bare.X = nil
	plain, err := stats.FitStyled(&bare, s.options)
	var fit *stats.StyledFit
	if err == nil {
		fit, err = stats.FitStyled(&s.Styled, s.options)
	}
	var none *stats.NoMaximum
	if errors.As(err, &none) {
		f := c.about(s, analysis.WhatControlled, analysis.Logit, -1)
		t.Findings = append(t.Findings, f.Unknown("%s", none.Why))
		return nil
	}
	if err != nil {
		return err
	}
	e, how, why := c.errors(s, plain, fit)
	c.strengths(t, s, plain, fit, e, how, why)
	c.effects(t, s, fit, e, how, why)
	words := c.swapped(t, s, plain, fit)
	for i := range t.Leaderboards {
		if slices.Equal(t.Leaderboards[i].By, s.by) {
			t.Leaderboards[i].Style = words
		}
	}
	return nil
}

// styled puts the rows of a group in order, and scales features by their root mean square. Those in which hardly any
// two differ are left out.
func (c *controlled) styled(t *analysis.Table, g *gather.Group[*styledBouts]) *styledGroup {
	rows := g.Data.rows
	s := &styledGroup{by: g.By(c.Spec.By)}
	place := make([]int, len(c.entrants.List))
	met := make([]bool, len(place))
	for _, b := range rows {
		met[b.first], met[b.second] = true, true
	}
	for _, e := range c.entrants.Sorted() {
		if met[e] {
			place[e] = len(s.names)
			s.names = append(s.names, c.entrants.List[e])
		}
	}
	s.Items, s.n = len(s.names), make([]int, len(s.names))
	rank := gather.Ranks(c.Known.Sorted())
	for i := range rows {
		b := &rows[i]
		b.cluster, b.first, b.second = rank[b.cluster], uint16(place[b.first]), uint16(place[b.second])
	}
	sort.Slice(rows, func(i, k int) bool { return rows[i].before(&rows[k]) })
	forth, back, last := false, false, uint32(0)
	for k, b := range rows {
		if k > 0 && b.cluster != rows[k-1].cluster {
			last++
		}
		s.Pairs.Append(b.first, b.second, b.result)
		s.Cluster = append(s.Cluster, last)
		s.n[b.first], s.n[b.second] = s.n[b.first]+1, s.n[b.second]+1
		forth, back = forth || b.first < b.second, back || b.first > b.second
		if b.result == stats.Tied {
			s.options.Ties = stats.Davidson
		}
	}
	s.options.Order = forth && back
	c.scale(t, s, rows)
	g.Data = nil
	return s
}

// before orders comparisons by all that is known of them.
func (b *styledBout) before(o *styledBout) bool {
	switch {
	case b.cluster != o.cluster:
		return b.cluster < o.cluster
	case b.first != o.first:
		return b.first < o.first
	case b.second != o.second:
		return b.second < o.second
	case b.result != o.result:
		return b.result < o.result
	}
	for j, x := range b.x {
		if x != o.x[j] {
			return x < o.x[j]
		}
	}
	return false
}

// scale fills in the features.
func (c *controlled) scale(t *analysis.Table, s *styledGroup, rows []styledBout) {
	var left []string
	for j, f := range c.features {
		squares, differ := 0.0, 0
		for i := range rows {
			if x := float64(rows[i].x[j]); x != 0 {
				squares, differ = squares+x*x, differ+1
			}
		}
		if differ < leastStyled {
			left = append(left, f.Name)
			continue
		}
		rms := math.Sqrt(squares / float64(len(rows)))
		column := make([]float32, len(rows))
		for i := range rows {
			column[i] = float32(float64(rows[i].x[j]) / rms)
		}
		s.features, s.rms, s.X = append(s.features, f), append(s.rms, rms), append(s.X, column)
	}
	if len(left) > 0 {
		t.Note("control without %s: fewer than %d comparisons differ in that", strings.Join(left, ", "), leastStyled)
	}
}

// styledWork bounds the rows that are looked at over all resamples.
const styledWork = 20_000_000

// errors returns those of both fits: by formula where clusters are many, else by resampling.
func (c *controlled) errors(s *styledGroup, plain, fit *stats.StyledFit) (e stats.StyledErrors, how, why string) {
	clusters := s.clusters()
	if clusters < 2 {
		return e, "", fmt.Sprintf("an error needs two clusters, there are %d", clusters)
	}
	if clusters > s.Items && clusters >= stats.FewClusters && c.Spec.Settings.Bootstrap == 0 {
		e, err := fit.Errors(plain)
		if err != nil {
			return e, "", err.Error()
		}
		return e, "by cluster", ""
	}
	resamples := max(50, min(c.Options.Resamples, styledWork/(s.Pairs.Len()+1)))
	e, undefined := fit.Resampled(plain, s.options, resamples, c.Options.Seed)
	if 5*undefined > resamples {
		return e, "", fmt.Sprintf("%d of %d resamples have no estimate", undefined, resamples)
	}
	return e, "Student, bootstrap of clusters", ""
}

func (s *styledGroup) clusters() int {
	if len(s.Cluster) == 0 {
		return 0
	}
	return int(s.Cluster[len(s.Cluster)-1]) + 1
}

// about returns the beginning of a finding about one contestant, or about all with -1.
func (c *controlled) about(s *styledGroup, what string, u analysis.Unit, i int) *analysis.Finding {
	f := &analysis.Finding{What: what, Unit: u, By: append([]analysis.Value{}, s.by...), N: s.Pairs.Len(), Clusters: s.clusters(),
		Rule: c.Stage.CountingRule(), Bounds: stats.NoInterval("not computed for comparisons")}
	f.Coverage = analysis.Coverage{Planned: f.N, Valid: f.N}
	if i >= 0 {
		f.By = append([]analysis.Value{{Field: c.field(), Value: s.names[i]}}, f.By...)
		f.N = s.n[i]
		f.Coverage = analysis.Coverage{Planned: f.N, Valid: f.N}
	}
	return f
}

// measured puts a value with its error into a finding.
func (c *controlled) measured(f *analysis.Finding, value, se float64, how, why string) analysis.Finding {
	f.Value, f.Method = stats.Known(value), strings.TrimSuffix("style control, "+how, ", ")
	if why == "" && !(se > 1e-9) {
		why = stats.AlikeClusters
	}
	if why != "" {
		f.SE, f.Interval = stats.Undefined("%s", why), stats.NoInterval("%s", why)
		return *f
	}
	f.SE, f.Interval = stats.Known(se), stats.StudentInterval(value, se, c.Options.Level, f.Clusters)
	return *f
}

// strengths adds what strengths would be without style, and how far that is from what they are.
func (c *controlled) strengths(t *analysis.Table, s *styledGroup, plain, fit *stats.StyledFit, e stats.StyledErrors, how, why string) {
	for i := range s.names {
		own, changed := c.about(s, analysis.WhatControlled, analysis.Logit, i), c.about(s, analysis.WhatMoved, analysis.Logit, i)
		own.Clusters, changed.Clusters = s.clusters(), s.clusters()
		t.Findings = append(t.Findings, c.measured(own, fit.Theta[i], at(e.Theta, i), how, why))
		d := c.measured(changed, fit.Theta[i]-plain.Theta[i], at(e.Change, i), how, why)
		d.P = stats.StudentTest(d.Value, d.SE, d.Clusters)
		t.Findings = append(t.Findings, d)
	}
}

func at(list []float64, i int) float64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// effects adds what each feature is worth.
func (c *controlled) effects(t *analysis.Table, s *styledGroup, fit *stats.StyledFit, e stats.StyledErrors, how, why string) {
	for j, feature := range s.features {
		f := c.about(s, analysis.WhatStyle, analysis.Logit, -1)
		f.By = append([]analysis.Value{{Field: analysis.ByStyle, Value: feature.Name}}, f.By...)
		d := c.measured(f, fit.Beta[j], at(e.Beta, j), how, why)
		d.P = stats.StudentTest(d.Value, d.SE, d.Clusters)
		of := "twice as many change"
		if feature.Bit == analysis.ControlLength {
			of = "twice as long changes"
		}
		d.Note("%s the log odds of winning by %+.2f", of, fit.Beta[j]/s.rms[j]/3) // (2 - 1) / (2 + 1)
		t.Findings = append(t.Findings, d)
	}
}

// swapped adds how many pairs change their order, and a sentence on how much of the ranking was style.
func (c *controlled) swapped(t *analysis.Table, s *styledGroup, plain, fit *stats.StyledFit) string {
	swapped, all, most := 0, 0, 0
	for i := range s.names {
		if math.Abs(fit.Theta[i]-plain.Theta[i]) > math.Abs(fit.Theta[most]-plain.Theta[most]) {
			most = i
		}
		for k := range i {
			all++
			swapped += int(gather.One((plain.Theta[i]-plain.Theta[k])*(fit.Theta[i]-fit.Theta[k]) < 0))
		}
	}
	f := c.about(s, analysis.WhatSwapped, analysis.Share, -1)
	f.Value, f.Interval, f.Method = gather.Ratio(float64(swapped), all), stats.NoInterval("not computed"),
		"pairs whose order is another one without style"
	f.Counts = []analysis.Counted{{Name: "changed", N: swapped}, {Name: "pairs", N: all}}
	t.Findings = append(t.Findings, *f)
	var names []string
	for _, x := range s.features {
		names = append(names, x.Name)
	}
	words := fmt.Sprintf("without differences of %s, %d of %s %s places; %s moves most, by %+.2f", strings.Join(names, ", "), swapped,
		analysis.Plural(all, "pair"), map[bool]string{true: "changes", false: "change"}[swapped == 1], s.names[most],
		fit.Theta[most]-plain.Theta[most])
	t.Note("%s", words)
	return words
}
