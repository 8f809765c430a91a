package reading

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/document"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/words"
	"assay/internal/study"
)

// printSummary prints what a run found, in the fewest words. Its leaderboard is left to the caller.
func printSummary(w *shell.World, s *words.Summary, mark string) {
	say := func(text string) { fmt.Fprintln(w.Stdout, term.Wrapped(assay.Clean(text, 2000), w.OutWidth(), "")) }
	say(mark + s.Headline.String())
	if line := s.BasisLine(); line != "" {
		say(line)
	}
	for _, f := range s.Further {
		say(f.String())
	}
}

// printCaveats prints what to do about the weak points of a summary.
func printCaveats(w *shell.World, s *words.Summary) {
	say := func(text string) {
		fmt.Fprintln(w.Stdout, term.Wrapped("- "+assay.Clean(text, 2000), w.OutWidth(), "  "))
	}
	fmt.Fprintln(w.Stdout)
	for _, c := range s.Caveats {
		say(c.Title + " " + c.Text)
		if c.Command != "" {
			fmt.Fprintln(w.Stdout, "    "+assay.Clean(c.Command, 2000))
		}
		for _, p := range c.Points {
			fmt.Fprintln(w.Stdout, term.Wrapped("    "+assay.Clean(p, 500), w.OutWidth(), "      "))
		}
	}
	say(stateOf(s))
}

// printWeak names the weak points of a summary in a line: whoever asks for one table knows them, or finds them where the line tells.
func printWeak(w *shell.World, s *words.Summary, run string) {
	var titles []string
	for _, c := range s.Caveats {
		titles = append(titles, strings.TrimSuffix(c.Title, "."))
	}
	line := stateOf(s)
	if len(titles) > 0 {
		line += " Weak points (assay analyse " + run + " explains them): " + strings.Join(titles, "; ") + "."
	}
	fmt.Fprintln(w.Stdout)
	fmt.Fprintln(w.Stdout, term.Wrapped("- "+assay.Clean(line, 2000), w.OutWidth(), "  "))
}

func stateOf(s *words.Summary) string {
	if !s.Complete {
		return "Incomplete. " + s.Coverage
	}
	return "Complete. " + s.Coverage
}

// printBoard prints the leaderboard of a summary.
func printBoard(w *shell.World, b *words.Board) error {
	if b == nil || len(b.Rows) == 0 {
		return nil
	}
	t := term.Table{Right: map[int]bool{}}
	add := func(head string, right bool) {
		t.Right[len(t.Head)] = right
		t.Head = append(t.Head, strings.ToUpper(assay.Clean(head, 60)))
	}
	if b.Tiers {
		if b.Brackets > 0 {
			add("", false)
		}
		add("rank", false)
	}
	add(b.Field, false)
	drawn := slices.ContainsFunc(b.Rows, func(r words.BoardRow) bool { return r.Cells[0].Whisker })
	var means []string
	for i, c := range b.Columns {
		if i == 0 && drawn {
			add("95% interval", false)
			t.Least = map[int]int{len(t.Head) - 1: boardBar}
		}
		add(c.Label, true)
		if c.Corrected {
			add(words.JudgeAlone, true)
		}
		if c.Label != c.Head {
			means = append(means, strings.ToUpper(assay.Clean(c.Label, 60))+": "+assay.Clean(c.Head, 60))
		}
		if i == 0 && b.Costs { // beside what is ranked, so that a narrow terminal has both
			add("$ per 1,000", true)
		}
	}
	if b.Models {
		add("model", false)
	}
	for _, r := range b.Rows {
		var row []any
		if b.Tiers {
			if b.Brackets > 0 {
				row = append(row, r.Bracket())
			}
			row = append(row, r.Rank)
		}
		row = append(row, r.Name)
		for i, c := range r.Cells {
			if i == 0 && drawn {
				row = append(row, boardLine(c))
			}
			row = append(row, c.Text)
			if b.Columns[i].Corrected {
				row = append(row, cmp.Or(c.Judge, plot.NoneText))
			}
			if i == 0 && b.Costs {
				row = append(row, r.Cost)
			}
		}
		if b.Models {
			row = append(row, r.Model)
		}
		t.Add(row...)
	}
	fmt.Fprintln(w.Stdout)
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	note := b.Note
	if len(means) > 0 {
		note = strings.TrimSpace(strings.Join(means, "; ") + ". " + note)
	}
	fmt.Fprintln(w.Stdout, term.Wrapped(note, w.OutWidth(), ""))
	return nil
}

// boardBar is how wide the line of a value and its interval is.
const boardBar = 24

// boardLine draws a value and its interval in letters of a terminal.
func boardLine(c words.BoardCell) string {
	if !c.Drawn {
		return ""
	}
	at := func(x float64) int { return max(0, min(boardBar-1, int(x*(boardBar-1)/100+0.5))) }
	line := []rune(strings.Repeat(" ", boardBar))
	for i := at(c.From); i <= at(c.From+c.Wide); i++ {
		line[i] = '━'
	}
	line[at(c.At)] = '●'
	return string(line)
}

