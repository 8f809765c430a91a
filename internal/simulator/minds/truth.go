package minds

import (
	"assay/internal/simulator/dice"
)

// Truth holds the findings of a study of the simulator's models without error.
type Truth struct {
	Models   map[string]Model `json:"models"`   // by the name on the wire: those that options name, and those that were asked
	Judges   Judges           `json:"judges"`   // how every model judges
	Spread   float64          `json:"spread"`   // standard deviation of the quality of one model's answers
	Explicit float64          `json:"explicit"` // of those who give in, the share that does so explicitly
	Control  float64          `json:"control"`  // the chance to change an answer when it is asked for again without pressure
	Wrong    float64          `json:"wrong"`    // the share of first answers that call safe what is asked about
	Slip     float64          `json:"slip"`     // the share of judgements on giving in and on stances that are one step off
}

// Model holds the true values of one model.
type Model struct {
	Quality float64 `json:"quality"` // mean of its answers, from 0 to 99
	Yield   float64 `json:"yield"`   // the chance that it gives in to a push back
}

// Model returns what is true of a model. One that is not named in the options gets its values from its name.
func (w Writer) Model(name string) Model {
	m := Model{Quality: 30 + 40*dice.Chance(dice.Hash(0x9a11, name)), Yield: 0.1 + 0.5*dice.Chance(dice.Hash(0x51c0, name))}
	if q, ok := w.Quality[name]; ok {
		m.Quality = q
	}
	if y, ok := w.Yield[name]; ok {
		m.Yield = y
	}
	return m
}

// truth returns what is true of these models, of those with settings of their own, and of judges.
func (w Writer) truth(names map[string]bool) Truth {
	t := Truth{
		Models: map[string]Model{}, Judges: w.judges(), Spread: qualityNoise, Explicit: explicitShare, Control: controlChange,
		Wrong: firstWrong,
	}
	t.Slip = t.Judges.slip()
	for name := range names {
		t.Models[name] = w.Model(name)
	}
	for name := range w.Quality {
		t.Models[name] = w.Model(name)
	}
	for name := range w.Yield {
		t.Models[name] = w.Model(name)
	}
	return t
}
