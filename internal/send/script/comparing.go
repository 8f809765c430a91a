package script

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/study"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// contest is what the two ways to compare share: who judges, by what, under which traits.
type contest struct {
	stage    *study.Stage
	rubric   *rubric
	chosen   []*study.Lane
	others   []*study.Lane // that are asked in their place
	traits   []judge.Trait
	votes    int
	redone   *redone
	schedule *pairs.Schedule
	rounds   *rounds.Rounds // in which pairs are bought; nil: all are known from the start
}

func (c *contest) lanes() []*study.Lane {
	if len(c.rubric.Prompts) == 0 {
		return nil
	}
	return slices.Concat(c.chosen, c.others)
}

func (c *contest) voices() []string { return voices(c.rubric, c.chosen) }

func (c *contest) by() (*rubric, judge.Counting) { return c.rubric, counting(c.stage) }

// variants lists the requests of one showing: every prompt, trait and vote.
func (c *contest) variants(at assay.Coordinates, template string) []assay.Coordinates {
	var out []assay.Coordinates
	votes := c.ballots(at)
	at.Template = template
	for _, name := range c.rubric.names() {
		for _, t := range c.traits {
			for _, vote := range votes {
				at.Prompt, at.Trait, at.Vote = name, t.ID, vote
				out = append(out, at)
			}
		}
	}
	return out
}

// tries lists the ways in which a judge may be asked the same.
func (c *contest) tries() []int { return triesOf(c.stage, c.rubric, c.redone) }

// trait returns the trait that a request is about.
func (c *contest) trait(at assay.Coordinates) (judge.Trait, error) {
	i := slices.IndexFunc(c.traits, func(t judge.Trait) bool { return t.ID == at.Trait })
	if i < 0 {
		return judge.Trait{}, fmt.Errorf("stage %s has no trait %q", c.stage.Name, at.Trait)
	}
	return c.traits[i], nil
}

// laneContest is a compare stage whose lanes meet on the same items.
type laneContest struct {
	contest
	source      *asking
	contestants []*study.Lane
	turn        int     // whose answers meet
	stride      int64   // slots of one item
	first       []int64 // of a stage that buys all its pairs in rounds: the first slot of each item; below 0: it has none
	open        []bool  // slots that are asked about, where all pairs are known from the start
	field       plan.Field
}

func (c *laneContest) items() string { return c.source.items() }
func (c *laneContest) turns() int    { return c.turn }

func (c *laneContest) conditional() bool {
	return conditional(c.stage) || len(c.tries()) > 1 || c.source.conditional()
}

// trials of a comparison are those of both answers, and its own, which have to hold for both.
func (c *laneContest) trials(it assay.Item, at assay.Coordinates) ([]trial, error) {
	a, b, err := c.sides(at)
	if err != nil {
		return nil, err
	}
	var out []trial
	own := trial{stage: c.stage, item: &it, all: true}
	for _, side := range []assay.Coordinates{a, b} {
		trials, err := c.source.trials(it, side)
		if err != nil {
			return nil, err
		}
		before, err := c.source.needs(it, side)
		if err != nil {
			return nil, err
		}
		out = append(out, trials...)
		own.talks = append(own.talks, latestFirst(append(before, side)))
	}
	if conditional(c.stage) {
		out = append(out, own)
	}
	return out, nil
}

func (c *laneContest) at(it assay.Item, ord int64, lane string, turn int) []assay.Coordinates {
	if turn != c.turn || !keeps(c.stage, it) || !c.source.wants(it) {
		return nil
	}
	var out []assay.Coordinates
	for i, w := range c.source.talk.AllWays(turn-1, it) {
		for p := range c.meetings(ord, i) {
			first, second := c.contestants[p.First].Name, c.contestants[p.Second].Name
			if !c.source.asked(turn, it.ID, w, first, second) {
				continue
			}
			at := assay.Coordinates{
				Stage: c.stage.Name, Source: c.source.talk.Stage.Name, Item: it.ID, Lane: first, Against: second,
				Turn: turn, Branch: w.Branch(), Draw: w.Draw, Judge: lane,
			}
			out = append(out, c.variants(at, w.Template)...)
		}
	}
	return out
}

