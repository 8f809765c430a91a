package check

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/expr"
)

// checkVerdicts reports what is wrong with a condition that asks for verdicts.
func (d checker) checkVerdicts(st *study.Stage, problems *assay.Problems) {
	if st.Keep == nil {
		return
	}
	for _, ref := range st.Keep.Stages() {
		of, ok := d.Study.Stage(ref.Stage)
		if !ok {
			continue
		}
		if _, items := d.Study.Inputs.Find(st.Compare); st.Compare != "" && items {
			problems.Add(ref.Place, "compare the answers of a stage", "stage %s compares items, on which there are no verdicts", st.Name)
			continue
		}
		if of.Verb() == study.VerbCompare {
			problems.Add(ref.Place, "name a stage that judges; a gate on findings is `when`",
				"stage %s compares: it has no verdict on a single answer", of.Name)
			continue
		}
		d.checkVoice(of, ref, problems)
	}
}

// checkVoice adds a problem where it is not clear whose verdict a condition means.
func (d checker) checkVoice(of *study.Stage, ref expr.Reference, problems *assay.Problems) {
	var judges []string
	for _, l := range d.Study.LanesNamed(of.Judges.List) {
		judges = append(judges, l.Name)
	}
	r, err := d.Rubric(of)
	if err != nil || len(r.Prompts) == 0 {
		return
	}
	switch {
	case ref.Judge == "" && len(judges) > 1 && (of.Jury == "" || of.Jury == study.Jury(judge.Each)):
		problems.Add(ref.Place, `name one, as in verdict("`+of.Name+`", "`+judges[0]+`"), or give the stage a jury`,
			"stage %s has %s who do not decide together", of.Name, assay.Count(len(judges), "judge"))
	case ref.Judge != "" && !slices.Contains(judges, ref.Judge) && !strings.HasPrefix(ref.Judge, "human:") &&
		!strings.HasPrefix(ref.Judge, study.ImportedJudge):
		problems.Add(ref.Place, assay.DidYouMean(ref.Judge, judges), "stage %s has no judge %q", of.Name, ref.Judge)
	}
}
