package results

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
	"assay/pairs"
	"assay/plan"
	"assay/script"
	"assay/store"
	"assay/study"
)

// Rows makes the rows of one run. It is for one goroutine.
type Rows struct {
	*Reader
	Run    store.Run
	Study  *study.Study
	Lanes  map[[2]string]store.Lane   // by stage and name
	Params map[[2]string]assay.Params // by stage and lane
	Jobs   map[int64]string           // by segment
	Costs  map[string]assay.Cost      // by stage

	readings map[string]func(assay.Coordinates) (script.Reading, error)
	inputs   map[string]string // by stage
	origins  map[int64]string  // ids of runs whose answers were reused
}

// Rows gathers what all rows of a run need.
func (r *Reader) Rows(ctx context.Context, run store.Run) (*Rows, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	t := &Rows{
		Reader: r, Run: run, Study: st, Lanes: map[[2]string]store.Lane{}, Params: map[[2]string]assay.Params{}, Jobs: map[int64]string{}, Costs: map[string]assay.Cost{},
		readings: map[string]func(assay.Coordinates) (script.Reading, error){}, origins: map[int64]string{}, inputs: map[string]string{},
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
	segments, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		t.Jobs[g.No] = g.Job
		t.Costs[g.Stage] = t.Costs[g.Stage].Add(g.Cost)
	}
	for i := range st.Stages {
		s := &st.Stages[i]
		if !judges(s) {
			continue
		}
		if t.readings[s.Name], err = r.Scripts.Readings(ctx, run, s.Name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// judges reports whether a stage gives verdicts.
func judges(st *study.Stage) bool {
	return st.Verb() == study.VerbJudge || st.Verb() == study.VerbCompare
}

// Reading takes coordinates apart; an answer's own are as they are.
func (t *Rows) Reading(at assay.Coordinates) (script.Reading, error) {
	if read, ok := t.readings[at.Stage]; ok {
		return read(at)
	}
	return script.ReadingOf(at), nil
}

// Verb is what a stage does; empty where the run has no such stage.
func (t *Rows) Verb(stage string) string {
	if s, ok := t.Study.Stage(stage); ok {
		return string(s.Verb())
	}
	return ""
}

// input is the input whose items a stage is about.
func (t *Rows) input(stage string) string {
	if name, ok := t.inputs[stage]; ok {
		return name
	}
	if st, ok := t.Study.Stage(stage); ok {
		t.inputs[stage] = (&plan.Input{Study: t.Study}).Root(st)
	}
	return t.inputs[stage]
}

// blockSize is how many answers are held while their verdicts are read.
const blockSize = 250

// All are the rows of all requests, in the order in which they were sent, and after them those of questions that were not.
func (t *Rows) All(ctx context.Context) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		for row, err := range t.Of(ctx, t.Ledger.Answers(ctx, t.Run.No, "", "")) {
			if !yield(row, err) || err != nil {
				return
			}
		}
		t.unasked(ctx, yield)
	}
}

// Of are the rows of some answers, with their verdicts.
func (t *Rows) Of(ctx context.Context, answers iter.Seq2[store.Answer, error]) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		block := make([]store.Answer, 0, blockSize)
		for a, err := range answers {
			if err != nil {
				yield(nil, err)
				return
			}
			if block = append(block, a); len(block) < blockSize {
				continue
			}
			if !t.Block(ctx, block, yield) {
				return
			}
			block = block[:0]
		}
		t.Block(ctx, block, yield)
	}
}

