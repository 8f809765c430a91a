package script

import (
	"context"
	"errors"
	"maps"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/expr"
)

var errNoFindings = errors.New("there are verdicts here, not findings")

// gates are what the gates of a run have decided, and which stages have all their verdicts.
type gateKey struct{ stage, lane string }

// gated returns what the gates of a stage say about a lane.
func (s *Script) gated(st *study.Stage, lane string) fate {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	out := kept
	for _, g := range []struct {
		program *expr.Program
		key     gateKey
	}{{st.Gate, gateKey{st.Name, ""}}, {st.LaneGate, gateKey{st.Name, lane}}} {
		if g.program == nil {
			continue
		}
		f, decided := s.decided[g.key]
		if !decided {
			f = undecided
		}
		if f == dropped {
			return dropped
		}
		out = min(out, f)
	}
	return out
}

// isClosed reports whether all verdicts of a stage are there.
func (s *Script) isClosed(stage string) bool {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	return s.closed[stage]
}

// closedNow returns the stages that have all their verdicts now.
func (s *Script) closedNow() map[string]bool {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	return maps.Clone(s.closed)
}

func (s *Script) setClosed(stage string, done bool) {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	s.closed[stage] = done
}

// recall reads what the gates of the run decided before.
func (s *Script) recall(ctx context.Context) error {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	for d, err := range s.Reader.Decisions(ctx, s.run.No) {
		if err != nil {
			return err
		}
		s.note(d)
	}
	return nil
}

// note remembers a decision. The caller holds the lock.
func (s *Script) note(d store.Decision) {
	f := dropped
	if d.Passed {
		f = kept
	}
	s.decided[gateKey{d.Stage, d.Lane}] = f
}

// Gate is a condition of a stage, or of a lane in it, that can be decided: the verdicts it looks at are all there. Or it is a round of
// comparisons that can be looked at.
type Gate struct {
	Reads []string // the stages whose findings the condition names
	Round int      // that is done, from 1; 0: it is a condition

	stage *study.Stage
	key   gateKey
}

// openGates returns the gates of a stage that can be decided and are not.
func (s *Script) openGates(st *study.Stage, rec stage) []Gate {
	if st.Gate == nil && st.LaneGate == nil || !s.settings.Wants(st.Name) {
		return nil
	}
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	var open []Gate
	var reads []string
	for _, g := range []struct {
		program *expr.Program
		lanes   []string
	}{{st.Gate, []string{""}}, {st.LaneGate, names(rec.lanes())}} {
		if g.program == nil {
			continue
		}
		for _, lane := range g.lanes {
			if _, known := s.decided[gateKey{st.Name, lane}]; !known {
				open = append(open, Gate{stage: st, key: gateKey{st.Name, lane}})
			}
		}
		for _, ref := range g.program.Stages() {
			reads = append(reads, ref.Stage)
		}
	}
	if slices.ContainsFunc(reads, func(name string) bool { return !s.closed[name] }) {
		return nil
	}
	for i := range open {
		open[i].Reads = reads
	}
	return open
}

// Decide asks a gate. What is decided is written before anything follows from it, and is never decided again.
func (s *Script) Decide(ctx context.Context, g Gate, found expr.Source) error {
	st, key := g.stage, g.key
	program, condition := st.Gate, st.When.Source
	if key.lane != "" {
		program, condition = st.LaneGate, st.Lanes.Only.Source
	}
	d := store.Decision{Run: s.run.No, Stage: key.stage, Lane: key.lane, Condition: condition}
	seen := &expr.Seen{Source: found}
	ok, err := program.Bool(expr.Vars{Lane: key.lane, Source: seen})
	switch {
	case err != nil:
		d.Why = err.Error()
	case !ok:
		d.Why = condition + ": " + seen.Why()
	default:
		d.Passed, d.Why = true, condition+": "+seen.Found()
	}
	if d, err = s.Runs.Decide(ctx, d); err != nil {
		return err
	}
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	s.note(d)
	return nil
}

func names(lanes []*study.Lane) []string {
	out := make([]string, len(lanes))
	for i, l := range lanes {
		out[i] = l.Name
	}
	return out
}

// certain reports whether everything that a stage's own conditions look at is known, so that nothing can join it later
// because of them.
func (s *Script) certain(st *study.Stage, lane string) bool {
	if s.gated(st, lane) == undecided {
		return false
	}
	if !asksVerdicts(st) {
		return true
	}
	return !slices.ContainsFunc(st.Keep.Stages(), func(ref expr.Reference) bool { return !s.isClosed(ref.Stage) })
}
