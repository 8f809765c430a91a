package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/term"
)

func batchCostCommand(w *World) *cobra.Command {
	var home homeFlags
	var reach reachFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "cost FILE…|BATCH…",
		Short: "Estimate what files would cost, and print what batches did",
		Long:  "A file that was not sent is estimated: nothing leaves this machine. A batch is shown as it was billed, beside what was expected.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := home.open(ctx, w, false)
			if err != nil {
				return err
			}
			defer h.Close()
			costs, err := costsOf(ctx, w, h, args, reach)
			if err != nil {
				return err
			}
			if asJSON {
				return term.WriteJSON(w.Stdout, costs)
			}
			return writeCosts(w, costs)
		},
	}
	home.register(c)
	reach.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// costsOf estimates files that were not sent, and reads what the others cost.
func costsOf(ctx context.Context, w *World, h *home, args []string, reach reachFlags) ([]batchrun.Cost, error) {
	costs := []batchrun.Cost{}
	var names []string
	for _, arg := range args {
		if _, sent, err := h.Batches().Find(ctx, arg); err != nil || sent || !w.Disk.Exists(arg) {
			names = append(names, arg)
			continue
		}
		file, problems, err := checkFile(ctx, w, arg, reach)
		if err != nil {
			return nil, err
		}
		if file == nil {
			return nil, problems.Errors()
		}
		costs = append(costs, batchrun.Estimate(arg, &file.Batch.File)...)
	}
	if len(args) > 0 && len(names) == 0 {
		return costs, nil
	}
	runs, err := ownBatches(ctx, w, h, names, reach, "", ": what it cost is not known here")
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		own, err := h.Batches().Costs(ctx, run)
		if err != nil {
			return nil, err
		}
		costs = append(costs, own...)
	}
	return costs, nil
}

func writeCosts(w *World, costs []batchrun.Cost) error {
	t := term.Table{Head: []string{"BATCH", "FILE", "PROVIDER", "MODEL", "MODE", "REQUESTS", "EXPECTED", "AT MOST", "SPENT", "INPUT TOKENS", "OUTPUT TOKENS"},
		Right: map[int]bool{5: true, 6: true, 7: true, 8: true, 9: true, 10: true}}
	for _, c := range costs {
		batch, spent, in, out := c.Batch, "nothing yet", "", ""
		if batch == "" {
			batch, spent = "(estimate)", ""
		}
		if c.Billed() {
			spent, in, out = c.Spent.String(), assay.TokensText(c.Input, c.Mute), assay.TokensText(c.Output, c.Mute)
		}
		t.Add(batch, c.File, c.Provider, c.Model, c.Mode, assay.Thousands(c.Requests), c.Expected, c.High, spent, in, out)
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	fmt.Fprintln(w.Stderr, "EXPECTED guesses the output; AT MOST is every answer at its limit")
	return nil
}
