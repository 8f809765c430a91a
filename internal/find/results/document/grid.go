package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/grid"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/words"
)

// What a report shows of a grid: it is a file to mail, not a place to search.
const (
	maxGridItems = 200
	maxGridCells = 600 // with many lanes there are fewer items
	paperCells   = 60  // whose items are printed
	mostAnswers  = 3   // of a cell
	mostVerdicts = 3   // on an answer
	allAnswers   = 240 // about as many in all: each cell shows one at least
	allSaid      = 480 // … with the verdicts: each answer shows one at least
	saidBytes    = 32_000
	mostBytes    = 600 // of one text; fewer where there are many
	leastBytes   = 70
)

// itemByItem adds the grid of a report and what is behind its cells. A run without a stage that fits a grid has none.
func itemByItem(ctx context.Context, r *results.Reader, run store.Run, d *report.Document) error {
	m, err := grid.Of(ctx, r, run, "")
	if _, none := errors.AsType[*results.Mistake](err); none {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the grid of the report: %w", err)
	}
	if m.Rows == 0 || len(m.Lanes) == 0 {
		return nil
	}
	page, err := m.Page(grid.Query{Limit: max(1, min(maxGridItems, maxGridCells/len(m.Lanes)))})
	if err != nil {
		return err
	}
	number := map[string]int{}
	for i, row := range page.Rows {
		number[row.Item] = i + 1
	}
	anchor := func(item, lane string) string {
		if lane == "" {
			return fmt.Sprintf("i%d", number[item])
		}
		return fmt.Sprintf("i%d-%d", number[item], m.Column(lane)+1)
	}
	d.Grid = m.Show(page.Rows, func(item, lane string) string { return "#" + anchor(item, lane) })
	if left := m.Rows - len(page.Rows); left > 0 {
		d.Grid.Notes = append(d.Grid.Notes,
			fmt.Sprintf("The first %s in the order of the input; %s are not shown. assay view has them all, under Grid; assay show "+
				"%s:ITEM lists what was asked about one.", assay.Count(len(page.Rows), "item"), assay.Thousands(left), run.ID))
	}
	from, err := rows.OfPage(ctx, r, run)
	if err != nil {
		return err
	}
	each := max(1, min(mostAnswers, allAnswers/(len(page.Rows)*len(m.Lanes))))
	for i, row := range page.Rows {
		item, err := reportItem(ctx, from, m, row.Item, each)
		if err != nil {
			return fmt.Errorf("read what was said about item %s: %w", row.Item, err)
		}
		item.ID = anchor(row.Item, "")
		for k := range item.Lanes {
			item.Lanes[k].ID, item.Lanes[k].Cell = anchor(row.Item, m.Lanes[k]), d.Grid.Rows[i].Cells[k]
		}
		item.Screen = i > 0 && (i+1)*len(m.Lanes) > paperCells
		d.Items = append(d.Items, item)
	}
	rankGrid(d, m.Stage)
	fewer(d.Items)
	shorten(d.Items)
	return nil
}

// rankGrid puts the lanes of the grid, and of its items, in the order of their ranks.
func rankGrid(d *report.Document, stage string) {
	d.Grid.Rank(words.Heads(d, stage))
	place := map[string]int{}
	for i, l := range d.Grid.Lanes {
		place[l.Name] = i
	}
	for i := range d.Items {
		slices.SortFunc(d.Items[i].Lanes, func(a, b report.ItemLane) int { return place[a.Name] - place[b.Name] })
	}
}

// reportItem gathers what was asked about an item, answered and judged: a few answers of each lane.
func reportItem(ctx context.Context, t *rows.Reader, m *grid.Matrix, id string, each int) (report.Item, error) {
	out := report.Item{Name: id}
	byLane := map[string][]store.Answer{}
	for _, stage := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(m.Answers), m.Later...)))) {
		all, err := t.Pages.AnswersPage(ctx, t.Run.No, store.AnswerFilter{Stage: stage, Item: id}, store.Mark{}, maxAnswersOn)
		if err != nil {
			return out, err
		}
		for _, a := range all {
			byLane[a.Lane] = append(byLane[a.Lane], a)
		}
	}
	for _, lane := range m.Lanes {
		l := report.ItemLane{Name: lane}
		entries, err := t.Entries(ctx, byLane[lane])
		if err != nil {
			return out, err
		}
		shown := worthSeeing(m, entries, each)
		l.More = len(entries) - len(shown)
		for _, e := range shown {
			l.Answers = append(l.Answers, reportAnswer(m, e))
		}
		if out.Question == "" && len(entries) > 0 {
			if out.Question, err = questionOf(ctx, t, m, entries); err != nil {
				return out, err
			}
		}
		out.Lanes = append(out.Lanes, l)
	}
	return out, nil
}

// maxAnswersOn is how many answers on an item of one stage are looked at.
const maxAnswersOn = 400

