package analysis

import (
	"errors"
	"fmt"
	"math"

	"assay/internal/assay"
	"assay/internal/find/stats"
	"assay/internal/study/expr"
)

// Gate is a condition of the study on its findings.
type Gate struct {
	Condition string
	Program   *expr.Program
}

// Passage is how a gate was answered.
type Passage struct {
	Condition string
	Passed    bool
	Why       string // where it did not pass: the numbers it found, or what it asked for and did not get
}

// Pass asks the gates. A finding without a number passes none.
func (r *Report) Pass(gates []Gate) []Passage {
	var out []Passage
	for _, g := range gates {
		p := Passage{Condition: g.Condition}
		seen := &expr.Seen{Source: Answers{r}}
		ok, err := g.Program.Bool(expr.Vars{Source: seen})
		switch {
		case err != nil:
			p.Why = err.Error()
		case !ok:
			p.Why = seen.Why()
		}
		p.Passed = ok && err == nil
		out = append(out, p)
	}
	return out
}

// Answers gives findings to the conditions of a study.
type Answers struct{ Report *Report }

var _ expr.Source = Answers{}

// Verdict is never asked of findings.
func (a Answers) Verdict(string, string) (expr.Verdict, error) {
	return expr.Verdict{}, errors.New("there are findings here, not verdicts")
}

// Findings returns all findings of a stage under a name. Those about a neutral re-ask are none: what changes when merely
// asked again is not what a condition is about.
func (a Answers) Findings(stage, what string) ([]expr.Finding, error) {
	found := a.find(stage, what, func(*Finding) bool { return true })
	if len(found) == 0 {
		return nil, a.none(stage, what)
	}
	out := make([]expr.Finding, len(found))
	for i, f := range found {
		if f.Margin != nil && !f.Value.OK { // not to be worse is not known of it, either
			return nil, fmt.Errorf("that of lane %q is not known: %s", f.Of(ByLane), f.Value.Why)
		}
		out[i] = asked(f)
	}
	return out, nil
}

// Finding returns the finding about a lane that is grouped by the fewest other fields.
func (a Answers) Finding(stage, what, lane string) (expr.Finding, error) {
	found := a.find(stage, what, func(f *Finding) bool { return f.Of(ByLane) == lane && f.Of(ByAgainst) == "" })
	if len(found) == 0 {
		return expr.Finding{}, fmt.Errorf("%w about lane %q", a.none(stage, what), lane)
	}
	best, several := found[0], false
	for _, f := range found[1:] {
		switch {
		case len(f.By) < len(best.By):
			best, several = f, false
		case len(f.By) == len(best.By) && f.name() != best.name():
			several = true
		}
	}
	if several {
		return expr.Finding{}, fmt.Errorf("there are several about lane %q, such as %s", lane, best.name())
	}
	if best.Margin != nil && !best.Value.OK {
		return expr.Finding{}, fmt.Errorf("that of lane %q is not known: %s", lane, best.Value.Why)
	}
	return asked(best), nil
}

// tables returns those that were made for conditions about a stage, else those that are shown.
func (a Answers) tables(stage string) []Table {
	for _, all := range [][]Table{a.Report.Gates, a.Report.Tables} {
		var out []Table
		for _, t := range all {
			if t.Stage == stage {
				out = append(out, t)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func (a Answers) find(stage, what string, wanted func(*Finding) bool) []*Finding {
	var out []*Finding
	for _, t := range a.tables(stage) {
		for k := range t.Findings {
			if f := &t.Findings[k]; f.What == what && !f.Control && wanted(f) {
				out = append(out, f)
			}
		}
	}
	return out
}

func (a Answers) none(stage, what string) error {
	var there []string
	for _, t := range a.tables(stage) {
		for _, f := range t.Findings {
			if f.What == what {
				return fmt.Errorf("stage %s has no finding called %q", stage, what)
			}
			there = append(there, f.What)
		}
	}
	if hint := assay.DidYouMean(what, there); hint != "" {
		return fmt.Errorf("stage %s has no finding called %q (%s)", stage, what, hint)
	}
	return fmt.Errorf("stage %s has no finding called %q", stage, what)
}

// asked returns a finding as conditions see it: what does not exist is NaN, so that no comparison holds.
func asked(f *Finding) expr.Finding {
	out := expr.Finding{
		Value: orNaN(f.Value), Low: math.NaN(), High: math.NaN(), N: f.N, Coverage: orNaN(f.Coverage.Share()),
		Verdict: f.standing(), Lane: f.Of(ByLane), Branch: f.Of(ByBranch), Template: f.Of(ByTemplate), Turn: f.Of(ByTurn),
	}
	if f.Value.OK && f.Interval.OK {
		out.Low, out.High = f.Interval.Low, f.Interval.High
	}
	return out
}

// standing returns how the finding compares with its margin; empty: it has none.
func (f *Finding) standing() string {
	if f.Margin == nil {
		return ""
	}
	return string(f.Margin.Standing)
}

func orNaN(n stats.Number) float64 {
	if !n.OK {
		return math.NaN()
	}
	return n.Value
}
