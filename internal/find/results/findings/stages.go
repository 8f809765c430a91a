package findings

import (
	"context"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/people"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// stagesOf returns the stages of a run that give verdicts, as analyses need to know them.
func stagesOf(ctx context.Context, r *results.Reader, run store.Run, of *study.Study) ([]analysis.Stage, error) {
	desk := &plan.Input{Study: of}
	families := familiesOf(of)
	segments, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	costs := sumSegments(segments)
	looks, err := r.Scripts.Looked(ctx, run)
	if err != nil {
		return nil, err
	}
	var out []analysis.Stage
	for _, st := range plan.InOrder(of) {
		verb := st.Verb()
		if verb != study.VerbJudge && verb != study.VerbCompare {
			continue
		}
		rubric, err := desk.Rubric(st)
		if err != nil {
			return nil, err
		}
		s := analysis.Stage{
			Name: st.Name, Verb: analysis.Judged, Flips: rubric.AgainstFirst, Weighed: rubric.Weighed,
			Low: rubric.Range.Low, High: rubric.Range.High,
			Whole: rubric.Range.Whole, Families: families, Gold: st.Gold != "", Ruled: rubric.Rule != nil || byProgram(of, st),
			Validated: rubric.Rule != nil, Control: control(of, st), Selected: selected(of, st), Rule: countRule(st.Count),
			Decided: Decided(of, st), Jury: juryOf(of, st), Each: eachTurn(of, st, rubric), Spent: spentOn(of, st, costs),
		}
		for _, l := range rubric.Labels {
			if !l.Abstain {
				s.Labels = append(s.Labels, analysis.Label{Name: l.Name, Score: l.Score})
			}
		}
		for _, l := range of.LanesNamed(st.Judges.List) {
			s.Judges = append(s.Judges, l.Name)
		}
		s.Judges = append(s.Judges, st.ImportedJudges()...)
		if s.People, err = r.Ledger.People(ctx, run.No, st.Name); err != nil {
			return nil, err
		}
		if s.Draw, err = drawOf(ctx, r, run, &s); err != nil {
			return nil, err
		}
		if s.Unclear, err = unclear(ctx, r, run, st.Name, len(s.People)); err != nil {
			return nil, err
		}
		if err := design(ctx, r, run, of, &s); err != nil {
			return nil, err
		}
		if verb == study.VerbCompare {
			if err := compared(ctx, r, run, of, &s); err != nil {
				return nil, err
			}
		}
		if len(looks) > 0 && verb == study.VerbJudge {
			items, err := Items(ctx, r, run, st.Name)
			if err != nil {
				return nil, err
			}
			s.Looked = analysis.LookedAt(looks, st.Name, items)
		}
		s.Low, s.High = scoreRange(s)
		if s.Worst = s.Low; rubric.Worse == judge.High {
			s.Worst = s.High
		}
		out = append(out, s)
	}
	return out, nil
}

// Items counts the items of a run that a stage is about.
func Items(ctx context.Context, r *results.Reader, run store.Run, stage string) (n int, err error) {
	of, err := r.Study(ctx, run)
	if err != nil {
		return 0, err
	}
	st, _ := of.Stage(stage)
	for _, err := range r.Ledger.ItemHeads(ctx, run.No, (&plan.Input{Study: of}).Root(st)) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// eachTurn reports whether a stage judges first answers of conversations and later ones alike.
func eachTurn(of *study.Study, st *study.Stage, r judge.Rubric) bool {
	if st.Verb() != study.VerbJudge || plan.Of(st, r).Which != study.OfEach {
		return false
	}
	return slices.ContainsFunc(sources(of, st), func(from *study.Stage) bool { return len(from.Turns) > 1 })
}

// familiesOf returns who made the model of each lane.
func familiesOf(of *study.Study) map[string]string {
	out := map[string]string{}
	for _, l := range of.Lanes {
		out[l.Name] = l.Provider
		if maker, _, ok := strings.Cut(l.Model, "/"); ok {
			out[l.Name] = maker
		}
	}
	return out
}

// compared fills in how a stage compares.
func compared(ctx context.Context, r *results.Reader, run store.Run, of *study.Study, s *analysis.Stage) error {
	st, _ := of.Stage(s.Name)
	_, lanes := of.Stage(st.Compare)
	s.Verb, s.Items = analysis.Compared, !lanes
	if st.Pairs != nil {
		s.Within = st.Pairs.Within
	}
	var err error
	s.Rounds, err = Rounds(ctx, r, run, st)
	return err
}

// maxLengths is up to how many answers their lengths are read unasked: they are held until all verdicts are.
const maxLengths = 200_000

// design fills in how the judged answers came about.
func design(ctx context.Context, r *results.Reader, run store.Run, of *study.Study, s *analysis.Stage) error {
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	st, _ := of.Stage(s.Name)
	answers := int64(0)
	for _, from := range sources(of, st) {
		for _, before := range conversation(of, from) {
			s.Draws, s.Templates = max(s.Draws, before.Repeats.N), max(s.Templates, len(before.Prompt))
		}
		for _, l := range lanes {
			if l.Stage == from.Name {
				answers += l.Planned
			}
		}
	}
	asked := slices.ContainsFunc(of.Analyses, func(a study.Analysis) bool { return a.Of == s.Name && a.Method == string(analysis.Length) })
	s.Lengths = asked || answers > 0 && answers <= maxLengths
	return nil
}

// conversation returns a stage and those that its conversations began in.
func conversation(of *study.Study, st *study.Stage) []*study.Stage {
	out := []*study.Stage{st}
	for range of.Stages {
		before, ok := of.Stage(out[len(out)-1].Continue)
		if !ok {
			break
		}
		out = append(out, before)
	}
	return out
}

// spentOn returns what the answers that a stage judges cost, and its verdicts.
func spentOn(of *study.Study, st *study.Stage, costs []Spending) *analysis.Spent {
	var asked []*study.Stage
	for _, from := range sources(of, st) {
		for _, s := range conversation(of, from) {
			if !slices.Contains(asked, s) {
				asked = append(asked, s)
			}
		}
	}
	out := &analysis.Spent{Answers: map[string]float64{}, Verdicts: map[string]float64{}}
	unknown := map[string]bool{}
	for _, c := range costs {
		to := out.Verdicts
		if c.Stage != st.Name {
			to = out.Answers
			if !slices.ContainsFunc(asked, func(s *study.Stage) bool { return s.Name == c.Stage }) {
				continue
			}
			unknown[c.Lane] = unknown[c.Lane] || !c.Cost.Known()
		}
		if c.Cost.Known() {
			to[c.Lane] += c.Cost.Sum.Float()
		}
	}
	for lane, is := range unknown {
		if is {
			delete(out.Answers, lane)
		}
	}
	return out
}

// byProgram reports whether a program of the study's author judges.
func byProgram(of *study.Study, st *study.Stage) bool {
	r := of.RubricOf(st)
	return r != nil && len(r.Command) > 0
}

// scoreRange returns the range that the rubric gives, else that of its labels.
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

// sources returns the stages whose answers a stage reads.
func sources(of *study.Study, st *study.Stage) []*study.Stage {
	var out []*study.Stage
	for _, name := range append(slices.Clone(st.Judge.List), st.Compare) {
		if s, ok := of.Stage(name); ok {
			out = append(out, s)
		}
	}
	return out
}

// control returns the branch that nobody presses; empty: the judged stages have none.
func control(of *study.Study, st *study.Stage) string {
	for _, s := range sources(of, st) {
		if of.Controlled(s) {
			return plan.ControlBranch
		}
	}
	return ""
}

// selected returns the stage after whose results the judged lanes were chosen.
func selected(of *study.Study, st *study.Stage) string {
	for _, s := range sources(of, st) {
		for _, s := range conversation(of, s) { // what goes on with a chosen lane is about a chosen lane
			if s.LaneGate != nil && len(s.LaneGate.Stages()) > 0 {
				return s.LaneGate.Stages()[0].Stage
			}
		}
	}
	return ""
}

// drawOf returns the items that people were asked about; nil: there are no labels on drawn ones.
func drawOf(ctx context.Context, r *results.Reader, run store.Run, s *analysis.Stage) (*analysis.Draw, error) {
	if len(s.People) == 0 {
		return nil, nil
	}
	stage, err := r.Scripts.People(ctx, run, s.Name)
	if err != nil {
		return nil, err
	}
	return stage.Draw(ctx)
}

// unclear counts the labels of people that were chosen because it was not clear which of two is better.
func unclear(ctx context.Context, r *results.Reader, run store.Run, stage string, labels int) (n int, err error) {
	if labels == 0 {
		return 0, nil
	}
	for v, err := range r.Ledger.PeopleVerdicts(ctx, run.No, stage) {
		if err != nil {
			return n, err
		}
		if chosen, _ := people.ChosenAs(&v); v.State == assay.VerdictValid && chosen == analysis.ChosenUncertain {
			n++
		}
	}
	return n, nil
}
