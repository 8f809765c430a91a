package plan

import (
	"math"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

const (
	bytesPerToken = 4.0  // of texts too few or too odd to count
	visibleTokens = 400  // of an answer, thoughts aside, where it is quoted in a later prompt
	cacheFloor    = 1024 // shared prefixes with fewer tokens are not cached anywhere
)

// load is what the mean request of a part weighs, in tokens of o200k.
type load struct {
	input  float64
	shared float64      // of input: the prefix that caching may cover
	bytes  float64      // of its prompt, where that is rendered; 0: unknown
	answer judge.Length // of a judge's verdict; zero: it is no verdict
}

// price fills a part's tokens and money from its count and the weight of its mean request.
func (d *Input) price(p *Part, w load) {
	kind, _ := d.kind(p.Lane)
	factor := d.Catalog.TokenFactor(kind, p.Lane.Model)
	spread := 0.03
	if factor != 1 {
		spread = 0.15
	}
	in := w.input * factor
	low, expected, high := d.Catalog.OutputGuess(p.Lane.Lane, kind)
	if w.answer.Expected > 0 { // as it is reserved
		low, expected, high = d.Catalog.OutputOf(p.Lane.Lane, kind, w.answer.Low, w.answer.Expected)
	}
	if seen := d.seen(p); seen.N > 0 {
		low, expected, high = int(seen.Low), int(math.Ceil(seen.Mean)), int(math.Ceil(seen.High))
		if seen.PerByte > 0 && w.bytes > 0 {
			in, spread = w.bytes*seen.PerByte, 0.03
		}
	}
	p.Input = Span{times(in*(1-spread), p.Requests), times(in, p.Requests), times(in*(1+spread), p.Requests)}
	p.Output = Span{times(float64(low), p.Requests), times(float64(expected), p.Requests), times(float64(high), p.Requests)}
	v, _ := d.Catalog.Vendor(kind)
	shared := w.shared * factor
	if shared < cacheFloor {
		shared = 0
	}
	bill := func(mode assay.Mode) Price {
		how := catalog.Billing{Mode: mode}
		if mode == assay.ModeLive {
			how.Tier = p.Lane.Params.ServiceTier
		}
		one := func(in float64, out int, cached float64) assay.Cost {
			return d.bill(p, kind, assay.Usage{Known: true, Input: round(in), Cached: round(cached), Output: int64(out)}, how)
		}
		if mode == assay.ModeBatch && !v.Batch {
			return Price{}
		}
		return Price{Low: one(in*(1-spread), low, 0.9*shared), Expected: one(in, expected, 0.5*shared), High: one(in*(1+spread), high, 0)}
	}
	p.Cost, p.Live = bill(p.Mode), bill(assay.ModeLive)
	if p.First > 0 {
		p.atLeast(p.First)
	}
	if p.Gated {
		p.Input.Low, p.Output.Low = 0, 0
		p.Cost.Low, p.Live.Low = assay.Cost{}, assay.Cost{}
	}
}

// seen is what a pilot saw of answers like those of a part.
func (d *Input) seen(p *Part) Observed {
	switch p.Verb {
	case study.VerbAsk, study.VerbContinue:
		return d.Observed[p.Lane.Name]
	case study.VerbCompare:
		return d.Judged[p.Lane.Name]
	}
	return Observed{}
}

// bill is the cost of all requests of a part, each with the mean usage.
func (d *Input) bill(p *Part, kind string, u assay.Usage, how catalog.Billing) assay.Cost {
	price, ok := d.Catalog.Price(kind, p.Lane.Model)
	if !ok || !price.Covers(how) {
		return assay.Cost{Unknown: p.Requests}
	}
	return assay.Cost{Sum: price.Cost(u, how) * assay.Money(p.Requests), Priced: p.Requests}
}

func times(each float64, n int64) int64 { return round(each * float64(n)) }

func round(f float64) int64 { return int64(math.Round(f)) }

// guess is the rough number of tokens of a text that is not rendered yet.
func guess(t study.Text) float64 { return float64(len(t.Text)) / bytesPerToken }
