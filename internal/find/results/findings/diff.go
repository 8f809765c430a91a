package findings

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/results"
	"assay/internal/find/stats"
	"assay/internal/keep/store"
)

// Diff is two runs side by side: what was set otherwise, and what came out.
type Diff struct {
	Runs     [2]store.Run
	Settings []Changed
	Items    []SharedItems
	Paired   []analysis.Table // on the items that both have; a difference is the second run minus the first
	Beside   []Beside         // numbers of both runs that are not paired

	readers [2]*results.Reader
	shared  map[string]bool // items of both runs
	changed map[string]bool // of them: those that are not the same in both
}

// Compare puts two runs side by side, each with its reader.
func Compare(ctx context.Context, readers [2]*results.Reader, runs [2]store.Run) (*Diff, error) {
	d := newDiff(readers, runs)
	if err := d.settings(ctx); err != nil {
		return nil, err
	}
	return d, d.results(ctx)
}

func newDiff(readers [2]*results.Reader, runs [2]store.Run) *Diff {
	return &Diff{Runs: runs, readers: readers, shared: map[string]bool{}, changed: map[string]bool{}}
}

// Shared returns how many items both runs have.
func (d *Diff) Shared() int { return len(d.shared) }

// walks returns the walks over the rows of both runs.
func (d *Diff) walks(ctx context.Context) (out [2]*walk, err error) {
	for i := range d.Runs {
		q, err := rowsAlone(ctx, d.readers[i], d.Runs[i])
		if err != nil {
			return out, err
		}
		f, err := newFacts(ctx, q)
		if err != nil {
			return out, err
		}
		out[i] = newWalk(q, f)
	}
	return out, nil
}

// results compares the verdicts of both runs.
func (d *Diff) results(ctx context.Context) error {
	walks, err := d.walks(ctx)
	if err != nil {
		return err
	}
	for _, s := range walks[0].stages {
		if !slices.ContainsFunc(walks[1].stages, func(o analysis.Stage) bool { return o.Name == s.Name && o.Verb == s.Verb }) {
			continue
		}
		if s.Verb == analysis.Compared {
			continue
		}
		if err := d.paired(ctx, walks, s); err != nil {
			return fmt.Errorf("compare stage %s: %w", s.Name, err)
		}
	}
	if err := d.correct(); err != nil {
		return err
	}
	return d.beside(ctx)
}

