package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// about compares numbers that went different ways.
func about(tol float64) cmp.Option { return cmpopts.EquateApprox(0, tol) }

// game is a count of one result.
type game struct {
	first, second int
	r             Result
	n             float64
}

func tallyGames(t *testing.T, items int, games ...game) *Tally {
	t.Helper()
	tally := NewTally(items)
	for _, g := range games {
		if err := tally.Count(g.first, g.second, g.r, g.n); err != nil {
			t.Fatal(err)
		}
	}
	return tally
}

func TestTwoItemsHaveClosedForms(t *testing.T) {
	t.Parallel()
	odds := math.Log(7. / 3)
	plain := mustFit(t, tallyGames(t, 2, game{0, 1, FirstWon, 7}, game{0, 1, SecondWon, 3}), BTOptions{})
	if diff := cmp.Diff([]float64{odds / 2, -odds / 2}, plain.Theta, about(1e-12)); diff != "" {
		t.Error("plain:", diff)
	}
	if diff := cmp.Diff(0.7, plain.WinProbability(0, 1), about(1e-12)); diff != "" {
		t.Error("chance:", diff)
	}

	ties := mustFit(t, tallyGames(t, 2, game{0, 1, FirstWon, 7}, game{0, 1, SecondWon, 3}, game{1, 0, Tied, 5}), BTOptions{Ties: Davidson})
	if diff := cmp.Diff(odds, ties.Theta[0]-ties.Theta[1], about(1e-10)); diff != "" {
		t.Error("Davidson's strengths:", diff)
	}
	if diff := cmp.Diff(5/math.Sqrt(21), math.Exp(ties.LogNu.Value), about(1e-10)); diff != "" {
		t.Error("Davidson's nu:", diff)
	}

	order := mustFit(t, tallyGames(t, 2, game{0, 1, FirstWon, 7}, game{0, 1, SecondWon, 3},
		game{1, 0, FirstWon, 6}, game{1, 0, SecondWon, 4}), BTOptions{Order: true})
	back := math.Log(6. / 4)
	if diff := cmp.Diff([]float64{(odds - back) / 2, (odds + back) / 2},
		[]float64{order.Theta[0] - order.Theta[1], order.Order.Value}, about(1e-10)); diff != "" {
		t.Error("order:", diff)
	}
}

func TestNamesAndRowOrderDoNotMatter(t *testing.T) {
	t.Parallel()
	const items = 12
	p := arena(items, 3000, 7)
	r := rand.New(rand.NewPCG(1, 1))
	name, order := r.Perm(items), r.Perm(p.Len())
	var moved Pairs
	for _, k := range order {
		moved.Append(uint16(name[p.First[k]]), uint16(name[p.Second[k]]), p.Result[k])
	}
	for _, o := range []BTOptions{
		{}, {Order: true}, {Ties: Davidson}, {Ties: Davidson, Order: true}, {Ridge: 0.5}, {Firth: true}, {Firth: true, Order: true},
	} {
		a, b := mustFit(t, tallyOf(t, items, p), o), mustFit(t, tallyOf(t, items, moved), o)
		seA, seB := mustCovariance(t, a.Sandwich).SE(), mustCovariance(t, b.Sandwich).SE()
		for i := range items {
			want := []float64{a.Theta[i], seA[i], a.Order.Value, a.LogNu.Value, a.LogLik}
			got := []float64{b.Theta[name[i]], seB[name[i]], b.Order.Value, b.LogNu.Value, b.LogLik}
			if diff := cmp.Diff(want, got, about(1e-8)); diff != "" {
				t.Errorf("%+v, item %d: %s", o, i, diff)
			}
		}
		if math.Abs(sum(a.Theta)) > 1e-10 {
			t.Errorf("%+v: strengths add up to %g", o, sum(a.Theta))
		}
	}
}

