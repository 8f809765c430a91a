package reading

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// printSuperseded shows the answers of a run that edits of its study superseded.
func (f resultFlags) printSuperseded(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	most := f.limit
	if most == 0 && !f.json {
		most = shell.MaxTableRows
	}
	lines := shell.Encoder(w)
	t := term.Table{Head: []string{"KEY", "STAGE", "ITEM", "LANE", "TURN", "ENDING", "COST", "EDIT", "SUPERSEDED BY", "TEXT"}, Right: map[int]bool{4: true, 6: true, 7: true}, Spare: []string{"TURN", "ENDING", "COST"}}
	n := 0
	for s, err := range rows.SupersededOf(ctx, h.Results(), run, f.pick) {
		if err != nil {
			return err
		}
		if n++; most > 0 && n > most {
			fmt.Fprintf(w.Stderr, "the first %d\n", most)
			break
		}
		if f.json {
			if err := lines.Encode(s); err != nil {
				return err
			}
			continue
		}
		text := s.Text
		if s.Fault != "" {
			text = s.Fault
		}
		t.Add(shell.Shortened(s.Key), s.Stage, s.Item, s.Lane, s.Turn, s.Ending, costText(s.Cost), s.Edit, assay.Clean(s.By, 60), assay.Clean(text, 100))
	}
	if f.json {
		return nil
	}
	if n == 0 {
		fmt.Fprintln(w.Stderr, "no edit of the study superseded an answer of this run")
	}
	return t.Write(w.Stdout)
}
