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
	Search string      // the address of a search through all answers
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
	grid.Query
}

// readGridQuery reads what an address asks of the grid.
func readGridQuery(q *site.Request) (gridQuery, error) {
	g := gridQuery{base: "/runs/" + q.Run.ID + "/grid", stage: q.FormValue("stage"), Query: grid.Query{
		Sort: q.FormValue("sort"), Down: q.FormValue("down") != "", Words: strings.TrimSpace(q.FormValue("q")), After: q.FormValue("after"),
	}}
	for _, name := range q.Form["is"] {
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
	var err error
	g.Limit, err = q.Limit()
	return g, err
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
	return out
}

// address returns where this state is found.
func (g gridQuery) address(after string) string {
	v := url.Values{}
	for _, p := range g.parts() {
		v.Add(p.Name, p.Value)
	}
	if after != "" {
		v.Set("after", after)
	}
	if len(v) == 0 {
		return g.base
	}
	return g.base + "?" + v.Encode()
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
	if !f.Known {
		v.Live = "/runs/" + q.Run.ID + "/news?grid=" + url.QueryEscape(g.stage)
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
	v.Data = data
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
	d.Grid = m.Show(page.Rows, func(item, lane string) string { return cellLink(q.Run.ID, item, m.Source, lane) })
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
// bytes.
func cellLink(run, item, stage, lane string) string {
	v := url.Values{"id": {item}, "stage": {stage}}
	if lane != "" {
		v.Set("lane", lane)
	}
	return "/runs/" + run + "/item?" + v.Encode()
}

// gridJSON is a page of the grid for programs.
type gridJSON struct {
	Stage  string         `json:"stage"`
	Source string         `json:"source"`
	Stages []string       `json:"stages"`
	Lanes  []string       `json:"lanes"`
	Rows   int            `json:"items"`
	Counts map[string]int `json:"counts"`
	Marks  []string       `json:"flip_places"`
	Grid   []itemRowJSON  `json:"grid"`
	Next   string         `json:"next,omitempty"`
	Seen   int            `json:"searched,omitempty"`
}

type itemRowJSON struct {
	Item  string     `json:"item"`
	Is    []string   `json:"is"`
	Cells []cellJSON `json:"cells"`
}

type cellJSON struct {
	Lane     string   `json:"lane"`
	Value    *float64 `json:"value"` // from 0, the worse end, to 1; null: there is none
	Label    string   `json:"label,omitempty"`
	Verdicts int      `json:"verdicts"`
	Split    bool     `json:"split,omitempty"`
	Ending   string   `json:"ending,omitempty"`
	Flips    []*bool  `json:"flips,omitempty"` // taken back, at each place; null: not known
}

func gridJSONOf(m *grid.Matrix, page grid.Page) gridJSON {
	out := gridJSON{Stage: m.Stage, Source: m.Source, Stages: m.Stages, Lanes: m.Lanes, Rows: m.Rows, Counts: map[string]int{},
		Marks: append([]string{}, m.Marks()...), Grid: []itemRowJSON{}, Next: page.Next, Seen: page.Seen}
	for _, k := range grid.Kinds() {
		out.Counts[k.Name] = m.Counts[k.Kind]
	}
	for _, row := range page.Rows {
		r := itemRowJSON{Item: row.Item, Is: []string{}}
		for _, k := range grid.Kinds() {
			if row.Is&k.Kind != 0 {
				r.Is = append(r.Is, k.Name)
			}
		}
		for i, c := range row.Cells {
			cell := cellJSON{Lane: m.Lanes[i], Value: c.Value, Label: c.Label, Verdicts: c.N, Split: c.Split, Ending: string(c.Ending)}
			for _, f := range c.Flips {
				taken := f == grid.TakenBack
				if f == grid.NotAsked {
					cell.Flips = append(cell.Flips, nil)
				} else {
					cell.Flips = append(cell.Flips, &taken)
				}
			}
			r.Cells = append(r.Cells, cell)
		}
		out.Grid = append(out.Grid, r)
	}
	return out
}
