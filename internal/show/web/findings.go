package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/document"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/words"
)

// findingsKey names what is computed: a run's findings, grouped by fields.
type findingsKey struct {
	home *Home
	run  int64
	by   string // fields with commas between
}

// runFindings are the findings of a run, as people and as programs read them.
type runFindings struct {
	document *report.Document
	json     findings.JSON
}

func (s *Server) computeFindings(ctx context.Context, k findingsKey) (*runFindings, error) {
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

// How long a page waits for findings before it shows what there is; a program waits until they are there.
const (
	pagePatience = 200 * time.Millisecond
	apiPatience  = 10 * time.Minute
	maxFields    = 6
)

// findingsPage shows what a run found.
func (s *Server) findingsPage(q *request) (*view, error) {
	by := strings.Join(splitFields(q.FormValue("by")), ",")
	if len(splitFields(by)) > maxFields || len(by) > 300 {
		return nil, bad("by: at most %d fields", maxFields)
	}
	f, err := s.findingsOf(q, by)
	if err != nil {
		return nil, err
	}
	data := findingsData{By: by, Known: f.Known, Current: f.Current, At: f.At, Fields: analysis.OwnFields()}
	v := &view{template: "findings", title: "Findings", tab: "findings", data: data,
		live: "/runs/" + q.run.ID + "/news?by=" + strings.ReplaceAll(by, "&", "")}
	if q.api() {
		if !f.Known {
			return nil, &problem{http.StatusServiceUnavailable, "the findings are still being computed"}
		}
		q.writer.Header().Set("Last-Modified", f.At.UTC().Format(http.TimeFormat))
		v.data = f.Value.json
		return v, nil
	}
	if f.Known {
		data.fill(f.Value.document, q.run.ID)
		data.withFiles(q.run.ID, by)
		v.data = data
	}
	return v, nil
}

// fill makes the fragments of a report, with links to the rows behind every number.
func (d *findingsData) fill(doc *report.Document, run string) {
	d.Gates, d.Spend = doc.Gates, figures.SpendGrid(doc.Spend)
	if doc.Report == nil {
		return
	}
	links := linksOf(run)
	drawn := map[string]bool{}
	for i := range doc.Report.Tables {
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

// linksOf returns the addresses of the rows behind numbers.
func linksOf(run string) report.Links {
	return report.Links{
		Finding: func(t *analysis.Table, f *analysis.Finding) string {
			by := []string{"stage", t.Stage}
			for _, v := range f.By {
				by = append(by, v.Field, v.Value)
			}
			return verdictsLink(run, by...)
		},
		Pair: func(t *analysis.Table, row, column string) string {
			return verdictsLink(run, "stage", t.Stage, "lane", row, "against", column)
		},
		Lane: func(stage, lane string, e assay.Ending) string {
			return "/runs/" + run + "/answers?" + answerQuery{Stage: stage, Lane: lane, Ending: string(e)}.Query()
		},
		Segment: func(no int64) string { return fmt.Sprintf("/runs/%s/segments/%d", run, no) },
	}
}

// draw makes the plots of a run's history.
func (s *Server) draw(spans []store.Span, run store.Run, data *runData) {
	if len(spans) == 0 {
		return
	}
	var all []report.Segment
	for _, g := range spans {
		all = append(all, report.Segment{
			No: g.No, Stage: g.Stage, Lane: g.Lane, Mode: string(g.Mode), State: string(g.State), Requests: g.Requests, Created: g.Created,
			Launched: g.Launched, Ended: g.Ended, Settled: g.Settled, Cost: g.Cost,
		})
	}
	until := run.Closed
	if until.IsZero() {
		until = s.options.Now()
	}
	data.Burn = figures.BurnUp(all, run.Budget, until)
	data.Timeline = figures.Timeline(all, until, linksOf(run.ID))
	if len(spans) == shownSpans {
		note := fmt.Sprintf("the newest %d segments", shownSpans)
		data.Burn.Notes, data.Timeline.Notes = append(slices.Clone(data.Burn.Notes), note), append(slices.Clone(data.Timeline.Notes), note)
	}
	data.Burn.ID, data.Timeline.ID = "burn", "timeline"
	withFiles(run.ID, "", data.Burn, data.Timeline)
}
