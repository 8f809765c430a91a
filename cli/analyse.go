package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay"
	"assay/analysis"
	"assay/catalog"
	"assay/expr"
	"assay/store"
	"assay/study"
)

type analyseFlags struct {
	home  homeFlags
	by    []string
	where string
	junit string
	json  bool
	csv   bool

	reprice bool
	prices  string
	anew    *catalog.Catalog // prices to count by; nil: those that were paid
}

func analyseCommand(w *World) *cobra.Command {
	var f analyseFlags
	c := &cobra.Command{
		Use:     "analyse [RUN...]",
		GroupID: groupDecide,
		Short:   "Tell what the verdicts of a run say, with error bars and coverage",
		Long: "Turns the verdicts of a run into findings: by the analyses of the study, or by sensible ones where it declares none. RUN is an id, the\n" +
			"beginning of one, a study's name, or latest (the default). --by groups by lane, judge, branch, turn, trait, template, prompt, item,\n" +
			"cluster, expect, draw, any field of the items (statement.section reaches inside), or branch.FIELD where branches are items; --where keeps\n" +
			"the rows for which a condition on the same names is true; 'not second_try' leaves out what judges said when asked once more. --reprice counts costs again by today's prices.\n" +
			"Exit code 6: a gate under require failed; 3: less than 95% of the planned verdicts of a table are valid.",
		RunE: func(c *cobra.Command, args []string) error { return runAnalyse(c.Context(), w, args, f) },
	}
	f.home.register(c)
	c.Flags().StringSliceVar(&f.by, "by", nil, "group by these fields instead")
	c.Flags().StringVar(&f.where, "where", "", "only rows for which this is true, such as 'lane != \"haiku\"'")
	c.Flags().StringVar(&f.junit, "junit", "", "write the gates as JUnit XML to this file")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.csv, "csv", false, "print one CSV row a finding")
	c.Flags().BoolVar(&f.reprice, "reprice", false, "count costs again, by today's catalogue of prices")
	c.Flags().StringVar(&f.prices, "prices", "", "with --reprice: a file of prices over the catalogue")
	return c
}

func runAnalyse(ctx context.Context, w *World, refs []string, f analyseFlags) error {
	if len(refs) == 0 {
		refs = []string{""}
	}
	if f.json && f.csv {
		return usage("", "--json or --csv, not both")
	}
	if f.prices != "" && !f.reprice {
		return usage("add --reprice", "--prices says what to count by, and nothing counts")
	}
	if f.reprice {
		var err error
		if f.anew, err = openCatalog(w, f.prices); err != nil {
			return err
		}
	}
	var all []analysed
	for _, ref := range refs {
		one, err := analyseRun(ctx, w, ref, f)
		if err != nil {
			return err
		}
		for _, text := range one.warnings {
			fmt.Fprintln(w.Stderr, text)
		}
		all = append(all, *one)
	}
	if f.junit != "" {
		if err := writeJUnit(w, f.junit, all); err != nil {
			return err
		}
	}
	var err error
	switch {
	case f.csv:
		err = writeFindings(w.Stdout, all)
	case f.json:
		doc := analyseDocument{Runs: []runDocument{}}
		for _, a := range all {
			doc.Runs = append(doc.Runs, a.document())
		}
		err = writeJSON(w.Stdout, doc)
	default:
		err = printAnalysed(w, all)
	}
	if err != nil {
		return err
	}
	return verdictOf(all)
}

// verdictOf is the exit code of what was found.
func verdictOf(all []analysed) error {
	failed, incomplete, empty := 0, false, false
	for _, a := range all {
		incomplete = incomplete || a.report.Incomplete()
		empty = empty || len(a.report.Tables) == 0
		for _, g := range a.gates {
			if !g.Passed {
				failed++
			}
		}
	}
	switch {
	case failed > 0:
		return &exitError{code: exitGate, err: fmt.Errorf("%s under require failed", assay.Count(failed, "gate"))}
	case empty:
		return &exitError{code: exitIncomplete, err: errors.New("there is nothing to analyse: no stage of the run judges or compares")}
	case incomplete:
		return &exitError{code: exitIncomplete, err: errors.New("incomplete: less than 95% of the planned verdicts of a table are valid")}
	}
	return nil
}

