package figures

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
	Figures      []*plot.Figure
	Numbers      *plot.Grid
	Folded       bool // there are many numbers: the reader opens them
}

// Options configure how findings are shown.
type Options struct {
	ID        string
	Of        string // the study and the run, for captions of figures on their own
	Links     report.Links
	Rehearsal bool
}

// foldedFrom is how many rows of numbers are too many to show at once.
const foldedFrom = 13

// New makes a table ready to show.
func New(t *analysis.Table, o Options) *Findings {
	unmarked := *t
	unmarked.Unvalidated = false // the title has a mark for it
	out := &Findings{
		ID: o.ID, Stage: t.Stage, Title: titleOf(t), Coverage: CoverageLine(t.Coverage), Incomplete: t.Incomplete() && !t.People,
		People: t.People, Primary: t.Primary, Rehearsal: o.Rehearsal, Unvalidated: t.Unvalidated, Figures: Of(t, o.Links),
		Numbers: FindingsGrid(&unmarked, o.Links),
	}
	out.Folded = len(out.Numbers.Rows) >= foldedFrom
	for i, f := range out.Figures {
		f.ID, f.Of = fmt.Sprintf("%s-%d", o.ID, i+1), captionOf(t, o)
	}
	return out
}

// captionOf returns the subject of a table's figures.
func captionOf(t *analysis.Table, o Options) string {
	text := "Stage " + assay.Clean(t.Stage, plot.MaxName)
	if o.Of != "" {
		text += " of " + o.Of
	}
	text += fmt.Sprintf(": %s of %s planned verdicts are valid", assay.Thousands(t.Coverage.Valid),
		assay.Thousands(t.Coverage.Wanted()))
	if t.Unvalidated {
		text += "; judge unchecked"
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
	if len(by) == 0 || t.People || slices.Contains([]analysis.Method{analysis.Agreement, analysis.Validity,
		analysis.JudgeBias, analysis.Flips}, t.Method) {
		return t.Title
	}
	return t.Title + " by " + strings.Join(by, " and ")
}

// Words returns the primary findings in sentences, as far as a table has any: those that a test decides come first.
func Words(t *analysis.Table) []string {
	tested, described := WordsOf(t)
	return append(tested, described...)
}

// WordsOf returns the primary findings in sentences: those that a test decides, and the others. Of many branches there are none: a map
// shows them.
func WordsOf(t *analysis.Table) (tested, described []string) {
	many := manyBranches(t)
	for i := range t.Findings {
		switch f := &t.Findings[i]; {
		case f.Words == "" || many && f.Of(analysis.ByBranch) != "":
		case f.Holm.OK:
			tested = append(tested, f.Words)
		default:
			described = append(described, f.Words)
		}
	}
	return tested, described
}

// manyBranches reports whether a table is about more branches than are told apart by colours.
func manyBranches(t *analysis.Table) bool {
	d := drawing{t: t}
	return d.branches(d.all()) > plot.MarkShapes
}

// Double reports whether another table of a report has all that a table has: the primary one, else the first.
func Double(r *analysis.Report, i int) bool {
	for k := range r.Tables {
		t, other := &r.Tables[i], &r.Tables[k]
		first := other.Primary == t.Primary && k < i || other.Primary && !t.Primary
		if k != i && first && sameFindings(t, other) {
			return true
		}
	}
	return false
}

func sameFindings(a, b *analysis.Table) bool {
	return a.Stage == b.Stage && a.Method == b.Method && a.People == b.People && a.Matrix == nil && b.Matrix == nil &&
		slices.EqualFunc(a.Findings, b.Findings, func(x, y analysis.Finding) bool {
			return x.What == y.What && x.Value == y.Value && x.Interval == y.Interval && x.N == y.N && slices.Equal(x.By, y.By)
		})
}

// CoverageGrid counts the requests of every lane in every stage by outcome.
func CoverageGrid(lanes []report.Lane, links report.Links) *plot.Grid {
	g := &plot.Grid{Caption: "Requests by what became of them", Head: []plot.Column{
		{Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "planned", Number: true},
		{Text: "with an answer", Number: true}, {Text: "open", Number: true},
	}}
	var shows []assay.Ending
	for _, e := range assay.Endings() {
		if e == assay.Answered || slices.ContainsFunc(lanes, func(l report.Lane) bool { return l.Endings[e] > 0 }) {
			shows = append(shows, e)
			g.Head = append(g.Head, plot.Column{Text: string(e), Number: true})
		}
	}
	noted := slices.ContainsFunc(lanes, func(l report.Lane) bool { return laneNote(l) != "" })
	if noted {
		g.Head = append(g.Head, plot.Column{Text: "notes", Wide: true})
	}
	for _, l := range lanes {
		row := []plot.Cell{plot.Foreign(l.Stage), plot.Foreign(l.Name),
			{Text: assay.Thousands(l.Planned - l.Spared), Link: links.ToLane(l.Stage, l.Name, "")}, standsCell(l)}
		open := plot.Number(assay.Thousands(l.Open))
		open.Link = links.ToLane(l.Stage, l.Name, "open")
		row = append(row, open)
		for _, e := range shows {
			c := plot.Number(assay.Thousands(l.Endings[e]))
			if l.Endings[e] > 0 {
				c.Link = links.ToLane(l.Stage, l.Name, e)
			}
			row = append(row, c)
		}
		if noted {
			row = append(row, plot.Foreign(laneNote(l)))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// standsCell returns the share of the planned requests, without those that were spared, that have something to judge.
func standsCell(l report.Lane) plot.Cell {
	share := l.Share()
	if !share.OK {
		return plot.Cell{Text: plot.NoneText, Soft: true}
	}
	return plot.Cell{Text: analysis.Share.Show(share.Value), Strong: l.Incomplete()}
}

func laneNote(l report.Lane) string {
	if l.State == "" || l.State == "open" {
		return l.Note
	}
	if l.Note == "" {
		return l.State
	}
	return l.State + ": " + l.Note
}

// SpendGrid returns what every lane cost in every stage, and all together; where answers were taken over or imported, also what of it the
// run itself has spent.
func SpendGrid(spend []report.Spend) *plot.Grid {
	g := &plot.Grid{Caption: "Cost by stage and lane", Head: []plot.Column{
		{Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "cost", Number: true},
		{Text: "spent by this run", Number: true}, {Text: "answers", Number: true}, {Text: "per answer", Number: true},
		{Text: "per valid verdict", Number: true}, {Text: "input tokens", Number: true}, {Text: "cached", Number: true},
		{Text: "cache hits", Number: true}, {Text: "output tokens", Number: true}, {Text: "reasoning", Number: true},
	}}
	var all report.Spend
	spent := func(s report.Spend) string {
		if !slices.ContainsFunc(spend, func(s report.Spend) bool { return s.Cost != s.Spent }) {
			return ""
		}
		return s.Spent.String()
	}
	for _, s := range spend {
		verdict := plot.Cell{}
		if s.Valid > 0 {
			verdict = plot.Number(each(s.Cost, s.Valid))
		}
		g.Rows = append(g.Rows, []plot.Cell{
			plot.Foreign(s.Stage), plot.Foreign(s.Lane), plot.Number(s.Cost.String()), plot.Number(spent(s)),
			plot.Number(assay.Thousands(s.Answers)),
			plot.Number(each(s.Cost, s.Answers)), verdict, plot.Number(s.Tokens(s.Input)), plot.Number(s.Tokens(s.Cached)),
			plot.Number(hits(s)), plot.Number(s.Tokens(s.Output)), plot.Number(s.Tokens(s.Reasoning)),
		})
		all.Cost, all.Spent = all.Cost.Add(s.Cost), all.Spent.Add(s.Spent)
		all.Answers += s.Answers
		all.Input, all.Cached, all.Output, all.Reasoning = all.Input+s.Input, all.Cached+s.Cached, all.Output+s.Output,
			all.Reasoning+s.Reasoning
		all.Mute += s.Mute
	}
	if len(spend) > 1 {
		strong := func(text string) plot.Cell { return plot.Cell{Text: text, Strong: true} }
		g.Rows = append(g.Rows, []plot.Cell{
			strong("all"), {}, strong(all.Cost.String()), strong(spent(all)), strong(assay.Thousands(all.Answers)),
			strong(each(all.Cost, all.Answers)), {},
			strong(all.Tokens(all.Input)), strong(all.Tokens(all.Cached)), {}, strong(all.Tokens(all.Output)),
			strong(all.Tokens(all.Reasoning)),
		})
	}
	return g.Trimmed()
}

// hits returns the share of a lane's requests that read from the provider's cache.
func hits(s report.Spend) string {
	if s.Hits == nil {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100**s.Hits)
}

// CostQuality returns what one answer of each lane costs against how good a table finds it; nil where the table does
// not measure lanes, or no cost is known.
func CostQuality(t *analysis.Table, spend []report.Spend, links report.Links) *plot.Figure {
	what := measured(t)
	if what == "" {
		return nil
	}
	p := plot.Scatter{Title: "Cost against " + what + ": " + t.Stage}
	d := drawing{t: t, links: links}
	data := &plot.Grid{Caption: p.Title, Head: []plot.Column{{Text: "lane", Foreign: true}, {Text: "cost of 1,000 answers", Number: true},
		{Text: what, Number: true}, {Text: "low", Number: true}, {Text: "high", Number: true}}}
	unknown := 0
	for _, f := range d.of(what) {
		lane := f.Of(analysis.ByLane)
		if lane == "" || len(f.By) != 1 {
			return nil
		}
		cost := report.AnswersOf(lane, spend)
		low, high := plot.NoneText, plot.NoneText
		if f.Interval.OK {
			low, high = f.Unit.Show(f.Interval.Low), f.Unit.Show(f.Interval.High)
		}
		data.Rows = append(data.Rows, []plot.Cell{plot.Foreign(lane), plot.Number(perThousand(cost)),
			plot.Number(plot.Shown(f.Unit, f.Value)), plot.Number(low), plot.Number(high)})
		if !f.Value.OK || cost.Answers == 0 || !cost.Cost.Known() {
			unknown++
			continue
		}
		p.Unit, p.Up = f.Unit, axisOf(d.meaning(what), f.Unit)
		p.Points = append(p.Points, plot.ScatterPoint{
			Name: lane, Cost: 1000 * cost.Cost.Sum.Float() / float64(cost.Answers), Value: f.Value.Value, Between: f.Interval, N: f.N,
			Link: links.ToFinding(t, f),
		})
	}
	if len(p.Points) == 0 {
		return nil
	}
	if p.Unit == analysis.Share {
		p.Low, p.High = new(float64), new(1.0)
	}
	p.Better = goodEnd(t, what)
	p.Words = "Whiskers: intervals of quality."
	if p.Better != plot.Unsaid {
		p.Words = fmt.Sprintf("%s is better. The dashed line joins the lanes of which none is both cheaper and better; grey squares are "+
			"the others. %s", plot.Capital(string(p.Better)), p.Words)
	}
	f := p.Figure()
	f.ID, f.Of, f.Data = "cost-"+t.Stage, captionOf(t, Options{}), data
	if unknown > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s not drawn: cost or quality is unknown", assay.Count(unknown, "lane")))
	}
	return f
}

// perThousand returns what 1,000 answers cost, in words.
func perThousand(s report.Spend) string {
	if s.Answers == 0 || !s.Cost.Known() {
		return plot.UnknownText
	}
	return assay.Dollars(1000 * s.Cost.Sum.Float() / float64(s.Answers)).String()
}

// keptLabel is the label of the built-in rubric for flips that means no flip.
const keptLabel = "no_flip"

// goodEnd reports whether more is better: a rate counts the labels that score, which is good but for flips; what the
// scale of a mean means is the rubric's secret.
func goodEnd(t *analysis.Table, what string) plot.Better {
	d := drawing{t: t}
	switch {
	case d.has(keptLabel) || t.Method == analysis.Flips:
		return plot.Less
	case what == analysis.WhatMean:
		return plot.Unsaid
	}
	return plot.More
}

// measured returns what a table measures of lanes: a strength, a win rate, a rate or a mean.
func measured(t *analysis.Table) string {
	d := drawing{t: t}
	for _, what := range []string{analysis.WhatStrength, analysis.WhatAverage, analysis.WhatWin, analysis.WhatRate, analysis.WhatMean} {
		if d.knows(what) {
			return what
		}
	}
	return ""
}

// CoverageTable returns the coverage of all tables of findings, state by state.
func CoverageTable(r *analysis.Report) *plot.Grid {
	g := &plot.Grid{Caption: "Verdicts by state", Head: []plot.Column{
		{Text: "stage", Foreign: true}, {Text: "table"}, {Text: "covered", Number: true}, {Text: "planned", Number: true},
		{Text: "valid", Number: true}, {Text: "abstained", Number: true}, {Text: "malformed", Number: true}, {Text: "failed", Number: true},
		{Text: "missing", Number: true}, {Text: "left out by rule", Number: true},
	}}
	for i := range r.Tables {
		t := &r.Tables[i]
		c := t.Coverage
		covered := plot.Number(plot.Shown(analysis.Share, c.Share()))
		covered.Strong = c.Incomplete() && !t.People
		g.Rows = append(g.Rows, []plot.Cell{
			plot.Foreign(t.Stage), {Text: cmp.Or(t.Title, string(t.Method))}, covered, plot.Number(assay.Thousands(c.Planned)),
			plot.Number(validWords(c)), plot.Number(assay.Thousands(c.Abstained)), plot.Number(assay.Thousands(c.Malformed)),
			plot.Number(assay.Thousands(c.Failed)), plot.Number(assay.Thousands(c.Missing)), plot.Number(assay.Thousands(c.Excluded)),
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

// each returns the cost of one of n; unknown where a price is, or where there is nothing to divide by.
func each(c assay.Cost, n int64) string {
	if n == 0 || !c.Known() {
		return plot.UnknownText
	}
	return assay.Dollars(c.Sum.Float() / float64(n)).String()
}

// CoverageLine returns the outcomes of what was planned, in one line.
func CoverageLine(c analysis.Coverage) string {
	share := "none planned"
	if s := c.Share(); s.OK {
		share = analysis.Share.Show(s.Value)
	}
	text := fmt.Sprintf("coverage %s: %s planned, %s valid, %s abstained, %s malformed, %s failed, %s missing", share,
		assay.Thousands(c.Planned), assay.Thousands(c.Valid), assay.Thousands(c.Abstained), assay.Thousands(c.Malformed),
		assay.Thousands(c.Failed), assay.Thousands(c.Missing))
	if c.Excluded > 0 {
		text += ", " + assay.Thousands(c.Excluded) + " left out by rule"
	}
	if c.Fallback > 0 {
		text += "; " + assay.Thousands(c.Fallback) + " of the valid ones came from a fallback"
	}
	return text
}
