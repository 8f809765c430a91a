package stages

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/rounds"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// ItemContest is a compare stage that compares items with each other.
type ItemContest struct {
	contest
	input     string
	field     plan.Field
	items     []assay.Item
	byID      map[string]int64
	starts    map[int64][]pairs.Pair // showings by the item that is shown first
	entrants  []int64                // of a stage that buys its pairs in rounds: the items that take part
	entrantOf map[int64]int64        // and the place of each among them
}

// maxContestItems bounds the items that are held to be compared with each other.
const maxContestItems = 50_000

func (s *Stages) buildItems(ctx context.Context, c contest) (Stage, error) {
	out := &ItemContest{contest: c, input: c.stage.Compare, byID: map[string]int64{}, starts: map[int64][]pairs.Pair{}}
	for it, err := range s.Input.Rows.Items(ctx, out.input) {
		if err != nil {
			return nil, err
		}
		if len(out.items) == maxContestItems {
			return nil, fmt.Errorf("stage %s compares more than %s items with each other: use a slice of the input", c.stage.Name,
				assay.Thousands(maxContestItems))
		}
		at := int64(len(out.items))
		out.byID[it.ID] = at
		out.field.Grouped(c.stage, it, at) // one without a value meets no other, and was reported before
		out.items = append(out.items, it)
	}
	if c.stage.Pairs != nil && c.stage.Pairs.Adaptive != nil {
		return out, out.buyInRounds()
	}
	out.field.Slots, out.field.Place, out.field.Drawn = int64(len(out.items)), out.byID, s.Input.Drawn[c.stage.Name]
	var err error
	if out.schedule, err = pairs.New(plan.Design(c.stage, out.field)); err != nil {
		return nil, err
	}
	for p := range out.schedule.All() {
		out.starts[p.First] = append(out.starts[p.First], p)
	}
	return out, nil
}

// buyInRounds makes the stage one that buys its pairs in rounds. Items that its conditions leave out take no part.
func (c *ItemContest) buyInRounds() error {
	var ids []string
	c.entrantOf = map[int64]int64{}
	for i, it := range c.items {
		if Keeps(c.stage, it) {
			c.entrantOf[int64(i)] = int64(len(c.entrants))
			c.entrants = append(c.entrants, int64(i))
			ids = append(ids, it.ID)
		}
	}
	if len(ids) < 2 {
		return c.empty()
	}
	var err error
	c.rounds, err = rounds.New(c.stage.Pairs.Adaptive, ids, 1)
	return err
}

// meetings returns the pairs in which an item is shown first.
func (c *ItemContest) meetings(ord int64) []pairs.Pair {
	if c.rounds == nil {
		return c.starts[ord]
	}
	at, in := c.entrantOf[ord]
	if !in {
		return nil
	}
	all := slices.Clone(c.rounds.From(at))
	for i := range all {
		all[i].First, all[i].Second = c.entrants[all[i].First], c.entrants[all[i].Second]
	}
	return all
}

// Items names the input.
func (c *ItemContest) Items() string { return c.input }

// Turns returns 1: items have no turns.
func (c *ItemContest) Turns() int { return 1 }

// Conditional reports whether the stage has conditions on more than the item.
func (c *ItemContest) Conditional() bool { return c.conditional() }

// After lists nothing: items are there from the start.
func (c *ItemContest) After(string, int) []store.GroupKey { return nil }

// Conditions of a comparison of items are its stage's gates alone: no verdict is about them before.
func (c *ItemContest) Conditions(it assay.Item, _ assay.Coordinates) ([]Condition, error) {
	return []Condition{{Stage: c.stage, Item: &it}}, nil
}

