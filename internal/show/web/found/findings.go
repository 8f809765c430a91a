// Package found is the pages about what runs found: summaries, findings, grids, two runs side by side, and their files.
package found

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"assay/internal/find/analysis"
	"assay/internal/find/results/document"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/grid"
	"assay/internal/find/results/runs"
	"assay/internal/find/results/trend"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/words"
	"assay/internal/show/web/memo"
	"assay/internal/show/web/site"
)

// Pages are the pages about what runs found: summary, findings, grid, and two runs side by side.
type Pages struct {
	*site.Site
	findings *memo.Memo[findingsKey, *runFindings]
	matrices *memo.Memo[matrixKey, *grid.Matrix]
	diffs    *memo.Memo[compareKey, *findings.Diff]
	trends   *memo.Memo[trendKey, *trend.Trend]
}

// New returns the pages of a site about what runs found.
func New(s *site.Site) *Pages {
	return &Pages{Site: s, findings: memo.New(s.Now, computeFindings), matrices: memo.New(s.Now, computeMatrix),
		diffs: memo.New(s.Now, computeDiff), trends: memo.New(s.Now, computeTrend)}
}

// Made returns a text that changes when a grid, a comparison or a trend is ready.
func (s *Pages) Made() string {
	return fmt.Sprint(s.diffs.Count(), "/", s.matrices.Count(), "/", s.trends.Count())
}

// State returns a text that changes when the grid or the findings that a query names are ready.
func (s *Pages) State(q *site.Request) string {
	if stage, grid := q.Form["grid"]; grid {
		return s.matrices.State(matrixKey{q.Home, q.Run.No, stage[0]}) + s.findings.State(findingsKey{q.Home, q.Run.No, ""})
	}
	return s.findings.State(findingsKey{q.Home, q.Run.No, q.FormValue("by")})
}

// findingsKey names what is computed: a run's findings, grouped by fields.
type findingsKey struct {
	home *site.Home
	run  int64
	by   string // fields with commas between
}

// runFindings are the findings of a run, as people and as programs read them.
type runFindings struct {
	document *report.Document
	json     findings.JSON
}

func computeFindings(ctx context.Context, k findingsKey) (*runFindings, error) {
	run, err := k.home.Ledger.Run(ctx, k.run)
	if err != nil {
		return nil, err
	}
	version, err := k.home.Pages.Version(ctx, k.run)
	if err != nil {
		return nil, err
	}
	found, err := findings.Of(ctx, k.home.Reader, run, findings.Query{By: splitFields(k.by)})
	if err != nil {
		return nil, err
	}
	doc, err := document.Outline(ctx, k.home.Reader, found)
	if err != nil {
		return nil, err
	}
	summary := words.Summarise(doc)
	if k.by == "" && run.State == store.RunClosed {
		runs.KeepHeadline(ctx, k.home.Orders, run.No, version, summary)
	}
	return &runFindings{doc, found.JSON().With(summary)}, nil
}

