package reading

import (
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/cli/shell"
	"assay/internal/study"
)

// possible reports a judge or a verdict that no row of the run can have. It is asked where nothing was found.
func (f resultFlags) possible(ctx context.Context, t *rows.Reader) error {
	var judges, words []string
	won := false // a pair has one by that name: it may be the winner
	add := func(to *[]string, names ...string) {
		for _, n := range names {
			if n != "" && !slices.Contains(*to, n) {
				*to = append(*to, n)
			}
		}
	}
	for i := range t.Study.Stages {
		st := &t.Study.Stages[i]
		if st.Verb() != study.VerbJudge && st.Verb() != study.VerbCompare {
			continue
		}
		for _, l := range t.Study.LanesNamed(st.Judges.List) {
			add(&judges, l.Name)
		}
		people, err := t.Scripts.People(ctx, t.Run, st.Name)
		if err != nil {
			return err
		}
		for _, l := range people.Rubric().Labels {
			add(&words, l.Name)
		}
		if st.Verb() == study.VerbCompare {
			add(&words, assay.LabelTie)
		}
	}
	for v, err := range t.Ledger.Verdicts(ctx, t.Run.No, "") {
		if err != nil {
			return err
		}
		add(&judges, v.At.Judge)
		add(&words, v.Label)
		won = won || v.At.Against != "" && slices.Contains([]string{v.At.Against, v.At.Lane, v.At.Item}, f.pick.Verdict)
	}
	for _, s := range assay.VerdictStates() {
		add(&words, string(s))
	}
	switch {
	case f.pick.Judge != "" && len(judges) == 0:
		return shell.Usage("", "--judge: nobody judges in this run")
	case f.pick.Judge != "" && !slices.Contains(judges, f.pick.Judge):
		return shell.Usage(shell.NearOrAll(f.pick.Judge, judges), "--judge: no judge of the run is called %q", f.pick.Judge)
	case f.pick.Verdict != "" && !slices.Contains(words, f.pick.Verdict) && !won:
		return shell.Usage(shell.NearOrAll(f.pick.Verdict, words), "--verdict: no verdict of the run can be %q", f.pick.Verdict)
	}
	return nil
}
