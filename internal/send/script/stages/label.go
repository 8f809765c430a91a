package stages

import (
	"fmt"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
	"assay/internal/study/prompt"
)

// Turned returns the same label on the same pair, shown the other way round.
func Turned(at assay.Coordinates) assay.Coordinates {
	if at.Lane != "" {
		at.Lane, at.Against = at.Against, at.Lane
	} else {
		at.Item, at.Against = at.Against, at.Item
	}
	return at
}

// SameTask returns the keys that a person's verdict on a task may have, either way round.
func SameTask(v store.Verdict) []assay.Key {
	keys := []assay.Key{v.At.Key()}
	if v.Against != (assay.Key{}) {
		keys = append(keys, Turned(v.At).Key())
	}
	return keys
}

// Tasks lists the answers of a turn about an item.
func (j *Judge) Tasks(it assay.Item, _ int64, turn int) []Task {
	var out []Task
	for _, subject := range j.subjects(it, turn) {
		out = append(out, Task{At: j.request(subject, j.rubric.ForPeople(), "", 0)})
	}
	return out
}

// Tasks lists the pairs of answers to an item.
func (c *LaneContest) Tasks(it assay.Item, ord int64, turn int) []Task {
	if turn != c.turn {
		return nil
	}
	var out []Task
	for i, w := range c.ways(it) {
		for pair := range c.meetings(ord, i) {
			if pair.Again {
				continue
			}
			first, second := ordered(c.contestants[pair.First].Name, c.contestants[pair.Second].Name)
			out = append(out, c.tasks(c.pair(it.ID, first, second, w), first+"\x00"+second)...)
		}
	}
	return out
}

// Tasks lists the pairs in which an item is shown first.
func (c *ItemContest) Tasks(it assay.Item, ord int64, _ int) []Task {
	var out []Task
	for _, pair := range c.meetings(ord) {
		if !pair.Again {
			first, second := ordered(it.ID, c.items[pair.Second].ID)
			out = append(out, c.tasks(assay.Coordinates{Stage: c.stage.Name, Item: first, Against: second, Turn: 1, Draw: 1}, "")...)
		}
	}
	return out
}

func ordered(a, b string) (first, second string) { return min(a, b), max(a, b) }

// tasks returns one pair under every trait.
func (c *contest) tasks(at assay.Coordinates, group string) []Task {
	var out []Task
	first, second := at.Pair()
	for _, trait := range c.traits {
		at.Prompt, at.Trait = c.rubric.ForPeople(), trait.ID
		out = append(out, Task{At: at, First: first, Second: second, Group: group})
	}
	return out
}

// Names lists the key of the judged answer, and those of every judge's request about it.
func (j *Judge) Names(at assay.Coordinates) []Name {
	subject := at.Subject()
	out := []Name{{Key: subject.Key()}, {Key: j.request(subject, "", byRule, 0).Key()}}
	for _, l := range j.chosen {
		for _, prompt := range j.rubric.Prompts {
			for vote := range j.votes {
				out = append(out, Name{Key: j.request(subject, prompt.Name, l.Name, vote).Key()})
			}
		}
	}
	return out
}

// Names lists the keys of every judge's requests about a pair, either way round.
func (c *contest) Names(at assay.Coordinates) []Name {
	var out []Name
	for _, turn := range []bool{false, true} {
		if turn {
			at = Turned(at)
		}
		for _, l := range c.chosen {
			at.Judge = l.Name
			for _, prompt := range c.rubric.Prompts {
				for vote := range c.votes {
					at.Prompt, at.Vote = prompt.Name, vote
					out = append(out, Name{at.Key(), turn})
				}
			}
		}
	}
	return out
}

// Sheet shows an answer with what led to it.
func (j *Judge) Sheet(it assay.Item, at assay.Coordinates, answered Answers) (LabelSheet, bool, error) {
	shown, ok, err := j.show(it, at.Subject(), answered)
	out := LabelSheet{Answer: &shown}
	if err != nil || !ok {
		return out, false, err
	}
	if j.rubric.NeedsNoModel() {
		if out.Told.Expect, err = j.Expected(it); j.calls != nil {
			out.Told.Expect = assay.CallsText([]assay.ToolCall{{Name: j.calls.Name, Arguments: []byte(out.Told.Expect)}})
		}
		return out, err == nil, err
	}
	out.Told, err = j.rubric.Told(it, func(it *assay.Item) prompt.Values {
		return judge.Subject{
			Item: it, Answer: "(the answer to judge)", First: "(the first answer)", Asked: "(what was asked)", Message: "(what was said)",
			Conversation: "(the conversation)", Branch: shown.Branch, Bare: true,
		}.Values()
	})
	return out, err == nil, err
}

// Sheet shows two answers side by side.
func (c *LaneContest) Sheet(it assay.Item, at assay.Coordinates, answered Answers) (LabelSheet, bool, error) {
	shown, ok, err := c.show(it, at, answered)
	if err != nil || !ok {
		return LabelSheet{}, false, err
	}
	if _, same := pairs.Identical(shown.A, shown.B); same {
		return LabelSheet{Same: true}, false, nil
	}
	shown.Bare = false
	out := LabelSheet{Pair: &shown}
	out.Told, err = c.rubric.Told(it, aroundPair(shown))
	return out, err == nil, err
}

// Sheet shows two items side by side.
func (c *ItemContest) Sheet(it assay.Item, at assay.Coordinates, _ Answers) (LabelSheet, bool, error) {
	shown, err := c.show(it, at)
	if err != nil {
		return LabelSheet{}, false, err
	}
	out := LabelSheet{Pair: &shown}
	out.Told, err = c.rubric.Told(assay.Item{}, aroundPair(shown))
	return out, err == nil, err
}

func aroundPair(shown judge.Showing) func(*assay.Item) prompt.Values {
	return func(it *assay.Item) prompt.Values {
		return judge.Showing{Item: it, A: "(answer A)", B: "(answer B)", Message: "(what was asked)", Trait: shown.Trait, Ties: shown.Ties,
			Bare: true}.Values()
	}
}

// Place returns the coordinates of a verdict on two answers.
func (c *LaneContest) Place(f Foreign) (assay.Coordinates, error) {
	at := c.pair(f.Item, f.First, f.Second, plan.Way{})
	at.Template, at.Turn, at.Branch, at.Draw = f.Template, f.Turn, f.Branch, f.Draw
	at.Judge, at.Prompt, at.Trait, at.Vote = f.Judge, f.Prompt, f.Trait, f.Vote
	if _, _, err := c.Sides(at); err != nil {
		return at, err
	}
	_, err := c.trait(at)
	return at, err
}

// Place returns the coordinates of a verdict on two items.
func (c *ItemContest) Place(f Foreign) (assay.Coordinates, error) {
	at := assay.Coordinates{
		Stage: c.stage.Name, Item: f.First, Against: f.Second, Turn: 1, Draw: 1, Judge: f.Judge, Prompt: f.Prompt, Trait: f.Trait,
		Vote: f.Vote,
	}
	if _, ok := c.byID[f.First]; !ok {
		return at, fmt.Errorf("input %s has no item %q", c.input, f.First)
	}
	if _, err := c.secondItem(at); err != nil {
		return at, err
	}
	_, err := c.trait(at)
	return at, err
}

var _ = []Judging{(*Judge)(nil), (*LaneContest)(nil), (*ItemContest)(nil)}
