package script

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/pairs"
)

// Settle is the wish to tell two lanes apart that a stage could not.
type Settle struct {
	Stage  string `json:"-"`
	First  string `json:"first"`
	Second string `json:"second"`
	N      int    `json:"n"`                // comparisons to buy
	Budget string `json:"budget,omitempty"` // the most they are to cost, as it was said
}

// same reports whether two wishes are the same, whatever they buy.
func (s Settle) same(o Settle) bool {
	return s.Budget == o.Budget && (s.First == o.First && s.Second == o.Second || s.First == o.Second && s.Second == o.First)
}

// Settled is how far a wish is.
type Settled struct {
	Under  bool // what was bought for it, or for another one, is under way
	Bought bool // the same was bought before, and looked at
	Known  bool // the two are told apart by a claim
	Left   int  // comparisons that the two have not had
}

// comparing returns the stage of a wish, with its contestants by number.
func (s *Script) comparing(w Settle) (*tour, reader, int, error) {
	rec, ok := s.stages[w.Stage].(*laneContest)
	if !ok || rec.tour == nil {
		return nil, nil, 0, fmt.Errorf("stage %s does not compare lanes with each other", w.Stage)
	}
	k, err := rec.tour.pair(w.First, w.Second)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("stage %s: %w", w.Stage, err)
	}
	return rec.tour, rec, k, nil
}

// Settled says how far a wish is.
func (s *Script) Settled(ctx context.Context, w Settle) (Settled, error) {
	var out Settled
	t, _, k, err := s.comparing(w)
	if err != nil {
		return out, err
	}
	if err := s.recallLooks(ctx); err != nil {
		return out, err
	}
	t.mu.RLock()
	looks, bought := t.looks, t.bought
	t.mu.RUnlock()
	g, err := t.progress(looks)
	if err != nil {
		return out, err
	}
	p := adaptive.Pairs(len(t.names))[k]
	out.Known, out.Left = g.Claims.Known(p[0], p[1]), t.plan.Most-bought[k]
	if t.base != nil {
		out.Left = len(t.free(k)) - bought[k]
	}
	for i, l := range looks {
		var found lookFound
		if err := json.Unmarshal([]byte(l.Found), &found); err != nil {
			return out, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
		}
		last := i == len(looks)-1
		out.Under = last && l.Stop == store.StopNone
		out.Bought = out.Bought || !last && found.Settle != nil && found.Settle.same(w)
	}
	return out, nil
}

// Buy returns the look that buys what a wish wants, and what it adds to the plan of each judge. Of a stage whose pairs
// were all planned at once it is the first look, which claims what the stage has shown so far; of one with rounds it
// claims nothing.
func (s *Script) Buy(ctx context.Context, f Found, w Settle) (store.Look, []store.Share, error) {
	t, rec, k, err := s.comparing(w)
	if err != nil {
		return store.Look{}, nil, err
	}
	t.mu.RLock()
	looks := t.looks
	t.mu.RUnlock()
	g, err := t.progress(looks)
	if err != nil {
		return store.Look{}, nil, err
	}
	out := store.Look{Run: s.run.No, Stage: w.Stage, Number: len(looks) + 1, Planned: t.plan.Rounds, Bought: t.total(g)}
	found := lookFound{Valid: f.Valid, Again: f.Again, Settle: &w}
	if look := t.aligned(f); t.base != nil && len(looks) == 0 && look != nil {
		out.Level = t.plan.Alpha
		found.note(t, g.Beyond(look, out.Level))
	}
	next := make([]int, len(g.Bought))
	next[k] = w.N
	if out.Next, err = t.nextText(next); err != nil {
		return out, nil, err
	}
	text, err := json.Marshal(found)
	out.Found = string(text)
	requests := int64(w.N) * s.requestsOfOne(rec, w.Stage)
	var adds []store.Share
	for _, name := range rec.voices() {
		adds = append(adds, store.Share{Stage: w.Stage, Lane: name, Requests: requests})
	}
	return out, adds, err
}

