package script

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// UnaddableError says why two lanes cannot be asked about more items alone.
type UnaddableError struct{ Why string }

// Error says it.
func (e *UnaddableError) Error() string { return e.Why }

// Addable is where items for two lanes alone would begin, in which stages they would be asked, and of which input they are; To is From.
// *UnaddableError: the study cannot be extended so.
func (s *Script) Addable(ctx context.Context, w Settle) (Added, error) {
	st, ok := s.input.Study.Stage(w.Stage)
	if !ok || st.Verb() != study.VerbJudge {
		return Added{}, fmt.Errorf("stage %s does not judge answers one by one", w.Stage)
	}
	out := Added{Stage: w.Stage, First: w.First, Second: w.Second, Budget: w.Budget, Input: s.input.Root(st)}
	for _, name := range []string{w.First, w.Second} {
		if why := s.unaddable(st, name, map[string]bool{}); why != "" {
			return out, &UnaddableError{why}
		}
	}
	out.Stages = s.below(st)
	n, some := s.settings.Common(out.Input)
	if !some {
		for _, err := range s.Ledger.ItemHeads(ctx, s.run.No, out.Input) {
			if err != nil {
				return out, err
			}
			n++
		}
	}
	upto := s.settings.upto(w.Stage)
	out.Common, out.From = n, max(n, min(upto[w.First], upto[w.Second]))
	out.To = out.From
	return out, nil
}

// asksOf are the stages whose answers about the same item a stage reads, or whose verdicts its condition on items looks at. What a whole
// stage depends on was decided, and stays so.
func asksOf(st *study.Stage) []string {
	out := slices.Clone(st.Judge.List)
	if st.Continue != "" {
		out = append(out, st.Continue)
	}
	if asksVerdicts(st) {
		for _, ref := range st.Keep.Stages() {
			out = append(out, ref.Stage)
		}
	}
	return out
}

// below is a stage with all that it reads of an item, in the order of the study.
func (s *Script) below(st *study.Stage) []string {
	in := map[string]bool{}
	var visit func(st *study.Stage)
	visit = func(st *study.Stage) {
		if in[st.Name] {
			return
		}
		in[st.Name] = true
		for _, name := range asksOf(st) {
			if other, ok := s.input.Study.Stage(name); ok {
				visit(other)
			}
		}
	}
	visit(st)
	var out []string
	for i := range s.input.Study.Stages {
		if name := s.input.Study.Stages[i].Name; in[name] {
			out = append(out, name)
		}
	}
	return out
}

// unaddable says why a lane cannot have more items than others in a stage; empty: it can.
func (s *Script) unaddable(st *study.Stage, lane string, seen map[string]bool) string {
	if seen[st.Name] {
		return ""
	}
	seen[st.Name] = true
	has := func(l *study.Lane) bool { return l.Name == lane }
	switch rec := s.stages[st.Name].(type) {
	case *asking:
		switch {
		case rec.imported:
			return fmt.Sprintf("the answers of stage %s were made elsewhere", st.Name)
		case !slices.ContainsFunc(rec.chosen, has):
			return fmt.Sprintf("stage %s, which it depends on, does not ask %s", st.Name, lane)
		}
	case *judging:
		switch {
		case len(rec.slices) > 0:
			return fmt.Sprintf("stage %s judges answers about several inputs", st.Name)
		case !slices.ContainsFunc(rec.sources, func(a *asking) bool { return rec.about(lane, a) }):
			return fmt.Sprintf("stage %s, which it depends on, does not judge %s", st.Name, lane)
		}
	default:
		return fmt.Sprintf("it depends on stage %s, which compares", st.Name)
	}
	if !s.settings.wants(st.Name) {
		return fmt.Sprintf("the run is not about stage %s, which it depends on", st.Name)
	}
	for _, name := range asksOf(st) {
		if other, ok := s.input.Study.Stage(name); ok {
			if why := s.unaddable(other, lane, seen); why != "" {
				return why
			}
		}
	}
	return ""
}

// AddedShare is what a lane is asked about items that are bought for two lanes alone.
type AddedShare struct {
	store.Share       // with what may be asked besides, such as second tries
	First       int64 // requests without that
}

