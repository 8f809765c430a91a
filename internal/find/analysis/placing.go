package analysis

import (
	"slices"
	"sort"

	"assay/internal/find/stats"
)

// placing ranks lanes (or items) by the number that their stage is about, group by group: one table of places with their errors.
type placing struct {
	stage  *Stage
	spec   Spec
	inner  Spec
	level  float64
	groups groups[collector]
}

func newPlacing(stage *Stage, s Spec, o Options, known *names) *placing {
	p := &placing{stage: stage, spec: s, inner: standingSpec(stage, nil), level: o.Level}
	p.inner.Settings, p.inner.entrants = s.Settings, s.entrants
	rest := s.By
	if stage.Verb == Judged {
		p.inner.By = []string{ByLane}
		rest = slices.DeleteFunc(slices.Clone(s.By), func(f string) bool { return f == ByLane })
	}
	p.groups = newGroups(rest, func() collector {
		switch p.inner.Method {
		case Rates:
			return newRates(stage, p.inner, o, known)
		case Flips:
			return newFlips(stage, p.inner, o, known)
		}
		return newContest(stage, p.inner, o, known)
	})
	return p
}

func (p *placing) expect(r *Row) {
	g := p.groups.of(r)
	g.cover.Planned++
	g.data.expect(r)
}

func (p *placing) add(r *Row) {
	g := p.groups.of(r)
	g.cover.count(r)
	g.data.add(r)
}

func (p *placing) tables() ([]Table, error) {
	out := Table{Title: "ranking"}
	for _, g := range p.groups.sorted() {
		inner, err := g.data.tables()
		if err != nil {
			return nil, err
		}
		g.data = nil
		for _, t := range inner {
			out.Coverage = out.Coverage.plus(t.Coverage)
			for _, s := range t.standings {
				s.Level = p.level
				s.By = append(g.by(p.groups.fields), s.By...)
				out.place(&s, t.Coverage)
				out.standings = append(out.standings, s)
			}
			for _, n := range t.Notes {
				out.note("%s", n)
			}
			if len(t.standings) > 0 { // what comes after rests on the same verdicts
				break
			}
		}
	}
	out.By = p.groups.fields
	if len(out.standings) > 0 {
		out.By = append([]string{out.standings[0].Field}, out.By...)
		if out.standings[0].Rounds != nil {
			out.note("places in brackets: those that claims so far allow")
		} else {
			out.note("places in brackets: those that tests of all pairs allow, corrected after Holm")
		}
	}
	return []Table{out}, nil
}

// place adds the places of a standing, the best first.
func (t *Table) place(s *Standing, cover Coverage) {
	apart, _ := s.Apart()
	for _, i := range s.Order() {
		p := s.Places[i]
		f := Finding{
			What: s.What, Unit: s.Unit, By: append([]Value{{s.Field, p.Name}}, s.By...), Value: p.Value, SE: p.SE, Interval: p.Interval,
			N: p.N, Clusters: s.Clusters, Coverage: p.Coverage, Method: s.Method, Bounds: stats.NoInterval("not computed"),
		}
		for _, c := range s.Tests {
			f.Clusters = max(f.Clusters, c.Clusters)
		}
		if p.Value.OK {
			f.Rank = s.rankOf(i, apart)
		}
		t.Findings = append(t.Findings, f)
	}
}

// Order are all places, the best first and those without a value last.
func (s *Standing) Order() []int {
	var out, none []int
	for i, p := range s.Places {
		if p.Value.OK {
			out = append(out, i)
		} else {
			none = append(none, i)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return s.Better(out[i], out[j]) < 0 })
	return append(out, none...)
}

// Better orders two places: the one with the better value first.
func (s *Standing) Better(a, b int) int {
	x, y := s.Places[a].Value.Value, s.Places[b].Value.Value
	switch {
	case x == y:
		return 0
	case x < y == s.Less:
		return -1
	}
	return 1
}

// Apart are the places that can be told apart (Holm, over all pairs), either way round; false: nothing was tested. A test without a p-value
// counts as one that shows nothing, and so does one whose difference goes against the order of the values.
func (s *Standing) Apart() (apart map[[2]int]bool, tested bool) {
	if s.Rounds != nil {
		return s.claimed(), len(s.Tests) > 0
	}
	apart = map[[2]int]bool{}
	p := make([]float64, len(s.Tests))
	for k, t := range s.Tests {
		p[k] = 1
		if t.P.OK {
			p[k], tested = t.P.Value, true
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil || !tested {
		return apart, false
	}
	for k, t := range s.Tests {
		if adjusted[k] < 1-s.Level && s.agrees(t) {
			apart[[2]int{t.First, t.Second}], apart[[2]int{t.Second, t.First}] = true, true
		}
	}
	return apart, true
}

// agrees reports whether a difference on the items that both have goes the way of the values.
func (s *Standing) agrees(t Contrast) bool {
	order := s.Better(t.First, t.Second)
	ahead := t.Difference.Value > 0 != s.Less
	return t.Difference.OK && t.Difference.Value != 0 && order != 0 && ahead == (order < 0)
}

// rankOf is the rank of a place, and the ranks that it may have.
func (s *Standing) rankOf(i int, apart map[[2]int]bool) *stats.RankInterval {
	r := &stats.RankInterval{Rank: 1, Best: 1}
	for k, p := range s.Places {
		if !p.Value.OK {
			continue
		}
		r.Worst++
		better := s.Better(k, i) < 0
		switch {
		case k == i:
		case better && apart[[2]int{i, k}]:
			r.Rank, r.Best = r.Rank+1, r.Best+1
		case better:
			r.Rank++
		case apart[[2]int{i, k}]:
			r.Worst--
		}
	}
	return r
}
