package adaptive

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"assay/internal/find/stats"
)

// reference reads the case of a kind. The figures come from independent code.
func reference[T any](t *testing.T, kind string) T {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		var head struct{ Kind string }
		var out T
		if err := json.Unmarshal(c, &head); err != nil {
			t.Fatal(err)
		}
		if head.Kind != kind {
			continue
		}
		if err := json.Unmarshal(c, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("no case of kind %s", kind)
	panic("unreachable")
}

// near holds a figure against one of so many digits.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > max(relative*math.Abs(want), 1e-8) {
		t.Errorf("%s: got %.10g, want %.10g", what, got, want)
	}
}

func TestLevelsAreInProportionToMoney(t *testing.T) {
	t.Parallel()
	c := reference[struct {
		Plans []struct {
			Rounds int
			Shares []float64 `json:"money_shares"`
			Levels []float64 `json:"alpha_by_look"`
		}
		Critical []struct {
			Alpha        float64
			Rounds, Look int
			Open         int `json:"open_pairs"`
			DF           int
			T            float64 `json:"critical_t"`
		}
	}](t, "plan")
	const budget = 1 << 40 // far more than the first round needs: shares are those of the plan
	for _, want := range c.Plans {
		p := Plan{Lanes: 2, Rounds: want.Rounds, Budget: budget, Alpha: Alpha}
		before := 0
		for r, until := range p.Until() {
			near(t, "share", float64(until-before)/budget, want.Shares[r], 1e-7)
			near(t, "level", p.Levels()[r], want.Levels[r], 1e-7)
			before = until
		}
	}
	for _, want := range c.Critical {
		p := Plan{Lanes: 2, Rounds: want.Rounds, Budget: budget, Alpha: want.Alpha}
		near(t, "critical value", Critical(p.Levels()[want.Look-1], want.Open, want.DF+1), want.T, 1e-7)
	}
}

func TestTheFirstRoundGivesEachLaneEnough(t *testing.T) {
	t.Parallel()
	p := Plan{Lanes: 8, Rounds: 5, Budget: 400, Alpha: Alpha, Most: 100}
	if got, want := p.Until(), []int{80, 100, 200, 300, 400}; !slices.Equal(got, want) {
		t.Errorf("until the looks: %v, want %v", got, want)
	}
	sum := 0.0
	for _, l := range p.Levels() {
		sum += l
	}
	near(t, "sum of levels", sum, Alpha, 1e-12)
}

func TestClaimsFollowHolmAndTheirClosure(t *testing.T) {
	t.Parallel()
	c := reference[struct {
		Lanes  []string
		Theta  [][]float64 `json:"theta_by_look"`
		P      [][]float64 `json:"p_by_look"`
		Expect []struct {
			Look  int
			Level float64
			New   [][]any          `json:"new_claims_in_order"`
			Known [][]string       `json:"known"`
			Ranks map[string][]int `json:"rank_intervals"`
		}
	}](t, "claims over looks")
	claims, family := NewClaims(len(c.Lanes)), everyPair(c.Lanes)
	at := func(name string) int { return slices.Index(c.Lanes, name) }
	for r, want := range c.Expect {
		got := claims.look(want.Look, want.Level, c.Theta[r], c.P[r], family)
		if len(got) != len(want.New) {
			t.Fatalf("look %d: claims %v, want %v", want.Look, got, want.New)
		}
		for k, w := range want.New {
			g := got[k]
			if g.Better != at(w[0].(string)) || g.Worse != at(w[1].(string)) || g.Open != int(w[2].(float64)) || g.Look != want.Look {
				t.Errorf("look %d: claim %+v, want %v", want.Look, g, w)
			}
			near(t, "level of a claim", g.Level, w[3].(float64), 1e-7)
		}
		known := 0
		for i := range c.Lanes {
			for j := range i {
				if claims.Known(i, j) {
					known++
				}
			}
			best, worst := claims.Rank(i)
			if w := want.Ranks[c.Lanes[i]]; best != w[0] || worst != w[1] {
				t.Errorf("look %d: rank of %s is %d to %d, want %v", want.Look, c.Lanes[i], best, worst, w)
			}
		}
		for _, w := range want.Known {
			if !claims.better[at(w[0])][at(w[1])] {
				t.Errorf("look %d: %v is not known", want.Look, w)
			}
		}
		if known != len(want.Known) {
			t.Errorf("look %d: %d directions are known, want %d", want.Look, known, len(want.Known))
		}
	}
}

