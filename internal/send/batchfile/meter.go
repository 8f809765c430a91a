package batchfile

import (
	"math"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// bytesPerToken is how many bytes of JSON a token has, roughly.
const bytesPerToken = 4.0

// Meter estimates what requests of one lane cost.
type Meter struct {
	Price catalog.Price

	// Marked is set where bodies go out as somebody else wrote them, and may mark what a cache is to keep.
	Marked bool

	catalog *catalog.Catalog
	kind    string
	lane    assay.Lane
	how     catalog.Billing
	factor  float64
	limit   int // of the guess below
	guessed bool
	out     [2]int // expected, most
	seen    int    // output tokens of the mean answer until now; 0: there is none
	careful bool   // more is reserved than is expected
	writes  bool   // the vendor writes prompts to its cache unasked
}

// NewMeter returns the meter of a lane at a vendor.
func NewMeter(c *catalog.Catalog, kind string, lane assay.Lane, mode assay.Mode) *Meter {
	m := &Meter{catalog: c, kind: kind, lane: lane, how: catalog.Billing{Mode: mode}, factor: c.TokenFactor(kind, lane.Model)}
	m.Price, _ = c.Price(kind, lane.Model)
	v, _ := c.Vendor(kind)
	m.writes = !v.CacheMarks
	return m
}

// Reserve has answers expected to be as long as those until now were on average; 0: none is there, and more is taken than the
// catalogue expects.
func (m *Meter) Reserve(tokens float64) {
	m.seen, m.careful, m.guessed = int(math.Ceil(tokens)), true, false
}

// Estimate returns what one request may cost, from the bytes of its prompt and its output limit (0: none).
func (m *Meter) Estimate(prompt, limit int) (expected, high assay.Cost) {
	if !m.guessed || m.limit != limit {
		lane := m.lane
		lane.Params.MaxTokens = limit
		_, m.out[0], m.out[1] = m.catalog.OutputGuess(lane, m.kind)
		switch {
		case m.seen > 0:
			m.out[0] = min(m.seen, m.out[1])
		case m.careful:
			m.out[0] = m.catalog.Careful(m.out[0], m.out[1])
		}
		m.limit, m.guessed = limit, true
	}
	in := int64(float64(prompt)/bytesPerToken*m.factor + 0.5)
	expected = m.Price.Bill(assay.Usage{Known: true, Input: in, Output: int64(m.out[0])}, m.how)
	return expected, m.Price.Bill(m.Price.Most(m.how, in+in/7, int64(m.out[1]), m.writes || m.Marked, m.Marked), m.how)
}
