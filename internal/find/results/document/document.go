// Package document gathers the contents of a report of a run.
package document

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/rows"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/script/snapshot"
	"assay/internal/show/report"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// Options describe the report itself.
type Options struct {
	Version  string // of the program
	Out      string // the file it is written to
	Format   string
	Examples int // how many conversations with their verdicts
}

// Of gathers the contents of a report of a run.
func Of(ctx context.Context, r *results.Reader, run store.Run, o Options) (*report.Document, error) {
	found, err := findings.Of(ctx, r, run, findings.Query{})
	if err != nil {
		return nil, err
	}
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return nil, err
	}
	segments, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	redos, err := r.Ledger.Redos(ctx, run.No)
	if err != nil {
		return nil, err
	}
	is, err := standing(ctx, r, run)
	if err != nil {
		return nil, err
	}
	d := &report.Document{
		Study: run.Study, Description: st.Description, Run: run.ID, Standing: is,
		Rehearsal: r.Rehearsal, Note: run.Note, By: run.By, Created: run.Created, Closed: run.Closed, Report: found.Report,
		Gates: found.Gates, Budget: run.Budget, Remarks: found.Warnings, Nouns: nounsOf(st), Reads: readsOf(st), Stages: stageFacts(st),
		Pairings: pairingsOf(st), Sources: sourcesOf(st), Drawn: drawnOf(st),
		Lanes: laneFacts(st, lanes, redos), Segments: segmentFacts(segments), Spend: spendFacts(st, found.Costs, segments),
	}
	if err := priceOne(ctx, r, run, d.Spend, segments); err != nil {
		return nil, err
	}
	if d.Inputs, err = inputFacts(ctx, r, run, st); err != nil {
		return nil, err
	}
	if d.Origin, err = origin(ctx, r, run, o); err != nil {
		return nil, err
	}
	if d.Comparing, err = comparingOf(ctx, r, found); err != nil {
		return nil, err
	}
	if d.Rerun, err = r.Rerun(run, run.Folder); err != nil {
		return nil, err
	}
	served, err := r.Ledger.EventsOf(ctx, run.No, store.ServedEvent)
	if err != nil {
		return nil, err
	}
	for _, e := range served {
		if text := e.Text + "."; !slices.Contains(d.Remarks, text) {
			d.Remarks = append(d.Remarks, text)
		}
	}
	for _, c := range runs.Caches(segments) {
		if c.Low() {
			d.Remarks = append(d.Remarks, c.Warning())
		}
	}
	if n := len(redos); n > 0 {
		d.Remarks = append(d.Remarks,
			fmt.Sprintf("%s asked again since the plan was made: each counts as one more draw of its item.", assay.Count(n, "draw")))
	}
	var settings snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &settings); err != nil {
		return nil, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	if err := paper(ctx, r, run, st, settings, d); err != nil {
		return nil, err
	}
	if err := itemByItem(ctx, r, run, d); err != nil {
		return nil, err
	}
	if d.Examples, err = examples(ctx, r, run, st, o.Examples); err != nil {
		return nil, err
	}
	return d, addPictures(ctx, r, run, d)
}

// standing returns the state of a run.
func standing(ctx context.Context, r *results.Reader, run store.Run) (report.Standing, error) {
	s, err := runs.Of(ctx, r, run)
	told := []runs.State{runs.StateDone, runs.StatePeople, runs.StateIncomplete}
	return report.Standing{State: string(s.State), Sentence: s.Sentence(), Why: s.Why(), Next: s.Commands(run.ID),
		Told: slices.Contains(told, s.State)}, err
}

// asks reports whether the answers of a stage are judged.
func asks(st *study.Study, stage string) bool {
	s, ok := st.Stage(stage)
	return ok && !results.GivesVerdicts(s)
}

