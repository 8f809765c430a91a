package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// soundFields are Kousgaard's comparisons (1984): first, second, wins of the first, of the second, ties.
func soundFields(t *testing.T) *Tally {
	t.Helper()
	tally := NewTally(8)
	for _, r := range [][5]int{
		{1, 0, 8, 6, 6}, {2, 0, 14, 2, 4}, {3, 0, 13, 5, 2}, {4, 0, 11, 5, 4}, {5, 0, 13, 3, 4}, {6, 0, 14, 3, 3}, {7, 0, 14, 1, 5},
		{2, 1, 14, 3, 3}, {3, 1, 11, 1, 8}, {4, 1, 17, 1, 2}, {5, 1, 12, 3, 5}, {6, 1, 15, 1, 4}, {7, 1, 16, 2, 2}, {3, 2, 8, 8, 4},
		{4, 2, 6, 10, 4}, {5, 2, 8, 7, 5}, {6, 2, 7, 6, 7}, {7, 2, 15, 4, 1}, {4, 3, 7, 8, 5}, {5, 3, 9, 5, 6}, {6, 3, 13, 2, 5},
		{7, 3, 7, 5, 8}, {5, 4, 9, 7, 4}, {6, 4, 8, 7, 5}, {7, 4, 8, 8, 4}, {6, 5, 10, 5, 5}, {7, 5, 7, 9, 4}, {7, 6, 5, 7, 8},
	} {
		for k, n := range r[2:] {
			if err := tally.Count(r[0], r[1], Result(k), float64(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tally
}

// The figures are those of R: gnm and BradleyTerry2.
func TestDeviancesMatchOtherPrograms(t *testing.T) {
	t.Parallel()
	tally := soundFields(t)
	for _, c := range []struct {
		o    BTOptions
		want float64
		free int
	}{{BTOptions{Ties: Davidson}, 41.7736987482714, 48}, {BTOptions{Ties: Davidson, Order: true}, 41.755899344861, 47},
		{BTOptions{}, 14.4307101250959, 21}} {
		fit, err := FitBT(tally, c.o)
		if err != nil {
			t.Fatal(err)
		}
		d := fit.Deviance(1)
		if diff := cmp.Diff(c.want, d.Value, about(1e-6)); diff != "" || d.Free != c.free {
			t.Errorf("%+v: %s, %d degrees of freedom", c.o, diff, d.Free)
		}
	}
	fit, err := FitBT(tally, BTOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// With even degrees of freedom the tail of chi-square is a sum: e^-x/2 (1 + x/2 + (x/2)²/2 + …); 21 lie between 20 and 22.
	tail := func(x float64, free int) float64 {
		sum, term := 0.0, 1.0
		for k := range free / 2 {
			if k > 0 {
				term *= x / 2 / float64(k)
			}
			sum += term
		}
		return math.Exp(-x/2) * sum
	}
	if p := fit.Deviance(1).P; !p.OK || p.Value < tail(14.4307, 20) || p.Value > tail(14.4307, 22) {
		t.Errorf("p %v is not between %g and %g", p, tail(14.4307, 20), tail(14.4307, 22))
	}
	if wide, plain := fit.Deviance(2).P, fit.Deviance(0.5).P; wide.Value <= plain.Value || plain != fit.Deviance(1).P {
		t.Errorf("clusters make p %v of %v", wide, plain)
	}
}

func TestAPairThatDepartsFromItsStrengthsIsFound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 8))
	theta := []float64{0.8, 0.3, 0, -0.4, -0.7}
	s := Styled{Items: 5, X: [][]float32{nil}}
	for k := range 3000 {
		i := r.IntN(5)
		j := (i + 1 + r.IntN(4)) % 5
		a, x := theta[i]-theta[j]+0.2, float32(0)
		switch { // the last beats the first more often than it should
		case i == 0 && j == 4:
			a, x = a-1.2, 1
		case i == 4 && j == 0:
			a, x = a+1.2, -1
		}
		result := SecondWon
		if r.Float64() < 1/(1+math.Exp(-a)) {
			result = FirstWon
		}
		s.Pairs.Append(uint16(i), uint16(j), result)
		s.Cluster, s.X[0] = append(s.Cluster, uint32(k/4)), append(s.X[0], x)
	}
	g, err := Group(5, s.Pairs, s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := FitBT(g.Tally(), BTOptions{Order: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := fit.Residuals(g)
	if err != nil {
		t.Fatal(err)
	}
	// The same question to a model that has a parameter of its own for the pair.
	own, err := FitStyled(&s, BTOptions{Order: true})
	if err != nil {
		t.Fatal(err)
	}
	e, err := own.Errors(own)
	if err != nil {
		t.Fatal(err)
	}
	var worst Residual
	for _, x := range all {
		won, lost, _ := g.Tally().Of(x.I, x.J)
		back, forth, _ := g.Tally().Of(x.J, x.I)
		if n := won + lost + back + forth; x.N != n || math.Abs(x.Share-(won+forth)/n) > 1e-12 {
			t.Errorf("%d and %d: %+v", x.I, x.J, x)
		}
		if math.Abs(x.T.Value) > math.Abs(worst.T.Value) {
			worst = x
		}
	}
	if wald := own.Beta[0] / e.Beta[0]; worst.I != 0 || worst.J != 4 || math.Abs(worst.T.Value/wald-1) > 0.12 {
		t.Errorf("worst is %+v; on its own it is %g errors away", worst, wald)
	}
	// Two alone always fit.
	two := Pairs{}
	for k := range 40 {
		two.Append(uint16(k%2), uint16(1-k%2), Result(k/3%2))
	}
	clusters := make([]uint32, 40)
	for k := range clusters {
		clusters[k] = uint32(k)
	}
	if g, err = Group(2, two, clusters); err != nil {
		t.Fatal(err)
	}
	if fit, err = FitBT(g.Tally(), BTOptions{Order: true}); err != nil {
		t.Fatal(err)
	}
	if all, err = fit.Residuals(g); err != nil || len(all) != 1 || all[0].T.OK || fit.Deviance(1).P.OK {
		t.Errorf("two alone: %+v, %v, %+v", all, err, fit.Deviance(1))
	}
}

func TestDirectResultsAreThoseOfTwoAlone(t *testing.T) {
	t.Parallel()
	p := Pairs{}
	for _, r := range []struct {
		a, b uint16
		r    Result
	}{{0, 1, FirstWon}, {1, 0, SecondWon}, {0, 1, Tied}, {1, 0, FirstWon}, {2, 0, FirstWon}} {
		p.Append(r.a, r.b, r.r)
	}
	g, err := Group(3, p, []uint32{0, 0, 1, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Directs(g, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if d := got[[2]int{0, 1}]; d.N != 4 || d.Share != 2.5/4 || !d.P.OK {
		t.Errorf("%+v", d)
	}
	if d := got[[2]int{0, 2}]; len(got) != 2 || d.N != 1 || d.Share != 0 || d.P.OK {
		t.Errorf("%+v", got)
	}
}

func TestTheChanceOfBeingBest(t *testing.T) {
	t.Parallel()
	known := func(v ...float64) func(i, j int) Number { // independent values
		return func(i, j int) Number { return Known(math.Sqrt(v[i] + v[j])) }
	}
	// Of two it is one tail of Student's t.
	for _, clusters := range []int{4, 30, 1000} {
		got := BestChances([]float64{0.5, 0}, known(0.1, 0.06), clusters, 40_000, 1)
		near := 1 - studentTail(0.5/0.4, min(200, clusters-1))/2
		if diff := cmp.Diff(near, got[0].Value, about(0.008)); diff != "" || math.Abs(got[0].Value+got[1].Value-1) > 1e-9 {
			t.Errorf("%d clusters: %s", clusters, diff)
		}
	}
	values, v := []float64{0.3, 0.2, 0, -1}, []float64{0.04, 0.09, 0.3, 0.01}
	wins := make([]float64, 4)
	r := rand.New(rand.NewPCG(7, 7))
	const draws = 60_000
	for range draws {
		best, top := 0, math.Inf(-1)
		for i, x := range values {
			if y := x + math.Sqrt(v[i])*r.NormFloat64(); y > top {
				best, top = i, y
			}
		}
		wins[best] += 1. / draws
	}
	for i, got := range BestChances(values, known(v...), 5000, 40_000, 1) {
		if diff := cmp.Diff(wins[i], got.Value, about(0.01)); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
	}
	for i, got := range BestChances([]float64{1, 1, 1}, known(0, 0, 0), 20, 10, 1) { // all perfect: no one is better
		if diff := cmp.Diff(1./3, got.Value, about(1e-9)); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
	}
	unknown := func(i, j int) Number { return Undefined("not tested") }
	for _, none := range [][]Number{BestChances([]float64{1, 2}, unknown, 20, 10, 1), BestChances([]float64{1}, unknown, 20, 10, 1),
		BestChances([]float64{1, 2}, known(1, 1), 1, 10, 1)} {
		for _, got := range none {
			if got.OK || got.Why == "" {
				t.Errorf("%+v", got)
			}
		}
	}
	if diff := cmp.Diff(BestChances(values, known(v...), 40, 500, 3), BestChances(values, known(v...), 40, 500, 3)); diff != "" {
		t.Error(diff)
	}
}

// Two clusters are the fewest that have a spread.
func TestTwoClustersAreEnoughForAResidual(t *testing.T) {
	t.Parallel()
	known := func(clusters int) bool {
		r := rand.New(rand.NewPCG(5, 8))
		var p Pairs
		var cluster []uint32
		for k := range 300 {
			i := r.IntN(3)
			result := SecondWon
			if r.Float64() < 0.5 {
				result = FirstWon
			}
			p.Append(uint16(i), uint16((i+1+r.IntN(2))%3), result)
			cluster = append(cluster, uint32(k%clusters))
		}
		g, err := Group(3, p, cluster)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := FitBT(g.Tally(), BTOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := fit.Residuals(g)
		if err != nil {
			t.Fatal(err)
		}
		return all[0].P.OK
	}
	if !known(2) || known(1) {
		t.Errorf("of two clusters a test is known (%t), of one none is (%t)", known(2), known(1))
	}
}

func TestADifferenceOfStrengthsHasTheSpreadOfItsResamples(t *testing.T) {
	t.Parallel()
	b := BTBootstrap{Theta: [][]float64{{5, 6}, {3, 5}, {1, 5}}} // the second is ahead by 1, 2 and 4
	if diff := cmp.Diff(math.Sqrt(7./3), b.Difference(1, 0), about(1e-12)); diff != "" {
		t.Error(diff)
	}
	if b.Theta = b.Theta[:1]; b.Difference(1, 0) != 0 {
		t.Errorf("one resample spreads by %g", b.Difference(1, 0))
	}
}
