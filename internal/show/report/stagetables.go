package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// StageTable is what one stage says of each lane, best first, in few columns.
type StageTable struct {
	Stage      string
	Label      string // the stage, and the group where there are several
	What       string // that lanes are ranked by
	Coverage   string
	Incomplete bool
	Head       []Column
	Rows       [][]string
	Note       string // what the letters mean, or why there are none
}

// StageTables are the standings of all stages as tables, the first one first.
func (d *Document) StageTables() []StageTable {
	if d.Report == nil || len(d.Report.Standings) == 0 {
		return nil
	}
	all := make([]*ranked, len(d.Report.Standings))
	for i := range d.Report.Standings {
		all[i] = rank(&d.Report.Standings[i])
	}
	lead := leader(all)
	out := []StageTable{d.stageTable(lead, lead.Field == analysis.ByLane)}
	for _, r := range all {
		if r != lead {
			out = append(out, d.stageTable(r, false))
		}
	}
	return out
}

// stageTable is a standing as a table; costs: with what 1,000 answers cost.
func (d *Document) stageTable(r *ranked, costs bool) StageTable {
	t := StageTable{Stage: r.Stage, Label: r.label(), What: r.title(), Incomplete: r.Coverage.Incomplete() || d.hasGaps(r)}
	t.Coverage = "coverage unknown"
	if share := r.Coverage.Share(); share.OK {
		t.Coverage = fmt.Sprintf("%s of %s verdicts", assay.Thousands(r.Coverage.Valid), assay.Thousands(r.Coverage.Planned-r.Coverage.Excluded))
	}
	tiers := r.tiers != nil && len(r.order) > 1
	if tiers {
		t.Head = append(t.Head, Column{Text: "tier"})
	}
	t.Head = append(t.Head, Column{Text: r.Field, Foreign: true}, Column{Text: r.column(), Number: true}, Column{Text: "low", Number: true}, Column{Text: "high", Number: true})
	if r.What == analysis.WhatStrength {
		t.Head = append(t.Head, Column{Text: r.head(), Number: true})
	}
	t.Head = append(t.Head, Column{Text: "n", Number: true})
	if costs {
		t.Head = append(t.Head, Column{Text: "$ per 1,000", Number: true})
	}
	ranks := r.showsRanks()
	if ranks {
		t.Head = append(t.Head, Column{Text: "ranks", Number: true})
	}
	for k, i := range r.Order() {
		var row []string
		if tiers {
			letter := ""
			if k < len(r.order) {
				letter = r.tier(k)
			}
			row = append(row, letter)
		}
		row = append(row, d.stageRow(r, i, costs)...)
		if ranks {
			row = append(row, ranksOf(r.Places[i].Rank))
		}
		t.Rows = append(t.Rows, row)
	}
	if t.Note = r.tierNote(); ranks {
		t.Note += " Ranks are those that the tests allow, all at once." + r.mayBeBest()
	}
	return t
}

// showsRanks reports whether ranks say more than the letters: of two, they do not.
func (r *ranked) showsRanks() bool {
	if len(r.order) < 3 || r.tiers == nil {
		return false
	}
	return slices.ContainsFunc(r.Places, func(p analysis.Place) bool { return p.Rank != nil })
}

// ranksOf are the ranks that a place may have.
func ranksOf(r *stats.RankInterval) string {
	switch {
	case r == nil:
		return noneText
	case r.Best == r.Worst:
		return strconv.Itoa(r.Best)
	}
	return fmt.Sprintf("%d–%d", r.Best, r.Worst)
}

// maxBest is how many that may be the best are named with their chance, and leastBest the chance from which on.
const maxBest, leastBest = 4, 0.01

// mayBeBest says with which chance each is the best, where several may be; empty: one is, or nothing is known.
func (r *ranked) mayBeBest() string {
	var parts []string
	for _, i := range r.order {
		p := r.Places[i]
		if p.Rank != nil && p.Rank.Best == 1 && p.Best.OK && p.Best.Value >= leastBest && len(parts) < maxBest {
			parts = append(parts, assay.Clean(p.Name, maxName)+" "+percentOf(p.Best.Value))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return " Chance of being the best: " + strings.Join(parts, ", ") + "."
}

func (d *Document) stageRow(r *ranked, place int, costs bool) []string {
	p := r.Places[place]
	show := r.Unit.Show
	if r.What == analysis.WhatExcess {
		show = func(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }
	}
	value, low, high := unknownText, noneText, noneText
	if p.Value.OK {
		value = show(p.Value.Value)
	}
	if p.Interval.OK {
		low, high = show(p.Interval.Low), show(p.Interval.High)
	}
	row := []string{p.Name, value, low, high}
	if r.What == analysis.WhatStrength {
		row = append(row, shown(analysis.Share, p.Share))
	}
	row = append(row, assay.Thousands(p.N))
	if !costs {
		return row
	}
	price := unknownText
	if x, ok := d.perThousand(p.Name); ok {
		price = assay.Dollars(x).String()
	}
	return append(row, price)
}

// column is the head of the value.
func (r *ranked) column() string {
	switch r.What {
	case analysis.WhatStrength, analysis.WhatMean:
		return r.What
	case analysis.WhatExcess:
		return "points"
	}
	return r.head()
}

// title says what lanes are ranked by.
func (r *ranked) title() string {
	switch {
	case r.What == analysis.WhatStrength:
		return "strength from comparisons"
	case r.wins():
		return "share of comparisons won"
	case r.What == analysis.WhatExcess:
		return "answers taken back, more often than when merely asked again"
	case r.Flips:
		return "share of answers taken back"
	case r.What == analysis.WhatMean:
		return "mean score"
	}
	return "share " + r.measure()
}

// tierNote explains the letters, or why there are none; empty: there is nothing to say.
func (r *ranked) tierNote() string {
	untested, all := r.untested()
	switch {
	case len(r.order) < 2 || len(r.Tests) == 0:
		return ""
	case len(r.Unmet) > 1:
		return "There are no letters for tiers, because some were never compared with each other: shares of wins of different groups do not compare."
	case untested > 0:
		return fmt.Sprintf("There are no letters for tiers in %s, because %s of %s could not be tested: %s.", assay.Clean(r.label(), maxName), assay.Thousands(untested), assay.Count(all, "pair"), r.whyUntested())
	case r.tiers == nil:
		return ""
	case r.Rounds != nil && r.Rounds.Width:
		return "Nothing is claimed about who is better: the goal is how certain strengths are."
	case r.Rounds != nil:
		return fmt.Sprintf("What shares a letter cannot be told apart (claims of %s planned; the chance of any false one is at most %.0f%%).", assay.Count(r.Rounds.Planned, "look"), 100*r.Rounds.Bound())
	case r.Test == analysis.ExactSigns:
		return fmt.Sprintf("%s that share a letter cannot be told apart (exact sign test of every two on what they were compared on, corrected after Holm).", capital(fieldWord(r.Field)))
	case r.Field == analysis.ByItem:
		return "Items that share a letter cannot be told apart (all pairs tested, corrected after Holm)."
	}
	return "Lanes that share a letter cannot be told apart (all pairs tested on the same items, corrected after Holm)."
}
