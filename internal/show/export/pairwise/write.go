package pairwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
	"assay/internal/study"
)

// Write writes the comparisons of runs as the pairwise system does: a folder for each cell of template, judge,
// thinking and direction, with its registry, the results of its segments and all of them together; and over all cells a
// manifest and one merged table.
func Write(ctx context.Context, t *folder.Tree, runs []export.Run) error {
	w := &writer{
		results: table.NewSheets[comparison](t), merged: table.NewSheets[mergedComparison](t), jobs: table.NewSheets[registryJob](t),
		manifest: table.NewSheets[manifestRun](t), pairs: table.NewSheets[samplePair](t), lines: folder.NewLineFiles(t),
		cells: map[cellKey]*gridCell{}, taken: map[string]bool{},
	}
	for _, r := range runs {
		if err := w.add(ctx, r); err != nil {
			return fmt.Errorf("export run %s: %w", r.ID, err)
		}
	}
	if len(w.order) == 0 {
		return &export.NoStageError{Lacks: "compares"}
	}
	for _, c := range w.order {
		if err := w.manifest.Add("run_manifest.csv", &c.manifestRun); err != nil {
			return err
		}
		for _, j := range c.jobs {
			if err := w.jobs.Add(c.Registry, &j); err != nil {
				return err
			}
		}
	}
	return errors.Join(w.results.Close(), w.merged.Close(), w.jobs.Close(), w.manifest.Close(), w.pairs.Close(), w.lines.Close())
}

// writer gathers the cells of a grid.
type writer struct {
	results  *table.Sheets[comparison]
	merged   *table.Sheets[mergedComparison]
	jobs     *table.Sheets[registryJob]
	manifest *table.Sheets[manifestRun]
	pairs    *table.Sheets[samplePair]
	lines    *folder.LineFiles
	cells    map[cellKey]*gridCell
	order    []*gridCell
	taken    map[string]bool // names of folders
}

type cellKey struct{ run, stage, prompt, judge, direction string }

// gridCell is one cell of the grid.
type gridCell struct {
	manifestRun
	jobs     []registryJob
	segments []int64 // of the ledger, in the order of jobs
}

func (w *writer) add(ctx context.Context, r export.Run) error {
	rows, err := r.Rows(ctx)
	if err != nil {
		return err
	}
	segments, err := rows.Ledger.Segments(ctx, rows.Run.No)
	if err != nil {
		return err
	}
	p := &runWriter{writer: w, rows: rows, raw: r.Raw, segments: map[int64]*store.Segment{}, texts: map[string]string{},
		named: map[int64]store.Artifact{}}
	for i := range segments {
		p.segments[segments[i].No] = &segments[i]
	}
	for i := range rows.Study.Stages {
		if st := &rows.Study.Stages[i]; st.Verb() == study.VerbCompare {
			if err := errors.Join(p.stage(ctx, st), p.close()); err != nil {
				return err
			}
		}
	}
	for v, err := range rows.Ledger.Verdicts(ctx, rows.Run.No, "") {
		if err != nil {
			return err
		}
		if v.Segment != 0 || rows.Verb(v.At.Stage) != string(study.VerbCompare) {
			continue
		}
		if err := w.unasked(rows, rows.Verdict(&v)); err != nil {
			return err
		}
	}
	return nil
}

// compared writes the verdict of a judge.
func (w *writer) compared(rows *rows.Reader, c *gridCell, job *registryJob, row *rows.Answer, object string) error {
	out := comparison{
		CustomID: row.Key, ID1: row.First, ID2: row.Second, Model: cmp.Or(row.AnsweredModel, row.Model), StatusCode: row.FaultStatus,
		ErrorMessage: row.FaultMessage, Thoughts: row.Thoughts, Content: row.Text, Prompt: row.InputTokens, Completion: row.OutputTokens,
		Cached: row.CachedTokens, Reasoning: row.Reasoning, Stage: row.Stage, Item: row.Item, Trait: row.Trait, State: assay.VerdictFailed,
	}
	if row.FaultClass == "" {
		out.StatusCode, out.ObjectType = new(int64(200)), object
	}
	if row.InputTokens != nil {
		out.Total = new(*row.InputTokens + *row.OutputTokens)
	}
	if comparesItems(rows.Study, row.Stage) {
		out.Item = ""
	}
	for _, v := range row.Verdicts {
		out.State, out.Reason = v.State, v.Reason
		out.BetterSample, out.BetterID = better(v.Label, v.First, v.Second)
	}
	return w.put(c, job.CSVPath, &out)
}

