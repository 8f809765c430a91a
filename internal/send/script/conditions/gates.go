package conditions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/script/again"
	"assay/internal/send/script/stages"
	"assay/internal/study"
	"assay/internal/study/expr"
)

var errNoFindings = errors.New("there are verdicts here, not findings")

type gate struct{ stage, lane string }

// Gate returns what the gates of a stage decided about a lane.
func (c *Conditions) Gate(st *study.Stage, lane string) Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Kept
	for _, g := range []struct {
		program *expr.Program
		key     gate
	}{{st.Gate, gate{st.Name, ""}}, {st.LaneGate, gate{st.Name, lane}}} {
		if g.program == nil {
			continue
		}
		f, decided := c.decided[g.key]
		if !decided {
			f = Undecided
		}
		if f == Dropped {
			return Dropped
		}
		out = min(out, f)
	}
	return out
}

// Closed reports whether all verdicts of a stage are there.
func (c *Conditions) Closed(stage string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed[stage]
}

// closedNow returns the stages that have all their verdicts now.
func (c *Conditions) closedNow() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.closed)
}

// Close notes whether all verdicts of a stage are there.
func (c *Conditions) Close(stage string, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed[stage] = done
}

// note remembers a decision. The caller holds the lock.
func (c *Conditions) note(d store.Decision) {
	f := Dropped
	if d.Passed {
		f = Kept
	}
	c.decided[gate{d.Stage, d.Lane}] = f
}

// Due is a condition of a stage, or of a lane in it, that can be decided: the verdicts it looks at are all there. Or it is a round of
// comparisons that can be looked at.
type Due struct {
	Reads []string // the stages whose findings the condition names
	Round int      // that is done, from 1; 0: it is a condition

	Stage *study.Stage
	Lane  string // that the condition is about; empty: the whole stage
}

// DueGates returns the gates of a stage that can be decided and are not.
func (c *Conditions) DueGates(st *study.Stage, rec stages.Stage) []Due {
	if st.Gate == nil && st.LaneGate == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var open []Due
	var reads []string
	for _, g := range []struct {
		program *expr.Program
		lanes   []string
	}{{st.Gate, []string{""}}, {st.LaneGate, stages.NamesOf(rec.Lanes())}} {
		if g.program == nil {
			continue
		}
		for _, lane := range g.lanes {
			if _, known := c.decided[gate{st.Name, lane}]; !known {
				open = append(open, Due{Stage: st, Lane: lane})
			}
		}
		for _, ref := range g.program.Stages() {
			reads = append(reads, ref.Stage)
		}
	}
	if slices.ContainsFunc(reads, func(name string) bool { return !c.closed[name] }) {
		return nil
	}
	for i := range open {
		open[i].Reads = reads
	}
	return open
}

// DecideGate decides a gate by what was found. The decision is written before anything follows from it, and is never made again.
func (c *Conditions) DecideGate(ctx context.Context, due Due, found expr.Source) error {
	st := due.Stage
	program, condition := st.Gate, st.When.Source
	if due.Lane != "" {
		program, condition = st.LaneGate, st.Lanes.Only.Source
	}
	d := store.Decision{Run: c.run, Stage: st.Name, Lane: due.Lane, Condition: condition}
	seen := &expr.Seen{Source: found}
	ok, err := program.Bool(expr.Vars{Lane: due.Lane, Source: seen})
	switch {
	case err != nil:
		d.Why = err.Error()
	case !ok:
		d.Why = condition + ": " + seen.Why()
	default:
		d.Passed, d.Why = true, condition+": "+seen.Found()
	}
	if d, err = c.runs.Decide(ctx, d); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(d)
	return nil
}

// Reopen looks at all stages again.
func (c *Conditions) Reopen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = map[string]bool{}
}

// ReopenAfter looks again at stages with new answers, and at those that are about them: a retry brought them.
func (c *Conditions) ReopenAfter(news map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for st := range c.stages.InOrder() {
		news[st.Name] = news[st.Name] || slices.ContainsFunc(st.Needs(), func(name string) bool { return news[name] })
		if news[st.Name] {
			delete(c.closed, st.Name)
		}
	}
}

// Certain reports whether everything that a stage's own conditions look at is known, so that nothing can join it later
// because of them.
func (c *Conditions) Certain(st *study.Stage, lane string) bool {
	if c.Gate(st, lane) == Undecided {
		return false
	}
	if !stages.AsksVerdicts(st) {
		return true
	}
	return !slices.ContainsFunc(st.Keep.Stages(), func(ref expr.Reference) bool { return !c.Closed(ref.Stage) })
}

// Refresh takes in what people ordered to be asked again, and what was bought, since the last time.
func Refresh(ctx context.Context, r *read.Reader, run int64, s *stages.Stages) error {
	redos, err := r.Redos(ctx, run)
	if err != nil {
		return err
	}
	orders, err := r.OrdersOf(ctx, run, store.OrderRetry)
	if err != nil {
		return err
	}
	var retries []again.Retry
	for _, o := range orders {
		var retry again.Retry
		if err := json.Unmarshal([]byte(o.Args), &retry); err != nil {
			return fmt.Errorf("order %d: %w", o.No, err)
		}
		if len(retry.Verdicts) > 0 {
			retries = append(retries, retry)
		}
	}
	s.Orders.Set(redos, retries)
	return TakeLooks(ctx, r, run, s)
}

// TakeLooks takes in the looks of a run that this process does not know.
func TakeLooks(ctx context.Context, r *read.Reader, run int64, s *stages.Stages) error {
	if !s.Buys() {
		return nil
	}
	for l, err := range r.Looks(ctx, run) {
		if err != nil {
			return err
		}
		if err := s.TakeLook(l); err != nil {
			return err
		}
	}
	return nil
}
