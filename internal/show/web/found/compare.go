package found

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/grid"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/plot"
	"assay/internal/show/web/memo"
	"assay/internal/show/web/site"
)

// compareKey names two runs that are compared.
type compareKey struct {
	homes [2]*site.Home
	runs  [2]int64
}

func computeDiff(ctx context.Context, k compareKey) (*findings.Diff, error) {
	var readers [2]*results.Reader
	var runs [2]store.Run
	for i := range k.runs {
		var err error
		if runs[i], err = k.homes[i].Ledger.Run(ctx, k.runs[i]); err != nil {
			return nil, err
		}
		readers[i] = k.homes[i].Reader
	}
	return findings.Compare(ctx, readers, runs)
}

// compareData is two runs side by side: what was set otherwise, what came out, and item by item what became worse
// first.
type compareData struct {
	Runs    [2]site.RunRow
	Known   bool // all of it is there
	Current bool
	At      time.Time

	Settings []findings.Changed
	Items    []findings.SharedItems
	Tables   []*figures.Findings
	Beside   *plot.Grid

	Grid                  *report.Matrix
	NoGrid                string // why there is none
	Stage                 string
	Stages                []string
	Chips                 []chip
	Swap                  string // the address of the same, the other way round
	First, Next           string
	Shared, Worse, Better int
}

// runBefore returns the run of the same study before one; empty: there is none among the last few.
func runBefore(q *site.Request) (string, error) {
	runs, err := q.Home.Pages.RunsPage(q.Context(), q.Run.No, site.PageRows)
	for _, r := range runs {
		if r.Study == q.Run.Study {
			return r.ID, nil
		}
	}
	return "", err
}

// compareQuery is the part of an address about two runs.
type compareQuery struct {
	a, b, stage string
	only        grid.PairChange
}

func (c compareQuery) address(after string) string {
	v := url.Values{"a": {c.a}, "b": {c.b}}
	for name, value := range map[string]string{"stage": c.stage, "only": string(c.only), "after": after} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return "/compare?" + v.Encode()
}

// compared finds the two runs that a query names, and what they have in common.
func (s *Pages) compared(q *site.Request) (k compareKey, runs [2]store.Run, f memo.Found[*findings.Diff], err error) {
	if k.homes, runs, err = s.two(q); err != nil {
		return k, runs, f, err
	}
	version := ""
	for i := range runs {
		k.runs[i] = runs[i].No
		one, err := k.homes[i].Pages.Version(q.Context(), runs[i].No)
		if err != nil {
			return k, runs, f, err
		}
		version += one + "/"
	}
	if runs[0].ID == runs[1].ID {
		return k, runs, f, site.Bad("a and b are the same run")
	}
	patience, err := q.Patience()
	if err != nil {
		return k, runs, f, err
	}
	if f = s.diffs.Get(q.Context(), k, version, patience); f.Err != nil {
		err = site.Refused(http.StatusUnprocessableEntity, f.Err.Error())
	}
	return k, runs, f, err
}

// two returns the runs that an address names: a and b, or two that were ticked, the older one first.
func (s *Pages) two(q *site.Request) (homes [2]*site.Home, runs [2]store.Run, err error) {
	named := q.FormValue("a") + q.FormValue("b") // reads the form
	ticked := q.Form["run"]
	if len(ticked) == 2 {
		q.Form.Set("a", ticked[0])
		q.Form.Set("b", ticked[1])
	} else if len(ticked) > 0 || named == "" {
		return homes, runs, site.Bad("tick two runs, then Compare: %d of them %s ticked", len(ticked),
			assay.Verb(len(ticked), "was", "were"))
	}
	for i, name := range []string{"a", "b"} {
		if homes[i], runs[i], err = s.RunOf(q, name); err != nil {
			return homes, runs, err
		}
	}
	if len(ticked) == 2 && runs[1].Created.Before(runs[0].Created) {
		homes[0], homes[1], runs[0], runs[1] = homes[1], homes[0], runs[1], runs[0]
	}
	return homes, runs, nil
}

// Compare shows two runs side by side. A difference is the second run minus the first, as in `assay compare`.
func (s *Pages) Compare(q *site.Request) (*site.View, error) {
	k, runs, f, err := s.compared(q)
	if err != nil {
		return nil, err
	}
	data := compareData{}
	for i := range runs {
		if data.Runs[i], err = s.RowOf(q.Context(), k.homes[i], runs[i]); err != nil {
			return nil, err
		}
	}
	v := &site.View{Template: "compare", Title: "Two runs"}
	if q.API() {
		if !f.Known {
			return nil, site.NotYet("the runs are still being compared")
		}
		v.Data = f.Value.JSON()
		return v, nil
	}
	data.Known, data.Current, data.At = f.Known, f.Current, f.At
	if f.Known {
		data.fill(f.Value)
		data.withFiles(runs)
		if err := s.pairItems(q, k, runs, &data); err != nil {
			return nil, err
		}
	}
	if !data.Known {
		v.Live = "/news?made=1"
	}
	v.Data = data
	return v, nil
}