// unasked writes a verdict that no judge was asked for.
func (w *writer) unasked(rows *rows.Reader, v *rows.Verdict) error {
	c := w.cell(rows, v.Stage, v.Prompt, v.Judge, directionOf(v.First, v.Second))
	out := comparison{CustomID: v.Key, ID1: v.First, ID2: v.Second, Stage: v.Stage, Item: v.Item, Trait: v.Trait, State: v.State,
		Reason: v.Reason}
	if comparesItems(rows.Study, v.Stage) {
		out.Item = ""
	}
	out.BetterSample, out.BetterID = better(v.Label, v.First, v.Second)
	return w.put(c, "", &out)
}

func (w *writer) put(c *gridCell, file string, row *comparison) error {
	if file != "" {
		if err := w.results.Add(file, row); err != nil {
			return err
		}
	}
	if err := w.results.Add(path.Join(c.RunDir, "combined_results.csv"), row); err != nil {
		return err
	}
	return w.merged.Add("combined_all_runs.csv", &mergedComparison{
		CustomID: row.CustomID, ID1: row.ID1, ID2: row.ID2, Model: c.Model, ObjectType: row.ObjectType, StatusCode: row.StatusCode,
		ErrorMessage: row.ErrorMessage, Thoughts: row.Thoughts, Content: row.Content, BetterSample: row.BetterSample,
		BetterID: row.BetterID, Prompt: row.Prompt, Completion: row.Completion, Total: row.Total, Cached: row.Cached,
		Reasoning: row.Reasoning, Stage: row.Stage, Item: row.Item, Trait: row.Trait, State: row.State, Reason: row.Reason,
		TemplateID: c.TemplateID, Provider: c.Provider, Judge: c.Judge, Thinking: c.Thinking, Direction: c.Direction, RunID: c.RunID,
	})
}

// better returns the winner in the words of the pairwise system.
func better(label, first, second string) (sample, id string) {
	switch label {
	case assay.LabelA:
		return sample1, first
	case assay.LabelB:
		return sample2, second
	case assay.LabelTie:
		return sampleTie, ""
	}
	return "", ""
}

// directionOf returns which way round a pair was shown.
func directionOf(first, second string) string {
	if first <= second {
		return string(assay.Forward)
	}
	return string(assay.Reverse)
}

// cell finds or begins a cell. Two judges of one model have two cells.
func (w *writer) cell(rows *rows.Reader, stage, prompt, judge, direction string) *gridCell {
	key := cellKey{rows.Run.ID, stage, prompt, judge, direction}
	if c, ok := w.cells[key]; ok {
		return c
	}
	at := [2]string{stage, judge}
	l, p := rows.Lanes[at], rows.Params[at]
	thinking := noThinking
	if p.Thinking.Enabled() || p.Effort != "" && p.Effort != "none" {
		thinking = withThinking
	}
	c := &gridCell{manifestRun: manifestRun{
		TemplateID: cmp.Or(prompt, "default"), Provider: cmp.Or(l.Provider, "none"), Model: cmp.Or(l.Model, judge), Thinking: thinking,
		Direction: direction, Study: rows.Run.Study, Run: rows.Run.ID, Stage: stage, Judge: judge,
	}}
	c.RunID = cellID(c.TemplateID, c.Provider, c.Model, c.Thinking, c.Direction)
	above := path.Join(rows.Run.ID, artifacts.Name(stage))
	if w.taken[path.Join(above, c.RunID)] {
		c.RunID = cellID(c.RunID, judge)
	}
	for n := 2; w.taken[path.Join(above, c.RunID)]; n++ {
		c.RunID = cellID(c.RunID, fmt.Sprint(n))
	}
	c.RunDir = path.Join(above, c.RunID)
	c.Registry = path.Join(c.RunDir, "jobs_registry.csv")
	w.taken[c.RunDir], w.cells[key] = true, c
	w.order = append(w.order, c)
	return c
}

// segment returns the row of the registry for a segment of the ledger, in this cell.
func (c *gridCell) segment(s *store.Segment) *registryJob {
	i := slices.Index(c.segments, s.No)
	if i < 0 {
		i = len(c.segments)
		c.segments = append(c.segments, s.No)
		done := "FALSE"
		if s.State.Terminal() {
			done = "TRUE"
		}
		c.jobs = append(c.jobs, registryJob{
			Segment: int64(i + 1), Provider: s.Provider, Model: s.Model, BatchID: s.Job, Done: done,
			CSVPath: path.Join(c.RunDir, fmt.Sprintf("batch_%02d_results.csv", i+1)),
		})
	}
	return &c.jobs[i]
}

// near returns a file of a segment next to its results.
func near(job *registryJob, name string) string {
	return strings.TrimSuffix(job.CSVPath, "results.csv") + name
}

// comparesItems reports whether a stage compares items with each other.
func comparesItems(s *study.Study, stage string) bool {
	st, ok := s.Stage(stage)
	if !ok {
		return false
	}
	_, lanes := s.Stage(st.Compare)
	return !lanes
}
