package trend

import (
	"context"
	"fmt"
	"math"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/find/stats"
	"assay/internal/find/stats/drift"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// Step holds the changes of a stage from one run to the next.
type Step struct {
	Items  int    // that both runs have, unchanged
	Edited int    // that both have, and that were changed: they are left out
	Alone  [2]int // that only the first, or only the second, has
	Why    string // why nothing is compared; empty: it is
	Judge  Judge
	Lanes  []Lane
	Edits  edit.Difference // of the study, besides those of the judge
	Served []Version       // models that answer in another version
}

// Judge holds the evidence about the judge between two runs.
type Judge struct {
	drift.Judge
	Gold   string          // the stage that judges the gold set; empty: the study has none for it
	Edited int             // gold answers that were changed, and are left out
	Taken  int64           // verdicts on the gold set that one of the runs took over from an earlier one: nothing is measured
	Unlike string          // how the gold set is unlike the study's answers, in words, so that its shift says nothing about these
	ByHand edit.Difference // what was changed about the judge in the study
	Served []Version
}

// Lane is the change of one lane.
type Lane struct {
	Name string
	drift.Lane
	TakenOver, Answers int64 // of its answers in the second run: those of an earlier run, and all
}

// Version is a model that was served under another name.
type Version struct {
	Lane string `json:"lane"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// step enters what changed from one run to the next into every stage.
func (t *Trend) step(ctx context.Context, r *results.Reader, i int) error {
	runs := [2]store.Run{t.Runs[i].Run, t.Runs[i+1].Run}
	diff, changes, err := findings.Changes(ctx, [2]*results.Reader{r, r}, runs)
	if err != nil {
		return err
	}
	a, err := readAccount(ctx, r, runs)
	if err != nil {
		return err
	}
	for k := range t.Stages {
		s := &t.Stages[k]
		step := Step{Why: "the two runs have no such stage in common"}
		st, ok := a.studies[1].Stage(s.Name)
		if ok {
			input := (&plan.Input{Study: a.studies[1]}).Root(st)
			if n := slices.IndexFunc(diff.Items, func(n findings.SharedItems) bool { return n.Input == input }); n >= 0 {
				of := diff.Items[n]
				step.Items, step.Edited, step.Alone = of.Shared-of.Changed, of.Changed, [2]int{of.First, of.Second}
			}
		}
		at := slices.IndexFunc(changes, func(c findings.StageChange) bool { return c.Stage.Name == s.Name })
		switch {
		case ok && st.Verb() == study.VerbCompare:
			step.Why = "comparisons of two runs are not paired: only the values stand side by side"
		case at >= 0 && step.Items == 0:
			step.Why = "the two runs share no item that stayed the same"
		case at >= 0:
			if err := a.compare(&step, &changes[at], st); err != nil {
				return err
			}
		}
		s.Steps = append(s.Steps, step)
	}
	return nil
}

// account holds the facts about two runs besides their verdicts.
type account struct {
	studies [2]*study.Study
	lanes   [2][]store.Lane
	served  [2][]store.Served
	edits   edit.Difference
}

func readAccount(ctx context.Context, r *results.Reader, runs [2]store.Run) (*account, error) {
	var a account
	for i, run := range runs {
		var err error
		if a.studies[i], err = r.Study(ctx, run); err != nil {
			return nil, err
		}
		if a.lanes[i], err = r.Ledger.Lanes(ctx, run.No); err != nil {
			return nil, err
		}
		if a.served[i], err = r.Ledger.Served(ctx, run.No); err != nil {
			return nil, err
		}
	}
	a.edits = edit.Compare(a.studies[0], a.studies[1]).Asks()
	return &a, nil
}

// compare takes the changes of a stage apart.
func (a *account) compare(step *Step, c *findings.StageChange, st *study.Stage) error {
	step.Why = ""
	step.Judge = a.judge(c, st)
	for _, e := range a.edits {
		if !slices.ContainsFunc(step.Judge.ByHand, func(o edit.Change) bool { return o.String() == e.String() }) && a.touches(e, c, st) {
			step.Edits = append(step.Edits, e)
		}
	}
	lanes := make([]drift.Lane, len(c.Lanes))
	for i := range c.Lanes {
		name := c.Lanes[i].Of(analysis.ByLane)
		one := Lane{Name: name}
		one.TakenOver, one.Answers = a.taken(1, st.Judge.List, name)
		lanes[i] = drift.Lane{Change: ChangeOf(&c.Lanes[i], spanOf(&c.Stage)), Taken: one.Answers > 0 && one.TakenOver == one.Answers}
		step.Lanes = append(step.Lanes, one)
		step.Served = append(step.Served, a.versions(st.Judge.List, name)...)
	}
	err := drift.Apportion(step.Judge.Judge, lanes, Level)
	for i := range lanes {
		step.Lanes[i].Lane = lanes[i]
	}
	return err
}

// judge returns what is known of the judge of a stage.
func (a *account) judge(c *findings.StageChange, st *study.Stage) Judge {
	rule := c.Stage.Ruled && c.Stage.Validated // else a program may judge, which may do what it wants
	out := Judge{ByHand: slices.DeleteFunc(slices.Clone(a.edits), func(e edit.Change) bool {
		return !ofJudge(e, c.Stage.Judges, st) && !(e.Section == edit.Programs && c.Stage.Ruled && !rule)
	})}
	for _, name := range c.Stage.Judges {
		out.Served = append(out.Served, a.versions([]string{st.Name}, name)...)
	}
	if out.Exact = rule && len(out.ByHand) == 0; out.Exact || c.Gold == nil {
		return out
	}
	out.Gold, out.Edited = c.Gold.Stage, c.Gold.Edited
	for _, name := range c.Stage.Judges {
		for run := range 2 {
			n, _ := a.taken(run, []string{c.Gold.Stage}, name)
			out.Taken += n
		}
	}
	out.Shift = ChangeOf(&c.Gold.Shift, spanOf(&c.Stage))
	out.Unlike = unlike(c)
	out.Measured = out.Taken == 0 && out.Shift.Value.OK && out.Unlike == ""
	return out
}

// unlike returns how a gold set is unlike the study's answers: the judge's verdicts on it are surely others, by a tenth of the scale, or
// its texts are three times as long or as short. Empty: it is not.
func unlike(c *findings.StageChange) string {
	gold, answers := &c.Gold.Verdicts, &c.Gold.Answers
	if gold.SE.OK && answers.SE.OK && drift.Unlike(drift.Mean{Value: gold.Value.Value, SE: gold.SE.Value},
		drift.Mean{Value: answers.Value.Value, SE: answers.SE.Value}, spanOf(&c.Stage), Level) {
		return fmt.Sprintf("the judge said %s of them before, and %s of the study's", gold.Shown().Show(gold.Value.Value),
			answers.Shown().Show(answers.Value.Value))
	}
	if a, b := c.Gold.Long[0], c.Gold.Long[1]; a.N > 0 && b.N > 0 {
		if ratio := a.Sum/float64(a.N) - b.Sum/float64(b.N); math.Abs(ratio) > math.Log(3) {
			return fmt.Sprintf("they are %.1f times as long", math.Exp(ratio))
		}
	}
	return ""
}

// ofJudge reports whether an edit changes how a stage judges.
func ofJudge(e edit.Change, judges []string, st *study.Stage) bool {
	switch e.Section {
	case edit.Lanes:
		return slices.Contains(judges, e.Name)
	case edit.Stages:
		return e.Name == st.Name && !slices.Contains([]string{"judge", "where", "when", "among", "mode", "batch"}, e.Key)
	case edit.Rubrics, edit.Traits:
		return st.Rubric.Name != "" && (e.Name == st.Rubric.Name || slices.Contains(e.Added, st.Rubric.Name)) ||
			e.Section == edit.Traits && slices.Contains(st.Trait.List, e.Name)
	}
	return false
}

// touches reports whether an edit may change the answers that a stage judges, or which they are.
func (a *account) touches(e edit.Change, c *findings.StageChange, st *study.Stage) bool {
	switch e.Section {
	case edit.Lanes:
		return e.Name == "" || slices.ContainsFunc(c.Lanes, func(f analysis.Finding) bool { return f.Of(analysis.ByLane) == e.Name })
	case edit.Stages:
		return e.Name == st.Name || slices.Contains(st.Judge.List, e.Name)
	case edit.Rubrics, edit.Traits, edit.Programs:
		return false
	}
	return true
}

// taken counts the answers of a lane in some stages that a run took over, and all.
func (a *account) taken(run int, stages []string, lane string) (taken, all int64) {
	for _, l := range a.lanes[run] {
		if l.Name == lane && slices.Contains(stages, l.Stage) {
			taken, all = taken+l.Reused, all+l.Ended()
		}
	}
	return taken, all
}

// versions returns how a lane is served otherwise in the second run than in the first; none: it is not, or replies do not tell.
func (a *account) versions(stages []string, lane string) []Version {
	var models [2]string
	for run := range 2 {
		var most int64
		for _, s := range a.served[run] {
			if s.Lane == lane && slices.Contains(stages, s.Stage) && s.Answers > most {
				models[run], most = s.Model, s.Answers
			}
		}
	}
	if models[0] == models[1] || models[0] == "" || models[1] == "" {
		return nil
	}
	return []Version{{lane, models[0], models[1]}}
}

// spanOf returns how far apart two verdicts of a stage can be; 0: that is not known.
func spanOf(s *analysis.Stage) float64 {
	if len(s.Yes()) > 0 {
		return 1
	}
	if s.Low == nil || s.High == nil {
		return 0
	}
	return *s.High - *s.Low
}

// ChangeOf returns a difference between two runs as a change. Few changes are no certainty: the interval is at least that of two verdicts
// that changed, and where none did, that of changes so rare that none would show.
func ChangeOf(f *analysis.Finding, span float64) drift.Change {
	c := drift.Change{Value: f.Value, Interval: f.Interval, P: f.P, N: f.N, Clusters: f.Clusters}
	if f.Unit == analysis.Share {
		span, c.Step = 1, 1/float64(max(f.N, 1))
	}
	if !f.Value.OK || f.Clusters == 0 {
		return c
	}
	if stats.Same(f.Value.Value, 0) && (!f.Interval.OK || stats.Same(f.P.Value, 1)) {
		if none := stats.Unchanged(f.Clusters, span, Level); none.OK && (!f.Interval.OK || none.High > f.Interval.High) {
			c.Interval = none
		}
	}
	if least := stats.NormalInterval(f.Value.Value, span*math.Sqrt2/float64(f.Clusters), Level); c.Interval.OK && span > 0 {
		c.Interval = stats.Between(min(c.Interval.Low, least.Low), max(c.Interval.High, least.High))
	}
	return c
}
