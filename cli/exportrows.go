package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"assay"
	"assay/export"
	"assay/plan"
	"assay/store"
	"assay/study"
	"assay/waves"
)

// rowsOf walks over the rows of one table. A row is used again for the next one.
type rowsOf[T any] iter.Seq2[*T, error]

// exportBlock is how many requests are held while their verdicts are read.
const exportBlock = 250

// exporter knows what all rows of a run need.
type exporter struct {
	exported
	study    *study.Study
	lanes    map[[2]string]store.Lane // by stage and name
	params   map[[2]string]assay.Params
	jobs     map[int64]string      // by segment
	costs    map[string]assay.Cost // by stage
	readings map[string]func(assay.Coordinates) (waves.Reading, error)
	inputs   map[string]string // by stage
	origins  map[int64]string  // ids of runs whose answers were reused
}

func (e exported) teller(ctx context.Context) (*exporter, error) {
	st, err := e.h.planner.Study(ctx, e.run)
	if err != nil {
		return nil, err
	}
	t := &exporter{
		exported: e, study: st, lanes: map[[2]string]store.Lane{}, params: map[[2]string]assay.Params{}, jobs: map[int64]string{}, costs: map[string]assay.Cost{},
		readings: map[string]func(assay.Coordinates) (waves.Reading, error){}, origins: map[int64]string{}, inputs: map[string]string{},
	}
	lanes, err := e.h.ledger.Lanes(ctx, e.run.No)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		at := [2]string{l.Stage, l.Name}
		var p assay.Params
		if err := json.Unmarshal([]byte(l.Params), &p); err != nil {
			return nil, fmt.Errorf("parameters of lane %s: %w", l.Name, err)
		}
		t.lanes[at], t.params[at] = l, p
	}
	segments, err := e.h.ledger.Segments(ctx, e.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		t.jobs[g.No] = g.Job
		t.costs[g.Stage] = t.costs[g.Stage].Add(g.Cost)
	}
	for i := range st.Stages {
		s := &st.Stages[i]
		if s.Verb() != study.VerbJudge && s.Verb() != study.VerbCompare {
			continue
		}
		if t.readings[s.Name], err = e.h.planner.Readings(ctx, e.run, s.Name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// reading takes coordinates apart; an answer's own are as they are.
func (t *exporter) reading(at assay.Coordinates) (waves.Reading, error) {
	if read, ok := t.readings[at.Stage]; ok {
		return read(at)
	}
	return waves.Reading{Template: at.Template, Draw: at.Draw, Turn: at.Turn}, nil
}

func (t *exporter) verb(stage string) string {
	if s, ok := t.study.Stage(stage); ok {
		return string(s.Verb())
	}
	return ""
}

// source is the stage whose answers a judge's request reads.
func (t *exporter) source(at assay.Coordinates) string {
	st, ok := t.study.Stage(at.Stage)
	switch {
	case !ok:
		return ""
	case st.Verb() == study.VerbJudge && len(st.Judge.List) > 1:
		return at.Pair
	case st.Verb() == study.VerbJudge:
		return st.Judge.List[0]
	}
	if of, ok := t.study.Stage(st.Compare); ok {
		return of.Name
	}
	return ""
}

// input is the input whose items a stage is about.
func (t *exporter) input(stage string) string {
	if name, ok := t.inputs[stage]; ok {
		return name
	}
	if st, ok := t.study.Stage(stage); ok {
		t.inputs[stage] = (&plan.Input{Study: t.study}).Root(st)
	}
	return t.inputs[stage]
}

// requests are the rows of the table of requests, in the order in which they were sent, and after them those of questions
// that were not.
func (e exported) requests(ctx context.Context) rowsOf[export.Request] {
	return func(yield func(*export.Request, error) bool) {
		t, err := e.teller(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		block := make([]store.Answer, 0, exportBlock)
		for a, err := range e.h.ledger.Answers(ctx, e.run.No, "", "") {
			if err != nil {
				yield(nil, err)
				return
			}
			if block = append(block, a); len(block) < exportBlock {
				continue
			}
			if !t.tell(ctx, block, yield) {
				return
			}
			block = block[:0]
		}
		if t.tell(ctx, block, yield) {
			t.unasked(ctx, yield)
		}
	}
}

// unasked yields the questions that were never sent.
func (t *exporter) unasked(ctx context.Context, yield func(*export.Request, error) bool) {
	for i := range t.study.Stages {
		st := &t.study.Stages[i]
		if !talks(st) {
			continue
		}
		for at, err := range t.h.planner.Unasked(ctx, t.run, st.Name, t.sent(st.Name)) {
			var row *export.Request
			if err == nil {
				row, err = t.request(ctx, store.Answer{Attempt: store.Attempt{Key: at.Key(), At: at}, Lane: at.Lane}, nil)
			}
			if err == nil {
				row.Ending = export.Unasked
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// sent are the lanes of a stage that have no question left.
func (t *exporter) sent(stage string) map[string]bool {
	out := map[string]bool{}
	for at, l := range t.lanes {
		n := l.Open
		for _, ended := range l.Endings {
			n += ended
		}
		if at[0] == stage && n >= l.Planned-l.Spared {
			out[l.Name] = true
		}
	}
	return out
}

// tell yields a block of requests with their verdicts; it tells whether the walk goes on.
func (t *exporter) tell(ctx context.Context, block []store.Answer, yield func(*export.Request, error) bool) bool {
	keys := make([]assay.Key, len(block))
	for i, a := range block {
		r, err := t.reading(a.At)
		if err != nil {
			return yield(nil, err)
		}
		first := a.At // a second try's verdict stands where the first one's stood
		first.Turn = r.Turn
		keys[i] = first.Key()
	}
	verdicts, err := t.h.ledger.VerdictsOn(ctx, t.run.No, keys)
	if err != nil {
		return yield(nil, err)
	}
	for i, a := range block {
		row, err := t.request(ctx, a, heard(a, verdicts[keys[i]]))
		if !yield(row, err) || err != nil {
			return false
		}
	}
	return true
}

// heard are the verdicts of a row: those on an answer, and of a judge's request the one that this very reply gave.
func heard(a store.Answer, verdicts []store.Verdict) []store.Verdict {
	if a.At.Judge == "" {
		return verdicts
	}
	return slices.DeleteFunc(slices.Clone(verdicts), func(v store.Verdict) bool { return v.Segment != a.Segment || v.Ord != a.Ord })
}

func (t *exporter) request(ctx context.Context, a store.Answer, verdicts []store.Verdict) (*export.Request, error) {
	a, err := t.h.planner.Whole(ctx, t.run, a)
	if err != nil {
		return nil, err
	}
	r, err := t.reading(a.At)
	if err != nil {
		return nil, err
	}
	at, o := [2]string{a.At.Stage, a.Lane}, a.Outcome
	row := &export.Request{
		Study: t.run.Study, Run: t.run.ID, Rehearsal: t.run.Rehearsal, Key: a.Key.String(), Stage: a.At.Stage, Verb: t.verb(a.At.Stage),
		Source: t.source(a.At), Input: t.input(a.At.Stage), Item: a.At.Item,
		Lane: a.At.Lane, Template: r.Template, Turn: int64(r.Turn), Branch: branchOf(a.At, r), Draw: int64(r.Draw), Pair: a.At.Pair,
		First: r.First, Second: r.Second, Judge: a.At.Judge, Prompt: r.Prompt, Trait: r.Trait, Vote: int64(r.Vote), SecondTry: r.SecondTry,
		AskedLane: a.Lane, Provider: t.lanes[at].Provider, Model: t.lanes[at].Model, Mode: string(a.Mode), Job: t.jobs[a.Segment], Attempts: a.Try,
		Ending: string(o.Ending), Text: o.Text, Thoughts: o.Thoughts, Finish: o.Finish, AnsweredModel: o.Model, RequestID: o.RequestID, UsedTier: o.Tier,
		Imported: imported(a), Segment: a.Segment, Verdicts: []export.Said{},
	}
	if err := row.SetParams(t.params[at]); err != nil {
		return nil, err
	}
	if u := o.Usage; u.Known {
		row.InputTokens, row.CachedTokens, row.Write5m, row.Write1h, row.OutputTokens, row.Reasoning =
			&u.Input, &u.Cached, &u.CacheWrite5m, &u.CacheWrite1h, &u.Output, &u.Reasoning
	}
	if a.Cost != nil {
		usd := a.Cost.Float()
		row.Cost = &usd
	}
	if f := o.Fault; f != nil {
		row.FaultClass, row.FaultCode, row.FaultMessage = string(f.Class), f.Code, f.Message
		if f.Status != 0 {
			status := int64(f.Status)
			row.FaultStatus = &status
		}
	}
	if !a.Settled.IsZero() {
		row.SettledAt = a.Settled.UTC().Format(time.RFC3339Nano)
	}
	if row.ReusedFrom, err = t.origin(ctx, a.Reused); err != nil {
		return nil, err
	}
	return row, t.hear(row, verdicts)
}

// imported tells whether an answer was made elsewhere.
func imported(a store.Answer) bool { return a.Mode == store.Imported }

// branchOf is the branch of a conversation; where items are compared, the coordinate says something else.
func branchOf(at assay.Coordinates, r waves.Reading) string {
	if r.Items {
		return ""
	}
	return at.Branch
}

// origin is the id of the run that an answer was taken from.
func (t *exporter) origin(ctx context.Context, run int64) (string, error) {
	if run == 0 || t.origins[run] != "" {
		return t.origins[run], nil
	}
	from, err := t.h.ledger.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) { // in a bundle, which holds one run
		from.ID, err = "run "+strconv.FormatInt(run, 10)+" of its ledger", nil
	}
	if err != nil {
		return "", err
	}
	t.origins[run] = from.ID
	return from.ID, nil
}

// hear writes the verdicts into the row of the answer they are about.
func (t *exporter) hear(row *export.Request, verdicts []store.Verdict) error {
	for i := range verdicts {
		v, err := t.verdict(&verdicts[i])
		if err != nil {
			return err
		}
		row.Verdicts = append(row.Verdicts, export.Said{
			Stage: v.Stage, Judge: v.Judge, Prompt: v.Prompt, Trait: v.Trait, First: v.First, Second: v.Second, Vote: v.Vote,
			State: v.State, Label: v.Label, Score: v.Score, Confidence: v.Confidence, Reason: v.Reason, SecondTry: v.SecondTry,
		})
	}
	return nil
}

func (t *exporter) verdict(v *store.Verdict) (*export.Verdict, error) {
	r, err := t.reading(v.At)
	if err != nil {
		return nil, err
	}
	row := &export.Verdict{
		Study: t.run.Study, Run: t.run.ID, Rehearsal: t.run.Rehearsal, Key: v.At.Key().String(), Stage: v.At.Stage, Verb: t.verb(v.At.Stage),
		Source: t.source(v.At), Input: t.input(v.At.Stage), Item: v.At.Item, Lane: v.At.Lane, Template: r.Template, Turn: int64(v.At.Turn), Branch: branchOf(v.At, r), Draw: int64(r.Draw),
		Pair: v.At.Pair, First: r.First, Second: r.Second, Direction: v.Direction, Judge: v.At.Judge, Prompt: r.Prompt, Trait: r.Trait, Vote: int64(r.Vote),
		State: string(v.State), Label: v.Label, Score: v.Score, Reason: v.Reason, SecondTry: v.SecondTry, GivenAt: v.Given.UTC().Format(time.RFC3339Nano),
		Subject: shownKey(v.Subject), Against: shownKey(v.Against),
	}
	var said struct {
		Confidence *float64 `json:"confidence"`
	}
	if v.Fields != "" && v.Fields != "{}" {
		row.Fields = export.Raw(v.Fields)
		if json.Unmarshal([]byte(v.Fields), &said) == nil {
			row.Confidence = said.Confidence
		}
	}
	return row, nil
}

func shownKey(k assay.Key) string {
	if k == (assay.Key{}) {
		return ""
	}
	return k.String()
}

// verdicts are the rows of the table of verdicts, in the order in which they were given.
func (e exported) verdicts(ctx context.Context) rowsOf[export.Verdict] {
	return func(yield func(*export.Verdict, error) bool) {
		t, err := e.teller(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for v, err := range e.h.ledger.Verdicts(ctx, e.run.No, "") {
			var row *export.Verdict
			if err == nil {
				row, err = t.verdict(&v)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// items are the rows of the table of items, input by input.
func (e exported) items(ctx context.Context) rowsOf[export.Item] {
	return func(yield func(*export.Item, error) bool) {
		st, err := e.h.planner.Study(ctx, e.run)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, in := range st.Inputs {
			for it, err := range e.h.ledger.Items(ctx, e.run.No, in.Name) {
				row := &export.Item{Study: e.run.Study, Run: e.run.ID, Input: in.Name, Item: it.ID, Cluster: it.Cluster, Expect: it.Expect}
				if err == nil {
					row.Fields, err = fieldsText(it.Fields)
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

func fieldsText(fields map[string]any) (export.Raw, error) {
	text, err := json.Marshal(fields)
	return export.Raw(text), err
}
