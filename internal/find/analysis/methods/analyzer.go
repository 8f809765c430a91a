// Package methods is the list of methods, and the Analyzer that has the rows of a study go through all analyses at
// once.
//
// Rows stream through an Analyzer once; what stays in memory are sums by group and cluster, never the rows.
package methods

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/answers"
	"assay/internal/find/analysis/contests"
	"assay/internal/find/analysis/gather"
)

// entry is a collector and the rows it wants.
type entry struct {
	gather.Collector
	spec  analysis.Spec
	stage *analysis.Stage
	who   who
}

// who is whose verdicts an analysis rests on.
type who int

const (
	everybody who = iota
	machines      // models and rules: people have a table of their own
	people
)

func (e entry) wants(r *analysis.Row) bool {
	person := r.Person()
	switch {
	case r.Baseline != "" && r.Baseline != e.spec.Baseline:
		return false
	case e.who == machines && person, e.who == people && !person:
		return false
	case r.Decided && e.spec.Method == analysis.Validity && e.stage.Jury != "": // a jury is checked as its judges are
	case (!person || !e.stage.Machines()) && e.stage.Decided && r.Decided == e.spec.EachVerdict():
		return false
	}
	return e.spec.Keep == nil || e.spec.Keep(r)
}

// sharers returns the two analyses of a stage that models and people judge: people choose what they label, so that
// their verdicts and those of models are never added up; they are reported judge by judge instead.
func (b *Analyzer) sharers(stage *analysis.Stage, s analysis.Spec) []entry {
	hidden := s.ForLeaderboard || s.ForSides
	if hidden && stage.Machines() {
		return []entry{{b.collector(stage, s), s, stage, machines}}
	}
	if s.EachJudge() || s.Gates || hidden || slices.Contains(s.By, analysis.ByJudge) || !stage.Machines() {
		return []entry{{b.collector(stage, s), s, stage, everybody}}
	}
	own := s
	own.By, own.Primary = append([]string{analysis.ByJudge}, s.By...), false
	return []entry{{b.collector(stage, s), s, stage, machines}, {b.collector(stage, own), own, stage, people}}
}

// Analyzer gathers rows for all analyses at once. It is for one goroutine.
type Analyzer struct {
	options analysis.Options
	stages  map[string]*analysis.Stage
	entries map[string][]entry // by stage
	order   []string
	known   gather.Names           // items and clusters, for all analyses
	done    map[string][]doneTable // by stage that is done
}

// Open begins the analyses; stages give what rows do not hold.
func Open(stages []analysis.Stage, specs []analysis.Spec, o analysis.Options) (*Analyzer, error) {
	b := &Analyzer{options: o.Filled(), stages: map[string]*analysis.Stage{}, entries: map[string][]entry{}, done: map[string][]doneTable{}}
	for _, s := range stages {
		b.stages[s.Name] = &s
		b.order = append(b.order, s.Name)
	}
	shown := map[string][]analysis.Spec{}
	for _, s := range specs {
		stage, ok := b.stages[s.Stage]
		if !ok {
			return nil, fmt.Errorf("analyse stage %q: no such stage gives verdicts", s.Stage)
		}
		s, err := s.Filled(stage)
		if err != nil {
			return nil, err
		}
		b.enter(stage, s)
		if !s.Gates {
			shown[s.Stage] = append(shown[s.Stage], s)
		}
	}
	return b, b.besides(shown)
}

// besides enters the analyses that no one asked for: those that rank lanes, of stages of which no other does, and those of what is
// put side by side.
func (b *Analyzer) besides(shown map[string][]analysis.Spec) error {
	pushes := slices.ContainsFunc(b.order, func(name string) bool { return len(shown[name]) > 0 && b.stages[name].Pushes() })
	for _, name := range b.order {
		list, stage := shown[name], b.stages[name]
		var more []analysis.Spec
		if len(list) > 0 && !slices.ContainsFunc(list, func(s analysis.Spec) bool { return s.RanksLanes(stage) }) {
			more = append(more, analysis.LeaderboardSpec(stage, list))
		}
		// people's labels correct leaderboards, whatever else was asked for
		labelled := stage.Draw != nil || stage.Gold || len(stage.People) > 0
		checks := func(s analysis.Spec) bool { return s.Method == analysis.Validity }
		if len(list) > 0 && labelled && stage.Machines() && !slices.ContainsFunc(list, checks) {
			more = append(more, analysis.Spec{Stage: name, Method: analysis.Validity, ForLeaderboard: true})
		}
		if len(list) > 0 && pushes {
			more = append(more, analysis.SideSpecs(stage, list)...)
		}
		for _, s := range more {
			s, err := s.Filled(stage)
			if err != nil {
				return err
			}
			b.enter(stage, s)
		}
	}
	return nil
}

func (b *Analyzer) collector(stage *analysis.Stage, s analysis.Spec) gather.Collector {
	return collectorOf(gather.Job{Stage: stage, Spec: s, Options: b.options.With(s.Settings), Known: &b.known})
}

