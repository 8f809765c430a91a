package reading

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// printRows prints rows with all that is known of them: as JSON, as blocks, or verdicts as a table.
func (f resultFlags) printRows(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	table, err := rows.Of(ctx, h.Results(), run)
	if err != nil {
		return err
	}
	if f.verdicts() {
		return f.printJudgements(ctx, w, table)
	}
	usual := shell.MaxTableRows
	if f.json {
		usual = 0
	}
	s := arrange(f, usual, answerOrder)
	lines := shell.Encoder(w)
	for row, err := range table.Of(ctx, s.walk(rows.Answers(ctx, h.Results(), run, f.pick))) {
		switch {
		case err != nil:
		case f.json:
			err = lines.Encode(row)
		default:
			err = f.printWide(ctx, w, table, row)
		}
		if err != nil {
			return err
		}
	}
	s.say(w)
	return nil
}

// printWide prints an answer as a block: the question, the answer, and its verdicts.
func (f resultFlags) printWide(ctx context.Context, w *shell.World, table *rows.Reader, r *rows.Answer) error {
	title := []string{r.Stage, "item " + r.Item, "lane " + r.AskedLane}
	if r.Judge != "" {
		title = append(title, "judges "+cmp.Or(r.Lane, r.First+" or "+r.Second))
	}
	title = append(title, placeOf(r.Turn, r.Branch, r.Draw), r.Ending, "key "+shell.Shortened(r.Key))
	out := []string{}
	asked, why, err := table.AskedOf(ctx, r)
	if err != nil {
		return err
	}
	for _, m := range asked {
		out = append(out, m.Role+":\n"+m.Text)
	}
	if why != "" {
		out = append(out, "asked:\n("+why+")")
	}
	out = append(out, "answer:\n"+replyText(r))
	for _, v := range r.Verdicts {
		out = append(out, fmt.Sprintf("%s, judge %s: %s", v.Stage, v.Judge,
			withReason(cmp.Or(v.Label, scoreText(v.Score), string(v.State)), v.Reason)))
	}
	return wideBlock(w.Stdout, title, out)
}

func placeOf(turn int64, branch string, draw int64) string {
	text := fmt.Sprintf("turn %d", turn)
	if branch != "" {
		text += ", branch " + branch
	}
	if draw > 1 {
		text += fmt.Sprintf(", draw %d", draw)
	}
	return text
}

// wideBlock prints parts of foreign texts under a title.
func wideBlock(out io.Writer, title, parts []string) error {
	return block(out, strings.Join(title, " · "), strings.Join(parts, "\n\n"))
}

func withReason(verdict, reason string) string {
	if reason == "" {
		return verdict
	}
	return verdict + "\nreason: " + reason
}

func scoreText(score *float64) string {
	if score == nil {
		return ""
	}
	return fmt.Sprint(*score)
}

// verdictWord returns the label of a verdict, else its score, else its state.
func verdictWord(v rows.Verdict) string { return cmp.Or(v.Label, scoreText(v.Score), string(v.State)) }

// printJudgements prints verdicts: as JSON, as blocks, or as a table.
func (f resultFlags) printJudgements(ctx context.Context, w *shell.World, table *rows.Reader) error {
	detail, usual := rows.Bare, shell.MaxTableRows
	if f.wide {
		detail = rows.Wide
	}
	if f.json {
		usual = 0
	}
	s := arrange(f, usual, judgementOrder)
	lines := shell.Encoder(w)
	t := term.Table{Head: []string{"KEY", "STAGE", "ITEM", "LANE", "TURN", "BRANCH", "DRAW", "JUDGE", "VERDICT", "WINNER", "REASON"},
		Right: map[int]bool{4: true, 6: true}, Spare: []string{"DRAW", "TURN", "BRANCH", "STAGE"}}
	for j, err := range s.walk(table.Judgements(ctx, f.pick, detail)) {
		switch {
		case err != nil:
		case f.json:
			err = lines.Encode(j)
		case f.wide:
			err = wideJudgement(w.Stdout, j)
		default:
			lane := j.Lane
			if j.First != "" {
				lane = j.First + " or " + j.Second
			}
			t.Add(shell.Shortened(j.Key), j.Stage, j.Item, lane, j.Turn, j.Branch, j.Draw, j.Judge, verdictWord(j.Verdict), j.Winner,
				assay.Clean(j.Reason, 100))
		}
		if err != nil {
			return err
		}
	}
	if s.n == 0 {
		if err := f.possible(ctx, table); err != nil {
			return err
		}
	}
	s.say(w)
	if f.json || f.wide || t.Len() == 0 {
		return nil
	}
	return t.Compact("BRANCH", "WINNER", "REASON").Write(w.Stdout)
}

// wideJudgement prints a verdict as a block: the question, the answer or both, and the judge's reason.
func wideJudgement(out io.Writer, j *rows.Judgement) error {
	title := []string{j.Stage, "item " + j.Item}
	if j.First == "" {
		title = append(title, "lane "+j.Lane)
	}
	title = append(title, placeOf(j.Turn, j.Branch, j.Draw), "judge "+j.Judge+": "+verdictWord(j.Verdict), "key "+shell.Shortened(j.Key))
	var parts []string
	for _, m := range j.Asked {
		parts = append(parts, m.Role+":\n"+m.Text)
	}
	if j.AskedWhy != "" {
		parts = append(parts, "asked:\n("+j.AskedWhy+")")
	}
	if j.First != "" {
		parts = append(parts, "first, "+j.First+":\n"+j.Text, "second, "+j.Second+":\n"+j.Opposite)
	} else {
		parts = append(parts, "answer of "+j.Lane+":\n"+j.Text)
	}
	verdict := "verdict: " + verdictWord(j.Verdict)
	if j.Winner != "" && j.Winner != j.Label {
		verdict += " (" + j.Winner + ")"
	}
	return wideBlock(out, title, append(parts, withReason(verdict, j.Reason)))
}
