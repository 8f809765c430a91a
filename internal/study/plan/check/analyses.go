package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// laneNames returns the lanes that answers of a study may be of.
func laneNames(s *study.Study) []string {
	var out []string
	for _, l := range slices.Concat(s.Lanes, s.Elsewhere) {
		out = append(out, l.Name)
	}
	return out
}

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
		s.Flips, s.Weighed = r.AgainstFirst, r.Weighed
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
		d.checkGroups(a, st, problems)
		if lanes := laneNames(d.Study); a.Against != "" && a.Baseline == "" && !slices.Contains(lanes, a.Against) {
			problems.Add(a.Where.Key("against"), assay.Choices(a.Against, lanes), "against: there is no lane %q", a.Against)
		}
	}
}

// checkGroups wants what findings are grouped by, or held against, to be there: a field of every finding, or one of the items.
func (d checker) checkGroups(a *study.Analysis, st *study.Stage, problems *assay.Problems) {
	scope := d.itemScope(d.Root(st))
	if scope.Open {
		return
	}
	names := slices.Sorted(maps.Keys(scope.Fields))
	missing := func(key, field string, known []string) {
		if top, _, _ := strings.Cut(field, "."); !slices.Contains(names, top) {
			problems.Add(a.Where.Key(key), cmp.Or(assay.DidYouMean(field, known), assay.ThereAre(known)),
				"%s: no item has a field %q", key, field)
		}
	}
	for _, f := range a.By.List {
		if !analysis.OwnField(f) {
			missing("by", f, slices.Concat(analysis.OwnFields(), names))
		}
	}
	if a.With != "" {
		missing("with", a.With, names)
	}
}
