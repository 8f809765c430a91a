package plan

import (
	"context"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/expr"
)

// Keeps reports whether an item passes the `where` of the conversation's stage, as far as that looks at the item alone.
func (t *Talk) Keeps(it assay.Item) (bool, error) { return keepsItem(t.Stage, it) }

func keepsItem(st *study.Stage, it assay.Item) (bool, error) {
	if st.Keep == nil || len(st.Keep.Stages()) > 0 {
		return true, nil
	}
	return st.Keep.Bool(expr.Vars{Item: &it})
}

// checkVerdicts reports what is wrong with a condition that asks for verdicts.
func (d *Input) checkVerdicts(st *study.Stage, problems *assay.Problems) {
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
			problems.Add(ref.Place, "name a stage that judges; a gate on findings is `when`", "stage %s compares: it has no verdict on a single answer", of.Name)
			continue
		}
		d.checkVoice(of, ref, problems)
	}
}

// checkVoice adds a problem where it is not clear whose verdict a condition means.
func (d *Input) checkVoice(of *study.Stage, ref expr.Reference, problems *assay.Problems) {
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
		problems.Add(ref.Place, `name one, as in verdict("`+of.Name+`", "`+judges[0]+`"), or give the stage a jury`, "stage %s has %s who do not decide together", of.Name, plural(int64(len(judges)), "judge"))
	case ref.Judge != "" && !slices.Contains(judges, ref.Judge) && !strings.HasPrefix(ref.Judge, "human:"):
		problems.Add(ref.Place, assay.DidYouMean(ref.Judge, judges), "stage %s has no judge %q", of.Name, ref.Judge)
	}
}

// where finds the items of a later stage that its condition cannot be decided for, before anything is sent.
func (m *maker) where(ctx context.Context, st *study.Stage) {
	if st.Keep == nil || len(st.Keep.Stages()) > 0 || st.Verb() == study.VerbAsk {
		return
	}
	for it, err := range m.FirstItems(ctx, m.Root(st), m.options.Limit) {
		if err != nil {
			return // reported where the items are read
		}
		if _, err := keepsItem(st, it); err != nil {
			m.problems.Add(it.Place, "", "item %q in stage %s: %s", it.ID, st.Name, err)
			return
		}
	}
}
