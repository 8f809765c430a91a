package adaptive

import (
	"math"
	"slices"
	"testing"

	"assay/internal/find/stats"
)

func TestARoundIsCutFromItsLargestCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		buy  []int
		n    int
		want []int
	}{
		{[]int{4, 4, 4}, 12, []int{4, 4, 4}},
		{[]int{4, 4, 4}, 9, []int{3, 3, 3}},
		{[]int{4, 4, 4}, 10, []int{4, 3, 3}},
		{[]int{9, 2, 4}, 8, []int{3, 2, 3}},
		{[]int{9, 2, 4}, 0, []int{0, 0, 0}},
		{[]int{1, 0, 1}, 1, []int{1, 0, 0}},
	} {
		if got := Cut(c.buy, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Cut(%v, %d) is %v, want %v", c.buy, c.n, got, c.want)
		}
	}
}

// someVerdicts are comparisons of three lanes on 40 items, of which the first is the best.
func someVerdicts(t *testing.T, order [3]uint16) *stats.Grouped {
	t.Helper()
	var p stats.Pairs
	var cluster []uint32
	for item := range uint32(40) {
		for k, two := range [][2]uint16{{0, 1}, {0, 2}, {1, 2}} {
			first, second := order[two[0]], order[two[1]]
			result := stats.FirstWon
			if (int(item)*7+k*3)%10 < 2+k {
				result = stats.SecondWon
			}
			if item%2 == 1 { // the other way round
				first, second = second, first
				result = map[stats.Result]stats.Result{stats.FirstWon: stats.SecondWon, stats.SecondWon: stats.FirstWon}[result]
			}
			p.Append(first, second, result)
			cluster = append(cluster, item)
		}
	}
	g, err := stats.Group(3, p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestALookInAnotherOrderSaysTheSame(t *testing.T) {
	t.Parallel()
	plain, err := NewLook(someVerdicts(t, [3]uint16{0, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := NewLook(someVerdicts(t, [3]uint16{2, 0, 1})) // lane 0 is called 2 there, 1 is called 0, 2 is called 1
	if err != nil {
		t.Fatal(err)
	}
	back := moved.Reordered([]int{2, 0, 1})
	for i := range plain.Theta {
		if math.Abs(plain.Theta[i]-back.Theta[i]) > 1e-9 || math.Abs(plain.SE[i]-back.SE[i]) > 1e-9 {
			t.Errorf("lane %d: %g ± %g, want %g ± %g", i, back.Theta[i], back.SE[i], plain.Theta[i], plain.SE[i])
		}
	}
	for k, p := range plain.Pairs {
		q := back.Pairs[k]
		if p.I != q.I || p.J != q.J || math.Abs(p.Difference-q.Difference) > 1e-9 || math.Abs(p.P-q.P) > 1e-9 ||
			math.Abs(p.Variance-q.Variance) > 1e-9 {
			t.Errorf("pair %d: %+v, want %+v", k, q, p)
		}
	}
}

func TestSharesOfWinsAreThoseOfTheStrengths(t *testing.T) {
	t.Parallel()
	l, err := NewLook(someVerdicts(t, [3]uint16{0, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	odds := func(a float64) float64 { return 1 / (1 + math.Exp(-a)) }
	d := l.Order.Value
	want := 0.0
	for _, other := range []int{1, 2} {
		x := l.Theta[0] - l.Theta[other]
		want += (odds(x+d) + odds(x-d)) / 4
	}
	if got := l.Share(0); math.Abs(got-want) > 1e-9 {
		t.Errorf("share %g, want %g", got, want)
	}
	if sum := l.Share(0) + l.Share(1) + l.Share(2); math.Abs(sum-1.5) > 1e-9 {
		t.Errorf("the shares of three sum to %g, want 1.5", sum)
	}
}

func TestAPlanGoesOnFromWhatWasDecided(t *testing.T) {
	t.Parallel()
	p := Plan{Lanes: 3, Rounds: 4, Budget: 300, Most: 80, Alpha: Alpha, Futility: Futility}
	g, err := Begin(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Begin(p)
	if err != nil {
		t.Fatal(err)
	}
	g.Buy(g.First())
	again.Buy(again.First())
	l, err := NewLook(someVerdicts(t, [3]uint16{0, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	claims := g.Look(l)
	if len(claims) == 0 {
		t.Fatal("nothing is claimed")
	}
	var given []int
	for k, up := range g.Given {
		if up {
			given = append(given, k)
		}
	}
	again.Recall(claims, given, g.Narrow)
	if !slices.Equal(g.Next(l), again.Next(l)) || !slices.Equal(g.Open(), again.Open()) || g.Level() != again.Level() {
		t.Errorf("it goes on with %v, want %v", again.Next(l), g.Next(l))
	}
	if g.Level() != p.Levels()[0] {
		t.Errorf("level %g, want that of the first look", g.Level())
	}
}

func TestAGoalOfWidthStopsWhenAllStrengthsAreCertain(t *testing.T) {
	t.Parallel()
	l, err := NewLook(someVerdicts(t, [3]uint16{0, 1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	half := 0.0
	for _, se := range l.SE {
		half = max(half, se*stats.StudentCritical(0.05, l.Clusters))
	}
	for width, want := range map[float64]bool{half * 0.99: false, half * 1.01: true} {
		g, err := Begin(Plan{Lanes: 3, Rounds: 4, Budget: 300, Most: 80, Alpha: Alpha, Goal: Goal{Width: width}})
		if err != nil {
			t.Fatal(err)
		}
		g.Buy(g.First())
		if claims := g.Look(l); claims != nil || g.Settled() != want || (g.Next(l) == nil) != want {
			t.Errorf("width %g of %g: claims %v, settled %t, next %v", width, half, claims, g.Settled(), g.Next(l))
		}
		if next := g.Next(l); next != nil && slices.Max(next)-slices.Min(next) > 1 {
			t.Errorf("the next round is uneven: %v", next)
		}
	}
}

// TestALaneThatWinsAllHasNoInterval: its strength has no end, and what is shown is shrunken.
func TestALaneThatWinsAllHasNoInterval(t *testing.T) {
	t.Parallel()
	var p stats.Pairs
	var cluster []uint32
	for item := range uint32(40) {
		for _, two := range [][2]uint16{{0, 1}, {0, 2}, {1, 2}} {
			first, second, wins := two[0], two[1], two[0] == 0 || item%3 > 0
			if item%2 == 1 {
				first, second, wins = second, first, !wins
			}
			result := stats.SecondWon
			if wins {
				result = stats.FirstWon
			}
			p.Append(first, second, result)
			cluster = append(cluster, item)
		}
	}
	g, err := stats.Group(3, p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLook(g)
	if err != nil {
		t.Fatal(err)
	}
	if l.Finite || l.Thin || l.Theta[0] <= l.Theta[1] || l.Theta[1] <= l.Theta[2] || l.Misfit != (Misfit{}) {
		t.Errorf("%+v", l)
	}
	if i := l.Strength(0, 0.05); i.OK || i.Why != "one of them wins or loses all" {
		t.Errorf("%+v", i)
	}
}

// TestAPairThatDepartsFromAllStrengthsIsNamed: one that wins against its strength, and none where all is as the strengths predict.
func TestAPairThatDepartsFromAllStrengthsIsNamed(t *testing.T) {
	t.Parallel()
	build := func(odd bool) *Look {
		var p stats.Pairs
		var cluster []uint32
		for item := range uint32(100) {
			for k, two := range Pairs(4) {
				wins := int(item)*37%100 < 50+10*(two[1]-two[0]) // about half, more for a larger distance
				if odd && two == [2]int{0, 3} {
					wins = int(item)*37%100 < 25
				}
				first, second, result := uint16(two[0]), uint16(two[1]), stats.FirstWon
				if !wins {
					result = stats.SecondWon
				}
				if (int(item)+k)%2 == 1 {
					first, second = second, first
					result = map[stats.Result]stats.Result{stats.FirstWon: stats.SecondWon, stats.SecondWon: stats.FirstWon}[result]
				}
				p.Append(first, second, result)
				cluster = append(cluster, item)
			}
		}
		g, err := stats.Group(4, p, cluster)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLook(g)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := build(false); l.Misfit.Large(4) {
		t.Errorf("a pair departs by %+v where none does", l.Misfit)
	}
	m := build(true).Misfit
	if m.I != 0 || m.J != 3 || !m.Large(4) || m.Z > 0 || math.Abs(m.Score-0.25) > 1e-9 || m.N != 100 {
		t.Errorf("the largest departure is %+v, want that of 0 against 3", m)
	}
	if moved := build(true).Reordered([]int{3, 2, 1, 0}); moved.Misfit.I != 3 || moved.Misfit.J != 0 {
		t.Errorf("in another order it is %+v", moved.Misfit)
	}
}

func TestClearTakesMoreThanLuck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		won, lost float64
		pairs     int
		want      bool
	}{
		{0, 0, 1, false}, {8, 0, 28, false}, {10, 0, 1, false}, {11, 0, 1, true}, {16, 0, 28, false}, {17, 0, 28, false}, {18, 0, 28, true},
		{0, 18, 28, true}, {60, 30, 28, false}, {70, 30, 28, false}, {71, 29, 28, true},
	} {
		if got := Clear(c.won, c.lost, c.pairs); got != c.want {
			t.Errorf("%g to %g of %d pairs: clear %v", c.won, c.lost, c.pairs, got)
		}
	}
}

// The lowest counts rise first, none beyond the most, and what finds no room is not dealt.
func TestComparisonsGoWhereTheFewestAre(t *testing.T) {
	t.Parallel()
	g := &Progress{Plan: Plan{Most: 5}, Bought: []int{3, 1, 1}}
	for n, want := range map[int][]int{0: {0, 0, 0}, 3: {0, 2, 1}, 4: {0, 2, 2}, 6: {1, 3, 2}, 100: {2, 4, 4}} {
		got := g.deal(n, []bool{true, true, true})
		if sum := got[0] + got[1] + got[2]; sum != min(n, 10) || !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	if got := g.deal(4, []bool{true, false, false}); !slices.Equal(got, []int{2, 0, 0}) {
		t.Errorf("only the first may be asked: %v", got)
	}
}

// What is open may be settled yet, and what is settled is not hopeless.
func TestOnlyWhatIsAllGivenUpIsHopeless(t *testing.T) {
	t.Parallel()
	p := Plan{Lanes: 2, Rounds: 4, Budget: 300, Most: 80, Alpha: Alpha, Futility: Futility}
	for name, c := range map[string]struct {
		claims []Claim
		given  []int
		want   bool
	}{
		"nothing is known yet": {nil, nil, false},
		"one is better":        {[]Claim{{Better: 0, Worse: 1}}, nil, false},
		"it is given up":       {nil, []int{0}, true},
	} {
		g, err := Begin(p)
		if err != nil {
			t.Fatal(err)
		}
		g.Recall(c.claims, c.given, false)
		if got := g.Hopeless(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
