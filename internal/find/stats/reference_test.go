package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// reference are values that independent programs computed (R packages, statsmodels, scikit-learn, evalica, choix and
// published tables); see its meta block.
type reference struct {
	Datasets map[string]dataset
	Cases    []refCase
}

type dataset struct {
	Items       []string
	Rows        [][]any
	Comparisons [][]float64
}

// refCase is one case. Its blocks other than the description hold numbers to be found again.
type refCase struct {
	ID      string
	Method  string
	Dataset string
	Tol     json.RawMessage
	Params  json.RawMessage
	Input   json.RawMessage
	Truth   *bool
	blocks  map[string]any
	ref     *reference
}

// description are the keys of a case that hold no results.
var description = []string{"id", "method", "dataset", "source", "tol", "params", "input", "note", "truth"}

// notOurs lists the fields that are not compared, each with the reason. Whatever is neither here nor computed fails.
var notOurs = map[string]string{
	"bradley_terry:expected.ref":                          "names the reference item",
	"bradley_terry:expected.vcov.names":                   "names the rows",
	"davidson:expected.ref":                               "names the reference item",
	"davidson:expected.model":                             "words",
	"psychotools::btmodel:expected.undecided":             "a setting: no undecided answers",
	"elo:expected.items":                                  "names the rows",
	"elo_random_order_mean:expected.ref_runs":             "a setting of the reference",
	"evalica_goldens:expected.eigen":                      "eigenvector ranking is no estimator of this package",
	"evalica_goldens:expected.pagerank":                   "PageRank is no estimator of this package",
	"pairwiseLLM_fit_bt_BradleyTerry2:expected.engine":    "names the program",
	"pairwiseLLM_fit_bt_sirt:expected":                    "sirt's shrunk fit is no estimator of this package",
	"pairwiseLLM_elochoice_run1:expected":                 "EloChoice's rounded ratings are no estimator of this package",
	"pairwiseLLM_elochoice_500runs:expected":              "EloChoice's rounded ratings are no estimator of this package",
	"pairwiseLLM_rc:expected":                             "majorities of votes by direction are no estimator of this package",
	"proportion_ci:expected.wilson_cc":                    "shares have Wilson's interval here",
	"proportion_ci:expected.clopper_pearson":              "shares have Wilson's interval here",
	"proportion_ci:expected.jeffreys":                     "shares have Wilson's interval here",
	"proportion_ci:expected.agresti_coull":                "shares have Wilson's interval here",
	"p_adjust:expected.bh":                                "p-values are adjusted by Holm here",
	"p_adjust:expected.bonferroni":                        "p-values are adjusted by Holm here",
	"bradley_terry_centered:expected.elo_scale_1000_400":  "strengths are shown on their own scale",
	"bradley_terry_cluster:expected.elo_scale_1000_400":   "strengths are shown on their own scale",
	"paired_clustered:expected.se_iid":                    "means err by leaving out one cluster after the other here",
	"paired_clustered:expected.se_cluster_cr0":            "means err by leaving out one cluster after the other here",
	"paired_clustered:expected.se_cluster_cr1":            "means err by leaving out one cluster after the other here",
	"paired_clustered:expected.ci95_cr0":                  "means err by leaving out one cluster after the other here",
	"paired_clustered:expected.z":                         "means err by leaving out one cluster after the other here",
	"cohen_kappa:expected.table":                          "the input of the case",
	"cohen_kappa:expected.n":                              "the input of the case",
	"cohen_kappa:expected.po":                             "a step on the way to kappa",
	"cohen_kappa:expected.pe":                             "a step on the way to kappa",
	"cohen_kappa:expected.se_kappa":                       "kappa errs by leaving out one cluster after the other here",
	"cohen_kappa:expected.se_kappa0":                      "kappa errs by leaving out one cluster after the other here",
	"cohen_kappa:expected.pabak":                          "PABAK is no estimator of this package",
	"cohen_kappa:expected.kappa_linear":                   "weighted kappa is no estimator of this package",
	"cohen_kappa:expected.kappa_quadratic":                "weighted kappa is no estimator of this package",
	"mcnemar:expected.b":                                  "the input of the case",
	"mcnemar:expected.c":                                  "the input of the case",
	"newcombe_paired_diff:expected.a":                     "the input of the case",
	"newcombe_paired_diff:expected.b":                     "the input of the case",
	"newcombe_paired_diff:expected.c":                     "the input of the case",
	"newcombe_paired_diff:expected.d":                     "the input of the case",
	"pairwiseLLM_fit_bt_BradleyTerry2:expected.converged": "a fit that did not converge has no numbers",
}

func readReference(t *testing.T) *reference {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Datasets map[string]dataset
		Cases    []json.RawMessage
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	ref := &reference{Datasets: raw.Datasets}
	for _, c := range raw.Cases {
		one := refCase{ref: ref}
		if err := json.Unmarshal(c, &one); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c, &one.blocks); err != nil {
			t.Fatal(err)
		}
		for _, key := range description {
			delete(one.blocks, key)
		}
		ref.Cases = append(ref.Cases, one)
	}
	return ref
}

func (c *refCase) input(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(c.Input, into); err != nil {
		t.Fatal(err)
	}
}

func (c *refCase) params(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(c.Params, into); err != nil {
		t.Fatal(err)
	}
}

