package findings

import (
	"context"
	"iter"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/study"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// stageRows makes the rows of one stage. It holds what is known of the stage's answers alone, and goes with it.
type stageRows struct {
	*walk
	stage      analysis.Stage
	declared   *study.Stage
	panel      *jury                        // nil: all verdicts stay apart
	lengths    map[assay.Key]int32          // of answers, where an analysis wants to know
	styles     map[assay.Key]analysis.Style // of the same answers, where an analysis controls for style
	itemStyles map[string]analysis.Style    // of items that are compared with each other
	sure       map[int64]*float64           // by the number of a verdict: how sure the judge is, on what people have labelled
}

func newStageRows(ctx context.Context, w *walk, s analysis.Stage) (*stageRows, error) {
	st, _ := w.study.Stage(s.Name)
	out := &stageRows{walk: w, stage: s, declared: st, panel: panelOf(w.study, st)}
	var err error
	if s.Lengths && !s.Items {
		if out.lengths, err = readLengths(ctx, w.question, st); err != nil {
			return nil, err
		}
	}
	switch {
	case !w.styled(s.Name):
	case s.Items:
		out.itemStyles, err = readItemStyles(ctx, w.question, st)
	default:
		out.styles, err = readStyles(ctx, w.question, st)
	}
	return out, err
}

// readLengths returns how long the answers are that a stage is about.
func readLengths(ctx context.Context, q *question, st *study.Stage) (map[assay.Key]int32, error) {
	out := map[assay.Key]int32{}
	for _, from := range sources(q.study, st) {
		for l, err := range q.Ledger.Lengths(ctx, q.run.No, from.Name) {
			if err != nil {
				return nil, err
			}
			out[l.Key] = int32(min(l.Chars, 1<<30))
		}
	}
	return out, nil
}

// readStyles returns what the answers look like that a stage compares. Texts pass by one after the other: five counts of each stay.
func readStyles(ctx context.Context, q *question, st *study.Stage) (map[assay.Key]analysis.Style, error) {
	out := map[assay.Key]analysis.Style{}
	for _, from := range sources(q.study, st) {
		for a, err := range q.Ledger.Answers(ctx, q.run.No, from.Name, "") {
			if err != nil {
				return nil, err
			}
			if !a.Ended || !a.Outcome.Ending.Stands() {
				continue
			}
			if a.Over { // too long for a row: it is read from the bytes that came
				if a, err = q.Scripts.Whole(ctx, q.run, a); err != nil {
					return nil, err
				}
			}
			out[a.Key] = analysis.StyleOf(a.Outcome.Text)
		}
	}
	return out, nil
}

// readItemStyles returns what items look like that are compared with each other.
func readItemStyles(ctx context.Context, q *question, st *study.Stage) (map[string]analysis.Style, error) {
	out := map[string]analysis.Style{}
	for it, err := range q.Ledger.Items(ctx, q.run.No, st.Compare) {
		if err != nil {
			return nil, err
		}
		if text, err := plan.ComparedText(it); err == nil { // of one without a text nothing is known
			out[strings.Clone(it.ID)] = analysis.StyleOf(text)
		}
	}
	return out, nil
}

// coordinated walks over coordinates, each with what else is known of its row.
type coordinated func(yield func(assay.Coordinates, func(*analysis.Row), error) bool)

// of makes one row after the other out of coordinates.
func (s *stageRows) of(all coordinated) iter.Seq2[*analysis.Row, error] {
	items, branches := s.items[s.stage.Name], s.branches[s.stage.Name]
	return func(yield func(*analysis.Row, error) bool) {
		var row analysis.Row
		all(func(at assay.Coordinates, fill func(*analysis.Row), err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			row = rowOf(script.ReadingOf(at), items[at.Item])
			row.Baseline = s.baseline
			if row.Branches = branches[at.Branch]; at.Lane == "" && at.Against != "" {
				row.Fields = s.sharedBy(items[at.Item])
			}
			s.origins.fill(&row)
			fill(&row)
			return yield(&row, nil) && s.err == nil
		})
	}
}

func rowOf(r script.Reading, it *analysedItem) analysis.Row {
	row := analysis.Row{
		Stage: r.Stage, Source: r.Source, Judge: r.Judge, Lane: r.Lane, Item: r.Item, Template: r.Template, Prompt: r.Prompt,
		Trait: r.Trait, Branch: r.Branch, Turn: r.Turn, Draw: r.Draw, Vote: r.Vote,
	}
	if r.Second != "" {
		row.Lane, row.Other = r.First, r.Second
	}
	if r.Items { // the item is who competes, not what both are about
		row.Item, row.Branch, row.Cluster = "", "", pairs.Unordered(pairs.Of(r.Coordinates))
		return row
	}
	if it != nil {
		row.Cluster, row.Expect, row.Fields = it.cluster, it.expect, it.texts
	}
	return row
}

// sharedBy returns what an item has in common with those it is compared with: the field within which the stage compares.
func (s *stageRows) sharedBy(it *analysedItem) map[string]string {
	if it == nil || s.stage.Within == "" {
		return nil
	}
	group := [2]string{s.stage.Within, it.texts[s.stage.Within]}
	if s.shared[group] == nil {
		s.shared[group] = map[string]string{group[0]: group[1]}
	}
	return s.shared[group]
}

// verdict writes a verdict into its row.
func (s *stageRows) verdict(r *analysis.Row, v *store.Verdict) {
	r.State, r.Label, r.Score, r.Confidence = v.State, v.Label, v.Score, s.sure[v.No]
	if v.State == assay.VerdictValid && v.Segment != 0 {
		s.valid[judgeOf{r.Stage, r.Judge}]++
	}
	r.Again, r.Fallback = v.Again > 0, v.By != ""
	if len(s.lengths) > 0 {
		r.Length, r.OtherLength = int(s.lengths[v.Subject]), int(s.lengths[v.Against])
	}
	if s.itemStyles != nil {
		r.Style, r.OtherStyle = s.itemStyles[r.Lane], s.itemStyles[r.Other]
	} else if s.styles != nil {
		r.Style, r.OtherStyle = s.styles[v.Subject], s.styles[v.Against]
	}
	if len(s.endings) > 0 {
		r.Ending = s.endings[v.Subject]
		if r.Ending == "" {
			r.Ending = s.endings[v.Against]
		}
	}
}
