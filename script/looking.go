package script

import (
	"context"
	"encoding/json"
	"fmt"

	"assay"
	"assay/adaptive"
	"assay/store"
	"assay/study"
)

// Found is what all verdicts of a stage so far say.
type Found struct {
	Names []string       // whom the numbers of Look mean
	Look  *adaptive.Look // nil: nothing can be said
	Valid int            // verdicts
}

// openRound is the round of a stage that is done and was not looked at: all its requests have gone out, and nothing more comes of them.
func (s *Script) openRound(st *study.Stage, rec stage) (Gate, bool) {
	t := tourOf(rec)
	if t == nil {
		return Gate{}, false
	}
	looks, stop := t.done()
	return Gate{Reads: []string{st.Name}, Round: looks + 1, stage: st}, stop == store.StopNone
}

// over reports whether a stage buys nothing more.
func over(rec stage) bool {
	t := tourOf(rec)
	if t == nil {
		return true
	}
	_, stop := t.done()
	return stop != store.StopNone
}

// Look decides what follows a round. What is decided is written before anything follows from it, and is never decided again: where
// another process looked first, its decision stands.
func (s *Script) Look(ctx context.Context, g Gate, f Found) error {
	t := tourOf(s.stages[g.stage.Name])
	if t == nil {
		return fmt.Errorf("stage %s of run %s buys no rounds", g.stage.Name, s.run.ID)
	}
	affordable, err := s.affordable(ctx, g.stage, t)
	if err != nil {
		return err
	}
	t.mu.RLock()
	looks := t.looks
	t.mu.RUnlock()
	if g.Round != len(looks)+1 {
		return nil // it was looked at meanwhile
	}
	l, err := t.decide(f, looks, affordable, s.settings.Pilot)
	if err != nil {
		return fmt.Errorf("look at round %d of stage %s: %w", g.Round, g.stage.Name, err)
	}
	l.Run, l.Stage = s.run.No, g.stage.Name
	if l, err = s.Ledger.PutLook(ctx, l); err != nil {
		return err
	}
	return t.take(l)
}

// decide makes the look after the rounds so far. Affordable is how many comparisons there is money for; below 0: any number.
func (t *tour) decide(f Found, looks []store.Look, affordable int, once bool) (store.Look, error) {
	g, err := t.progress(looks)
	if err != nil {
		return store.Look{}, err
	}
	out := store.Look{Number: len(looks) + 1, Planned: t.plan.Rounds, Bought: g.Spent()}
	look := t.aligned(f)
	found := lookFound{Valid: f.Valid}
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

// stopOf is why nothing more is bought after a look.
func stopOf(g *adaptive.Progress, next []int, f Found, once bool) store.Stop {
	switch {
	case f.Valid == 0:
		return store.StopNothing
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

// aligned is a look in the order of the tour's contestants; nil where it is not about them all.
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

// affordable is how many further comparisons the budget of a stage's rounds pays, at what those so far have cost; below 0: any number.
func (s *Script) affordable(ctx context.Context, st *study.Stage, t *tour) (int, error) {
	if !t.budget.Set {
		return -1, nil
	}
	segments, err := s.Ledger.Segments(ctx, s.run.No)
	if err != nil {
		return 0, err
	}
	var spent assay.Cost
	for _, g := range segments {
		if g.Stage == st.Name {
			spent = spent.Add(g.Cost)
		}
	}
	left := t.budget.Money - spent.Sum
	rec, ok := s.stages[st.Name].(reader)
	if !ok || spent.Priced == 0 || spent.Sum <= 0 {
		return -1, nil // nothing was paid so far
	}
	r, _ := rec.by()
	requests := int64(max(1, len(rec.voices())) * max(1, len(r.Prompts)) * max(1, st.Repeats.N))
	one := spent.Sum.Portion(requests, spent.Priced)
	return max(0, int(left/max(1, one))), nil
}
