package simulator

import (
	"math"
	"testing"

	"assay/internal/simulator/minds"
)

func TestTheTruthIsReportedOfWhoWasAsked(t *testing.T) {
	t.Parallel()
	j := minds.Judges{Noise: 5, Ties: 0.2}
	w := newWorld(t, Options{Quality: map[string]float64{"good": 80}, Yield: map[string]float64{"meek": 0.9}, Judges: &j})
	w.json("POST", w.base["generic"]+"/chat/completions", `{"model":"other","messages":[{"role":"user","content":"x"}]}`)
	got := w.s.Truth()
	diff(t, map[string]minds.Model{"good": minds.Writer{Quality: map[string]float64{"good": 80}}.Model("good"),
		"meek": {Quality: minds.Writer{}.Model("meek").Quality, Yield: 0.9}, "other": minds.Writer{}.Model("other")}, got.Models)
	diff(t, j, got.Judges)
	told := w.json("GET", "http://sim.invalid/sim/truth", "")
	diff(t, map[string]any{"models.good.quality": 80.0, "models.meek.yield": 0.9, "judges.noise": 5.0, "explicit": got.Explicit},
		told.pick("models.good.quality", "models.meek.yield", "judges.noise", "explicit"))
	silent := newWorld(t, Options{Responder: parrot{}})
	diff(t, map[string]minds.Model{}, silent.s.Truth().Models)
}

type parrot struct{}

func (parrot) Respond(*minds.Question) minds.Answer { return minds.Answer{Text: "x"} }

func TestSettingsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, j := range []minds.Judges{{Noise: -1}, {Noise: math.NaN()}, {PositionBias: math.Inf(1)}, {Ties: 1.1}, {Refusals: -0.1},
		{Malformed: math.NaN()}} {
		if _, err := New(Options{Dir: t.TempDir(), Judges: &j}); err == nil {
			t.Errorf("%+v is taken", j)
		}
	}
	if err := minds.DefaultJudges().Check(); err != nil {
		t.Error(err)
	}
}
