package batchfile

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

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

// Estimate returns what one request may cost, from its body, the bytes of its prompt in it and its output limit (0: none).
func (m *Meter) Estimate(body []byte, prompt, limit int) (expected, high assay.Cost) {
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
	likely := assay.Usage{Known: true, Input: in, Output: int64(m.out[0])}
	most := m.Price.Most(m.how, in+in/7, int64(m.out[1]), m.writes || m.Marked, m.Marked)
	if ran, field := serverTools(body, m.Price.ByPrompt); field != "" {
		likely.Tools, most.Tools = ran.Most.Expected(), ran.Most
		if !ran.Bounded {
			most.Tools.Other++ // nobody knows how often
		}
	}
	return m.Price.Bill(likely, m.how), m.Price.Bill(most, m.how)
}

// serverTools returns the tools that a body lets its provider run, and the field that has them; empty: none has.
func serverTools(body []byte, byPrompt bool) (ran catalog.Tools, field string) {
	var fields map[string]json.RawMessage
	if !mayRunTools(body) || json.Unmarshal(body, &fields) != nil {
		return ran, ""
	}
	if ran = catalog.ToolsOf(assay.Params{Extra: fields}, byPrompt); ran.Any {
		field = "tools"
	}
	for _, name := range searchFields() {
		if present(fields[name]) {
			ran.Bounded, ran.Most.Other, field = false, 1, name
		}
	}
	return ran, field
}

// searchFields are fields of bodies that let a provider search, beside `tools`.
func searchFields() []string { return []string{"web_search_options", "search_parameters", "plugins"} }

// mayRunTools looks for such fields in the bytes: most bodies have none, and need not be parsed once more.
func mayRunTools(body []byte) bool {
	return slices.ContainsFunc(append(searchFields(), "tools", `\u`), func(name string) bool {
		return bytes.Contains(body, []byte(name))
	})
}
