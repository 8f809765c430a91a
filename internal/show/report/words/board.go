package words

import (
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report/plot"
)

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
		c := BoardColumn{Head: r.boardHead(), Label: r.label(), Stage: r.Stage, Axis: r.boardAxis(), Less: r.Less,
			Drawn: fmt.Sprintf("%g%% interval", 100*r.Level), Corrected: r.Corrected()}
		if r.What == analysis.WhatStrength && !r.disordered() {
			c.Drawn = "strength, " + c.Drawn
		}
		if r != lead {
			c.Words = d.further(r)
		}
		b.Columns = append(b.Columns, c)
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

// has reports whether the board has a column of a ranking.
func (b *Board) has(r *ranked) bool {
	return b != nil && slices.ContainsFunc(b.Columns, func(c BoardColumn) bool { return c.Label == r.label() })
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
		return "giving in under push-back"
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
			return BoardCell{Text: plot.UnknownText, Why: p.Value.Why, Judge: judgeAlone(r, p)}
		}
		c := BoardCell{Text: r.Unit.Show(p.Value.Value), Between: plot.Between(r.Unit, p.Interval), Judge: judgeAlone(r, p)}
		switch {
		case r.disordered():
			c.Text, c.Between = fmt.Sprintf("%+.2f (%s)", p.Value.Value, plot.Shown(analysis.Share, p.Share)), ""
		case r.What == analysis.WhatStrength: // strengths have intervals; shares of wins are there to be grasped
			c.Text, c.Between = plot.Shown(analysis.Share, p.Share), ""
		case r.What == analysis.WhatExcess:
			c.Text, c.Between = points(p.Value.Value), pointsBetween(p)
		}
		c.draw(r, p)
		return c
	}
	return BoardCell{Text: plot.NoneText, None: true}
}

// JudgeAlone is the head of what the judge alone says, beside corrected values.
const JudgeAlone = "judge alone"

// judgeAlone returns what the judge alone says of a place with a corrected value; empty: that is not known, or nothing is corrected.
func judgeAlone(r *ranked, p analysis.Place) string {
	if !r.Corrected() || !p.Judge.OK {
		return ""
	}
	return r.Unit.Show(p.Judge.Value)
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
	Drawn string   // what is drawn
	Axis  []Tick   // of what is drawn; none: nothing is
	Less  bool     // less is better
	Words Sentence // who has most and who least; nil for the first column

	Corrected bool // by labels of people: cells have what the judge alone says, too
}

// OnAxis is a value on the axis that it is drawn on.
type OnAxis struct {
	Axis []Tick
	Cell BoardCell
}

// On returns a value of the column on its axis.
func (c BoardColumn) On(cell BoardCell) OnAxis { return OnAxis{c.Axis, cell} }

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
	Judge          string // of a corrected value: what the judge alone says; empty: it is not known
	Between        string
	Drawn, Whisker bool
	At, From, Wide float64
	Why            string // there is no value
	None           bool   // the stage is not about this lane
	Link           string // to the rows behind it
}

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
	if r.Corrected() {
		return fmt.Sprintf("Lanes that %s cannot be told apart (%s).", by.many, r.Method)
	}
	return fmt.Sprintf("Lanes that %s cannot be told apart (all pairs tested on the same items, corrected after Holm).", by.many)
}
