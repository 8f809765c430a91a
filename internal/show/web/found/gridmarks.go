package found

import (
	"assay/internal/assay"
	"assay/internal/find/results/grid"
	"assay/internal/find/results/labels"
	"assay/internal/show/report"
	"assay/internal/show/web/site"
)

// markCells adds to cells with one answer what the reader may say about it, and how many comments there are. It returns nothing for one
// who may look alone: comments are counted all the same.
func (s *Pages) markCells(q *site.Request, m *grid.Matrix, page grid.Page, into *report.Matrix) (*site.Marks, error) {
	ids := make([]string, len(page.Rows))
	row := map[string]int{}
	for i, r := range page.Rows {
		ids[i], row[r.Item] = r.Item, i
	}
	comments, err := q.Comments(ids)
	if err != nil {
		return nil, err
	}
	ready, err := s.Ready(q)
	if err != nil || !ready {
		return nil, err
	}
	marks, err := s.Marks(q, []string{m.Stage}, comments, func(input string) []assay.Item {
		items, readErr := q.Home.Ledger.ItemsByID(q.Context(), q.Run.No, input, ids)
		err = readErr
		out := make([]assay.Item, 0, len(items))
		for _, id := range ids {
			if it, ok := items[id]; ok {
				out = append(out, it)
			}
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	may := s.MayWrite(q)
	for key, cell := range onlyAnswers(marks) {
		i, ok := row[cell.Item]
		column := columnOf(into, cell.Lane)
		if !ok || column < 0 {
			continue
		}
		c := &into.Rows[i].Cells[column]
		c.Notes = len(marks.On[key].Comments)
		if may && c.Text != "" {
			for _, p := range cell.Choices {
				c.Picks = append(c.Picks, report.MatrixPick{Value: key + " " + p.Key + " " + cell.Stage, Text: p.Text, On: p.On})
			}
		}
		if len(c.Picks) > 0 || c.Notes > 0 {
			c.Key = key
		}
	}
	if !may {
		return nil, nil
	}
	return marks, nil
}

// onlyAnswers returns the answers that are alone in their cells, by their keys: what is said about a cell is about one answer.
func onlyAnswers(marks *site.Marks) map[string]labels.Pickable {
	type cell struct{ item, lane string }
	n := map[cell]int{}
	for _, m := range marks.On {
		for _, p := range m.Picks {
			n[cell{p.Item, p.Lane}]++
		}
	}
	out := map[string]labels.Pickable{}
	for key, m := range marks.On {
		for _, p := range m.Picks {
			if n[cell{p.Item, p.Lane}] == 1 {
				out[key] = p
			}
		}
	}
	return out
}

func columnOf(m *report.Matrix, lane string) int {
	for i, l := range m.Lanes {
		if l.Name == lane {
			return i
		}
	}
	return -1
}
