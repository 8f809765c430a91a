// Package answers analyses verdicts on single answers: rates and means, differences between lanes, items, judges and
// their validity, lengths, repeated draws.
package answers

import (
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
)

// maxLabels is how many labels a table lists; a rubric whose labels are free text has no shares worth a line each.
const maxLabels = 50

// rates gathers label shares and mean scores.
type rates struct {
	gather.Job
	yes     []string
	labels  gather.Names
	groups  gather.Groups[*rateSums]
	own     []uint32        // the cluster of each item, plus 1; 0 for what is no item
	pairing *gather.Pairing // nil: lanes are not distinguished

	labelled, scored, expected bool // some verdict has a label, a score, an expected label beside its own
}

// NewRates returns the collector of label shares and mean scores, with differences between lanes.
func NewRates(j gather.Job) gather.Collector {
	r := &rates{Job: j, yes: j.Stage.Yes()}
	r.scored = len(j.Stage.Labels) == 0 && j.Stage.Low != nil // a scale is measured, though nothing on it may be known yet
	for _, l := range j.Stage.Labels {
		r.labels.Of(l.Name)
	}
	r.groups = gather.NewGroups(j.Spec.By, func() *rateSums { return &rateSums{} })
	if slices.Contains(j.Spec.By, analysis.ByLane) && !j.Spec.ForSides {
		r.pairing = gather.NewPairing(j, j.Spec.By)
	}
	return r
}

func (s *rates) keeps(r *analysis.Row) bool { return pressed(s.Stage, s.Spec.By, r) }

// pressed reports whether a row is not about a neutral re-ask, or is told apart from those that are not.
func pressed(stage *analysis.Stage, by []string, r *analysis.Row) bool {
	return !stage.Flips || !stage.IsControl(r.Branch) || slices.Contains(by, analysis.ByBranch)
}

func (s *rates) Expect(r *analysis.Row) {
	if s.keeps(r) {
		g, k := s.at(r)
		g.Cover.Planned++
		g.Data.cover.Expect(k)
	}
}

// at returns the group of a row, and the place of its item there.
func (s *rates) at(r *analysis.Row) (*gather.Group[*rateSums], int) {
	item := s.Known.Of(r.Item)
	s.own = gather.Grown(s.own, int(item))
	if s.own[item] == 0 {
		s.own[item] = s.Known.Of(r.ClusterName()) + 1
	}
	g := s.groups.Of(r)
	return g, g.Data.items.Of(item)
}

func (s *rates) Add(r *analysis.Row) {
	if !s.keeps(r) {
		return
	}
	g, k := s.at(r)
	g.Cover.Count(r)
	g.Data.cover.Count(r, k)
	if !r.Valid() {
		return
	}
	s.labelled, s.scored = s.labelled || r.Label != "", s.scored || r.Score != nil
	s.expected = s.expected || r.Label != "" && r.Expect != ""
	label := -1
	if _, seen := s.labels.Find(r.Label); r.Label != "" && (seen || s.labels.Len() < maxLabels) {
		label = int(s.labels.Of(r.Label))
	}
	yes := slices.Contains(s.yes, r.Label)
	g.Data.all.add(r, k, label, yes)
	if !r.Whole() {
		g.Data.cut.add(r, k, label, yes)
	}
	if s.pairing != nil {
		s.pairing.Add(r, yes, len(s.yes) > 0 && r.Label != "")
	}
}

func (s *rates) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "rates", Coverage: s.groups.Totals()}
	shown := s.shownLabels()
	for _, g := range s.groups.Sorted() {
		found, err := s.findings(g, shown)
		if err != nil {
			return nil, err
		}
		t.Findings = append(t.Findings, found...)
		g.Data = nil // what was kept of it has been reported
	}
	if len(s.yes) > 0 {
		t.Counted = s.yes
		t.Note("rate: share of %s", strings.Join(s.yes, " or "))
	}
	if s.Stage.Each && !s.Spec.ForLeaderboard && !slices.Contains(s.Spec.By, analysis.ByTurn) {
		t.Note("first answers and those under pressure are counted together here: --by lane,branch,turn takes them apart")
	}
	if s.labels.Len() >= maxLabels {
		t.Note("more than %d labels: their shares are not listed", maxLabels)
	}
	if s.pairing == nil {
		return []analysis.Table{t}, nil
	}
	if err := s.leaderboard(&t); err != nil {
		return nil, err
	}
	out := []analysis.Table{t}
	differences, err := s.differences()
	if differences != nil {
		out = append(out, *differences)
	}
	return out, err
}

