package found

import (
	"net/url"

	"assay/internal/find/results/grid"
	"assay/internal/show/report/words"
	"assay/internal/show/web/site"
)

// Beside returns the items before and after one, in the rows and the order of the grid that a reader came from. It is empty while the grid
// is being made, and where the grid has no such item.
func (s *Pages) Beside(q *site.Request, item string) (site.Beside, error) {
	state, err := url.ParseQuery(q.FormValue("grid"))
	if err != nil {
		return site.Beside{}, site.Bad("grid: %s", err)
	}
	g, err := gridQueryOf(q.Run.ID, state)
	if err != nil {
		return site.Beside{}, err
	}
	f, err := s.matrixOf(q, q.Home, q.Run.No, g.stage)
	if err != nil && q.FormValue("grid") == "" { // the run has no grid, and nobody came from one
		return site.Beside{}, nil
	}
	if err != nil || !f.Known {
		return site.Beside{}, err
	}
	here, err := f.Value.Beside(g.Query, item)
	if err != nil || here.Mark == "" {
		return site.Beside{}, asked(err)
	}
	out := site.Beside{Grid: g.address(""), Lanes: s.ranked(q, f.Value.Stage)}
	if g.Words == "" {
		out.At, out.Of = here.At, here.Of
	}
	g.After, g.Limit = here.Mark, 1
	for _, to := range []struct {
		back bool
		link *string
	}{{false, &out.Next}, {true, &out.Prev}} {
		g.Back = to.back
		if *to.link, err = besideLink(q, g, f.Value); err != nil {
			return out, err
		}
	}
	return out, nil
}

// ranked returns the lanes in the order of the grid's columns; nil while that is not known.
func (s *Pages) ranked(q *site.Request, stage string) (lanes []string) {
	f, err := s.findingsOf(q, "")
	if err != nil || !f.Known { // what cannot be computed is told by other pages
		return nil
	}
	for _, h := range words.Heads(f.Value.document, stage) {
		lanes = append(lanes, h.Name)
	}
	return lanes
}

// besideLink returns the address of the nearest item. A search that found none among the items that it looked at goes on in the grid.
func besideLink(q *site.Request, g gridQuery, m *grid.Matrix) (string, error) {
	page, err := grid.Search(q.Context(), q.Home.Reader, q.Run, m, g.Query)
	switch {
	case err != nil:
		return "", asked(err)
	case len(page.Rows) > 0:
		return cellLink(q.Run.ID, page.Rows[0].Item, q.FormValue("stage"), q.FormValue("lane"), q.FormValue("grid")), nil
	case page.Next != "" && !g.Back:
		return g.address(page.Next), nil
	}
	return "", nil
}
