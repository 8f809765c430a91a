package analysis

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// collector gathers the rows of one analysis.
type collector interface {
	expect(r *Row)
	add(r *Row)
	tables() ([]Table, error)
}

// entry is a collector and the rows it wants.
type entry struct {
	collector
	spec  Spec
	stage *Stage
	who   who
}

// who is whose verdicts an analysis rests on.
type who int

const (
	everybody who = iota
	machines      // models and rules: people have a table of their own
	people
)

func (e entry) wants(r *Row) bool {
	person := r.Person()
	switch {
	case e.who == machines && person, e.who == people && !person:
		return false
	case !person && e.stage.Decided && r.Decided == e.spec.each():
		return false
	}
	return e.spec.Keep == nil || e.spec.Keep(r)
}

// sharers are the two analyses of a stage that models and people judge: people choose what they label, so that their verdicts
// and those of models are never added up; they are reported judge by judge instead.
func (b *Analyzer) sharers(stage *Stage, s Spec) []entry {
	if s.Standing && stage.Machines() {
		return []entry{{b.collector(stage, s), s, stage, machines}}
	}
	if s.each() || s.Gates || s.Standing || slices.Contains(s.By, ByJudge) || !stage.Machines() {
		return []entry{{b.collector(stage, s), s, stage, everybody}}
	}
	own := s
	own.By, own.Primary = append([]string{ByJudge}, s.By...), false
	return []entry{{b.collector(stage, s), s, stage, machines}, {b.collector(stage, own), own, stage, people}}
}

// Analyzer gathers rows for all analyses at once. It is for one goroutine.
type Analyzer struct {
	options Options
	stages  map[string]*Stage
	entries map[string][]entry // by stage
	order   []string
	known   names                  // items and clusters, for all analyses
	done    map[string][]doneTable // by stage that is done
}

// Open begins the analyses; stages give what rows do not hold.
func Open(stages []Stage, specs []Spec, o Options) (*Analyzer, error) {
	b := &Analyzer{options: o.filled(), stages: map[string]*Stage{}, entries: map[string][]entry{}, done: map[string][]doneTable{}}
	for _, s := range stages {
		b.stages[s.Name] = &s
		b.order = append(b.order, s.Name)
	}
	shown := map[string][]Spec{}
	for _, s := range specs {
		stage, ok := b.stages[s.Stage]
		if !ok {
			return nil, fmt.Errorf("analyse stage %q: no such stage gives verdicts", s.Stage)
		}
		s, err := s.filled(stage)
		if err != nil {
			return nil, err
		}
		b.enter(stage, s)
		if !s.Gates {
			shown[s.Stage] = append(shown[s.Stage], s)
		}
	}
	for name, list := range shown {
		stage := b.stages[name]
		if slices.ContainsFunc(list, func(s Spec) bool { return s.ranksLanes(stage) }) {
			continue
		}
		s, err := standingSpec(stage, list).filled(stage)
		if err != nil {
			return nil, err
		}
		b.enter(stage, s)
	}
	return b, nil
}

func (b *Analyzer) enter(stage *Stage, s Spec) {
	for _, e := range b.sharers(stage, s) {
		if !b.shared(e) {
			b.entries[s.Stage] = append(b.entries[s.Stage], e)
		}
	}
}

// shared gives an analysis to a collector that gathers the same comparisons for another method already.
func (b *Analyzer) shared(n entry) bool {
	s := n.spec
	if _, ok := n.collector.(*contest); !ok {
		return false
	}
	for _, e := range b.entries[s.Stage] {
		if c, ok := e.collector.(*contest); ok && s.Keep == nil && e.spec.Keep == nil && s.Gates == e.spec.Gates && slices.Equal(e.spec.By, s.By) && n.who == e.who &&
			s.Settings == e.spec.Settings && s.entrants == e.spec.entrants {
			c.methods = append(c.methods, method{s.Method, s.Primary, s.Standing})
			return true
		}
	}
	return false
}

func (b *Analyzer) collector(stage *Stage, s Spec) collector {
	o := b.options.with(s.Settings)
	switch s.Method {
	case Ranking:
		return newPlacing(stage, s, o, &b.known)
	case Correlation:
		if stage.Verb == Judged {
			return newCorrelations(stage, s, o)
		}
	case Flips, Stances, FlipCounts:
		return newFlips(stage, s, o, &b.known)
	case Agreement:
		return newJudges(stage, s, o)
	case Length:
		return newLengths(stage, s, o, &b.known)
	case Items:
		return newItemwise(stage, s, o, &b.known)
	case Variance:
		return newSpreads(stage, s, o)
	case Validity:
		return newValidity(stage, s, o)
	case Rates:
		return newRates(stage, s, o, &b.known)
	}
	if s.Control != 0 {
		return newControlled(stage, s, o, &b.known)
	}
	return newContest(stage, s, o, &b.known)
}

