package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"assay/internal/assay"
	"assay/internal/find/invoices"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// checkSpend holds what was spent against a provider's report, and fails where a sum of a model is another one.
func checkSpend(ctx context.Context, w *shell.World, f shell.SqlFlags, args []string, file string) error {
	data, err := w.Disk.ReadFile(file)
	if err != nil {
		return shell.Unread(err, "--check wants a file that a provider's console exported", "read the report %s: %s", file,
			assay.FileReason(err))
	}
	report, err := invoices.Read(data)
	if err != nil {
		hint := "export it once more"
		if errors.Is(err, invoices.ErrForm) {
			hint = "export Usage or Cost as CSV from the provider's console, or take its admin API's JSON; docs/money.md has the columns"
		}
		return shell.Usage(hint, "%s: %s", file, err)
	}
	h, run, err := openChecked(ctx, w, f, args)
	if err != nil {
		return err
	}
	defer h.Close()
	bills, err := h.Ledger.Pages.DayBills(ctx, report.Provider, run)
	if err != nil {
		return err
	}
	ours := make([]invoices.Line, len(bills))
	for i, b := range bills {
		ours[i] = invoices.Line{Day: b.Day, Model: b.Model, Cost: b.Cost, Input: b.Input, Output: b.Output, Mute: b.Mute}
	}
	rows := invoices.Compare(report, ours)
	if err := printChecked(w, f, report, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Day == "" && r.Differs() {
			return &shell.ExitError{Code: shell.ExitGate, Err: fmt.Errorf("our sums and those of %s differ", report.Provider),
				Hint: "docs/money.md lists what a ledger cannot know"}
		}
	}
	return nil
}

// openChecked opens the ledger that is checked: a run of it, or all of it where none is named, which is 0.
func openChecked(ctx context.Context, w *shell.World, f shell.SqlFlags, args []string) (*shell.Home, int64, error) {
	if len(args) == 0 {
		h, err := f.Open(ctx, w)
		return h, 0, err
	}
	h, run, err := f.Home.Look(ctx, w, args[0])
	return h, run.No, err
}

func printChecked(w *shell.World, f shell.SqlFlags, report invoices.Report, rows []invoices.Row) error {
	switch {
	case f.Json:
		out := json.NewEncoder(w.Stdout)
		for _, r := range rows {
			if err := out.Encode(checkedOf(r)); err != nil {
				return err
			}
		}
		return nil
	case f.Csv:
		out := assay.NewCSV(w.RawOut())
		err := out.Write([]string{"day", "model", "measure", "ours", "theirs", "difference", "unknown", "elsewhere", "differs"})
		for _, r := range rows {
			c := checkedOf(r)
			cells := []any{c.Day, c.Model, c.Measure, c.Ours, c.Theirs, c.Difference, c.Unknown, c.Elsewhere, c.Differs}
			err = errors.Join(err, out.Write(shell.CsvRow(cells)))
		}
		out.Flush()
		return errors.Join(err, out.Error())
	}
	t := term.Table{Head: []string{"DAY", "MODEL", "OF", "OURS", "THEIRS", "DIFFERENCE", ""},
		Right: map[int]bool{3: true, 4: true, 5: true}}
	for _, r := range rows {
		t.Add(cellsOf(r)...)
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "The report of %s covers %s to %s. Days are UTC; an answer in a batch is ours on the day its job ended.\n",
		report.Provider, report.First, report.Last)
	if report.More {
		fmt.Fprintln(w.Stdout, "It ends with a page that has a next one: fetch the others, and put them into the same file.")
	}
	return nil
}

// checked is a row as programs read it. Dollars are dollars, tokens are tokens.
type checked struct {
	Day        string  `json:"day"`   // empty: all days
	Model      string  `json:"model"` // empty: all models
	Measure    string  `json:"measure"`
	Ours       float64 `json:"ours"`
	Theirs     float64 `json:"theirs"`
	Difference float64 `json:"difference"` // theirs less ours
	Unknown    int64   `json:"unknown"`    // answers of ours without a known price or count
	Elsewhere  bool    `json:"elsewhere"`  // the ledger never asked the model
	Differs    bool    `json:"differs"`
}

func checkedOf(r invoices.Row) checked {
	unit := 1.0
	if r.Measure == invoices.Dollars {
		unit = float64(assay.Dollar)
	}
	return checked{Day: r.Day, Model: r.Model, Measure: string(r.Measure), Ours: float64(r.Ours) / unit, Theirs: float64(r.Theirs) / unit,
		Difference: float64(r.Difference()) / unit, Unknown: r.Unknown, Elsewhere: r.Elsewhere, Differs: r.Differs()}
}

func cellsOf(r invoices.Row) []any {
	shown := func(n int64) string {
		if r.Measure == invoices.Dollars {
			return assay.Money(n).String()
		}
		return strconv.FormatInt(n, 10)
	}
	ours, difference, note := shown(r.Ours), "–", ""
	if r.Unknown > 0 {
		ours = "at least " + ours
	}
	if d := r.Difference(); d > 0 {
		difference = "+" + shown(d)
	} else if d < 0 {
		difference = shown(d)
	}
	switch {
	case r.Elsewhere:
		note = "not asked from here"
	case r.Day == "" && r.Differs():
		note = "differs"
	}
	return []any{cmp.Or(r.Day, "all days"), cmp.Or(r.Model, "all models"), r.Measure, ours, shown(r.Theirs), difference, note}
}
