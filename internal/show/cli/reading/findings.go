package reading

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/findings"
	"assay/internal/find/stats"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/words"
)

// PrintAnalysed prints what analyses found.
func PrintAnalysed(w *shell.World, all []*Analysed, f AnalyseFlags) error {
	for i, a := range all {
		if i > 0 {
			fmt.Fprintln(w.Stdout)
		}
		mark := ""
		if a.Rehearsal {
			mark = "REHEARSAL: "
		}
		part := ""
		if f.query.Where != "" {
			part = ", only where " + assay.Clean(f.query.Where, 200) + ": exploratory"
		}
		fmt.Fprintf(w.Stdout, "%sRun %s of %s%s\n\n", mark, a.Run.ID, a.Run.Study, part)
		s := words.Summarise(a.Outline)
		printSummary(w, s, "")
		if f.chosen() && !f.full {
			printWeak(w, s, a.Run.ID)
		} else {
			printCaveats(w, s)
		}
		sides := s.SideGrid()
		if f.chosen() && !slices.Contains(f.query.Methods, string(analysis.SideBySide)) {
			sides = nil
		}
		if err := printSides(w, sides, mark); err != nil {
			return err
		}
		if !f.full && !f.chosen() {
			if err := printStages(w, a, mark); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(w.Stdout)
		printWords(w, a.Report)
		for k := range a.Report.Tables {
			show := printFindings
			if f.wide {
				show = printWide
			}
			if err := show(w, &a.Report.Tables[k], mark); err != nil {
				return err
			}
		}
		if f.full || !f.picked() {
			if err := printCosts(w, a.Costs); err != nil {
				return err
			}
		}
		printGates(w, a.Gates)
	}
	return nil
}

// printWords prints the primary findings, before any table.
func printWords(w *shell.World, r *analysis.Report) {
	for _, t := range r.Tables {
		for _, f := range t.Findings {
			if f.Words != "" {
				fmt.Fprintf(w.Stdout, "  %s\n", assay.Clean(f.Words, 1000))
			}
		}
	}
}

func printFindings(w *shell.World, t *analysis.Table, mark string) error {
	incomplete := ""
	if t.Incomplete() {
		incomplete = " INCOMPLETE"
	}
	fmt.Fprintf(w.Stdout, "\n%s%s: %s%s\n%s\n", mark, t.Stage, t.Title, incomplete, figures.CoverageLine(t.Coverage))
	by := figures.FieldsOf(t)
	shows := figures.ColumnsOf(t, noNumber)
	out := term.Table{Right: map[int]bool{}}
	for _, f := range by {
		out.Head = append(out.Head, strings.ToUpper(assay.Clean(f, 60)))
	}
	out.Head = append(out.Head, "WHAT")
	for _, c := range shows {
		out.Right[len(out.Head)] = true
		out.Head = append(out.Head, strings.ToUpper(c.Head))
	}
	out.Head = append(out.Head, "METHOD", "NOTES")
	for i := range t.Findings {
		f := &t.Findings[i]
		var row []any
		for _, name := range by {
			row = append(row, f.Of(name))
		}
		row = append(row, f.What)
		for _, c := range shows {
			row = append(row, c.Cell(f))
		}
		out.Add(append(row, f.Method, strings.Join(notesOf(f), "; "))...)
	}
	if err := out.Write(w.Stdout); err != nil {
		return err
	}
	if err := printMatrix(w, t.Matrix); err != nil {
		return err
	}
	for _, c := range t.Confusions {
		if err := printConfusion(w, c); err != nil {
			return err
		}
	}
	if err := printDisagreed(w, t); err != nil {
		return err
	}
	for _, n := range t.AllNotes() {
		fmt.Fprintf(w.Stdout, "note: %s\n", assay.Clean(n, 400))
	}
	return nil
}

// notesOf returns the notes of a finding, with why there is no number or no interval.
func notesOf(f *analysis.Finding) []string {
	notes := slices.Clone(f.Notes)
	switch {
	case !f.Value.OK:
		notes = append([]string{"unknown: " + f.Value.Why}, notes...)
	case !f.Interval.OK && f.Interval.Why != "" && len(notes) == 0:
		notes = append(notes, "no interval: "+f.Interval.Why)
	}
	if f.Other != nil {
		value := "unknown"
		if f.Other.Value.OK {
			value = f.Shown().Show(f.Other.Value.Value)
		}
		notes = append(notes, fmt.Sprintf("%s: %s of %d", f.Other.Rule, value, f.Other.N))
	}
	return notes
}

// noNumber is shown in a table where there is no number.
const noNumber = "–"

func shownIn(u analysis.Unit, n stats.Number) string {
	if !n.OK {
		return noNumber
	}
	return u.Show(n.Value)
}

// maxMatrix is how many names a matrix is printed for.
const maxMatrix = 12

func printMatrix(w *shell.World, m *analysis.Matrix) error {
	if m == nil || len(m.Names) > maxMatrix {
		return nil
	}
	t := term.Table{Head: append([]string{"WON AGAINST"}, m.Names...), Right: map[int]bool{}}
	for i, row := range m.Shares {
		cells := []any{m.Names[i]}
		for k, s := range row {
			t.Right[k+1] = true
			if i == k {
				s = stats.Undefined("itself")
			}
			cells = append(cells, shownIn(analysis.Share, s))
		}
		t.Add(cells...)
	}
	return t.Write(w.Stdout)
}

// maxDisagreed is how many pairs whose two orders disagree are printed.
const maxDisagreed = 20

// printDisagreed lists pairs whose two orders disagree.
func printDisagreed(w *shell.World, t *analysis.Table) error {
	if len(t.Disagreed) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s whose two orders disagree", assay.Count(len(t.Disagreed), "pair"))
	if len(t.Disagreed) > maxDisagreed {
		text += fmt.Sprintf("; the first %d (--json lists them all)", maxDisagreed)
	}
	fmt.Fprintln(w.Stdout, text)
	out := term.Table{Head: []string{"ITEM", "JUDGE", "TRAIT", "FIRST", "SECOND", "WON", "WON TURNED ROUND"}}
	for _, d := range t.Disagreed[:min(maxDisagreed, len(t.Disagreed))] {
		out.Add(d.Item, d.Judge, d.Trait, d.First, d.Second, d.Forth, d.Back)
	}
	return out.Write(w.Stdout)
}

// printConfusion prints the verdicts of a judge by what is true.
func printConfusion(w *shell.World, c analysis.Confusion) error {
	t := term.Table{Head: []string{c.Judge + ": GOLD SAYS"}, Right: map[int]bool{}}
	for i, l := range c.Labels {
		t.Right[i+1] = true
		t.Head = append(t.Head, "JUDGE SAYS "+assay.Clean(l, 60))
	}
	for i, row := range c.Counts {
		cells := []any{c.Labels[i]}
		for _, n := range row {
			cells = append(cells, assay.Thousands(n))
		}
		t.Add(cells...)
	}
	return t.Write(w.Stdout)
}

func printCosts(w *shell.World, costs []findings.Spending) error {
	if len(costs) == 0 {
		return nil
	}
	fmt.Fprintln(w.Stdout)
	t := term.Table{Head: []string{"STAGE", "LANE", "COST", "SPENT BY THIS RUN", "ANSWERS", "PER ANSWER", "PER VALID VERDICT"},
		Right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true}}
	elsewhere := slices.ContainsFunc(costs, func(c findings.Spending) bool { return c.Cost != c.Spent })
	if !elsewhere {
		t = term.Table{Head: slices.Delete(t.Head, 3, 4), Right: t.Right}
	}
	for _, c := range costs {
		verdict := ""
		if c.Valid > 0 {
			verdict = shownMoney(c.Per(int64(c.Valid)))
		}
		row := []any{c.Stage, c.Lane, c.Cost}
		if elsewhere {
			row = append(row, c.Spent)
		}
		t.Add(append(row, assay.Thousands(c.Answers), shownMoney(c.Per(c.Answers)), verdict)...)
	}
	return t.Write(w.Stdout)
}

func shownMoney(d *float64) string {
	if d == nil {
		return "unknown"
	}
	return assay.Dollars(*d).String()
}

func printGates(w *shell.World, gates []analysis.Passage) {
	if len(gates) > 0 {
		fmt.Fprintln(w.Stdout)
	}
	for _, g := range gates {
		if g.Passed {
			fmt.Fprintf(w.Stdout, "passed: %s\n", assay.Clean(g.Condition, 400))
		} else {
			fmt.Fprintf(w.Stdout, "FAILED: %s (%s)\n", assay.Clean(g.Condition, 400), assay.Clean(g.Why, 400))
		}
	}
}
