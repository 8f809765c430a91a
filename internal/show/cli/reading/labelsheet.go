package reading

import (
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/labels"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// maxSheet is how much of one text a person is shown.
const maxSheet = 64 << 10

// printSheet shows what is to be judged, the answers last: they stand right above the keys. Every line is foreign text.
func printSheet(w *shell.World, s labels.Sheet) {
	rule := strings.Repeat("─", 72)
	fmt.Fprintln(w.Stdout, "\n"+rule)
	part := func(title, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		fmt.Fprintf(w.Stdout, "%s\n%s\n", title, foreign(text, w.OutWidth()))
	}
	part("ASKED", s.Asked)
	part("FIRST ANSWER", s.First)
	part("THEN SAID", s.Message)
	part("HELD AGAINST", s.Statement)
	part("EXPECTED", s.Expected)
	part("PEOPLE SAID", s.People)
	part("WHICH IS BETTER IN", strings.TrimSpace(s.Trait+"\n"+s.Description))
	part("ANSWER TO JUDGE", s.Answer)
	part("A", s.A)
	part("B", s.B)
	fmt.Fprintln(w.Stdout, rule)
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