// tolerance is that of the case: one number, or one per field.
func (c *refCase) tolerance(path string) float64 {
	var one float64
	if json.Unmarshal(c.Tol, &one) == nil {
		return one
	}
	var byField map[string]any
	if json.Unmarshal(c.Tol, &byField) == nil {
		if tol, ok := byField[strings.Split(path, ".")[1]].(float64); ok {
			return tol
		}
	}
	return 1e-12
}

// near is a computed number with a tolerance of its own, where the case gives one in words.
type near struct{ value, tol float64 }

type object = map[string]any

func TestEveryReferenceValueIsFoundAgain(t *testing.T) {
	t.Parallel()
	ref := readReference(t)
	if len(ref.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range ref.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			find, known := solvers[c.Method]
			if !known {
				t.Fatalf("no estimator for method %q", c.Method)
			}
			c.compareBlocks(t, find(t, &c))
		})
	}
}

func (c *refCase) compareBlocks(t *testing.T, got object) {
	t.Helper()
	for key, want := range c.blocks {
		c.compare(t, key, key, want, got[key])
	}
}

// compare walks the wanted tree. name is the path without list positions, by which notOurs speaks.
func (c *refCase) compare(t *testing.T, path, name string, want, got any) {
	t.Helper()
	if c.excluded(name) {
		return
	}
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(object)
		if !ok {
			t.Errorf("%s: not computed", path)
			return
		}
		for key, w := range want {
			c.compare(t, path+"."+key, name+"."+key, w, have[key])
		}
	case []any:
		have := list(got)
		if len(have) != len(want) {
			t.Errorf("%s: %d values, want %d", path, len(have), len(want))
			return
		}
		for k, w := range want {
			c.compare(t, fmt.Sprintf("%s[%d]", path, k), name, w, have[k])
		}
	default:
		c.compareLeaf(t, path, want, got)
	}
}

func (c *refCase) excluded(name string) bool {
	for key := range notOurs {
		who, field, _ := strings.Cut(key, ":expected")
		if name == "expected"+field && (who == c.Method || strings.HasPrefix(c.ID, who)) {
			return true
		}
	}
	return false
}

func (c *refCase) compareLeaf(t *testing.T, path string, want, got any) {
	t.Helper()
	tol := c.tolerance(path)
	if n, ok := got.(near); ok {
		got, tol = n.value, n.tol
	}
	if n, ok := got.(Number); ok {
		if got = any(nil); n.OK {
			got = n.Value
		} else if n.Why == "" {
			t.Errorf("%s: undefined without a reason", path)
		}
	}
	if n, ok := got.(int); ok {
		got = float64(n)
	}
	w, isNumber := want.(float64)
	g, haveNumber := got.(float64)
	switch {
	case isNumber && haveNumber && math.Abs(w-g) <= tol:
	case isNumber && haveNumber:
		t.Errorf("%s: %v, want %v (off by %.2g, allowed %.2g)", path, g, w, math.Abs(w-g), tol)
	case want != got:
		t.Errorf("%s: %v, want %v", path, got, want)
	}
}

// list makes any computed list one of leaves; an undefined one is nil.
func list(got any) []any {
	var out []any
	switch got := got.(type) {
	case []any:
		return got
	case []float64:
		for _, v := range got {
			out = append(out, v)
		}
	case []int:
		for _, v := range got {
			out = append(out, v)
		}
	case []Number:
		for _, v := range got {
			out = append(out, v)
		}
	case [][]float64:
		for _, v := range got {
			out = append(out, v)
		}
	case [][]int:
		for _, v := range got {
			out = append(out, v)
		}
	case [][]Number:
		for _, v := range got {
			out = append(out, v)
		}
	case []object:
		for _, v := range got {
			out = append(out, v)
		}
	case Interval:
		if got.OK {
			return []any{got.Low, got.High}
		}
	}
	return out
}

// tally reads a dataset with columns first, second, wins of the first, wins of the second, ties; or one row each.
func (d dataset) tally(t *testing.T) *Tally {
	t.Helper()
	out := NewTally(len(d.Items))
	count := func(a, b int, r Result, n float64) {
		if err := out.Count(a, b, r, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range d.Rows {
		a, b := slices.Index(d.Items, row[0].(string)), slices.Index(d.Items, row[1].(string))
		for k, r := range []Result{FirstWon, SecondWon, Tied} {
			count(a, b, r, row[2+k].(float64))
		}
	}
	if len(d.Comparisons) > 0 {
		if err := out.Add(d.pairs()); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (d dataset) pairs() Pairs {
	var p Pairs
	for _, row := range d.Comparisons {
		p.Append(uint16(row[0]), uint16(row[1]), resultOf(row[2]))
	}
	return p
}

// resultOf reads the score of the item shown first.
func resultOf(score float64) Result {
	switch score {
	case 1:
		return FirstWon
	case 0:
		return SecondWon
	}
	return Tied
}

// matrixTally reads a matrix of wins.
func matrixTally(t *testing.T, wins [][]float64) *Tally {
	t.Helper()
	out := NewTally(len(wins))
	for i, row := range wins {
		for j, n := range row {
			if n > 0 {
				if err := out.Count(i, j, FirstWon, n); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return out
}
