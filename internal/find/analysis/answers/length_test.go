package answers

import (
	"strconv"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
)

func TestVerdictsBeyondTheMostThatAGroupKeepsAreNoted(t *testing.T) {
	t.Parallel()
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged, Judges: []string{"judge"}}
	l := NewLengths(gather.Job{Stage: &stage, Spec: analysis.Spec{Method: analysis.Length}, Known: &gather.Names{}}).(*lengths)
	score := 1.0
	row := &analysis.Row{Item: "i", Lane: "one", Judge: "judge", State: assay.VerdictValid, Length: 10, Score: &score}
	l.Add(row)
	d := l.groups.Of(row).Data
	if len(d.value) != 1 {
		t.Fatalf("%d rows are kept", len(d.value))
	}
	d.cluster, d.stratum = make([]uint32, gather.MaxUnits), make([]uint32, gather.MaxUnits)
	d.x, d.value = make([]float64, gather.MaxUnits), make([]float64, gather.MaxUnits)
	l.Add(row)
	l.Add(row)
	tables, err := l.Tables()
	if err != nil {
		t.Fatal(err)
	}
	want := "2 verdicts left out: lengths are computed over the first 2000000 of a group"
	if notes := strings.Join(tables[0].Notes, "; "); notes != want {
		t.Errorf("notes %q", notes)
	}
}

func TestVerdictsOnAnswersBeyondTheMostThatAreKeptAreNoted(t *testing.T) {
	t.Parallel()
	one, none := 1.0, 0.0
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged, Judges: []string{"one", "two"},
		Labels: []analysis.Label{{Name: "right", Score: &one}, {Name: "wrong", Score: &none}}}
	said := func(judge, item string) *analysis.Row {
		return &analysis.Row{Stage: "correct", Item: item, Lane: "a", Judge: judge, State: assay.VerdictValid, Label: "right", Score: &one}
	}
	j := NewJudges(gather.Job{Stage: &stage, Spec: analysis.Spec{Method: analysis.Agreement}, Known: &gather.Names{}}).(*judges)
	v := NewValidity(gather.Job{Stage: &stage, Spec: analysis.Spec{Method: analysis.Validity}, Known: &gather.Names{}})
	v.Learn(said(analysis.GoldJudge, "i"))
	for k, c := range []gather.Collector{j, v} {
		c.Add(said("one", "i"))
		names := []*gather.Names{&j.units, &v.units}[k]
		for i := range gather.MaxUnits {
			names.Of(strconv.Itoa(i))
		}
		c.Add(said("two", "i")) // the answer is known
		c.Add(said("one", "other"))
	}
	if len(j.ratings) != 2 || j.omitted != 1 {
		t.Errorf("%d ratings of the first answer, %d left out", len(j.ratings), j.omitted)
	}
	judges := 0
	for judge := range v.said {
		judges += int(gather.One(v.about(uint32(judge), 0).there))
	}
	if judges != 2 || v.omitted != 1 {
		t.Errorf("%d judges of the first answer, %d left out", judges, v.omitted)
	}
	table := analysis.Table{}
	v.notes(&table)
	if !strings.Contains(strings.Join(table.Notes, "; "), "1 verdict left out: validity is computed over the first 2000000") {
		t.Errorf("notes %q", table.Notes)
	}
}
