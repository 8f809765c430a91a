package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// FindingsGrid returns the findings of a table, one in a row, with the columns of `assay analyse`. Methods and notes
// that several rows share are written once, under the table.
func FindingsGrid(t *analysis.Table, links report.Links) *plot.Grid {
	g := &plot.Grid{Caption: t.Stage + ": " + t.Title}
	by, shows := FieldsOf(t), ColumnsOf(t, plot.UnknownText)
	for _, f := range by {
		g.Head = append(g.Head, plot.Column{Text: f, Foreign: true})
	}
	g.Head = append(g.Head, plot.Column{Text: "what"})
	for _, c := range shows {
		g.Head = append(g.Head, plot.Column{Text: c.Head, Number: true})
	}
	said := newFootnotes(t)
	shown, how := listed(t)
	for _, f := range shown {
		var row []plot.Cell
		for _, name := range by {
			row = append(row, plot.Foreign(f.Of(name)))
		}
		what := plot.Foreign(analysis.Called(f.What))
		if what.Text != f.What {
			what.Tip = "in files: " + f.What
		}
		row = append(row, what)
		for _, c := range shows {
			cell := plot.Number(c.Cell(f))
			if c.Head == "value" {
				cell.Link, cell.Strong, cell.Tip = links.ToFinding(t, f), f.Value.OK, f.Value.Why
			}
			row = append(row, cell)
		}
		if said.any {
			row = append(row, said.cell(f))
		}
		g.Rows = append(g.Rows, row)
	}
	if said.any {
		g.Head = append(g.Head, plot.Column{Text: "notes", Wide: said.prose})
	}
	g.Footnotes = said.list
	g.Notes = append(said.all, t.AllNotes()...)
	if n := len(t.Findings); n > len(shown) {
		g.Notes = append(g.Notes, fmt.Sprintf("the %s %s of %s; assay analyse --json has them all", how, assay.Thousands(len(shown)),
			assay.Thousands(n)))
	}
	return g
}

// listed returns the findings that a page lists: the first ones, or where there are many branches the largest of what is drawn.
func listed(t *analysis.Table) (shown []*analysis.Finding, how string) {
	d := drawing{t: t}
	shown = d.all()
	if !manyBranches(t) || len(shown) <= maxLargest {
		return shown[:min(maxFindings, len(shown))], "first"
	}
	for _, what := range []string{analysis.WhatExcess, analysis.WhatRate, analysis.WhatRegressive, shown[0].What} {
		if d.knows(what) {
			shown = d.of(what)
			break
		}
	}
	slices.SortStableFunc(shown, func(a, b *analysis.Finding) int { return cmp.Compare(math.Abs(b.Value.Value), math.Abs(a.Value.Value)) })
	return shown[:min(maxLargest, len(shown))], "largest"
}

// maxLargest is how many findings about many branches a page lists.
const maxLargest = 30

// maxFindings is as many as a page shows of one table.
const maxFindings = 1000

// footnotes sorts the notes of findings: those of all of them, of several, or of one.
type footnotes struct {
	all   []string // notes of every row
	list  []plot.Footnote
	marks map[string]string
	any   bool // a row has a note of its own
	prose bool // … in words
}

// maxFootnotes is how many marks a reader follows; further notes are written in the row.
const maxFootnotes = 26

func newFootnotes(t *analysis.Table) *footnotes {
	s := &footnotes{marks: map[string]string{}}
	times := map[string]int{}
	var order []string
	for i := range t.Findings {
		for _, n := range notesOf(&t.Findings[i]) {
			if times[n]++; times[n] == 1 {
				order = append(order, n)
			}
		}
	}
	for _, n := range order {
		switch {
		case times[n] == len(t.Findings) && times[n] > 1:
			s.all = append(s.all, n)
			s.marks[n] = ""
			continue
		case times[n] > 1 && len(s.list) < maxFootnotes:
			s.marks[n] = string(rune('a' + len(s.list)))
			s.list = append(s.list, plot.Footnote{Mark: s.marks[n], Text: n})
		default:
			s.prose = true
		}
		s.any = true
	}
	return s
}

// cell returns the notes of one finding.
func (s *footnotes) cell(f *analysis.Finding) plot.Cell {
	var own []string
	c := plot.Cell{Foreign: true}
	for _, n := range notesOf(f) {
		if mark, ok := s.marks[n]; !ok {
			own = append(own, n)
		} else if mark != "" {
			c.Marks = append(c.Marks, mark)
		}
	}
	c.Text = strings.Join(own, "; ")
	return c
}

// notesOf returns the method and the notes of a finding, with why there is no number.
func notesOf(f *analysis.Finding) []string {
	var notes []string
	if !f.Value.OK && f.Value.Why != "" {
		notes = append(notes, f.Value.Why)
	}
	if f.Method != "" {
		notes = append(notes, f.Method)
	}
	notes = append(notes, f.Notes...)
	if f.Other != nil {
		notes = append(notes, fmt.Sprintf("%s: %s of %s", f.Other.Rule, plot.Shown(f.Shown(), f.Other.Value), assay.Thousands(f.Other.N)))
	}
	return notes
}

// FieldsOf returns the fields that any finding of the table is grouped by.
func FieldsOf(t *analysis.Table) []string {
	var out []string
	for _, f := range t.Findings {
		for _, v := range f.By {
			if !slices.Contains(out, v.Field) {
				out = append(out, v.Field)
			}
		}
	}
	return out
}

