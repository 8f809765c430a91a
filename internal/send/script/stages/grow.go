package stages

import (
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// mostDrawn is how many pairs of a stage are kept by name.
const mostDrawn = 1_000_000

// KeepPairs has the compare stages of a changed study keep the pairs that were drawn before, where the study only adds to what can meet.
func (s *Stages) KeepPairs(ctx context.Context, was *Stages) error {
	s.Input.Drawn = map[string][]plan.Drawn{}
	for _, st := range plan.InOrder(s.Input.Study) {
		before, ok := was.Input.Study.Stage(st.Name)
		if !ok || !edit.KeepsPairs(before, st) {
			continue
		}
		var all []plan.Drawn
		var err error
		switch is := s.all[st.Name].(type) {
		case *LaneContest:
			if old, ok := was.all[st.Name].(*LaneContest); ok {
				all, err = s.growLanes(ctx, was, old, is)
			}
		case *ItemContest:
			if old, ok := was.all[st.Name].(*ItemContest); ok {
				all = growItems(old, is)
			}
		}
		if err != nil {
			return err
		}
		if all == nil {
			continue
		}
		s.Input.Drawn[st.Name] = all
		if s.all[st.Name], err = s.buildCompare(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// design returns what a stage draws on a field that is grown, from so many pairs of a smaller one. A count that the
// study does not change is for what was there: it grows with the field. One that it changes, and a share, is of all.
func design(was, is *study.Stage, f plan.Field, drawn, before, now int64) pairs.Design {
	f.Drawn = nil
	d := plan.Design(is, f)
	if d.Pick == "" {
		d.Pick = pairs.All
	}
	if d.Pick != pairs.Sample {
		return d
	}
	a, b := edit.PairsOf(was), edit.PairsOf(is)
	if b.Sample.Share == 0 && a.Sample == b.Sample {
		d.N = pairs.InProportion(drawn, before, now)
	}
	d.N = max(d.N, drawn)
	return d
}

// asPlanned reports whether the pairs are those of the study: what can meet is the same as before, or all of it
// meets, and no pair of before is turned round.
func asPlanned(st *study.Stage, s *pairs.Schedule, before []pairs.Listed, same bool) bool {
	p := edit.PairsOf(st)
	return same || !p.Sample.Given() && p.PerItem == 0 && p.PerLanePair == 0 && s.Includes(before)
}

// slot is where lanes meet: an item, asked in one way.
type slot struct {
	item, template, branch string
	draw                   int
}

// slotting are the slots of a compare stage, and how they are called.
type slotting struct {
	names []slot
	place map[slot]int64
}

func (s *slotting) of(d plan.Drawn) (int64, bool) {
	n, ok := s.place[slot{d.Item, d.Template, d.Branch, d.Draw}]
	return n, ok
}

// slots names the slots of a compare stage that are asked about.
func (s *Stages) slots(ctx context.Context, l *LaneContest) (*slotting, error) {
	out := &slotting{names: make([]slot, len(l.open)), place: map[slot]int64{}}
	ord := int64(-1)
	for it, err := range s.Input.Rows.Items(ctx, l.Items()) {
		if err != nil {
			return nil, err
		}
		ord++
		for i, w := range l.ways(it) {
			if at := ord*l.stride + int64(i); l.open[at] {
				out.names[at] = slot{it.ID, w.Template, w.Branch(), w.Draw}
				out.place[out.names[at]] = at
			}
		}
	}
	return out, nil
}

// growLanes returns the pairs of a stage that compares lanes; nil: those of the study, the ones before among them.
func (s *Stages) growLanes(ctx context.Context, was *Stages, old, is *LaneContest) ([]plan.Drawn, error) {
	if old.schedule == nil || is.schedule == nil || old.schedule.Pairs() > mostDrawn || is.schedule.Pairs() > mostDrawn {
		return nil, nil
	}
	before, err := was.slots(ctx, old)
	if err != nil {
		return nil, err
	}
	now, err := s.slots(ctx, is)
	if err != nil {
		return nil, err
	}
	kept := old.drawn(before)
	f := is.field
	f.Drawn, f.Slot = kept, now.of
	listed := plan.Design(is.stage, f).List
	same := slices.Equal(NamesOf(old.contestants), NamesOf(is.contestants)) && slices.Equal(before.names, now.names)
	if len(listed) < len(kept) || old.field.Drawn == nil && asPlanned(is.stage, is.schedule, listed, same) {
		return nil, nil // something is taken away, or nothing is drawn otherwise
	}
	cells := func(l *LaneContest, n int) int64 {
		return int64(n) * int64(len(l.contestants)*(len(l.contestants)-1)/2)
	}
	d := design(old.stage, is.stage, f, int64(len(kept)), cells(old, len(before.place)), cells(is, len(now.place)))
	grown := pairs.Grow(d, listed, is.open)
	out := make([]plan.Drawn, len(grown))
	for i, g := range grown {
		at := now.names[g.Item]
		out[i] = plan.Drawn{
			Item: at.item, Template: at.template, Branch: at.branch, Draw: at.draw,
			First: is.contestants[g.First].Name, Second: is.contestants[g.Second].Name, Twice: g.Twice,
		}
	}
	return out, nil
}

// drawn returns the pairs of a stage by name.
func (c *LaneContest) drawn(names *slotting) []plan.Drawn {
	var out []plan.Drawn
	for n, at := range names.names {
		if !c.open[n] {
			continue
		}
		for p := range c.schedule.On(int64(n)) {
			if p.Again { // it follows its first showing
				out[len(out)-1].Twice = true
				continue
			}
			out = append(out, plan.Drawn{
				Item: at.item, Template: at.template, Branch: at.branch, Draw: at.draw,
				First: c.contestants[p.First].Name, Second: c.contestants[p.Second].Name,
			})
		}
	}
	return out
}

// growItems returns the pairs of a stage that compares items; nil: those of the study, the ones before among them.
func growItems(old, is *ItemContest) []plan.Drawn {
	if old.schedule == nil || is.schedule == nil || old.schedule.Pairs() > mostDrawn || is.schedule.Pairs() > mostDrawn {
		return nil
	}
	open := func(c *ItemContest) ([]bool, int64) {
		out, n := make([]bool, len(c.items)), int64(0)
		for i, it := range c.items {
			if out[i] = Keeps(c.stage, it); out[i] {
				n++
			}
		}
		return out, n
	}
	was0, before := open(old)
	is0, now := open(is)
	kept := old.drawn(was0)
	f := is.field
	f.Drawn = kept
	listed := plan.Design(is.stage, f).List
	same := slices.EqualFunc(old.items, is.items, func(a, b assay.Item) bool { return a.ID == b.ID }) && slices.Equal(was0, is0)
	if len(listed) < len(kept) || old.field.Drawn == nil && asPlanned(is.stage, is.schedule, listed, same) {
		return nil
	}
	grown := pairs.Grow(design(old.stage, is.stage, f, int64(len(kept)), before, now), listed, is0)
	out := make([]plan.Drawn, len(grown))
	for i, g := range grown {
		out[i] = plan.Drawn{First: is.items[g.First].ID, Second: is.items[g.Second].ID, Twice: g.Twice}
	}
	return out
}

// drawn returns the pairs of a stage by name, of items that take part.
func (c *ItemContest) drawn(open []bool) []plan.Drawn {
	var out []plan.Drawn
	for p := range c.schedule.On(0) {
		switch {
		case !open[p.First] || !open[p.Second]:
		case p.Again:
			out[len(out)-1].Twice = true
		default:
			out = append(out, plan.Drawn{First: c.items[p.First].ID, Second: c.items[p.Second].ID})
		}
	}
	return out
}
