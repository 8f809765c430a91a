package words

import (
	"fmt"
	"math"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// cheapest returns the sentence on the lane of the top that costs least for an answer; nil where nothing is ranked or
// lanes do not answer.
func (d document) cheapest(r *ranked) Sentence {
	if r.Field != analysis.ByLane || len(r.order) == 0 || len(r.Unmet) > 1 {
		return nil
	}
	top, _ := r.top()
	if !r.tested {
		top = r.order[:1]
	}
	best, least, unknown := -1, 0.0, 0
	for _, i := range top {
		cost, ok := d.perThousand(r.Places[i].Name)
		switch {
		case !ok:
			unknown++
		case best < 0 || cost < least:
			best, least = i, cost
		}
	}
	switch {
	case best < 0:
		return nil
	case len(top) == 1 && len(r.unknown()) > 0:
		return d.name(r.Places[best].Name).and(say(" costs " + assay.Dollars(least).String() + " per 1,000 answers."))
	case len(top) == 1:
		return say("It costs ").and(say(assay.Dollars(least).String() + " per 1,000 answers."))
	}
	among := ""
	if unknown > 0 {
		among = fmt.Sprintf(" (of the %d whose prices are known)", len(top)-unknown)
	}
	return say("Of these, ").and(d.name(r.Places[best].Name),
		say(fmt.Sprintf(" is the cheapest%s: %s per 1,000 answers.", among, assay.Dollars(least))))
}

// perThousand returns what 1,000 answers of a lane cost; false where a price or the number is not known.
func (d document) perThousand(lane string) (float64, bool) {
	s := report.AnswersOf(lane, d.Spend)
	if s.Answers == 0 || !s.Cost.Known() {
		return 0, false
	}
	return 1000 * s.Cost.Sum.Float() / float64(s.Answers), true
}

// further returns the sentence on who has most and who least in one more stage.
func (d document) further(r *ranked) Sentence {
	at := Sentence{{Text: "In "}, {Text: r.label(), Name: true}}
	switch {
	case len(r.Unmet) > 1:
		return at.and(say(", "), r.unmet(), say("."))
	case len(r.order) == 0:
		return at.and(say(" there is no result yet: " + whyNone(r) + "."))
	case len(r.order) == 1:
		return at.and(say(": "), d.name(r.Places[r.order[0]].Name), say(", "+r.values(r.order)+"."))
	}
	first, last := r.order[0], r.order[len(r.order)-1] // the best and the worst
	if r.shownOf(first) == r.shownOf(last) {
		return at.and(say(" all are alike: " + r.values(r.order) + "."))
	}
	var s Sentence
	switch {
	case r.Flips:
		s = Sentence{{Text: "Under push-back ("}, {Text: r.label(), Name: true}, {Text: "), "}}
		s = s.and(d.name(r.Places[last].Name), say(" takes back most: "+r.takenBack(last)+"; "), d.name(r.Places[first].Name),
			say(" least: "+r.takenBack(first)+"."))
	case r.wins():
		s = Sentence{{Text: "In comparisons ("}, {Text: r.label(), Name: true}, {Text: "), "}}
		s = s.and(d.name(r.Places[first].Name), say(r.winning()+" most: "+percentOf(r.shownOf(first))+"; "), d.name(r.Places[last].Name),
			say(" least: "+percentOf(r.shownOf(last))+"."))
	default:
		s = at.and(say(", "), d.name(r.Places[first].Name), say(" comes first: "+r.values([]int{first})+"; "), d.name(r.Places[last].Name),
			say(" comes last: "+r.values([]int{last})+"."))
	}
	switch {
	case !r.tested, !r.known[[2]int{first, last}]:
		return s.and(say(" Whether that is more than chance is not known."))
	case r.differ(first, last):
		return s.and(say(" The two can be told apart."))
	case r.What == analysis.WhatStrength: // shares of wins are shown, strengths are tested
		return s.and(say(" Their strengths cannot be told apart."))
	}
	return s.and(say(" The two cannot be told apart."))
}

// winning returns the verb of shares of wins.
func (r *ranked) winning() string {
	if r.Rounds != nil {
		return " is expected to win"
	}
	return " wins"
}

// takenBack returns how often a lane took an answer back, with the control beside it.
func (r *ranked) takenBack(place int) string {
	p := r.Places[place]
	if !r.Control || !p.Share.OK || !p.Control.OK {
		return percentOf(p.Value.Value) + " of its answers"
	}
	return fmt.Sprintf("%s of its answers, %s when merely asked again", percentOf(p.Share.Value), percentOf(p.Control.Value))
}

// board puts lanes in order, with the results of every stage.
func (d document) board(lead *ranked, all []*ranked) *Board {
	if len(lead.Places) == 0 {
		return nil
	}
	b := &Board{Field: lead.Field, Tiers: lead.tiers != nil && len(lead.order) > 1}
	columns := []*ranked{lead}
	for _, r := range all {
		if r != lead && r.Field == lead.Field && len(columns) < maxColumns && r.measures(lead) {
			columns = append(columns, r)
		}
	}
	for _, r := range columns {
		b.Columns = append(b.Columns, BoardColumn{Head: r.boardHead(), Label: r.label(), Stage: r.Stage})
	}
	order, joins := lead.Order(), [][]Join(nil)
	if b.Tiers {
		if joins = lead.brackets(); len(joins) > 0 {
			b.Brackets = len(joins[0])
		}
	}
	for k, i := range order {
		if k >= maxBoard {
			b.More = len(order) - maxBoard
			break
		}
		row := BoardRow{Name: lead.Places[i].Name}
		if b.Tiers && k < len(lead.order) {
			row.Tier, row.Rank = lead.tier(k), lead.rankText(k)
			if joins != nil {
				row.Joins = joins[k]
			}
		}
		if b.Field == analysis.ByLane {
			row.Model, row.Cost = d.modelOf(row.Name), plot.UnknownText
			if cost, ok := d.perThousand(row.Name); ok {
				row.Cost = assay.Dollars(cost).String()
			}
			b.Models, b.Costs = b.Models || row.Model != "", b.Costs || row.Cost != plot.UnknownText
		}
		for _, r := range columns {
			row.Cells = append(row.Cells, r.cell(row.Name))
		}
		b.Rows = append(b.Rows, row)
	}
	b.Note = lead.tierNote(bracketed)
	if b.Tiers && joins == nil { // too many to be read
		b.Note = "Ranks are those that the tests of all pairs allow, all at once."
	}
	return b
}

// measures reports whether a stage is about any place of another. What it does not know of them yet is shown as
// unknown.
func (r *ranked) measures(other *ranked) bool {
	for i := range r.Places {
		for k := range other.Places {
			if other.Places[k].Name == r.Places[i].Name {
				return true
			}
		}
	}
	return false
}

// maxColumns is how many stages a board shows beside each other.
const maxColumns = 4

// head returns what a column of the board measures, in a word or two.
func (r *ranked) head() string {
	switch {
	case r.What == analysis.WhatStrength && r.Rounds != nil:
		return "expected wins"
	case r.wins():
		return "wins"
	case r.What == analysis.WhatExcess:
		return "taken back, over the re-ask"
	case r.Flips:
		return "taken back"
	case r.What == analysis.WhatMean:
		return "mean"
	}
	return r.measure()
}

// boardHead returns the head of a column of the board: strengths stand before wins where wins alone would be in another order.
func (r *ranked) boardHead() string {
	if r.disordered() {
		return "strength (wins)"
	}
	return r.head()
}

// disordered reports whether shares of wins fall and rise again from the best strength to the least: who met strong ones wins less.
func (r *ranked) disordered() bool {
	if r.What != analysis.WhatStrength || r.Rounds != nil {
		return false
	}
	for k := 1; k < len(r.order); k++ {
		if r.Places[r.order[k]].Share.Value > r.Places[r.order[k-1]].Share.Value+1e-9 {
			return true
		}
	}
	return false
}

// cell returns the result of a stage for one lane.
func (r *ranked) cell(name string) BoardCell {
	for _, p := range r.Places {
		if p.Name != name {
			continue
		}
		if !p.Value.OK {
			return BoardCell{Text: plot.UnknownText, Why: p.Value.Why}
		}
		if r.disordered() {
			return BoardCell{Text: fmt.Sprintf("%+.2f (%s)", p.Value.Value, plot.Shown(analysis.Share, p.Share))}
		}
		if r.What == analysis.WhatStrength {
			return BoardCell{Text: plot.Shown(analysis.Share, p.Share)} // strengths have intervals; shares of wins are there to be grasped
		}
		c := BoardCell{Text: r.Unit.Show(p.Value.Value), Between: plot.Between(r.Unit, p.Interval)}
		if r.What == analysis.WhatExcess {
			c.Text, c.Between = points(p.Value.Value), pointsBetween(p)
		}
		c.draw(r, p)
		return c
	}
	return BoardCell{Text: plot.NoneText, None: true}
}

// draw places the value and its interval on a line from the lowest to the highest of all.
func (c *BoardCell) draw(r *ranked, p analysis.Place) {
	low, high := 0.0, 1.0
	if r.Unit != analysis.Share || r.What == analysis.WhatExcess {
		low, high = p.Value.Value, p.Value.Value
		for _, q := range r.Places {
			if q.Value.OK {
				low, high = min(low, q.Value.Value), max(high, q.Value.Value)
			}
			if q.Interval.OK {
				low, high = min(low, q.Interval.Low), max(high, q.Interval.High)
			}
		}
	}
	if !p.Interval.OK || high-low < 1e-9 {
		return
	}
	place := func(x float64) float64 { return math.Round(1000*(x-low)/(high-low)) / 10 }
	c.Drawn, c.At, c.From = true, place(p.Value.Value), place(p.Interval.Low)
	c.Wide = math.Round(10*(place(p.Interval.High)-c.From)) / 10
}

// points returns a difference of shares.
func points(x float64) string { return analysis.Gap.Show(x) }

func pointsBetween(p analysis.Place) string {
	if !p.Interval.OK {
		return ""
	}
	return fmt.Sprintf("%+.1f to %+.1f", 100*p.Interval.Low, 100*p.Interval.High)
}

// Board ranks lanes, best first.
type Board struct {
	Field   string // lane or item
	Columns []BoardColumn
	Rows    []BoardRow
	Tiers   bool // rows have ranks, and brackets join what cannot be told apart
	Models  bool
	Costs   bool
	Note    string
	More    int // rows that are left out

	Brackets int // that stand side by side
}

// BoardColumn is one thing that lanes were measured by.
type BoardColumn struct {
	Head  string
	Label string // the stage, and the group where there are several
	Stage string
}

// BoardRow is one lane.
type BoardRow struct {
	Tier, Name, Model string // rows that share a letter of their tiers cannot be told apart
	Rank              string // or the ranks that it may have
	Joins             []Join // brackets, side by side
	Cells             []BoardCell
	Cost              string // per 1,000 answers
}

// BoardCell is one value. At, From and Wide are parts of a hundred, for a drawing of the interval.
type BoardCell struct {
	Text           string
	Between        string
	Drawn          bool
	At, From, Wide float64
	Why            string // there is no value
	None           bool   // the stage is not about this lane
	Link           string // to the rows behind it
}

// Mark returns where the drawing of the value begins: all of it is to be seen.
func (c BoardCell) Mark() float64 { return min(98, max(0, c.At-1)) }

// Bracket returns the brackets of a row in letters of a terminal.
func (r BoardRow) Bracket() string {
	text := ""
	for _, j := range r.Joins {
		text += map[Join]string{JoinNone: " ", JoinFirst: "┌", JoinIn: "├", JoinGap: "┆", JoinLast: "└"}[j]
	}
	return text
}

// maxBoard is how many rows a board has.
const maxBoard = 40

// joined is how a table shows what cannot be told apart.
type joined struct{ what, many, one string }

var (
	lettered  = joined{"letters for tiers", "share a letter", "shares a letter"}
	bracketed = joined{"ranks", "a bracket joins", "a bracket joins"}
)

// tierNote explains letters or brackets, or why there are none; empty: neither applies.
func (r *ranked) tierNote(by joined) string {
	untested, all := r.untested()
	switch {
	case len(r.order) < 2 || len(r.Tests) == 0:
		return ""
	case len(r.Unmet) > 1:
		return fmt.Sprintf("There are no %s, because some were never compared with each other: shares of wins of different groups "+
			"do not compare.", by.what)
	case untested > 0:
		return fmt.Sprintf("There are no %s in %s, because %s of %s could not be tested: %s.", by.what,
			assay.Clean(r.label(), plot.MaxName), assay.Thousands(untested), assay.Count(all, "pair"), r.whyUntested())
	case r.tiers == nil:
		return ""
	case r.Rounds != nil && r.Rounds.Width:
		return "Nothing is claimed about who is better: the goal is how certain strengths are."
	case r.Rounds != nil:
		return fmt.Sprintf("What %s cannot be told apart (claims of %s planned; the chance of any false one is at most %.0f%%).", by.one,
			assay.Count(r.Rounds.Planned, "look"), 100*r.Rounds.Bound())
	case r.Test == analysis.ExactSigns:
		return fmt.Sprintf("%s that %s cannot be told apart (exact sign test of every two on what they were compared on, corrected after "+
			"Holm).", plot.Capital(fieldWord(r.Field)), by.many)
	case r.Field == analysis.ByItem:
		return fmt.Sprintf("Items that %s cannot be told apart (all pairs tested, corrected after Holm).", by.many)
	}
	return fmt.Sprintf("Lanes that %s cannot be told apart (all pairs tested on the same items, corrected after Holm).", by.many)
}
