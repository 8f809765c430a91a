package stages

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/rounds"
	"assay/internal/study"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// contest is shared by the two ways to compare: who judges, by what, under which traits, and the pairs.
type contest struct {
	panel
	traits   []judge.Trait
	schedule *pairs.Schedule
	rounds   *rounds.Rounds // in which pairs are bought; nil: all are known from the start
}

// variants lists the requests of one showing: every prompt, trait and vote.
func (c *contest) variants(at assay.Coordinates) []assay.Coordinates {
	var out []assay.Coordinates
	votes := c.ballots(at)
	for _, name := range c.rubric.Names() {
		for _, t := range c.traits {
			for _, vote := range votes {
				at.Prompt, at.Trait, at.Vote = name, t.ID, vote
				out = append(out, at)
			}
		}
	}
	return out
}

// ballots returns the votes that a judge gives on one showing: those of the plan, and those that were asked for since.
func (c *contest) ballots(at assay.Coordinates) []int {
	var out []int
	for vote := range c.votes {
		out = append(out, vote)
	}
	for _, r := range c.orders.Of(c.stage.Name, at.Judge, at.Item) {
		if again.Redoes(r, at.Branch, at.Draw) {
			out = append(out, c.votes-1+r.Nth)
		}
	}
	return out
}

// further gives every showing among these requests one more vote.
func (c *contest) further(all []assay.Coordinates, r store.Redo) []assay.Coordinates {
	var out []assay.Coordinates
	for _, at := range all {
		if at.Vote == 0 && again.Redoes(r, at.Branch, at.Draw) { // once for each showing
			at.Vote = c.votes - 1 + r.Nth
			out = append(out, at)
		}
	}
	return out
}

// trait returns the trait that a request is about.
func (c *contest) trait(at assay.Coordinates) (judge.Trait, error) {
	i := slices.IndexFunc(c.traits, func(t judge.Trait) bool { return t.ID == at.Trait })
	if i < 0 {
		return judge.Trait{}, fmt.Errorf("stage %s has no trait %q", c.stage.Name, at.Trait)
	}
	return c.traits[i], nil
}

// LaneContest is a compare stage whose lanes meet on the same items.
type LaneContest struct {
	contest
	source      *Asking
	contestants []*study.Lane
	turn        int     // whose answers meet
	stride      int64   // slots of one item
	first       []int64 // of a stage that buys all its pairs in rounds: the first slot of each item; below 0: it has none
	open        []bool  // slots that are asked about, where all pairs are known from the start
	field       plan.Field
}

// Items names the input.
func (c *LaneContest) Items() string { return c.source.Items() }

// Turns returns the turn whose answers meet.
func (c *LaneContest) Turns() int { return c.turn }

// Conditional reports whether the stage, or the one that it compares, has conditions on more than the item.
func (c *LaneContest) Conditional() bool {
	return c.conditional() || c.source.Conditional()
}

// Conditions of a comparison are those of both answers, and its own, which have to hold for both.
func (c *LaneContest) Conditions(it assay.Item, at assay.Coordinates) ([]Condition, error) {
	a, b, err := c.Sides(at)
	if err != nil {
		return nil, err
	}
	var out []Condition
	own := Condition{Stage: c.stage, Item: &it, All: true}
	for _, side := range []assay.Coordinates{a, b} {
		more, err := c.source.Conditions(it, side)
		if err != nil {
			return nil, err
		}
		before, err := c.source.Needs(it, side)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
		own.Conversations = append(own.Conversations, latestFirst(append(before, side)))
	}
	if conditional(c.stage) {
		out = append(out, own)
	}
	return out, nil
}

// At lists a judge's requests about the pairs on an item.
func (c *LaneContest) At(it assay.Item, ord int64, lane string, turn int) []assay.Coordinates {
	if turn != c.turn || !Keeps(c.stage, it) || !c.source.wants(it) {
		return nil
	}
	var out []assay.Coordinates
	for i, w := range c.ways(it) {
		for p := range c.meetings(ord, i) {
			first, second := c.contestants[p.First].Name, c.contestants[p.Second].Name
			if !c.source.asked(turn, it.ID, w, first, second) {
				continue
			}
			at := c.pair(it.ID, first, second, w)
			at.Judge = lane
			out = append(out, c.variants(at)...)
		}
	}
	return out
}

// ways lists the ways through an item whose answers meet.
func (c *LaneContest) ways(it assay.Item) []plan.Way {
	return c.source.conversation.AllWays(c.turn-1, it)
}

