package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay"
	"assay/batchrun"
	"assay/cli/term"
	"assay/store"
)

func batchCostCommand(w *World) *cobra.Command {
	var home homeFlags
	var reach reachFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "cost FILE…|BATCH…",
		Short: "Estimate what files would cost, and tell what batches did",
		Long:  "A file that was not sent is estimated: nothing leaves this machine. A batch is told as it was billed, beside what was expected.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := home.open(ctx, w, false)
			if err != nil {
				return err
			}
			defer h.Close()
			rows, err := costRows(ctx, w, h, args, reach)
			if err != nil {
				return err
			}
			if asJSON {
				return term.WriteJSON(w.Stdout, rows)
			}
			return writeCosts(w, rows)
		},
	}
	home.register(c)
	reach.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// costRow is what one model of one file costs.
type costRow struct {
	Batch    string   `json:"batch,omitempty"` // empty: an estimate, nothing was sent
	File     string   `json:"file"`
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Mode     string   `json:"mode"`
	Requests int64    `json:"requests"`
	Expected *float64 `json:"expected_usd"` // null: no price is known
	High     *float64 `json:"most_usd"`
	Spent    *float64 `json:"spent_usd"` // null: nothing yet, or not known
	Input    int64    `json:"input_tokens"`
	Output   int64    `json:"output_tokens"`

	expected, high assay.Cost
	spent          *assay.Cost
}

func costRows(ctx context.Context, w *World, h *home, args []string, reach reachFlags) ([]costRow, error) {
	rows := []costRow{}
	var names []string
	for _, arg := range args {
		all, err := batchRuns(ctx, h)
		if err != nil {
			return nil, err
		}
		if _, sent, err := ownBatch(ctx, h, all, arg); err != nil || sent || !w.Disk.Exists(arg) {
			names = append(names, arg)
			continue
		}
		own, err := estimate(ctx, w, arg, reach)
		if err != nil {
			return nil, err
		}
		rows = append(rows, own...)
	}
	if len(args) > 0 && len(names) == 0 {
		return rows, nil
	}
	runs, err := ownBatches(ctx, w, h, names, reach, "", ": what it cost is not known here")
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		own, err := actual(ctx, h, run)
		if err != nil {
			return nil, err
		}
		rows = append(rows, own...)
	}
	return rows, nil
}

// estimate prices a file that was not sent.
func estimate(ctx context.Context, w *World, name string, reach reachFlags) ([]costRow, error) {
	t, err := reach.target(w)
	if err != nil {
		return nil, err
	}
	file, problems, err := checkFile(ctx, w, name, t, reach.model)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, problems.Errors()
	}
	var rows []costRow
	for _, l := range file.Lanes {
		rows = append(rows, costRow{File: name, Provider: file.Provider, Model: l.Model, Mode: string(file.Mode), Requests: l.Requests,
			Expected: dollars(l.Expected), High: dollars(l.High), expected: l.Expected, high: l.High})
	}
	return rows, nil
}

// actual is what the ledger knows of a batch.
func actual(ctx context.Context, h *home, run store.Run) ([]costRow, error) {
	b, _ := batchrun.Of(run)
	all, err := h.ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var rows []costRow
	for _, l := range b.File.Lanes {
		row := costRow{Batch: run.ID, File: run.Study, Provider: b.File.Provider, Model: l.Model, Mode: string(b.File.Mode), Requests: l.Requests,
			Expected: dollars(l.Expected), High: dollars(l.High), expected: l.Expected, high: l.High}
		var sum assay.Cost
		for _, g := range all {
			if g.Lane == l.Name {
				sum = sum.Add(g.Cost)
				row.Input, row.Output = row.Input+g.InputTokens, row.Output+g.OutputTokens
			}
		}
		if sum.Priced+sum.Unknown > 0 {
			row.Spent, row.spent = dollars(sum), &sum
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func writeCosts(w *World, rows []costRow) error {
	t := term.Table{Head: []string{"BATCH", "FILE", "PROVIDER", "MODEL", "MODE", "REQUESTS", "EXPECTED", "AT MOST", "SPENT", "INPUT TOKENS", "OUTPUT TOKENS"},
		Right: map[int]bool{5: true, 6: true, 7: true, 8: true, 9: true, 10: true}}
	for _, r := range rows {
		batch, spent := r.Batch, "nothing yet"
		if batch == "" {
			batch, spent = "(estimate)", ""
		}
		if r.spent != nil {
			spent = r.spent.String()
		}
		t.Add(batch, r.File, r.Provider, r.Model, r.Mode, assay.Thousands(r.Requests), r.expected, r.high, spent, assay.Thousands(r.Input), assay.Thousands(r.Output))
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	fmt.Fprintln(w.Stderr, "EXPECTED guesses the output; AT MOST is every answer at its limit")
	return nil
}