func laneFacts(st *study.Study, lanes []store.Lane, redos []store.Redo) []report.Lane {
	var out []report.Lane
	for _, l := range lanes {
		out = append(out, report.Lane{
			Stage: l.Stage, Name: l.Name, Model: l.ModelID(), Params: paramsText(l.Params), State: string(l.State),
			Note: runs.LaneNote(l, redos), Asks: asks(st, l.Stage), Planned: l.Planned, Spared: l.Spared, Open: l.Open, Endings: l.Endings,
		})
	}
	return out
}

// paramsText returns the parameters that are set, as a study writes them.
func paramsText(text string) string {
	var p assay.Params
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return text
	}
	var out []string
	add := func(set bool, format string, v any) {
		if set {
			out = append(out, fmt.Sprintf(format, v))
		}
	}
	if p.Temperature != nil {
		add(true, "temperature %g", *p.Temperature)
	}
	if p.TopP != nil {
		add(true, "top_p %g", *p.TopP)
	}
	if p.TopK != nil {
		add(true, "top_k %d", *p.TopK)
	}
	add(p.MaxTokens > 0, "max_tokens %d", p.MaxTokens)
	add(p.Effort != "", "effort %s", p.Effort)
	add(p.Thinking.Mode != "", "thinking %s", rows.ThinkingText(p.Thinking))
	add(p.Thoughts, "thoughts %t", true)
	add(len(p.Stop) > 0, "stop %q", p.Stop)
	if p.Seed != nil {
		add(true, "seed %d", *p.Seed)
	}
	add(len(p.Schema) > 0 && string(p.Schema) != "null", "schema %s", p.Schema)
	add(p.Logprobs > 0, "logprobs %d", p.Logprobs)
	add(p.ServiceTier != "", "service_tier %s", p.ServiceTier)
	if p.ServerTools.Any() {
		tools, err := json.Marshal(p.ServerTools)
		add(err == nil, "server_tools %s", tools)
	}
	if len(p.Extra) > 0 {
		extra, err := json.Marshal(p.Extra)
		add(err == nil, "extra %s", extra)
	}
	return strings.Join(out, ", ")
}

func segmentFacts(segments []store.Segment) []report.Segment {
	var out []report.Segment
	for _, g := range segments {
		out = append(out, report.Segment{
			No: g.No, Stage: g.Stage, Lane: g.Lane, Mode: string(g.Mode), State: string(g.State), Requests: g.Requests, Created: g.Created,
			Launched: g.Launched, Ended: g.EndedAt, Settled: g.SettledAt, Cost: g.Spent(),
		})
	}
	return out
}

func spendFacts(st *study.Study, costs []findings.Spending, segments []store.Segment) []report.Spend {
	var out []report.Spend
	caches := runs.Caches(segments)
	for _, c := range costs {
		s := report.Spend{Stage: c.Stage, Lane: c.Lane, Asks: asks(st, c.Stage), Cost: c.Cost, Spent: c.Spent, Answers: c.Answers,
			Valid: int64(c.Valid)}
		for _, g := range segments {
			if g.Stage == c.Stage && g.Lane == c.Lane {
				s.Input, s.Cached, s.Output, s.Reasoning = s.Input+g.InputTokens, s.Cached+g.CachedTokens, s.Output+g.OutputTokens,
					s.Reasoning+g.Reasoning
				s.Mute += g.UsageUnknown
			}
		}
		for _, k := range caches {
			if k.Stage == c.Stage && k.Lane == c.Lane {
				s.Hits = new(k.Rate())
			}
		}
		out = append(out, s)
	}
	return out
}

// priceOne fills in what one answer of each lane costs as a batch and live.
func priceOne(ctx context.Context, r *results.Reader, run store.Run, all []report.Spend, segments []store.Segment) error {
	if _, file := batchrun.Of(run); file {
		return nil
	}
	s, err := r.Scripts.Open(ctx, run)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Batch, all[i].Live = s.Each(segments, all[i].Stage, all[i].Lane)
	}
	return nil
}

