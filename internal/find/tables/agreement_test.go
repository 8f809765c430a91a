package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// codings is Krippendorff's own example (2011): four raters, twelve units, some labels missing.
func codings() string {
	var b strings.Builder
	b.WriteString("item,rater,label\n")
	for rater, labels := range map[string]string{"A": "123321412...", "B": "123322412 5.3", "C": ".33323422 51.", "D": "123324412 51."} {
		for k, label := range strings.ReplaceAll(labels, " ", "") {
			fmt.Fprintf(&b, "%d,%s,%s\n", k+1, rater, strings.ReplaceAll(string(label), ".", ""))
		}
	}
	return b.String()
}

var labelColumns = LabelColumns{"item", "rater", "label"}

func agreed(t *testing.T, text string, level Measurement) *Agreement {
	t.Helper()
	a, err := open(t, text).Agreement(labelColumns, level)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAlphaIsThatOfKrippendorffsExample(t *testing.T) {
	t.Parallel()
	for level, want := range map[Measurement]float64{Nominal: 0.7434211, Ordinal: 0.8153875, Interval: 0.8491071, Ratio: 0.7974027} {
		a := agreed(t, codings(), level)
		if diff := cmp.Diff(want, *a.Alpha, near); diff != "" || a.Level != level {
			t.Errorf("%s (-want +got):\n%s", level, diff)
		}
	}
	a := agreed(t, codings(), Nominal)
	if a.N != 12 || a.Raters != 4 || a.Ratings != 41 || a.Labels != 5 || a.Missing != 7 || len(a.Pairs) != 6 {
		t.Errorf("%+v", a)
	}
	if a.Fleiss != nil || a.Why["fleiss"] != "items have from 1 to 4 labels, and it needs as many for each" {
		t.Errorf("Fleiss' kappa: %v, %s", a.Fleiss, a.Why["fleiss"])
	}
}

func TestTwoRatersAgreeBeyondChance(t *testing.T) {
	t.Parallel()
	text := "item,rater,label\n"
	for k, said := range strings.Fields("yy yy yy yn yn nn nn nn nn ny") {
		text += fmt.Sprintf("%d,ann,%c\n%d,bob,%c\n", k, said[0], k, said[1])
	}
	a := agreed(t, text, Nominal)
	got := []string{}
	for _, x := range []*float64{a.Agreement, a.Kappa, a.Fleiss, a.Alpha, a.AC1, a.Pairs[0].SE} {
		got = append(got, fmt.Sprintf("%.4f", *x))
	}
	if diff := cmp.Diff([]string{"0.7000", "0.4000", "0.3939", "0.4242", "0.4059", "0.2840"}, got); diff != "" || len(a.Why) > 0 {
		t.Errorf("%v (-want +got):\n%s", a.Why, diff)
	}
}

func TestAMeasureThatDoesNotExistHasItsReason(t *testing.T) {
	t.Parallel()
	crowd := "item,rater,label\n"
	for k := range maxPairedRaters + 1 {
		crowd += fmt.Sprintf("q,r%d,x\n", k)
	}
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"all alike": {"item,rater,label\nq1,ann,yes\nq1,bob,yes\nq2,ann,yes\nq2,bob,yes\n", map[string]string{
			"kappa": "chance alone agrees always", "fleiss": "chance alone agrees always", "alpha": "all ratings are the same value"}},
		"alone": {"item,rater,label\nq1,ann,yes\nq2,bob,yes\n", map[string]string{
			"agreement": "no item was labelled twice", "kappa": "no two raters labelled the same item"}},
		"a crowd": {crowd, map[string]string{"kappa": "more than 100 raters are not compared two by two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := agreed(t, c.text, Nominal)
			for measure, want := range c.want {
				if a.Why[measure] != want {
					t.Errorf("%s: %q, want %q", measure, a.Why[measure], want)
				}
			}
		})
	}
}

func TestLabelsThatCannotBeMeasuredAreReported(t *testing.T) {
	t.Parallel()
	many := "item,rater,label\n"
	for k := range maxKinds + 1 {
		many += fmt.Sprintf("q%d,ann,%d\n", k, k)
	}
	for name, c := range map[string]struct {
		text  string
		level Measurement
		want  []string
	}{
		"names": {"item,rater,label\nq,ann,yes\nq,bob,1\n", Interval,
			[]string{`votes.csv:2: --level interval: the label "yes" is not a number (labels that are names need --level nominal)`}},
		"below 0": {"item,rater,label\nq,ann,-1\nq,bob,1\n", Ratio,
			[]string{`votes.csv:2: --level ratio: the label "-1" is not a number from 0 up (labels that are names need --level nominal)`}},
		"too many": {many, Nominal,
			[]string{"votes.csv: 1001 kinds of label for 1,001 items are too many to compare (is this the right column?)"}},
		"no column": {"item,rater\nq,ann\n", Nominal, []string{`votes.csv:1: there is no column "label" (there are "item", "rater")`}},
		"no level":  {"item,rater,label\nq,ann,yes\n", "best", []string{`no level of measurement is called "best"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, c.text).Agreement(labelColumns, c.level)
			if diff := cmp.Diff(c.want, problemsOf(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
