package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/cli"
)

// near is how far a number may be from its reference.
var near = cmpopts.EquateApprox(1e-6, 1e-6)

// decoded runs a command on a table and reads the JSON it prints.
func decoded(t *testing.T, table string, args ...string) map[string]any {
	t.Helper()
	var out, said bytes.Buffer
	code := cli.Main(context.Background(), cli.World{
		Args: append(args, "-", "--json"), Stdin: strings.NewReader(table), Stdout: &out, Stderr: &said, Env: func(string) (string, bool) { return "", false },
	})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// reference are datasets with published results, as counts of comparisons.
type reference struct {
	Datasets map[string]struct {
		Items []string
		Rows  [][]any // first, second, how often first won, second won, tied
	}
}

func readReference(t *testing.T) reference {
	t.Helper()
	text, err := os.ReadFile("../stats/testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// table is a dataset as a file: one row for each result that was seen, weighted.
func (r reference) table(name string) string {
	var b strings.Builder
	b.WriteString("a,b,winner,weight\n")
	for _, row := range r.Datasets[name].Rows {
		for k, winner := range []string{"a", "b", "tie"} {
			fmt.Fprintf(&b, "%q,%q,%s,%v\n", row[0], row[1], winner, row[2+k])
		}
	}
	return b.String()
}

// against are the scores of a ranking when one item stands at 0.
func against(doc map[string]any, ref string) map[string]float64 {
	scores := map[string]float64{}
	for _, one := range doc["items"].([]any) {
		item := one.(map[string]any)
		scores[item["item"].(string)] = item["score"].(float64)
	}
	zero := scores[ref]
	for item := range scores {
		scores[item] -= zero
	}
	return scores
}

func TestRankGivesThePublishedScores(t *testing.T) {
	t.Parallel()
	r := readReference(t)
	doc := decoded(t, r.table("citations"), "rank")
	want := map[string]float64{"Biometrika": 0, "Comm Statist": -2.94907249684391, "JASA": -0.479569769751993, "JRSS-B": 0.268954}
	if diff := cmp.Diff(want, against(doc, "Biometrika"), near); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
	doc = decoded(t, r.table("baseball"), "rank")
	want = map[string]float64{
		"Baltimore": 0, "Boston": 1.107698, "Cleveland": 0.683853, "Detroit": 1.436408, "Milwaukee": 1.581356, "New York": 1.247618, "Toronto": 1.294485,
	}
	if diff := cmp.Diff(want, against(doc, "Baltimore"), near); diff != "" {
		t.Errorf("baseball (-want +got):\n%s", diff)
	}
	doc = decoded(t, r.table("baseball"), "rank", "--order-effect")
	if diff := cmp.Diff([]any{0.302261, 0.130944}, []any{doc["order_effect"], doc["order_effect_se"]}, near); diff != "" {
		t.Errorf("baseball at home (-want +got):\n%s", diff)
	}
	doc = decoded(t, r.table("sound_fields"), "rank", "--method", "davidson")
	if diff := cmp.Diff(any(0.681631), doc["tie"], near); diff != "" {
		t.Errorf("sound fields (-want +got):\n%s", diff)
	}
}

func TestRankPrintsThisShape(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"method": "bt", "n": 3.0, "connected": true, "tie": nil, "order_effect": nil, "order_effect_se": nil,
		"loglik": -1.9095425, "se_from": "the model", "interval_from": "the model", "judges": 2.0,
		"items": []any{
			map[string]any{"item": "x", "score": 0.3465736, "se": 0.6123724, "low": -0.8536543, "high": 1.5468014, "rank": 1.0},
			map[string]any{"item": "y", "score": -0.3465736, "se": 0.6123724, "low": -1.5468014, "high": 0.8536543, "rank": 2.0},
		},
	}
	got := decoded(t, "judge,winner,b,a\n1,a,y,x\n2,x,y,x\n1,b,y,x\n", "rank")
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAgreePrintsThisShape(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"n": 3.0, "raters": 2.0, "labels": 2.0, "ratings": 5.0, "missing": 1.0, "coverage": 5.0 / 6, "level": "nominal",
		"agreement": 0.5, "kappa": 0.0, "fleiss": nil, "alpha": 0.0, "ac1": 4.0 / 13,
		"pairs": []any{map[string]any{"first": "ann", "second": "bob", "n": 2.0, "agreement": 0.5, "kappa": 0.0, "se": 0.0}},
		"why":   map[string]any{"fleiss": "items have from 1 to 2 labels, and it wants as many for each"},
	}
	got := decoded(t, "item,rater,label\n1,ann,yes\n1,bob,yes\n2,ann,yes\n2,bob,no\n3,ann,yes\n3,bob,\n", "agree")
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRatePrintsThisShape(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"n": 3.0, "by": []any{"m"},
		"groups": []any{
			map[string]any{
				"by": map[string]any{"m": "x"}, "n": 3.0, "yes": 2.0, "rate": 2.0 / 3, "low": 0.2076596, "high": 0.9385081, "missing": 1.0, "other": 1.0,
				"bound_low": 0.4, "bound_high": 0.8, "clusters": nil, "se": nil, "design_effect": nil,
			},
		},
	}
	got := decoded(t, "m,value\nx,yes\nx,true\nx,0\nx,\nx,maybe\n", "rate", "--by", "m", "--other", "exclude")
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
