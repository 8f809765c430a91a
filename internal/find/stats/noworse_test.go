package stats

import (
	"math"
	"testing"
)

func TestAMarginIsKeptByTheWholeInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		want      Standing
	}{
		{-0.019, 0.05, NoWorse}, {-0.019, -0.001, NoWorse}, // worse, but by less than the margin
		{-0.02, 0.05, CannotTell}, {-0.05, 0, CannotTell}, {-0.05, -0.001, Worse}, {-0.09, -0.03, Worse},
	} {
		if got := Between(c.low, c.high).Standing(0.02); got != c.want {
			t.Errorf("[%g, %g]: %s, want %s", c.low, c.high, got, c.want)
		}
	}
	if got := NoInterval("none").Standing(0.02); got != CannotTell {
		t.Error(got)
	}
}

func TestThePValueOfAMarginIsThatOfItsInterval(t *testing.T) {
	t.Parallel()
	totals := []Total{{1, 0.1}, {1, -0.2}, {1, 0.3}, {1, 0.05}, {1, -0.1}, {1, 0.2}}
	interval := func(level float64) Interval { return MeanByCluster(totals, level).Interval }
	shifted := make([]Total, len(totals))
	for i, x := range totals {
		shifted[i] = Total{1, x.Sum + 0.1}
	}
	got, want := LeftOutAt(-0.1, interval), MeanByCluster(shifted, 0.95).P
	if !got.OK || math.Abs(got.Value-want.Value) > 1e-9 {
		t.Errorf("p %v, Student's test has %v", got, want)
	}
	if none := LeftOutAt(0, func(float64) Interval { return NoInterval("none") }); none.OK {
		t.Error(none)
	}
}

func TestNothingThatDiffersBoundsWhatCould(t *testing.T) {
	t.Parallel()
	i := Unchanged(200, 1, 0.95)
	if p := math.Pow(1-i.High, 200); math.Abs(p-0.025) > 1e-9 || i.Low != -i.High {
		t.Errorf("%v: none of 200 with chance %g", i, p)
	}
	if Unchanged(0, 1, 0.95).OK || Unchanged(9, math.Inf(1), 0.95).OK {
		t.Error("an interval from nothing")
	}
}

func TestThePowerOfAMarginIsTheChanceThatEqualsPass(t *testing.T) {
	t.Parallel()
	p := Paired{Variance: 0.25}
	if got := p.Keeps(200, 0.1, 0.05); math.Abs(got-0.804) > 0.001 {
		t.Errorf("%g", got)
	}
	n, err := p.KeepItems(0.1, Test{Alpha: 0.05, Power: 0.8})
	if err != nil || p.Keeps(n, 0.1, 0.05) < 0.8 || p.Keeps(n-2, 0.1, 0.05) >= 0.8 {
		t.Errorf("%d items: %g, two fewer %g (%v)", n, p.Keeps(n, 0.1, 0.05), p.Keeps(n-2, 0.1, 0.05), err)
	}
	if p.Keeps(1, 0.1, 0.05) != 0 {
		t.Error("one item shows something")
	}
}

// TestTheChanceToKeepAMarginIsThatOfAllTables enumerates every table of two equal lanes on few items, and of many holds the chance
// against the normal approximation.
func TestTheChanceToKeepAMarginIsThatOfAllTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		items               int
		rate, apart, margin float64
	}{{80, 0.95, 0.06, 0.07}, {60, 0.5, 0.375, 0.2}, {40, 0.9, 0.15, 0.15}} {
		want := 0.0
		both := c.rate - c.apart/2
		for b := range c.items + 1 {
			for k := range c.items + 1 - b {
				for a := range c.items + 1 - b - k {
					table := PairTable{Both: a, OnlyFirst: b, OnlySecond: k, Neither: c.items - a - b - k}
					if table.Difference(0.95).Interval.Low > -c.margin {
						want += binomial(b+k, c.items, c.apart) * binomial(b, b+k, 0.5) * binomial(a, c.items-b-k, both/(1-c.apart))
					}
				}
			}
		}
		p := Paired{Variance: c.apart, Exact: true, Rate: c.rate}
		got := p.Keeps(c.items, c.margin, 0.05)
		if t.Logf("%+v: %.3f, normal %.3f", c, got, Paired{Variance: c.apart}.Keeps(c.items, c.margin, 0.05)); math.Abs(got-want) > 0.01 {
			t.Errorf("%+v: %g, all tables %g", c, got, want)
		}
		n, err := p.KeepItems(c.margin, Test{Alpha: 0.05, Power: 0.8})
		if err != nil || p.Keeps(n, c.margin, 0.05) < 0.8 || p.Keeps(n-5, c.margin, 0.05) > 0.82 {
			t.Errorf("%+v: %d items %g (%v)", c, n, p.Keeps(n, c.margin, 0.05), err)
		}
	}
	for _, rate := range []float64{0.5, 0.8} {
		many := Paired{Variance: 0.2, Exact: true, Rate: rate}
		exact, normal := many.Keeps(mostEnumerated, 0.03, 0.05), many.Keeps(mostEnumerated+1, 0.03, 0.05)
		if t.Logf("%g: %g, normal %g", rate, exact, normal); math.Abs(exact-normal) > 0.01 {
			t.Errorf("at %d items of rate %g: %g, beyond %g", mostEnumerated, rate, exact, normal)
		}
	}
}

// Where no rate is known, the tables that may come are those of lanes that are right half of the time.
func TestAMarginWithoutARateIsThatOfHalf(t *testing.T) {
	t.Parallel()
	unknown := Paired{Variance: 0.25, Exact: true}.Keeps(100, 0.1, 0.05)
	half := Paired{Variance: 0.25, Exact: true, Rate: 0.5}.Keeps(100, 0.1, 0.05)
	if unknown != half || !(half > 0.1 && half < 0.9) {
		t.Errorf("%g, with a rate of one half %g", unknown, half)
	}
}

// Answers that stand alone are the sign test's: 60 of 100 are two standard deviations above one half.
func TestAShareOfAnswersThatStandAloneIsComparedWithOneHalf(t *testing.T) {
	t.Parallel()
	r := ClusterRate{N: 100, Clusters: 100, Share: Known(0.6)}
	if p := r.Half(); !p.OK || math.Abs(p.Value-0.0455) > 1e-4 {
		t.Errorf("%v", p)
	}
}

// Up to 2,000 items are counted out, that many among them.
func TestItemsOfAMarginAreCountedOutUpTo2000(t *testing.T) {
	t.Parallel()
	const margin = 0.03134
	test := Test{Alpha: 0.05, Power: 0.8}
	near, err := Paired{Variance: 0.25}.KeepItems(margin, test)
	if err != nil || near != 2000 {
		t.Fatal(near, err)
	}
	p := Paired{Variance: 0.25, Exact: true}
	n, err := p.KeepItems(margin, test)
	if err != nil || n == near || p.Keeps(n, margin, 0.05) < 0.8 || p.Keeps(n-1, margin, 0.05) >= 0.8 {
		t.Errorf("%d items: %g, one fewer %g (%v)", n, p.Keeps(n, margin, 0.05), p.Keeps(n-1, margin, 0.05), err)
	}
}