// everyPair returns a family of all pairs of lanes.
func everyPair(lanes []string) []bool {
	return slices.Repeat([]bool{true}, len(lanes)*(len(lanes)-1)/2)
}

func TestARoundBuysWhatIsNeeded(t *testing.T) {
	t.Parallel()
	c := reference[struct {
		Comparisons int        `json:"round_comparisons"`
		Open        [][]string `json:"open_pairs"`
		Bought      []int      `json:"compared_so_far"`
		Difference  []float64  `json:"differences"`
		Variance    []float64  `json:"variances"`
		Information []float64  `json:"information_per_comparison"`
		Effect      float64    `json:"design_effect"`
		Z           float64    `json:"z_need"`
		Most        int        `json:"most_per_pair"`
		Expect      []struct{ Buy int }
	}](t, "allocation")
	n := c.Comparisons / len(c.Open)
	for k := range c.Open {
		p := Pair{Difference: c.Difference[k], Variance: c.Variance[k], Information: c.Information[k] / c.Effect}
		if got := min(n, enough(p, c.Z), c.Most-c.Bought[k]); got != c.Expect[k].Buy {
			t.Errorf("pair %v: %d bought, want %d", c.Open[k], got, c.Expect[k].Buy)
		}
	}
}

func TestALookIsThatOfIndependentCode(t *testing.T) {
	t.Parallel()
	type settling struct {
		Critical float64
		N50, N80 float64
	}
	c := reference[struct {
		Lanes  []string
		Rows   [][]string
		Look   int
		Alpha  float64
		Rounds int
		Expect struct {
			Clusters int
			Level    float64 `json:"level_of_look"`
			Theta    map[string]float64
			Order    float64            `json:"order_effect"`
			LogNu    float64            `json:"log_nu"`
			Robust   map[string]float64 `json:"se_strength_cluster"`
			Model    map[string]float64 `json:"se_strength_model"`
			Pairs    []struct {
				Difference   float64
				Cluster      float64 `json:"se_cluster"`
				Model        float64 `json:"se_model"`
				P, Low, High float64
			}
			Claims [][]any          `json:"claims_in_order"`
			Ranks  map[string][]int `json:"rank_intervals"`
			Tau2   float64
			Effect float64 `json:"design_effect"`
			Open   int
			Settle []struct {
				Pair        []string
				Information float64  `json:"information_per_comparison"`
				Plain       settling `json:"plain 95 %"`
				Next        settling `json:"as claimed at the next look"`
			}
		}
	}](t, "look")
	at := func(name string) int { return slices.Index(c.Lanes, name) }
	var rows stats.Pairs
	var cluster []uint32
	items := map[string]uint32{}
	for _, r := range c.Rows {
		result := map[string]stats.Result{"first": stats.FirstWon, "second": stats.SecondWon, "tie": stats.Tied}[r[2]]
		rows.Append(uint16(at(r[0])), uint16(at(r[1])), result)
		if _, ok := items[r[3]]; !ok {
			items[r[3]] = uint32(len(items))
		}
		cluster = append(cluster, items[r[3]])
	}
	g, err := stats.Group(len(c.Lanes), rows, cluster)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLook(g)
	if err != nil {
		t.Fatal(err)
	}
	want := c.Expect
	if l.Clusters != want.Clusters || !l.Finite || l.Thin {
		t.Errorf("%d clusters, finite %v, thin %v", l.Clusters, l.Finite, l.Thin)
	}
	near(t, "order", l.Order.Value, want.Order, 1e-6)
	near(t, "log nu", l.LogNu.Value, want.LogNu, 1e-6)
	near(t, "design effect", l.Effect, want.Effect, 1e-6)
	near(t, "spread", Spread(l.Theta, l.SE), want.Tau2, 1e-6)
	for i, name := range c.Lanes {
		near(t, "strength of "+name, l.Theta[i], want.Theta[name], 1e-6)
		near(t, "error of "+name, l.SE[i], max(want.Robust[name], want.Model[name]), 1e-6)
	}
	levels := Plan{Lanes: len(c.Lanes), Rounds: c.Rounds, Budget: 1 << 30, Alpha: c.Alpha}.Levels()
	level, next := levels[c.Look-1], levels[min(c.Look, c.Rounds-1)]
	for k, w := range want.Pairs {
		near(t, "difference", l.Pairs[k].Difference, w.Difference, 1e-6)
		near(t, "error", l.Pairs[k].SE(), max(w.Cluster, w.Model), 1e-6)
		near(t, "p", l.Pairs[k].P, w.P, 1e-6)
		between := l.Interval(l.Pairs[k], level)
		near(t, "low", between.Low, w.Low, 1e-6)
		near(t, "high", between.High, w.High, 1e-6)
	}
	claims := NewClaims(len(c.Lanes))
	got := claims.look(c.Look, level, l.Theta, l.p(), everyPair(c.Lanes))
	for k, w := range want.Claims {
		if k >= len(got) || got[k].Better != at(w[0].(string)) || got[k].Worse != at(w[1].(string)) {
			t.Errorf("claims %v, want %v", got, want.Claims)
			break
		}
	}
	for _, w := range want.Settle {
		k := slices.IndexFunc(l.Pairs, func(p Pair) bool {
			return p.I == min(at(w.Pair[0]), at(w.Pair[1])) && p.J == max(at(w.Pair[0]), at(w.Pair[1]))
		})
		for name, s := range map[string]settling{"plain": w.Plain, "next": w.Next} {
			q := Quote{Pair: l.Pairs[k], Critical: s.Critical, Spread: Spread(l.Theta, l.SE)}
			n50, _ := q.Needed(0.5)
			n80, _ := q.Needed(0.8)
			near(t, name+" n50", n50, s.N50, 1e-3)
			near(t, name+" n80", n80, s.N80, 1e-3)
		}
		near(t, "critical value of the next look", Critical(next, want.Open, l.Clusters), w.Next.Critical, 1e-6)
	}
}

