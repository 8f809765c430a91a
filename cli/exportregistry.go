package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"assay"
	"assay/artifacts"
	"assay/export"
	"assay/store"
	"assay/study"
)

// writeRegistry writes the comparisons of runs as the pairwise system does: a folder for each cell of template, judge,
// thinking and direction, with its registry, the results of its segments and all of them together; and over all cells a
// manifest and one merged table.
func writeRegistry(ctx context.Context, t *export.Tree, runs []exported) error {
	g := &registry{
		results: export.NewSheets[export.Comparison](t), merged: export.NewSheets[export.MergedComparison](t),
		jobs: export.NewSheets[export.RegistryJob](t), manifest: export.NewSheets[export.ManifestRun](t),
		pairs: export.NewSheets[export.SamplePair](t), lines: export.NewTexts(t),
		cells: map[cellKey]*gridCell{}, taken: map[string]bool{},
	}
	for _, e := range runs {
		if err := g.add(ctx, e); err != nil {
			return fmt.Errorf("export run %s: %w", e.run.ID, err)
		}
	}
	if len(g.order) == 0 {
		return usage("csv, jsonl and parquet write all stages", "no stage of these runs compares")
	}
	for _, c := range g.order {
		if err := g.manifest.Add("run_manifest.csv", &c.ManifestRun); err != nil {
			return err
		}
		for _, j := range c.jobs {
			if err := g.jobs.Add(c.Registry, &j); err != nil {
				return err
			}
		}
	}
	return errors.Join(g.results.Close(), g.merged.Close(), g.jobs.Close(), g.manifest.Close(), g.pairs.Close(), g.lines.Close())
}

// registry gathers the cells of a grid.
type registry struct {
	results  *export.Sheets[export.Comparison]
	merged   *export.Sheets[export.MergedComparison]
	jobs     *export.Sheets[export.RegistryJob]
	manifest *export.Sheets[export.ManifestRun]
	pairs    *export.Sheets[export.SamplePair]
	lines    *export.Texts
	cells    map[cellKey]*gridCell
	order    []*gridCell
	taken    map[string]bool // names of folders
}

type cellKey struct{ run, stage, prompt, judge, direction string }

// gridCell is one cell of the grid.
type gridCell struct {
	export.ManifestRun
	jobs     []export.RegistryJob
	segments []int64 // of the ledger, in the order of jobs
}

func (g *registry) add(ctx context.Context, e exported) error {
	t, err := e.teller(ctx)
	if err != nil {
		return err
	}
	segments, err := e.h.ledger.Segments(ctx, e.run.No)
	if err != nil {
		return err
	}
	r := &registryRun{registry: g, exporter: t, segments: map[int64]*store.Segment{}, texts: map[string]string{}, named: map[int64]store.Artifact{}}
	for i := range segments {
		r.segments[segments[i].No] = &segments[i]
	}
	for i := range t.study.Stages {
		if st := &t.study.Stages[i]; st.Verb() == study.VerbCompare {
			if err := errors.Join(r.stage(ctx, st), r.close()); err != nil {
				return err
			}
		}
	}
	for v, err := range e.h.ledger.Verdicts(ctx, e.run.No, "") {
		if err != nil {
			return err
		}
		if v.Segment != 0 || t.verb(v.At.Stage) != string(study.VerbCompare) {
			continue
		}
		row, err := t.verdict(&v)
		if err != nil {
			return err
		}
		if err := g.unasked(t, row); err != nil {
			return err
		}
	}
	return nil
}

// compared writes what a judge said.
func (g *registry) compared(t *exporter, c *gridCell, job *export.RegistryJob, row *export.Request, object string) error {
	out := export.Comparison{
		CustomID: row.Key, ID1: row.First, ID2: row.Second, Model: cmpOr(row.AnsweredModel, row.Model), StatusCode: row.FaultStatus, ErrorMessage: row.FaultMessage,
		Thoughts: row.Thoughts, Content: row.Text, Prompt: row.InputTokens, Completion: row.OutputTokens, Cached: row.CachedTokens, Reasoning: row.Reasoning,
		Stage: row.Stage, Item: row.Item, Trait: row.Trait, State: string(assay.VerdictFailed),
	}
	if row.FaultClass == "" {
		ok := int64(200)
		out.StatusCode, out.ObjectType = &ok, object
	}
	if row.InputTokens != nil {
		total := *row.InputTokens + *row.OutputTokens
		out.Total = &total
	}
	if t.comparesItems(row.Stage) {
		out.Item = ""
	}
	for _, v := range row.Verdicts {
		out.State, out.Reason = v.State, v.Reason
		out.BetterSample, out.BetterID = better(v.Label, v.First, v.Second)
	}
	return g.put(c, job.CSVPath, &out)
}