func splitFields(text string) []string {
	var out []string
	for f := range strings.SplitSeq(text, ",") {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

type findingsData struct {
	By      string
	Known   bool      // there are findings
	Current bool      // they are of the ledger as it is
	At      time.Time // when they were computed
	Fields  []string  // to group by

	Words    []string
	Gates    []analysis.Passage
	Tables   []*figures.Findings
	Quality  []*plot.Figure
	Spend    *plot.Grid
	Coverage *plot.Grid
}

// maxFields is how many fields findings are grouped by.
const maxFields = 6

// Findings shows what a run found.
func (s *Pages) Findings(q *site.Request) (*site.View, error) {
	by := strings.Join(splitFields(q.FormValue("by")), ",")
	if len(splitFields(by)) > maxFields || len(by) > 300 {
		return nil, site.Bad("by: at most %d fields", maxFields)
	}
	f, err := s.findingsOf(q, by)
	if err != nil {
		return nil, err
	}
	data := findingsData{By: by, Known: f.Known, Current: f.Current, At: f.At, Fields: analysis.OwnFields()}
	v := &site.View{Template: "findings", Title: "Findings", Tab: "findings", Data: data,
		Live: "/runs/" + q.Run.ID + "/news?by=" + strings.ReplaceAll(by, "&", "")}
	if q.API() {
		if !f.Known {
			return nil, site.NotYet("the findings are still being computed")
		}
		q.Writer.Header().Set("Last-Modified", f.At.UTC().Format(http.TimeFormat))
		v.Data = f.Value.json
		return v, nil
	}
	if f.Known {
		data.fill(f.Value.document, q.Run.ID)
		data.withFiles(q.Run.ID, by)
		v.Data = data
	}
	return v, nil
}

// fill makes the fragments of a report, with links to the rows behind every number.
func (d *findingsData) fill(doc *report.Document, run string) {
	d.Gates, d.Spend = doc.Gates, figures.SpendGrid(doc.Spend)
	if doc.Report == nil {
		return
	}
	links := site.LinksOf(run)
	drawn := map[string]bool{}
	for i := range doc.Report.Tables {
		if figures.Double(doc.Report, i) {
			continue
		}
		t := &doc.Report.Tables[i]
		d.Words = append(d.Words, figures.Words(t)...)
		d.Tables = append(d.Tables, figures.New(t,
			figures.Options{ID: fmt.Sprintf("t%d", i+1), Of: doc.Origins(), Rehearsal: doc.Rehearsal, Links: links}))
		if !drawn[t.Stage] {
			if f := figures.CostQuality(t, doc.Spend, links); f != nil {
				d.Quality, drawn[t.Stage] = append(d.Quality, f), true
			}
		}
	}
	d.Coverage = figures.CoverageTable(doc.Report)
}

func (d *findingsData) withFiles(run, by string) { site.WithFiles(run, by, d.figures()...) }

func (d *findingsData) figures() []*plot.Figure {
	var all []*plot.Figure
	for _, t := range d.Tables {
		all = append(all, t.Figures...)
	}
	return append(all, d.Quality...)
}

// summaryData is the first thing that a reader sees of a run: what it found.
type summaryData struct {
	Run         site.RunRow
	Lead, About string    // the study's description, before the answer where it is short
	Known       bool      // there are findings
	Current     bool      // they are of the ledger as it is
	At          time.Time // when they were computed
	Answer      *words.Summary
	Before      string // the run of the same study before this one; empty: there is none
}

// Summary shows what a run found.
func (s *Pages) Summary(q *site.Request) (*site.View, error) {
	row, err := s.RowOf(q.Context(), q.Home, q.Run)
	if err != nil {
		return nil, err
	}
	f, err := s.findingsOf(q, "")
	if err != nil {
		return nil, err
	}
	before, err := runBefore(q)
	if err != nil {
		return nil, err
	}
	data := summaryData{Run: row, Known: f.Known, Current: f.Current, At: f.At, Before: before}
	v := &site.View{Template: "summary", Title: q.Run.Study, Run: &row, Tab: "summary", Data: data, Live: "/runs/" + q.Run.ID + "/news?by="}
	if q.API() {
		if !f.Known {
			return nil, site.NotYet("the findings are still being computed")
		}
		v.Data = findings.SummaryOf(words.Summarise(f.Value.document))
		return v, nil
	}
	if f.Known {
		data.Lead, data.About = words.Lead(f.Value.document.Description)
		data.Answer = linked(words.Summarise(f.Value.document), q.Run.ID)
		if s.MayWrite(q) {
			linkActions(data.Answer, q)
		}
		v.Data = data
	}
	return v, nil
}

// linkActions leads from actions to the pages that do them: on one people label, on another comparisons are bought.
func linkActions(s *words.Summary, q *site.Request) {
	for i := range s.Caveats {
		c := &s.Caveats[i]
		if c.People != "" {
			c.Link = "/runs/" + q.Run.ID + "/people/" + url.PathEscape(c.People)
		}
		if c.Pair.Stage != "" && q.Home.Buy != nil && q.Run.State == store.RunClosed {
			lanes := url.Values{"stage": {c.Pair.Stage}, "first": {c.Pair.First}, "second": {c.Pair.Second}}
			c.Link = "/runs/" + q.Run.ID + "/settle?" + lanes.Encode()
		}
	}
}

// linked adds to a summary the addresses of the rows behind its numbers.
func linked(s *words.Summary, run string) *words.Summary {
	if s.Board == nil {
		return s
	}
	if len(s.Actions()) < 3 && s.Board.Field == analysis.ByLane && len(s.Board.Rows) > 1 && s.Board.Tiers {
		s.Read = "/runs/" + run + "/grid?is=disagree"
	}
	for _, row := range s.Board.Rows {
		for i := range row.Cells {
			if !row.Cells[i].None {
				row.Cells[i].Link = site.VerdictsLink(run, "stage", s.Board.Columns[i].Stage, s.Board.Field, row.Name)
			}
		}
	}
	return s
}

// findingsOf waits for the findings of a run: a page not for long, a program until they are there.
func (s *Pages) findingsOf(q *site.Request, by string) (memo.Found[*runFindings], error) {
	version, err := q.Home.Pages.Version(q.Context(), q.Run.No)
	if err != nil {
		return memo.Found[*runFindings]{}, err
	}
	patience, err := q.Patience()
	if err != nil {
		return memo.Found[*runFindings]{}, err
	}
	f := s.findings.Get(q.Context(), findingsKey{q.Home, q.Run.No, by}, version, patience)
	if f.Err != nil {
		return f, site.Refused(http.StatusUnprocessableEntity, f.Err.Error())
	}
	return f, nil
}