func TestAPriceIsThatOfIndependentCode(t *testing.T) {
	t.Parallel()
	c := reference[struct {
		Rows []struct {
			Difference, SE float64
			Information    float64 `json:"information_per_comparison"`
			Critical, Tau2 float64
			Expect         struct {
				Shrink, N50, N80, N90 float64
				After                 map[string]float64 `json:"chance_after"`
			}
		}
	}](t, "price")
	for _, r := range c.Rows {
		q := Quote{Pair: Pair{Difference: r.Difference, Variance: r.SE * r.SE, Information: r.Information}, Critical: r.Critical,
			Spread: r.Tau2}
		near(t, "shrink", q.shrink(), r.Expect.Shrink, 1e-7)
		for chance, want := range map[float64]float64{0.5: r.Expect.N50, 0.8: r.Expect.N80, 0.9: r.Expect.N90} {
			n, _ := q.Needed(chance)
			near(t, "needed", n, want, 1e-3)
		}
		for n, want := range map[float64]string{100: "100", 400: "400", 1600: "1600"} {
			near(t, "chance", q.Chance(n), r.Expect.After[want], 1e-7)
		}
	}
}

func TestEachRoundBuysSomethingWhileThereIsMoney(t *testing.T) {
	t.Parallel()
	for lanes := 2; lanes <= 60; lanes++ {
		for rounds := 1; rounds <= 8; rounds++ {
			for _, each := range []int{5, 20, 50, 200} {
				p := Plan{Lanes: lanes, Rounds: rounds, Budget: rounds * each, Most: 1000, Alpha: 0.05}
				until, levels := p.Until(), p.Levels()
				spare := p.Budget - until[0]
				spent := levels[0]
				for r := 1; r < rounds; r++ {
					spent += levels[r]
					if until[r] < until[r-1] || spare >= rounds && until[r] == until[r-1] {
						t.Fatalf("%d lanes, %d rounds of %d: %v", lanes, rounds, each, until)
					}
				}
				if until[rounds-1] != p.Budget || math.Abs(spent-p.Alpha) > 1e-9 {
					t.Fatalf("%d lanes, %d rounds of %d: %v, levels %v", lanes, rounds, each, until, levels)
				}
			}
		}
	}
}
