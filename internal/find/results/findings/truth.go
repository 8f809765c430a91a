package findings

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/stats"
	"assay/internal/keep/store"
	"assay/internal/simulator/minds"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Truth returns what a rehearsal found beside what is true of the simulator's models, which no real run can know. True
// is the value endless items would have found under the same judges.
func Truth(ctx context.Context, r *results.Reader, run store.Run) ([]Claim, error) {
	found, err := Of(ctx, r, run, Query{})
	if err != nil {
		return nil, err
	}
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	stages, err := stagesOf(ctx, r, run, st)
	if err != nil {
		return nil, err
	}
	o := &truth{study: st, truth: minds.Writer{}.Truth()}
	var out []Claim
	for i := range found.Report.Tables {
		t := &found.Report.Tables[i]
		k := slices.IndexFunc(stages, func(s analysis.Stage) bool { return s.Name == t.Stage })
		if k < 0 || t.People {
			continue
		}
		out = append(out, o.claims(&stages[k], t)...)
	}
	return out, nil
}

// Claim is one finding and what is true.
type Claim struct {
	Finding *analysis.Finding
	True    float64
}

// Holds reports whether the interval of the finding holds the truth.
func (c Claim) Holds() bool {
	return c.Finding.Interval.OK && c.Finding.Interval.Low <= c.True && c.True <= c.Finding.Interval.High
}

// truth knows what is true of the simulator's models.
type truth struct {
	study *study.Study
	truth minds.Truth
}

// model returns what is true of a lane.
func (o *truth) model(lane string) (minds.Model, bool) {
	l, ok := o.study.Lane(lane)
	if !ok {
		return minds.Model{}, false
	}
	return minds.Writer{}.Model(l.Model), true
}

// claims returns the findings of a table whose truth is known and whose interval exists.
func (o *truth) claims(s *analysis.Stage, t *analysis.Table) []Claim {
	var truth func(*analysis.Finding) (float64, bool)
	switch {
	case s.Ruled || s.Items || s.Decided || len(s.Judges) == 0:
		return nil
	case t.Method == analysis.Flips && s.Flips:
		truth = o.flips(s)
	case t.Method == analysis.Rates && !s.Flips:
		truth = o.rates(s)
	case t.Method == analysis.BradleyT || t.Method == analysis.Davidson:
		truth = o.strengths(s, t)
	case t.Method == analysis.WinRate:
		truth = o.wins(s, t)
	}
	if truth == nil {
		return nil
	}
	var out []Claim
	for i := range t.Findings {
		f := &t.Findings[i]
		if x, ok := truth(f); ok && f.Value.OK && f.Interval.OK {
			out = append(out, Claim{f, x})
		}
	}
	return out
}

// flips: how often a lane gives in at a turn, if all messages of the branch press it.
func (o *truth) flips(s *analysis.Stage) func(*analysis.Finding) (float64, bool) {
	st, _ := o.study.Stage(s.Name)
	calm := -1 // turns before any pressure
	for _, name := range st.Judge.List {
		n, ok := o.calm(name)
		if !ok || calm >= 0 && n != calm {
			return nil // a conversation that began elsewhere
		}
		calm = n
	}
	return func(f *analysis.Finding) (float64, bool) {
		turn, err := strconv.Atoi(f.Of(analysis.ByTurn))
		m, ok := o.model(f.Of(analysis.ByLane))
		if err != nil || !ok || turn <= calm {
			return 0, false
		}
		any, explicit := o.truth.GivesIn(m, turn-calm)
		noise, _ := o.truth.Changes(turn - calm)
		if f.Of(analysis.ByBranch) == plan.ControlBranch {
			any, explicit = o.truth.Changes(turn - calm)
		}
		switch f.What {
		case analysis.WhatRate:
			return any, true
		case analysis.WhatExplicit:
			return explicit, true
		case analysis.WhatExcess:
			return any - noise, true
		}
		return 0, false
	}
}

// calm returns how many of a stage's own turns come before any pressure: the opening, or none where it goes on from a
// stage that is an opening alone.
func (o *truth) calm(stage string) (int, bool) {
	st, ok := o.study.Stage(stage)
	if !ok {
		return 0, false
	}
	if st.Verb() == study.VerbAsk {
		return 1, true
	}
	from, ok := o.study.Stage(st.Continue)
	return 0, ok && st.Verb() == study.VerbContinue && from.Verb() == study.VerbAsk && len(from.Turns) <= 1
}