// analysed is what the verdicts of one run say.
type analysed struct {
	run       store.Run
	rehearsal bool
	report    *analysis.Report
	gates     []analysis.Passage
	costs     []costLine
	warnings  []string
}

func analyseRun(ctx context.Context, w *World, ref string, f analyseFlags) (*analysed, error) {
	h, run, err := f.home.look(ctx, w, ref)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := tellRedone(ctx, w, h, run); err != nil {
		return nil, err
	}
	return h.analysed(ctx, run, f)
}

// analysed computes what the verdicts of a run say.
func (h *home) analysed(ctx context.Context, run store.Run, f analyseFlags) (*analysed, error) {
	st, err := h.planner.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	d := &rowReader{h: h, run: run, study: st, by: f.by}
	if f.where != "" {
		p, err := compileWhere(assay.Place{File: "--where", Line: 1, Col: 1}, f.where)
		if err != nil {
			return nil, err
		}
		d.where = d.keeper(p)
	}
	gates, err := gatesOf(st)
	if err != nil {
		return nil, err
	}
	out := &analysed{run: run, rehearsal: h.rehearsal}
	if out.report, err = d.report(ctx, gates); err != nil {
		return nil, err
	}
	programs := make([]analysis.Gate, len(gates))
	for i, g := range gates {
		programs[i] = g.Gate
	}
	out.gates, out.warnings = out.report.Pass(programs), d.warnings
	var reprice func([]store.Segment) (map[judgeOf]assay.Cost, error)
	if f.anew != nil {
		reprice = func(segments []store.Segment) (map[judgeOf]assay.Cost, error) {
			return repriced(ctx, h, segments, st, f.anew)
		}
	}
	out.costs, err = costsOf(ctx, h, run, d.valid, reprice)
	return out, err
}

func compileWhere(at assay.Place, source string) (*expr.Program, error) {
	p, problems := expr.Compile(at, source, expr.Env{Kind: expr.Rows, Open: true})
	if p == nil {
		return nil, problems
	}
	return p, nil
}

// gate is a condition under require, and the stages it asks about.
type gate struct {
	analysis.Gate
	stages []string
}

func gatesOf(st *study.Study) ([]gate, error) {
	var out []gate
	for _, r := range st.Require {
		p, problems := expr.Compile(r.At, r.Source, expr.Env{Kind: expr.Require})
		if p == nil {
			return nil, problems
		}
		g := gate{Gate: analysis.Gate{Condition: r.Source, Program: p}}
		for _, ref := range p.Stages() {
			g.stages = append(g.stages, ref.Stage)
		}
		out = append(out, g)
	}
	return out, nil
}

// specs are the analyses to do: those of the study, the usual ones of stages that have none, and, out of sight, those that
// gates ask for, which neither --by nor --where changes.
func (d *rowReader) specs(stages []analysis.Stage, gates []gate) ([]analysis.Spec, error) {
	var out []analysis.Spec
	declared := map[string]bool{}
	for i := range d.study.Analyses {
		a := &d.study.Analyses[i]
		s := analysis.Spec{Stage: a.Of, Method: analysis.Method(a.Method), By: a.By.List, Primary: a.Primary}
		if a.Filter.Source != "" {
			p, err := compileWhere(a.Filter.At, a.Filter.Source)
			if err != nil {
				return nil, err
			}
			s.Keep = d.keeper(p)
		}
		declared[a.Of] = true
		out = append(out, s)
	}
	for _, s := range stages {
		if !declared[s.Name] {
			out = append(out, analysis.Default(s)...)
		}
	}
	for i := range out {
		if len(d.by) > 0 {
			out[i].By = d.by
		}
		out[i].Keep = both(out[i].Keep, d.where)
	}
	for _, s := range stages {
		if slices.ContainsFunc(gates, func(g gate) bool { return slices.Contains(g.stages, s.Name) }) {
			for _, spec := range analysis.Default(s) {
				spec.Gates = true
				out = append(out, spec)
			}
		}
	}
	return out, nil
}

// both keeps what two conditions keep; nil keeps all.
func both(a, b func(*analysis.Row) bool) func(*analysis.Row) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(r *analysis.Row) bool { return a(r) && b(r) }
}
