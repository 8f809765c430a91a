package contests

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// minDiffering is the number of comparisons in which the two have to differ in a feature that is controlled for.
const minDiffering = 20

// controlled are comparisons whose strengths are shown with and without what style did.
type controlled struct {
	*Contest
	features []analysis.Feature
	rows     gather.Groups[*styledShowings]
	unknown  int // verdicts on answers whose text is not known
}

// maxFeatures is how many features of style there are.
const maxFeatures = 6

// styledShowings are the comparisons of one group with their differences of style.
type styledShowings struct{ rows []styledShowing }

type styledShowing struct {
	cluster       uint32
	first, second uint16
	result        stats.Result
	x             [maxFeatures]float32 // by feature
}

// NewControlled returns the collector of comparisons whose strengths are shown with and without what style did.
func NewControlled(j gather.Job) gather.Collector {
	c := &controlled{Contest: New(j), features: j.Spec.Control.Features()}
	c.rows = gather.NewGroups(j.Spec.By, func() *styledShowings { return &styledShowings{} })
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
	b := styledShowing{cluster: c.Known.Of(r.ClusterName()), first: uint16(first), second: uint16(second), result: result}
	for j, f := range c.features {
		b.x[j] = relativeDifference(f.Count(&r.Style), f.Count(&r.OtherStyle))
	}
	d := c.rows.Of(r).Data
	d.rows = append(d.rows, b)
}