// Gold enters labels that are taken to be true, before Read: those of a file (their judge is GoldJudge), or what people said.
func (b *Analyzer) Gold(rows iter.Seq2[*Row, error]) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		for _, e := range b.entries[r.Stage] {
			if v, ok := e.collector.(*validity); ok {
				v.learn(r)
			}
		}
	}
	return nil
}

// Expect counts the places where the study wants a verdict. What is planned and never comes is missing.
func (b *Analyzer) Expect(rows iter.Seq2[*Row, error]) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		for _, e := range b.entries[r.Stage] {
			if e.wants(r) {
				e.expect(r)
			}
		}
	}
	return nil
}

// Read enters verdicts. A row is not kept: the iterator may use one for all.
func (b *Analyzer) Read(rows iter.Seq2[*Row, error]) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		for _, e := range b.entries[r.Stage] {
			if e.wants(r) {
				e.add(r)
			}
		}
	}
	return nil
}

// Done says that no more rows of a stage will come: its findings are computed now, and what was kept for them is let go. Without it,
// Report does that for all stages.
func (b *Analyzer) Done(stage string) error {
	if _, ok := b.done[stage]; ok {
		return nil
	}
	var all []doneTable
	for _, e := range b.entries[stage] {
		if v, ok := e.collector.(*validity); ok && v.validated() {
			e.stage.Validated = true
		}
	}
	for i := range b.entries[stage] {
		e := &b.entries[stage][i]
		tables, err := e.tables()
		if err != nil {
			return fmt.Errorf("analyse stage %s: %w", stage, err)
		}
		e.collector = nil
		for _, t := range tables {
			if t.Coverage == (Coverage{}) {
				continue // nothing was asked for it in this run
			}
			e.finish(&t, b.options.with(e.spec.Settings))
			all = append(all, doneTable{t, e.spec.Gates, e.spec.Standing || t.hidden})
		}
	}
	b.done[stage], b.entries[stage] = all, nil
	return nil
}

// doneTable is a table of a stage that is done.
type doneTable struct {
	table  Table
	gates  bool // it is for gates alone
	hidden bool // it is for the standing alone
}

// Report computes all findings, stage by stage in the order they were given.
func (b *Analyzer) Report() (*Report, error) {
	var out Report
	for _, name := range b.order {
		if err := b.Done(name); err != nil {
			return nil, err
		}
		for _, t := range b.done[name] {
			switch {
			case t.hidden:
			case t.gates:
				out.gates = append(out.gates, t.table)
			default:
				out.Tables = append(out.Tables, t.table)
			}
		}
		out.Standings = append(out.Standings, stood(b.done[name])...)
	}
	if err := out.adjust(); err != nil {
		return nil, err
	}
	out.say()
	return &out, nil
}

// Notes that also go into words.
const (
	notValidated  = "judge not validated"
	selectedAfter = "selected after "
)

// finish fills in what all findings of a table share.
func (e entry) finish(t *Table, o Options) {
	t.Stage = e.stage.Name
	if e.who == people {
		t.People = true
		t.Title += ", by people"
	}
	if t.Method == "" {
		t.Method, t.Primary = e.spec.Method, e.spec.Primary
	}
	if t.By == nil {
		t.By = e.spec.By
	}
	if !e.stage.Validated && e.who != people && e.stage.Machines() {
		t.note(notValidated)
	}
	if e.stage.Unclear > 0 && (t.People || !e.stage.Machines()) {
		t.note("%s chosen because it was not clear which of the two is better: opponents differ, and shares of wins are not those of all pairs; strengths hold", wereLabels(e.stage.Unclear))
	}
	if e.stage.Selected != "" {
		t.note("%s%s", selectedAfter, e.stage.Selected)
	}
	if share := t.Coverage.Share(); t.Coverage.Incomplete() {
		text := "nothing was planned"
		if share.OK {
			text = fmt.Sprintf("%d of %d planned verdicts are valid", t.Coverage.Valid, t.Coverage.Planned-t.Coverage.Excluded)
		}
		t.note("incomplete: %s", text)
	} else if gaps := t.gaps(); len(gaps) > 0 {
		t.note("incomplete: less than %.0f%% of what was planned of %s is there", 100*Complete, strings.Join(gaps, ", "))
	}
	e.finishStandings(t, o)
	headed := slices.ContainsFunc(t.Findings, func(f Finding) bool { return slices.Contains(headlines(), f.What) })
	for i := range t.Findings {
		f := &t.Findings[i]
		f.Stage, f.Level = e.stage.Name, o.Level
		f.Primary = t.Primary && (!headed || slices.Contains(headlines(), f.What))
		if f.Coverage.Incomplete() {
			f.note("incomplete")
		}
	}
}

// headlines are the findings that a primary analysis is about; the others of its tables explain them.
func headlines() []string {
	return []string{
		WhatRate, WhatMean, WhatDifference, WhatExcess, WhatRegressive, WhatProgressive, WhatStrength, WhatWin, WhatElo, WhatFirst, WhatConsistency, WhatAlpha,
	}
}
