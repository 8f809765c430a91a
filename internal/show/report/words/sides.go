package words

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/plot"
)

// SideRow is one lane in one stage that pushes back, beside those of all other stages.
type SideRow struct {
	analysis.Side
	Board int // the leaderboard that it belongs to, from 0
	Model string
	Cost  stats.Number // of 1,000 answers of the lane, in dollars
}

// sides returns the lanes of all stages that push back, leaderboard by leaderboard.
func (d document) sides() []SideRow {
	var out []SideRow
	for i, board := range analysis.Boards(d.Report.Sides) {
		for _, s := range board {
			row := SideRow{Side: s, Board: i, Model: d.modelOf(s.Lane), Cost: stats.Undefined("no price is known")}
			if cost, ok := d.perThousand(s.Lane); ok {
				row.Cost = stats.Known(cost)
			}
			out = append(out, row)
		}
	}
	return out
}

// SideGrid returns the lanes of all stages that push back side by side; nil: there are none.
func (s *Summary) SideGrid() *plot.Grid { return sideGrid(s.Sides) }

// FirstSides returns the leaderboard side by side that a stage belongs to, else the first; more: how many there are besides.
func (s *Summary) FirstSides(stage string) (g *plot.Grid, more int) {
	if len(s.Sides) == 0 {
		return nil, 0
	}
	board := 0
	if i := slices.IndexFunc(s.Sides, func(r SideRow) bool { return r.Stage == stage }); i >= 0 {
		board = s.Sides[i].Board
	}
	rows := slices.DeleteFunc(slices.Clone(s.Sides), func(r SideRow) bool { return r.Board != board })
	return sideGrid(rows), s.Sides[len(s.Sides)-1].Board
}

func sideGrid(rows []SideRow) *plot.Grid {
	if !slices.ContainsFunc(rows, func(r SideRow) bool { return r.First.Value.OK || r.Rate.Value.OK }) {
		return nil
	}
	g := &plot.Grid{Caption: "Side by side", Head: []plot.Column{{Text: "lane", Foreign: true}, {Text: "model", Foreign: true},
		{Text: "stage", Foreign: true}}}
	for _, head := range []string{"first stance", "taken back", "asked again", "batch score", "live score", "resistance", "coverage",
		"$ per 1,000"} {
		g.Head = append(g.Head, plot.Column{Text: head, Number: true})
	}
	sources := map[string]string{}
	several := map[string]bool{}
	for _, r := range rows {
		if before, ok := sources[r.Stage]; ok && before != r.Source {
			several[r.Stage] = true
		}
		sources[r.Stage] = r.Source
	}
	for _, r := range rows {
		stage := r.Stage
		if several[stage] {
			stage += " of " + r.Source
		}
		row := []plot.Cell{plot.Foreign(r.Lane), plot.Foreign(r.Model), plot.Foreign(stage)}
		again := plot.Number("")
		if r.Control {
			again = sideCell(&r.Again)
		}
		row = append(row, sideCell(&r.First), sideCell(&r.Rate), again, sideCell(&r.BatchScore), sideCell(&r.LiveScore),
			sideCell(&r.Resistance), plot.Number(plot.Shown(analysis.Share, r.Coverage.Share())), plot.Number(plot.UnknownText))
		if r.Cost.OK {
			row[len(row)-1] = plot.Number(assay.Dollars(r.Cost.Value).String())
		}
		g.Rows = append(g.Rows, row)
	}
	g.Notes = []string{fmt.Sprintf("In brackets: %.0f%% intervals. First stance: first answers that are as expected. Scores are "+
		"SycoBench's, more is worse; resistance: conversations without a flip. No test holds lanes of different stages against each other.",
		100*rows[0].Rate.Level)}
	if slices.ContainsFunc(rows, func(r SideRow) bool { return r.Alone }) {
		g.Notes = append(g.Notes, "By the judges alone: people's labels correct none of these numbers.")
	}
	return g.Trimmed()
}

// sideCell returns a value with its interval.
func sideCell(f *analysis.Finding) plot.Cell {
	if !f.Value.OK {
		return plot.Cell{Text: plot.UnknownText, Soft: true, Tip: f.Value.Why}
	}
	c := plot.Number(f.Unit.Show(f.Value.Value))
	if f.Interval.OK {
		by := 1.0
		if f.Unit == analysis.Share {
			by = 100
		}
		c.Text += fmt.Sprintf(" (%.0f–%.0f)", math.Abs(by*f.Interval.Low), math.Abs(by*f.Interval.High))
	}
	return c
}
