package catalog

import (
	"math"
	"math/bits"

	"assay/internal/assay"
)

// Price is the price of a model. Rates that are not known are marked so; they are never 0.
type Price struct {
	Vendor   string
	Model    string
	Above    int64 // prompts of more tokens pay the long rates; 0: there are none
	Live     Schedule
	Batch    Schedule
	Search   Rate                // of calls of the provider's web search: a million of them
	Lookup   Rate                // of calls of its search in files
	Code     Rate                // of answers for which it runs code in the smallest container
	ByPrompt bool                `json:",omitempty"` // however often a request searches, it costs what one search does
	Tiers    map[string]Schedule // service tiers: with a schedule of nothing, a lane may ask for it and its price is not known
	Date     Date
	Source   string
}

// Schedule is the rates of short and of long prompts.
type Schedule struct{ Short, Long Rates }

// Rates are the prices of the kinds of tokens.
type Rates struct{ Input, Cached, Write5m, Write1h, Output Rate }

// Rate is the price of a million tokens.
type Rate struct {
	Million assay.Money
	Known   bool
}

// Billing is the terms under which a request was sent.
type Billing struct {
	Mode assay.Mode
	Tier string // the service tier as the reply names it; empty: the usual one

	Smallest bool // code ran in the smallest container, which is what `server_tools` asks for
}

// Covers reports whether the price under these terms is known.
func (p Price) Covers(how Billing) bool {
	s := p.schedule(how)
	return s.Short.complete() && (p.Above == 0 || s.Long.complete())
}

// Cost returns what a usage costs, rounded half up to a nanodollar. It is 0 where Covers is false; Bill distinguishes
// the two.
func (p Price) Cost(u assay.Usage, how Billing) assay.Money {
	if !p.Covers(how) {
		return 0
	}
	s := p.schedule(how)
	r := s.Short
	if p.Above > 0 && u.Input > p.Above {
		r = s.Long
	}
	var sum product
	sum.add(u.Input-u.Cached-u.CacheWrite5m-u.CacheWrite1h, r.Input)
	sum.add(u.Cached, r.Cached.or(r.Input))
	sum.add(u.CacheWrite5m, r.Write5m.or(r.Input))
	sum.add(u.CacheWrite1h, r.Write1h.or(r.Write5m.or(r.Input)))
	sum.add(u.Output, r.Output)
	sum.add(p.billedSearches(u.Tools.Searches), p.Search)
	sum.add(u.Tools.Lookups, p.Lookup)
	sum.add(u.Tools.Code, p.Code)
	return sum.perMillion()
}

// billedSearches returns how many of a request's searches are billed.
func (p Price) billedSearches(made int64) int64 {
	if p.ByPrompt {
		return min(made, 1)
	}
	return made
}

// Bill returns the cost of one request: unknown where the usage or the price is.
func (p Price) Bill(u assay.Usage, how Billing) assay.Cost {
	t := u.Tools
	if !u.Known || !p.Covers(how) || t.Other > 0 || t.Searches > 0 && !p.Search.Known || t.Lookups > 0 && !p.Lookup.Known ||
		t.Code > 0 && (!p.Code.Known || !how.Smallest && p.Code.Million > 0) {
		return assay.Cost{Unknown: 1}
	}
	return assay.Cost{Sum: p.Cost(u, how), Priced: 1}
}

// Most returns the usage of a request that costs most: all of its prompt is written to a cache, where one is that bills it and takes more
// for it.
func (p Price) Most(how Billing, in, out int64, writes, hour bool) assay.Usage {
	plain := assay.Usage{Known: true, Input: in, Output: out}
	written := plain
	if written.CacheWrite5m = in; hour {
		written.CacheWrite5m, written.CacheWrite1h = 0, in
	}
	if writes && in >= leastCached && p.Cost(written, how) > p.Cost(plain, how) {
		return written
	}
	return plain
}

// leastCached is the number of tokens of the shortest prompt that providers cache by themselves.
const leastCached = 1024

// Lists reports whether the price list knows a service tier by the name that a reply has for it.
func (p Price) Lists(tier string) bool {
	_, ok := p.Tiers[tier]
	return ok || tier == ""
}

// Unpriced reports whether a service tier is one that a lane may ask for and that has no known price, although the usual one has.
func (p Price) Unpriced(tier string) bool {
	s, ok := p.Tiers[tier]
	return ok && p.Live.Short.complete() && !s.Short.complete()
}

// Dearer reports whether an answer in a service tier may cost more than one in another, or has no known price.
func (p Price) Dearer(tier, than string) bool {
	a, b := p.schedule(Billing{Mode: assay.ModeLive, Tier: tier}).Short, p.schedule(Billing{Mode: assay.ModeLive, Tier: than}).Short
	return !a.complete() || a.Input.Million > b.Input.Million || a.Output.Million > b.Output.Million
}

// schedule picks the rates for the terms. A batch has one price, whatever tier its replies name; and a tier that nobody can
// ask for is a vendor's word for the usual one.
func (p Price) schedule(how Billing) Schedule {
	if how.Mode == assay.ModeBatch {
		return p.Batch
	}
	if s, ok := p.Tiers[how.Tier]; ok {
		return s
	}
	return p.Live
}

// complete reports whether any answer can be priced.
func (r Rates) complete() bool { return r.Input.Known && r.Output.Known }

// scaled returns all rates times a factor.
func (r Rates) scaled(factor float64) Rates {
	by := func(x Rate) Rate { return x.times(assay.Dollars(factor), assay.Dollar) }
	return Rates{Input: by(r.Input), Cached: by(r.Cached), Write5m: by(r.Write5m), Write1h: by(r.Write1h), Output: by(r.Output)}
}

// or returns the rate, or another one where it is not known.
func (r Rate) or(other Rate) Rate {
	if r.Known {
		return r
	}
	return other
}

// times returns the rate times num/den, rounded half up.
func (r Rate) times(num, den assay.Money) Rate {
	if !r.Known || den <= 0 {
		return Rate{}
	}
	return Rate{Million: divide(int64(r.Million), int64(num), uint64(den)), Known: true}
}

// product is a sum of tokens times rates in 128 bits, so that no total of a run overflows.
type product struct{ hi, lo uint64 }

func (p *product) add(tokens int64, r Rate) {
	if tokens <= 0 || r.Million <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(tokens), uint64(r.Million))
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, lo, 0)
	p.hi, _ = bits.Add64(p.hi, hi, carry)
}

// perMillion returns the sum divided by a million, rounded half up and capped at the most that Money holds.
func (p product) perMillion() assay.Money { return p.over(1_000_000) }

func (p product) over(den uint64) assay.Money {
	lo, carry := bits.Add64(p.lo, den/2, 0)
	hi := p.hi + carry
	if hi >= den {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, den)
	return assay.Money(min(q, math.MaxInt64))
}

// divide returns a*b/den, rounded half up, for numbers that are not negative.
func divide(a, b int64, den uint64) assay.Money {
	if a <= 0 || b <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return product{hi, lo}.over(den)
}
