package check

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
)

// checkPrices adds a problem for lanes under a budget that have no price, or ask for what has none. Without a budget, what the plan would
// pass over in silence is a warning.
func (d checker) checkPrices(problems *assay.Problems) {
	if d.Study.Unpriced == study.UnpricedAllow {
		return
	}
	say, so := problems.Warn, "what is spent is not known"
	if d.Study.Budget.Set {
		say, so = problems.Add, "the budget cannot be kept"
	}
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.Kind(l)
		if !ok {
			continue
		}
		if _, ok := d.Catalog.Price(kind, l.Model); !ok && d.Study.Budget.Set {
			say(l.Where.Key("model"), "give one under `prices`, or say `unpriced: allow`",
				"lane %s: no price is known for %s, so %s", l.Name, l.ID(), so)
		} else if tier := d.dearTier(l, kind); ok && tier != "" {
			say(l.Where.Key("service_tier"), "ask for another tier, give its price in a file for --prices, or say `unpriced: allow`",
				"lane %s: no price is known for %s in service tier %s, so %s", l.Name, l.ID(), tier, so)
		}
		price, _ := d.Catalog.Price(kind, l.Model)
		d.checkTools(l, price, say, so)
		for _, field := range beyondTokens(l.Params.Extra) {
			hint := "leave it out, or say `unpriced: allow`: then the budget holds for tokens alone"
			if field == "service_tier" || field == "serviceTier" {
				hint = "write `service_tier` on the lane itself: there it has a price"
			}
			say(l.Where.Key("extra"), hint, "lane %s: what %s in `extra` costs beside tokens is not known, so %s", l.Name, field, so)
		}
	}
}

// dearTier returns a service tier that live requests of a lane ask for and that has no price; empty: there is none.
func (d checker) dearTier(l *study.Lane, kind string) string {
	price, _ := d.Catalog.Price(kind, l.Model)
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		if tier := d.Tier(st, l); slices.Contains(d.uses(st), l) && price.Unpriced(tier) {
			return tier
		}
	}
	return ""
}
