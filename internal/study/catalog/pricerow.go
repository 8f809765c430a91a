package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"

	"assay/internal/assay"
)

// PriceRow is one row of a price table, in dollars per million tokens. A rate that is nil is not known; 0 is free.
type PriceRow struct {
	Vendor  string `yaml:"vendor"`
	Model   string `yaml:"model"`
	RateRow `yaml:",inline"`

	Batch       *float64           `yaml:"batch"`        // factor on batch requests; nil: by the vendor's discount
	BatchInput  *float64           `yaml:"batch_input"`  // over the factor
	BatchOutput *float64           `yaml:"batch_output"` // over the factor
	Long        *LongRow           `yaml:"long"`         // nil: long prompts cost the same
	Factors     map[string]float64 `yaml:"factors"`      // on the live price, of service tiers
	Tiers       map[string]RateRow `yaml:"tiers"`        // service tiers with rates of their own
	Search      *float64           `yaml:"search"`       // a thousand web searches of the provider; nil: the vendor's
	Code        *float64           `yaml:"code"`         // a thousand answers for which code runs; nil: the vendor's
	SearchBy    string             `yaml:"search_by"`    // prompt: all searches of a request cost what one does; empty: each
	Date        Date               `yaml:"date"`
	Source      string             `yaml:"source"`
}

// RateRow is the rates of one kind of prompt.
type RateRow struct {
	Input   *float64 `yaml:"input"`
	Cached  *float64 `yaml:"cached"`
	Write   *float64 `yaml:"write"` // to the cache, for minutes
	Write1h *float64 `yaml:"write_1h"`
	Output  *float64 `yaml:"output"`
}

// LongRow is the rates of prompts that have more tokens than Above. Cache rates that are nil grow as the input's does.
type LongRow struct {
	Above   int64 `yaml:"above"`
	RateRow `yaml:",inline"`
}

// Overrides are prices that the user knows better.
type Overrides struct{ Prices []PriceRow }

// ReadOverrides reads a price file: rows as in data/prices.yaml.
func ReadOverrides(r io.Reader) (Overrides, error) {
	var rows []PriceRow
	if err := decode(r, &rows); err != nil && !errors.Is(err, io.EOF) {
		return Overrides{}, fmt.Errorf("read price file: %w", err)
	}
	return Overrides{Prices: rows}, nil
}

// With returns the catalogue with some prices replaced. A replaced price is replaced as a whole.
func (c *Catalog) With(overrides Overrides) (*Catalog, error) {
	var bad []error
	var prices []Price
	for _, row := range overrides.Prices {
		if row.Source == "" {
			row.Source = "user"
		}
		price, err := c.PriceOf(row)
		bad, prices = append(bad, err), append(prices, price)
	}
	if err := errors.Join(bad...); err != nil {
		return nil, err
	}
	return c.Fixed(prices), nil
}

// PriceOf returns the price that a row of the user's states.
func (c *Catalog) PriceOf(row PriceRow) (Price, error) {
	price, err := c.resolve(row)
	if err == nil && !price.Live.Short.complete() {
		err = fmt.Errorf("price of %s/%s: input and output are needed", row.Vendor, row.Model)
	}
	if built, ok := c.Listed(row.Vendor, row.Model); ok && row.SearchBy == "" {
		price.ByPrompt = built.ByPrompt // a user's price is another amount, not another way to bill
	}
	return price, err
}

// Fixed returns the catalogue with the prices that some models had at another time, the unknown ones too.
func (c *Catalog) Fixed(prices []Price) *Catalog {
	d := *c
	d.prices = maps.Clone(c.prices)
	for _, p := range prices {
		d.prices[keyOf(p.Vendor, p.Model)] = p
	}
	return &d
}

// Price returns what a model costs, when that is known. A dated snapshot costs what its base model costs.
func (c *Catalog) Price(vendor, model string) (Price, bool) {
	p, ok := c.Listed(vendor, model)
	return p, ok && p.Live.Short.complete()
}

// Listed returns the price row of a model even where some of its rates are not known.
func (c *Catalog) Listed(vendor, model string) (Price, bool) {
	base := c.Find(vendor, model).Model.Name
	keys := []modelKey{keyOf(vendor, model), keyOf(vendor, base), keyOf(c.maker(vendor), model), keyOf(c.maker(vendor), base)}
	for _, k := range keys { // a router has no maker, so that it has prices of its own only
		if p, ok := c.prices[k]; ok {
			p.Vendor = vendor
			return p, true
		}
	}
	return Price{}, false
}

// Bill returns the cost of one request to a model: unknown where its usage or its price is.
func (c *Catalog) Bill(vendor, model string, u assay.Usage, how Billing) assay.Cost {
	p, _ := c.Listed(vendor, model)
	return p.Bill(u, how)
}

// Prices lists every price row, by vendor in the catalogue's order and then by model.
func (c *Catalog) Prices() []Price {
	place := map[string]int{}
	for i, v := range c.vendors {
		place[v.Name] = i
	}
	all := slices.Collect(maps.Values(c.prices))
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(place[a.Vendor], place[b.Vendor]), cmp.Compare(a.Model, b.Model)) < 0
	})
	return all
}

