package waves

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"assay"
	"assay/judge"
	"assay/pairs"
	"assay/plan"
	"assay/study"
)

// contest is what the two ways to compare share: who judges, by what, under which traits.
type contest struct {
	stage    *study.Stage
	rubric   *rubric
	chosen   []*study.Lane
	traits   []judge.Trait
	votes    int
	redone   *redone
	schedule *pairs.Schedule
}

func (c *contest) lanes() []*study.Lane { return c.chosen }

// form is the schema of the reply that the rubric reads.
func (c *contest) form() json.RawMessage { return c.rubric.Answer() }

// variants lists the requests of one showing: every prompt, trait and vote.
func (c *contest) variants(at assay.Coordinates, template string) []assay.Coordinates {
	var out []assay.Coordinates
	draw, votes := at.Draw, c.ballots(at)
	for _, p := range c.rubric.Prompts {
		for _, t := range c.traits {
			for _, vote := range votes {
				at.Template, at.Draw = joined(template, p.Name, t.ID), draw+vote*drawStride
				out = append(out, at)
			}
		}
	}
	return out
}

// variant reads the template of the answers, the prompt and the trait out of a request's coordinates.
func (c *contest) variant(at assay.Coordinates) (template, prompt string, trait judge.Trait, err error) {
	parts, err := split(at.Template, 3)
	if err != nil {
		return "", "", trait, err
	}
	i := slices.IndexFunc(c.traits, func(t judge.Trait) bool { return t.ID == parts[2] })
	if i < 0 {
		return "", "", trait, fmt.Errorf("stage %s has no trait %q", c.stage.Name, parts[2])
	}
	return parts[0], parts[1], c.traits[i], nil
}

// laneContest is the recipe of a compare stage whose lanes meet on the same items.
type laneContest struct {
	contest
	source      *asking
	contestants []*study.Lane
	turn        int   // whose answers meet
	stride      int64 // slots of one item
	byPair      map[string][2]string
}

func (c *laneContest) items() string { return c.source.items() }
func (c *laneContest) turns() int    { return c.turn }

func (c *laneContest) at(it assay.Item, ord int64, lane string, turn int) []assay.Coordinates {
	if turn != c.turn {
		return nil
	}
	var out []assay.Coordinates
	for i, w := range c.source.talk.AllWays(turn-1, it) {
		for p := range c.schedule.On(ord*c.stride + int64(i)) {
			first, second := c.contestants[p.First].Name, c.contestants[p.Second].Name
			at := assay.Coordinates{
				Stage: c.stage.Name, Item: it.ID, Turn: turn, Branch: w.Branch(), Draw: w.Draw, Pair: pairs.ID(first, second), Judge: lane,
			}
			out = append(out, c.variants(at, w.Template)...)
		}
	}
	return out
}

// sides are the two answers that a request shows, A first.
func (c *laneContest) sides(at assay.Coordinates) (a, b assay.Coordinates, err error) {
	names, ok := c.byPair[at.Pair]
	if !ok {
		return a, b, fmt.Errorf("stage %s has no pair %q", c.stage.Name, at.Pair)
	}
	template, _, _, err := c.variant(at)
	if err != nil {
		return a, b, err
	}
	a = assay.Coordinates{
		Stage: c.source.talk.Stage.Name, Item: at.Item, Template: template, Turn: at.Turn, Branch: at.Branch, Draw: (at.Draw-1)%drawStride + 1,
	}
	b = a
	a.Lane, b.Lane = names[0], names[1]
	return a, b, nil
}

func (c *laneContest) needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	a, b, err := c.sides(at)
	if err != nil {
		return nil, err
	}
	before, err := c.source.needs(it, a)
	return append(before, a, b), err
}

