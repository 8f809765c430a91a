package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// Findings is one table of findings ready for a page: plots, numbers and what to think of them.
type Findings struct {
	ID           string // of the place on the page
	Stage, Title string
	Coverage     string
	Incomplete   bool
	Primary      bool
	People       bool // it rests on people's verdicts alone, which no stage waits for
	Unvalidated  bool // how good the judge is, is not known
	Rehearsal    bool
	Figures      []*Figure
	Numbers      *Grid
	Folded       bool // there are many numbers: the reader opens them
}

// Options say how findings are shown.
type Options struct {
	ID        string
	Of        string // the study and the run, for captions that stand alone
	Links     Links
	Rehearsal bool
}

// foldedFrom is how many rows of numbers are too many to show at once.
const foldedFrom = 13

// NewFindings makes a table ready to show.
func NewFindings(t *analysis.Table, o Options) *Findings {
	unmarked := *t
	unmarked.Unvalidated = false // a mark beside the title says so
	out := &Findings{
		ID: o.ID, Stage: t.Stage, Title: titleOf(t), Coverage: CoverageLine(t.Coverage), Incomplete: t.Incomplete() && !t.People, People: t.People, Primary: t.Primary, Rehearsal: o.Rehearsal,
		Unvalidated: t.Unvalidated, Figures: Figures(t, o.Links), Numbers: FindingsGrid(&unmarked, o.Links),
	}
	out.Folded = len(out.Numbers.Rows) >= foldedFrom
	for i, f := range out.Figures {
		f.ID, f.Of = fmt.Sprintf("%s-%d", o.ID, i+1), captionOf(t, o)
	}
	return out
}

// captionOf says what the figures of a table are of.
func captionOf(t *analysis.Table, o Options) string {
	text := "Stage " + assay.Clean(t.Stage, maxName)
	if o.Of != "" {
		text += " of " + o.Of
	}
	text += fmt.Sprintf(": %s of %s planned verdicts are valid", assay.Thousands(t.Coverage.Valid), assay.Thousands(t.Coverage.Planned-t.Coverage.Excluded))
	if t.Unvalidated {
		text += "; judge not validated"
	}
	if o.Rehearsal {
		text += "; a rehearsal, in which a simulator answers"
	}
	return text + "."
}

// titleOf distinguishes a table from others of the same stage and method: by what its findings are grouped by.
func titleOf(t *analysis.Table) string {
	by := t.By
	if i := slices.Index(by, analysis.ByAgainst); i >= 0 {
		by = by[i+1:]
	}
	if len(by) == 0 || t.People || slices.Contains([]analysis.Method{analysis.Agreement, analysis.Validity, analysis.Flips}, t.Method) {
		return t.Title
	}
	return t.Title + " by " + strings.Join(by, " and ")
}

// Words are the primary findings in sentences, as far as a table has any: those that a test decides come first.
func Words(t *analysis.Table) []string {
	tested, described := wordsOf(t)
	return append(tested, described...)
}

func wordsOf(t *analysis.Table) (tested, described []string) {
	for i := range t.Findings {
		switch f := &t.Findings[i]; {
		case f.Words == "":
		case f.Holm.OK:
			tested = append(tested, f.Words)
		default:
			described = append(described, f.Words)
		}
	}
	return tested, described
}

