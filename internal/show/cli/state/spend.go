package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/invoices"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// spendQuery reads what a run has cost. Run ids are ours: letters and digits, nothing to escape.
const spendQuery = "SELECT stage, lane, model, mode, purpose, attempts, priced, unpriced, spent_usd, reserved_usd, input_tokens, " +
	"cached_tokens, output_tokens, reasoning_tokens, usage_unknown, surplus FROM run_spend WHERE run = '%s' ORDER BY stage, lane, " +
	"mode, purpose"

// Spend makes the command `assay spend`.
func Spend(w *shell.World) *cobra.Command {
	var f shell.SqlFlags
	var check string
	c := &cobra.Command{
		Use:     "spend [RUN]",
		GroupID: shell.GroupLook,
		Short:   "Print what a run has cost, by stage, lane and mode, and in all",
		Long: "Prints what a run has cost. --check FILE holds it against what a provider says it billed, by day (UTC) and model, of all\n" +
			"runs unless one is named. FILE is a cost or usage report of " + invoices.Known + ": the CSV that their console\n" +
			"exports, or the JSON of their admin API. Exit code 6: a sum of a model is another one, to the cent or to the token.",
		Args: shell.UpTo("RUN"),
	}
	spend := f.Home.Looking(w, func(ctx context.Context, h *shell.Home, run store.Run) error {
		h.Watermark(w)
		if f.Json || f.Csv {
			return shell.PrintQuery(ctx, w, h, fmt.Sprintf(spendQuery, run.ID), f)
		}
		if err := printSpend(ctx, w, h, run); err != nil {
			return err
		}
		if _, batch := batchrun.Of(run); !batch {
			return nil
		}
		expected, high, err := batchrun.Expected(run)
		if err == nil {
			_, err = fmt.Fprintf(w.Stdout, "Before it was sent: %s expected, at most %s.\n", expected, high)
		}
		return err
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if check == "" {
			return spend(c, args)
		}
		return checkSpend(c.Context(), w, f, args, check)
	}
	f.Register(c)
	c.Flags().StringVar(&check, "check", "", "hold it against a cost or usage report of a provider, CSV or JSON")
	return c
}

// imported is the mode of answers that were made elsewhere.
const imported = "import"

// spentRow is one row of spendQuery.
type spentRow struct {
	names                           [5]any // stage, lane, model, mode, purpose
	attempts                        int64
	cost                            assay.Cost
	reserved                        assay.Money
	in, cached, out, reason, double int64
	mute                            int64 // replies that did not say how many tokens they took
}

// printSpend prints what a run has cost, with a sum below. Columns in which nothing happened are left out.
func printSpend(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	t := term.Table{
		Head: []string{"STAGE", "LANE", "MODEL", "MODE", "PURPOSE", "ATTEMPTS", "PRICED", "UNPRICED", "SPENT", "RESERVED", "INPUT",
			"CACHED", "OUTPUT", "REASONING", "PAID TWICE"},
		// what was spent stays
		Right: map[int]bool{}, Spare: []string{"PRICED", "PURPOSE", "REASONING", "CACHED", "OUTPUT", "INPUT", "MODEL", "MODE", "ATTEMPTS"},
	}
	for i := 5; i < len(t.Head); i++ {
		t.Right[i] = true
	}
	all, n := spentRow{names: [5]any{"all", "", "", "", ""}}, 0
	var elsewhere assay.Cost
	err := h.Ledger.Reader.Query(ctx, fmt.Sprintf(spendQuery, run.ID), func(_ []string, values []any) error {
		r, err := spentOf(values)
		if err != nil {
			return err
		}
		t.Add(r.cells()...)
		if r.names[3] == imported {
			elsewhere, r.cost = elsewhere.Add(r.cost), assay.Cost{}
		}
		all, n = all.plus(r), n+1
		return nil
	})
	if err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintln(w.Stderr, "nothing")
		return nil
	}
	t.Add(all.cells()...)
	if err := t.Compact("UNPRICED", "RESERVED", "CACHED", "REASONING", "PAID TWICE").Write(w.Stdout); err != nil {
		return err
	}
	if elsewhere != (assay.Cost{}) {
		fmt.Fprintf(w.Stdout, "What was imported was paid elsewhere (%s), and is no part of the sum.\n", elsewhere)
	}
	return nil
}

// spentOf reads a row of spendQuery.
func spentOf(values []any) (spentRow, error) {
	var err error
	number := func(i int) float64 {
		n, bad := amount(values[i])
		err = errors.Join(err, bad)
		return n
	}
	n := func(i int) int64 { return int64(number(i)) }
	r := spentRow{
		attempts: n(5), cost: assay.Cost{Sum: assay.Dollars(number(8)), Priced: n(6), Unknown: n(7)}, reserved: assay.Dollars(number(9)),
		in: n(10), cached: n(11), out: n(12), reason: n(13), mute: n(14), double: n(15),
	}
	copy(r.names[:], shell.Cells(values[:5]))
	return r, err
}

// amount returns a number of a row. What is not known is null there, and adds nothing to a sum: how much of it is
// unknown is counted beside.
func amount(v any) (float64, error) {
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	case nil:
		return 0, nil
	}
	return 0, fmt.Errorf("read what was spent: %T is not a number", v)
}

func (r spentRow) plus(s spentRow) spentRow {
	r.attempts, r.cost, r.reserved = r.attempts+s.attempts, r.cost.Add(s.cost), r.reserved+s.reserved
	r.in, r.cached, r.out, r.reason, r.double = r.in+s.in, r.cached+s.cached, r.out+s.out, r.reason+s.reason, r.double+s.double
	r.mute += s.mute
	return r
}

func (r spentRow) cells() []any {
	some := func(n int64) string {
		if n == 0 {
			return ""
		}
		return assay.Thousands(n)
	}
	reserved := ""
	if r.reserved != 0 {
		reserved = r.reserved.String()
	}
	return append(r.names[:], assay.Thousands(r.attempts), assay.Thousands(r.cost.Priced), some(r.cost.Unknown), r.cost, reserved,
		assay.TokensText(r.in, r.mute), some(r.cached), assay.TokensText(r.out, r.mute), some(r.reason), some(r.double))
}
