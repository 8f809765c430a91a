package found

import (
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/grid"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
	"assay/internal/show/web/site"
)

// fillCells adds what a page of the grid shows beside signs: ranks and numbers of lanes, the first words of questions, and texts of
// answers. It returns whether the lanes are ranked; while that is being computed, they come in the order of the study.
func (s *Pages) fillCells(q *site.Request, g gridQuery, m *grid.Matrix, page grid.Page, into *report.Matrix) (ranked bool, err error) {
	ids := make([]string, len(page.Rows))
	for i, row := range page.Rows {
		ids[i] = row.Item
	}
	items, err := q.Home.Ledger.ItemsByID(q.Context(), q.Run.No, m.Input, ids)
	if err != nil {
		return false, err
	}
	for i, id := range ids {
		into.Rows[i].Says = firstWords(items[id])
	}
	if g.texts {
		if err := addTexts(q, m, ids, into); err != nil {
			return false, err
		}
	}
	f, err := s.findingsOf(q, "")
	if err == nil && f.Known {
		into.Rank(words.Heads(f.Value.document, m.Stage))
	}
	return f.Known || err != nil, nil // what cannot be computed is told by other pages
}

// saysLetters is how many letters of a question a row shows.
const saysLetters = 80

// firstWords returns the beginning of an item's question: its text, else its longest field that is not what is expected.
func firstWords(it assay.Item) string {
	text, _ := it.Fields["text"].(string)
	if text == "" {
		for _, v := range it.Fields {
			if s, ok := v.(string); ok && s != it.Expect && (len(s) > len(text) || len(s) == len(text) && s < text) {
				text = s
			}
		}
	}
	if len(text) > 4*saysLetters {
		text = text[:4*saysLetters]
	}
	if text = assay.Clean(strings.Join(strings.Fields(text), " "), saysLetters); text == assay.Clean(it.ID, saysLetters) {
		return ""
	}
	return text
}

// textLetters is how many letters of an answer a cell has: more than three lines show.
const textLetters = 240

// addTexts adds the beginnings of answers to the cells.
func addTexts(q *site.Request, m *grid.Matrix, ids []string, into *report.Matrix) error {
	into.Texts = true
	row, column := map[string]int{}, map[string]int{}
	for i, id := range ids {
		row[id] = i
	}
	for i, l := range into.Lanes {
		column[l.Name] = i
	}
	for _, stage := range m.Answers {
		all, err := q.Home.Pages.FirstAnswers(q.Context(), q.Run.No, stage, ids, 2*textLetters)
		if err != nil {
			return err
		}
		for _, a := range all {
			if k, ok := column[a.Lane]; ok && into.Rows[row[a.Item]].Cells[k].Text == "" {
				into.Rows[row[a.Item]].Cells[k].Text = assay.Clean(strings.Join(strings.Fields(a.Text), " "), textLetters)
			}
		}
	}
	return nil
}