// coverageGrid counts the requests of every lane in every stage by what stands for them.
func coverageGrid(lanes []Lane, links Links) *Grid {
	g := &Grid{Caption: "Requests by what became of them", Head: []Column{
		{Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "planned", Number: true}, {Text: "with an answer", Number: true}, {Text: "open", Number: true},
	}}
	var shows []assay.Ending
	for _, e := range assay.Endings() {
		if e == assay.Answered || slices.ContainsFunc(lanes, func(l Lane) bool { return l.Endings[e] > 0 }) {
			shows = append(shows, e)
			g.Head = append(g.Head, Column{Text: string(e), Number: true})
		}
	}
	noted := slices.ContainsFunc(lanes, func(l Lane) bool { return laneNote(l) != "" })
	if noted {
		g.Head = append(g.Head, Column{Text: "notes", Wide: true})
	}
	for _, l := range lanes {
		row := []Cell{foreign(l.Stage), foreign(l.Name), {Text: assay.Thousands(l.Planned - l.Spared), Link: links.lane(l.Stage, l.Name, "")}, standsCell(l)}
		open := number(assay.Thousands(l.Open))
		open.Link = links.lane(l.Stage, l.Name, "open")
		row = append(row, open)
		for _, e := range shows {
			c := number(assay.Thousands(l.Endings[e]))
			if l.Endings[e] > 0 {
				c.Link = links.lane(l.Stage, l.Name, e)
			}
			row = append(row, c)
		}
		if noted {
			row = append(row, foreign(laneNote(l)))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// standsCell is the share of the planned requests, without those that were spared, that have something to judge.
func standsCell(l Lane) Cell {
	var stands int64
	for e, n := range l.Endings {
		if e.Stands() {
			stands += n
		}
	}
	wanted := l.Planned - l.Spared
	if wanted <= 0 {
		return Cell{Text: noneText, Soft: true}
	}
	share := float64(stands) / float64(wanted)
	return Cell{Text: analysis.Share.Show(share), Strong: share < analysis.Complete}
}

func laneNote(l Lane) string {
	if l.State == "" || l.State == "open" {
		return l.Note
	}
	if l.Note == "" {
		return l.State
	}
	return l.State + ": " + l.Note
}

// tokens is a number of tokens, as far as replies said it.
func (s Spend) tokens(n int64) string { return assay.TokensText(n, s.Mute) }

// SpendGrid is what every lane cost in every stage, and all together.
func SpendGrid(spend []Spend) *Grid {
	g := &Grid{Caption: "Cost by stage and lane", Head: []Column{
		{Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "cost", Number: true}, {Text: "answers", Number: true}, {Text: "per answer", Number: true},
		{Text: "per valid verdict", Number: true}, {Text: "input tokens", Number: true}, {Text: "cached", Number: true}, {Text: "output tokens", Number: true}, {Text: "reasoning", Number: true},
	}}
	var all Spend
	for _, s := range spend {
		verdict := Cell{}
		if s.Valid > 0 {
			verdict = number(each(s.Cost, s.Valid))
		}
		g.Rows = append(g.Rows, []Cell{
			foreign(s.Stage), foreign(s.Lane), number(s.Cost.String()), number(assay.Thousands(s.Answers)), number(each(s.Cost, s.Answers)), verdict,
			number(s.tokens(s.Input)), number(s.tokens(s.Cached)), number(s.tokens(s.Output)), number(s.tokens(s.Reasoning)),
		})
		all.Cost = all.Cost.Add(s.Cost)
		all.Answers += s.Answers
		all.Input, all.Cached, all.Output, all.Reasoning = all.Input+s.Input, all.Cached+s.Cached, all.Output+s.Output, all.Reasoning+s.Reasoning
		all.Mute += s.Mute
	}
	if len(spend) > 1 {
		strong := func(text string) Cell { return Cell{Text: text, Strong: true} }
		g.Rows = append(g.Rows, []Cell{
			strong("all"), {}, strong(all.Cost.String()), strong(assay.Thousands(all.Answers)), strong(each(all.Cost, all.Answers)), {},
			strong(all.tokens(all.Input)), strong(all.tokens(all.Cached)), strong(all.tokens(all.Output)), strong(all.tokens(all.Reasoning)),
		})
	}
	return g.trimmed()
}

// CostQuality is what one answer of each lane costs against how good a table finds it; nil where the table does not
// measure lanes, or no cost is known.
func CostQuality(t *analysis.Table, spend []Spend, links Links) *Figure {
	what := measured(t)
	if what == "" {
		return nil
	}
	p := Scatter{Title: "Cost against " + what + ": " + t.Stage}
	d := drawing{t: t, links: links}
	data := &Grid{Caption: p.Title, Head: []Column{{Text: "lane", Foreign: true}, {Text: "cost of 1,000 answers", Number: true}, {Text: what, Number: true}, {Text: "low", Number: true}, {Text: "high", Number: true}}}
	unknown := 0
	for _, f := range d.of(what) {
		lane := f.Of(analysis.ByLane)
		if lane == "" || len(f.By) != 1 {
			return nil
		}
		cost := answersOf(lane, spend)
		low, high := noneText, noneText
		if f.Interval.OK {
			low, high = f.Unit.Show(f.Interval.Low), f.Unit.Show(f.Interval.High)
		}
		data.Rows = append(data.Rows, []Cell{foreign(lane), number(perThousand(cost)), number(shown(f.Unit, f.Value)), number(low), number(high)})
		if !f.Value.OK || cost.Answers == 0 || !cost.Cost.Known() {
			unknown++
			continue
		}
		p.Unit, p.Up = f.Unit, axisOf(d.meaning(what), f.Unit)
		p.Points = append(p.Points, ScatterPoint{
			Name: lane, Cost: 1000 * cost.Cost.Sum.Float() / float64(cost.Answers), Value: f.Value.Value, Between: f.Interval, N: f.N, Link: links.finding(t, f),
		})
	}
	if len(p.Points) == 0 {
		return nil
	}
	if p.Unit == analysis.Share {
		p.Low, p.High = new(float64), ptr(1.0)
	}
	p.Better = goodEnd(t, what)
	p.Words = "Whiskers: intervals of quality."
	if p.Better != Unsaid {
		p.Words = fmt.Sprintf("%s is better. The dashed line joins the lanes of which none is both cheaper and better; grey squares are the others. %s", capital(string(p.Better)), p.Words)
	}
	f := p.Figure()
	f.ID, f.Of, f.Data = "cost-"+t.Stage, captionOf(t, Options{}), data
	if unknown > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s not drawn: cost or quality is unknown", assay.Count(unknown, "lane")))
	}
	return f
}

// perThousand is what 1,000 answers cost, in words.
func perThousand(s Spend) string {
	if s.Answers == 0 || !s.Cost.Known() {
		return unknownText
	}
	return assay.Dollars(1000 * s.Cost.Sum.Float() / float64(s.Answers)).String()
}

// keptLabel is the label of the built-in rubric for flips that says that there was none.
const keptLabel = "no_flip"

// goodEnd reports whether more is better: a rate counts the labels that score, which is good but for flips; what the scale
// of a mean means is the rubric's secret.
func goodEnd(t *analysis.Table, what string) Better {
	d := drawing{t: t}
	switch {
	case d.has(keptLabel) || t.Method == analysis.Flips:
		return Less
	case what == analysis.WhatMean:
		return Unsaid
	}
	return More
}

// measured is what a table says about lanes: a strength, a win rate, a rate or a mean.
func measured(t *analysis.Table) string {
	d := drawing{t: t}
	for _, what := range []string{analysis.WhatStrength, analysis.WhatAverage, analysis.WhatWin, analysis.WhatRate, analysis.WhatMean} {
		if d.knows(what) {
			return what
		}
	}
	return ""
}

// answersOf adds up what a lane's own answers cost, in all stages that ask.
func answersOf(lane string, spend []Spend) Spend {
	var out Spend
	for _, s := range spend {
		if s.Asks && s.Lane == lane {
			out.Cost = out.Cost.Add(s.Cost)
			out.Answers += s.Answers
		}
	}
	return out
}

// CoverageTable is the coverage of all tables of findings, state by state.
func CoverageTable(r *analysis.Report) *Grid {
	g := &Grid{Caption: "Verdicts by state", Head: []Column{
		{Text: "stage", Foreign: true}, {Text: "table"}, {Text: "covered", Number: true}, {Text: "planned", Number: true}, {Text: "valid", Number: true}, {Text: "abstained", Number: true},
		{Text: "malformed", Number: true}, {Text: "failed", Number: true}, {Text: "missing", Number: true}, {Text: "left out by rule", Number: true},
	}}
	for i := range r.Tables {
		t := &r.Tables[i]
		c := t.Coverage
		covered := number(shown(analysis.Share, c.Share()))
		covered.Strong = c.Incomplete() && !t.People
		g.Rows = append(g.Rows, []Cell{
			foreign(t.Stage), {Text: cmp.Or(t.Title, string(t.Method))}, covered, number(assay.Thousands(c.Planned)), number(validWords(c)), number(assay.Thousands(c.Abstained)),
			number(assay.Thousands(c.Malformed)), number(assay.Thousands(c.Failed)), number(assay.Thousands(c.Missing)), number(assay.Thousands(c.Excluded)),
		})
	}
	return g
}

// validWords counts the valid verdicts, and those among them that came from a fallback.
func validWords(c analysis.Coverage) string {
	if c.Fallback == 0 {
		return assay.Thousands(c.Valid)
	}
	return assay.Thousands(c.Valid) + " (" + assay.Thousands(c.Fallback) + " from a fallback)"
}