// total returns how many comparisons were bought, those that were planned at once included.
func (t *tour) total(g *adaptive.Progress) int {
	n := g.Spent()
	for slot := range t.real {
		if t.real[slot] {
			for range t.base.On(int64(slot)) {
				n++
			}
		}
	}
	return n
}

// requestsOfOne returns how many requests a judge gets for one comparison.
func (s *Script) requestsOfOne(rec reader, stage string) int64 {
	r, _ := rec.by()
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return 1
	}
	return int64(max(1, len(r.Prompts)) * max(1, len(st.Trait.List)) * max(1, st.Repeats.N))
}

// VerdictsOfOne returns how many verdicts all judges of a stage give on one comparison.
func (s *Script) VerdictsOfOne(stage string) int {
	rec, ok := s.stages[stage].(reader)
	if !ok {
		return 1
	}
	return max(1, len(rec.voices())*int(s.requestsOfOne(rec, stage)))
}

// beyond makes the look after what a person's wish has bought, at a level of its own.
func (t *tour) beyond(f Found, looks []store.Look, w Settle) (store.Look, error) {
	g, err := t.progress(looks)
	if err != nil {
		return store.Look{}, err
	}
	out := store.Look{Number: len(looks) + 1, Planned: t.plan.Rounds, Level: t.beyondLevel(), Bought: t.total(g), Stop: store.StopBought}
	found := lookFound{Valid: f.Valid, Again: f.Again, Beyond: true}
	if look := t.aligned(f); look != nil {
		found.note(t, g.Beyond(look, out.Level))
		for i, name := range t.names {
			found.Strengths = append(found.Strengths, lookStrength{Name: name, Strength: look.Theta[i], SE: look.SE[i]})
		}
	}
	k, err := t.pair(w.First, w.Second)
	if err != nil {
		return out, err
	}
	if p := adaptive.Pairs(len(t.names))[k]; g.Claims.Known(p[0], p[1]) {
		out.Stop = store.StopSettled
	}
	text, err := json.Marshal(found)
	out.Found = string(text)
	return out, err
}

// beyondLevel returns the error that a look beyond the plan may spend.
func (t *tour) beyondLevel() float64 {
	if t.base != nil {
		return t.plan.Alpha / adaptive.Rounds
	}
	return t.plan.Alpha / float64(t.plan.Rounds)
}

// wish returns the one that the last look has bought for; nil: it followed the rule.
func wish(looks []store.Look) (*Settle, error) {
	if len(looks) == 0 {
		return nil, nil
	}
	var found lookFound
	if err := json.Unmarshal([]byte(looks[len(looks)-1].Found), &found); err != nil {
		return nil, err
	}
	return found.Settle, nil
}

// planned makes a stage whose pairs were all planned at once one that more can be bought for.
func (s *Script) planned(l *laneContest, real []bool) error {
	n := int64(len(l.contestants))
	if n < 2 || n > 100 || len(real) == 0 || silent(l.rubric) {
		return nil
	}
	c, err := pairs.NewCounted(n, int64(len(real)), uint64(seedOf(l.stage)))
	if err != nil {
		return err
	}
	p := adaptive.Plan{Lanes: int(n), Rounds: 1, Budget: 1, Most: c.Most(), Alpha: adaptive.Alpha, Order: c.Order()}
	l.tour = &tour{plan: p, schedule: c, names: names(l.contestants), base: l.schedule, real: real}
	l.tour.bought = make([]int, len(c.Order()))
	return p.Check()
}

func seedOf(st *study.Stage) int64 {
	if st.Pairs == nil {
		return 0
	}
	return st.Pairs.Seed
}

