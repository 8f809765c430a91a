package trials

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"assay/adaptive"
)

// TestTheRuleClaimsLittleThatIsNotSo holds the rule, and the naive one beside it, against rates that independent code found in
// 2,000 studies of each setting.
func TestTheRuleClaimsLittleThatIsNotSo(t *testing.T) {
	t.Parallel()
	const studies = 80 // `go run ./bench ranking` has 2,000
	for _, c := range settings(t) {
		for _, rule := range []Rule{Planned, Naive} {
			name := map[Rule]string{Planned: "spend", Naive: "naive"}[rule]
			want := c.Found[name]
			if c.Setting == "m8 spread .4" && rule == Naive {
				continue // its budget is used up by pairs that are known already: nothing to see
			}
			t.Run(c.Setting+", "+name, func(t *testing.T) {
				t.Parallel()
				s := Setting{Name: c.Setting, Theta: c.Theta, Items: c.Items, Ties: c.Nu, Order: c.Order, Alike: c.Rho, Both: c.Orders == "both"}
				p := adaptive.Plan{Rounds: c.Rounds, Budget: c.Comparisons, Alpha: c.Alpha, Futility: adaptive.Futility}
				got, err := Many(s, p, rule, studies, 1)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("false %.3f (%.3f), cover %.3f (%.3f), spent %.0f (%.0f)", got.Share(got.False), want.False[0], got.Cover(), want.Cover[0], got.MeanSpent(), want.Spent[0])
				if rate := got.Share(got.False); math.Abs(rate-want.False[0]) > 3.5*math.Sqrt(want.False[0]*(1-want.False[0])/studies+want.False[1]*want.False[1])+0.0026 {
					t.Errorf("%.4f of studies claim what is not so, want %.4f", rate, want.False[0])
				}
				if rule == Planned && got.Share(got.False) > 0.05 {
					t.Errorf("%d of %d studies claim what is not so", got.False, studies)
				}
				if rule == Planned && got.Cover() < 0.95 {
					t.Errorf("%.4f of intervals hold", got.Cover())
				}
				if math.Abs(got.MeanSpent()/want.Spent[0]-1) > 0.05 {
					t.Errorf("%.0f comparisons, want %.0f", got.MeanSpent(), want.Spent[0])
				}
			})
		}
	}
}

type setting struct {
	Setting            string
	Theta              []float64
	Comparisons, Items int
	Nu                 float64
	Order              float64 `json:"order_effect"`
	Rho                float64
	Orders             string `json:"order"`
	Rounds             int
	Alpha              float64
	Found              map[string]struct {
		False [2]float64 `json:"studies_with_a_false_claim"`
		Cover [2]float64 `json:"coverage_of_the_interval_at_the_end"`
		Spent [2]float64 `json:"comparisons_spent"`
	}
}

func settings(t *testing.T) []setting {
	t.Helper()
	text, err := os.ReadFile("../testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Kind     string
			Settings []setting
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		if c.Kind == "simulation" {
			return c.Settings
		}
	}
	t.Fatal("no settings")
	return nil
}

func TestQuotesComeTrue(t *testing.T) {
	t.Parallel()
	got, err := Quotes(Setting{Items: 2500, Ties: 0.5, Order: 0.2, Alike: 0.4}, 0.5, 1, 0.8, 300, 3)
	if err != nil {
		t.Fatal(err)
	}
	share := float64(got.Settled) / float64(got.Bought)
	t.Logf("%d bought, %.3f settled", got.Bought, share)
	if got.Bought < 100 || share < 0.70 || share > 0.90 {
		t.Errorf("of %d quotes of 80%%, %.3f were enough", got.Bought, share)
	}
}