// meetings returns those on the i-th way through an item.
func (c *laneContest) meetings(ord int64, i int) iter.Seq[pairs.Pair] {
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

// sides returns the two answers that a request shows, A first.
func (c *laneContest) sides(at assay.Coordinates) (a, b assay.Coordinates, err error) {
	for _, name := range []string{at.Lane, at.Against} {
		if !slices.ContainsFunc(c.contestants, func(l *study.Lane) bool { return l.Name == name }) {
			return a, b, fmt.Errorf("stage %s does not compare lane %q", c.stage.Name, name)
		}
	}
	return at.Subject(), at.Opponent(), nil
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
	if _, done, err := c.known(at, answered); done || err != nil {
		return assay.Prompt{}, false, err
	}
	shown, ok, err := c.show(it, at, answered)
	if err != nil || !ok {
		return assay.Prompt{}, false, err
	}
	p, err := c.rubric.render(at.Prompt, shown.Values(at.Key()))
	return p, err == nil, err
}

// show puts the two answers side by side; false where one is missing.
func (c *laneContest) show(it assay.Item, at assay.Coordinates, answered answers) (judge.Showing, bool, error) {
	a, b, err := c.sides(at)
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
	talked, ok, err := c.source.prompt(it, a, answered)
	if err != nil || !ok {
		return judge.Showing{}, false, err
	}
	said := talked.Messages[len(talked.Messages)-1].Text
	return judge.Showing{Item: &it, A: textA.text, B: textB.text, Said: said, Trait: trait, Ties: c.rubric.Ties(), Bare: c.rubric.Bare},
		true, nil
}

// known returns a tie of identical answers, or what the rule for refused and cut answers says.
func (c *laneContest) known(at assay.Coordinates, answered answers) (assay.Verdict, bool, error) {
	a, b, err := c.sides(at)
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
	tie, same := pairs.Identical(first.text, second.text)
	return tie, same && c.stage.Identical != study.IdenticalAsk, nil
}

func (c *laneContest) frame(at assay.Coordinates) (store.Verdict, error) {
	a, b, err := c.sides(at)
	return store.Verdict{At: firstTry(at), Subject: a.Key(), Against: b.Key(), Direction: string(pairs.Direction(a.Lane, b.Lane))}, err
}

func (c *laneContest) line(dst []byte, it assay.Item, at assay.Coordinates, answered answers) ([]byte, bool, error) {
	shown, ok, err := c.show(it, at, answered)
	if err != nil || !ok {
		return dst, false, err
	}
	dst, err = shown.Line(dst, at.Key())
	return dst, err == nil, err
}

func (c *laneContest) after(_ string, turn int) []store.GroupKey {
	if turn != c.turn {
		return nil
	}
	var out []store.GroupKey
	for _, l := range c.contestants {
		out = append(out, store.GroupKey{Stage: c.source.talk.Stage.Name, Lane: l.Name, Turn: turn})
	}
	return out
}

// buildCompare builds a compare stage.
func (s *Script) buildCompare(ctx context.Context, st *study.Stage) (stage, error) {
	r, err := s.rubric(st)
	if err != nil {
		return nil, err
	}
	c := contest{stage: st, rubric: r, chosen: s.input.Study.LanesNamed(st.Judges.List), others: s.standIns(st),
		traits: s.input.TraitsOf(st), votes: max(1, st.Repeats.N), redone: &s.redone}
	if silent(r) {
		c.votes = 1
	}
	source, ok := s.stages[st.Compare].(*asking)
	if !ok {
		return s.buildItems(ctx, c)
	}
	l := &laneContest{contest: c, source: source, contestants: source.lanes(), turn: st.Of.One(source.span())}
	if len(st.Among.List) > 0 {
		l.contestants = slices.DeleteFunc(slices.Clone(l.contestants), func(lane *study.Lane) bool {
			return !slices.ContainsFunc(st.Among.List, func(n string) bool { return study.Picks(n, lane) })
		})
	}
	if st.Pairs != nil && st.Pairs.Adaptive != nil {
		return l, s.roundsOfLanes(ctx, l)
	}
	return l, s.fixedLanes(ctx, l)
}

// fixedLanes makes a compare stage one whose pairs are all known from the start.
func (s *Script) fixedLanes(ctx context.Context, l *laneContest) error {
	n, place := int64(0), map[string]int64{}
	var ways []int // of each item
	st, source := l.stage, l.source
	for it, err := range s.input.Rows.Items(ctx, source.items()) {
		if err != nil {
			return err
		}
		ways = append(ways, 0)
		if keeps(st, it) && source.wants(it) {
			ways[n] = len(source.talk.AllWays(l.turn-1, it))
		}
		if st.Pairs != nil && st.Pairs.File.File != "" {
			place[it.ID] = n
		}
		n++
		l.stride = max(l.stride, int64(len(source.talk.AllWays(l.turn-1, it))))
	}
	l.open = make([]bool, n*l.stride)
	for i, w := range ways {
		for way := range w {
			l.open[int64(i)*l.stride+int64(way)] = true
		}
	}
	l.field = plan.Field{Lanes: l.contestants, Slots: n * l.stride, Stride: l.stride, Place: place, Drawn: s.input.Drawn[st.Name]}
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
	if !silent(l.rubric) {
		l.rounds, err = rounds.Beside(l.schedule, l.open, names(l.contestants), seedOf(st))
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
func (s *Script) roundsOfLanes(ctx context.Context, l *laneContest) error {
	a := l.stage.Pairs.Adaptive
	if between := a.Goal.Between.List; len(between) > 0 {
		l.contestants = slices.DeleteFunc(slices.Clone(l.contestants), func(lane *study.Lane) bool {
			return !slices.Contains(between, lane.Name)
		})
	}
	slots := int64(0)
	for it, err := range s.input.Rows.Items(ctx, l.source.items()) {
		if err != nil {
			return err
		}
		if !keeps(l.stage, it) || !l.source.wants(it) {
			l.first = append(l.first, -1)
			continue
		}
		l.first = append(l.first, slots)
		slots += int64(len(l.source.talk.AllWays(l.turn-1, it)))
	}
	if len(l.contestants) < 2 || slots == 0 {
		return s.without(&l.contest)
	}
	var err error
	l.rounds, err = rounds.New(a, names(l.contestants), slots)
	return err
}

// without leaves a stage with nothing to compare.
func (s *Script) without(c *contest) (err error) {
	c.schedule, err = pairs.New(pairs.Design{})
	return err
}
