package plan

import (
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

// Prices returns the catalogue with the prices of a study over it.
func Prices(c *catalog.Catalog, s *study.Study) (*catalog.Catalog, assay.Problems) {
	var problems assay.Problems
	var own []catalog.Price
	for _, e := range s.Prices {
		provider, model, ok := strings.Cut(e.Name, "/")
		if !ok {
			problems.Add(e.At, "such as openai/gpt-5", "price of %q: want provider/model", e.Name)
			continue
		}
		p, _ := s.Providers.Find(provider)
		kind, _ := c.Kind(provider, p.Kind, p.BaseURL)
		v := e.Value
		row := catalog.PriceRow{Vendor: kind, Model: model, Batch: v.Batch, Date: "", Source: "study"}
		row.Input, row.Cached, row.Write, row.Output = v.Input, v.Cached, v.CacheWrite, v.Output
		row.Search, row.Code = v.Search, v.Code
		price, err := c.PriceOf(row)
		if err != nil {
			problems.Add(e.At, "", "%s", err)
			continue
		}
		own = append(own, price)
	}
	return c.Fixed(own), problems
}

// Limits returns the limits of a lane's provider.
func (d *Input) Limits(l *study.Lane) catalog.Limits {
	return d.Vendor(l).Limits
}

// LanePrices returns the prices of the study's lanes as they are now, one row a model; unknown ones have no rates.
func (d *Input) LanePrices() []catalog.Price {
	var out []catalog.Price
	seen := map[string]bool{}
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, _ := d.Kind(l)
		if seen[kind+"/"+l.Model] {
			continue
		}
		seen[kind+"/"+l.Model] = true
		p, _ := d.Catalog.Listed(kind, l.Model)
		p.Vendor, p.Model = kind, l.Model
		out = append(out, p)
	}
	return out
}

// PriceDates returns the oldest and the newest date among the prices of the study's lanes, empty where none is known.
func (d *Input) PriceDates() (oldest, newest catalog.Date) {
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, _ := d.Kind(l)
		p, ok := d.Catalog.Price(kind, l.Model)
		if !ok || p.Date == "" {
			continue
		}
		if oldest == "" || p.Date.Before(oldest) {
			oldest = p.Date
		}
		if newest.Before(p.Date) || newest == "" {
			newest = p.Date
		}
	}
	return oldest, newest
}
