package rounds

import (
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/study/adaptive"
)

// Found has the estimates from all verdicts of a stage so far.
type Found struct {
	Names []string       // whom the numbers of Look mean
	Look  *adaptive.Look // nil: nothing can be estimated
	Valid int            // verdicts
	Again int            // that are not valid, and might be if they were asked for again
}

// Limits bound what a look may buy.
type Limits struct {
	Affordable int  // comparisons that there is money for; below 0: any number
	Once       bool // no round follows the first
}

// Look returns the look that follows a round, to be written. It is nil where the round was looked at meanwhile, and false where nothing is
// decided yet: the round brought no verdict that can be used, and waits until it is asked again.
func (r *Rounds) Look(round int, f Found, limits Limits) (*store.Look, bool, error) {
	looks := r.taken()
	if round != len(looks)+1 {
		return nil, true, nil
	}
	before, err := last(looks)
	if err != nil {
		return nil, false, fmt.Errorf("look %d: %w", len(looks), err)
	}
	if f.Valid <= before.Valid && f.Again > before.Again {
		return nil, false, nil
	}
	var l store.Look
	if before.Settle != nil {
		l, err = r.beyond(f, looks, *before.Settle)
	} else {
		l, err = r.decide(f, looks, limits)
	}
	return &l, true, err
}

// decide makes the look after the rounds so far.
func (r *Rounds) decide(f Found, looks []store.Look, limits Limits) (store.Look, error) {
	g, err := r.progress(looks)
	if err != nil {
		return store.Look{}, err
	}
	out := store.Look{Number: len(looks) + 1, Planned: r.plan.Rounds, Bought: g.Spent()}
	look := r.aligned(f)
	found := lookFound{Valid: f.Valid, Again: f.Again}
	var next []int
	if look == nil {
		next = g.Blind()
	} else {
		found.claim(r.names, g.Look(look))
		found.measure(r.names, look)
		next = g.Next(look)
	}
	for k, p := range adaptive.Pairs(len(r.names)) {
		if g.Given[k] {
			found.Given = append(found.Given, [2]string{r.names[p[0]], r.names[p[1]]})
		}
	}
	found.Narrow, out.Level = g.Narrow, g.Level()
	out.Stop = stopOf(g, next, f, limits.Once)
	switch {
	case limits.Affordable == 0 && (out.Stop == store.StopNone || out.Stop == store.StopRounds):
		out.Stop = store.StopBudget
	case limits.Affordable > 0 && out.Stop == store.StopNone:
		next = adaptive.Cut(next, limits.Affordable)
	}
	if out.Stop == store.StopNone {
		if out.Next, err = nextText(r.names, next); err != nil {
			return out, err
		}
	}
	out.Found, err = found.text()
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

// aligned returns a look in the order of the contestants; nil where it is not about them all.
func (r *Rounds) aligned(f Found) *adaptive.Look {
	if f.Look == nil || len(f.Names) != len(r.names) {
		return nil
	}
	at := map[string]int{}
	for i, name := range f.Names {
		at[name] = i
	}
	order := make([]int, len(r.names))
	for i, name := range r.names {
		k, ok := at[name]
		if !ok {
			return nil
		}
		order[i] = k
	}
	return f.Look.Reordered(order)
}
