package plan

import (
	"context"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
)

// Input holds what a plan is made from.
type Input struct {
	Study   *study.Study
	Items   *inputs.Source // the files, for checking and measuring; nil where a snapshot is all there is
	Rows    Rows           // the items
	Catalog *catalog.Catalog
	Today   catalog.Date
	Read    string // the digest of the study when it was read to be run; empty: not taken

	// Open gives the bytes of a file that is shown; nil: nobody reads them.
	Open func(assay.Sum) (io.ReadCloser, error)

	Learned Learned            // what answers took before; nil: nothing is known
	Drawn   map[string][]Drawn // by stage: the pairs of a run to which lanes or items were added; the study says which the others have

	// Known walks over the requests of a judge that need no answer, such as comparisons of items, in the order in which they go
	// out. Nil: such stages are estimated.
	Known func(ctx context.Context, st *study.Stage, l *study.Lane, o Options) iter.Seq2[First, error]
}

// Rows streams the items of an input: from files, or from the snapshot of a run.
type Rows interface {
	Items(ctx context.Context, input string) iter.Seq2[assay.Item, error]
}

// Plan is everything a study may send, priced: the first wave exactly, later waves as counts (at most) and estimates.
type Plan struct {
	Study    string
	Parts    []Part // one for each stage, lane and turn, in the order they can go out
	Imports  []Import
	Unasked  int64 // comparisons of texts that take no request: a program or people judge them
	Waves    int
	Items    map[string]int // items of every input that is asked
	Power    []Power        // what its stages can show
	Sampled  bool           // of some stage the tokens of a sample were counted, and not of all requests that are known
	Notes    []string       // what a careful reader should know, but for canaries: Said has all
	DiskLow  int64          // bytes expected on disk
	DiskHigh int64

	Sizes []Size // of stages that can show differences
}

// Empty reports whether there is nothing to send, to take in or to compare.
func (p *Plan) Empty() bool { return len(p.Parts)+len(p.Imports) == 0 && p.Unasked == 0 }

// Part holds what one lane is asked in one turn of one stage.
type Part struct {
	Stage    string
	Verb     study.Verb
	Lane     *study.Lane
	Turn     int        // asked turns count from 1
	Wave     int        // waves count from 1
	Mode     assay.Mode // batch or live: how it travels
	Exact    bool       // rendered and encoded, not estimated
	Gated    bool       // may turn out to be less, or nothing
	Control  bool       // part of it is the control
	Requests int64      // exact, or at most
	Rounds   int        // in which they are bought, each a wave; 0: in one
	First    int64      // requests of the first of several rounds; 0: there is one
	Bytes    int64      // of all segments; 0 where not exact
	Segments []Segment  // where exact
	Input    Span       // tokens of all requests
	Output   Span       // tokens of all requests, reasoning included
	From     Source     // of the tokens of its answers
	Few      int64      // of a batch: fewer requests than this go live; 0: however few
	Rest     int64      // of a batch: so many may be left over and go live, too
	Canary   int64      // of a batch: so many go live first
	Primed   bool       // of a batch: one request goes first as a batch of its own, and the others read what all share from a cache
	Plain    Price      // in its mode, as if none of a batch went live
	Cost     Price      // as it travels
	Live     Price      // if it went live
}

// CostOf returns what some of its requests cost as they travel: few of a later wave go live, and so do canaries.
func (p *Part) CostOf(some int64) Price {
	plain := p.Plain.Share(some, p.Requests)
	if p.Mode != assay.ModeBatch || some <= 0 {
		return plain
	}
	live := p.Live.Share(some, p.Requests)
	first := min(p.Canary, some)
	if some-first < p.Few { // those that are left when the canary is away
		return live
	}
	most := max(first, min(p.Rest, some))
	return Price{Low: plain.Low, Expected: mixed(plain.Expected, live.Expected, first, some),
		High: mixed(plain.High, live.High, most, some)}
}

// mixed returns what so many requests cost of which some go live.
func mixed(plain, live assay.Cost, some, of int64) assay.Cost {
	if live.Known() && plain.Known() && live.Sum > plain.Sum {
		plain.Sum += (live.Sum - plain.Sum).Share(some, of)
	}
	return plain
}

// Span is a low, an expected and a high figure.
type Span struct {
	Low      int64 `json:"low"`
	Expected int64 `json:"expected"`
	High     int64 `json:"high"`
}

func (s Span) plus(t Span) Span {
	return Span{Low: s.Low + t.Low, Expected: s.Expected + t.Expected, High: s.High + t.High}
}

// Price is a low, an expected and a high cost.
type Price struct{ Low, Expected, High assay.Cost }

// Plus adds two prices.
func (p Price) Plus(q Price) Price {
	return Price{Low: p.Low.Add(q.Low), Expected: p.Expected.Add(q.Expected), High: p.High.Add(q.High)}
}

// Share returns the price of some of so many requests.
func (p Price) Share(some, of int64) Price {
	share := func(c assay.Cost) assay.Cost {
		if of <= 0 || some >= of {
			return c
		}
		part := func(n int64) int64 { return int64(assay.Money(n).Share(some, of)) }
		return assay.Cost{Sum: c.Sum.Share(some, of), Priced: part(c.Priced), Unknown: part(c.Unknown)}
	}
	return Price{Low: share(p.Low), Expected: share(p.Expected), High: share(p.High)}
}

// times returns the price of some in place of so many that are priced: more of them, or fewer.
func (p Price) times(some, of int64) Price {
	one := func(c assay.Cost) assay.Cost {
		return assay.Cost{Sum: c.Sum.Share(some, of), Priced: c.Priced, Unknown: c.Unknown}
	}
	return Price{Low: one(p.Low), Expected: one(p.Expected), High: one(p.High)}
}

// Total is the sum over parts.
type Total struct {
	Requests int64
	Segments int
	Later    int64 // requests that travel in batches and are cut when they are made
	Bytes    int64
	Input    Span
	Output   Span
	Cost     Price
	Live     Price
	Exact    bool
}

// Sum adds up the parts that a condition picks.
func (p *Plan) Sum(pick func(Part) bool) Total {
	t := Total{Exact: true}
	for _, part := range p.Parts {
		if !pick(part) {
			continue
		}
		t.Requests += part.Requests
		t.Segments += len(part.Segments)
		if part.Mode == assay.ModeBatch && part.Segments == nil {
			t.Later += part.Requests
		}
		t.Bytes += part.Bytes
		t.Input, t.Output = t.Input.plus(part.Input), t.Output.plus(part.Output)
		t.Cost, t.Live = t.Cost.Plus(part.Cost), t.Live.Plus(part.Live)
		t.Exact = t.Exact && part.Exact
	}
	return t
}

// Options hold how much of a study is planned.
type Options struct {
	Lanes   []string // names and globs; empty: all
	Stages  []string // empty: all
	Limit   int      // items of every input; 0: all
	Workers int      // goroutines that render and encode; 0: one

	NoCanary bool // no request goes live before its batch, whatever the study says
}

// AtLeast makes the low estimates those of some of the requests.
func (p *Part) AtLeast(some int64) {
	low := func(s *Span) { s.Low = s.Low * some / max(1, p.Requests) }
	low(&p.Input)
	low(&p.Output)
	p.Plain.Low, p.Live.Low = p.Plain.Share(some, p.Requests).Low, p.Live.Share(some, p.Requests).Low
}
