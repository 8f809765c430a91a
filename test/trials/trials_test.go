package trials

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"assay/internal/study/adaptive"
)

// TestTheRuleClaimsLittleThatIsNotSo holds the rule, and the naive one beside it, against rates that independent code found in
// 2,000 studies of each setting.
func TestTheRuleClaimsLittleThatIsNotSo(t *testing.T) {
	t.Parallel()
	const studies = 80 // `go run ./bench settle` has 2,000
	for _, c := range settings(t) {
		for _, rule := range []Rule{Planned, Naive} {
			name := map[Rule]string{Planned: "spend", Naive: "naive"}[rule]
			want := c.Found[name]
			if c.Setting == "m8 spread .4" && rule == Naive {
				continue // its budget is used up by pairs that are known already: nothing to see
			}
			t.Run(c.Setting+", "+name, func(t *testing.T) {
				t.Parallel()
				s := Setting{Name: c.Setting, Theta: c.Theta, Items: c.Items, Ties: c.Nu, Order: c.Order, Alike: c.Rho,
					Both: c.Orders == "both"}
				p := adaptive.Plan{Rounds: c.Rounds, Budget: c.Comparisons, Alpha: c.Alpha, Futility: adaptive.Futility}
				got, err := Many(s, p, rule, studies, 1)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("false %.3f (%.3f), cover %.3f (%.3f), spent %.0f (%.0f)", got.Share(got.False), want.False[0], got.Cover(),
					want.Cover[0], got.MeanSpent(), want.Spent[0])
				if rate := got.Share(got.False); math.Abs(rate-want.False[0]) > 3.5*math.Sqrt(want.False[0]*(1-want.False[0])/studies+
					want.False[1]*want.False[1])+0.0026 {
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
	text, err := os.ReadFile("../../internal/study/adaptive/testdata/reference.json")
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

// TestItemsAreNotGivenUpBeforeTheirRounds: two texts meet twice at most, and what settles them is mostly what they do against others.
func TestItemsAreNotGivenUpBeforeTheirRounds(t *testing.T) {
	t.Parallel()
	theta := make([]float64, 20)
	for i := range theta {
		theta[i] = -0.3 * float64(i)
	}
	s := Setting{Theta: theta, Ties: 0.3, Order: 0.2, Alike: 0.3, Twice: true}
	p := adaptive.Plan{Rounds: 5, Budget: 380, Alpha: adaptive.Alpha, Futility: adaptive.Futility}
	const studies = 40
	patient := p
	patient.Futility = 0
	var got [2]Sum
	for k, p := range []adaptive.Plan{p, patient} {
		var err error
		if got[k], err = Many(s, p, Planned, studies, 5); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("known %d, without giving up %d; spent %.0f and %.0f; false %d", got[0].Known, got[1].Known, got[0].MeanSpent(),
		got[1].MeanSpent(), got[0].False)
	if got[0].Known < got[1].Known*9/10 || got[1].Known < studies*190/5 {
		t.Errorf("%d directions are known in %d studies, and %d where nothing is given up", got[0].Known, studies, got[1].Known)
	}
	if got[0].False > 3 {
		t.Errorf("%d of %d studies claim what is not so", got[0].False, studies)
	}
}

// TestCertainStrengthsTakeLessThanEvenly holds the rule of the goal of width against buying all pairs evenly.
func TestCertainStrengthsTakeLessThanEvenly(t *testing.T) {
	t.Parallel()
	theta := make([]float64, 8)
	for i := range theta {
		theta[i] = -0.6 * float64(i)
	}
	s := Setting{Theta: theta, Items: 1000, Ties: 0.5, Order: 0.2, Alike: 0.4}
	p := adaptive.Plan{Rounds: 20, Budget: 8000, Alpha: adaptive.Alpha, Goal: adaptive.Goal{Width: 0.15}}
	const studies = 20
	var spent [2]float64
	for k, rule := range []Rule{Evenly, Planned} {
		sum, err := Many(s, p, rule, studies, 4)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Reached < studies*9/10 || sum.Cover() < 0.92 {
			t.Errorf("%s: %d of %d studies are certain enough, %.3f of intervals hold", rule, sum.Reached, studies, sum.Cover())
		}
		spent[k] = sum.MeanSpent()
	}
	if part := spent[1] / spent[0]; part > 0.92 {
		t.Errorf("%.0f comparisons where buying evenly takes %.0f: %.2f of it, want at most 0.92", spent[1], spent[0], part)
	}
}

// TestLabelsChosenByWhatIsUnclearAreLikeOthers: people who are asked about what is not clear yet claim no more than
// those who are asked evenly. Asked about the least certain pair, their intervals held 89%.
func TestLabelsChosenByWhatIsUnclearAreLikeOthers(t *testing.T) {
	t.Parallel()
	const studies = 200 // `go run ./bench settle` has more
	s := Setting{Theta: []float64{0, 0, 0, 0, -1.5, -1.5, -1.5, -1.5}, Items: 400, Ties: 0.5, Order: 0.2, Alike: 0.4}
	var known [2]int
	for k, doubt := range []bool{false, true} {
		got, err := Labels(s, 800, doubt, studies, 5)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("uncertain %v: false %.3f, hold %.3f, known %.1f", doubt, got.Share(got.False), got.Cover(), float64(got.Known)/studies)
		if got.Share(got.False) > 0.10 || got.Cover() < 0.93 {
			t.Errorf("uncertain %v: %d of %d studies claim what is not so, %.3f of intervals hold", doubt, got.False, studies, got.Cover())
		}
		known[k] = got.Known
	}
	if known[0] < studies*15 || known[1] < studies*15 {
		t.Errorf("%v of %d directions are known", known, studies*16)
	}
}

// TestALookBeyondThePlanIsCounted: who buys more for what is not settled, and looks again, claims what is not so in at most 6% of studies.
func TestALookBeyondThePlanIsCounted(t *testing.T) {
	t.Parallel()
	const studies = 200 // `go run ./bench settle` has 2,000
	s := Setting{Theta: make([]float64, 4), Items: 400, Ties: 0.5, Order: 0.2, Alike: 0.4, Settles: true}
	for _, rounds := range []int{1, 5} {
		p := adaptive.Plan{Rounds: rounds, Budget: 600, Alpha: adaptive.Alpha, Futility: adaptive.Futility}
		got, err := Many(s, p, Planned, studies, 6)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d rounds: false %.3f, hold %.3f, spent %.0f", rounds, got.Share(got.False), got.Cover(), got.MeanSpent())
		if got.Share(got.False) > 0.10 || got.Cover() < 0.97 {
			t.Errorf("%d rounds: %d of %d studies claim what is not so, %.3f of intervals hold", rounds, got.False, studies, got.Cover())
		}
	}
}
