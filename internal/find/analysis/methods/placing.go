package methods

import (
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// placing ranks lanes (or items) by the number that their stage is about, group by group: one table of places with their errors.
type placing struct {
	level  float64
	part   bool
	stage  *analysis.Stage
	groups gather.Groups[gather.Collector]
}

func newPlacing(j gather.Job) *placing {
	inner := analysis.LeaderboardSpec(j.Stage, nil)
	inner.Settings, inner.Entrants = j.Spec.Settings, j.Spec.Entrants
	rest := j.Spec.By
	if j.Stage.Verb == analysis.Judged {
		inner.By = []string{analysis.ByLane}
		rest = slices.DeleteFunc(slices.Clone(j.Spec.By), func(f string) bool { return f == analysis.ByLane })
	}
	p := &placing{level: j.Options.Level, part: j.Spec.Keep != nil, stage: j.Stage}
	j.Spec = inner
	p.groups = gather.NewGroups(rest, func() gather.Collector { return collectorOf(j) })
	return p
}

func (p *placing) Expect(r *analysis.Row) {
	g := p.groups.Of(r)
	g.Cover.Planned++
	g.Data.Expect(r)
}

func (p *placing) Add(r *analysis.Row) {
	g := p.groups.Of(r)
	g.Cover.Count(r)
	g.Data.Add(r)
}

func (p *placing) Tables() ([]analysis.Table, error) {
	out := analysis.Table{Title: "ranking"}
	for _, g := range p.groups.Sorted() {
		inner, err := g.Data.Tables()
		if err != nil {
			return nil, err
		}
		g.Data = nil
		for _, t := range inner {
			out.Coverage = out.Coverage.Plus(t.Coverage)
			for _, s := range t.Leaderboards {
				s.Level = p.level
				s.By = append(g.By(p.groups.Fields), s.By...)
				s.Verb, s.Part = p.stage.Verb, p.part
				s.Correct(p.stage.CheckedOf(s.By))
				place(&out, &s)
				out.Leaderboards = append(out.Leaderboards, s)
			}
			for _, n := range t.Notes {
				out.Note("%s", n)
			}
			if len(t.Leaderboards) > 0 { // what comes after rests on the same verdicts
				break
			}
		}
	}
	out.By = p.groups.Fields
	if len(out.Leaderboards) > 0 {
		out.By = append([]string{out.Leaderboards[0].Field}, out.By...)
		if out.Leaderboards[0].Rounds != nil {
			out.Note("places in brackets: those that claims so far allow")
		} else {
			out.Note("places in brackets: those that tests of all pairs allow, corrected after Holm")
		}
	}
	return []analysis.Table{out}, nil
}

// place adds the places of a leaderboard, the best first.
func place(t *analysis.Table, s *analysis.Leaderboard) {
	apart, _ := s.Apart()
	for _, i := range s.Order() {
		p := s.Places[i]
		f := analysis.Finding{
			What: s.What, Unit: s.Unit, By: append([]analysis.Value{{Field: s.Field, Value: p.Name}}, s.By...), Value: p.Value, SE: p.SE,
			Interval: p.Interval, N: p.N, Clusters: s.Clusters, Coverage: p.Coverage, Method: s.Method,
			Bounds: stats.NoInterval("not computed"),
		}
		for _, c := range s.Tests {
			f.Clusters = max(f.Clusters, c.Clusters)
		}
		if p.Value.OK {
			f.Rank = s.RankOf(i, apart)
		}
		t.Findings = append(t.Findings, f)
	}
}
