package check

import (
	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// checkAnalyses wants every analysis to suit its stage, before anything is paid.
func (d checker) checkAnalyses(problems *assay.Problems) {
	for i := range d.Study.Analyses {
		a := &d.Study.Analyses[i]
		st, ok := d.Study.Stage(a.Of)
		if !ok {
			continue // reported already
		}
		s := analysis.Stage{Name: st.Name, Verb: analysis.Judged}
		switch st.Verb() {
		case study.VerbCompare:
			_, lanes := d.Study.Stage(st.Compare)
			s.Verb, s.Items = analysis.Compared, !lanes
		case study.VerbJudge:
		default:
			problems.Add(a.Where.Key("of"), "name a stage that judges or compares", "stage %s gives no verdicts to analyse", st.Name)
			continue
		}
		r, err := d.Rubric(st)
		if err != nil {
			continue // reported already
		}
		s.Flips = r.AgainstFirst
		for _, l := range r.Labels {
			s.Labels = append(s.Labels, analysis.Label{Name: l.Name, Score: l.Score})
		}
		if _, err := analysis.ParseControls(a.Control.List); err != nil {
			problems.Add(a.Where.Key("control"), "", "stage %s: %s", a.Of, err)
		}
		spec := analysis.Spec{Stage: a.Of, Method: analysis.Method(a.Method), By: a.By.List, Settings: plan.SettingsOf(a)}
		if err := spec.Check(&s); err != nil {
			problems.Add(a.Where.At, "", "%s", err)
		}
	}
}
