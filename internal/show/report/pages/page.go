// Package pages writes a report as one HTML file or as Markdown, and its figures as files; web pages share its
// fragments and its style sheet. Everything foreign (names, texts, labels) reaches a page through html/template alone,
// after Clean has made what steers a reader's eye visible.
package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/words"
)

// HTML writes the report as one file that needs no other: no script, no request, and a policy that forbids both.
// The same document always gives the same bytes.
func HTML(w io.Writer, d *report.Document) error {
	t, err := Templates()
	if err != nil {
		return err
	}
	css := Stylesheet()
	sum := sha256.Sum256([]byte(css))
	p := newPage(d)
	p.Style = template.CSS(css)
	p.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"';" + p.pictures() + " base-uri 'none'; form-action 'none'"
	if err := t.ExecuteTemplate(w, "document", p); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// pictures returns the part of the policy that lets the small pictures of a report be seen; nothing where it has none.
func (p *page) pictures() string {
	small := func(q report.Picture) bool { return len(q.Small) > 0 }
	if slices.ContainsFunc(p.Items, func(i report.Item) bool { return slices.ContainsFunc(i.Shown, small) }) ||
		slices.ContainsFunc(p.Examples, func(e report.Example) bool { return slices.ContainsFunc(e.Shown, small) }) {
		return " img-src data:;"
	}
	return ""
}

// paged is a report that is made into a page.
type paged struct{ *report.Document }

// page is a document cut into what its template and its Markdown show.
type page struct {
	*report.Document
	Style  template.CSS
	Policy string

	Answer   *words.Summary
	Facts    []fact
	Words    []string
	More     []string // further words, folded
	Findings []*figures.Findings
	Quality  []*plot.Figure // cost against quality
	Costs    *plot.Grid
	Burn     *plot.Figure
	Requests *plot.Grid
	Verdicts *plot.Grid
	Timeline *plot.Figure
	Inputs   *plot.Grid
	Stages   *plot.Grid
	Lanes    *plot.Grid
	Method   []string
	Works    []string   // that the method rests on
	Judged   *plot.Grid // statements that answers are held against
	Billed   *plot.Grid // prices
}

// crowdedFrom is from how many lanes on long tables are left out on paper.
const crowdedFrom = 12

// Crowded reports whether there are many lanes.
func (p *page) Crowded() bool { return p.Grid != nil && len(p.Grid.Lanes) >= crowdedFrom }

// fact is a number at the top of the page.
type fact struct{ Name, Value string }

// maxSaid is how many findings in words are shown before the reader asks for more.
const maxSaid = 12

func newPage(doc *report.Document) *page {
	d := paged{doc}
	p := &page{Document: doc, Answer: words.Summarise(doc), Facts: d.facts(), Method: d.method()}
	if d.Report != nil {
		var words []string
		words, p.Works = d.methods()
		p.Method = append(p.Method, words...)
		for i := range d.Report.Tables {
			if figures.Double(d.Report, i) {
				continue
			}
			t := &d.Report.Tables[i]
			tested, described := figures.WordsOf(t)
			p.Words, p.More = append(p.Words, tested...), append(p.More, described...)
			p.Findings = append(p.Findings,
				figures.New(t, figures.Options{ID: fmt.Sprintf("t%d", i+1), Of: d.Origins(), Rehearsal: d.Rehearsal}))
		}
		p.Quality = d.quality(p.Answer)
		p.Verdicts = orNil(figures.CoverageTable(d.Report))
	}
	all := append(p.Words, p.More...)
	p.Words, p.More = all[:min(maxSaid, len(all))], all[min(maxSaid, len(all)):]
	p.Costs, p.Requests = orNil(figures.SpendGrid(d.Spend)), orNil(figures.CoverageGrid(d.Lanes, report.Links{}))
	if len(d.Segments) > 0 {
		until := d.until()
		if start, end := figures.Span(d.Segments, until); end.Sub(start) >= time.Minute { // else there is nothing to follow
			p.Burn = figures.BurnUp(d.Segments, d.Budget, until)
		}
		p.Timeline = figures.Timeline(d.Segments, until, report.Links{})
	}
	p.Inputs, p.Stages, p.Lanes = orNil(d.inputs()), orNil(d.stages()), orNil(d.lanes())
	p.Judged, p.Billed = orNil(d.statements()), orNil(d.prices())
	p.number()
	return p
}

// orNil leaves tables without rows out.
func orNil(g *plot.Grid) *plot.Grid {
	if len(g.Rows) == 0 {
		return nil
	}
	return g
}

// until returns the last thing the ledger knows of: a report has no clock of its own.
func (d paged) until() time.Time {
	_, end := figures.Span(d.Segments, time.Time{})
	return end
}

// quality is cost against the first measure of every stage that compares or judges lanes, but for the one on top.
func (d paged) quality(top *words.Summary) []*plot.Figure {
	var out []*plot.Figure
	drawn := map[string]bool{}
	if top.Quality != nil {
		drawn[top.Board.Columns[0].Stage] = true
	}
	for i := range d.Report.Tables {
		t := &d.Report.Tables[i]
		if drawn[t.Stage] {
			continue
		}
		if f := figures.CostQuality(t, d.Spend, report.Links{}); f != nil {
			out, drawn[t.Stage] = append(out, f), true
		}
	}
	return out
}

func (d paged) facts() []fact {
	lanes := map[string]bool{}
	for _, l := range d.Lanes {
		if l.Asks {
			lanes[l.Name] = true
		}
	}
	var cost assay.Cost
	for _, s := range d.Spend {
		cost = cost.Add(s.Spent)
	}
	var out []fact
	add := func(name, value string) { out = append(out, fact{name, value}) }
	for _, in := range d.inputsAsked() {
		add(in.Name, assay.Count(int(in.Items), "item"))
	}
	if len(lanes) > 0 {
		add("lanes that answer", assay.Thousands(len(lanes)))
	}
	stands, planned := d.Answered()
	add("requests answered", fmt.Sprintf("%s of %s", assay.Thousands(stands), assay.Thousands(planned)))
	if share := d.covered(); share != "" {
		add("verdicts covered", share)
	}
	spent := cost.String()
	if d.Budget != nil {
		spent += " of " + d.Budget.String()
	}
	add("cost", spent)
	if !d.Closed.IsZero() {
		add("duration", duration(d.Closed.Sub(d.Created)))
	}
	return out
}

// inputsAsked returns the inputs that have room at the top of the page.
func (d paged) inputsAsked() []report.Input {
	if len(d.Inputs) > 2 {
		return d.Inputs[:1]
	}
	return d.Inputs
}

// covered returns the lowest coverage of all tables that do not rest on people alone.
func (d paged) covered() string {
	if d.Report == nil {
		return ""
	}
	text, lowest := "", 2.0
	for i := range d.Report.Tables {
		t := &d.Report.Tables[i]
		share := t.Coverage.Share()
		if t.People || share.OK && share.Value >= lowest {
			continue
		}
		text, lowest = plot.Shown(analysis.Share, share), share.Value
	}
	if text != "" && d.Report.Incomplete() {
		text += ", incomplete"
	}
	return text
}

func duration(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.1f hours", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.1f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f seconds", d.Seconds())
}

