package adaptive

import "testing"

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
