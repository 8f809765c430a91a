package report

import (
	"fmt"
	"math"
	"strings"

	"assay"
	"assay/analysis"
)

// settling is what it would take to tell two neighbours apart.
type settling struct {
	first, second int // in Places
	even, likely  amount
}

// amount is how many more comparisons or items, at what cost.
type amount struct {
	n     float64
	known bool // no sensible number else
	cost  float64
	price bool // the cost is known
}

// likelyChance is the power that is quoted besides an even chance.
const likelyChance = 0.8

// settlings are the neighbours of a ranking that cannot be told apart, with what it would take. Quotes believe in a difference as far as the
// spread of all of them suggests: those that are asked about are close by luck, too.
func (d *Document) settlings(r *ranked) []settling {
	var out []settling
	for k := range r.order[1:] {
		a, b := r.order[k], r.order[k+1]
		q, ok := r.Quote(a, b)
		if !ok {
			continue
		}
		each, price := d.costOfOne(r, a, b)
		quote := func(chance float64) amount {
			n, known := q.Needed(chance)
			return amount{n: math.Ceil(n), known: known, cost: math.Ceil(n) * each, price: price}
		}
		out = append(out, settling{a, b, quote(0.5), quote(likelyChance)})
	}
	return out
}

// costOfOne is what one more comparison costs, or one more item asked of both lanes and judged; false where a price is not known. The prices
// are those of the run.
func (d *Document) costOfOne(r *ranked, a, b int) (float64, bool) {
	var judges assay.Cost
	verdicts := int64(0)
	for _, s := range d.Spend {
		if !s.Asks && s.Stage == r.Stage {
			judges = judges.Add(s.Cost)
			verdicts += s.Answers
		}
	}
	if !judges.Known() || verdicts == 0 {
		return 0, false
	}
	one := judges.Sum.Float() / float64(verdicts)
	if r.What == analysis.WhatStrength {
		return one, true
	}
	if r.Clusters == 0 {
		return 0, false
	}
	items := float64(r.Clusters)
	sum := judges.Sum.Float() / items * 2 / float64(len(r.Places))
	for _, i := range []int{a, b} {
		s := answersOf(r.Places[i].Name, d.Spend)
		if s.Answers == 0 || !s.Cost.Known() {
			return 0, false
		}
		sum += s.Cost.Sum.Float() / items
	}
	return sum, true
}

// maxSettled is how many neighbours are quoted in the summary.
const maxSettled = 3

// unsettledNeighbours says what it would take to tell neighbours apart.
func (d *Document) unsettledNeighbours(r *ranked) *Caveat {
	if len(r.order) < 2 || !r.tested {
		return nil
	}
	all := d.settlings(r)
	if len(all) == 0 {
		return nil
	}
	unit := "comparison"
	if r.What != analysis.WhatStrength {
		unit = strings.TrimSuffix(d.nounOf(r.Stage), "s")
	}
	var parts []string
	for _, s := range all[:min(maxSettled, len(all))] {
		names := assay.Clean(r.Places[s.first].Name, maxName) + " and " + assay.Clean(r.Places[s.second].Name, maxName)
		parts = append(parts, names+": "+s.words(unit))
	}
	text := "What it would take to tell neighbours apart, at this run's prices. " + strings.Join(parts, "; ") + "."
	if more := len(all) - maxSettled; more > 0 {
		text += fmt.Sprintf(" %s more like these.", assay.Count(more, "pair"))
	}
	return &Caveat{"Not settled.", text, ""}
}

// words are how many more settle a pair.
func (s settling) words(unit string) string {
	if !s.even.known {
		return "no sensible number of " + unit + "s"
	}
	text := "about " + s.even.words("more "+unit) + " for an even chance"
	if !s.likely.known {
		return text
	}
	return text + ", " + s.likely.words("") + " for 80%"
}

func (a amount) words(unit string) string {
	n := roughly(int(a.n))
	text := assay.Thousands(n)
	if unit != "" {
		text = assay.Count(n, unit)
	}
	if a.price {
		text += " (" + assay.Dollars(a.cost).String() + ")"
	}
	return text
}