// inputFacts counts the items of every input, and their clusters.
func inputFacts(ctx context.Context, r *results.Reader, run store.Run, st *study.Study) ([]report.Input, error) {
	var out []report.Input
	for _, e := range st.Inputs {
		in := report.Input{Name: e.Name}
		clusters := map[string]bool{}
		for it, err := range r.Ledger.Items(ctx, run.No, e.Name) {
			if err != nil {
				return nil, err
			}
			in.Items++
			if it.Cluster == it.ID {
				in.Clusters++
			} else {
				clusters[it.Cluster] = true
			}
		}
		in.Clusters += int64(len(clusters))
		out = append(out, in)
	}
	return out, nil
}

// stageFacts returns a short description of each stage.
func stageFacts(st *study.Study) []report.Stage {
	var out []report.Stage
	for _, s := range plan.InOrder(st) {
		fact := report.Stage{Name: s.Name, Verb: string(s.Verb())}
		var how []string
		switch s.Verb() {
		case study.VerbJudge, study.VerbCompare:
			fact.Of, fact.With = strings.Join(append(slices.Clone(s.Judge.List), s.Compare), ", "), strings.Join(s.Judges.List, ", ")
			fact.Of = strings.Trim(fact.Of, ", ")
			if rubric, err := (&plan.Input{Study: st}).Rubric(s); err == nil {
				how = append(how, "rubric "+cmp.Or(rubric.Name, "of its own"))
			}
			if s.Of != (study.Of{}) {
				how = append(how, "of "+s.Of.String())
			}
			if len(s.Trait.List) > 0 {
				how = append(how, "traits "+strings.Join(s.Trait.List, ", "))
			}
			if s.Jury != "" {
				how = append(how, "jury "+string(s.Jury))
			}
		case study.VerbImport:
			fact.Of = s.Import.Of
		default:
			fact.Of, fact.With = s.Ask+s.Continue, cmp.Or(strings.Join(s.Lanes.Among.List, ", "), "all lanes that judge nowhere")
			if n := len(s.Turns); n > 1 {
				how = append(how, assay.Count(n, "turn"))
			}
			if s.Control != nil && s.Control.On {
				how = append(how, "with a control")
			}
		}
		if s.Filter.Source != "" {
			how = append(how, "where "+s.Filter.Source)
		}
		fact.How = strings.Join(how, "; ")
		out = append(out, fact)
	}
	return out
}

// origin returns how the report can be reproduced.
func origin(ctx context.Context, r *results.Reader, run store.Run, opts Options) (report.Origin, error) {
	o := report.Origin{Version: opts.Version, Digest: run.Digest, Seed: findings.Seed, Catalog: string(newestPrice())}
	var s snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return o, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	o.Commands = []string{
		"# the same numbers, from the same ledger", "assay analyse " + run.ID,
		fmt.Sprintf("assay report %s --out %s --format %s --examples %d", run.ID, results.ShellWord(opts.Out), opts.Format, opts.Examples),
	}
	if s.File == "" { // a plain batch file has no study
		o.Commands = append(o.Commands, "# the same file, sent again", "assay batch submit "+results.ShellWord(run.Study))
		return o, nil
	}
	source, err := io.ReadAll(io.LimitReader(r.Ledger.Part(ctx, run.No, "file/"+s.File), 1<<20))
	if err != nil {
		return o, fmt.Errorf("read the study of run %s: %w", run.ID, err)
	}
	o.Source = string(source)
	o.Commands = append(o.Commands, "# the same study, asked again", results.RunAgain(s, r.Rehearsal, "--new"))
	for _, name := range slices.Sorted(maps.Keys(s.Datasets)) {
		o.Commands = append(o.Commands, fmt.Sprintf("# %s was read at commit %s", name, s.Datasets[name]))
	}
	return o, nil
}

// newestPrice returns the day of the newest price that the program knows.
func newestPrice() catalog.Date {
	var newest catalog.Date
	for _, p := range catalog.Default().Prices() {
		if newest == "" || newest.Before(p.Date) {
			newest = p.Date
		}
	}
	return newest
}
