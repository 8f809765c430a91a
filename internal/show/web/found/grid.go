package found

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/internal/find/results"
	"assay/internal/find/results/grid"
	"assay/internal/show/report"
	"assay/internal/show/web/memo"
	"assay/internal/show/web/site"
)

// matrixKey names a grid: a run's, of one stage.
type matrixKey struct {
	home  *site.Home
	run   int64
	stage string // empty: the one that a reader wants first
}

func computeMatrix(ctx context.Context, k matrixKey) (*grid.Matrix, error) {
	run, err := k.home.Ledger.Run(ctx, k.run)
	if err != nil {
		return nil, err
	}
	return grid.Of(ctx, k.home.Reader, run, k.stage)
}

// gridData is a page of the grid.
type gridData struct {
	Known   bool      // there is a grid
	Current bool      // it is of the ledger as it is
	At      time.Time // when it was made

	Grid   *report.Matrix
	Stage  string
	Stages []string
	Chips  []chip
	Words  string
	Rows   int
	Seen   int
	State  []statePart // what a form has to carry on
	First  string      // the address of the first page; empty: this is it
	Next   string      // the address of the next one
	Clear  string      // the address without words
	Signs  string      // the address of the grid with signs alone; empty: it is this one
	Texts  string      // the address of the grid with texts; empty: it is this one
	Search string      // the address of a search through all answers
	Marks  *site.Marks // where cells show texts: what people said about them; nil: the reader may look alone
}

// chip is a kind of rows to choose.
type chip struct {
	Says string
	N    int
	Link string
	On   bool
}

type statePart struct{ Name, Value string }

// gridQuery is the part of an address about the grid.
type gridQuery struct {
	base  string
	stage string
	kinds []string
	texts bool // cells show texts
	grid.Query
}

// showTexts is the value of show in an address that asks for texts.
const showTexts = "text"

// textRows is how many rows a page has whose cells show texts.
const textRows = 20

// readGridQuery reads what an address asks of the grid.
func readGridQuery(q *site.Request) (gridQuery, error) {
	g, err := gridQueryOf(q.Run.ID, q.URL.Query())
	if err != nil {
		return g, err
	}
	if g.Limit, err = q.Limit(); g.texts && q.FormValue("limit") == "" {
		g.Limit = textRows
	}
	return g, err
}

// gridQueryOf reads the state of a grid from the values of an address.
func gridQueryOf(run string, v url.Values) (gridQuery, error) {
	g := gridQuery{base: "/runs/" + run + "/grid", stage: v.Get("stage"), texts: v.Get("show") == showTexts, Query: grid.Query{
		Sort: v.Get("sort"), Down: v.Get("down") != "", Words: strings.TrimSpace(v.Get("q")), After: v.Get("after"),
	}}
	for _, name := range v["is"] {
		i := slices.IndexFunc(grid.Kinds(), func(k grid.KindName) bool { return k.Name == name })
		if i < 0 {
			return g, site.Bad("is: there is no %q", name)
		}
		if !slices.Contains(g.kinds, name) {
			g.kinds = append(g.kinds, name)
			g.Is |= grid.Kinds()[i].Kind
		}
	}
	if len(g.Words) > 500 {
		return g, site.Bad("q: at most 500 bytes")
	}
	return g, nil
}

