package script

import (
	"context"
	"encoding/json"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/adaptive"
)

// Found is what all verdicts of a stage so far say.
type Found struct {
	Names []string       // whom the numbers of Look mean
	Look  *adaptive.Look // nil: nothing can be said
	Valid int            // verdicts
	Again int            // that are not valid, and might be if they were asked for again
}

// barren reports whether a round brought nothing that can be used, and might if it were asked again: it is not looked at then.
func (f Found) barren(looks []store.Look) (bool, error) {
	var before lookFound
	if n := len(looks); n > 0 {
		if err := json.Unmarshal([]byte(looks[n-1].Found), &before); err != nil {
			return false, fmt.Errorf("look %d of stage %s: %w", n, looks[n-1].Stage, err)
		}
	}
	return f.Valid <= before.Valid && f.Again > before.Again, nil
}

// openRound returns the round of a stage that is done and was not looked at: all its requests have gone out, and
// nothing more comes of them.
func (s *Script) openRound(st *study.Stage, rec stage) (Gate, bool) {
	t := tourOf(rec)
	if t == nil {
		return Gate{}, false
	}
	looks, stop := t.done()
	if s.gated(st, "") == dropped {
		return Gate{}, false
	}
	return Gate{Reads: []string{st.Name}, Round: looks + 1, stage: st}, stop == store.StopNone
}

// over reports whether a stage buys nothing more.
func (s *Script) over(st *study.Stage, rec stage) bool {
	t := tourOf(rec)
	if t == nil || s.gated(st, "") == dropped {
		return true
	}
	_, stop := t.done()
	return stop != store.StopNone
}

// Look decides what follows a round. What is decided is written before anything follows from it, and is never decided again: where
// another process looked first, its decision stands. It is false where nothing is decided yet: the round brought no verdict that can be
// used, and waits until it is asked again.
func (s *Script) Look(ctx context.Context, g Gate, f Found) (bool, error) {
	t := tourOf(s.stages[g.stage.Name])
	if t == nil {
		return false, fmt.Errorf("stage %s of run %s buys no rounds", g.stage.Name, s.run.ID)
	}
	affordable, err := s.affordable(ctx, g.stage, t)
	if err != nil {
		return false, err
	}
	t.mu.RLock()
	looks := t.looks
	t.mu.RUnlock()
	if g.Round != len(looks)+1 {
		return true, nil // it was looked at meanwhile
	}
	if barren, err := f.barren(looks); barren || err != nil {
		return false, err
	}
	w, err := wish(looks)
	if err != nil {
		return false, fmt.Errorf("look at round %d of stage %s: %w", g.Round, g.stage.Name, err)
	}
	var l store.Look
	if w != nil {
		l, err = t.beyond(f, looks, *w)
	} else {
		l, err = t.decide(f, looks, affordable, s.settings.Pilot)
	}
	if err != nil {
		return false, fmt.Errorf("look at round %d of stage %s: %w", g.Round, g.stage.Name, err)
	}
	l.Run, l.Stage = s.run.No, g.stage.Name
	if l, err = s.Runs.PutLook(ctx, l); err != nil {
		return false, err
	}
	return true, t.take(l)
}

// decide makes the look after the rounds so far. Affordable is how many comparisons there is money for; below 0: any number.
func (t *tour) decide(f Found, looks []store.Look, affordable int, once bool) (store.Look, error) {
	g, err := t.progress(looks)
	if err != nil {
		return store.Look{}, err
	}
	out := store.Look{Number: len(looks) + 1, Planned: t.plan.Rounds, Bought: g.Spent()}
	look := t.aligned(f)
	found := lookFound{Valid: f.Valid, Again: f.Again}
	var next []int
	if look == nil {
		next = g.Blind()
	} else {
		found.note(t, g.Look(look))
		for i, name := range t.names {
			found.Strengths = append(found.Strengths, lookStrength{Name: name, Strength: look.Theta[i], SE: look.SE[i]})
		}
		next = g.Next(look)
	}
	for k, p := range adaptive.Pairs(len(t.names)) {
		if g.Given[k] {
			found.Given = append(found.Given, [2]string{t.names[p[0]], t.names[p[1]]})
		}
	}
	found.Narrow, out.Level = g.Narrow, g.Level()
	out.Stop = stopOf(g, next, f, once)
	switch {
	case affordable == 0 && (out.Stop == store.StopNone || out.Stop == store.StopRounds):
		out.Stop = store.StopBudget
	case affordable > 0 && out.Stop == store.StopNone:
		next = adaptive.Cut(next, affordable)
	}
	if out.Stop == store.StopNone {
		if out.Next, err = t.nextText(next); err != nil {
			return out, err
		}
	}
	text, err := json.Marshal(found)
	out.Found = string(text)
	return out, err
}