// pair returns the coordinates of two answers on one way through an item.
func (c *LaneContest) pair(item, first, second string, w plan.Way) assay.Coordinates {
	return assay.Coordinates{Stage: c.stage.Name, Source: c.source.conversation.Stage.Name, Item: item, Lane: first, Against: second,
		Template: w.Template, Turn: c.turn, Branch: w.Branch(), Draw: w.Draw}
}

// meetings returns those on the i-th way through an item.
func (c *LaneContest) meetings(ord int64, i int) iter.Seq[pairs.Pair] {
	slot := ord*c.stride + int64(i)
	switch {
	case c.rounds == nil:
		return c.schedule.On(slot)
	case c.first == nil:
		return c.rounds.On(slot)
	case c.first[ord] < 0:
		return func(func(pairs.Pair) bool) {}
	}
	return c.rounds.On(c.first[ord] + int64(i))
}

// Sides returns the two answers that a request shows, A first.
func (c *LaneContest) Sides(at assay.Coordinates) (a, b assay.Coordinates, err error) {
	for _, name := range []string{at.Lane, at.Against} {
		if !slices.ContainsFunc(c.contestants, func(l *study.Lane) bool { return l.Name == name }) {
			return a, b, fmt.Errorf("stage %s does not compare lane %q", c.stage.Name, name)
		}
	}
	return at.Subject(), at.Opponent(), nil
}

// Needs lists both answers, and those before them.
func (c *LaneContest) Needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error) {
	a, b, err := c.Sides(at)
	if err != nil {
		return nil, err
	}
	before, err := c.source.Needs(it, a)
	return append(before, a, b), err
}

// Prompt shows two answers to a judge.
func (c *LaneContest) Prompt(it assay.Item, at assay.Coordinates, answered Answers) (assay.Prompt, bool, error) {
	if _, done, err := c.Known(at, answered); done || err != nil {
		return assay.Prompt{}, false, err
	}
	shown, ok, err := c.show(it, at, answered)
	if err != nil || !ok {
		return assay.Prompt{}, false, err
	}
	p, err := c.rubric.Render(at.Prompt, shown.Values())
	if err == nil {
		err = c.reveal(&p, it, shown.Media)
	}
	return p, err == nil, err
}

// show puts the two answers side by side; false where one is missing.
func (c *LaneContest) show(it assay.Item, at assay.Coordinates, answered Answers) (judge.Showing, bool, error) {
	a, b, err := c.Sides(at)
	if err != nil {
		return judge.Showing{}, false, err
	}
	textA, okA := answered[a.Key()]
	textB, okB := answered[b.Key()]
	if !okA || !okB {
		return judge.Showing{}, false, nil
	}
	trait, err := c.trait(at)
	if err != nil {
		return judge.Showing{}, false, err
	}
	asked, ok, err := c.source.Prompt(it, a, answered)
	if err != nil || !ok {
		return judge.Showing{}, false, err
	}
	message := asked.Messages[len(asked.Messages)-1].Text
	return judge.Showing{Item: &it, A: textA.Text, B: textB.Text, Message: message, Trait: trait,
			Ties: c.rubric.Ties(), Bare: c.rubric.Bare, Media: plan.MediaOf(asked.Messages)},
		true, nil
}

// Known returns a tie of identical answers, or the verdict of the rule for refused and cut answers.
func (c *LaneContest) Known(at assay.Coordinates, answered Answers) (assay.Verdict, bool, error) {
	a, b, err := c.Sides(at)
	if err != nil {
		return assay.Verdict{}, false, err
	}
	first, okA := answered[a.Key()]
	second, okB := answered[b.Key()]
	if !okA || !okB {
		return assay.Verdict{}, false, nil
	}
	if v, done := judge.BeforePair(counting(c.stage), first.outcome(), second.outcome()); done {
		return v, true, nil
	}
	tie, same := pairs.Identical(first.Text, second.Text)
	return tie, same && c.stage.Identical != study.IdenticalAsk, nil
}

// Frame returns a verdict on two answers without its content.
func (c *LaneContest) Frame(at assay.Coordinates) (store.Verdict, error) {
	a, b, err := c.Sides(at)
	return store.Verdict{At: again.FirstTry(at), Subject: a.Key(), Against: b.Key(), Direction: string(pairs.Direction(a.Lane, b.Lane))},
		err
}

