package reading

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/labels"
	"assay/internal/find/results/rows"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// maxSheet is how much of one text a person is shown.
const maxSheet = 64 << 10

// printSheet shows what is to be judged, the answers last: they stand right above the keys. Every line is foreign text. What the models
// were shown, of one item or of two that are compared, is named.
func printSheet(w *shell.World, s labels.Sheet, shown []string) {
	rule := strings.Repeat("─", 72)
	fmt.Fprintln(w.Stdout, "\n"+rule)
	part := func(title, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		fmt.Fprintf(w.Stdout, "%s\n%s\n", title, foreign(text, w.OutWidth()))
	}
	if len(shown) == 1 {
		part(titleShown, shown[0])
	}
	part("ASKED", s.Asked)
	part("FIRST ANSWER", s.First)
	part("THEN SAID", s.Message)
	part("HELD AGAINST", s.Statement)
	part("EXPECTED", s.Expected)
	part("PEOPLE SAID", s.People)
	part("WHICH IS BETTER IN", strings.TrimSpace(s.Trait+"\n"+s.Description))
	part("ANSWER TO JUDGE", s.Answer)
	if len(shown) == 2 {
		part("A: "+titleShown, shown[0])
	}
	part("A", s.A)
	if len(shown) == 2 {
		part("B: "+titleShown, shown[1])
	}
	part("B", s.B)
	fmt.Fprintln(w.Stdout, rule)
}

// titleShown stands over the names of files. A terminal has no pictures.
const titleShown = "SHOWN (assay view shows pictures)"

// shown names the files that requests about each item of a task show, where a person finds them.
func (q *labelling) shown(ctx context.Context, t analysis.Task) (out []string, err error) {
	for _, id := range t.Items() {
		files, err := rows.Files(ctx, q.home.Results(), q.run, id)
		if err != nil {
			return nil, err
		}
		var lines []string
		for i := range files {
			f := &files[i]
			lines = append(lines, cmp.Or(f.Name, f.As)+" ("+f.About()+")")
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return out, nil
}

// printTold shows what the judge is told around the texts that it reads.
func printTold(w *shell.World, s labels.Sheet) {
	if strings.TrimSpace(s.Told) == "" {
		fmt.Fprintln(w.Stdout, "no model judges this stage: there is nothing that it is told")
		return
	}
	fmt.Fprintf(w.Stdout, "WHAT THE JUDGE IS TOLD\n%s\n", foreign(s.Told, w.OutWidth()))
}

// foreign returns a text that is not ours, with its lines kept and everything that could steer a terminal shown as an escape. Each
// line is behind a bar, so that no text can pose as ours.
func foreign(text string, width int) string {
	if len(text) > maxSheet {
		text = text[:maxSheet] + "\n(cut: it is longer than a person can read)"
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = term.Wrapped("│ "+assay.Clean(l, maxSheet), width, "│ ")
	}
	return strings.Join(lines, "\n")
}