func TestTurningEveryResultRoundTurnsTheStrengthsRound(t *testing.T) {
	t.Parallel()
	const items = 8
	p := arena(items, 2000, 3)
	turned := Pairs{First: p.First, Second: p.Second, Result: slices.Clone(p.Result)}
	for k, r := range p.Result {
		turned.Result[k] = map[Result]Result{FirstWon: SecondWon, SecondWon: FirstWon, Tied: Tied}[r]
	}
	for _, o := range []BTOptions{{}, {Ties: Davidson, Order: true}, {Ridge: 1}, {Firth: true}} {
		a, b := mustFit(t, tallyOf(t, items, p), o), mustFit(t, tallyOf(t, items, turned), o)
		for i := range items {
			if diff := cmp.Diff(a.Theta[i], -b.Theta[i], about(1e-9)); diff != "" {
				t.Errorf("%+v, item %d: %s", o, i, diff)
			}
		}
		if diff := cmp.Diff(a.Order.Value, -b.Order.Value, about(1e-9)); diff != "" {
			t.Errorf("%+v: order %s", o, diff)
		}
	}
}

func TestMultiplyingTheDataKeepsStrengthsAndShrinksErrors(t *testing.T) {
	t.Parallel()
	one, nine := NewTally(5), NewTally(5)
	p := arena(5, 400, 9)
	for k := range p.Result {
		a, b := int(p.First[k]), int(p.Second[k])
		if err := errors.Join(one.Count(a, b, p.Result[k], 1), nine.Count(a, b, p.Result[k], 9)); err != nil {
			t.Fatal(err)
		}
	}
	a, b := mustFit(t, one, BTOptions{Ties: Davidson}), mustFit(t, nine, BTOptions{Ties: Davidson})
	if diff := cmp.Diff(a.Theta, b.Theta, about(1e-9)); diff != "" {
		t.Error(diff)
	}
	for _, of := range []func(*BTFit) (*Covariance, error){(*BTFit).Covariance, (*BTFit).Sandwich} {
		small := mustCovariance(t, func() (*Covariance, error) { return of(a) }).SE()
		large := mustCovariance(t, func() (*Covariance, error) { return of(b) }).SE()
		for i := range small {
			if diff := cmp.Diff(small[i], 3*large[i], about(1e-9)); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestClustersOfOneAreTheSandwich(t *testing.T) {
	t.Parallel()
	const items, n = 6, 500
	p := arena(items, n, 4)
	cluster := make([]uint32, n)
	for k := range cluster {
		cluster[k] = uint32(n - k)
	}
	g, err := Group(items, p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []BTOptions{{}, {Order: true}, {Ties: Davidson}, {Ties: Davidson, Order: true}} {
		fit := mustFit(t, g.Tally(), o)
		robust, err := fit.ClusterRobust(g, CR0)
		if err != nil {
			t.Fatal(err)
		}
		plain := mustCovariance(t, fit.Sandwich)
		if diff := cmp.Diff(plain.SE(), robust.SE(), about(1e-10)); diff != "" {
			t.Errorf("%+v: %s", o, diff)
		}
		if diff := cmp.Diff(plain.OrderSE(), robust.OrderSE(), about(1e-10)); diff != "" {
			t.Errorf("%+v: %s", o, diff)
		}
		if diff := cmp.Diff(plain.LogNuSE(), robust.LogNuSE(), about(1e-10)); diff != "" {
			t.Errorf("%+v: %s", o, diff)
		}
	}
}

func TestFewClustersRaiseDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		items, clusters int
		doubt           bool
	}{{5, 39, true}, {5, 40, false}, {60, 50, true}, {60, 61, false}} {
		if got := grouped(t, c.items, 500, c.clusters).Doubt(); (got != "") != c.doubt {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestCopiedClustersDoNotFoolTheClusterRobustError(t *testing.T) {
	t.Parallel()
	const items, n = 5, 300
	p := arena(items, n, 5)
	once, twice := make([]uint32, n), []uint32(nil)
	var double Pairs
	for k := range once {
		once[k] = uint32(k)
		for range 2 {
			double.Append(p.First[k], p.Second[k], p.Result[k])
			twice = append(twice, uint32(k))
		}
	}
	var se [2][]float64
	for k, data := range []struct {
		p       Pairs
		cluster []uint32
	}{{p, once}, {double, twice}} {
		g, err := Group(items, data.p, data.cluster)
		if err != nil {
			t.Fatal(err)
		}
		cov, err := mustFit(t, g.Tally(), BTOptions{}).ClusterRobust(g, CR1)
		if err != nil {
			t.Fatal(err)
		}
		se[k] = cov.SE()
	}
	if diff := cmp.Diff(se[0], se[1], about(1e-10)); diff != "" {
		t.Error(diff)
	}
}

func TestTheBootstrapDependsOnItsSeedAlone(t *testing.T) {
	g := grouped(t, 8, 800, 80)
	for _, o := range []BTOptions{{}, {Order: true, Ties: Davidson}} {
		run := func(processors int, seed uint64) *BTBootstrap {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			boot, err := BootstrapBT(g, o, 60, seed)
			if err != nil {
				t.Fatal(err)
			}
			return boot
		}
		one, four, other := run(1, 5), run(4, 5), run(4, 6)
		if diff := cmp.Diff(one.Theta, four.Theta); diff != "" {
			t.Errorf("%+v: one processor and four differ: %s", o, diff)
		}
		if cmp.Equal(one.Theta, other.Theta) {
			t.Errorf("%+v: two seeds give the same", o)
		}
	}
}

func TestTheBootstrapAgreesWithTheClusterRobustError(t *testing.T) {
	t.Parallel()
	g := grouped(t, 6, 6000, 400)
	boot, err := BootstrapBT(g, BTOptions{Order: true}, 800, 1)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := boot.Fit.ClusterRobust(g, CR1)
	if err != nil {
		t.Fatal(err)
	}
	for i, se := range cov.SE() {
		got := boot.Strength(i).SE()
		if math.Abs(got.Value/se-1) > 0.15 {
			t.Errorf("item %d: bootstrap %v, formula %v", i, got, se)
		}
		if in := boot.Strength(i).Interval(0.95); !in.Contains(boot.Fit.Theta[i]) {
			t.Errorf("item %d: %v not in %v", i, boot.Fit.Theta[i], in)
		}
	}
	if got := boot.OrderEffect().SE(); math.Abs(got.Value/cov.OrderSE().Value-1) > 0.15 {
		t.Errorf("order effect: bootstrap %v, formula %v", got, cov.OrderSE())
	}
}

func TestARefitIsTheFitOfTheDrawnClusters(t *testing.T) {
	t.Parallel()
	const items, n, clusters = 7, 900, 30
	p, cluster := arena(items, n, 8), make([]uint32, n)
	for k := range cluster {
		cluster[k] = uint32(k % clusters)
	}
	g, err := Group(items, p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []BTOptions{{}, {Order: true}, {Ties: Davidson}, {Ties: Davidson, Order: true}, {Ridge: 1}, {Firth: true}} {
		r := newRefit(g, mustFit(t, g.Tally(), o))
		for draw := range 3 {
			resample(stream(1, draw), r.times)
			drawn := NewTally(items)
			for k, c := range cluster {
				if err := drawn.Count(int(p.First[k]), int(p.Second[k]), p.Result[k], float64(r.times[c])); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(mustFit(t, drawn, o).beta, r.run(), about(1e-7)); diff != "" {
				t.Errorf("%+v, draw %d: %s", o, draw, diff)
			}
		}
	}
}

func TestResamplesWithoutEstimateAreCountedAndHideTheBounds(t *testing.T) {
	t.Parallel()
	// One prompt alone lets item 0 lose: a resample without it has no maximum.
	var p Pairs
	var cluster []uint32
	for k := range uint32(10) {
		p.Append(0, 1, FirstWon)
		cluster = append(cluster, k)
	}
	p.Append(0, 1, SecondWon)
	cluster = append(cluster, 10)
	g, err := Group(2, p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	boot, err := BootstrapBT(g, BTOptions{}, 400, 1)
	if err != nil {
		t.Fatal(err)
	}
	if share := float64(boot.Undefined) / 400; math.Abs(share-math.Pow(10./11, 11)) > 0.08 {
		t.Errorf("%d resamples without estimate", boot.Undefined)
	}
	if in := boot.Intervals(0.95)[0]; in.OK || in.Why == "" {
		t.Errorf("interval %v", in)
	}
	if _, err := boot.Ranks(0.95); err == nil {
		t.Error("ranks of resamples without estimate")
	}
}

func TestJeffreysPenaltyKeepsAWinnerFinite(t *testing.T) {
	t.Parallel()
	once := mustFit(t, tallyGames(t, 2, game{0, 1, FirstWon, 1}), BTOptions{Firth: true})
	if got := once.Theta[0] - once.Theta[1]; math.Abs(got-math.Log(3)) > 1e-9 {
		t.Errorf("one win in one game is worth %v, want log 3", got)
	}
	fit := mustFit(t, tallyGames(t, 2, game{0, 1, FirstWon, 4}), BTOptions{Firth: true})
	// Jeffreys' prior adds half a win to each side of a single pair.
	if diff := cmp.Diff(math.Log(9), fit.Theta[0]-fit.Theta[1], about(1e-8)); diff != "" {
		t.Error(diff)
	}
}

func TestRidgeErrorsAreThoseOfThePosterior(t *testing.T) {
	t.Parallel()
	tally := tallyGames(t, 2, game{0, 1, FirstWon, 5}, game{0, 1, SecondWon, 5})
	cov := mustCovariance(t, mustFit(t, tally, BTOptions{Ridge: 3}).Covariance)
	// Along (1, -1) the information is 2*10/4 plus 3.
	if diff := cmp.Diff(math.Sqrt(2/(5.+3)), cov.Difference(0, 1), about(1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestBadComparisonsAreRefusedWithTheirRow(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Pairs{
		"item out of range": {First: []uint16{0, 3}, Second: []uint16{1, 1}, Result: []Result{0, 0}},
		"against itself":    {First: []uint16{0, 1}, Second: []uint16{1, 1}, Result: []Result{0, 0}},
		"unknown result":    {First: []uint16{0, 0}, Second: []uint16{1, 1}, Result: []Result{0, 3}},
		"short column":      {First: []uint16{0, 0}, Second: []uint16{1}, Result: []Result{0, 0}},
	} {
		if err := NewTally(3).Add(p); err == nil {
			t.Errorf("%s: counted", name)
		}
		if _, err := Elo(3, p, DefaultElo()); err == nil {
			t.Errorf("%s: rated", name)
		}
		if _, err := Group(3, p, []uint32{0, 0}); err == nil {
			t.Errorf("%s: grouped", name)
		}
	}
}

// TestJeffreysPenaltySettlesOnSparseComparisons: of 20 items, some of which won or lost all, the penalised score is 0 at
// what the fit returns.
func TestJeffreysPenaltySettlesOnSparseComparisons(t *testing.T) {
	t.Parallel()
	for k := range 150 {
		r := rand.New(rand.NewPCG(7, uint64(k)))
		tally := NewTally(20)
		for n := range 25 + k {
			i, j := n%20, (n+1)%20 // all are connected
			if n >= 20 {
				i = r.IntN(20)
				j = (i + 1 + r.IntN(19)) % 20
			}
			won := SecondWon
			if r.Float64() < logistic(3*float64(j-i)/10) {
				won = FirstWon
			}
			if err := tally.Count(i, j, won, 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []BTOptions{{Firth: true}, {Firth: true, Order: true}} {
			fit, err := FitBT(tally, o)
			if err != nil {
				t.Fatalf("%d, order %v: %v", k, o.Order, err)
			}
			w := newWorkspace(fit.model.size)
			at := fit.model.point(fit.beta, nil)
			fit.model.evaluate(at, w)
			w.chol.factorize(w.info)
			fit.model.jeffreys(at, w)
			if far := largest(w.grad); far > 1e-7 {
				t.Errorf("%d, order %v: the gradient is %g after %d steps", k, o.Order, far, fit.Iterations)
			}
		}
	}
}