// Line appends two answers for a program.
func (c *LaneContest) Line(dst []byte, it assay.Item, at assay.Coordinates, answered Answers) ([]byte, bool, error) {
	shown, ok, err := c.show(it, at, answered)
	if err != nil || !ok {
		return dst, false, err
	}
	dst, err = shown.Line(dst, at.Key())
	return dst, err == nil, err
}

// After lists the groups of the answers that meet.
func (c *LaneContest) After(_ string, turn int) []store.GroupKey {
	if turn != c.turn {
		return nil
	}
	var out []store.GroupKey
	for _, l := range c.contestants {
		out = append(out, store.GroupKey{Stage: c.source.conversation.Stage.Name, Lane: l.Name, Turn: turn})
	}
	return out
}

func (s *Stages) buildCompare(ctx context.Context, st *study.Stage) (Stage, error) {
	p, err := s.panel(st)
	if err != nil {
		return nil, err
	}
	c := contest{panel: p, traits: s.Input.TraitsOf(st)}
	source, ok := s.Asking(st.Compare)
	if !ok {
		return s.buildItems(ctx, c)
	}
	l := &LaneContest{contest: c, source: source, contestants: source.Lanes(), turn: st.Of.One(source.span())}
	if len(st.Among.List) > 0 {
		l.contestants = picked(l.contestants, st.Among.List)
	}
	if st.Pairs != nil && st.Pairs.Adaptive != nil {
		return l, s.roundsOfLanes(ctx, l)
	}
	return l, s.fixedLanes(ctx, l)
}

// fixedLanes makes a compare stage one whose pairs are all known from the start.
func (s *Stages) fixedLanes(ctx context.Context, l *LaneContest) error {
	n, place := int64(0), map[string]int64{}
	var ways []int // of each item
	st, source := l.stage, l.source
	for it, err := range s.Input.Rows.Items(ctx, source.Items()) {
		if err != nil {
			return err
		}
		ways = append(ways, 0)
		if Keeps(st, it) && source.wants(it) {
			ways[n] = len(l.ways(it))
		}
		if st.Pairs != nil && st.Pairs.File.File != "" {
			place[it.ID] = n
		}
		n++
		l.stride = max(l.stride, int64(len(l.ways(it))))
	}
	l.open = make([]bool, n*l.stride)
	for i, w := range ways {
		for way := range w {
			l.open[int64(i)*l.stride+int64(way)] = true
		}
	}
	l.field = plan.Field{Lanes: l.contestants, Slots: n * l.stride, Stride: l.stride, Place: place, Drawn: s.Input.Drawn[st.Name]}
	if l.field.Drawn != nil {
		slots, err := s.slots(ctx, l)
		if err != nil {
			return err
		}
		l.field.Slot = slots.of
	}
	var err error
	if l.schedule, err = pairs.New(plan.Design(st, l.field)); err != nil {
		return err
	}
	if !l.rubric.NeedsNoModel() {
		l.rounds, err = rounds.Beside(l.schedule, l.open, NamesOf(l.contestants), seedOf(st))
	}
	return err
}

func seedOf(st *study.Stage) int64 {
	if st.Pairs == nil {
		return 0
	}
	return st.Pairs.Seed
}

// roundsOfLanes makes a compare stage one that buys its pairs in rounds. Items that its conditions leave out are no slots of it.
func (s *Stages) roundsOfLanes(ctx context.Context, l *LaneContest) error {
	a := l.stage.Pairs.Adaptive
	if between := a.Goal.Between.List; len(between) > 0 {
		l.contestants = slices.DeleteFunc(slices.Clone(l.contestants), func(lane *study.Lane) bool {
			return !slices.Contains(between, lane.Name)
		})
	}
	slots := int64(0)
	for it, err := range s.Input.Rows.Items(ctx, l.source.Items()) {
		if err != nil {
			return err
		}
		if !Keeps(l.stage, it) || !l.source.wants(it) {
			l.first = append(l.first, -1)
			continue
		}
		l.first = append(l.first, slots)
		slots += int64(len(l.ways(it)))
	}
	if len(l.contestants) < 2 || slots == 0 {
		return l.empty()
	}
	var err error
	l.rounds, err = rounds.New(a, NamesOf(l.contestants), slots)
	return err
}

// empty leaves a stage with nothing to compare.
func (c *contest) empty() (err error) {
	c.schedule, err = pairs.New(pairs.Design{})
	return err
}

// Extra lists a judge's further votes on the pairs on an item.
func (c *LaneContest) Extra(it assay.Item, ord int64, r store.Redo, turn int) []assay.Coordinates {
	return c.further(c.At(it, ord, r.Lane, turn), r)
}