// stopOf returns why nothing more is bought after a look.
func stopOf(g *adaptive.Progress, next []int, f Found, once bool) store.Stop {
	switch {
	case f.Valid == 0: // nothing that a condition kept was there to be compared
		return store.StopExhausted
	case g.Settled():
		return store.StopSettled
	case g.Looks >= g.Plan.Rounds || once:
		return store.StopRounds
	case next != nil:
		return store.StopNone
	case g.Spent() >= g.Budget:
		return store.StopRounds
	case g.Hopeless():
		return store.StopHopeless
	}
	return store.StopExhausted
}

// note adds what a look claims.
func (f *lookFound) note(t *tour, claims []adaptive.Claim) {
	for _, c := range claims {
		f.Claims = append(f.Claims, LookClaim{Better: t.names[c.Better], Worse: t.names[c.Worse], P: c.P, Level: c.Level, Open: c.Open})
	}
}

func (t *tour) nextText(next []int) (string, error) {
	var out []lookNext
	for k, p := range adaptive.Pairs(len(t.names)) {
		if next[k] > 0 {
			out = append(out, lookNext{First: t.names[p[0]], Second: t.names[p[1]], N: next[k]})
		}
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// aligned returns a look in the order of the tour's contestants; nil where it is not about them all.
func (t *tour) aligned(f Found) *adaptive.Look {
	if f.Look == nil || len(f.Names) != len(t.names) {
		return nil
	}
	at := map[string]int{}
	for i, name := range f.Names {
		at[name] = i
	}
	order := make([]int, len(t.names))
	for i, name := range t.names {
		k, ok := at[name]
		if !ok {
			return nil
		}
		order[i] = k
	}
	return f.Look.Reordered(order)
}

// affordable returns how many further comparisons the budget of a stage's rounds pays, at what those so far have cost; below 0: any number.
func (s *Script) affordable(ctx context.Context, st *study.Stage, t *tour) (int, error) {
	if !t.budget.Set {
		return -1, nil
	}
	segments, err := s.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return 0, err
	}
	var spent, paid, reused assay.Cost
	for _, g := range segments {
		switch {
		case g.Stage != st.Name:
		case g.Mode == store.Reuse:
			worth, err := s.worth(ctx, st, g)
			if err != nil {
				return 0, err
			}
			reused = reused.Add(worth)
		default:
			spent, paid = spent.Add(g.Cost), paid.Add(g.Cost)
		}
	}
	if paid.Priced == 0 || paid.Sum <= 0 { // all was taken over from earlier runs: what it would cost now
		paid = reused
	}
	rec, ok := s.stages[st.Name].(reader)
	if !ok || paid.Priced == 0 || paid.Sum <= 0 {
		return -1, nil // no price is known
	}
	r, _ := rec.by()
	requests := int64(max(1, len(rec.voices())) * max(1, len(r.Prompts)) * max(1, st.Repeats.N))
	one := paid.Sum.Portion(requests, paid.Priced)
	return max(0, int((t.budget.Money-spent.Sum)/max(1, one))), nil
}

// worth returns what the requests of a segment would cost that took its answers from other runs.
func (s *Script) worth(ctx context.Context, st *study.Stage, g store.Segment) (assay.Cost, error) {
	var out assay.Cost
	l, ok := s.input.Study.Lane(g.Lane)
	if !ok {
		return out, nil
	}
	way := s.input.Route(l, s.input.Mode(st, l))
	for a, err := range s.Reader.SegmentAnswers(ctx, g.No) {
		if err != nil {
			return out, err
		}
		if cost := way.Bill(a.Outcome.Usage); cost.Known() {
			out = out.Add(cost)
		}
	}
	return out, nil
}
