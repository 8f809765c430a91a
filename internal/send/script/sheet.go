package script

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/judge"
	"assay/internal/study/pairs"
	"assay/internal/study/prompt"
)

// Sheet is what a person is shown. No name of a lane or model is on it, unless an answer gives itself away.
type Sheet struct {
	Answer *judge.Subject // a single answer with what led to it; or
	Pair   *judge.Showing // two texts side by side
	Expect string         // what the input expects of an answer, where the other judges of the stage are told it too
	Told   string         // what the other judges are told around the texts that they read; empty where no model judges
}

// Show gathers what a task is about; false where an answer is missing, or both say the same to the letter.
func (p *People) Show(ctx context.Context, t analysis.Task) (Sheet, bool, error) {
	at := place(&t)
	it, err := p.Reader.Item(ctx, p.run.No, p.rec.items(), at.Item)
	if err != nil {
		return Sheet{}, false, fmt.Errorf("item %q of run %s: %w", at.Item, p.run.ID, err)
	}
	m := &maker{Script: p.Script}
	answered, err := m.answersFor(ctx, p.rec, []wanted{{it, at}})
	if err != nil {
		return Sheet{}, false, err
	}
	var out Sheet
	ok := false
	switch rec := p.rec.(type) {
	case *judging:
		out, ok, err = rec.sheet(it, at, answered)
	case *laneContest:
		out, ok, err = rec.sheet(it, at, answered)
	case *itemContest:
		out, ok, err = rec.sheet(it, at)
	}
	return out, ok, err
}

func (c *itemContest) sheet(it assay.Item, at assay.Coordinates) (Sheet, bool, error) {
	shown, err := c.show(it, at)
	out := Sheet{Pair: &shown}
	if err == nil {
		out.Told, _, err = c.rubric.told(assay.Item{}, aroundPair(shown.Trait, shown.Ties))
	}
	return out, err == nil, err
}

func (j *judging) sheet(it assay.Item, at assay.Coordinates, answered answers) (Sheet, bool, error) {
	shown, ok, err := j.show(it, at.Subject(), answered)
	out := Sheet{Answer: &shown}
	if err != nil || !ok {
		return out, false, err
	}
	if len(j.rubric.Prompts) == 0 {
		out.Expect, err = j.expected(it)
		return out, err == nil, err
	}
	told, expect, err := j.rubric.told(it, func(it *assay.Item) prompt.Values {
		return judge.Subject{
			Item: it, Answer: "(the answer to judge)", First: "(the first answer)", Asked: "(what was asked)", Said: "(what was said)",
			Conversation: "(the conversation)", Branch: shown.Branch, Bare: true,
		}.Values(assay.Key{})
	})
	out.Told, out.Expect = told, expect
	return out, err == nil, err
}

func (c *laneContest) sheet(it assay.Item, at assay.Coordinates, answered answers) (Sheet, bool, error) {
	a, b, err := c.sides(at)
	if err != nil {
		return Sheet{}, false, err
	}
	textA, okA := answered[a.Key()]
	textB, okB := answered[b.Key()]
	if _, same := pairs.Identical(textA.text, textB.text); !okA || !okB || same {
		return Sheet{}, false, nil
	}
	trait, err := c.trait(at)
	if err != nil {
		return Sheet{}, false, err
	}
	talked, ok, err := c.source.prompt(it, a, answered)
	if err != nil || !ok {
		return Sheet{}, false, err
	}
	said := talked.Messages[len(talked.Messages)-1].Text
	out := Sheet{Pair: &judge.Showing{Item: &it, A: textA.text, B: textB.text, Said: said, Trait: trait, Ties: c.rubric.Ties()}}
	out.Told, out.Expect, err = c.rubric.told(it, aroundPair(trait, c.rubric.Ties()))
	return out, err == nil, err
}

func aroundPair(trait judge.Trait, ties bool) func(*assay.Item) prompt.Values {
	return func(it *assay.Item) prompt.Values {
		return judge.Showing{Item: it, A: "(answer A)", B: "(answer B)", Said: "(what was asked)", Trait: trait, Ties: ties,
			Bare: true}.Values(assay.Key{})
	}
}

// told returns what a judge is told around the texts that it reads, and what the item expects, where that is part of it.
func (r *rubric) told(it assay.Item, around func(*assay.Item) prompt.Values) (told, expect string, err error) {
	if len(r.Prompts) == 0 {
		return "", "", nil
	}
	if told, err = r.words(around(&it)); err != nil || it.Expect == "" {
		return told, "", err
	}
	expect, it.Expect = it.Expect, ""
	without, err := r.words(around(&it))
	if without == told {
		expect = ""
	}
	return told, expect, err
}

// words returns the system text and the first prompt.
func (r *rubric) words(values prompt.Values) (string, error) {
	p, err := r.render(r.only(), values)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(p.System + "\n\n" + p.Messages[0].Text), nil
}