// fill makes the fragments of what was compared.
func (d *compareData) fill(diff *findings.Diff) {
	d.Settings, d.Items = diff.Settings, diff.Items
	for i := range diff.Paired {
		d.Tables = append(d.Tables, figures.New(&diff.Paired[i], figures.Options{ID: fmt.Sprintf("t%d", i+1)}))
	}
	if len(diff.Beside) == 0 {
		return
	}
	d.Beside = &plot.Grid{Caption: "Comparisons, side by side", Head: []plot.Column{{Text: "stage", Foreign: true}, {Text: "what"},
		{Text: "of", Foreign: true}, {Text: "run 1", Number: true}, {Text: "run 2", Number: true}},
		Notes: []string{"strengths and win rates of comparisons are not paired"}}
	for _, b := range diff.Beside {
		d.Beside.Rows = append(d.Beside.Rows, []plot.Cell{{Text: b.Stage, Foreign: true}, {Text: b.What}, {Text: b.Of, Foreign: true},
			valueCell(b.Was), valueCell(b.Now)})
	}
}

func (d *compareData) figures() []*plot.Figure {
	var all []*plot.Figure
	for _, t := range d.Tables {
		all = append(all, t.Figures...)
	}
	return all
}

// withFiles gives figures the addresses of their files.
func (d *compareData) withFiles(runs [2]store.Run) {
	for _, f := range d.figures() {
		f.Files, f.Query = "/compare/figures/"+url.PathEscape(f.ID), "?"+url.Values{"a": {runs[0].ID}, "b": {runs[1].ID}}.Encode()
	}
}

// comparedFigures returns those of the page of two runs.
func (s *Pages) comparedFigures(q *site.Request) ([]*plot.Figure, error) {
	_, _, f, err := s.compared(q)
	if err != nil {
		return nil, err
	}
	if !f.Known {
		return nil, site.NotYet("the runs are still being compared")
	}
	var data compareData
	data.fill(f.Value)
	return data.figures(), nil
}

func valueCell(f *analysis.Finding) plot.Cell {
	if !f.Value.OK {
		return plot.Cell{Text: "unknown", Soft: true, Tip: f.Value.Why}
	}
	return plot.Cell{Text: f.Shown().Show(f.Value.Value)}
}

// pairItems puts the items of both runs side by side, those that became worse first.
func (s *Pages) pairItems(q *site.Request, k compareKey, runs [2]store.Run, d *compareData) error {
	c := compareQuery{runs[0].ID, runs[1].ID, q.FormValue("stage"), grid.PairChange(q.FormValue("only"))}
	d.Swap = compareQuery{a: c.b, b: c.a, stage: c.stage}.address("")
	var both [2]*grid.Matrix
	for i := range both {
		stage := c.stage
		if i == 1 && stage == "" {
			stage = both[0].Stage
		}
		f, err := s.matrixOf(q, k.homes[i], k.runs[i], stage)
		if p, ok := errors.AsType[*site.Problem](err); ok && c.stage == "" { // runs without a study, or of studies that share no stage
			d.NoGrid = p.What
			return nil
		}
		if err != nil {
			return err
		}
		if !f.Known {
			d.Known = false
			return nil
		}
		both[i] = f.Value
	}
	pair, err := grid.PairOf(both[0], both[1])
	if err != nil {
		return err
	}
	limit, err := q.Limit()
	if err != nil {
		return err
	}
	after := q.FormValue("after")
	rows, next, err := pair.Page(grid.PairQuery{Only: c.only, After: after, Limit: limit})
	if err != nil {
		return asked(err)
	}
	d.Stage, d.Shared, d.Worse, d.Better = both[1].Stage, pair.Shared, pair.Worse, pair.Better
	for _, name := range both[0].Stages {
		if slices.Contains(both[1].Stages, name) {
			d.Stages = append(d.Stages, name)
		}
	}
	d.Grid = pair.Show(rows, func(run int, item, lane string) string {
		return cellLink(runs[run].ID, item, both[run].Source, lane, "")
	})
	for _, only := range []struct {
		name grid.PairChange
		says string
	}{{"", "all items of both"}, {grid.PairWorse, "worse somewhere"},
		{grid.PairBetter, "better somewhere"}, {grid.PairChanged, "changed"}} {
		to := c
		to.only = only.name
		d.Chips = append(d.Chips, chip{Says: only.says, Link: to.address(""), On: c.only == only.name})
	}
	if after != "" {
		d.First = c.address("")
	}
	if next != "" {
		d.Next = c.address(next)
	}
	return nil
}

// Between returns how many items became worse, and how many better.
func (d compareData) Between() string {
	return assay.Count(d.Worse, "item") + " worse in at least one lane, " + assay.Count(d.Better, "item") +
		" better in at least one and worse in none, of " + assay.Count(d.Shared, "item") + " in both"
}
