package reading

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/words"
)

// printStages prints one short table for each stage, best first, and the gates.
func printStages(w *shell.World, a *Analysed, mark string) error {
	var seen []string
	var notes []string
	for _, t := range words.StageTables(a.Outline) {
		seen = append(seen, t.Stage)
		if t.Note != "" && !slices.Contains(notes, t.Note) {
			notes = append(notes, t.Note)
		}
		if err := printStage(w, &t, mark); err != nil {
			return err
		}
	}
	for i := range a.Report.Tables {
		t := &a.Report.Tables[i]
		if slices.Contains(seen, t.Stage) {
			continue
		}
		fmt.Fprintf(w.Stdout, "\n%s%s: %s%s\n%s\n", mark, t.Stage, t.Title, incompleteMark(t), figures.CoverageLine(t.Coverage))
	}
	if len(notes) > 0 {
		fmt.Fprintln(w.Stdout)
	}
	for _, note := range notes {
		fmt.Fprintln(w.Stdout, term.Wrapped(note, w.OutWidth(), ""))
	}
	printGates(w, a.Gates)
	if len(a.Report.Tables) > 0 {
		fmt.Fprintf(w.Stdout, "\n%s: assay analyse %s --full%s\n",
			assay.Count(len(a.Report.Tables), "table")+" with every finding, method and note", a.Run.ID, a.Outline.Where)
	}
	return nil
}

func incompleteMark(t *analysis.Table) string {
	if t.Incomplete() {
		return " INCOMPLETE"
	}
	return ""
}

func printStage(w *shell.World, s *words.StageTable, mark string) error {
	incomplete := ""
	if s.Incomplete {
		incomplete = " INCOMPLETE"
	}
	fmt.Fprintf(w.Stdout, "\n%s%s: %s%s (%s)\n", mark, assay.Clean(s.Label, 200), assay.Clean(s.What, 200), incomplete, s.Coverage)
	t := term.Table{Right: map[int]bool{}}
	for i, h := range s.Head {
		t.Head = append(t.Head, strings.ToUpper(assay.Clean(h.Text, 60)))
		t.Right[i] = h.Number
	}
	for _, row := range s.Rows {
		cells := make([]any, len(row))
		for i, c := range row {
			cells[i] = c
		}
		t.Add(cells...)
	}
	return t.Write(w.Stdout)
}
