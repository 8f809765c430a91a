package results

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/report"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// examples picks verdicts by the order of their keys, which know nothing of what was said, evenly over the stages that
// judge, and shows what they are about.
func (r *Reader) examples(ctx context.Context, run store.Run, st *study.Study, n int) ([]report.Example, error) {
	var stages []*study.Stage
	for _, s := range plan.InOrder(st) {
		if judges(s) {
			stages = append(stages, s)
		}
	}
	var out []report.Example
	for i, s := range stages {
		share := n*(i+1)/len(stages) - n*i/len(stages)
		picked, err := r.pick(ctx, run, s.Name, share)
		if err != nil {
			return nil, err
		}
		for _, v := range picked {
			e, err := r.example(ctx, run, v)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// pick keeps the n valid verdicts of a stage with the smallest keys, and no others in memory.
func (r *Reader) pick(ctx context.Context, run store.Run, stage string, n int) ([]store.Verdict, error) {
	var kept []store.Verdict
	if n == 0 {
		return nil, nil
	}
	byKey := func(a, b store.Verdict) int {
		x, y := a.At.Key(), b.At.Key()
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a.No, b.No))
	}
	for v, err := range r.Ledger.Verdicts(ctx, run.No, stage) {
		if err != nil {
			return nil, err
		}
		if v.State != store.VerdictValid || v.Stale {
			continue
		}
		i, _ := slices.BinarySearchFunc(kept, v, byKey)
		if kept = slices.Insert(kept, i, v); len(kept) > n {
			kept = kept[:n]
		}
	}
	return kept, nil
}

func (r *Reader) example(ctx context.Context, run store.Run, v store.Verdict) (report.Example, error) {
	e := report.Example{Stage: v.At.Stage, Item: v.At.Item, Verdicts: []report.Verdict{{
		Judge: v.At.Judge, State: string(v.State), Label: v.Label, Score: v.Score, Reason: v.Reason,
	}}}
	keys := []assay.Key{v.Subject, v.Against}
	answers, err := r.Ledger.AnswersTo(ctx, run.No, keys)
	if err != nil {
		return e, fmt.Errorf("read the answers of an example: %w", err)
	}
	places := []string{"A", "B"}
	for i, k := range keys {
		a, ok := answers[k]
		if !ok {
			continue
		}
		turns, err := r.conversation(ctx, run, a)
		if err != nil {
			return e, err
		}
		one := report.Answer{Lane: a.Lane, Turns: turns}
		if _, two := answers[v.Against]; two {
			one.Place = places[i]
		}
		e.Answers = append(e.Answers, one)
	}
	if len(e.Answers) == 0 { // items against each other: the judge's own question shows both
		turns, err := r.question(ctx, run, store.Live, v.At)
		if err != nil {
			return e, err
		}
		turns = slices.DeleteFunc(turns, func(t report.Turn) bool { return t.Role == roleSystem }) // the same in every example
		e.Answers = append(e.Answers, report.Answer{Lane: "asked of " + v.At.Judge, Turns: turns})
	}
	return e, nil
}

// conversation is what a lane was sent and said, up to an answer.
func (r *Reader) conversation(ctx context.Context, run store.Run, a store.Answer) ([]report.Turn, error) {
	turns, err := r.question(ctx, run, a.Mode, a.At)
	if err != nil {
		return nil, err
	}
	text := a.Outcome.Text
	if a.Over {
		text = fmt.Sprintf("(too long to show: %d bytes as they came)", a.Length)
	}
	return append(turns, report.Turn{Role: string(assay.RoleAssistant), Text: text}), nil
}

// question is what a lane or a judge was sent. Answers made elsewhere, and what people were shown, have no request that
// could be made again: then there is no question.
func (r *Reader) question(ctx context.Context, run store.Run, mode store.SegmentMode, at assay.Coordinates) ([]report.Turn, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	stage, ok := st.Stage(at.Stage)
	if _, lane := st.Lane(cmp.Or(at.Judge, at.Lane)); !ok || !lane || stage.Verb() == study.VerbImport {
		return nil, nil
	}
	made, err := r.Scripts.Build(ctx, run, mode, []assay.Coordinates{at})
	if err != nil {
		return nil, fmt.Errorf("make the question of an example again: %w", err)
	}
	return said(made[0].Request.Prompt), nil
}

const roleSystem = "system"

func said(p *assay.Prompt) []report.Turn {
	var out []report.Turn
	if p.System != "" {
		out = append(out, report.Turn{Role: roleSystem, Text: p.System})
	}
	if p.Context != "" {
		out = append(out, report.Turn{Role: "context", Text: p.Context})
	}
	for _, m := range p.Messages {
		out = append(out, report.Turn{Role: string(m.Role), Text: m.Text})
	}
	return out
}

// Prompts makes again what requests of a run were asked, in their order.
func (r *Reader) Prompts(ctx context.Context, run store.Run, at []assay.Coordinates) ([]assay.Prompt, error) {
	if _, ok := batchrun.Of(run); ok {
		return make([]assay.Prompt, len(at)), nil // its bodies are the user's own bytes
	}
	made, err := r.Scripts.Build(ctx, run, store.Live, at)
	if err != nil {
		return nil, err
	}
	var out []assay.Prompt
	for _, p := range made {
		out = append(out, *p.Request.Prompt)
	}
	return out, nil
}
