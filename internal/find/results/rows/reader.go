package rows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/script"
	"assay/internal/send/script/people"
	"assay/internal/study"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// Reader makes the rows of one run. It is for one goroutine.
type Reader struct {
	*results.Reader
	Run    store.Run
	Study  *study.Study
	Lanes  map[[2]string]store.Lane   // by stage and name
	Params map[[2]string]assay.Params // by stage and lane
	Jobs   map[int64]string           // by segment
	Costs  map[string]assay.Cost      // by stage

	// Short leaves texts out that are too long for a row of the ledger; else they are read from the bytes that came.
	Short bool

	drawn   map[string]map[string]float64 // of labels on drawn answers: their probability, by stage and item
	inputs  map[string]string             // by stage
	origins map[int64]string              // ids of runs whose answers were reused
}

// Of gathers what the rows of a whole run need.
func Of(ctx context.Context, r *results.Reader, run store.Run) (*Reader, error) {
	t, err := OfPage(ctx, r, run)
	if err != nil {
		return nil, err
	}
	segments, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		t.Jobs[g.No] = g.Job
		t.Costs[g.Stage] = t.Costs[g.Stage].Add(g.Price())
	}
	t.drawn = map[string]map[string]float64{}
	for i := range t.Study.Stages {
		if st := &t.Study.Stages[i]; st.Verb() == study.VerbJudge || st.Verb() == study.VerbCompare {
			stage, err := r.Scripts.People(ctx, run, st.Name)
			if err != nil {
				return nil, err
			}
			if t.drawn[st.Name], err = stage.Probabilities(ctx); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// OfPage gathers what a few rows of a run need: the jobs of their segments are read one by one, and costs are not.
func OfPage(ctx context.Context, r *results.Reader, run store.Run) (*Reader, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	t, err := Plain(ctx, r, run)
	if err != nil {
		return nil, err
	}
	t.Study, t.Short = st, false
	return t, nil
}

// Plain makes rows without what only the study knows, for pages that are shown before it is read.
func Plain(ctx context.Context, r *results.Reader, run store.Run) (*Reader, error) {
	t := &Reader{
		Reader: r, Run: run, Study: &study.Study{}, Lanes: map[[2]string]store.Lane{}, Params: map[[2]string]assay.Params{},
		Jobs: map[int64]string{}, Costs: map[string]assay.Cost{}, Short: true, origins: map[int64]string{}, inputs: map[string]string{},
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		at := [2]string{l.Stage, l.Name}
		var p assay.Params
		if err := json.Unmarshal([]byte(l.Params), &p); err != nil {
			return nil, fmt.Errorf("parameters of lane %s: %w", l.Name, err)
		}
		t.Lanes[at], t.Params[at] = l, p
	}
	return t, nil
}

// Verb returns what a stage does; empty where the run has no such stage.
func (t *Reader) Verb(stage string) string {
	if s, ok := t.Study.Stage(stage); ok {
		return string(s.Verb())
	}
	return ""
}

// input returns the input whose items a stage is about.
func (t *Reader) input(stage string) string {
	if name, ok := t.inputs[stage]; ok {
		return name
	}
	if st, ok := t.Study.Stage(stage); ok {
		t.inputs[stage] = (&plan.Input{Study: t.Study}).Root(st)
	}
	return t.inputs[stage]
}

// Answer returns the row of one answer with these verdicts.
func (t *Reader) Answer(ctx context.Context, a store.Answer, verdicts []store.Verdict) (*Answer, error) {
	var err error
	if !t.Short {
		if a, err = t.whole(ctx, a); err != nil {
			return nil, err
		}
	}
	job, err := t.job(ctx, a.Segment)
	if err != nil {
		return nil, err
	}
	at, o := [2]string{a.At.Stage, a.Lane}, a.Outcome
	row := &Answer{
		At: t.at(a.At, a.Key), Judging: judgingOf(a.At), Vote: int64(a.At.Vote), SecondTry: a.At.Again > 0,
		AskedLane: a.Lane, Provider: t.Lanes[at].Provider, Model: t.Lanes[at].Model, Mode: string(a.Mode), Job: job, Attempts: a.Try,
		Ending: string(o.Ending), Text: o.Text, Thoughts: o.Thoughts, Finish: o.Finish, AnsweredModel: o.Model, RequestID: o.RequestID,
		UsedTier: o.Tier, Imported: a.Mode == store.Imported, Segment: a.Segment, Verdicts: []AnswerVerdict{},
	}
	if err := row.SetParams(t.Params[at]); err != nil {
		return nil, err
	}
	if row.ToolCalls, err = RawJSON(o.Calls, len(o.Calls)); err != nil {
		return nil, err
	}
	if row.Likely, err = RawJSON(o.Likely, len(o.Likely)); err != nil {
		return nil, err
	}
	row.setCost(&a)
	row.setFault(o.Fault)
	if !a.Settled.IsZero() {
		row.SettledAt = a.Settled.UTC().Format(time.RFC3339Nano)
	}
	if row.ReusedFrom, err = t.origin(ctx, a.Reused); err != nil {
		return nil, err
	}
	t.addVerdicts(row, verdicts)
	return row, nil
}

// whole returns an answer with all of its text.
func (t *Reader) whole(ctx context.Context, a store.Answer) (store.Answer, error) {
	if _, plain := batchrun.Of(t.Run); plain && a.Over {
		files := &batchrun.Reader{Ledger: t.Ledger, Pages: t.Pages, Files: t.Scripts.Files, Catalog: t.Scripts.Catalog}
		return files.Whole(ctx, t.Run, a)
	}
	return t.Scripts.Whole(ctx, t.Run, a)
}

// job returns the job that a segment travelled in.
func (t *Reader) job(ctx context.Context, segment int64) (string, error) {
	job, ok := t.Jobs[segment]
	if ok || segment == 0 {
		return job, nil
	}
	g, err := t.Ledger.Segment(ctx, segment)
	if err != nil {
		return "", err
	}
	t.Jobs[segment] = g.Job
	return g.Job, nil
}

// setCost writes what the answer used and cost into the row.
func (r *Answer) setCost(a *store.Answer) {
	r.SetUsage(a.Outcome.Usage)
	if a.Cost != nil {
		usd := a.Cost.Float()
		r.Cost = &usd
	}
	if a.Price != nil {
		usd := a.Price.Float()
		r.Price = &usd
	}
}

// SetUsage writes what a reply says that was used. Calls of tools that nobody counted may be of any kind.
func (r *Answer) SetUsage(u assay.Usage) {
	if !u.Known {
		return
	}
	r.InputTokens, r.CachedTokens, r.Write5m, r.Write1h, r.OutputTokens, r.Reasoning =
		&u.Input, &u.Cached, &u.CacheWrite5m, &u.CacheWrite1h, &u.Output, &u.Reasoning
	count := func(n int64) *int64 {
		if n == 0 && u.Tools.Other > 0 {
			return nil
		}
		return &n
	}
	r.WebSearches, r.FileSearches, r.CodeRuns = count(u.Tools.Searches), count(u.Tools.Lookups), count(u.Tools.Code)
}

// Ran tells which tools the provider ran for the answer; empty: none, or nobody knows.
func (r Answer) Ran() string {
	n := func(count *int64) int64 {
		if count == nil {
			return 0
		}
		return *count
	}
	return assay.ToolCalls{Searches: n(r.WebSearches), Lookups: n(r.FileSearches), Code: n(r.CodeRuns)}.Words()
}

// setFault writes what went wrong into the row.
func (r *Answer) setFault(f *assay.Fault) {
	if f == nil {
		return
	}
	r.FaultClass, r.FaultCode, r.FaultMessage = string(f.Class), f.Code, f.Message
	if f.Status != 0 {
		status := int64(f.Status)
		r.FaultStatus = &status
	}
}

// origin returns the id of the run that an answer was taken from.
func (t *Reader) origin(ctx context.Context, run int64) (string, error) {
	if run == 0 || t.origins[run] != "" {
		return t.origins[run], nil
	}
	from, err := t.Ledger.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) { // in a bundle, which holds one run
		from.ID, err = "run "+strconv.FormatInt(run, 10)+" of its ledger", nil
	}
	if err != nil {
		return "", err
	}
	t.origins[run] = from.ID
	return from.ID, nil
}

// addVerdicts writes the verdicts into the row of the answer they are about.
func (t *Reader) addVerdicts(row *Answer, verdicts []store.Verdict) {
	for i := range verdicts {
		v := t.Verdict(&verdicts[i])
		row.Verdicts = append(row.Verdicts, AnswerVerdict{
			Stage: v.Stage, Judging: v.Judging, First: v.First, Second: v.Second, Vote: v.Vote, State: v.State, Label: v.Label,
			Score: v.Score, Confidence: v.Confidence, Reason: v.Reason, Try: v.Try,
		})
	}
}

// Confidence returns how sure a judge is of its verdict; nil: it did not tell.
func Confidence(v *store.Verdict) *float64 {
	var said struct {
		Confidence *float64 `json:"confidence"`
	}
	if v.Fields == "" || json.Unmarshal([]byte(v.Fields), &said) != nil {
		return nil
	}
	return said.Confidence
}

// Verdict returns the row of one verdict.
func (t *Reader) Verdict(v *store.Verdict) *Verdict {
	row := &Verdict{
		At: t.at(v.At, v.At.Key()), Direction: v.Direction, Judging: judgingOf(v.At), Vote: int64(v.At.Vote),
		State: v.State, Label: v.Label, Score: v.Score, Reason: v.Reason, Try: Try{Fallback: v.By, SecondTry: v.Again > 0},
		Subject: shownKey(v.Subject), Against: shownKey(v.Against), GivenAt: v.Given.UTC().Format(time.RFC3339Nano),
	}
	if v.Fields != "" && v.Fields != "{}" {
		row.Fields, row.Confidence = Raw(v.Fields), Confidence(v)
	}
	if chosen, declared := people.ChosenAs(v); declared > 0 {
		row.Probability = &declared
	} else if p, ok := t.drawn[v.At.Stage][v.At.Item]; ok && (chosen == analysis.ChosenDrawn || chosen == analysis.ChosenAdjudicated) {
		row.Probability = &p
	}
	return row
}

// at returns the coordinates of a row.
func (t *Reader) at(c assay.Coordinates, key assay.Key) At {
	r := script.ReadingOf(c)
	return At{
		Study: t.Run.Study, Run: t.Run.ID, Rehearsal: t.Run.Rehearsal, Key: key.String(), Stage: c.Stage, Verb: t.Verb(c.Stage),
		Source: c.Source, Input: t.input(c.Stage), Item: c.Item, Lane: r.Lane, Template: r.Template, Turn: int64(c.Turn), Branch: c.Branch,
		Draw: int64(c.Draw), Pair: pairs.Of(c), First: r.First, Second: r.Second,
	}
}

// judgingOf returns the coordinates of a row that are a judge's.
func judgingOf(c assay.Coordinates) Judging {
	return Judging{Judge: c.Judge, Prompt: c.Prompt, Trait: c.Trait}
}

func shownKey(k assay.Key) string {
	if k == (assay.Key{}) {
		return ""
	}
	return k.String()
}