// At lists a judge's requests about the pairs in which an item is shown first.
func (c *ItemContest) At(it assay.Item, ord int64, lane string, _ int) []assay.Coordinates {
	var out []assay.Coordinates
	if !Keeps(c.stage, it) {
		return nil
	}
	for _, p := range c.meetings(ord) {
		if !Keeps(c.stage, c.items[p.Second]) {
			continue
		}
		at := assay.Coordinates{Stage: c.stage.Name, Item: it.ID, Against: c.items[p.Second].ID, Turn: 1, Draw: 1, Judge: lane}
		out = append(out, c.variants(at)...)
	}
	return out
}

// Needs lists nothing: no answer is shown.
func (c *ItemContest) Needs(assay.Item, assay.Coordinates) ([]assay.Coordinates, error) {
	return nil, nil
}

// Prompt shows two items to a judge.
func (c *ItemContest) Prompt(it assay.Item, at assay.Coordinates, _ Answers) (assay.Prompt, bool, error) {
	shown, err := c.show(it, at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	p, err := c.rubric.Render(at.Prompt, shown.Values())
	if err == nil {
		err = c.revealBoth(&p, it, at)
	}
	return p, err == nil, err
}

// show puts the two items side by side.
func (c *ItemContest) show(it assay.Item, at assay.Coordinates) (judge.Showing, error) {
	second, err := c.secondItem(at)
	if err != nil {
		return judge.Showing{}, err
	}
	a, err := plan.ComparedText(it)
	if err != nil {
		return judge.Showing{}, err
	}
	b, err := plan.ComparedText(second)
	if err != nil {
		return judge.Showing{}, err
	}
	trait, err := c.trait(at)
	return judge.Showing{A: a, B: b, Trait: trait, Ties: c.rubric.Ties(), Bare: c.rubric.Bare}, err
}

// Known returns false: items are written by the study's author.
func (c *ItemContest) Known(assay.Coordinates, Answers) (assay.Verdict, bool, error) {
	return assay.Verdict{}, false, nil
}

// Frame returns a verdict on two items without its content.
func (c *ItemContest) Frame(at assay.Coordinates) (store.Verdict, error) {
	return store.Verdict{
		At: again.FirstTry(at), Subject: c.itemKey(at.Item), Against: c.itemKey(at.Against),
		Direction: string(pairs.Direction(at.Item, at.Against)),
	}, nil
}

// itemKey returns the key that a verdict has for an item.
func (c *ItemContest) itemKey(item string) assay.Key {
	return assay.Coordinates{Stage: c.input, Item: item}.Key()
}

// Line appends two items for a program.
func (c *ItemContest) Line(dst []byte, it assay.Item, at assay.Coordinates, _ Answers) ([]byte, bool, error) {
	shown, err := c.show(it, at)
	if err != nil {
		return dst, false, err
	}
	dst, err = shown.Line(dst, at.Key())
	return dst, err == nil, err
}

// secondItem returns the item that a request shows second.
func (c *ItemContest) secondItem(at assay.Coordinates) (assay.Item, error) {
	i, ok := c.byID[at.Against]
	if !ok {
		return assay.Item{}, fmt.Errorf("input %s has no item %q", c.input, at.Against)
	}
	return c.items[i], nil
}

// Extra lists a judge's further votes on the pairs in which an item is shown first.
func (c *ItemContest) Extra(it assay.Item, ord int64, r store.Redo, turn int) []assay.Coordinates {
	return c.further(c.At(it, ord, r.Lane, turn), r)
}

// revealBoth puts what the stage shows of two items side by side before the text of a judge's prompt.
func (c *ItemContest) revealBoth(to *assay.Prompt, it assay.Item, at assay.Coordinates) error {
	second, err := c.secondItem(at)
	if err != nil || len(c.stage.Media) == 0 {
		return err
	}
	var parts []assay.Part
	for i, side := range []*assay.Item{&it, &second} {
		shown, err := c.in.Shown(c.stage.Media, side)
		if err != nil {
			return err
		}
		if !c.rubric.Bare { // else nothing is added to its words
			parts = append(parts, assay.Part{Text: "Text " + string(rune('A'+i)) + " shows:"})
		}
		parts = append(parts, shown...)
	}
	show(to, parts)
	return nil
}