// resolve works a row out into rates for every mode, length and tier.
func (c *Catalog) resolve(row PriceRow) (Price, error) {
	v, ok := c.Vendor(row.Vendor)
	if !ok || row.Model == "" {
		return Price{}, fmt.Errorf("price of %s/%s: no such vendor, or no model", row.Vendor, row.Model)
	}
	if err := row.check(); err != nil {
		return Price{}, fmt.Errorf("price of %s/%s: %w", row.Vendor, row.Model, err)
	}
	p := Price{Vendor: row.Vendor, Model: row.Model, Date: row.Date, Source: row.Source}
	p.Live.Short = row.rates()
	if row.Long != nil {
		p.Above = row.Long.Above
		p.Live.Long = longer(row.Long.rates(), p.Live.Short)
	}
	p.Batch = batched(row, v, p.Live)
	p.Tiers = tiered(row, v, p)
	p.Search, p.Lookup, p.Code = thousand(v.Search), thousand(v.Lookup), thousand(v.Code)
	if row.Search != nil {
		p.Search = thousand(row.Search)
	}
	if row.Code != nil {
		p.Code = thousand(row.Code)
	}
	p.ByPrompt = row.SearchBy == searchByPrompt
	return p, nil
}

const searchByPrompt = "prompt"

// tiered works out what service tiers cost: by the row's own rates, its factors, or the vendor's words. One that a lane may ask for and has
// neither is there without a price.
func tiered(row PriceRow, v Vendor, p Price) map[string]Schedule {
	all := map[string]Schedule{"live": p.Live, "batch": p.Batch}
	for _, tier := range v.ServiceTiers {
		all[tier] = Schedule{}
	}
	for tier, factor := range row.Factors {
		all[tier] = Schedule{Short: p.Live.Short.scaled(factor), Long: p.Live.Long.scaled(factor)}
	}
	for tier, rates := range row.Tiers {
		all[tier] = Schedule{Short: rates.rates(), Long: longer(Rates{}, rates.rates())}
	}
	for tier, like := range v.Tiers {
		if !all[tier].Short.complete() {
			all[tier] = all[like]
		}
	}
	delete(all, "live")
	if _, named := v.Tiers["batch"]; !named {
		delete(all, "batch")
	}
	return all
}

// longer fills the cache rates of long prompts: they grow as the input's rate does.
func longer(long, short Rates) Rates {
	long.Input, long.Output = long.Input.or(short.Input), long.Output.or(short.Output)
	grow := func(r Rate) Rate { return r.times(long.Input.Million, short.Input.Million) }
	long.Cached = long.Cached.or(grow(short.Cached))
	long.Write5m = long.Write5m.or(grow(short.Write5m))
	long.Write1h = long.Write1h.or(grow(short.Write1h))
	return long
}

// batched works out what a batch costs: by the row's own figures, its factor, or the vendor's discount.
func batched(row PriceRow, v Vendor, live Schedule) Schedule {
	parts := factorParts(row, v)
	cut := func(r Rates) Rates {
		half := func(x Rate) Rate { return x.times(parts, million) }
		out := Rates{Input: half(r.Input), Output: half(r.Output), Cached: r.Cached, Write5m: half(r.Write5m), Write1h: half(r.Write1h)}
		switch {
		case v.BatchCached == cachedStack:
			out.Cached = half(r.Cached)
		case out.Cached.Million > out.Input.Million: // never more than fresh input
			out.Cached = out.Input
		}
		return out
	}
	batch := Schedule{Short: cut(live.Short), Long: cut(live.Long)}
	if row.BatchInput != nil {
		batch.Short.Input = rate(row.BatchInput)
	}
	if row.BatchOutput != nil {
		batch.Short.Output = rate(row.BatchOutput)
	}
	return batch
}

const million = 1_000_000

// factorParts returns the factor on batch requests in parts of a million.
func factorParts(row PriceRow, v Vendor) assay.Money {
	factor := 1 - v.BatchDiscount
	switch {
	case row.Batch != nil:
		factor = *row.Batch
	case row.BatchInput != nil && row.Input != nil && *row.Input > 0:
		factor = *row.BatchInput / *row.Input
	case v.BatchSome:
		factor = 1
	}
	return assay.Dollars(factor) / (assay.Dollar / million)
}

// check refuses rates that cannot be.
func (row PriceRow) check() error {
	if row.SearchBy != "" && row.SearchBy != searchByPrompt {
		return fmt.Errorf("search_by %q: want prompt, or nothing", row.SearchBy)
	}
	rates := []*float64{row.Batch, row.BatchInput, row.BatchOutput, row.Search, row.Code}
	for _, factor := range row.Factors {
		rates = append(rates, &factor)
	}
	sets := []RateRow{row.RateRow}
	if row.Long != nil {
		sets = append(sets, row.Long.RateRow)
		if row.Long.Above <= 0 {
			return fmt.Errorf("long prompts start above %d tokens", row.Long.Above)
		}
	}
	sets = slices.AppendSeq(sets, maps.Values(row.Tiers))
	for _, s := range sets {
		rates = append(rates, s.Input, s.Cached, s.Write, s.Write1h, s.Output)
	}
	for _, r := range rates {
		if r != nil && !(*r >= 0 && *r <= 1e6) {
			return fmt.Errorf("rate %v is not an amount of dollars", *r)
		}
	}
	return nil
}

func (r RateRow) rates() Rates {
	return Rates{Input: rate(r.Input), Cached: rate(r.Cached), Write5m: rate(r.Write), Write1h: rate(r.Write1h), Output: rate(r.Output)}
}

// thousand returns the price of calls from that of a thousand of them.
func thousand(dollars *float64) Rate { return rate(dollars).times(1000, 1) }

func rate(dollars *float64) Rate {
	if dollars == nil {
		return Rate{}
	}
	return Rate{Million: assay.Dollars(*dollars), Known: true}
}
