package cli

import (
	"context"
	"fmt"
	"slices"

	"assay"
	"assay/analysis"
	"assay/judge"
	"assay/plan"
	"assay/store"
	"assay/study"
	"assay/waves"
	"assay/web"
)

// panels are the stages of a run that people may judge.
func (h *home) panels(ctx context.Context, run store.Run) ([]string, error) {
	st, err := h.planner.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range plan.InOrder(st) {
		if v := s.Verb(); v == study.VerbJudge || v == study.VerbCompare {
			out = append(out, s.Name)
		}
	}
	return out, nil
}

// panel opens a stage for people in the dashboard, by what `assay label` goes by.
func (h *home) panel(ctx context.Context, run store.Run, stage string) (web.Panel, error) {
	people, err := h.planner.People(ctx, run, stage)
	if err != nil {
		return nil, err
	}
	r := people.Rubric()
	return &viewPanel{people, r, choicesOf(r)}, nil
}

type viewPanel struct {
	*waves.People
	rubric  judge.Rubric
	choices []choice
}

func (p *viewPanel) Pairs() bool { return p.rubric.Kind == judge.Pairs }

// keyCannot says that a person cannot tell.
const keyCannot = "n"

func (p *viewPanel) Choices() []web.Choice {
	if p.choices == nil {
		return nil
	}
	var out []web.Choice
	for _, c := range p.choices {
		out = append(out, web.Choice{Key: c.key, Text: c.text})
	}
	return append(out, web.Choice{Key: keyCannot, Text: "cannot tell", Quiet: true})
}

func (p *viewPanel) Sheet(ctx context.Context, t analysis.Task) (web.Sheet, bool, error) {
	s, ok, err := p.Show(ctx, t)
	if err != nil || !ok {
		return web.Sheet{}, false, err
	}
	if a := s.Answer; a != nil {
		out := web.Sheet{Asked: a.Asked, Answer: a.Answer}
		if a.First != a.Answer {
			out.First, out.Said = a.First, a.Said
		}
		return out, true, nil
	}
	return web.Sheet{Asked: s.Pair.Said, A: s.Pair.A, B: s.Pair.B, Trait: s.Pair.Trait.Name, Description: s.Pair.Trait.Description}, true, nil
}

func (p *viewPanel) Say(ctx context.Context, t analysis.Task, person, key string) error {
	said := assay.Verdict{State: assay.VerdictAbstained, Why: "cannot tell"}
	if key != keyCannot {
		i := slices.IndexFunc(p.choices, func(c choice) bool { return c.key == key })
		if i < 0 {
			return fmt.Errorf("there is no choice %q", key)
		}
		said = p.rubric.Take(p.choices[i].said)
	}
	v, err := p.Verdict(t, person, said)
	if err != nil {
		return err
	}
	return p.Label(ctx, v)
}

func (p *viewPanel) Withdraw(ctx context.Context, t analysis.Task, person string) error {
	v, err := p.Verdict(t, person, assay.Verdict{State: assay.VerdictMissing})
	if err == nil {
		_, err = p.People.Withdraw(ctx, v)
	}
	return err
}

// groups names the two lanes that a verdict compares as tasks name them, and whether the second was shown first.
func (h *home) groups(ctx context.Context, run store.Run, stage string) (func(*store.Verdict) (string, bool), error) {
	reading, err := h.planner.Readings(ctx, run, stage)
	if err != nil {
		return nil, err
	}
	return func(v *store.Verdict) (string, bool) {
		r, err := reading(v.At)
		if err != nil || r.Second == "" || r.Items {
			return "", false
		}
		return min(r.First, r.Second) + "\x00" + max(r.First, r.Second), r.First > r.Second
	}, nil
}
