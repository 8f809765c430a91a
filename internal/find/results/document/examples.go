package document

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// examples picks verdicts by the order of their keys, which do not depend on the texts, evenly over the stages that
// judge, and shows what they are about.
func examples(ctx context.Context, r *results.Reader, run store.Run, st *study.Study, n int) ([]report.Example, error) {
	var stages []*study.Stage
	for _, s := range plan.InOrder(st) {
		if results.GivesVerdicts(s) {
			stages = append(stages, s)
		}
	}
	var out []report.Example
	for i, s := range stages {
		share := n*(i+1)/len(stages) - n*i/len(stages)
		picked, err := pick(ctx, r, run, s.Name, share)
		if err != nil {
			return nil, err
		}
		for _, v := range picked {
			e, err := example(ctx, r, run, v)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// pick keeps the n valid verdicts of a stage with the smallest keys, and no others in memory.
func pick(ctx context.Context, r *results.Reader, run store.Run, stage string, n int) ([]store.Verdict, error) {
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
		if v.State != assay.VerdictValid || v.Stale {
			continue
		}
		i, _ := slices.BinarySearchFunc(kept, v, byKey)
		if kept = slices.Insert(kept, i, v); len(kept) > n {
			kept = kept[:n]
		}
	}
	return kept, nil
}

func example(ctx context.Context, r *results.Reader, run store.Run, v store.Verdict) (report.Example, error) {
	e := report.Example{Stage: v.At.Stage, Item: v.At.Item, Verdicts: []report.Verdict{{
		Judge: v.At.Judge, State: string(v.State), Label: v.Label, Score: v.Score, Reason: v.Reason,
	}}}
	answers, err := r.Ledger.AnswersTo(ctx, run.No, v.Answers())
	if err != nil {
		return e, fmt.Errorf("read the answers of an example: %w", err)
	}
	places := []string{"A", "B"}
	for i, k := range []assay.Key{v.Subject, v.Against} {
		a, ok := answers[k]
		if !ok {
			continue
		}
		turns, err := rows.Conversation(ctx, r, run, a)
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
		turns, err := rows.Question(ctx, r, run, store.Live, v.At)
		if err != nil {
			return e, err
		}
		turns = slices.DeleteFunc(turns, func(t report.Turn) bool { return t.Role == rows.RoleSystem }) // the same in every example
		e.Answers = append(e.Answers, report.Answer{Lane: "asked of " + v.At.Judge, Turns: turns})
	}
	return e, nil
}
