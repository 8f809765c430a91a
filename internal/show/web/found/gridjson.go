package found

import "assay/internal/find/results/grid"

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