// correct adjusts the p-values of all differences between the runs, lanes and stages together (Holm).
func (d *Diff) correct() error {
	var all []*analysis.Finding
	var p []float64
	for i := range d.Paired {
		for k := range d.Paired[i].Findings {
			f := &d.Paired[i].Findings[k]
			if f.What != analysis.WhatDifference {
				continue
			}
			if all, p = append(all, f), append(p, 1); f.P.OK {
				p[len(p)-1] = f.P.Value
			}
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil || len(all) < 2 {
		return err
	}
	for i, f := range all {
		if f.P.OK {
			f.Holm = stats.Known(adjusted[i])
		}
	}
	for i := range d.Paired {
		if t := &d.Paired[i]; t.Title == betweenRuns {
			t.Note("p Holm is adjusted over all %d differences between the runs", len(all))
		}
	}
	return nil
}

// The names of the two runs in place of lanes while they are compared, the field that holds the lane meanwhile, and the
// one that holds the run afterwards.
const (
	firstRun  = "run 1"
	secondRun = "run 2"
	laneField = "of lane"
	runField  = "run"
)

const betweenRuns = "differences between runs"

// paired compares the lanes of one stage with themselves.
func (d *Diff) paired(ctx context.Context, walks [2]*walk, s analysis.Stage) error {
	both := d.lanesOfBoth(walks, s.Name)
	tables, err := pairedRuns(ctx, walks, s, []string{laneField}, func(r *analysis.Row) bool { return both[r.Lane] && d.shared[r.Item] })
	d.Paired = append(d.Paired, tables...)
	return err
}

// pairedRuns compares two runs in one stage, group by group, on the rows that are kept: in the analyzer, the run takes the place of the
// lane.
func pairedRuns(ctx context.Context, walks [2]*walk, s analysis.Stage, by []string, keep func(*analysis.Row) bool) (
	[]analysis.Table, error,
) {
	which := secondRun
	analyzer, err := methods.Open([]analysis.Stage{s}, []analysis.Spec{{
		Stage: s.Name, Method: analysis.Rates, By: append([]string{analysis.ByLane}, by...),
		Keep: func(r *analysis.Row) bool {
			if !keep(r) {
				return false
			}
			r.Fields, r.Lane = map[string]string{laneField: r.Lane}, which
			return true
		},
	}}, analysis.Options{Seed: 1})
	if err != nil {
		return nil, err
	}
	for i, name := range []string{firstRun, secondRun} {
		which = name
		if err := walks[i].read(ctx, analyzer, s); err != nil {
			return nil, err
		}
	}
	report, err := analyzer.Report()
	if err != nil {
		return nil, err
	}
	for i := range report.Tables {
		nameRuns(&report.Tables[i])
	}
	return report.Tables, nil
}

// nameRuns calls runs runs and lanes lanes, and makes differences those of the second run against the first: what
// changed. As in every table of differences, the value is the one named first minus the one it is compared with.
func nameRuns(t *analysis.Table) {
	fields := map[string]string{analysis.ByLane: runField, laneField: analysis.ByLane}
	for i, name := range t.By {
		if to, ok := fields[name]; ok {
			t.By[i] = to
		}
	}
	for i := range t.Findings {
		f := &t.Findings[i]
		for k, v := range f.By {
			if to, ok := fields[v.Field]; ok {
				f.By[k].Field = to
			}
		}
		if f.What != analysis.WhatDifference {
			continue
		}
		t.Title = betweenRuns
		for k, v := range f.By {
			switch v.Field {
			case runField:
				f.By[k].Value = secondRun
			case analysis.ByAgainst:
				f.By[k].Value = firstRun
			}
		}
		f.Value.Value = -f.Value.Value + 0
		f.Interval.Low, f.Interval.High = -f.Interval.High+0, -f.Interval.Low+0
	}
}

// lanesOfBoth returns the lanes whose answers both runs have.
func (d *Diff) lanesOfBoth(walks [2]*walk, stage string) map[string]bool {
	out := map[string]bool{}
	for i, w := range walks {
		st, ok := w.study.Stage(stage)
		if !ok {
			return nil
		}
		here := map[string]bool{}
		for _, source := range sources(w.study, st) {
			for _, l := range w.study.Contestants(source) {
				here[l.Name] = i == 0 || out[l.Name]
			}
		}
		out = here
	}
	return out
}

// Beside is a number of both runs that are not paired.
type Beside struct {
	Stage, Title, What, Of string
	Was, Now               *analysis.Finding
}

// beside puts the strengths and win rates of comparisons side by side.
func (d *Diff) beside(ctx context.Context) error {
	var reports [2]*analysis.Report
	for i := range d.Runs {
		one, err := Of(ctx, d.readers[i], d.Runs[i], Query{})
		if err != nil {
			return err
		}
		reports[i] = one.Report
	}
	at := map[string]*analysis.Finding{}
	name := func(t *analysis.Table, f *analysis.Finding) string {
		return fmt.Sprint(t.Stage, "\x00", t.Title, "\x00", f.What, "\x00", f.By)
	}
	for i := range reports[0].Tables {
		t := &reports[0].Tables[i]
		for k := range t.Findings {
			at[name(t, &t.Findings[k])] = &t.Findings[k]
		}
	}
	for i := range reports[1].Tables {
		t := &reports[1].Tables[i]
		for k := range t.Findings {
			f := &t.Findings[k]
			was, ok := at[name(t, f)]
			if !ok || f.What != analysis.WhatStrength && f.What != analysis.WhatWin {
				continue
			}
			var of []string
			for _, v := range f.By {
				of = append(of, v.Value)
			}
			d.Beside = append(d.Beside, Beside{Stage: t.Stage, Title: t.Title, What: f.What, Of: strings.Join(of, ", "), Was: was, Now: f})
		}
	}
	return nil
}

// DiffJSON is a comparison of runs for programs.
type DiffJSON struct {
	Runs     [2]string        `json:"runs"`
	Settings []Changed        `json:"settings"`
	Items    []SharedItems    `json:"items"`
	Tables   []TableJSON      `json:"tables"`
	Beside   []besideDocument `json:"side_by_side"`
}

type besideDocument struct {
	Stage string      `json:"stage"`
	Title string      `json:"title"`
	Was   FindingJSON `json:"was"`
	Is    FindingJSON `json:"is"`
}

// JSON returns the comparison for programs.
func (d *Diff) JSON() DiffJSON {
	doc := DiffJSON{
		Runs: [2]string{d.Runs[0].ID, d.Runs[1].ID}, Settings: append([]Changed{}, d.Settings...),
		Items: append([]SharedItems{}, d.Items...), Tables: []TableJSON{}, Beside: []besideDocument{},
	}
	for i := range d.Paired {
		doc.Tables = append(doc.Tables, tableOf(&d.Paired[i]))
	}
	for _, b := range d.Beside {
		doc.Beside = append(doc.Beside, besideDocument{b.Stage, b.Title, findingOf(b.Was), findingOf(b.Now)})
	}
	return doc
}
