package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/keep/store"
	"assay/internal/show/cli/term"
)

func batchErrorsCommand(w *World) *cobra.Command {
	var home homeFlags
	var asJSON, rehearsal bool
	c := &cobra.Command{
		Use:   "errors [BATCH…]",
		Short: "List the lines that have no answer, and why",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := home.open(ctx, w, rehearsal)
			if err != nil {
				return err
			}
			defer h.Close()
			runs, err := ownBatches(ctx, w, h, args, reachFlags{}, "assay batch collect writes its lines", "")
			if err != nil {
				return err
			}
			return printErrors(ctx, w, h, runs, asJSON)
		},
	}
	home.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	c.Flags().BoolVar(&rehearsal, "rehearsal", false, "of the rehearsals")
	return c
}

func printErrors(ctx context.Context, w *World, h *home, runs []store.Run, asJSON bool) error {
	e := json.NewEncoder(w.Stdout)
	e.SetEscapeHTML(false)
	t := term.Table{Head: []string{"BATCH", "LINE", "ID", "MODEL", "STATUS", "CODE", "MESSAGE", "TRIES"}, Right: map[int]bool{1: true, 7: true}}
	for _, run := range runs {
		for doc, err := range h.Batches().Failures(ctx, run) {
			if err != nil {
				return err
			}
			if asJSON {
				if err := e.Encode(doc); err != nil {
					return err
				}
				continue
			}
			if t.Len() == maxTableRows {
				fmt.Fprintf(w.Stderr, "the first %d; --json prints all\n", maxTableRows)
				return t.Write(w.Stdout)
			}
			t.Add(doc.Batch, doc.Line, doc.ID, doc.Model, doc.Status, doc.Code, doc.Message, doc.Attempts)
		}
	}
	if asJSON {
		return nil
	}
	if t.Len() == 0 {
		fmt.Fprintln(w.Stderr, "nothing")
		return nil
	}
	return t.Write(w.Stdout)
}
