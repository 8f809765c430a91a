package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// StageTable holds the results of one stage for each lane, best first, in few columns.
type StageTable struct {
	Stage      string
	Label      string // the stage, and the group where there are several
	What       string // that lanes are ranked by
	Coverage   string
	Incomplete bool
	Head       []plot.Column
	Rows       [][]string
	Note       string // what the letters mean, or why there are none
}

// StageTables returns the leaderboards of all stages as tables, the first one first.
func StageTables(doc *report.Document) []StageTable {
	d := document{doc}
	if d.Report == nil || len(d.Report.Leaderboards) == 0 {
		return nil
	}
	all := make([]*ranked, len(d.Report.Leaderboards))
	for i := range d.Report.Leaderboards {
		all[i] = rank(&d.Report.Leaderboards[i])
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

// stageTable returns a leaderboard as a table; costs: with what 1,000 answers cost.
func (d document) stageTable(r *ranked, costs bool) StageTable {
	t := StageTable{Stage: r.Stage, Label: r.label(), What: r.title(), Incomplete: r.Coverage.Incomplete() || hasGaps(r)}
	t.Coverage = "coverage unknown"
	if share := r.Coverage.Share(); share.OK {
		t.Coverage = fmt.Sprintf("%s of %s verdicts", assay.Thousands(r.Coverage.Valid),
			assay.Thousands(r.Coverage.Wanted()))
	}
	tiers := r.tiers != nil && len(r.order) > 1
	if tiers {
		t.Head = append(t.Head, plot.Column{Text: "tier"})
	}
	t.Head = append(t.Head, plot.Column{Text: r.Field, Foreign: true}, plot.Column{Text: r.column(), Number: true},
		plot.Column{Text: "low", Number: true}, plot.Column{Text: "high", Number: true})
	if r.What == analysis.WhatStrength {
		t.Head = append(t.Head, plot.Column{Text: r.head(), Number: true})
	}
	if r.Corrected() {
		t.Head = append(t.Head, plot.Column{Text: JudgeAlone, Number: true})
	}
	t.Head = append(t.Head, plot.Column{Text: "n", Number: true})
	if costs {
		t.Head = append(t.Head, plot.Column{Text: "$ per 1,000", Number: true})
	}
	ranks := r.showsRanks()
	if ranks {
		t.Head = append(t.Head, plot.Column{Text: "ranks", Number: true})
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
	if t.Note = r.tierNote(lettered); ranks {
		t.Note += " Ranks are those that the tests allow, all at once." + r.mayBeBest()
	}
	return t
}

// showsRanks reports whether ranks add to the letters: of two, they do not.
func (r *ranked) showsRanks() bool {
	if len(r.order) < 3 || r.tiers == nil {
		return false
	}
	return slices.ContainsFunc(r.Places, func(p analysis.Place) bool { return p.Rank != nil })
}

// maxBest is how many that may be the best are named with their chance, and leastBest the chance from which on.
const maxBest, leastBest = 4, 0.01

// mayBeBest returns the chances of being the best, where several may be; empty: one is, or nothing is known.
func (r *ranked) mayBeBest() string {
	var parts []string
	for _, i := range r.order {
		p := r.Places[i]
		if p.Rank != nil && p.Rank.Best == 1 && p.Best.OK && p.Best.Value >= leastBest && len(parts) < maxBest {
			parts = append(parts, assay.Clean(p.Name, plot.MaxName)+" "+percentOf(p.Best.Value))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return " Chance of being the best: " + strings.Join(parts, ", ") + "."
}

func (d document) stageRow(r *ranked, place int, costs bool) []string {
	p := r.Places[place]
	show := r.Unit.Show
	if r.What == analysis.WhatExcess {
		show = func(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }
	}
	value, low, high := plot.UnknownText, plot.NoneText, plot.NoneText
	if p.Value.OK {
		value = show(p.Value.Value)
	}
	if p.Interval.OK {
		low, high = show(p.Interval.Low), show(p.Interval.High)
	}
	row := []string{p.Name, value, low, high}
	if r.What == analysis.WhatStrength {
		row = append(row, plot.Shown(analysis.Share, p.Share))
	}
	if r.Corrected() {
		row = append(row, cmp.Or(judgeAlone(r, p), plot.NoneText))
	}
	row = append(row, assay.Thousands(p.N))
	if !costs {
		return row
	}
	price := plot.UnknownText
	if x, ok := d.perThousand(p.Name); ok {
		price = assay.Dollars(x).String()
	}
	return append(row, price)
}

// column returns the head of the value.
func (r *ranked) column() string {
	switch r.What {
	case analysis.WhatStrength, analysis.WhatMean:
		return r.What
	case analysis.WhatExcess:
		return "points"
	}
	return r.head()
}

// title returns what lanes are ranked by.
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
