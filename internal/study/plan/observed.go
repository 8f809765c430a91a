package plan

import (
	"math"

	"assay/internal/assay"
)

// Source is where the tokens of an estimate come from.
type Source string

// The sources, best first.
const (
	FromRun     Source = "this run"
	FromEarlier Source = "earlier run"
	FromPilot   Source = "pilot"
	FromModel   Source = "same model"
	FromCatalog Source = "catalogue"
)

// Observed holds what answers of a lane really took.
type Observed struct {
	N       int64   // answers; 0: none is known
	PerByte float64 // input tokens a byte of prompt; 0: not known
	Input   float64 // mean input tokens of the same turn of the same stage; 0: not known
	Mean    float64 // output tokens an answer
	Visible float64 // of these: without its thoughts
	From    Source
}

// Spread returns by what factor the mean of further answers may differ: they vary about as much as they are long.
func (o Observed) Spread() float64 { return 1 + 2/math.Sqrt(float64(max(1, o.N))) }

// Learned finds what answers of a lane took in a turn of a stage. Its zero value knows nothing.
type Learned func(stage string, turn int, judged bool, lane assay.Lane) Observed

// Learn makes a way expect what answers took. The most that an answer may cost does not change.
func (r *Route) Learn(o Observed) {
	if o.N == 0 {
		return
	}
	r.expected = min(int(math.Ceil(o.Mean)), r.high)
	if o.PerByte > 0 {
		r.factor = o.PerByte * BytesPerToken
	}
}