// relativeDifference returns the difference of two counts as a part of their sum; two that have none are alike.
func relativeDifference(a, b int32) float32 {
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
		if err := c.addGroup(t, g); err != nil {
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

// addGroup adds the findings of one group to the table and to its leaderboard.
func (c *controlled) addGroup(t *analysis.Table, g *gather.Group[*styledShowings]) error {
	s := c.ordered(t, g)
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
	e := c.errors(s, plain, fit)
	c.strengths(t, s, plain, fit, e)
	c.effects(t, s, fit, e)
	words := c.swapped(t, s, plain, fit)
	for i := range t.Leaderboards {
		if slices.Equal(t.Leaderboards[i].By, s.by) {
			t.Leaderboards[i].Style = words
		}
	}
	return nil
}

// ordered puts the rows of a group in order, and scales features by their root mean square. Those in which hardly any
// two differ are left out.
func (c *controlled) ordered(t *analysis.Table, g *gather.Group[*styledShowings]) *styledGroup {
	rows := g.Data.rows
	s := &styledGroup{by: g.By(c.Spec.By)}
	place := make([]int, c.entrants.Len())
	met := make([]bool, len(place))
	for _, b := range rows {
		met[b.first], met[b.second] = true, true
	}
	for _, e := range c.entrants.Sorted() {
		if met[e] {
			place[e] = len(s.names)
			s.names = append(s.names, c.entrants.Text(e))
		}
	}
	s.Items, s.n = len(s.names), make([]int, len(s.names))
	rank := c.Known.ByNature()
	for i := range rows {
		b := &rows[i]
		b.cluster, b.first, b.second = rank[b.cluster], uint16(place[b.first]), uint16(place[b.second])
	}
	sort.Slice(rows, func(i, k int) bool { return rows[i].before(&rows[k]) })
	lowFirst, highFirst, cluster := false, false, uint32(0)
	for k, b := range rows {
		if k > 0 && b.cluster != rows[k-1].cluster {
			cluster++
		}
		s.Pairs.Append(b.first, b.second, b.result)
		s.Cluster = append(s.Cluster, cluster)
		s.n[b.first], s.n[b.second] = s.n[b.first]+1, s.n[b.second]+1
		lowFirst, highFirst = lowFirst || b.first < b.second, highFirst || b.first > b.second
		if b.result == stats.Tied {
			s.options.Ties = stats.Davidson
		}
	}
	s.options.Order = lowFirst && highFirst
	c.scale(t, s, rows)
	g.Data = nil
	return s
}

// before orders comparisons by all that is known of them.
func (b *styledShowing) before(o *styledShowing) bool {
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
func (c *controlled) scale(t *analysis.Table, s *styledGroup, rows []styledShowing) {
	var omitted []string
	for j, f := range c.features {
		squares, differ := 0.0, 0
		for i := range rows {
			if x := float64(rows[i].x[j]); x != 0 {
				squares, differ = squares+x*x, differ+1
			}
		}
		if differ < minDiffering {
			omitted = append(omitted, f.Name)
			continue
		}
		rms := math.Sqrt(squares / float64(len(rows)))
		column := make([]float32, len(rows))
		for i := range rows {
			column[i] = float32(float64(rows[i].x[j]) / rms)
		}
		s.features, s.rms, s.X = append(s.features, f), append(s.rms, rms), append(s.X, column)
	}
	if len(omitted) > 0 {
		t.Note("control without %s: fewer than %d comparisons differ in that", strings.Join(omitted, ", "), minDiffering)
	}
}

// styledWork bounds the rows that are looked at over all resamples.
const styledWork = 20_000_000

// styledErrors are the errors of both fits, how they were computed and, where they could not be, why.
type styledErrors struct {
	stats.StyledErrors
	how, why string
}

// errors returns those of both fits: by formula where clusters are many, else by resampling.
func (c *controlled) errors(s *styledGroup, plain, fit *stats.StyledFit) styledErrors {
	clusters := s.clusters()
	if clusters < 2 {
		return styledErrors{why: stats.NoErrorBar}
	}
	if clusters > s.Items && clusters >= stats.FewClusters && c.Spec.Settings.Bootstrap == 0 {
		e, err := fit.Errors(plain)
		if err != nil {
			return styledErrors{why: err.Error()}
		}
		return styledErrors{StyledErrors: e, how: "by cluster"}
	}
	resamples := gather.Resamples(c.Options.Resamples, styledWork, s.Pairs.Len())
	e, undefined := fit.Resampled(plain, s.options, resamples, c.Options.Seed)
	if float64(undefined) > stats.MostUndefined*float64(resamples) {
		return styledErrors{why: fmt.Sprintf("%d of %d resamples have no estimate", undefined, resamples)}
	}
	return styledErrors{StyledErrors: e, how: "Student, bootstrap of clusters"}
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
	if i >= 0 {
		f.By = append([]analysis.Value{{Field: c.field(), Value: s.names[i]}}, f.By...)
		f.N = s.n[i]
	}
	f.Coverage = analysis.Coverage{Planned: f.N, Valid: f.N}
	return f
}

// measured puts a value with its error into a finding.
func (c *controlled) measured(f *analysis.Finding, value, se float64, e styledErrors) analysis.Finding {
	f.Value, f.Method = stats.Known(value), strings.TrimSuffix("style control, "+e.how, ", ")
	why := e.why
	if why == "" && !(se > 1e-9) { // NaN too
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
func (c *controlled) strengths(t *analysis.Table, s *styledGroup, plain, fit *stats.StyledFit, e styledErrors) {
	for i := range s.names {
		own, changed := c.about(s, analysis.WhatControlled, analysis.Logit, i), c.about(s, analysis.WhatMoved, analysis.Logit, i)
		t.Findings = append(t.Findings, c.measured(own, fit.Theta[i], at(e.Theta, i), e))
		d := c.measured(changed, fit.Theta[i]-plain.Theta[i], at(e.Change, i), e)
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
func (c *controlled) effects(t *analysis.Table, s *styledGroup, fit *stats.StyledFit, e styledErrors) {
	for j, feature := range s.features {
		f := c.about(s, analysis.WhatStyle, analysis.Logit, -1)
		f.By = append([]analysis.Value{{Field: analysis.ByStyle, Value: feature.Name}}, f.By...)
		d := c.measured(f, fit.Beta[j], at(e.Beta, j), e)
		d.P = stats.StudentTest(d.Value, d.SE, d.Clusters)
		of := "twice as many change"
		if feature.Bit == analysis.ControlLength {
			of = "twice as long changes"
		}
		d.Note("%s the log odds of winning by %+.2f", of, fit.Beta[j]/s.rms[j]/3) // a doubling is a relative difference of (2-1)/(2+1)
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
		analysis.Plural(all, "pair"), assay.Verb(swapped, "changes", "change"), s.names[most],
		fit.Theta[most]-plain.Theta[most])
	t.Note("%s", words)
	return words
}
