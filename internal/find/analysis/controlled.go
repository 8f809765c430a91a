package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"assay/internal/find/stats"
)

// What the findings of style control are called.
const (
	WhatControlled = "controlled strength" // what a strength would be if both answers looked alike
	WhatMoved      = "change by control"   // controlled minus plain
	WhatStyle      = "style effect"        // log odds that one standard deviation of a feature is worth
	WhatSwapped    = "changed order"       // share of pairs whose order is another one without style
)

// ByStyle is the feature that a finding is about.
const ByStyle = "style"

// leastStyled is in how many comparisons the two have to differ in a feature.
const leastStyled = 20

// controlled are comparisons whose strengths are shown with and without what style did.
type controlled struct {
	*contest
	features []control
	rows     groups[*styledBouts]
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

func newControlled(stage *Stage, s Spec, o Options, known *names) *controlled {
	c := &controlled{contest: newContest(stage, s, o, known), features: s.Control.in()}
	c.rows = newGroups(s.By, func() *styledBouts { return &styledBouts{} })
	return c
}

func (c *controlled) add(r *Row) {
	c.contest.add(r)
	if c.inside(r) || !r.valid() {
		return
	}
	result, ok := resultOf(r.Label)
	first, second, numbered := c.sides(r)
	if !ok || !numbered {
		return
	}
	if !r.Style.Known || !r.OtherStyle.Known {
		c.unknown++
		return
	}
	b := styledBout{cluster: c.known.of(r.cluster()), first: uint16(first), second: uint16(second), result: result}
	for j, f := range c.features {
		b.x[j] = apartIn(f.count(&r.Style), f.count(&r.OtherStyle))
	}
	d := c.rows.of(r).data
	d.rows = append(d.rows, b)
}

// apartIn is the difference of two counts as a part of their sum; two that have none are alike.
func apartIn(a, b int32) float32 {
	if a+b <= 0 {
		return 0
	}
	return float32(float64(a-b) / float64(a+b))
}

func (c *controlled) tables() ([]Table, error) {
	out, err := c.contest.tables()
	if err != nil || len(out) != 1 {
		return out, err
	}
	t := &out[0]
	for _, g := range c.rows.sorted() {
		if err := c.put(t, g); err != nil {
			return nil, err
		}
	}
	if c.unknown > 0 {
		t.note("%s on answers whose text is not known: not in the controlled strengths", plural(c.unknown, "verdict"))
	}
	if c.stage.Rounds != nil {
		t.note("pairs were bought by what was found: intervals of controlled strengths may be too narrow")
	}
	return out, nil
}

// styledGroup is a group whose comparisons are in an order that does not depend on that of rows.
type styledGroup struct {
	stats.Styled
	by       []Value
	names    []string
	features []control
	rms      []float64
	options  stats.BTOptions
	n        []int
}

// put adds the findings of one group, and what they say to its standing.
func (c *controlled) put(t *Table, g *group[*styledBouts]) error {
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
		f := c.about(s, WhatControlled, Logit, -1)
		t.Findings = append(t.Findings, f.unknown("%s", none.Why))
		return nil
	}
	if err != nil {
		return err
	}
	e, how, why := c.errors(s, plain, fit)
	c.strengths(t, s, plain, fit, e, how, why)
	c.effects(t, s, fit, e, how, why)
	words := c.swapped(t, s, plain, fit)
	for i := range t.standings {
		if slices.Equal(t.standings[i].By, s.by) {
			t.standings[i].Style = words
		}
	}
	return nil
}

