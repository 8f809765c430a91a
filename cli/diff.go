package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/analysis"
	"assay/store"
)

type diffFlags struct {
	home homeFlags
	json bool
}

func diffCommand(w *World) *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:     "diff RUN1 RUN2",
		GroupID: groupDecide,
		Short:   "Tell what changed between two runs: settings first, then results on the items they share",
		Long: "Compares two runs: first what was set otherwise (lanes, models, prompts, rubrics, items), then the verdicts. Judged stages of one name are compared\n" +
			"lane by lane on the items that both runs have, pair by pair; a difference is the second run minus the first. Comparisons of one name are put side by\n" +
			"side: their strengths are not paired. A RUN is an id, the beginning of one, a study's name, a bundle, or latest.",
		Args: args("RUN1", "RUN2"),
		RunE: func(c *cobra.Command, args []string) error { return runDiff(c.Context(), w, args, f) },
	}
	f.home.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// comparison is two runs side by side.
type comparison struct {
	homes  [2]*home
	runs   [2]store.Run
	shared map[string]map[string]bool // items of both runs, by input

	Settings []changed
	Items    []sharedItems
	Paired   []analysis.Table
	Beside   []besideRow
}

func runDiff(ctx context.Context, w *World, refs []string, f diffFlags) error {
	d := &comparison{shared: map[string]map[string]bool{}}
	for i, ref := range refs {
		h, run, err := f.home.look(ctx, w, ref)
		if err != nil {
			return err
		}
		defer h.Close()
		d.homes[i], d.runs[i] = h, run
	}
	if d.runs[0].ID == d.runs[1].ID {
		return usage("name two runs", "%s and %s are the same run", refs[0], refs[1])
	}
	if err := d.settings(ctx); err != nil {
		return err
	}
	if err := d.results(ctx); err != nil {
		return err
	}
	write := d.print
	if f.json {
		write = func(w *World) error { return writeJSON(w.Stdout, d.document()) }
	}
	if err := write(w); err != nil {
		return err
	}
	if len(d.shared[""]) == 0 {
		return usage("runs of one study share items; elsewhere inputs must have the same name and items the same ids",
			"runs %s and %s share no item: only their settings can be compared", d.runs[0].ID, d.runs[1].ID)
	}
	return nil
}

// results compares the verdicts of both runs.
func (d *comparison) results(ctx context.Context) error {
	digests := [2]*rowReader{}
	stages := [2][]analysis.Stage{}
	for i := range d.runs {
		st, err := d.homes[i].planner.Study(ctx, d.runs[i])
		if err != nil {
			return err
		}
		digests[i] = &rowReader{h: d.homes[i], run: d.runs[i], study: st, items: map[string]map[string]*analysedItem{}, seen: map[string]bool{}, valid: map[judgeOf]int{}}
		if stages[i], err = digests[i].stages(ctx); err != nil {
			return err
		}
		if err := digests[i].readEndings(ctx); err != nil {
			return err
		}
	}
	for _, s := range stages[0] {
		if !slices.ContainsFunc(stages[1], func(o analysis.Stage) bool { return o.Name == s.Name && o.Verb == s.Verb }) {
			continue
		}
		if s.Verb == analysis.Compared {
			continue
		}
		if err := d.paired(ctx, digests, s); err != nil {
			return fmt.Errorf("compare stage %s: %w", s.Name, err)
		}
	}
	return d.beside(ctx)
}

// The words for the two runs where lanes stand, and the field that says which lane it is.
const (
	firstRun  = "1"
	secondRun = "2"
	laneField = "of lane"
)

// paired compares the lanes of one stage with themselves: in the book, the run stands where the lane does.
func (d *comparison) paired(ctx context.Context, digests [2]*rowReader, s analysis.Stage) error {
	which := secondRun
	both := d.lanesOfBoth(digests, s.Name)
	book, err := analysis.Open([]analysis.Stage{s}, []analysis.Spec{{
		Stage: s.Name, Method: analysis.Rates, By: []string{analysis.ByLane, laneField},
		Keep: func(r *analysis.Row) bool {
			if !both[r.Lane] || !d.shared[""][r.Item] {
				return false
			}
			r.Fields, r.Lane = map[string]string{laneField: r.Lane}, which
			return true
		},
	}}, analysis.Options{Seed: 1})
	if err != nil {
		return err
	}
	for i, name := range []string{firstRun, secondRun} {
		which = name
		if err := digests[i].read(ctx, book, s); err != nil {
			return err
		}
	}
	report, err := book.Report()
	if err != nil {
		return err
	}
	for _, t := range report.Tables {
		turnDifferences(&t)
		d.Paired = append(d.Paired, t)
	}
	return nil
}

