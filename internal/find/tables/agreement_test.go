package tables

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/stats"
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

var labelColumns = LabelColumns{Item: "item", Rater: "rater", Label: "label"}

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
	for _, x := range []*float64{a.Agreement, a.Kappa, a.Fleiss, a.Alpha, a.AC1, a.Pairs[0].Errors["kappa"].SE} {
		got = append(got, fmt.Sprintf("%.4f", *x))
	}
	if diff := cmp.Diff([]string{"0.7000", "0.4000", "0.3939", "0.4242", "0.4059", "0.3196"}, got); diff != "" || len(a.Why) > 0 {
		t.Errorf("%v (-want +got):\n%s", a.Why, diff)
	}
}

// measures are all that have errors.
func measures(a *Agreement) map[string]*float64 {
	return map[string]*float64{"agreement": a.Agreement, "kappa": a.Kappa, "fleiss": a.Fleiss, "alpha": a.Alpha, "ac1": a.AC1}
}

// ratings is a table of three raters' labels: some items are clear, and some are not.
func ratings(items, perCluster int) (rows []string) {
	luck := rand.New(rand.NewPCG(7, 7))
	for i := range items {
		clear := luck.Float64()
		for _, rater := range []string{"ann", "bob", "cem"} {
			label := [...]string{"x", "y", "z"}[i%3]
			if luck.Float64() > clear {
				label = [...]string{"x", "y", "z"}[luck.IntN(3)]
			}
			rows = append(rows, fmt.Sprintf("q%d,%s,%s,t%d\n", i, rater, label, i/perCluster))
		}
	}
	return rows
}

func TestMeasuresHaveTheErrorOfLeavingOutOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const head = "item,rater,label,topic\n"
	for name, c := range map[string]struct {
		columns    LabelColumns
		perCluster int
	}{
		"items":    {labelColumns, 1},
		"clusters": {LabelColumns{Item: "item", Rater: "rater", Label: "label", Cluster: "topic"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measure := func(rows []string) *Agreement {
				a, err := open(t, head+strings.Join(rows, "")).Agreement(c.columns, Nominal)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			rows := ratings(24, c.perCluster)
			all, out := measure(rows), 3*c.perCluster
			g := float64(len(rows) / out)
			sums, squares := map[string]float64{}, map[string]float64{}
			for from := 0; from < len(rows); from += out {
				for name, v := range measures(measure(slices.Delete(slices.Clone(rows), from, from+out))) {
					sums[name], squares[name] = sums[name]+*v, squares[name]+*v**v
				}
			}
			for name, v := range measures(all) {
				e := all.Errors[name]
				if want := math.Sqrt((g - 1) / g * (squares[name] - sums[name]*sums[name]/g)); math.Abs(*e.SE-want) > 1e-9 {
					t.Errorf("%s: error %v, want %v", name, *e.SE, want)
				}
				if !(*e.Low < *v && *v < *e.High) || e.Why != "" || *e.High-*e.Low < 3**e.SE {
					t.Errorf("%s: %v with %v to %v", name, *v, *e.Low, *e.High)
				}
			}
			slices.Reverse(rows)
			if diff := cmp.Diff(all.Errors, measure(rows).Errors, near); diff != "" || all.Clusters != int(g) {
				t.Errorf("%d clusters; the order of rows changes errors:\n%s", all.Clusters, diff)
			}
		})
	}
}

func TestErrorsOfManyItemsAreThoseOfGroups(t *testing.T) {
	t.Parallel()
	few, many := agreed(t, "item,rater,label,topic\n"+strings.Join(ratings(99, 1), ""), Nominal),
		agreed(t, "item,rater,label,topic\n"+strings.Join(ratings(990, 1), ""), Nominal)
	for name, e := range many.Errors {
		if ratio := *few.Errors[name].SE / *e.SE; ratio < 2.5 || ratio > 4.2 {
			t.Errorf("%s: ten times the items have an error %.2f times as small", name, ratio)
		}
	}
}

func TestAnErrorThatCannotBeEstimatedHasItsReason(t *testing.T) {
	t.Parallel()
	text := "item,rater,label\n"
	for i := range 8 {
		text += fmt.Sprintf("q%d,ann,yes\nq%d,bob,%s\n", i, i, [...]string{"yes", "no"}[i%2])
	}
	a := agreed(t, text, Nominal)
	for name, e := range map[string]Error{"kappa": a.Errors["kappa"], "of the pair": a.Pairs[0].Errors["kappa"]} {
		if *a.Kappa != 0 || e.SE != nil || e.Low != nil || e.Why != stats.AlikeClusters {
			t.Errorf("%s: %v with %+v, where leaving out an item never changes it", name, *a.Kappa, e)
		}
	}
	rare := agreed(t, "item,rater,label\nq1,ann,yes\nq1,bob,yes\nq2,ann,yes\nq2,bob,yes\nq3,ann,no\nq3,bob,no\n", Nominal)
	if e := rare.Errors["fleiss"]; e.SE != nil || e.Why != "no error: where one is left out, chance alone agrees always" {
		t.Errorf("%+v", e)
	}
}

func TestAnItemIsInOneCluster(t *testing.T) {
	t.Parallel()
	c := labelColumns
	c.Cluster = "topic"
	_, err := open(t, "item,rater,label,topic\nq,ann,x,a\nq,bob,x,b\nr,ann,x,\n").Agreement(c, Nominal)
	want := []string{`votes.csv:3: the item's cluster is "b" here and "a" on line 2`,
		"votes.csv:4: the cluster is empty (every row needs one, or all such rows would be one cluster)"}
	if diff := cmp.Diff(want, problemsOf(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