// rates: how often judges give the label that counts, or the mean of their scores.
func (o *truth) rates(s *analysis.Stage) func(*analysis.Finding) (float64, bool) {
	var labels []string
	yes := ""
	for _, l := range s.Labels {
		labels = append(labels, l.Name)
		if l.Score != nil && *l.Score == 1 {
			yes = l.Name
		}
	}
	of := func(what, lane string) (float64, bool) {
		m, ok := o.model(lane)
		switch {
		case !ok:
			return 0, false
		case what == analysis.WhatRate && len(labels) == 2 && yes != "":
			at := minds.Place(yes, labels)
			return o.truth.Picks(m, at, len(labels)), at >= 0
		case what == analysis.WhatMean && len(labels) == 0 && s.Whole && s.Low != nil && s.High != nil:
			steps := *s.High - *s.Low + 1 // whole numbers, of which a judge chooses as of labels
			return o.truth.Seen(m, func(seen float64) float64 { return *s.Low + min(math.Floor(seen*steps), steps-1) }), true
		}
		return 0, false
	}
	return func(f *analysis.Finding) (float64, bool) {
		if f.What != analysis.WhatDifference {
			return of(f.What, f.Of(analysis.ByLane))
		}
		what := analysis.WhatMean
		if len(labels) > 0 {
			what = analysis.WhatRate
		}
		first, ok := of(what, f.Of(analysis.ByLane))
		second, too := of(what, f.Of(analysis.ByAgainst))
		return first - second, ok && too
	}
}

// expected returns the comparisons of all lanes of a table as endless items would have them, both ways round alike.
func (o *truth) expected(s *analysis.Stage, t *analysis.Table) (tally *stats.Tally, lanes []string) {
	for _, f := range t.Findings {
		if lane := f.Of(analysis.ByLane); lane != "" && !slices.Contains(lanes, lane) {
			lanes = append(lanes, lane)
		}
	}
	const many = 1e6
	tally = stats.NewTally(len(lanes))
	for i, first := range lanes {
		for j, second := range lanes {
			a, okA := o.model(first)
			b, okB := o.model(second)
			if i == j || !okA || !okB {
				continue
			}
			won, lost, tied := o.truth.Meet(a, b, slices.ContainsFunc(s.Labels, func(l analysis.Label) bool {
				return l.Name == assay.LabelTie
			}))
			for r, share := range map[stats.Result]float64{stats.FirstWon: won, stats.SecondWon: lost, stats.Tied: tied} {
				if tally.Count(i, j, r, many*share) != nil {
					return nil, nil
				}
			}
		}
	}
	return tally, lanes
}

// strengths: what the same model finds in endless comparisons.
func (o *truth) strengths(s *analysis.Stage, t *analysis.Table) func(*analysis.Finding) (float64, bool) {
	tally, lanes := o.expected(s, t)
	if len(lanes) < 2 || tally == nil {
		return nil
	}
	var options stats.BTOptions
	for _, f := range t.Findings {
		options.Order = options.Order || f.What == analysis.WhatOrder
		if strings.HasPrefix(f.Method, "Davidson") {
			options.Ties = stats.Davidson
		}
	}
	fit, err := stats.FitBT(tally, options)
	if err != nil {
		return nil
	}
	return func(f *analysis.Finding) (float64, bool) {
		switch at := slices.Index(lanes, f.Of(analysis.ByLane)); {
		case f.What == analysis.WhatStrength && at >= 0:
			return fit.Theta[at], true
		case f.What == analysis.WhatOrder:
			return fit.Order.Value, fit.Order.OK
		}
		return 0, false
	}
}

// wins: the mean over opponents of the share that a lane wins.
func (o *truth) wins(s *analysis.Stage, t *analysis.Table) func(*analysis.Finding) (float64, bool) {
	tally, lanes := o.expected(s, t)
	if len(lanes) < 2 || tally == nil {
		return nil
	}
	average := tally.Rates().Average
	return func(f *analysis.Finding) (float64, bool) {
		at := slices.Index(lanes, f.Of(analysis.ByLane))
		if f.What != analysis.WhatAverage || at < 0 {
			return 0, false
		}
		return average[at].Value, average[at].OK
	}
}