// styled puts the rows of a group in order, and scales features by their root mean square. Those in which hardly any two differ are left out.
func (c *controlled) styled(t *Table, g *group[*styledBouts]) *styledGroup {
	rows := g.data.rows
	s := &styledGroup{by: g.by(c.spec.By)}
	place := make([]int, len(c.entrants.list))
	met := make([]bool, len(place))
	for _, b := range rows {
		met[b.first], met[b.second] = true, true
	}
	for _, e := range c.entrants.sorted() {
		if met[e] {
			place[e] = len(s.names)
			s.names = append(s.names, c.entrants.list[e])
		}
	}
	s.Items, s.n = len(s.names), make([]int, len(s.names))
	rank := ranks(c.known.sorted())
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
	g.data = nil
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
func (c *controlled) scale(t *Table, s *styledGroup, rows []styledBout) {
	var left []string
	for j, f := range c.features {
		squares, differ := 0.0, 0
		for i := range rows {
			if x := float64(rows[i].x[j]); x != 0 {
				squares, differ = squares+x*x, differ+1
			}
		}
		if differ < leastStyled {
			left = append(left, f.name)
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
		t.note("control without %s: fewer than %d comparisons differ in that", strings.Join(left, ", "), leastStyled)
	}
}

// styledWork bounds the rows that are looked at over all resamples.
const styledWork = 20_000_000

// errors are those of both fits: by formula where clusters are many, else by resampling.
func (c *controlled) errors(s *styledGroup, plain, fit *stats.StyledFit) (e stats.StyledErrors, how, why string) {
	clusters := s.clusters()
	if clusters < 2 {
		return e, "", fmt.Sprintf("an error needs two clusters, there are %d", clusters)
	}
	if clusters > s.Items && clusters >= stats.FewClusters && c.options.method.Bootstrap == 0 {
		e, err := fit.Errors(plain)
		if err != nil {
			return e, "", err.Error()
		}
		return e, "by cluster", ""
	}
	resamples := max(50, min(c.options.Resamples, styledWork/(s.Pairs.Len()+1)))
	e, undefined := fit.Resampled(plain, s.options, resamples, c.options.Seed)
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

// about is the beginning of a finding about one contestant, or about all with -1.
func (c *controlled) about(s *styledGroup, what string, u Unit, i int) *Finding {
	f := &Finding{What: what, Unit: u, By: append([]Value{}, s.by...), N: s.Pairs.Len(), Clusters: s.clusters(), Rule: rule(c.stage), Bounds: stats.NoInterval("not computed for comparisons")}
	f.Coverage = Coverage{Planned: f.N, Valid: f.N}
	if i >= 0 {
		f.By = append([]Value{{c.field(), s.names[i]}}, f.By...)
		f.N = s.n[i]
		f.Coverage = Coverage{Planned: f.N, Valid: f.N}
	}
	return f
}

// measured puts a value with its error into a finding.
func (c *controlled) measured(f *Finding, value, se float64, how, why string) Finding {
	f.Value, f.Method = stats.Known(value), "style control, "+how
	if why == "" && !(se > 1e-9) {
		why = alikeClusters
	}
	if why != "" {
		f.SE, f.Interval = stats.Undefined("%s", why), stats.NoInterval("%s", why)
		return *f
	}
	f.SE, f.Interval = stats.Known(se), stats.StudentInterval(value, se, c.options.Level, f.Clusters)
	return *f
}

// strengths adds what strengths would be without style, and how far that is from what they are.
func (c *controlled) strengths(t *Table, s *styledGroup, plain, fit *stats.StyledFit, e stats.StyledErrors, how, why string) {
	for i := range s.names {
		own, changed := c.about(s, WhatControlled, Logit, i), c.about(s, WhatMoved, Logit, i)
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
func (c *controlled) effects(t *Table, s *styledGroup, fit *stats.StyledFit, e stats.StyledErrors, how, why string) {
	for j, feature := range s.features {
		f := c.about(s, WhatStyle, Logit, -1)
		f.By = append([]Value{{ByStyle, feature.name}}, f.By...)
		d := c.measured(f, fit.Beta[j], at(e.Beta, j), how, why)
		d.P = stats.StudentTest(d.Value, d.SE, d.Clusters)
		of := "twice as many change"
		if feature.bit == ControlLength {
			of = "twice as long changes"
		}
		d.note("%s the log odds of winning by %+.2f", of, fit.Beta[j]/s.rms[j]/3) // (2 - 1) / (2 + 1)
		t.Findings = append(t.Findings, d)
	}
}

// swapped adds how many pairs change their order, and says in words how much of the ranking was style.
func (c *controlled) swapped(t *Table, s *styledGroup, plain, fit *stats.StyledFit) string {
	swapped, all, most := 0, 0, 0
	for i := range s.names {
		if math.Abs(fit.Theta[i]-plain.Theta[i]) > math.Abs(fit.Theta[most]-plain.Theta[most]) {
			most = i
		}
		for k := range i {
			all++
			swapped += int(one((plain.Theta[i]-plain.Theta[k])*(fit.Theta[i]-fit.Theta[k]) < 0))
		}
	}
	f := c.about(s, WhatSwapped, Share, -1)
	f.Value, f.Interval, f.Method = ratio(float64(swapped), all), stats.NoInterval("not computed"), "pairs whose order is another one without style"
	f.Counts = []Counted{{"changed", swapped}, {"pairs", all}}
	t.Findings = append(t.Findings, *f)
	var names []string
	for _, x := range s.features {
		names = append(names, x.name)
	}
	words := fmt.Sprintf("without differences of %s, %d of %s %s places; %s moves most, by %+.2f", strings.Join(names, ", "), swapped, plural(all, "pair"),
		map[bool]string{true: "changes", false: "change"}[swapped == 1], s.names[most], fit.Theta[most]-plain.Theta[most])
	t.note("%s", words)
	return words
}
