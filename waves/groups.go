package waves

import (
	"context"

	"assay"
	"assay/engine"
	"assay/plan"
	"assay/store"
)

// Groups lists what can be asked. A group whose forerunners are not settled may still grow.
func (p *Planner) Groups(ctx context.Context, run store.Run) ([]engine.Group, error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	settled, err := s.settled(ctx)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var out []engine.Group
	for _, st := range plan.InOrder(s.desk.Study) {
		rec, ok := s.recipes[st.Name]
		if !ok || !s.settings.wants(st.Name) || imports(rec) {
			continue
		}
		turns := rec.turns()
		if s.settings.Pilot {
			turns = 1
		}
		for turn := 1; turn <= turns; turn++ {
			for _, l := range rec.lanes() {
				if s.gated(st, l.Name) == undecided {
					continue
				}
				g := engine.Group{Stage: st.Name, Lane: l.Name, Turn: turn, Wave: s.wave(st.Name, turn), Mode: store.Batch, Final: s.certain(st, l.Name)}
				if s.settings.Pilot || s.desk.Mode(st, l) == assay.ModeLive {
					g.Mode = store.Live
				}
				for _, before := range rec.after(l.Name, turn) {
					g.Final = g.Final && settled[before]
				}
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// wave is the first wave a group can go out in.
func (s *script) wave(stage string, turn int) int {
	st, ok := s.desk.Study.Stage(stage)
	if !ok {
		return turn
	}
	before := 0
	for _, n := range st.Needs() {
		if rec, ok := s.recipes[n]; ok && !imports(rec) {
			before = max(before, s.wave(n, rec.turns()))
		}
	}
	return before + turn
}

// imports tells whether a stage has all its answers from the start.
func imports(rec stage) bool {
	a, ok := rec.(*asking)
	return ok && a.imported
}

// settled tells of which groups nothing more will come: all of it was staged, every segment has come to its end and was
// absorbed, and nothing waits to be sent again. A lane that was stopped brings nothing more either. What settled since the
// last Absorb does not count yet: its verdicts are not there, and what they call for would be taken for nothing.
func (s *script) settled(ctx context.Context) (map[groupKey]bool, error) {
	out := map[groupKey]bool{}
	groups, err := s.Ledger.Groups(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		out[groupKey{g.Stage, g.Lane, g.Turn}] = g.Complete
	}
	lanes, err := s.Ledger.Lanes(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		if rec, ok := s.recipes[l.Stage]; ok && l.State == store.LaneStopped {
			for turn := 1; turn <= rec.turns(); turn++ {
				out[groupKey{l.Stage, l.Name, turn}] = true
			}
		}
	}
	segments, err := s.Ledger.Segments(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		if !g.State.Terminal() || g.State == store.Settled && !s.absorbed[g.No] {
			out[groupKey{g.Stage, g.Lane, g.Turn}] = false
		}
	}
	for r, err := range s.Ledger.Resends(ctx, s.run.No) {
		if err != nil {
			return nil, err
		}
		out[groupKey{r.At.Stage, r.Lane, r.At.Turn}] = false
	}
	// A turn is settled only when those before it are; what is imported was there before the run.
	for stage, rec := range s.recipes {
		for _, l := range rec.lanes() {
			for turn := 1; turn <= rec.turns() && imports(rec); turn++ {
				out[groupKey{stage, l.Name, turn}] = true
			}
			for turn := 2; turn <= rec.turns(); turn++ {
				key := groupKey{stage, l.Name, turn}
				out[key] = out[key] && out[groupKey{stage, l.Name, turn - 1}]
			}
		}
	}
	return out, nil
}
