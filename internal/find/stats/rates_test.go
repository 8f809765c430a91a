package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWhatCannotBeKnownSaysWhy(t *testing.T) {
	t.Parallel()
	number := func(n Number) any { return n }
	few, err := RateByCluster([]Count{{1, 3}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	alone := MeanByCluster([]Total{{2, 3}}, 0.95)
	noFlips, _ := FlipCounts{}.BatchSycophancy()
	unit, err := panelOf(2).Alpha([]Rating{{0, 1}, {1, 2}}, NominalScale)
	if err != nil {
		t.Fatal(err)
	}
	same, err := panelOf(1).Alpha([]Rating{{0, 1}, {0, 1}}, IntervalScale)
	if err != nil {
		t.Fatal(err)
	}
	fleiss, err := panelOf(2).Fleiss([][]int{{3, 0}, {3, 0}})
	if err != nil {
		t.Fatal(err)
	}
	gwet, err := panelOf(2).AC1([][]int{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]any{
		"mean of nothing":               number(Mean(nil)),
		"spread of one":                 number(SD([]float64{1})),
		"correlation without variation": number(Pearson([]float64{1, 1}, []float64{1, 2})),
		"correlation of unequal length": number(Pearson([]float64{1, 1}, []float64{1})),
		"infinite":                      number(Known(math.Inf(1))),
		"not a number":                  number(Known(math.NaN())),
		"rate of nothing":               number(NewRate(0, 0, 0.95).Share),
		"more than all":                 Wilson(3, 2, 0.95),
		"level 1":                       Wilson(1, 2, 1),
		"bounds of nothing":             MissingBounds(0, 0, 0),
		"binomial with k above n":       number(BinomialTest(3, 2, 0.5)),
		"one cluster's error":           number(few.SE),
		"one cluster's interval":        few.Interval,
		"one cluster's mean":            number(alone.SE),
		"one judge":                     OverJudges([]float64{1}, 0.95).Interval,
		"score of nothing":              number(noFlips),
		"units rated once":              number(unit.Value),
		"all ratings alike":             number(same.Value),
		"one category for all":          number(fleiss.Value),
		"no item rated twice":           number(gwet.Value),
		"no pairs":                      number(PairTable{}.Difference(0.95).Difference),
		"reliability of equals":         number(Reliability([]float64{1, 1}, []float64{1, 1})),
		"resamples without value":       Replicates{Undefined: 3}.Interval(0.95),
		"zero value":                    number(Number{Why: "zero"}),
	} {
		switch got := got.(type) {
		case Number:
			if got.OK || got.Why == "" || got.Value != 0 {
				t.Errorf("%s: %+v", name, got)
			}
		case Interval:
			if got.OK || got.Why == "" {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

func TestMissingAnswersBoundTheRate(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(Between(0.3, 0.5), MissingBounds(30, 50, 20)); diff != "" {
		t.Error(diff)
	}
}

func TestPublishedWilsonIntervals(t *testing.T) {
	t.Parallel()
	// Newcombe 1998, to four digits.
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}} {
		in := Wilson(c.k, c.n, 0.95)
		if diff := cmp.Diff(Between(c.low, c.high), in, about(5e-5)); diff != "" {
			t.Errorf("%d of %d: %s", c.k, c.n, diff)
		}
	}
}

func TestSingleAnswersPerClusterNeedNoDesignEffect(t *testing.T) {
	t.Parallel()
	clusters := make([]Count, 400)
	for g := range clusters {
		clusters[g] = Count{K: int(oneIf(g%4 == 0)), N: 1}
	}
	r, err := RateByCluster(clusters, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Number{Known(1), Known(math.Sqrt(0.25 * 0.75 / 400))}, []Number{r.DesignEffect, r.SE}, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Wilson(100, 400, 0.95), r.Interval, about(1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestEqualAnswersInAClusterCountOnce(t *testing.T) {
	t.Parallel()
	twice, tenfold := make([]Count, 60), make([]Count, 60)
	for g := range twice {
		k := int(oneIf(g%3 == 0))
		twice[g], tenfold[g] = Count{2 * k, 2}, Count{10 * k, 10}
	}
	a, err := RateByCluster(twice, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	b, err := RateByCluster(tenfold, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	once := Known(math.Sqrt(1. / 3 * 2 / 3 / 59))
	if diff := cmp.Diff([]Number{once, once}, []Number{a.SE, b.SE}, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(a.Interval, b.Interval, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	none, err := RateByCluster([]Count{{0, 100}, {0, 100}, {0, 100}, {0, 100}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if all := Wilson(0, 4, 0.95); !none.Interval.OK || none.Interval.High < all.High {
		t.Errorf("four clusters without a yes: %v, four answers: %v", none.Interval, all)
	}
}

func TestFewClustersWidenTheInterval(t *testing.T) {
	t.Parallel()
	few, many := make([]Count, 12), make([]Count, 1200)
	for g := range many {
		many[g] = Count{2 * (g % 2), 2}
	}
	copy(few, many)
	a, err := RateByCluster(few, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	b, err := RateByCluster(many, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if plain := Wilson(6, 12, 0.95); a.Interval.Low > plain.Low-0.02 || a.Interval.High < plain.High+0.02 {
		t.Errorf("12 clusters: %v, 12 answers: %v", a.Interval, plain)
	}
	if diff := cmp.Diff(Wilson(600, 1200, 0.95), b.Interval, about(5e-4)); diff != "" {
		t.Error(diff)
	}
}

// coverage returns the share of simulated intervals that hold the truth.
func coverage(runs int, one func(r *rand.Rand) (Interval, float64)) float64 {
	hits := 0.0
	for k := range runs {
		in, truth := one(stream(11, k))
		hits += oneIf(in.Contains(truth))
	}
	return hits / float64(runs)
}

func TestClusterRateIntervalsHoldTheirLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clusters, size int
		share          float64
	}{{20, 10, 0.3}, {60, 5, 0.05}, {200, 3, 0.5}} {
		got := coverage(1500, func(r *rand.Rand) (Interval, float64) {
			counts := make([]Count, c.clusters)
			for g := range counts { // half of the clusters answer alike throughout
				own := oneIf(r.Float64() < c.share)
				alike := r.Float64() < 0.5
				for range c.size {
					if alike {
						counts[g].K += int(own)
					} else {
						counts[g].K += int(oneIf(r.Float64() < c.share))
					}
					counts[g].N++
				}
			}
			rate, err := RateByCluster(counts, 0.95)
			if err != nil {
				t.Error(err)
			}
			return rate.Interval, c.share
		})
		if got < 0.93 || got > 0.99 {
			t.Errorf("%+v: covered %.3f", c, got)
		}
	}
}

// totalsOf adds the values of each cluster up; clusters count from 0.
func totalsOf(x []float64, cluster []int) []Total {
	var out []Total
	for i, v := range x {
		for len(out) <= cluster[i] {
			out = append(out, Total{})
		}
		out[cluster[i]].N++
		out[cluster[i]].Sum += v
	}
	return out
}

func TestMeansShiftAndScale(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	x, y, cluster := make([]float64, 90), make([]float64, 90), make([]int, 90)
	for i := range x {
		x[i], cluster[i] = r.NormFloat64(), i/3
		y[i] = 5 - 2*x[i]
	}
	a, b := MeanByCluster(totalsOf(x, cluster), 0.95), MeanByCluster(totalsOf(y, cluster), 0.95)
	want := []float64{5 - 2*a.Mean.Value, 2 * a.SE.Value, 5 - 2*a.Interval.High, 5 - 2*a.Interval.Low}
	got := []float64{b.Mean.Value, b.SE.Value, b.Interval.Low, b.Interval.High}
	if diff := cmp.Diff(want, got, about(1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestBootstrapOfRatesAgreesWithTheFormula(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 9))
	counts := make([]Count, 150)
	for g := range counts {
		own := r.Float64()
		for range 1 + r.IntN(5) {
			counts[g].N++
			counts[g].K += int(oneIf(r.Float64() < own))
		}
	}
	formula, err := RateByCluster(counts, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	boot, err := BootstrapRate(slices.Values(counts), 3000, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := boot.SE().Value / formula.SE.Value; math.Abs(got-1) > 0.06 {
		t.Errorf("bootstrap over formula: %v", got)
	}
	if in := boot.Interval(0.95); math.Abs(in.Low-formula.Interval.Low) > 0.02 || math.Abs(in.High-formula.Interval.High) > 0.02 {
		t.Errorf("bootstrap %v, formula %v", in, formula.Interval)
	}
}

func TestBadInputIsAnError(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"adjust":           second(Holm([]float64{2})),
		"pair table":       second(NewPairTable([]bool{true}, nil)),
		"counts":           second(RateByCluster([]Count{{2, 1}}, 0.95)),
		"raters":           second(panelOf(1).Cohen([]int{1}, nil, 2)),
		"categories":       second(panelOf(1).Cohen([]int{2}, []int{0}, 2)),
		"ratings":          second(panelOf(1).Alpha([]Rating{{0, math.NaN()}}, NominalScale)),
		"negative ratio":   second(panelOf(1).Alpha([]Rating{{0, -1}}, RatioScale)),
		"uneven ratings":   second(panelOf(2).Fleiss([][]int{{1, 1}, {1, 0}})),
		"negative ratings": second(panelOf(1).AC1([][]int{{-1, 1}})),
		"judges":           second(Deltas([]JudgeScore{{-1, 0, 1}})),
		"no K":             second(Elo(2, Pairs{}, EloOptions{Scale: 400})),
		"no runs":          second(EloShuffled(2, Pairs{}, DefaultElo(), 0, 1)),
		"power":            second(ComparisonsNeeded(2, 0, 0.25, Test{0.05, 0.8})),
		"level":            second(ComparisonsNeeded(2, 0.4, 0.25, Test{0, 0.8})),
		"design":           second(Design{}.ItemsNeeded(0.1, Test{0.05, 0.8})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestAMeanByClusterErrsAsItsMeansWithoutOneClusterDo(t *testing.T) {
	t.Parallel()
	even := []Total{{2, 3}, {2, 5}, {2, 4}, {2, 9}}
	got := MeanByCluster(even, 0.95)
	// Of clusters of one size it is the cluster-robust error: squares of the clusters' sums round the mean, times
	// G/(G-1).
	se := math.Sqrt((square(3-5.25)+square(5-5.25)+square(4-5.25)+square(9-5.25))*4/3) / 8
	if diff := cmp.Diff([]Number{Known(2.625), Known(se)}, []Number{got.Mean, got.SE}, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("clusters of one size: %s", diff)
	}
	if diff := cmp.Diff(tInterval(Known(2.625), Known(se), 0.95, 3), got.Interval, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("clusters of one size: %s", diff)
	}
	uneven := []Total{{10, 7}, {1, 0}, {}, {2, 2}, {3, 1}, {1, 1}}
	squares, g := 0.0, 5.0
	for _, p := range uneven {
		if p.N > 0 {
			without := (11 - p.Sum) / float64(17-p.N)
			squares += square(without - 11./17)
		}
	}
	m := MeanByCluster(uneven, 0.95)
	if diff := cmp.Diff(math.Sqrt((g-1)/g*squares), m.SE.Value, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("clusters of many sizes: %s", diff)
	}
	if low := MeanByCluster(uneven, 1-m.P.Value).Interval.Low; math.Abs(low) > 1e-9 {
		t.Errorf("p is %.6f, but the interval at its level begins at %g", m.P.Value, low)
	}
	for _, none := range []ClusterMean{MeanByCluster(nil, 0.95), MeanByCluster(uneven[:1], 0.95)} {
		if none.SE.OK || none.Interval.OK || none.P.OK || none.SE.Why == "" {
			t.Errorf("fewer than two clusters have the error %v", none)
		}
	}
}

func TestALargeClusterMakesRatesLessSure(t *testing.T) {
	t.Parallel()
	even, uneven := make([]Count, 24), make([]Count, 24)
	for g := range even {
		even[g], uneven[g] = Count{3 * (g % 3), 6}, Count{2 * (g % 3), 4}
	}
	uneven[0] = Count{39, 52}
	a, err := RateByCluster(even, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	b, err := RateByCluster(uneven, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	robust := linearised(uneven) / linearised(even) // how much wider by the formula alone, which trusts the large one
	if got := (b.Interval.High - b.Interval.Low) / (a.Interval.High - a.Interval.Low); a.N != b.N || got < 1.1*robust {
		t.Errorf("%d answers in equal clusters %v, %d with one large %v: %.2f times as wide, by the formula %.2f", a.N, a.Interval, b.N,
			b.Interval, got, robust)
	}
}

// linearised returns the cluster-robust error (CR1) of a share.
func linearised(clusters []Count) float64 {
	k, n, squares, g := 0.0, 0.0, 0.0, float64(len(clusters))
	for _, c := range clusters {
		k, n = k+float64(c.K), n+float64(c.N)
	}
	for _, c := range clusters {
		squares += square(float64(c.K) - k/n*float64(c.N))
	}
	return math.Sqrt(g/(g-1)*squares) / n
}

func TestTheErrorOfARateIsThatOfItsInterval(t *testing.T) {
	t.Parallel()
	for name, design := range map[string][]Count{
		"of one size":                 {{3, 6}, {1, 6}, {5, 6}, {2, 6}, {4, 6}, {0, 6}, {6, 6}, {3, 6}, {1, 6}, {2, 6}, {5, 6}, {3, 6}},
		"one is large":                {{39, 52}, {1, 4}, {2, 4}, {4, 4}, {0, 4}, {3, 4}, {1, 4}, {2, 4}, {4, 4}, {0, 4}, {2, 4}, {1, 4}},
		"the rarer answer in few":     {{6, 6}, {6, 6}, {6, 6}, {6, 6}, {6, 6}, {6, 6}, {5, 6}, {6, 6}, {6, 6}, {6, 6}, {6, 6}, {6, 6}},
		"clusters are alike":          {{1, 2}, {1, 2}, {1, 2}, {1, 2}},
		"less than independent":       {{3, 6}, {3, 6}, {2, 6}, {4, 6}, {3, 6}, {3, 6}},
		"answers that stand alone":    {{1, 1}, {0, 1}, {1, 1}, {1, 1}, {0, 1}},
		"one cluster, two answers":    {{1, 2}, {0, 1}},
		"nothing but yes, of its own": {{1, 1}, {1, 1}, {1, 1}},
	} {
		r, err := RateByCluster(design, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		want := Wilson(r.K, r.N, 0.95)
		if r.N > r.Clusters {
			even := 0.0 // clusters of one size that would share the answers as unevenly
			for _, c := range design {
				even += square(float64(c.N) / float64(r.N))
			}
			want = ShareInterval(r.Share.Value, square(r.SE.Value), 0.95, int(math.Round(1/even)))
		}
		if diff := cmp.Diff(want, r.Interval, about(1e-12)); diff != "" {
			t.Errorf("%s: the interval that belongs to the error %v (-want +got):\n%s", name, r.SE, diff)
		}
		if p := r.Share.Value; r.SE.OK == (p == 1) || p < 1 && r.SE.Value < math.Sqrt(p*(1-p)/float64(r.N))-1e-12 {
			t.Errorf("%s: an error of %v", name, r.SE)
		}
	}
}

// TestAFewLargeClustersLeaveAnErrorThatIsHardlyKnown simulates values whose clusters share a part of their variance, most of them in a
// few clusters: intervals hold what they promise, and clusters of one size have as many degrees of freedom as ever.
func TestAFewLargeClustersLeaveAnErrorThatIsHardlyKnown(t *testing.T) {
	t.Parallel()
	ones := func(n int, large ...int) []int { return append(large, slices.Repeat([]int{1}, n)...) }
	for _, sizes := range [][]int{ones(40, 30, 30), ones(6, 20, 5, 3, 2, 2, 2), {60, 20, 10, 6, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		ones(50, 200)} {
		r := rand.New(rand.NewPCG(1, uint64(len(sizes))))
		var held [2]int
		const studies = 1000
		for range studies {
			means, shares := make([]Total, len(sizes)), make([]Count, len(sizes))
			for g, n := range sizes {
				shared := 0.5 * r.NormFloat64()
				for range n {
					x := shared + 0.8*r.NormFloat64()
					means[g].Add(x)
					shares[g].N++
					shares[g].K += int(oneIf(x > 0))
				}
			}
			rate, err := RateByCluster(shares, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			held[0] += int(oneIf(MeanByCluster(means, 0.95).Interval.Contains(0)))
			held[1] += int(oneIf(rate.Interval.Contains(0.5)))
		}
		for k, what := range []string{"means", "shares"} {
			if held[k] < studies*935/1000 {
				t.Errorf("clusters of %v: %d of %d intervals of %s hold the truth", sizes, held[k], studies, what)
			}
		}
	}
	var even []Total
	for k := range 8 {
		even = append(even, Total{N: 3, Sum: float64(k)})
	}
	m := MeanByCluster(even, 0.95)
	if want := StudentCritical(0.05, 8) * m.SE.Value; math.Abs(m.Interval.High-m.Mean.Value-want) > 1e-12 {
		t.Errorf("eight clusters of one size: %v is not %v wide", m.Interval, want)
	}
}

func logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func TestWhatIsKeptSmallGivesTheSameNumbers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	for _, items := range []int{4, 180} { // of 180, there are more than 65,536 kinds of comparisons
		var p Pairs
		tally := NewTally(items)
		for first := range items {
			for second := range items {
				for result := range results {
					for range r.IntN(9) * int(oneIf(first != second)) {
						p.Append(uint16(first), uint16(second), result)
					}
				}
			}
		}
		if err := tally.Add(p); err != nil {
			t.Fatal(err)
		}
		runs := max(1, 80/items)
		a, err := EloShuffled(items, p, DefaultElo(), runs, 7)
		if err != nil {
			t.Fatal(err)
		}
		b, err := EloTallied(tally, DefaultElo(), runs, 7)
		if err != nil || !slices.Equal(a.Mean, b.Mean) {
			t.Errorf("ratings of a tally of %d differ from those of its comparisons in order: %v", items, err)
		}
	}
	for _, most := range []int{9, 900} {
		counts := make([]Count, 50)
		for i := range counts {
			counts[i] = Count{r.IntN(most), most}
		}
		whole, err := Bootstrap(len(counts), 30, 2, func(drawn []int) Number {
			k, n := 0, 0
			for _, g := range drawn {
				k, n = k+counts[g].K, n+counts[g].N
			}
			return ratio(float64(k), float64(n), "")
		})
		if err != nil {
			t.Fatal(err)
		}
		small, err := BootstrapRate(slices.Values(counts), 30, 2)
		if err != nil || !slices.Equal(whole.Values, small.Values) {
			t.Errorf("%v drawn from small counts, %v from whole: %v", small.Values, whole.Values, err)
		}
	}
}
