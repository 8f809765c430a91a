package script

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// itemContest is a compare stage whose items stand against each other.
type itemContest struct {
	contest
	input  string
	field  plan.Field
	all    []assay.Item
	byID   map[string]int64
	starts map[int64][]pairs.Pair // showings by the item that stands first
	in     []int64                // of a stage that buys its pairs in rounds: the items that take part
	place  map[int64]int64        // and where each of them stands there
}

// maxContestItems bounds the items that are held to be compared with each other.
const maxContestItems = 50_000

func (s *Script) buildItems(ctx context.Context, c contest) (stage, error) {
	out := &itemContest{contest: c, input: c.stage.Compare, byID: map[string]int64{}, starts: map[int64][]pairs.Pair{}}
	var field plan.Field
	for it, err := range s.input.Rows.Items(ctx, out.input) {
		if err != nil {
			return nil, err
		}
		if len(out.all) == maxContestItems {
			return nil, fmt.Errorf("stage %s compares more than %s items with each other: use a slice of the input", c.stage.Name,
				assay.Thousands(maxContestItems))
		}
		place := int64(len(out.all))
		out.byID[it.ID] = place
		field.Grouped(c.stage, it, place) // one without a value meets no other, and was reported before
		out.all = append(out.all, it)
	}
	if c.stage.Pairs != nil && c.stage.Pairs.Adaptive != nil {
		return out, s.roundsOfItems(out)
	}
	field.Slots, field.Place, field.Drawn = int64(len(out.all)), out.byID, s.input.Drawn[c.stage.Name]
	out.field = field
	var err error
	if out.schedule, err = pairs.New(plan.Design(c.stage, field)); err != nil {
		return nil, err
	}
	for p := range out.schedule.All() {
		out.starts[p.First] = append(out.starts[p.First], p)
	}
	return out, nil
}

// roundsOfItems makes a compare stage one that buys its pairs in rounds. Items that its conditions leave out take no part.
func (s *Script) roundsOfItems(c *itemContest) error {
	var ids []string
	c.place = map[int64]int64{}
	for i, it := range c.all {
		if keeps(c.stage, it) {
			c.place[int64(i)] = int64(len(c.in))
			c.in = append(c.in, int64(i))
			ids = append(ids, it.ID)
		}
	}
	if len(ids) < 2 {
		return s.without(&c.contest)
	}
	var err error
	c.rounds, err = rounds.New(c.stage.Pairs.Adaptive, ids, 1)
	return err
}

// meetings returns those in which an item is shown first.
func (c *itemContest) meetings(ord int64) []pairs.Pair {
	if c.rounds == nil {
		return c.starts[ord]
	}
	at, in := c.place[ord]
	if !in {
		return nil
	}
	all := slices.Clone(c.rounds.From(at))
	for i := range all {
		all[i].First, all[i].Second = c.in[all[i].First], c.in[all[i].Second]
	}
	return all
}

func (c *itemContest) items() string     { return c.input }
func (c *itemContest) turns() int        { return 1 }
func (c *itemContest) conditional() bool { return conditional(c.stage) || len(c.tries()) > 1 }

func (c *itemContest) after(string, int) []store.GroupKey { return nil }

// trials of a comparison of items are its stage's gates alone: nothing was said about them before.
func (c *itemContest) trials(it assay.Item, _ assay.Coordinates) ([]trial, error) {
	return []trial{{stage: c.stage, item: &it}}, nil
}

func (c *itemContest) at(it assay.Item, ord int64, lane string, _ int) []assay.Coordinates {
	var out []assay.Coordinates
	for _, p := range c.meetings(ord) {
		if !keeps(c.stage, it) || !keeps(c.stage, c.all[p.Second]) {
			continue
		}
		at := assay.Coordinates{Stage: c.stage.Name, Item: it.ID, Against: c.all[p.Second].ID, Turn: 1, Draw: 1, Judge: lane}
		out = append(out, c.variants(at, "")...)
	}
	return out
}

func (c *itemContest) needs(assay.Item, assay.Coordinates) ([]assay.Coordinates, error) {
	return nil, nil
}

func (c *itemContest) prompt(it assay.Item, at assay.Coordinates, _ answers) (assay.Prompt, bool, error) {
	shown, err := c.show(it, at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	p, err := c.rubric.render(at.Prompt, shown.Values(at.Key()))
	return p, err == nil, err
}

// show puts the two items side by side.
func (c *itemContest) show(it assay.Item, at assay.Coordinates) (judge.Showing, error) {
	second, err := c.against(at)
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

// known is never so: items are what the study's author wrote.
func (c *itemContest) known(assay.Coordinates, answers) (assay.Verdict, bool, error) {
	return assay.Verdict{}, false, nil
}

func (c *itemContest) frame(at assay.Coordinates) (store.Verdict, error) {
	return store.Verdict{
		At: firstTry(at), Subject: c.itemKey(at.Item), Against: c.itemKey(at.Against),
		Direction: string(pairs.Direction(at.Item, at.Against)),
	}, nil
}

// itemKey stands in a verdict for an item that was compared.
func (c *itemContest) itemKey(item string) assay.Key {
	return assay.Coordinates{Stage: c.input, Item: item}.Key()
}

func (c *itemContest) line(dst []byte, it assay.Item, at assay.Coordinates, _ answers) ([]byte, bool, error) {
	shown, err := c.show(it, at)
	if err != nil {
		return dst, false, err
	}
	dst, err = shown.Line(dst, at.Key())
	return dst, err == nil, err
}

// against returns the item that a request shows second.
func (c *itemContest) against(at assay.Coordinates) (assay.Item, error) {
	i, ok := c.byID[at.Against]
	if !ok {
		return assay.Item{}, fmt.Errorf("input %s has no item %q", c.input, at.Against)
	}
	return c.all[i], nil
}
