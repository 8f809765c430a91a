package tables

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRatesHaveTheirErrorsAndBounds(t *testing.T) {
	t.Parallel()
	text := "m,p,label\nx,1,yes\nx,1,true\nx,2,0\nx,2,\nx,3,maybe\ny,1,\n"
	for name, c := range map[string]struct {
		columns AnswerColumns
		want    string
	}{
		"of all": {AnswerColumns{Value: "label"},
			`{"n": 3, "groups": [{"n": 3, "yes": 2, "rate": 0.6666667, "low": 0.2076596, "high": 0.9385081, "missing": 2, "other": 1,
			"bound_low": 0.3333333, "bound_high": 0.8333333, "clusters": null, "se": null, "design_effect": null}]}`},
		"by group": {AnswerColumns{Value: "label", By: []string{"m"}}, `{"n": 3, "by": ["m"], "groups": [
			{"by": {"m": "x"}, "n": 3, "yes": 2, "rate": 0.6666667, "low": 0.2076596, "high": 0.9385081, "missing": 1, "other": 1,
			"bound_low": 0.4, "bound_high": 0.8, "clusters": null, "se": null, "design_effect": null},
			{"by": {"m": "y"}, "n": 0, "yes": 0, "rate": null, "low": 0, "high": 1, "missing": 1, "other": 0,
			"bound_low": 0, "bound_high": 1, "clusters": null, "se": null, "design_effect": null}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rates, err := open(t, text).Rates(c.columns, Words{Other: OtherIsMissing})
			if err != nil {
				t.Fatal(err)
			}
			printed, err := json.Marshal(rates)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			for text, to := range map[string]*any{string(printed): &got, c.want: &want} {
				if err := json.Unmarshal([]byte(text), to); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRatesByClusterKnowWhatTheirAnswersAreWorth(t *testing.T) {
	t.Parallel()
	columns := AnswerColumns{Value: "label", Cluster: "p"}
	r, err := open(t, "p,label\n1,yes\n1,yes\n2,no\n2,no\n3,yes\n3,no\n").Rates(columns, Words{})
	if err != nil {
		t.Fatal(err)
	}
	one := r.Groups[0]
	if *one.Clusters != 3 || *one.Rate != 0.5 || one.SE == nil || one.DesignEffect == nil || one.Low == nil || *one.Low >= 0.5 ||
		one.Why != "" {
		t.Errorf("%+v", one)
	}
	r, err = open(t, "p,label\n1,yes\n1,no\n").Rates(columns, Words{})
	if err != nil {
		t.Fatal(err)
	}
	if one := r.Groups[0]; one.SE != nil || one.Why == "" {
		t.Errorf("one cluster: %+v", one)
	}
	if _, err := open(t, "p,label\n1,perhaps\n").Rates(columns, Words{}); err == nil {
		t.Error("another word is no error")
	}
}
