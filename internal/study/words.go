package study

import (
	"encoding/json"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
)

// Words out of short lists.
type (
	// Mode is how requests travel.
	Mode assay.Mode
	// Reserve is the amount reserved before a batch is sent.
	Reserve string
	// Unpriced is whether lanes without a price may run under a budget.
	Unpriced string
	// DeadlineThen is the treatment of the rest after the deadline.
	DeadlineThen string
	// Missing is the treatment of an item that a join finds no row for.
	Missing string
	// Jury is how several judges become one verdict.
	Jury string
	// Identical is the treatment of a pair of identical answers.
	Identical string
	// Order is which side of a pair comes first.
	Order string
	// Reduce is how draws become one.
	Reduce string
	// Wrap is whether a judge's prompt is wrapped to protect it from the texts in it.
	Wrap string
	// CountAs is how an answer that is none counts.
	CountAs string
	// API is which of a provider's APIs a lane uses.
	API string
)

// Words that something is decided by.
const (
	ReserveHigh    Reserve      = "high"
	UnpricedAllow  Unpriced     = "allow"
	ThenLive       DeadlineThen = "live"
	ThenFlex       DeadlineThen = "flex"
	IdenticalAsk   Identical    = "ask"
	OrderRandom    Order        = "random"
	OrderAlternate Order        = "alternate"
	OrderBoth      Order        = "both"
	OrderAsListed  Order        = "as-listed"
)

// Words lists the modes.
func (Mode) Words() []string { return assay.Modes() }

// Words lists the amounts by name.
func (Reserve) Words() []string { return []string{"expected", string(ReserveHigh)} }

// Words lists the answers.
func (Unpriced) Words() []string { return []string{"refuse", string(UnpricedAllow)} }

// Words lists the treatments.
func (DeadlineThen) Words() []string { return []string{string(ThenLive), string(ThenFlex), "stop"} }

// Words lists the treatments.
func (Missing) Words() []string { return []string{"problem", "keep"} }

// Words lists the ways.
func (Jury) Words() []string { return []string{"each", "majority", "mean", "unanimous"} }

// Words lists the treatments.
func (Identical) Words() []string { return []string{"tie", string(IdenticalAsk)} }

// Words lists the orders.
func (Order) Words() []string {
	return []string{string(OrderRandom), string(OrderAlternate), string(OrderBoth), string(OrderAsListed)}
}

// Words lists the ways.
func (Reduce) Words() []string { return []string{"mean", "majority", "any", "all"} }

// Words lists the ways.
func (CountAs) Words() []string { return []string{"answer", "exclude", "worst"} }

// Words lists the APIs.
func (API) Words() []string { return []string{"chat", "responses"} }

// Read takes on, off, true or false.
func (w *Wrap) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Bool { // some write off and on as false and true
		*w = map[bool]Wrap{true: "on", false: wrapOff}[n.Bool]
		return
	}
	*w = Wrap(d.OneOf(n, "on", wrapOff))
}

// Share is a part of a whole, written 0.3 or 30%.
type Share float64

// Read takes a number, or a percentage.
func (s *Share) Read(d *decode.Decoder, n *decode.Node) {
	if share, ok := percent(n); ok {
		*s = Share(share)
		return
	}
	d.Into(n, (*float64)(s))
}

// CountOrShare is how many of a whole: a count, or a share such as 20%.
type CountOrShare struct {
	N     int
	Share float64 // 0: N counts
}

// Read takes a count, or a percentage.
func (p *CountOrShare) Read(d *decode.Decoder, n *decode.Node) {
	share, ok := percent(n)
	switch {
	case !ok:
		d.Into(n, &p.N)
	case share <= 0 || share > 1:
		d.Wrong(n, "a count, or a share from above 0% to 100%")
		p.N = 1
	default:
		p.Share = share
	}
}

// Given reports whether anything was written.
func (p CountOrShare) Given() bool { return p.N > 0 || p.Share > 0 }

// Of returns how many of so many it is, at least one.
func (p CountOrShare) Of(all int64) int64 {
	if p.Share == 0 {
		return int64(p.N)
	}
	return max(1, int64(p.Share*float64(all)+0.5))
}

// least returns what a check of a count looks at: a share was checked when it was read.
func (p CountOrShare) least() int {
	if p.Share > 0 {
		return 1
	}
	return p.N
}

func percent(n *decode.Node) (float64, bool) {
	number, ok := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	if n.Kind != decode.Text || !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return x / 100, err == nil
}

// Any is any value, kept as JSON.
type Any struct {
	JSON json.RawMessage
	At   assay.Place
}

// Read takes anything.
func (a *Any) Read(_ *decode.Decoder, n *decode.Node) { *a = Any{JSON: n.JSON(), At: n.At} }

// RawSchema is a JSON Schema, written in place or in a file.
type RawSchema struct {
	JSON json.RawMessage
	File string
	At   assay.Place
}

// Read takes a schema, or the name of its file.
func (s *RawSchema) Read(d *decode.Decoder, n *decode.Node) {
	s.At = n.At
	switch n.Kind {
	case decode.Map:
		s.JSON = n.JSON()
	case decode.Text:
		s.File = n.Text
	default:
		d.Wrong(n, "a JSON Schema, or the name of its file")
	}
}