// printSides prints lanes side by side, after an empty line.
func printSides(w *shell.World, g *plot.Grid, mark string) error {
	if g == nil {
		return nil
	}
	t := term.Table{Right: map[int]bool{}}
	for i, h := range g.Head {
		t.Head = append(t.Head, strings.ToUpper(h.Text))
		t.Right[i] = h.Number
	}
	for _, row := range g.Rows {
		cells := make([]any, len(row))
		for i, c := range row {
			cells[i] = c.Text
		}
		t.Add(cells...)
	}
	fmt.Fprintf(w.Stdout, "\n%s%s\n", mark, g.Caption)
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	for _, note := range g.Notes {
		fmt.Fprintln(w.Stdout, term.Wrapped(note, w.OutWidth(), ""))
	}
	return nil
}

// End holds what is printed at the end of a run besides what was found.
type End struct {
	Truth bool // of a rehearsal: a table of what is true
}

// PrintEnd ends a run: what it found, of a rehearsal how far that is true, and what to type next.
func PrintEnd(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o End) error {
	st, err := h.Planner.Study(ctx, run)
	if err != nil {
		return err
	}
	if !judges(st) {
		printNext(w, h, run) // there is nothing to say about answers that no stage judges
		return nil
	}
	s, err := answerOf(ctx, w, h, run)
	if err == nil {
		err = printAnswer(w, h, run, s)
	}
	if err != nil {
		return err
	}
	if h.Rehearsal {
		if err := printTruth(ctx, w, h, run, o); err != nil {
			return err
		}
	}
	printNext(w, h, run)
	return nil
}

// KeepEnd computes what a run found for lists of runs, and prints nothing.
func KeepEnd(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	st, err := h.Planner.Study(ctx, run)
	if err != nil || !judges(st) {
		return err
	}
	_, err = answerOf(ctx, w, h, run)
	return err
}

// judges reports whether a study has verdicts.
func judges(st *study.Study) bool {
	return slices.ContainsFunc(st.Stages, func(s study.Stage) bool { v := s.Verb(); return v == study.VerbJudge || v == study.VerbCompare })
}

// OutlineOf returns what a run found, with commands that can be typed here.
func OutlineOf(ctx context.Context, w *shell.World, h *shell.Home, found *findings.Findings) (*report.Document, error) {
	doc, err := document.Outline(ctx, h.Results(), found)
	if err != nil {
		return nil, err
	}
	doc.Where = h.Typed
	doc.Rerun, err = h.Results().Rerun(found.Run, w.Disk.Path("."))
	return doc, err
}

// answerOf returns what a run found, and keeps the headline of it for lists of runs.
func answerOf(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) (*words.Summary, error) {
	version, err := h.Ledger.Pages.Version(ctx, run.No)
	if err != nil {
		return nil, err
	}
	found, err := findings.Of(ctx, h.Results(), run, findings.Query{})
	if err != nil {
		return nil, err
	}
	doc, err := OutlineOf(ctx, w, h, found)
	if err != nil {
		return nil, err
	}
	s := words.Summarise(doc)
	runs.KeepHeadline(ctx, h.Ledger.Runs, run.No, version, s)
	return s, nil
}

// printAnswer prints what a run found.
func printAnswer(w *shell.World, h *shell.Home, run store.Run, s *words.Summary) error {
	fmt.Fprintln(w.Stdout)
	printSummary(w, s, shell.Watermark(h))
	if err := printBoard(w, s.Board); err != nil {
		return err
	}
	if s.Board != nil && s.Board.More > 0 {
		fmt.Fprintf(w.Stdout, "%d more are not listed: assay analyse %s\n", s.Board.More, h.Named(run))
	}
	lead := ""
	if s.Board != nil {
		lead = s.Board.Columns[0].Stage
	}
	first, more := s.FirstSides(lead)
	if err := printSides(w, first, ""); err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(w.Stdout, "%s: assay analyse %s\n", assay.Count(more, "more leaderboard")+" of other stages", h.Named(run))
	}
	printCaveats(w, s)
	return nil
}

// printNext prints what to type after a run.
func printNext(w *shell.World, h *shell.Home, run store.Run) {
	write, what, view := "assay report "+h.Named(run), "all of it to report.html", "assay view"+h.Typed
	if _, batch := batchrun.Of(run); batch {
		write, what = "assay batch collect "+h.Named(run), "the results in the order of the file"
		if h.Rehearsal {
			write += " --rehearsal"
		}
	}
	fmt.Fprintf(w.Stdout, "\nNext:\n  %s   writes %s\n  %-*s   shows every answer in the browser\n", write, what, len(write), view)
}
