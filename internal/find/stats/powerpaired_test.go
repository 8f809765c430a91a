package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The cases were made by other programs: exact power by sums over the discordant pairs, Student's by noncentral t (statsmodels, R).
func TestPairedPlansMatchOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p1, p2, phi, power float64
		items              int
		reached, normal    float64 // power with so many items, and with as many as the normal approximation asks for
		guess              int
	}{
		{0.8, 0.7, 0.4, 0.8, 193, 0.80059799, 0.77063783, 181},
		{0.9, 0.85, 0.3, 0.8, 517, 0.80017952, 0.774827, 487},
		{0.6, 0.5, 0, 0.8, 408, 0.80020553, 0.78285224, 391},
		{0.3, 0.2, 0.5, 0.9, 212, 0.90140018, 0.88649797, 203},
	} {
		difference := c.p1 - c.p2
		apart := c.p1*(1-c.p2) + c.p2*(1-c.p1) - 2*c.phi*math.Sqrt(c.p1*(1-c.p1)*c.p2*(1-c.p2))
		p := Paired{Variance: apart - difference*difference, Exact: true}
		n, err := p.Items(difference, Test{Alpha: 0.05, Power: c.power})
		if err != nil || n != c.items {
			t.Errorf("%+v: %d items, %v", c, n, err)
		}
		for items, want := range map[int]float64{c.items: c.reached, c.guess: c.normal} {
			got, err := p.Power(items, difference, 0.05)
			if diff := cmp.Diff(want, got, about(1e-6)); diff != "" || err != nil {
				t.Errorf("%+v: power with %d items: %s %v", c, items, diff, err)
			}
		}
	}
	for _, c := range []struct {
		difference, a, b, r, power float64
		items                      int
		reached                    float64
	}{
		{0.2, 1, 1, 0.5, 0.8, 199, 0.80169102}, {0.5, 1.2, 1, 0.4, 0.9, 65, 0.90379543}, {0.1, 0.8, 0.8, 0.7, 0.8, 304, 0.80087978},
		{1, 1, 1, 0, 0.8, 18, 0.80704642},
	} {
		p := Paired{Variance: c.a*c.a + c.b*c.b - 2*c.r*c.a*c.b}
		n, err := p.Items(c.difference, Test{Alpha: 0.05, Power: c.power})
		if err != nil || n != c.items {
			t.Errorf("%+v: %d items, %v", c, n, err)
		}
		if got, err := p.Power(n, c.difference, 0.05); math.Abs(got-c.reached) > 0.003 || err != nil { // Student's t is approximated
			t.Errorf("%+v: power %g, %v", c, got, err)
		}
	}
	for _, c := range []struct{ lanes, tests, total int }{{4, 6, 1756}, {8, 28, 5318}, {20, 190, 18511}} {
		n, err := ComparisonsNeeded(c.lanes, 0.3, 0.23, Test{Alpha: 0.05 / float64(c.tests), Power: 0.8})
		if err != nil || n != c.total {
			t.Errorf("%+v: %d comparisons, %v", c, n, err)
		}
		d, err := DetectableStrength(c.lanes, int64(n), 0.23, Test{Alpha: 0.05 / float64(c.tests), Power: 0.8})
		if diff := cmp.Diff(0.3, d, about(1e-4)); diff != "" || err != nil {
			t.Errorf("%+v: %s %v", c, diff, err)
		}
	}
}

// Every outcome of a small study is one of three on each item: the test shows something in those whose exact p-value is small enough.
func TestExactPowerIsTheSumOverAllOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n           int
		difference  float64
		variance    float64
		first, both float64 // chances of an item on which only the first is right, and on which the two differ
	}{{12, 0.5, 0.25, 0.5, 0.5}, {12, 0.4, 0.25, 0.405, 0.41}, {30, 0.3, 0.25, 0.32, 0.34}, {7, 0.6, 0.3, 0.63, 0.66}} {
		want := 0.0
		for a := range c.n + 1 {
			for b := range c.n + 1 - a {
				tail := 0.0
				for k := range min(a, b) + 1 {
					tail += binomial(k, a+b, 0.5)
				}
				if a == b || 2*tail > 0.05 {
					continue
				}
				rest := float64(c.n - a - b)
				log := logChoose(float64(c.n), float64(a+b)) + logChoose(float64(a+b), float64(a))
				want += math.Exp(log) * math.Pow(c.first, float64(a)) * math.Pow(c.both-c.first, float64(b)) * math.Pow(1-c.both, rest)
			}
		}
		got, err := Paired{Variance: c.variance, Exact: true}.Power(c.n, c.difference, 0.05)
		if diff := cmp.Diff(want, got, about(1e-9)); diff != "" || err != nil {
			t.Errorf("%+v: %s %v", c, diff, err)
		}
	}
}

func TestTheSmallestDifferenceIsTheOneThatHasThePower(t *testing.T) {
	t.Parallel()
	test := Test{Alpha: 0.05, Power: 0.8}
	for _, p := range []Paired{{Variance: 0.25, Exact: true}, {Variance: 0.25}, {Variance: 4}, {Variance: 0.02, Exact: true}} {
		for _, n := range []int{12, 60, 500} {
			d := p.Detectable(n, test)
			if !d.OK {
				t.Errorf("%+v: %s", p, d.Why)
				continue
			}
			got, err := p.Power(n, d.Value, test.Alpha)
			if diff := cmp.Diff(0.8, got, about(1e-6)); diff != "" || err != nil {
				t.Errorf("%+v of %d items: %s %v", p, n, diff, err)
			}
		}
	}
	// Five items can never reject at 5%: 2 · (1/2)⁵ is 0.0625.
	if d := (Paired{Variance: 0.25, Exact: true}).Detectable(5, test); d.OK {
		t.Errorf("five items show %v", d)
	}
	for name, err := range map[string]error{
		"no variance":   second(Paired{}.Items(0.1, test)),
		"no difference": second(Paired{Variance: 1}.Items(0, test)),
		"beyond rates":  second(Paired{Variance: 0.25, Exact: true}.Items(1.5, test)),
		"level":         second(Paired{Variance: 1}.Items(0.1, Test{Power: 0.8})),
		"contestants":   second(ComparisonsNeeded(1, 0.3, 0.25, test)),
		"information":   second(ComparisonsNeeded(2, 0.3, 0, test)),
		"comparisons":   second(DetectableStrength(2, 0, 0.25, test)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