func (b *Analyzer) enter(stage *analysis.Stage, s analysis.Spec) {
	for _, e := range b.sharers(stage, s) {
		if !b.shared(e) {
			b.entries[s.Stage] = append(b.entries[s.Stage], e)
		}
	}
}

// shared gives an analysis to a collector that gathers the same comparisons for another method already.
func (b *Analyzer) shared(n entry) bool {
	s := n.spec
	if _, ok := n.Collector.(*contests.Contest); !ok {
		return false
	}
	for _, e := range b.entries[s.Stage] {
		if c, ok := e.Collector.(*contests.Contest); ok && s.Keep == nil && e.spec.Keep == nil && s.Gates == e.spec.Gates &&
			slices.Equal(e.spec.By, s.By) && n.who == e.who &&
			s.Settings == e.spec.Settings && s.Entrants == e.spec.Entrants {
			c.Also(s)
			return true
		}
	}
	return false
}

// Gold enters labels that are taken to be true, before Read: those of a file (their judge is GoldJudge), or people's.
func (b *Analyzer) Gold(rows iter.Seq2[*analysis.Row, error]) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		for _, e := range b.entries[r.Stage] {
			if v, ok := e.Collector.(*answers.Validity); ok {
				v.Learn(r)
			}
		}
	}
	return nil
}

// Expect counts the places where the study wants a verdict. What is planned and never comes is missing.
func (b *Analyzer) Expect(rows iter.Seq2[*analysis.Row, error]) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		for _, e := range b.entries[r.Stage] {
			if e.wants(r) {
				e.Expect(r)
			}
		}
	}
	return nil
}

// Read enters verdicts. A row is not kept: the iterator may use one for all.
func (b *Analyzer) Read(rows iter.Seq2[*analysis.Row, error]) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		for _, e := range b.entries[r.Stage] {
			if e.wants(r) {
				e.Add(r)
			}
		}
	}
	return nil
}

// Done ends the rows of a stage: its findings are computed now, and what was kept for them is let
// go. Without it, Report does that for all stages.
func (b *Analyzer) Done(stage string) error {
	if _, ok := b.done[stage]; ok {
		return nil
	}
	b.known.Rest()
	var all []doneTable
	for _, e := range b.entries[stage] {
		if v, ok := e.Collector.(*answers.Validity); ok && e.stage.Checked == nil {
			if e.stage.Checked, e.stage.CheckedBy = v.Checked(), v.EachChecked(); e.stage.Checked == nil || e.stage.Checked.Given == 0 {
				e.stage.Checked = cmp.Or(v.Chosen(), e.stage.Checked)
			}
			e.stage.Validated = e.stage.Validated || e.stage.Checked.Decides() || v.Stands()
		}
	}
	for i := range b.entries[stage] {
		e := &b.entries[stage][i]
		tables, err := e.Tables()
		if err != nil {
			return fmt.Errorf("analyse stage %s: %w", stage, err)
		}
		e.Collector = nil
		for _, t := range tables {
			if t.Coverage == (analysis.Coverage{}) {
				continue // nothing was asked for it in this run
			}
			e.finish(&t, b.options.With(e.spec.Settings))
			all = append(all, doneTable{t, e.spec.Gates, e.spec.ForLeaderboard || e.spec.ForSides || t.Hidden, e.spec.ForSides})
		}
	}
	b.done[stage], b.entries[stage] = all, nil
	return nil
}

// doneTable is a table of a stage that is done.
type doneTable struct {
	table  analysis.Table
	gates  bool // it is for gates alone
	hidden bool // it is for the leaderboard or for what is put side by side alone
	sides  bool // the latter
}

// Report computes all findings, stage by stage in the order they were given.
func (b *Analyzer) Report() (*analysis.Report, error) {
	var out analysis.Report
	for _, name := range b.order {
		if err := b.Done(name); err != nil {
			return nil, err
		}
		for _, t := range b.done[name] {
			switch {
			case t.hidden:
			case t.gates:
				out.Gates = append(out.Gates, t.table)
			default:
				out.Tables = append(out.Tables, t.table)
			}
		}
		out.Leaderboards = append(out.Leaderboards, stood(b.done[name])...)
	}
	b.sideBySide(&out)
	return &out, out.Finish()
}

// sideBySide joins what became of first answers over all stages; a table that is about it gets the findings.
func (b *Analyzer) sideBySide(out *analysis.Report) {
	var first, others []analysis.Finding
	for _, name := range b.order {
		for _, d := range b.done[name] {
			if !d.table.People {
				out.Sides = append(out.Sides, d.table.Sides...)
			}
			switch {
			case !d.sides || d.table.Method != analysis.Rates:
			case b.stages[name].Suits(analysis.SideBySide):
				first = append(first, d.table.Findings...)
			default:
				others = append(others, d.table.Findings...)
			}
		}
	}
	rates := append(first, others...)
	analysis.JoinFirst(out.Sides, rates)
	for i := range out.Tables {
		t := &out.Tables[i]
		analysis.JoinFirst(t.Sides, rates)
		for k := range t.Sides {
			for _, f := range t.Sides[k].Findings() {
				t.Findings = append(t.Findings, *f)
			}
		}
	}
}
