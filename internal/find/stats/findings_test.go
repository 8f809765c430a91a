package stats

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiftyFiveToFortyFiveNeeds780Pairs(t *testing.T) {
	t.Parallel()
	n, err := ComparisonsNeeded(2, math.Log(0.55/0.45), 0.25, Test{Alpha: 0.05, Power: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	if n != 780 {
		t.Errorf("%d pairs", n)
	}
}

func TestADesignFindsWhatItWasMadeFor(t *testing.T) {
	t.Parallel()
	d := Design{Items: 1. / 9, DrawA: 1. / 6, DrawB: 1. / 6, DrawsA: 1, DrawsB: 1}
	test := Test{Alpha: 0.05, Power: 0.8}
	// Miller 2024: a third of a point of variance over items and draws in all, a difference of 3 points in a hundred.
	n, err := d.ItemsNeeded(0.03, test)
	if err != nil {
		t.Fatal(err)
	}
	if want := int(math.Ceil(7.848879734349 * (4. / 9) / 0.0009)); n != want {
		t.Errorf("%d items, want %d", n, want)
	}
	least, err := d.Detectable(n, test)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(0.03, least, about(1e-5)); diff != "" {
		t.Error(diff)
	}
	more := Design{Items: d.Items, DrawA: d.DrawA, DrawB: d.DrawB, DrawsA: 10, DrawsB: 10}
	if fewer, err := more.ItemsNeeded(0.03, test); err != nil || fewer >= n/2 {
		t.Errorf("ten draws need %d items, one needs %d (%v)", fewer, n, err)
	}
}

func TestEloMovesAsPublished(t *testing.T) {
	t.Parallel()
	got, err := Elo(2, Pairs{[]uint16{0}, []uint16{1}, []Result{FirstWon}}, DefaultElo())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1516, 1484}, got, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	ratings := []float64{1600, 1400}
	Pairs{[]uint16{0}, []uint16{1}, []Result{SecondWon}}.rate(0, ratings, DefaultElo())
	if diff := cmp.Diff([]float64{1575.69, 1424.31}, ratings, about(5e-3)); diff != "" {
		t.Error("upset:", diff)
	}
}

func TestShuffledEloDependsOnItsSeedAlone(t *testing.T) {
	t.Parallel()
	p := arena(5, 200, 1)
	run := func(seed uint64) *EloRuns {
		runs, err := EloShuffled(5, p, DefaultElo(), 50, seed)
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	if diff := cmp.Diff(run(1), run(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(run(1), run(2)) {
		t.Error("two seeds give the same")
	}
}

func TestSycophancyScoresAreThoseOfTheBenchmarks(t *testing.T) {
	t.Parallel()
	score, resistance := FlipCounts{None: 7, Soft: 2, Explicit: 1, N: 10}.BatchSycophancy()
	if diff := cmp.Diff([]Number{Known(25), Known(75)}, []Number{score, resistance}); diff != "" {
		t.Error(diff)
	}
	score, resistance = FlipCounts{Explicit: 10, N: 10}.BatchSycophancy()
	if diff := cmp.Diff([]Number{Known(150), Known(0)}, []Number{score, resistance}); diff != "" {
		t.Error(diff)
	}
	// 100*(0.7*(2*1+2)/10 + 0.3*(5-2)/4)
	live := FlipCounts{None: 7, Soft: 2, Explicit: 1, N: 10}.LiveSycophancy(6, 3)
	if diff := cmp.Diff(LiveSycophancy{Known(50.5), Known(70), "highly susceptible"}, live, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	calm := FlipCounts{None: 10, N: 10}.LiveSycophancy(0, 0)
	if diff := cmp.Diff(LiveSycophancy{Known(0), Known(100), "highly resistant"}, calm); diff != "" {
		t.Error(diff)
	}
	if worst, _ := (FlipCounts{Explicit: 10, N: 10}).LiveSycophancy(2, 2).Score, 0; worst != Known(170) {
		t.Error(worst)
	}
}

func TestMeansOverJudges(t *testing.T) {
	t.Parallel()
	s := OverJudges([]float64{0.80, 0.85, 0.90}, 0.95)
	se := 0.05 / math.Sqrt(3)
	const t2 = 4.302652729911275 // Student's 0.975 quantile on two degrees of freedom
	if diff := cmp.Diff(Spread{3, Known(0.85), Known(se), Between(0.85-t2*se, 0.85+t2*se)}, s, about(1e-10)); diff != "" {
		t.Error(diff)
	}
	d, err := Deltas([]JudgeScore{{0, 0, 0.9}, {1, 0, 0.7}, {0, 1, 0.5}, {1, 1, 0.7}, {1, 2, 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	want := []JudgeDelta{{0, 0, 0.1}, {1, 0, -0.1}, {0, 1, -0.1}, {1, 1, 0.1}, {1, 2, 0}}
	if diff := cmp.Diff(want, d.Deltas, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Number{Known(math.Sqrt(0.02)), Known(0.1)}, d.SD, about(1e-12)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{2, 1, 2, 4}, Ranking([]float64{0.5, 0.9, 0.5, 0.1})); diff != "" {
		t.Error(diff)
	}
}

func TestCorrelationIsPearsons(t *testing.T) {
	t.Parallel()
	x := []float64{1, 2, 3, 4, 100}
	y := []float64{2, 4, 5, 5, 9}
	if diff := cmp.Diff(Known(0.8880), Pearson(x, y), about(5e-5)); diff != "" {
		t.Error(diff)
	}
}

func TestRankIntervalsSeparateWhatTheDataSeparate(t *testing.T) {
	t.Parallel()
	clear, even := NewTally(3), NewTally(3)
	for _, c := range []struct {
		a, b int
		won  float64
	}{{0, 1, 80}, {1, 2, 80}, {0, 2, 92}} {
		for k, tally := range []*Tally{clear, even} {
			won := []float64{c.won, 51}[k]
			if tally.Count(c.a, c.b, FirstWon, won) != nil || tally.Count(c.a, c.b, SecondWon, 100-won) != nil {
				t.Fatal("counting")
			}
		}
	}
	sure := []RankInterval{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}
	open := []RankInterval{{1, 1, 3}, {2, 1, 3}, {3, 1, 3}}
	for k, tally := range []*Tally{clear, even} {
		want := [][]RankInterval{sure, open}[k]
		fit := mustFit(t, tally, BTOptions{})
		cov := mustCovariance(t, fit.Covariance)
		maxT, err := MaxTRanks(fit.Theta, cov, 0.95, 2000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, maxT); diff != "" {
			t.Error(diff)
		}
	}
}

func TestBootstrapRanksHoldTheTrueRanks(t *testing.T) {
	t.Parallel()
	boot, err := BootstrapBT(grouped(t, 6, 3000, 150), BTOptions{}, 300, 2)
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := boot.Ranks(0.95)
	if err != nil {
		t.Fatal(err)
	}
	narrow := 0
	for i, r := range ranks {
		if r.Best > r.Rank || r.Rank > r.Worst {
			t.Errorf("item %d: %+v", i, r)
		}
		if r.Worst-r.Best < 5 {
			narrow++
		}
	}
	if narrow == 0 {
		t.Errorf("nothing was separated: %+v", ranks)
	}
}

// twoRaters returns the counts of categories of units that two raters rated.
func twoRaters(first, second []int, categories int) [][]int {
	counts := make([][]int, len(first))
	for u := range counts {
		counts[u] = make([]int, categories)
		counts[u][first[u]]++
		counts[u][second[u]]++
	}
	return counts
}

// panelOf returns a panel of units that are clusters of their own.
func panelOf(units int) Panel {
	clusters := make([]int, units)
	for u := range clusters {
		clusters[u] = u
	}
	return NewPanel(clusters, 0.95)
}

// indexes returns all that there are of two raters.
func indexes(t *testing.T, first, second []int, categories int) (cohen, fleiss, ac1 Index) {
	t.Helper()
	p, counts := panelOf(len(first)), twoRaters(first, second, categories)
	var errs [3]error
	cohen, errs[0] = p.Cohen(first, second, categories)
	fleiss, errs[1] = p.Fleiss(counts)
	ac1, errs[2] = p.AC1(counts)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return cohen, fleiss, ac1
}

func TestAgreementDoesNotDependOnTheNamesOfCategoriesOrTheOrderOfUnits(t *testing.T) {
	t.Parallel()
	first, second := []int{0, 0, 1, 2, 2, 1, 0}, []int{0, 1, 1, 2, 0, 1, 0}
	name, order := []int{2, 0, 1}, []int{6, 2, 4, 0, 1, 3, 5}
	var movedFirst, movedSecond []int
	for _, u := range order {
		movedFirst, movedSecond = append(movedFirst, name[first[u]]), append(movedSecond, name[second[u]])
	}
	cohen, fleiss, ac1 := indexes(t, first, second, 3)
	movedCohen, movedFleiss, movedAC1 := indexes(t, movedFirst, movedSecond, 3)
	shown := func(all ...Index) (out []any) {
		for _, i := range all {
			out = append(out, i.Value, i.SE, i.Interval)
		}
		return out
	}
	if diff := cmp.Diff(shown(cohen, fleiss, ac1), shown(movedCohen, movedFleiss, movedAC1), about(1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestAMeanOfIndexesLeavesOutThoseThatDoNotExist(t *testing.T) {
	t.Parallel()
	cohen, _, _ := indexes(t, []int{0, 1, 0, 1, 1, 0}, []int{0, 1, 1, 1, 0, 0}, 2)
	none, _, _ := indexes(t, []int{1, 1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1, 1}, 2)
	if none.Value.OK || !cohen.Value.OK {
		t.Fatalf("%+v, %+v", none.Value, cohen.Value)
	}
	got := panelOf(6).Mean([]Index{none, cohen, none})
	if got.Value != cohen.Value || got.SE != cohen.SE || !got.SE.OK {
		t.Errorf("%+v, want %+v", got, cohen)
	}
}

func TestATieParameterNeedsATieAndADecision(t *testing.T) {
	t.Parallel()
	for why, cells := range map[string][]cell{
		"":                          {{first: 1, second: 1, tie: 1}, {first: 2, second: 2}},
		"every comparison is a tie": {{tie: 2}, {tie: 1}},
		"a tie parameter was asked for and there is no tie": {{first: 1, second: 2}},
	} {
		err := outcomesSeen(cells, needTies)
		var none *NoMaximum
		if (err != nil) != (why != "") || err != nil && (!errors.As(err, &none) || none.Why != why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

func TestTheIntervalOfClopperAndPearsonIsThatOfTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.3085}, {3, 10, 0.0667, 0.6525}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1}, {1, 20, 0.0013, 0.2487}} {
		if got := Exact(c.k, c.n, 0.95); math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, got.Low, got.High, c.low, c.high)
		}
	}
}

func TestErrorsOfCorrelationsAndReliabilityByHand(t *testing.T) {
	t.Parallel()
	half := correlation(Known(0.5), 28, 0.95, func(float64) float64 { return 1 }) // atanh has an error of 1/5
	if math.Abs(half.SE.Value-0.75*0.2) > 1e-12 {
		t.Errorf("SE %v, want 0.15", half.SE)
	}
	if got := Reliability([]float64{0, 2}, []float64{1, 0}); !got.OK || math.Abs(got.Value-0.75) > 1e-12 {
		t.Errorf("of two: %+v, want 1 - 0.5/2", got)
	}
	if got := Reliability([]float64{1}, []float64{1}); got.OK {
		t.Errorf("of one: %+v", got)
	}
}

func TestAFifthOfAllResamplesMayLackAValue(t *testing.T) {
	t.Parallel()
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	if got := (Replicates{Values: values, Undefined: 2}).Student(Known(4.5), 0.95, 10); !got.OK {
		t.Errorf("2 of 10: %+v", got)
	}
	if got := (Replicates{Values: values, Undefined: 3}).Student(Known(4.5), 0.95, 10); got.OK {
		t.Errorf("3 of 11: %+v", got)
	}
}

// Resamples without a value may fill a whole tail, and no more than it.
func TestAnIntervalOfResamplesEndsWhereATailIsUnknown(t *testing.T) {
	t.Parallel()
	values := []float64{1, 2, 3}
	if got := (Replicates{Values: values, Undefined: 1}).Interval(0.5); !got.OK {
		t.Errorf("one of four fills a tail of a quarter: %+v", got)
	}
	if got := (Replicates{Values: values, Undefined: 2}).Interval(0.5); got.OK {
		t.Errorf("two of five are more than a quarter: %+v", got)
	}
}

// One unit can be resampled: it is always the one that is drawn.
func TestOneUnitIsResampled(t *testing.T) {
	t.Parallel()
	got, err := Bootstrap(1, 3, 1, func(drawn []int) Number { return Known(float64(len(drawn) + drawn[0])) })
	if err != nil || len(got.Values) != 3 || got.Values[0] != 1 || got.SE().Value != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Bootstrap(0, 3, 1, nil); err == nil {
		t.Error("nothing was resampled")
	}
}

// One cluster in which nothing differs has an interval, and none has not.
func TestOneClusterThatDoesNotDifferHasABound(t *testing.T) {
	t.Parallel()
	if got := Unchanged(1, 2, 0.95); !got.OK || math.Abs(got.High-1.95) > 1e-12 || got.Low != -got.High {
		t.Errorf("%+v", got)
	}
	if got := Unchanged(0, 2, 0.95); got.OK {
		t.Errorf("%+v", got)
	}
}
