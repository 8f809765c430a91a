package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// near is how far a number may be from its reference.
var near = cmpopts.EquateApprox(1e-6, 1e-6)

// decoded runs a command on a table and reads the JSON it prints.
func decoded(t *testing.T, table string, args ...string) map[string]any {
	t.Helper()
	var out, said bytes.Buffer
	code := cli.Main(context.Background(), shell.World{
		Args: append(args, "-", "--json"), Stdin: strings.NewReader(table), Stdout: &out, Stderr: &said,
		Env: func(string) (string, bool) { return "", false },
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
	got := decoded(t, "judge,winner,b,a\n1,a,y,x\n2,x,y,x\n1,b,y,x\n", "table", "rank")
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAgreePrintsThisShape(t *testing.T) {
	t.Parallel()
	noError := func(why string) map[string]any {
		return map[string]any{"se": nil, "low": nil, "high": nil, "why": "no error: " + why}
	}
	half := map[string]any{"se": 0.3535534, "low": 0.0945312, "high": 0.9054688}
	chance := noError("where one is left out, chance alone agrees always")
	want := map[string]any{
		"n": 3.0, "raters": 2.0, "labels": 2.0, "ratings": 5.0, "missing": 1.0, "coverage": 5.0 / 6, "level": "nominal",
		"agreement": 0.5, "kappa": 0.0, "fleiss": nil, "alpha": 0.0, "ac1": 4.0 / 13,
		"clusters": 3.0, "errors": map[string]any{"agreement": half, "kappa": chance,
			"ac1":   map[string]any{"se": 0.9237604, "low": -1.0, "high": 1.0},
			"alpha": noError("where one is left out, all ratings are the same value")},
		"pairs": []any{map[string]any{"first": "ann", "second": "bob", "n": 2.0, "agreement": 0.5, "kappa": 0.0,
			"errors": map[string]any{"agreement": half, "kappa": chance}}},
		"why": map[string]any{"fleiss": "items have from 1 to 2 labels, and it needs as many for each"},
	}
	got := decoded(t, "item,rater,label\n1,ann,yes\n1,bob,yes\n2,ann,yes\n2,bob,no\n3,ann,yes\n3,bob,\n", "table", "agree")
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
				"by": map[string]any{"m": "x"}, "n": 3.0, "yes": 2.0, "rate": 2.0 / 3, "low": 0.2076596, "high": 0.9385081, "missing": 1.0,
				"other": 1.0, "bound_low": 0.4, "bound_high": 0.8, "clusters": nil, "se": nil, "design_effect": nil,
			},
		},
	}
	got := decoded(t, "m,value\nx,yes\nx,true\nx,0\nx,\nx,maybe\n", "table", "rate", "--by", "m", "--other", "exclude")
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
