package answers

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// ofBaseline stands before the names of lanes of a baseline, which may be those of the run.
const ofBaseline = "\x00"

// noWorse holds lanes against a baseline, on the items that both have: an earlier run, or another lane.
type noWorse struct {
	gather.Job
	yes     []string
	cover   gather.Groups[struct{}]
	pairing *gather.Pairing
}

// NewNoWorse returns the collector of differences from a baseline, each held against a margin.
func NewNoWorse(j gather.Job) gather.Collector {
	return &noWorse{Job: j, yes: j.Stage.Yes(), cover: gather.NewGroups(j.Spec.By, func() struct{} { return struct{}{} }),
		pairing: gather.NewPairing(j, j.Spec.By)}
}

// counts reports whether a row is of a lane of the run that is held against something.
func (s *noWorse) counts(r *analysis.Row) bool {
	return r.Baseline == "" && (s.Spec.Baseline != "" || r.Lane != s.Spec.Against)
}

func (s *noWorse) Expect(r *analysis.Row) {
	if s.counts(r) && pressed(s.Stage, s.Spec.By, r) {
		s.cover.Expect(r)
	}
}

func (s *noWorse) Add(r *analysis.Row) {
	if !pressed(s.Stage, s.Spec.By, r) {
		return
	}
	if s.counts(r) {
		s.cover.Of(r).Cover.Count(r)
	}
	if !r.Valid() {
		return
	}
	row := *r
	if r.Baseline != "" {
		row.Lane = ofBaseline + r.Lane
	}
	s.pairing.Add(&row, slices.Contains(s.yes, r.Label), len(s.yes) > 0 && r.Label != "")
}

func (s *noWorse) Tables() ([]analysis.Table, error) {
	lanes := s.cover.Sorted()
	t := analysis.Table{Title: fmt.Sprintf("no worse by %g points", s.Spec.Margin), Coverage: s.cover.Totals()}
	level := 1 - (1-s.Options.Level)*s.Stage.Looked.Part()/float64(max(1, len(lanes)))
	groups := map[string]*gather.LaneItems{}
	for _, g := range s.pairing.Groups.Sorted() {
		groups[fmt.Sprint(g.By(s.pairing.Groups.Fields))] = g.Data
	}
	for _, g := range lanes {
		by := g.By(s.Spec.By)
		rest := slices.DeleteFunc(slices.Clone(by), func(v analysis.Value) bool { return v.Field == analysis.ByLane })
		f, err := s.finding(groups[fmt.Sprint(rest)], by, level)
		if err != nil {
			return nil, err
		}
		f.Coverage, f.Margin.Tests = g.Cover.WithMissing(), len(lanes)
		t.Findings = append(t.Findings, f)
	}
	t.Note("a difference is the lane minus %s; no worse: its interval keeps the margin; worse: it does not, and lies on the bad side of 0",
		s.against())
	if len(lanes) > 1 {
		t.Note("intervals hold together at %.4g%%, over %s (Bonferroni)", 100*s.Options.Level, analysis.Plural(len(lanes), "difference"))
	}
	if b := s.Stage.Baselines[s.Spec.Baseline]; b.Left > 0 {
		t.Note("%s changed since the baseline and left out", wereItems(b.Left))
	}
	return []analysis.Table{t}, nil
}

func wereItems(n int) string {
	if n == 1 {
		return "1 item was"
	}
	return analysis.Plural(n, "item") + " were"
}

// against returns what lanes are held against, in words.
func (s *noWorse) against() string {
	var parts []string
	if s.Spec.Against != "" {
		parts = append(parts, s.Spec.Against)
	}
	if b, ok := s.Stage.Baselines[s.Spec.Baseline]; ok && b.Run != "" {
		parts = append(parts, "run "+b.Run)
	} else if s.Spec.Baseline != "" {
		parts = append(parts, s.Spec.Baseline)
	}
	return strings.Join(parts, " in ")
}

// finding holds the lane of a group against its baseline.
func (s *noWorse) finding(d *gather.LaneItems, by []analysis.Value, level float64) (analysis.Finding, error) {
	margin := &analysis.Margin{Size: s.Spec.Margin / 100, Standing: stats.CannotTell, Of: s.against()}
	f := analysis.Finding{What: analysis.WhatNoWorse, By: by, Unit: analysis.Share, Level: level, Margin: margin,
		Rule: s.Stage.CountingRule(), Bounds: stats.NoInterval("not computed for differences"), P: stats.Undefined("nothing is tested")}
	lane := f.Of(analysis.ByLane)
	base := s.Spec.Against
	if s.Spec.Baseline != "" {
		if base == "" {
			base = lane
		}
		base = ofBaseline + base
	}
	span := 1.0
	if s.pairing.Scored {
		if f.Unit = analysis.Score; s.Stage.Low == nil || s.Stage.High == nil {
			return f.Unknown("scores without bounds have no points"), nil
		}
		span = *s.Stage.High - *s.Stage.Low
		margin.Size *= span
	}
	a, here := s.pairing.Lanes.Find(lane)
	b, there := s.pairing.Lanes.Find(base)
	switch why := s.Stage.Baselines[s.Spec.Baseline].Why; {
	case why != "":
		return f.Unknown("%s", why), nil
	case !here || d == nil:
		return f.Unknown("it has no verdict"), nil
	case !there:
		return f.Unknown("%s has no verdict of it", margin.Of), nil
	}
	v := s.pairing.Values(d, a, b)
	found, err := gather.Compare(f, v, v.Single, level)
	if err != nil || !found.Value.OK {
		found.Margin = margin
		return found.Finding, err
	}
	f = found.Finding
	f.Notes, f.P = nil, stats.Undefined("there is no interval")
	f.Method = strings.TrimSuffix(f.Method, gather.WithTest) // the interval decides
	interval := func(level float64) stats.Interval {
		one, err := gather.Compare(f, v, v.Single, level)
		switch {
		case err != nil:
			return stats.NoInterval("%s", err)
		case !one.Interval.OK && f.Value.Value == 0 && f.Clusters > 1: // not one of them differs
			return stats.Unchanged(f.Clusters, span, level)
		case s.Stage.LessIsBetter() && one.Interval.OK:
			return stats.Between(-one.Interval.High, -one.Interval.Low)
		}
		return one.Interval
	}
	s.decide(&f, interval)
	return f, nil
}

// decide writes how a difference compares with its margin, with the p-value of that. Intervals are turned so that less is worse.
func (s *noWorse) decide(f *analysis.Finding, interval func(level float64) stats.Interval) {
	turned, value := interval(f.Level), f.Value.Value
	if f.Interval = turned; s.Stage.LessIsBetter() && turned.OK {
		f.Interval, value = stats.Between(-turned.High, -turned.Low), -value
	}
	f.Margin.Standing = turned.Standing(f.Margin.Size)
	if !turned.OK {
		return
	}
	if at := -f.Margin.Size; f.Margin.Standing == stats.NoWorse || value >= 0 {
		f.P = stats.LeftOutAt(at, interval)
	} else {
		f.P = stats.LeftOutAt(0, interval)
	}
}