// FindingColumn is a column of numbers.
type FindingColumn struct {
	Head string
	Cell func(*analysis.Finding) string
}

// ColumnsOf returns the columns of numbers that the table has anything for. An unknown value is written as the
// parameter unknown.
func ColumnsOf(t *analysis.Table, unknown string) []FindingColumn {
	has := func(yes func(*analysis.Finding) bool) bool {
		return slices.ContainsFunc(t.Findings, func(f analysis.Finding) bool { return yes(&f) })
	}
	end := func(of func(*analysis.Finding) stats.Interval, pick func(stats.Interval) float64) func(*analysis.Finding) string {
		return func(f *analysis.Finding) string {
			if i := of(f); i.OK {
				return f.Shown().Show(pick(i))
			}
			return plot.NoneText
		}
	}
	interval := func(f *analysis.Finding) stats.Interval { return f.Interval }
	bounds := func(f *analysis.Finding) stats.Interval { return f.Bounds }
	low, high := func(i stats.Interval) float64 { return i.Low }, func(i stats.Interval) float64 { return i.High }
	out := []FindingColumn{
		{"value", func(f *analysis.Finding) string { return plot.ShownOr(f.Shown(), f.Value, unknown) }},
		{"low", end(interval, low)}, {"high", end(interval, high)},
		{"n", func(f *analysis.Finding) string { return assay.Thousands(f.N) }},
		{"clusters", func(f *analysis.Finding) string { return assay.Thousands(f.Clusters) }},
		{"covered", func(f *analysis.Finding) string { return plot.ShownOr(analysis.Share, f.Coverage.Share(), unknown) }},
	}
	if has(func(f *analysis.Finding) bool { return f.SE.OK }) {
		out = slices.Insert(out, 1, FindingColumn{"se", func(f *analysis.Finding) string { return shownError(f) }})
	}
	if has(func(f *analysis.Finding) bool { return f.Bounds.OK && f.Bounds.High-f.Bounds.Low > 1e-9 }) {
		out = append(out, FindingColumn{"at least", end(bounds, low)}, FindingColumn{"at most", end(bounds, high)})
	}
	if has(func(f *analysis.Finding) bool { return f.Rank != nil }) {
		out = append(out, FindingColumn{"rank", rankText})
	}
	if has(func(f *analysis.Finding) bool { return f.Best.OK }) {
		out = append(out, FindingColumn{"best", func(f *analysis.Finding) string { return plot.ShownOr(analysis.Share, f.Best, "") }})
	}
	if has(func(f *analysis.Finding) bool { return f.Record != nil }) {
		out = append(out, recordColumn("wins", func(r *analysis.Record) int { return r.Wins }), recordColumn("ties",
			func(r *analysis.Record) int { return r.Ties }), recordColumn("losses", func(r *analysis.Record) int { return r.Losses }))
	}
	for _, name := range countsOf(t) {
		out = append(out, FindingColumn{name, func(f *analysis.Finding) string {
			for _, c := range f.Counts {
				if c.Name == name {
					return assay.Thousands(c.N)
				}
			}
			return ""
		}})
	}
	if has(func(f *analysis.Finding) bool { return f.Margin != nil }) {
		out = append(out, FindingColumn{"margin", func(f *analysis.Finding) string {
			return strings.TrimPrefix(f.Shown().Show(f.Margin.Size), "+")
		}}, FindingColumn{"verdict", func(f *analysis.Finding) string { return string(f.Margin.Standing) }})
	}
	if has(func(f *analysis.Finding) bool { return f.P.OK }) {
		out = append(out, FindingColumn{"p", func(f *analysis.Finding) string { return shownP(f.P) }})
	}
	if has(func(f *analysis.Finding) bool { return f.Holm.OK }) {
		out = append(out, FindingColumn{"p Holm", func(f *analysis.Finding) string { return shownP(f.Holm) }})
	}
	return out
}

// countsOf returns the kinds that findings of the table count.
func countsOf(t *analysis.Table) []string {
	var out []string
	for _, f := range t.Findings {
		for _, c := range f.Counts {
			if !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

func recordColumn(head string, of func(*analysis.Record) int) FindingColumn {
	return FindingColumn{head, func(f *analysis.Finding) string {
		if f.Record == nil {
			return ""
		}
		return assay.Thousands(of(f.Record))
	}}
}

func rankText(f *analysis.Finding) string {
	if f.Rank == nil {
		return ""
	}
	return fmt.Sprintf("%d (%d–%d)", f.Rank.Rank, f.Rank.Best, f.Rank.Worst)
}

// byValue returns the order of names by the first finding about each, the highest first; names without a number last.
func byValue(t *analysis.Table, names []string) []int {
	values := make([]stats.Number, len(names))
	for i := range t.Findings {
		f := &t.Findings[i]
		if len(f.By) == 0 {
			continue
		}
		if k := slices.Index(names, f.By[0].Value); k >= 0 && !values[k].OK {
			values[k] = f.Value
		}
	}
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := values[a], values[b]
		switch {
		case x.OK != y.OK && x.OK:
			return -1
		case x.OK != y.OK:
			return 1
		}
		return cmp.Compare(y.Value, x.Value)
	})
	return order
}

// shownError returns the standard error of a finding.
func shownError(f *analysis.Finding) string {
	if !f.SE.OK {
		return plot.NoneText
	}
	return f.Shown().ShowError(f.SE.Value)
}

func shownP(n stats.Number) string {
	if !n.OK {
		return ""
	}
	return fmt.Sprintf("%.2g", n.Value)
}