func (c *laneContest) prompt(it assay.Item, at assay.Coordinates, answered answers) (assay.Prompt, bool, error) {
	a, b, err := c.sides(at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	textA, okA := answered[a.Key()]
	textB, okB := answered[b.Key()]
	if !okA || !okB {
		return assay.Prompt{}, false, nil
	}
	if _, same := pairs.Identical(textA, textB); same && c.stage.Identical != "ask" {
		return assay.Prompt{}, false, nil // a tie without asking
	}
	_, name, trait, err := c.variant(at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	talked, ok, err := c.source.prompt(it, a, answered)
	if err != nil || !ok {
		return assay.Prompt{}, false, err
	}
	shown := judge.Showing{Item: &it, A: textA, B: textB, Said: talked.Messages[len(talked.Messages)-1].Text, Trait: trait, Ties: c.rubric.Ties()}
	p, err := c.rubric.render(name, shown.Values(at.Key()))
	return p, err == nil, err
}

func (c *laneContest) after(_ string, turn int) []groupKey {
	if turn != c.turn {
		return nil
	}
	var out []groupKey
	for _, l := range c.contestants {
		out = append(out, groupKey{c.source.talk.Stage.Name, l.Name, turn})
	}
	return out
}

// cookCompare makes the recipe of a compare stage.
func (s *script) cookCompare(ctx context.Context, st *study.Stage) (recipe, error) {
	described, err := s.desk.Rubric(st)
	if err != nil {
		return nil, err
	}
	r, err := newRubric(described)
	if err != nil {
		return nil, err
	}
	c := contest{stage: st, rubric: r, chosen: s.desk.Study.LanesNamed(st.Judges.List), traits: s.desk.TraitsOf(st), votes: max(1, st.Repeats.N), redone: &s.redone}
	source, ok := s.recipes[st.Compare].(*asking)
	if !ok {
		return s.cookItems(ctx, c)
	}
	l := &laneContest{contest: c, source: source, contestants: source.lanes(), turn: turnOf(st.Of, source.turns()), byPair: map[string][2]string{}}
	if len(st.Among.List) > 0 {
		l.contestants = slices.DeleteFunc(slices.Clone(l.contestants), func(lane *study.Lane) bool {
			return !slices.ContainsFunc(st.Among.List, func(n string) bool { return study.Picks(n, lane) })
		})
	}
	for _, a := range l.contestants {
		for _, b := range l.contestants {
			l.byPair[pairs.ID(a.Name, b.Name)] = [2]string{a.Name, b.Name}
		}
	}
	n := int64(0)
	for it, err := range s.desk.Rows.Items(ctx, source.items()) {
		if err != nil {
			return nil, err
		}
		n++
		l.stride = max(l.stride, int64(len(source.talk.AllWays(l.turn-1, it))))
	}
	l.schedule, err = pairs.New(plan.Design(st, int64(len(l.contestants)), n*l.stride))
	return l, err
}

// turnOf is the turn whose answers a compare stage is about.
func turnOf(of study.Of, turns int) int {
	if of == "first" {
		return 1
	}
	if n, err := strconv.Atoi(string(of)); err == nil && n >= 1 && n <= turns {
		return n
	}
	return turns
}

// itemContest is the recipe of a compare stage whose items stand against each other.
type itemContest struct {
	contest
	input  string
	all    []assay.Item
	byID   map[string]int
	starts map[int64][]pairs.Pair // showings by the item that stands first
}

// maxContestItems bounds the items that are held to be compared with each other.
const maxContestItems = 50_000

func (s *script) cookItems(ctx context.Context, c contest) (recipe, error) {
	out := &itemContest{contest: c, input: c.stage.Compare, byID: map[string]int{}, starts: map[int64][]pairs.Pair{}}
	for it, err := range s.desk.Rows.Items(ctx, out.input) {
		if err != nil {
			return nil, err
		}
		if len(out.all) == maxContestItems {
			return nil, fmt.Errorf("stage %s compares more than %d items with each other", c.stage.Name, maxContestItems)
		}
		out.byID[it.ID] = len(out.all)
		out.all = append(out.all, it)
	}
	var err error
	if out.schedule, err = pairs.New(plan.Design(c.stage, 0, int64(len(out.all)))); err != nil {
		return nil, err
	}
	for p := range out.schedule.All() {
		out.starts[p.First] = append(out.starts[p.First], p)
	}
	return out, nil
}

func (c *itemContest) items() string                { return c.input }
func (c *itemContest) turns() int                   { return 1 }
func (c *itemContest) after(string, int) []groupKey { return nil }

func (c *itemContest) at(it assay.Item, ord int64, lane string, _ int) []assay.Coordinates {
	var out []assay.Coordinates
	for _, p := range c.starts[ord] {
		second := c.all[p.Second].ID
		at := assay.Coordinates{
			Stage: c.stage.Name, Item: it.ID, Turn: 1, Draw: 1, Branch: joined(second), Pair: pairs.ID(it.ID, second), Judge: lane,
		}
		out = append(out, c.variants(at, "")...)
	}
	return out
}

func (c *itemContest) needs(assay.Item, assay.Coordinates) ([]assay.Coordinates, error) {
	return nil, nil
}

func (c *itemContest) prompt(it assay.Item, at assay.Coordinates, _ answers) (assay.Prompt, bool, error) {
	second, err := c.against(at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	_, name, trait, err := c.variant(at)
	if err != nil {
		return assay.Prompt{}, false, err
	}
	shown := judge.Showing{A: fmt.Sprint(it.Fields["text"]), B: fmt.Sprint(second.Fields["text"]), Trait: trait, Ties: c.rubric.Ties()}
	p, err := c.rubric.render(name, shown.Values(at.Key()))
	return p, err == nil, err
}

// against is the item that a request shows second.
func (c *itemContest) against(at assay.Coordinates) (assay.Item, error) {
	parts, err := split(at.Branch, 1)
	if err != nil {
		return assay.Item{}, err
	}
	i, ok := c.byID[parts[0]]
	if !ok {
		return assay.Item{}, fmt.Errorf("input %s has no item %q", c.input, parts[0])
	}
	return c.all[i], nil
}