// shownLabels returns the labels whose shares are listed: those of the rubric in its order, then others by name.
func (s *rates) shownLabels() []uint32 {
	if s.labels.Len() >= maxLabels {
		return nil
	}
	var out, others []uint32
	for i := range uint32(s.labels.Len()) {
		if int(i) < len(s.Stage.Labels) {
			out = append(out, i)
		} else {
			others = append(others, i)
		}
	}
	slices.SortFunc(others, func(a, b uint32) int { return analysis.Natural(s.labels.Text(a), s.labels.Text(b)) })
	return append(out, others...)
}

func (s *rates) findings(g *gather.Group[*rateSums], labels []uint32) ([]analysis.Finding, error) {
	var out []analysis.Finding
	g.Data.sort(s.Known, s.own)
	put := func(what string, of column) error {
		f, err := s.share(g, what, of)
		out = append(out, f)
		return err
	}
	if s.scoresAlone() {
		labels = nil
	} else if err := s.headline(put); err != nil {
		return nil, err
	}
	for _, l := range labels {
		if err := put(s.labels.Text(l), given(int(l))); err != nil {
			return nil, err
		}
	}
	if s.scored && (!s.binary() || s.scoresAlone()) {
		out = append(out, s.mean(g))
	}
	for i := range out {
		out[i].By, out[i].Coverage, out[i].Rule = g.By(s.Spec.By), g.Cover.WithMissing(), s.Stage.CountingRule()
	}
	return out, nil
}

// headline is the rate of the stage: of the labels that score, else of the expected one; none where neither is known.
func (s *rates) headline(put func(string, column) error) error {
	switch {
	case len(s.yes) > 0:
		return put(analysis.WhatRate, yesOf)
	case s.expected:
		return put(analysis.WhatRate, matchesOf)
	}
	return nil
}

// share returns a share of verdicts, each item of equal weight.
func (s *rates) share(g *gather.Group[*rateSums], what string, of column) (analysis.Finding, error) {
	f := analysis.Finding{What: what, Unit: analysis.Share}
	e, err := gather.ShareOver(g.Data.shares(s.own, of), s.Options.Level)
	if err != nil {
		return f, err
	}
	e.Put(&f)
	least, most := 0.0, 1.0
	f.Bounds, f.Other = g.Data.bounds(of, &least, &most), g.Data.whole(of, f.N)
	if g.Cover.Excluded == 0 {
		return f, nil
	}
	if f.Other = nil; s.Stage.WorstLabel() != "" {
		worst := s.Stage.WorstLabel()
		counts := what == worst || what == analysis.WhatRate && slices.Contains(s.yes, worst)
		f.Other = g.Data.worst(of, float64(gather.One(counts)))
	}
	return f, nil
}

// mean returns the mean score, each item of equal weight.
func (s *rates) mean(g *gather.Group[*rateSums]) analysis.Finding {
	totals, n := g.Data.means(s.own, scoresOf)
	e := gather.Mean(totals, s.Options.Level)
	e.Interval, e.N = e.Interval.Clipped(s.Stage.Low, s.Stage.High), n
	f := analysis.Finding{What: analysis.WhatMean, Unit: analysis.Score, Bounds: g.Data.bounds(scoresOf, s.Stage.Low, s.Stage.High)}
	e.Put(&f)
	f.Other = g.Data.whole(scoresOf, n)
	if g.Cover.Excluded > 0 && s.Stage.Worst != nil {
		f.Other = g.Data.worst(scoresOf, *s.Stage.Worst)
	}
	return f
}

// scoresAlone reports whether no verdict has a label: the rubric gives none, or the mean of several verdicts has lost
// it.
func (s *rates) scoresAlone() bool { return s.scored && !s.labelled }

// binary reports whether the mean score is the rate over again.
func (s *rates) binary() bool {
	return len(s.yes) > 0 && !slices.ContainsFunc(s.Stage.Labels, func(l analysis.Label) bool { return *l.Score != 0 && *l.Score != 1 })
}