// free returns the meetings of a pair that were not planned, in the order in which they are bought.
func (t *tour) free(pair int) []pairs.Pair {
	counts := make([]int, len(t.schedule.Order()))
	counts[pair] = t.schedule.Most()
	type lapped struct {
		lap int64
		p   pairs.Pair
	}
	var all []lapped
	for slot := range t.real {
		if !t.real[slot] {
			continue
		}
		has := map[[2]int64]bool{}
		for p := range t.base.On(int64(slot)) {
			has[[2]int64{p.First, p.Second}] = true
		}
		for p := range t.schedule.On(int64(slot), counts) {
			lap := p.Row / int64(len(counts))
			if p.Again {
				lap += int64(len(t.real))
			}
			if has[[2]int64{p.Second, p.First}] { // it was asked the other way round: others come first
				lap += int64(len(t.real))
			}
			if !has[[2]int64{p.First, p.Second}] {
				all = append(all, lapped{lap, p})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(cmp.Compare(all[i].lap, all[j].lap), cmp.Compare(all[i].p.Slot, all[j].p.Slot)) < 0
	})
	out := make([]pairs.Pair, len(all))
	for i, l := range all {
		out[i] = l.p
	}
	return out
}

// besides returns the meetings that were bought, by slot.
func (t *tour) besides(bought []int) map[int64][]pairs.Pair {
	out := map[int64][]pairs.Pair{}
	for k, n := range bought {
		if n == 0 {
			continue
		}
		free := t.free(k)
		for _, p := range free[:min(n, len(free))] {
			out[p.Slot] = append(out[p.Slot], p)
		}
	}
	return out
}

// ModeOf returns how the judges of a stage travel.
func (s *Script) ModeOf(stage string) assay.Mode {
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return assay.ModeBatch
	}
	for _, name := range st.Judges.List {
		if l, ok := s.input.Study.Lane(name); ok {
			return s.input.Mode(st, l)
		}
	}
	return assay.ModeBatch
}

// CostOfOne returns what one more comparison of a stage costs by what its judges took so far, as a batch and live.
func (s *Script) CostOfOne(ctx context.Context, stage string) (batch, live assay.Cost, err error) {
	st, ok := s.input.Study.Stage(stage)
	rec, reads := s.stages[stage].(reader)
	if !ok || !reads {
		return batch, live, nil
	}
	segments, err := s.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return batch, live, err
	}
	for _, name := range rec.voices() {
		requests := assay.Money(s.requestsOfOne(rec, st.Name))
		inBatch, inLive := s.Each(segments, stage, name)
		batch = batch.Add(assay.Cost{Sum: inBatch.Sum * requests, Priced: inBatch.Priced, Unknown: inBatch.Unknown})
		live = live.Add(assay.Cost{Sum: inLive.Sum * requests, Priced: inLive.Priced, Unknown: inLive.Unknown})
	}
	return batch, live, nil
}

// Each returns what one answer of a lane costs by what its answers took so far, as a batch and live. The first is not
// known where its provider has no batches.
func (s *Script) Each(segments []store.Segment, stage, lane string) (batch, live assay.Cost) {
	l, ok := s.input.Study.Lane(lane)
	u, n := assay.Usage{}, int64(0)
	for _, g := range segments {
		if g.Stage == stage && g.Lane == lane && g.Mode != store.Reuse {
			u.Input, u.Cached, u.Output, n = u.Input+g.InputTokens, u.Cached+g.CachedTokens, u.Output+g.OutputTokens,
				n+g.Done()-g.UsageUnknown
		}
	}
	unknown := assay.Cost{Unknown: 1}
	if !ok || n <= 0 {
		return unknown, unknown
	}
	mean := assay.Usage{Known: true, Input: u.Input / n, Cached: u.Cached / n, Output: u.Output / n}
	way := s.input.Route(l, assay.ModeLive)
	if live = way.Bill(mean); !s.input.HasBatches(l) {
		return unknown, live
	}
	way = s.input.Route(l, assay.ModeBatch)
	return way.Bill(mean), live
}