// worthSeeing returns the answers that the cell is about, then those that were taken back, in the order of the
// conversation.
func worthSeeing(m *grid.Matrix, entries []rows.Entry, n int) []rows.Entry {
	rank := func(e rows.Entry) int {
		out := 3
		if grid.IsControl(e.Answer.At) {
			out = 4
		}
		for i := range e.Verdicts {
			v := &e.Verdicts[i]
			switch {
			case v.At.Stage == m.Stage && !slices.Contains(m.Flips, v.At.Stage):
				return 0
			case m.TakenBack(v):
				out = 2
			}
		}
		if e.Answer.At.Turn == 1 {
			return 1
		}
		return out
	}
	order := func(a, b rows.Entry) int {
		x, y := a.Answer.At, b.Answer.At
		return cmp.Or(cmp.Compare(x.Template, y.Template), cmp.Compare(x.Draw, y.Draw), cmp.Compare(x.Turn, y.Turn),
			cmp.Compare(x.Branch, y.Branch), cmp.Compare(x.Stage, y.Stage))
	}
	sort.SliceStable(entries, func(i, j int) bool { return order(entries[i], entries[j]) < 0 })
	sort.SliceStable(entries, func(i, j int) bool { return rank(entries[i]) < rank(entries[j]) })
	kept := slices.Clone(entries[:min(n, len(entries))])
	sort.SliceStable(kept, func(i, j int) bool { return order(kept[i], kept[j]) < 0 })
	return kept
}

func reportAnswer(m *grid.Matrix, e rows.Entry) report.ItemAnswer {
	a := e.Answer
	out := report.ItemAnswer{Place: placeOf(a.At), Text: plot.CleanText(a.Outcome.Words(), mostBytes), Calls: a.Outcome.Calls}
	if ending := a.Outcome.Ending; ending != assay.Answered {
		out.Ending = cmp.Or(string(ending), "in flight")
	}
	if a.Over {
		out.Text = fmt.Sprintf("(too long to show: %d bytes as they came)", a.Length)
	}
	for i := range e.Verdicts {
		v := &e.Verdicts[i]
		if v.Stale || v.At.Stage != m.Stage && !slices.Contains(m.Flips, v.At.Stage) {
			continue
		}
		out.Verdicts = append(out.Verdicts, report.ItemVerdict{Stage: v.At.Stage, Verdict: report.Verdict{
			Judge: v.At.Judge, State: string(v.State), Label: outcomeFor(v, a.Key), Score: v.Score,
			Reason: plot.CleanText(v.Reason, mostBytes),
		}})
	}
	return out
}

// outcomeFor returns the outcome of a verdict for one answer: of a pair, whether it won.
func outcomeFor(v *store.Verdict, key assay.Key) string {
	if v.Against == (assay.Key{}) || v.State != assay.VerdictValid {
		return v.Label
	}
	other, won := v.At.Against, assay.LabelA
	if v.Subject != key {
		other, won = v.At.Lane, assay.LabelB
	}
	switch v.Label {
	case won:
		return "won against " + other
	case assay.LabelTie:
		return "tie with " + other
	case assay.LabelA, assay.LabelB:
		return "lost against " + other
	}
	return v.Label
}

// placeOf returns which answer it is, besides item and lane.
func placeOf(at assay.Coordinates) string {
	parts := []string{fmt.Sprintf("turn %d", at.Turn)}
	for _, p := range []string{at.Branch, at.Template} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if at.Draw > 1 {
		parts = append(parts, fmt.Sprintf("draw %d", at.Draw))
	}
	return strings.Join(parts, " · ")
}

// questionOf returns what was asked first. What cannot be made again is left out: the text of the item takes its place.
func questionOf(ctx context.Context, t *rows.Reader, m *grid.Matrix, entries []rows.Entry) (string, error) {
	first := slices.MinFunc(entries, func(a, b rows.Entry) int { return cmp.Compare(a.Answer.At.Turn, b.Answer.At.Turn) })
	turns, err := rows.Question(ctx, t.Reader, t.Run, first.Answer.Mode, first.Answer.At)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil && len(turns) > 0 {
		return plot.CleanText(turns[len(turns)-1].Text, mostBytes), nil
	}
	named, err := t.Ledger.Named(ctx, t.Run.No, first.Answer.At.Item)
	if err != nil {
		return "", err
	}
	text, _ := named[m.Input].Fields["text"].(string)
	return plot.CleanText(text, mostBytes), nil
}

// fewer leaves verdicts out where there are many.
func fewer(items []report.Item) {
	answers := 0
	for range answersOf(items) {
		answers++
	}
	for a := range answersOf(items) {
		n := max(1, min(mostVerdicts, allSaid/answers-1))
		if a.More = len(a.Verdicts) - n; a.More > 0 {
			a.Verdicts = a.Verdicts[:n]
		} else {
			a.More = 0
		}
	}
}

// answersOf walks over all answers.
func answersOf(items []report.Item) iter.Seq[*report.ItemAnswer] {
	return func(yield func(*report.ItemAnswer) bool) {
		for i := range items {
			for k := range items[i].Lanes {
				for n := range items[i].Lanes[k].Answers {
					if !yield(&items[i].Lanes[k].Answers[n]) {
						return
					}
				}
			}
		}
	}
}

// shorten cuts texts so that all of them together stay small.
func shorten(items []report.Item) {
	var all []*string
	for i := range items {
		all = append(all, &items[i].Question)
	}
	for a := range answersOf(items) {
		all = append(all, &a.Text)
		for v := range a.Verdicts {
			all = append(all, &a.Verdicts[v].Reason)
		}
	}
	for _, text := range all {
		*text = plot.CleanText(*text, max(leastBytes, min(mostBytes, saidBytes/len(all))))
	}
}