// method returns how to read the numbers, as far as this report has any.
func (d paged) method() []string {
	if d.Report == nil || len(d.Report.Tables) == 0 {
		return nil
	}
	out := []string{
		"The unit of every interval is the item, or the cluster that the input names; repeats, turns, branches, orders and judges are " +
			"nested in it. Intervals are wider where clusters are few, by Student's t.",
		"A verdict that is abstained, malformed, failed or missing is counted as such and enters no number; below 95% of the plan a " +
			"table says that it is incomplete. What cannot be known is unknown, with the reason.",
	}
	primary, unchecked := false, false
	for i := range d.Report.Tables {
		t := &d.Report.Tables[i]
		primary = primary || t.Primary
		unchecked = unchecked || t.Unvalidated
	}
	out = append(out, words.PlanWords(d.Report.Plan, primary)...)
	if unchecked {
		out = append(out, "Judge unchecked: no human labels show how often the judge is right, so its verdicts are opinions of a "+
			"model about a model.")
	}
	return out
}

func (d paged) inputs() *plot.Grid {
	g := &plot.Grid{Caption: "Inputs",
		Head: []plot.Column{{Text: "input", Foreign: true}, {Text: "items", Number: true}, {Text: "clusters", Number: true}}}
	for _, in := range d.Inputs {
		g.Rows = append(g.Rows, []plot.Cell{plot.Foreign(in.Name), plot.Number(assay.Thousands(in.Items)),
			plot.Number(assay.Thousands(in.Clusters))})
	}
	return g
}

func (d paged) stages() *plot.Grid {
	g := &plot.Grid{Caption: "Stages",
		Head: []plot.Column{{Text: "stage", Foreign: true}, {Text: "does"}, {Text: "of"}, {Text: "with"}, {Text: "how", Wide: true}}}
	for _, s := range d.Stages {
		g.Rows = append(g.Rows, []plot.Cell{plot.Foreign(s.Name), {Text: s.Verb}, plot.Foreign(s.Of), plot.Foreign(s.With),
			plot.Foreign(s.How)})
	}
	return g.Trimmed()
}

// lanes lists each lane once, with its model and its parameters.
func (d paged) lanes() *plot.Grid {
	g := &plot.Grid{Caption: "Lanes", Head: []plot.Column{{Text: "lane", Foreign: true}, {Text: "model", Foreign: true},
		{Text: "parameters", Foreign: true, Wide: true}, {Text: "in stages"}, {Text: "asked (UTC)"}}}
	at := map[[3]string]int{}
	for _, l := range d.Lanes {
		key := [3]string{l.Name, l.Model, l.Params}
		i, ok := at[key]
		if !ok {
			i = len(g.Rows)
			at[key] = i
			g.Rows = append(g.Rows, []plot.Cell{plot.Foreign(l.Name), plot.Foreign(l.Model), plot.Foreign(l.Params), plot.Foreign(""),
				{Text: d.asked(l.Name)}})
		}
		cell := &g.Rows[i][3]
		cell.Text = strings.TrimPrefix(cell.Text+", "+l.Stage, ", ")
	}
	return g.Trimmed()
}

// Lead returns the description shown before the answer.
func (p *page) Lead() string {
	lead, _ := words.Lead(p.Description)
	return lead
}

// About returns the study's long description.
func (p *page) About() string {
	_, about := words.Lead(p.Description)
	return about
}
