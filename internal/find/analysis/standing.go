package analysis

import (
	"slices"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// Standing is what a stage says of each lane (or item) that it ranks, and how every two of them compare: by the tests that belong
// to the intervals of its table.
type Standing struct {
	Stage     string
	Verb      Verb
	By        []Value  // the group, where a table ranks in several
	Field     string   // lane or item
	What      string   // that places are ranked by
	Labels    []string // that a rate counts; none: the expected one
	Unit      Unit
	Less      bool // less is better
	Flips     bool // of answers that were taken back
	Control   bool // a neutral re-ask is subtracted
	Primary   bool
	Level     float64
	Places    []Place    // in the order of their names
	Tests     []Contrast // of every two; none: there are too many places, or no errors
	Method    string     // of the tests
	Clusters  int        // independent units that two lanes share, the most of any two
	Coverage  Coverage
	Judges    []string // lanes that judge
	Kin       []string // places of the same family as the only judge
	Machines  bool     // not people alone judge
	Validated bool     // how far the judge can be trusted is known

	Instead string     // why shares of wins stand here instead of strengths; empty: they do not
	Unmet   [][]string // groups of places that were never compared with each other; none: all were, directly or through others
	Unclear int        // labels of people, who alone judge, that were chosen because it was not clear which of two is better

	Style string // how much of it is style, in words; empty: nothing was asked

	// Foretold is what quotes begin with where the tests of comparisons have no errors: strengths that are drawn together, with the errors that
	// looks at bought comparisons have. Nil: the tests have errors.
	Foretold *adaptive.Look

	Rounds *Rounds        // of pairs that were bought in rounds: what differs is what was claimed
	Look   *adaptive.Look // at all of them
}

// Place is one lane of a standing.
type Place struct {
	Name     string
	Value    stats.Number
	SE       stats.Number
	Interval stats.Interval
	Share    stats.Number // of comparisons: the share won; of flips with a control: the share taken back under pressure
	Control  stats.Number // the share taken back when merely asked again
	N        int          // verdicts
	Rank     *stats.RankInterval
	Best     stats.Number // chance of being the best
	Coverage Coverage
}

// Contrast is the first place minus the second.
type Contrast struct {
	First, Second int // in Places
	Difference    stats.Number
	SE            stats.Number
	Interval      stats.Interval
	P             stats.Number
	Clusters      int
	Information   stats.Number // about the difference, from one more comparison of the two or one more item, as a part of 1/SE²
}

// Exact reports whether an exact test of one yes or no on each item decides.
func (s *Standing) Exact() bool { return s.Method == exactly }

// maxStood is how many places are all held against each other.
const maxStood = 100

// ranksLanes reports whether the table of a spec ranks what its stage is about.
func (s *Spec) ranksLanes(stage *Stage) bool {
	switch s.Method {
	case BradleyT, Davidson, Ranking:
		return true
	case Rates:
		return slices.Equal(s.By, []string{ByLane})
	case Flips:
		return stage.Flips && slices.Equal(flipGroups(s.By), []string{ByLane})
	}
	return false
}

// flipGroups are the fields that conversations are grouped by: branches and turns are apart anyway.
func flipGroups(by []string) []string {
	return slices.DeleteFunc(slices.Clone(by), func(name string) bool { return name == ByBranch || name == ByTurn })
}

// standingSpec is an analysis that ranks the lanes of a stage, for a stage of which no analysis does; its tables are not shown.
func standingSpec(stage *Stage, specs []Spec) Spec {
	out := Spec{Stage: stage.Name, Method: Rates, Standing: true}
	switch {
	case stage.Verb == Compared:
		out.Method = BradleyT
	case stage.Flips:
		out.Method = Flips
	}
	first := slices.IndexFunc(specs, func(s Spec) bool { return s.Primary && !s.each() })
	out.Primary = first >= 0
	if first < 0 {
		first = slices.IndexFunc(specs, func(s Spec) bool { return !s.each() })
	}
	if first >= 0 {
		out.Keep, out.Level = specs[first].Keep, specs[first].Level
	}
	return out
}

// stood are the standings of a stage: those of its primary table, else of the one that holds against a control, else of the first.
func stood(tables []doneTable) []Standing {
	var best []Standing
	rank := -1
	for _, d := range tables {
		if len(d.table.standings) == 0 || d.table.People || d.gates {
			continue
		}
		at := 4*int(one(d.table.Primary)) + 2*int(one(d.table.Method == Flips)) + int(one(!d.hidden))
		if at > rank {
			best, rank = d.table.standings, at
		}
	}
	return best
}

// finishStandings fills in what the standings of a table share.
func (e entry) finishStandings(t *Table, o Options) {
	for i := range t.standings {
		s := &t.standings[i]
		s.Stage, s.Verb, s.Primary, s.Level, s.Coverage = e.stage.Name, e.stage.Verb, t.Primary, o.Level, t.Coverage
		s.Judges, s.Machines, s.Validated = e.stage.Judges, e.stage.Machines(), e.stage.Validated
		if !s.Machines {
			s.Unclear = e.stage.Unclear
		}
		for _, c := range s.Tests {
			s.Clusters = max(s.Clusters, c.Clusters)
		}
		s.rank(t, o.Seed)
		if len(s.Judges) == 1 && s.Field == ByLane {
			family := e.stage.Families[s.Judges[0]]
			for _, p := range s.Places {
				if family != "" && e.stage.Families[p.Name] == family {
					s.Kin = append(s.Kin, p.Name)
				}
			}
		}
	}
}

// less reports whether a low value is the good one.
func (s *Stage) less() bool {
	return s.Flips || s.Worst != nil && s.High != nil && *s.Worst == *s.High && (s.Low == nil || *s.Low < *s.High)
}

// standing ranks lanes by the rates or means of a table, on the same items.
func (p *pairing) standing(t *Table, s *rates) error {
	if !s.spec.ranksLanes(s.stage) {
		return nil
	}
	out := Standing{Field: ByLane, What: WhatRate, Unit: Share, Labels: s.yes, Less: s.stage.less(), Flips: s.stage.Flips}
	if p.scored && !p.rated {
		out.What, out.Unit = WhatMean, Score
	}
	for i := range t.Findings {
		if f := &t.Findings[i]; f.What == out.What {
			out.Places = append(out.Places, Place{Name: f.Of(ByLane), Value: f.Value, SE: f.SE, Interval: f.Interval, N: f.N, Coverage: f.Coverage})
		}
	}
	if len(out.Places) == 0 {
		return nil
	}
	var err error
	for _, g := range p.groups.sorted() { // there is one, or none where nothing is valid
		err = p.contrasts(&out, func(a, b uint32) (Finding, stats.Number, error) { return p.difference(g.data, a, b, s) })
	}
	t.standings = append(t.standings, out)
	return err
}

// contrasts holds every two places of a standing against each other.
func (p *pairing) contrasts(out *Standing, difference func(a, b uint32) (Finding, stats.Number, error)) error {
	if len(out.Places) > maxStood {
		return nil
	}
	for i := range out.Places {
		for k := range i {
			a, known := p.lanes.index[out.Places[k].Name]
			b, too := p.lanes.index[out.Places[i].Name]
			if !known || !too {
				continue
			}
			f, se, err := difference(a, b)
			if err != nil {
				return err
			}
			out.Tests = append(out.Tests, Contrast{First: k, Second: i, Difference: f.Value, SE: se, Interval: f.Interval, P: f.P, Clusters: f.Clusters, Information: perItem(se, f.Clusters)})
			if f.Method != "" {
				out.Method = f.Method
			}
		}
	}
	return nil
}

// perItem is what one more item says about a difference: as much as each of those that are there.
func perItem(se stats.Number, items int) stats.Number {
	if !se.OK || !(se.Value > 0) || items < 1 {
		return stats.Undefined("the difference has no error")
	}
	return stats.Known(1 / (se.Value * se.Value * float64(items)))
}

// standing ranks entrants by their strengths.
func (a *arena) standing(t *Table, fit *fitted, field string) {
	out := Standing{By: a.by, Field: field, What: WhatStrength, Unit: Logit}
	for i := range a.names {
		f := &t.Findings[len(t.Findings)-len(a.names)+i]
		out.Places = append(out.Places, Place{Name: a.names[i], Value: f.Value, SE: f.SE, Interval: f.Interval, Share: a.record(i).share(), N: f.N, Coverage: f.Coverage})
	}
	out.Clusters = a.clusters
	if fit == nil || fit.alike || fit.spread == nil || len(a.names) > maxStood {
		t.standings = append(t.standings, out)
		return
	}
	if !fit.sound() {
		t.note("strengths have no errors: every two are tested by an exact sign test over the clusters in which they met")
		out.Method, out.Tests, out.Foretold = signed, a.signTests(), a.foretold()
		t.standings = append(t.standings, out)
		return
	}
	out.Method = fit.how
	more := fit.perComparison()
	for i := range a.names {
		for k := range i {
			d, se := stats.Known(fit.Theta[k]-fit.Theta[i]), stats.Known(fit.spread(k, i))
			out.Tests = append(out.Tests, Contrast{
				First: k, Second: i, Difference: d, SE: se, Clusters: a.clusters,
				Interval: stats.StudentInterval(d.Value, se.Value, a.options.Level, a.clusters), P: stats.StudentTest(d, se, a.clusters),
				Information: more(k, i),
			})
		}
	}
	t.standings = append(t.standings, out)
}

// perComparison is what one more comparison of two entrants says about the difference of their strengths: what the model says, less by
// as much as clusters widen errors.
func (f *fitted) perComparison() func(i, k int) stats.Number {
	model, err := f.Covariance()
	if err != nil {
		return func(int, int) stats.Number { return stats.Undefined("%s", err) }
	}
	effect := adaptive.Effect(len(f.Theta), f.spread, model.Difference)
	return func(i, k int) stats.Number { return stats.Known(f.Information(i, k) / effect) }
}

// share is the share won, a tie half.
func (r *Record) share() stats.Number {
	return ratio(float64(r.Wins)+float64(r.Ties)/2, r.Wins+r.Ties+r.Losses)
}

// unranked is the standing of entrants of which nothing is known, for a reason.
func (a *arena) unranked(t *Table, field, why string) {
	out := Standing{By: a.by, Field: field, What: WhatStrength, Unit: Logit}
	for i, name := range a.names {
		none := stats.Undefined("%s", why)
		out.Places = append(out.Places, Place{Name: name, Value: none, Interval: stats.NoInterval("%s", why), Share: none, Coverage: a.cover[i]})
	}
	t.standings = append(t.standings, out)
}
