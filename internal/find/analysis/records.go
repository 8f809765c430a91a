package analysis

import "assay/internal/find/stats"

// record counts what one entrant won, tied and lost, each showing by itself.
func (a *arena) record(entrant int) *Record {
	var r Record
	for b := range a.met(entrant) {
		r.count(b.score)
	}
	return &r
}

// correctedWins is the share of an entrant's pairs that it wins in both orders. Where the orders disagree it is a tie, which is no win.
func (a *arena) correctedWins(entrant int, field string) (*Finding, error) {
	f := a.finding(WhatCorrected, Share, entrant, field)
	counts := make([]stats.Count, a.clusters)
	var r Record
	for w := range a.swaps() {
		if !w.bothWays() || int(w.low) != entrant && int(w.high) != entrant {
			continue
		}
		score := w.forth.score()
		if score != w.back.score() {
			score = 0.5
		}
		if int(w.high) == entrant {
			score = 1 - score
		}
		r.count(score)
		counts[w.cluster].N++
		counts[w.cluster].K += int(one(score == 1))
	}
	e, err := a.options.share(counts)
	if err != nil {
		return nil, err
	}
	e.put(f)
	f.Record = &r
	if e.n == 0 {
		*f = f.unknown("no pair was judged in both orders")
	}
	return f, nil
}

// kind is what distinguishes comparisons about the same item, besides who met.
type kind struct {
	template, branch, judge, trait, prompt string
	turn, draw                             int
}

func newKind(r *Row) kind {
	return kind{r.Template, r.Branch, r.Judge, r.Trait, r.Prompt, r.Turn, r.Draw}
}

// Disagreed is a pair whose two orders disagree: shown as First and Second, and the other way round.
type Disagreed struct {
	By            []Value // of the table
	Item          string  // empty: items are compared
	First, Second string
	Judge, Trait  string
	Prompt        string
	Template      string
	Branch        string
	Turn, Draw    int
	Forth, Back   string // who won with First shown first, and with Second; tie: neither
}

// maxDisagreed is how many pairs are listed.
const maxDisagreed = 10_000

// tiedText stands where neither of a pair won.
const tiedText = "tie"

// disagreed lists the pairs whose two orders disagree, ties included.
func (a *arena) disagreed(t *Table) {
	to := a.ranking()
	items, kinds := ranks(to.item), ranks(to.kind) // back from places to numbers
	left := 0
	for w := range a.swaps() {
		x, y := w.forth.score(), w.back.score()
		if !w.bothWays() || x == y {
			continue
		}
		if len(t.Disagreed) >= maxDisagreed {
			left++
			continue
		}
		s := a.shown[w.at]
		k := a.kindOf[kinds[s.kind()]]
		d := Disagreed{
			By: a.by, Item: a.known.list[items[s.item()]], First: a.names[w.low], Second: a.names[w.high], Judge: k.judge, Trait: k.trait, Prompt: k.prompt,
			Template: k.template, Branch: k.branch, Turn: k.turn, Draw: k.draw, Forth: tiedText, Back: tiedText,
		}
		for _, won := range []struct {
			score float64
			who   *string
		}{{x, &d.Forth}, {y, &d.Back}} {
			switch won.score {
			case 1:
				*won.who = d.First
			case 0:
				*won.who = d.Second
			}
		}
		t.Disagreed = append(t.Disagreed, d)
	}
	if left > 0 {
		t.note("%s whose two orders disagree not listed", plural(left, "more pair"))
	}
}

// alikeClusters is why there is no error.
const alikeClusters = "all clusters are alike: nothing shows how far they could differ"

// mistrust takes away intervals of no width: where no cluster differs from another, that is no certainty. It reports whether none is left.
func (f *fitted) mistrust() bool {
	f.alike = true
	for i, interval := range f.intervals {
		if interval.OK && interval.High-interval.Low < 1e-9 {
			f.intervals[i] = stats.NoInterval(alikeClusters)
		} else {
			f.alike = false
		}
	}
	if f.orderInterval.OK && f.orderInterval.High-f.orderInterval.Low < 1e-9 {
		f.orderInterval, f.orderP, f.orderSE = stats.NoInterval(alikeClusters), stats.Undefined(alikeClusters), stats.Undefined(alikeClusters)
	}
	if f.tieInterval.OK && f.tieInterval.High-f.tieInterval.Low < 1e-9 {
		f.tieInterval, f.tieSE = stats.NoInterval(alikeClusters), stats.Undefined(alikeClusters)
	}
	if f.alike {
		f.quasi = nil
	}
	return f.alike
}