// turnDifferences makes differences of the first run less the second ones of the second less the first: what changed.
func turnDifferences(t *analysis.Table) {
	for i := range t.Findings {
		f := &t.Findings[i]
		if f.What != analysis.WhatDifference {
			continue
		}
		f.Value.Value = -f.Value.Value + 0
		f.Interval.Low, f.Interval.High = -f.Interval.High+0, -f.Interval.Low+0
	}
}

// lanesOfBoth are the lanes whose answers both runs have.
func (d *comparison) lanesOfBoth(digests [2]*rowReader, stage string) map[string]bool {
	out := map[string]bool{}
	for i, g := range digests {
		st, ok := g.study.Stage(stage)
		if !ok {
			return nil
		}
		here := map[string]bool{}
		for _, source := range g.sources(st) {
			for _, l := range g.study.Contestants(source) {
				here[l.Name] = i == 0 || out[l.Name]
			}
		}
		out = here
	}
	return out
}

// besideRow is a number of both runs that are not paired.
type besideRow struct {
	Stage, Title, What, Of string
	Was, Now               *analysis.Finding
}

// beside puts the strengths and win rates of comparisons side by side.
func (d *comparison) beside(ctx context.Context) error {
	var reports [2]*analysis.Report
	for i := range d.runs {
		one, err := d.homes[i].analysed(ctx, d.runs[i], analyseFlags{})
		if err != nil {
			return err
		}
		reports[i] = one.report
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
			d.Beside = append(d.Beside, besideRow{Stage: t.Stage, Title: t.Title, What: f.What, Of: strings.Join(of, ", "), Was: was, Now: f})
		}
	}
	return nil
}

func (d *comparison) print(w *World) error {
	for i, run := range d.runs {
		mark := ""
		if run.Rehearsal {
			mark = "REHEARSAL: "
		}
		fmt.Fprintf(w.Stdout, "%s%d: run %s of %s\n", mark, i+1, run.ID, run.Study)
	}
	fmt.Fprintln(w.Stdout)
	if len(d.Settings) == 0 {
		fmt.Fprintln(w.Stdout, "settings: nothing changed")
	} else {
		t := table{head: []string{"SETTING", "WAS", "IS"}}
		for _, c := range d.Settings {
			t.add(c.What, c.Was, c.Is)
		}
		if err := t.write(w.Stdout); err != nil {
			return err
		}
	}
	for _, i := range d.Items {
		fmt.Fprintf(w.Stdout, "input %s: %d items in both, %d of them changed; %d only in 1, %d only in 2\n", i.Input, i.Shared, i.Changed, i.First, i.Second)
	}
	for k := range d.Paired {
		if err := printFindings(w, &d.Paired[k], ""); err != nil {
			return err
		}
	}
	if len(d.Beside) == 0 {
		return nil
	}
	fmt.Fprintln(w.Stdout, "\ncomparisons, side by side (not paired)")
	t := table{head: []string{"STAGE", "WHAT", "OF", "1", "2"}, right: map[int]bool{3: true, 4: true}}
	for _, b := range d.Beside {
		t.add(b.Stage, b.What, b.Of, shownIn(b.Was.Unit, b.Was.Value), shownIn(b.Now.Unit, b.Now.Value))
	}
	return t.write(w.Stdout)
}

// diffDocument is a contrast for programs.
type diffDocument struct {
	Runs     [2]string        `json:"runs"`
	Settings []changed        `json:"settings"`
	Items    []sharedItems    `json:"items"`
	Tables   []tableDocument  `json:"tables"`
	Beside   []besideDocument `json:"side_by_side"`
}

type besideDocument struct {
	Stage string          `json:"stage"`
	Title string          `json:"title"`
	Was   findingDocument `json:"was"`
	Is    findingDocument `json:"is"`
}

func (d *comparison) document() diffDocument {
	doc := diffDocument{
		Runs: [2]string{d.runs[0].ID, d.runs[1].ID}, Settings: append([]changed{}, d.Settings...), Items: append([]sharedItems{}, d.Items...),
		Tables: []tableDocument{}, Beside: []besideDocument{},
	}
	for i := range d.Paired {
		doc.Tables = append(doc.Tables, tableOf(&d.Paired[i]))
	}
	for _, b := range d.Beside {
		doc.Beside = append(doc.Beside, besideDocument{b.Stage, b.Title, findingOf(b.Was), findingOf(b.Now)})
	}
	return doc
}