// parts returns the state as parts of an address, from its first page on.
func (g gridQuery) parts() []statePart {
	var out []statePart
	for _, k := range g.kinds {
		out = append(out, statePart{"is", k})
	}
	for _, p := range []statePart{{"stage", g.stage}, {"sort", g.Sort}, {"q", g.Words}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	if g.Down {
		out = append(out, statePart{"down", "1"})
	}
	if g.texts {
		out = append(out, statePart{"show", showTexts})
	}
	return out
}

// state returns the state as the query of an address, from its first page on.
func (g gridQuery) state() url.Values {
	v := url.Values{}
	for _, p := range g.parts() {
		v.Add(p.Name, p.Value)
	}
	return v
}

// address returns where this state is found.
func (g gridQuery) address(after string) string {
	v := g.state()
	if after != "" {
		v.Set("after", after)
	}
	if len(v) == 0 {
		return g.base
	}
	return g.base + "?" + v.Encode()
}

// shown returns the address of the same rows with texts, or with signs alone.
func (g gridQuery) shown(texts bool) string {
	g.texts = texts
	return g.address("")
}

// sortedBy returns the address of the same rows sorted by a column: the worse end first, then the other way, then as
// before.
func (g gridQuery) sortedBy(column string) string {
	switch {
	case g.Sort != column:
		g.Sort, g.Down = column, false
	case !g.Down:
		g.Down = true
	default:
		g.Sort, g.Down = "", false
	}
	return g.address("")
}

// toggled returns the address with a kind chosen, or not any more.
func (g gridQuery) toggled(kind string) string {
	if slices.Contains(g.kinds, kind) {
		g.kinds = slices.DeleteFunc(slices.Clone(g.kinds), func(k string) bool { return k == kind })
	} else {
		g.kinds = append(slices.Clone(g.kinds), kind)
	}
	return g.address("")
}

// Grid shows items by lanes.
func (s *Pages) Grid(q *site.Request) (*site.View, error) {
	g, err := readGridQuery(q)
	if err != nil {
		return nil, err
	}
	f, err := s.matrixOf(q, q.Home, q.Run.No, g.stage)
	if err != nil {
		return nil, err
	}
	data := gridData{Known: f.Known, Current: f.Current, At: f.At, Stage: g.stage, Words: g.Words}
	v := &site.View{Template: "grid", Title: "Grid", Tab: "grid", Data: data}
	news := "/runs/" + q.Run.ID + "/news?grid=" + url.QueryEscape(g.stage)
	if !f.Known {
		v.Live = news
		return v, nil
	}
	page, err := grid.Search(q.Context(), q.Home.Reader, q.Run, f.Value, g.Query)
	if err != nil {
		return nil, asked(err)
	}
	if q.API() {
		v.Data = gridJSONOf(f.Value, page)
		return v, nil
	}
	data.fill(q, g, f.Value, page)
	ranked, err := s.fillCells(q, g, f.Value, page, data.Grid)
	if err != nil {
		return nil, err
	}
	if g.texts {
		if data.Marks, err = s.markCells(q, f.Value, page, data.Grid); err != nil {
			return nil, err
		}
	}
	if v.Data = data; !ranked {
		v.Live = news
	}
	return v, nil
}

// matrixOf waits for a grid: a page not for long, a program until it is there.
func (s *Pages) matrixOf(q *site.Request, h *site.Home, run int64, stage string) (memo.Found[*grid.Matrix], error) {
	version, err := h.Pages.Version(q.Context(), run)
	if err != nil {
		return memo.Found[*grid.Matrix]{}, err
	}
	patience, err := q.Patience()
	if err != nil {
		return memo.Found[*grid.Matrix]{}, err
	}
	f := s.matrices.Get(q.Context(), matrixKey{h, run, stage}, version, patience)
	switch {
	case f.Err != nil:
		return f, asked(f.Err)
	case !f.Known && q.API():
		return f, site.NotYet("the grid is still being made")
	}
	return f, nil
}

// asked makes a mistake in what was asked for a problem of the asker.
func asked(err error) error {
	if m, ok := errors.AsType[*results.Mistake](err); ok {
		return site.Bad("%s", m.What)
	}
	return err
}

// fill makes what a page shows.
func (d *gridData) fill(q *site.Request, g gridQuery, m *grid.Matrix, page grid.Page) {
	d.Stage, d.Stages, d.Rows, d.Seen = m.Stage, m.Stages, m.Rows, page.Seen
	from := g
	from.stage = m.Stage
	state := from.state().Encode()
	d.Grid = m.Show(page.Rows, func(item, lane string) string { return cellLink(q.Run.ID, item, m.Source, lane, state) })
	head := func(h *report.MatrixHead) {
		if h.Link = g.sortedBy(h.Name); g.Sort == h.Name {
			h.Sort = map[bool]string{false: "ascending", true: "descending"}[g.Down]
		}
	}
	head(&d.Grid.Item)
	for i := range d.Grid.Lanes {
		head(&d.Grid.Lanes[i])
	}
	for _, k := range grid.Kinds() {
		on := slices.Contains(g.kinds, k.Name)
		if m.Counts[k.Kind] > 0 || on {
			d.Chips = append(d.Chips, chip{Says: k.Says, N: m.Counts[k.Kind], Link: g.toggled(k.Name), On: on})
		}
	}
	for _, p := range g.parts() {
		if p.Name != "q" && p.Name != "stage" {
			d.State = append(d.State, p)
		}
	}
	if g.texts {
		d.Signs = g.shown(false)
	} else {
		d.Texts = g.shown(true)
	}
	if g.After != "" {
		d.First = g.address("")
	}
	if page.Next != "" {
		d.Next = g.address(page.Next)
	}
	if g.Words != "" {
		all := g
		all.Words = ""
		d.Clear = all.address("")
		d.Search = "/runs/" + q.Run.ID + "/search?" + url.Values{"stage": {m.Source}, "q": {g.Words}}.Encode()
	}
}

// cellLink returns the address of what is behind a cell: the conversation, its verdicts with their reasons, and the raw
// bytes. The state of the grid that leads there says which items are next to it.
func cellLink(run, item, stage, lane, state string) string {
	v := url.Values{"id": {item}, "stage": {stage}}
	for name, value := range map[string]string{"lane": lane, "grid": state} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return "/runs/" + run + "/item?" + v.Encode()
}
