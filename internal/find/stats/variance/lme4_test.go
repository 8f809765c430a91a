package variance

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// TestPartsAreThoseOfLme4 holds parts against those that lme4 finds (REML), balanced and not; testdata/lme4.json names its version.
func TestPartsAreThoseOfLme4(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/lme4.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Name                        string
			Mean                        float64
			Parts                       map[string]float64
			Item, Template, Draw, Judge []int32
			Value                       []float64
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var values []Value
			for i, y := range c.Value {
				values = append(values, Value{c.Item[i], c.Item[i], c.Template[i], c.Draw[i], c.Judge[i], y})
			}
			got := Split(values, 0.95)
			if math.Abs(got.Mean.Value-c.Mean) > 1e-5 {
				t.Errorf("mean %v, lme4 has %g (%s)", got.Mean, c.Mean, got.Why)
			}
			for _, p := range got.Parts {
				want, ok := c.Parts[p.Kind.String()]
				if !ok || math.Abs(p.Value.Value-want) > 1e-5 {
					t.Errorf("%s %v, lme4 has %g", p.Kind, p.Value, want)
				}
				delete(c.Parts, p.Kind.String())
			}
			if len(c.Parts) > 0 {
				t.Errorf("no part %v", c.Parts)
			}
		})
	}
}

func TestWhatADesignDoesNotTellApartSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []Value
		why    string
	}{
		"nothing":   {nil, "parts of variance need two items"},
		"one item":  {[]Value{{Value: 1}, {Draw: 1, Value: 2}}, "parts of variance need two items"},
		"one draw":  {[]Value{{Value: 1}, {Unit: 1, Value: 2}}, "no item was drawn or judged twice"},
		"all alike": {[]Value{{Value: 1}, {Draw: 1, Value: 1}, {Unit: 1, Value: 1}}, "all verdicts are alike"},
	} {
		if got := Split(c.values, 0.95); got.Why != c.why || len(got.Parts) > 0 {
			t.Errorf("%s: %q, %v", name, got.Why, got.Parts)
		}
	}
	// draws that are all alike: items have it all
	got := Split([]Value{{Value: 1}, {Draw: 1, Value: 1}, {Unit: 1, Cluster: 1, Value: 3}, {Unit: 1, Cluster: 1, Draw: 1, Value: 3}}, 0.95)
	if len(got.Parts) != 2 || math.Abs(got.Parts[0].Value.Value-2) > 1e-3 || got.Parts[1].Value.Value != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPurchasesAreInTheOrderOfTheirErrors(t *testing.T) {
	t.Parallel()
	p := Split(world{r: rand.New(rand.NewPCG(1, 7)), clusters: 1}.verdicts(60, 3, 2, 2), 0.95)
	for _, costs := range [][2]float64{{0, 0}, {9, 1}, {1, 9}} {
		got := p.Buy(costs[0], costs[1])
		for i := 1; i < len(got); i++ {
			if got[i].Error < 0.98*got[i-1].Error || got[i].Error > p.Error(1, 1, 1, 1) {
				t.Errorf("%v: %+v", costs, got)
			}
		}
		if judges := costs[1] > 0; len(got) != map[bool]int{true: 4, false: 3}[judges] {
			t.Errorf("%v: %+v", costs, got)
		}
	}
}
