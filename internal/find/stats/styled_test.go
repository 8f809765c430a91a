package stats

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type styleFigures struct {
	Theta, SE  map[string]float64
	LogLik     float64
	Order      float64            `json:"order_effect"`
	OrderSE    float64            `json:"order_effect_se"`
	Beta       map[string]float64 `json:"beta_per_sd"`
	BetaSE     map[string]float64 `json:"beta_se"`
	Twice      float64            `json:"log_odds_of_twice_as_long"`
	LogNu      *float64           `json:"log_nu"`
	Controlled *styleFigures
	Plain      *styleFigures `json:"uncontrolled"`
	Change     *styleFigures
}

// styled reads the comparisons of the reference, with features scaled by their root mean square.
func styled(t *testing.T) (data Styled, rms []float64, expect map[string]json.RawMessage) {
	t.Helper()
	var doc struct {
		Rows   [][]int
		Expect map[string]json.RawMessage
	}
	raw, err := os.ReadFile("testdata/style.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	data.Items, data.X, rms = 4, make([][]float32, 3), make([]float64, 3)
	values := make([][]float64, 3)
	for _, r := range doc.Rows {
		data.Pairs.Append(uint16(r[0]), uint16(r[1]), Result(r[2]))
		data.Cluster = append(data.Cluster, uint32(r[3]))
		for j := range values {
			a, b := float64(r[4+2*j]), float64(r[5+2*j])
			x := 0.0
			if a+b > 0 {
				x = (a - b) / (a + b)
			}
			values[j] = append(values[j], x)
			rms[j] += x * x / float64(len(doc.Rows))
		}
	}
	for j, list := range values {
		rms[j] = math.Sqrt(rms[j])
		for _, x := range list {
			data.X[j] = append(data.X[j], float32(x/rms[j]))
		}
	}
	return data, rms, doc.Expect
}

func TestStyleControlMatchesOtherPrograms(t *testing.T) {
	t.Parallel()
	data, rms, expect := styled(t)
	near := about(2e-6) // features are kept in single precision
	for name, ties := range map[string]Ties{"half_ties": HalfTies, "davidson": Davidson} {
		var want styleFigures
		if err := json.Unmarshal(expect[name], &want); err != nil {
			t.Fatal(err)
		}
		o := BTOptions{Ties: ties, Order: true}
		bare := data
		bare.X = nil
		plain, err := FitStyled(&bare, o)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := FitStyled(&data, o)
		if err != nil {
			t.Fatal(err)
		}
		own, err := fit.Errors(plain)
		if err != nil {
			t.Fatal(err)
		}
		before, err := plain.Errors(plain)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, want, got float64) {
			t.Helper()
			if diff := cmp.Diff(want, got, near); diff != "" {
				t.Errorf("%s, %s: %s", name, what, diff)
			}
		}
		for i, lane := range []string{"A", "B", "C", "D"} {
			check("plain "+lane, want.Plain.Theta[lane], plain.Theta[i])
			check("error of plain "+lane, want.Plain.SE[lane], before.Theta[i])
			check("controlled "+lane, want.Controlled.Theta[lane], fit.Theta[i])
			check("error of controlled "+lane, want.Controlled.SE[lane], own.Theta[i])
			check("change of "+lane, want.Change.Theta[lane], fit.Theta[i]-plain.Theta[i])
			check("error of the change of "+lane, want.Change.SE[lane], own.Change[i])
		}
		for j, feature := range []string{"length", "bold", "list"} {
			check(feature, want.Controlled.Beta[feature], fit.Beta[j])
			check("error of "+feature, want.Controlled.BetaSE[feature], own.Beta[j])
		}
		check("order effect", want.Controlled.Order, fit.Order.Value)
		check("error of the order effect", want.Controlled.OrderSE, own.Order.Value)
		check("twice as long", want.Controlled.Twice, fit.Beta[0]/rms[0]/3)
		if math.Abs(want.Controlled.LogLik-fit.LogLik) > 1e-5 || math.Abs(want.Plain.LogLik-plain.LogLik) > 1e-5 { // as it is printed
			t.Errorf("%s: likelihoods %g and %g", name, fit.LogLik, plain.LogLik)
		}
		if want.Controlled.LogNu != nil {
			check("ties", *want.Controlled.LogNu, fit.LogNu.Value)
		}
		resampled, undefined := fit.Resampled(plain, o, 400, 1)
		for i := range own.Theta { // both estimate the same
			if r := resampled.Theta[i] / own.Theta[i]; r < 0.8 || r > 1.3 || undefined > 0 {
				t.Errorf("%s: resampled errors are %g times the others, %d without an estimate", name, r, undefined)
			}
		}
	}
}

// Without features it is the fit that all else rests on.
func TestAStyledFitWithoutFeaturesIsThePlainOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	s := Styled{Items: 5}
	for k := range 600 {
		a := r.IntN(5)
		b := (a + 1 + r.IntN(4)) % 5
		s.Pairs.Append(uint16(a), uint16(b), Result(r.IntN(3)))
		s.Cluster = append(s.Cluster, uint32(k/6))
	}
	g, err := Group(5, s.Pairs, s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []BTOptions{{}, {Order: true}, {Ties: Davidson}, {Ties: Davidson, Order: true}} {
		want, err := FitBT(g.Tally(), o)
		if err != nil {
			t.Fatal(err)
		}
		c, err := want.ClusterRobust(g, CR1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FitStyled(&s, o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := got.Errors(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Theta, got.Theta, about(1e-8)); diff != "" {
			t.Errorf("%+v: %s", o, diff)
		}
		if diff := cmp.Diff(c.SE(), e.Theta, about(1e-8)); diff != "" {
			t.Errorf("%+v: %s", o, diff)
		}
		if diff := cmp.Diff([]float64{0, 0, 0, 0, 0}, e.Change, about(1e-12)); diff != "" {
			t.Errorf("%+v changes from itself: %s", o, diff)
		}
	}
}

func TestStyleThatSaysAllHasNoEstimate(t *testing.T) {
	t.Parallel()
	longer := Styled{Items: 2, X: [][]float32{nil}} // the longer one always wins
	same := Styled{Items: 2, X: [][]float32{nil}}   // all are of one length
	for k := range 40 {
		x := float32(k%2)*2 - 1
		longer.Pairs.Append(uint16(k/2%2), uint16(1-k/2%2), map[bool]Result{true: FirstWon, false: SecondWon}[x > 0])
		same.Pairs.Append(uint16(k/2%2), uint16(1-k/2%2), Result(k%3%2))
		longer.Cluster, same.Cluster = append(longer.Cluster, uint32(k)), append(same.Cluster, uint32(k))
		longer.X[0], same.X[0] = append(longer.X[0], x), append(same.X[0], 0)
	}
	for name, s := range map[string]*Styled{"longer": &longer, "same": &same} {
		_, err := FitStyled(s, BTOptions{})
		var none *NoMaximum
		if !errors.As(err, &none) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