// Adds counts what items add to the plan. Items are those from From to To, from the beginning every time.
func (s *Script) Adds(ctx context.Context, a Added, items iter.Seq2[assay.Item, error]) ([]AddedShare, error) {
	is, err := s.with(ctx, a, items)
	if err != nil {
		return nil, err
	}
	var out []AddedShare
	for _, name := range a.Stages {
		for _, l := range is.stages[name].lanes() {
			out = append(out, AddedShare{Share: store.Share{Stage: name, Lane: l.Name}})
		}
	}
	place := a.From - 1
	for it, err := range items {
		if place++; err != nil {
			return nil, err
		}
		for i := range out {
			share := &out[i]
			for _, g := range groupsOf(is.stages[share.Stage], share.Stage, share.Lane) {
				n := s.added(is.stages[share.Stage], it, place, g)
				if share.Requests += n; g.Again == firstAsked {
					share.First += n
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(a AddedShare) bool { return a.Requests == 0 }), nil
}

// added counts the requests about an item in a group that the script did not have before.
func (s *Script) added(rec stage, it assay.Item, place int64, g store.GroupKey) int64 {
	var had map[assay.Key]bool
	if r := reaches(s.stages[g.Stage]); r != nil && place < r.most {
		had = map[assay.Key]bool{}
		for _, at := range requests(s.stages[g.Stage], it, place, g) {
			had[at.Key()] = true
		}
	}
	n := int64(0)
	for _, at := range requests(rec, it, place, g) {
		if !had[at.Key()] {
			n++
		}
	}
	return n
}

// with builds the stages of a purchase as they are with it.
func (s *Script) with(ctx context.Context, a Added, items iter.Seq2[assay.Item, error]) (*Script, error) {
	is := &Script{Library: s.Library, run: s.run, input: s.input, settings: s.settings, stages: map[string]stage{}}
	is.settings.Added = append(slices.Clone(s.settings.Added), a)
	places := map[string]int64{}
	for id, n := range s.beyond[a.Input] {
		places[id] = n
	}
	place := a.From - 1
	for it, err := range items {
		if place++; err != nil {
			return nil, err
		}
		places[it.ID] = place
	}
	is.beyond = map[string]map[string]int64{a.Input: places}
	for _, st := range plan.InOrder(s.input.Study) {
		if !slices.Contains(a.Stages, st.Name) {
			continue
		}
		var err error
		if st.Verb() == study.VerbJudge {
			is.stages[st.Name], err = is.buildJudge(ctx, st)
		} else {
			err = is.buildAsk(ctx, st)
		}
		if err != nil {
			return nil, err
		}
	}
	return is, nil
}

// NewItems are those items of a purchase that the run does not have yet. They are checked when all are read: nil, or why they are others by now.
func (p *Library) NewItems(ctx context.Context, run store.Run, a Added, all iter.Seq2[assay.Item, error], check func() error) (store.MoreItems, error) {
	n := int64(0)
	for _, err := range p.Ledger.ItemHeads(ctx, run.No, a.Input) {
		if err != nil {
			return store.MoreItems{}, err
		}
		n++
	}
	return store.MoreItems{Input: a.Input, From: n, Items: checked(Between(all, n, a.To), check)}, nil
}

// Fees are what requests cost by what such requests took so far.
type Fees struct {
	Batch, Live assay.Cost
	Goes        assay.Cost // each in the mode in which it travels, and no less than what the engine sets aside for it
	Modes       []assay.Mode
}

// Price is what some shares cost.
func (s *Script) Price(ctx context.Context, shares []AddedShare) (Fees, error) {
	var out Fees
	segments, err := s.Ledger.Segments(ctx, s.run.No)
	if err != nil {
		return out, err
	}
	for _, a := range shares {
		st, ok := s.input.Study.Stage(a.Stage)
		l, known := s.input.Study.Lane(a.Lane)
		if !ok || !known || a.First == 0 {
			continue
		}
		batch, live := s.Each(segments, a.Stage, a.Lane)
		goes, mode := batch, s.input.Mode(st, l)
		if mode == assay.ModeLive {
			goes = live
		}
		goes.Sum = max(goes.Sum, setAside(segments, a.Stage, a.Lane))
		out.Batch, out.Live, out.Goes = out.Batch.Add(times(batch, a.First)), out.Live.Add(times(live, a.First)), out.Goes.Add(times(goes, a.First))
		if !slices.Contains(out.Modes, mode) {
			out.Modes = append(out.Modes, mode)
		}
	}
	return out, nil
}

// setAside is what was set aside for one request of a lane before it was sent.
func setAside(segments []store.Segment, stage, lane string) assay.Money {
	sum, n := assay.Money(0), int64(0)
	for _, g := range segments {
		if g.Stage == stage && g.Lane == lane && g.Mode != store.Reuse {
			sum, n = sum+g.Expected, n+g.Requests-g.Unpriced
		}
	}
	if n <= 0 {
		return 0
	}
	return sum / assay.Money(n)
}

func times(c assay.Cost, n int64) assay.Cost {
	c.Sum *= assay.Money(n)
	return c
}
