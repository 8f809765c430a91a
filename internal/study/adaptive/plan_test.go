package adaptive

import (
	"slices"
	"testing"
)

func TestTheSmallestPlanIsOneAndNothingLessIs(t *testing.T) {
	t.Parallel()
	least := Plan{Lanes: 2, Rounds: 1, Budget: 1, Most: 1, Alpha: 0.05, Order: []int{0}}
	if err := least.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Plan){
		"one lane": func(p *Plan) { p.Lanes = 1 }, "no round": func(p *Plan) { p.Rounds = 0 }, "no budget": func(p *Plan) { p.Budget = 0 },
		"no pair": func(p *Plan) { p.Most = 0 }, "a level of 0": func(p *Plan) { p.Alpha = 0 },
		"a level of 1": func(p *Plan) { p.Alpha = 1 }, "futility below 0": func(p *Plan) { p.Futility = -0.1 },
		"certain futility":        func(p *Plan) { p.Futility = 1 },
		"an order of other pairs": func(p *Plan) { p.Order = []int{0, 1} },
	} {
		p := least
		spoil(&p)
		if p.Check() == nil {
			t.Errorf("%s: it passes for a plan", name)
		}
	}
}

func TestTheEffectOfClustersIsTheMiddleOfAllPairs(t *testing.T) {
	t.Parallel()
	errors := func(of ...float64) func(i, j int) float64 {
		return func(i, j int) float64 { return of[i+j-1] } // three lanes: pairs 0,1; 0,2; 1,2
	}
	unit := func(_, _ int) float64 { return 1 }
	for _, c := range []struct {
		lanes  int
		robust func(i, j int) float64
		want   float64
	}{
		{3, errors(1.5, 1, 1.9), 2.25},
		{2, errors(1.5), 2.25},
		{3, errors(0.1, 0.1, 0.1), 0.5},
		{3, errors(3, 3, 3), 4},
	} {
		if got := Effect(c.lanes, c.robust, unit); got != c.want {
			t.Errorf("%d lanes: %v, want %v", c.lanes, got, c.want)
		}
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("the median of four: %v", got)
	}
}

func TestAGoalIsOneOfThree(t *testing.T) {
	t.Parallel()
	for goal, good := range map[*Goal]bool{
		{}: true, {Top: 2}: true, {Between: [][2]int{{0, 1}}}: true, {Width: 0.5}: true,
		{Top: 3}: false, {Top: -1}: false, {Top: 1, Between: [][2]int{{0, 1}}}: false, {Width: 0.5, Top: 1}: false,
		{Width: 0.5, Between: [][2]int{{0, 1}}}: false, {Width: -1}: false,
	} {
		if err := goal.check(3); (err == nil) != good {
			t.Errorf("%+v: %v", *goal, err)
		}
	}
	all := [][2]int{{0, 1}, {0, 2}, {1, 2}}
	for goal, want := range map[*Goal][]bool{{}: {true, true, true}, {Between: [][2]int{{2, 1}, {0, 1}}}: {true, false, true}} {
		if got := goal.family(all); !slices.Equal(got, want) {
			t.Errorf("%+v: claims about %v, want %v", *goal, got, want)
		}
	}
}
