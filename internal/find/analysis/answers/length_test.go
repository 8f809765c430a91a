package answers

import (
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
