package results

import (
	"context"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/plan"
)

// stages are the stages that give verdicts.
func (d *rowReader) stages(ctx context.Context) ([]analysis.Stage, error) {
	desk := &plan.Input{Study: d.study}
	families := map[string]string{}
	for _, l := range d.study.Lanes {
		families[l.Name] = l.Provider
		if maker, _, ok := strings.Cut(l.Model, "/"); ok {
			families[l.Name] = maker
		}
	}
	var out []analysis.Stage
	for _, st := range plan.InOrder(d.study) {
		verb := st.Verb()
		if verb != study.VerbJudge && verb != study.VerbCompare {
			continue
		}
		r, err := desk.Rubric(st)
		if err != nil {
			return nil, err
		}
		s := analysis.Stage{
			Name: st.Name, Verb: analysis.Judged, Flips: r.AgainstFirst, Low: r.Range.Low, High: r.Range.High, Whole: r.Range.Whole, Families: families,
			Gold: st.Gold != "", Ruled: r.Rule != nil || d.program(st), Validated: r.Rule != nil, Control: d.control(st), Selected: d.selected(st), Rule: countRule(st.Count),
			Decided: d.panelOf(st) != nil,
		}
		for _, l := range r.Labels {
			if !l.Abstain {
				s.Labels = append(s.Labels, analysis.Label{Name: l.Name, Score: l.Score})
				if r.Flags(l.Score) {
					s.Flagged = append(s.Flagged, l.Name)
				}
			}
		}
		for _, l := range d.study.LanesNamed(st.Judges.List) {
			s.Judges = append(s.Judges, l.Name)
		}
		if s.People, err = d.Ledger.People(ctx, d.run.No, st.Name); err != nil {
			return nil, err
		}
		if s.Unclear, err = d.unclear(ctx, st.Name, len(s.People)); err != nil {
			return nil, err
		}
		if err := d.design(ctx, st, &s); err != nil {
			return nil, err
		}
		if s.Added, s.Uneven, err = d.added(ctx, d.run, st.Name); err != nil {
			return nil, err
		}
		if verb == study.VerbCompare {
			s.Verb = analysis.Compared
			_, lanes := d.study.Stage(st.Compare)
			s.Items = !lanes
			if st.Pairs != nil {
				s.Within = st.Pairs.Within
			}
			if s.Rounds, err = d.Rounds(ctx, d.run, st); err != nil {
				return nil, err
			}
			if s.Rounds == nil && d.look {
				s.Rounds = &analysis.Rounds{Planned: 1, Alpha: adaptive.Alpha, Level: adaptive.Alpha, Next: adaptive.Alpha / adaptive.Rounds}
			}
		}
		s.Low, s.High = scoreRange(s)
		if s.Worst = s.Low; r.Worse == judge.High {
			s.Worst = s.High
		}
		out = append(out, s)
	}
	return out, nil
}

// maxLengths is up to how many answers their lengths are read unasked: they are held until all verdicts are.
const maxLengths = 200_000

// design fills in how the judged answers came about.
func (d *rowReader) design(ctx context.Context, st *study.Stage, s *analysis.Stage) error {
	lanes, err := d.Ledger.Lanes(ctx, d.run.No)
	if err != nil {
		return err
	}
	answers := int64(0)
	for _, from := range d.sources(st) {
		s.Draws = max(s.Draws, from.Repeats.N)
		for _, l := range lanes {
			if l.Stage == from.Name {
				answers += l.Planned
			}
		}
	}
	asked := slices.ContainsFunc(d.study.Analyses, func(a study.Analysis) bool { return a.Of == st.Name && a.Method == string(analysis.Length) })
	s.Lengths = asked || answers > 0 && answers <= maxLengths
	return nil
}

// program reports whether a program of the study's author judges.
func (d *rowReader) program(st *study.Stage) bool {
	r := d.study.RubricOf(st)
	return r != nil && len(r.Command) > 0
}

// scoreRange is the range that the rubric gives, else that of its labels.
func scoreRange(s analysis.Stage) (low, high *float64) {
	low, high = s.Low, s.High
	if low != nil && high != nil {
		return low, high
	}
	for _, l := range s.Labels {
		if l.Score == nil {
			return s.Low, s.High
		}
		if low == nil || *l.Score < *low {
			low = l.Score
		}
		if high == nil || *l.Score > *high {
			high = l.Score
		}
	}
	return low, high
}

func countRule(c study.Count) string {
	var parts []string
	for _, p := range []struct {
		name string
		as   study.CountAs
	}{{"refused", c.Refused}, {"cut", c.Cut}} {
		if p.as != "" && p.as != "answer" {
			parts = append(parts, p.name+": "+string(p.as))
		}
	}
	return strings.Join(parts, ", ")
}

// sources are the stages whose answers a stage reads.
func (d *rowReader) sources(st *study.Stage) []*study.Stage {
	var out []*study.Stage
	for _, name := range append(slices.Clone(st.Judge.List), st.Compare) {
		if s, ok := d.study.Stage(name); ok {
			out = append(out, s)
		}
	}
	return out
}

func (d *rowReader) control(st *study.Stage) string {
	for _, s := range d.sources(st) {
		if d.study.Controlled(s) {
			return plan.ControlBranch
		}
	}
	return ""
}

// selected is the stage after whose results the judged lanes were chosen.
func (d *rowReader) selected(st *study.Stage) string {
	for _, s := range d.sources(st) {
		for range d.study.Stages { // what goes on with a chosen lane is about a chosen lane
			if s.LaneGate != nil && len(s.LaneGate.Stages()) > 0 {
				return s.LaneGate.Stages()[0].Stage
			}
			from, ok := d.study.Stage(s.Continue)
			if !ok {
				break
			}
			s = from
		}
	}
	return ""
}
