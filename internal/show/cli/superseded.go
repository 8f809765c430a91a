package cli

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/term"
)

// printSuperseded shows the answers of a run that edits of its study superseded.
func (f resultFlags) printSuperseded(ctx context.Context, w *World, h *home, run store.Run) error {
	most := f.limit
	if most == 0 && !f.json {
		most = maxTableRows
	}
	lines := encoder(w)
	t := term.Table{Head: []string{"KEY", "STAGE", "ITEM", "LANE", "TURN", "ENDING", "COST", "EDIT", "SUPERSEDED BY", "TEXT"}, Right: map[int]bool{4: true, 6: true, 7: true}, Spare: []string{"TURN", "ENDING", "COST"}}
	n := 0
	for s, err := range rows.SupersededOf(ctx, h.results(), run, f.pick) {
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
		t.Add(shortened(s.Key), s.Stage, s.Item, s.Lane, s.Turn, s.Ending, costText(s.Cost), s.Edit, assay.Clean(s.By, 60), assay.Clean(text, 100))
	}
	if f.json {
		return nil
	}
	if n == 0 {
		fmt.Fprintln(w.Stderr, "no edit of the study superseded an answer of this run")
	}
	return t.Write(w.Stdout)
}

// printEdits says what edits of the study superseded, if any did.
func printEdits(ctx context.Context, w *World, h *home, run store.Run) error {
	edits, err := h.Ledger.Reader.Edits(ctx, run.No)
	if err != nil {
		return err
	}
	for _, e := range edits {
		what := assay.Count(e.Requests, "request")
		if e.Requests == 0 {
			what = assay.Count(e.Verdicts, "verdict")
		}
		fmt.Fprintf(w.Stdout, "Edit %d of %s superseded %s: %s.\n", e.Number, e.At.Local().Format("2006-01-02 15:04"), what, e.What)
	}
	return nil
}