// unasked yields the questions that were never sent.
func (t *Rows) unasked(ctx context.Context, yield func(*Answer, error) bool) {
	for i := range t.Study.Stages {
		st := &t.Study.Stages[i]
		if judges(st) {
			continue
		}
		for at, err := range t.Scripts.Unasked(ctx, t.Run, st.Name, t.sent(st.Name)) {
			var row *Answer
			if err == nil {
				row, err = t.Answer(ctx, store.Answer{Attempt: store.Attempt{Key: at.Key(), At: at}, Lane: at.Lane}, nil)
			}
			if err == nil {
				row.Ending = Unasked
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// sent are the lanes of a stage that have no question left.
func (t *Rows) sent(stage string) map[string]bool {
	out := map[string]bool{}
	for at, l := range t.Lanes {
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

// Block yields the rows of a few answers with their verdicts; it reports whether the walk goes on.
func (t *Rows) Block(ctx context.Context, block []store.Answer, yield func(*Answer, error) bool) bool {
	keys := make([]assay.Key, len(block))
	for i, a := range block {
		first := a.At // a second try's verdict stands where the first one's stood
		first.SecondTry = false
		keys[i] = first.Key()
	}
	verdicts, err := t.Ledger.VerdictsOn(ctx, t.Run.No, keys)
	if err != nil {
		return yield(nil, err)
	}
	for i, a := range block {
		row, err := t.Answer(ctx, a, ownVerdicts(a, verdicts[keys[i]]))
		if !yield(row, err) || err != nil {
			return false
		}
	}
	return true
}

// ownVerdicts are the verdicts of a row: those on an answer, and of a judge's request the one that this very reply gave.
func ownVerdicts(a store.Answer, verdicts []store.Verdict) []store.Verdict {
	if a.At.Judge == "" {
		return verdicts
	}
	return slices.DeleteFunc(slices.Clone(verdicts), func(v store.Verdict) bool { return v.Segment != a.Segment || v.Ord != a.Ord })
}

// Answer is the row of one answer with these verdicts.
func (t *Rows) Answer(ctx context.Context, a store.Answer, verdicts []store.Verdict) (*Answer, error) {
	a, err := t.Scripts.Whole(ctx, t.Run, a)
	if err != nil {
		return nil, err
	}
	r, err := t.Reading(a.At)
	if err != nil {
		return nil, err
	}
	at, o := [2]string{a.At.Stage, a.Lane}, a.Outcome
	row := &Answer{
		Study: t.Run.Study, Run: t.Run.ID, Rehearsal: t.Run.Rehearsal, Key: a.Key.String(), Stage: a.At.Stage, Verb: t.Verb(a.At.Stage),
		Source: a.At.Source, Input: t.input(a.At.Stage), Item: a.At.Item,
		Lane: r.Lane, Template: r.Template, Turn: int64(r.Turn), Branch: a.At.Branch, Draw: int64(r.Draw), Pair: pairs.Of(a.At),
		First: r.First, Second: r.Second, Judge: a.At.Judge, Prompt: r.Prompt, Trait: r.Trait, Vote: int64(r.Vote), SecondTry: r.SecondTry,
		AskedLane: a.Lane, Provider: t.Lanes[at].Provider, Model: t.Lanes[at].Model, Mode: string(a.Mode), Job: t.Jobs[a.Segment], Attempts: a.Try,
		Ending: string(o.Ending), Text: o.Text, Thoughts: o.Thoughts, Finish: o.Finish, AnsweredModel: o.Model, RequestID: o.RequestID, UsedTier: o.Tier,
		Imported: a.Mode == store.Imported, Segment: a.Segment, Verdicts: []Said{},
	}
	if err := row.SetParams(t.Params[at]); err != nil {
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
	return row, t.addVerdicts(row, verdicts)
}

// setCost writes what the answer used and cost into the row.
func (r *Answer) setCost(a *store.Answer) {
	if u := a.Outcome.Usage; u.Known {
		r.InputTokens, r.CachedTokens, r.Write5m, r.Write1h, r.OutputTokens, r.Reasoning =
			&u.Input, &u.Cached, &u.CacheWrite5m, &u.CacheWrite1h, &u.Output, &u.Reasoning
	}
	if a.Cost != nil {
		usd := a.Cost.Float()
		r.Cost = &usd
	}
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

// origin is the id of the run that an answer was taken from.
func (t *Rows) origin(ctx context.Context, run int64) (string, error) {
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
func (t *Rows) addVerdicts(row *Answer, verdicts []store.Verdict) error {
	for i := range verdicts {
		v, err := t.Verdict(&verdicts[i])
		if err != nil {
			return err
		}
		row.Verdicts = append(row.Verdicts, Said{
			Stage: v.Stage, Judge: v.Judge, Prompt: v.Prompt, Trait: v.Trait, First: v.First, Second: v.Second, Vote: v.Vote,
			State: v.State, Label: v.Label, Score: v.Score, Confidence: v.Confidence, Reason: v.Reason, SecondTry: v.SecondTry,
		})
	}
	return nil
}

// Verdict is the row of one verdict.
func (t *Rows) Verdict(v *store.Verdict) (*Verdict, error) {
	r, err := t.Reading(v.At)
	if err != nil {
		return nil, err
	}
	row := &Verdict{
		Study: t.Run.Study, Run: t.Run.ID, Rehearsal: t.Run.Rehearsal, Key: v.At.Key().String(), Stage: v.At.Stage, Verb: t.Verb(v.At.Stage),
		Source: v.At.Source, Input: t.input(v.At.Stage), Item: v.At.Item, Lane: r.Lane, Template: r.Template, Turn: int64(v.At.Turn), Branch: v.At.Branch, Draw: int64(r.Draw),
		Pair: pairs.Of(v.At), First: r.First, Second: r.Second, Direction: v.Direction, Judge: v.At.Judge, Prompt: r.Prompt, Trait: r.Trait, Vote: int64(r.Vote),
		State: string(v.State), Label: v.Label, Score: v.Score, Reason: v.Reason, SecondTry: v.SecondTry, GivenAt: v.Given.UTC().Format(time.RFC3339Nano),
		Subject: shownKey(v.Subject), Against: shownKey(v.Against),
	}
	var said struct {
		Confidence *float64 `json:"confidence"`
	}
	if v.Fields != "" && v.Fields != "{}" {
		row.Fields = Raw(v.Fields)
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

// Verdicts are the rows of all verdicts, in the order in which they were given.
func (t *Rows) Verdicts(ctx context.Context) iter.Seq2[*Verdict, error] {
	return func(yield func(*Verdict, error) bool) {
		for v, err := range t.Ledger.Verdicts(ctx, t.Run.No, "") {
			var row *Verdict
			if err == nil {
				row, err = t.Verdict(&v)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Items are the rows of all items, input by input.
func (t *Rows) Items(ctx context.Context) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		for _, in := range t.Study.Inputs {
			for it, err := range t.Ledger.Items(ctx, t.Run.No, in.Name) {
				row := &Item{Study: t.Run.Study, Run: t.Run.ID, Input: in.Name, Item: it.ID, Cluster: it.Cluster, Expect: it.Expect}
				if err == nil {
					row.Fields, err = rawOf(it.Fields, 1)
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}