// unasked writes a verdict that no judge was asked for.
func (g *registry) unasked(t *exporter, v *export.Verdict) error {
	c := g.cell(t, v.Stage, v.Prompt, v.Judge, directionOf(v.First, v.Second))
	out := export.Comparison{CustomID: v.Key, ID1: v.First, ID2: v.Second, Stage: v.Stage, Item: v.Item, Trait: v.Trait, State: v.State, Reason: v.Reason}
	if t.comparesItems(v.Stage) {
		out.Item = ""
	}
	out.BetterSample, out.BetterID = better(v.Label, v.First, v.Second)
	return g.put(c, "", &out)
}

func (g *registry) put(c *gridCell, file string, row *export.Comparison) error {
	if file != "" {
		if err := g.results.Add(file, row); err != nil {
			return err
		}
	}
	if err := g.results.Add(path.Join(c.RunDir, "combined_results.csv"), row); err != nil {
		return err
	}
	return g.merged.Add("combined_all_runs.csv", &export.MergedComparison{
		CustomID: row.CustomID, ID1: row.ID1, ID2: row.ID2, Model: c.Model, ObjectType: row.ObjectType, StatusCode: row.StatusCode, ErrorMessage: row.ErrorMessage,
		Thoughts: row.Thoughts, Content: row.Content, BetterSample: row.BetterSample, BetterID: row.BetterID, Prompt: row.Prompt, Completion: row.Completion,
		Total: row.Total, Cached: row.Cached, Reasoning: row.Reasoning, Stage: row.Stage, Item: row.Item, Trait: row.Trait, State: row.State, Reason: row.Reason,
		TemplateID: c.TemplateID, Provider: c.Provider, Judge: c.Judge, Thinking: c.Thinking, Direction: c.Direction, RunID: c.RunID,
	})
}

// better is the winner in the words of the pairwise system.
func better(label, first, second string) (sample, id string) {
	switch label {
	case assay.LabelA:
		return export.Sample1, first
	case assay.LabelB:
		return export.Sample2, second
	case assay.LabelTie:
		return export.SampleTie, ""
	}
	return "", ""
}

// directionOf tells which way round a pair was shown.
func directionOf(first, second string) string {
	if first <= second {
		return string(assay.Forward)
	}
	return string(assay.Reverse)
}

// cell finds or begins a cell. Two judges of one model have two cells.
func (g *registry) cell(t *exporter, stage, prompt, judge, direction string) *gridCell {
	key := cellKey{t.run.ID, stage, prompt, judge, direction}
	if c, ok := g.cells[key]; ok {
		return c
	}
	at := [2]string{stage, judge}
	l, p := t.lanes[at], t.params[at]
	thinking := export.NoThinking
	if p.Thinking.Enabled() || p.Effort != "" && p.Effort != "none" {
		thinking = export.WithThinking
	}
	c := &gridCell{ManifestRun: export.ManifestRun{
		TemplateID: cmpOr(prompt, "default"), Provider: cmpOr(l.Provider, "none"), Model: cmpOr(l.Model, judge), Thinking: thinking, Direction: direction,
		Study: t.run.Study, Run: t.run.ID, Stage: stage, Judge: judge,
	}}
	c.RunID = export.CellID(c.TemplateID, c.Provider, c.Model, c.Thinking, c.Direction)
	above := path.Join(t.run.ID, artifacts.Name(stage))
	if g.taken[path.Join(above, c.RunID)] {
		c.RunID = export.CellID(c.RunID, judge)
	}
	for n := 2; g.taken[path.Join(above, c.RunID)]; n++ {
		c.RunID = export.CellID(c.RunID, fmt.Sprint(n))
	}
	c.RunDir = path.Join(above, c.RunID)
	c.Registry = path.Join(c.RunDir, "jobs_registry.csv")
	g.taken[c.RunDir], g.cells[key] = true, c
	g.order = append(g.order, c)
	return c
}

// segment is what the registry says about a segment of the ledger, in this cell.
func (c *gridCell) segment(s *store.Segment) *export.RegistryJob {
	i := slices.Index(c.segments, s.No)
	if i < 0 {
		i = len(c.segments)
		c.segments = append(c.segments, s.No)
		done := "FALSE"
		if s.State.Terminal() {
			done = "TRUE"
		}
		c.jobs = append(c.jobs, export.RegistryJob{
			Segment: int64(i + 1), Provider: s.Provider, Model: s.Model, BatchID: s.Job, Done: done,
			CSVPath: path.Join(c.RunDir, fmt.Sprintf("batch_%02d_results.csv", i+1)),
		})
	}
	return &c.jobs[i]
}

// beside is a file of a segment beside its results.
func beside(job *export.RegistryJob, name string) string {
	return strings.TrimSuffix(job.CSVPath, "results.csv") + name
}

// comparesItems tells whether a stage compares items with each other.
func (t *exporter) comparesItems(stage string) bool {
	st, ok := t.study.Stage(stage)
	if !ok {
		return false
	}
	_, lanes := t.study.Stage(st.Compare)
	return !lanes
}
