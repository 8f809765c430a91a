package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/workspace"
	"assay/internal/study/plan"
)

// ahead is what `assay run` would do with a planned study in this home; nil where there is no ledger yet. What the plan can show goes by the
// runs before it.
func ahead(c *cobra.Command, w *World, d *plan.Input, p *plan.Plan, name string, f planFlags) (*workspace.Ahead, error) {
	if p.Reckon(nil, f.points); !f.pilot.home.exists(w, false) {
		return nil, nil
	}
	h, err := f.pilot.home.open(c.Context(), w, false)
	if err != nil { // the plan itself needs no ledger
		fmt.Fprintf(w.Stderr, "what was run before is not known: %s\n", err)
		return nil, nil
	}
	defer h.Close()
	want := workspace.Wanted{
		File: name, Input: d, Plan: p, Study: f.study.StudyOptions, Settings: script.Settings{Lanes: f.lanes, Stages: f.stages, Limit: f.limit},
	}
	seen, err := h.Varied(c.Context(), want)
	if err != nil {
		return nil, err
	}
	p.Reckon(seen, f.points)
	a, err := h.Ahead(c.Context(), want)
	return &a, err
}

// aheadWords say what `assay run` would do, and for how much.
func aheadWords(a *workspace.Ahead) string {
	switch {
	case a == nil:
		return ""
	case a.Refused != nil:
		return fmt.Sprintf("`assay run` would be refused: %s.\n", a.Refused)
	case a.Run.No != 0 && a.Edit != nil && a.Edit.Grows:
		return fmt.Sprintf("`assay run` would extend run %s: %s.\n%s%s%s", a.Run.ID, a.Edit.Words(), againWords(a.Edit.Changes), drawnWords(a.Edit), leftToAsk(a.Over))
	case a.Run.No != 0 && a.Run.State == store.RunClosed && a.Edit != nil:
		return fmt.Sprintf("Run %s is closed, and the study changed only in %s since: nothing would be asked again.\n", a.Run.ID, a.Edit.Words())
	case a.Run.No != 0 && a.Run.State == store.RunClosed:
		return fmt.Sprintf("Run %s of this study is closed: nothing would be asked again.\n", a.Run.ID)
	case a.Run.No != 0:
		return fmt.Sprintf("Run %s is open, and `assay run` goes on with it. %s", a.Run.ID, leftToAsk(a.Over))
	}
	var b strings.Builder
	if a.Edit != nil {
		fmt.Fprintf(&b, "Since run %s the study changed: %s%s.\n", a.Edit.Run.ID, a.Edit.Difference, notExtended(a.Edit))
	}
	b.WriteString(overWords(a.Over))
	return b.String()
}

// drawnWords say how many requests a run has that keeps the pairs it drew; empty: as many as a new one.
func drawnWords(e *workspace.Edit) string {
	if e.Plan == nil {
		return ""
	}
	all := e.Plan.Sum(func(plan.Part) bool { return true })
	return fmt.Sprintf("The pairs that it drew stay, and others are drawn in addition: it has %s in all then.\n", assay.Count(all.Requests, "request"))
}

// overWords say what a new run takes over, and what the rest costs; empty where it takes over nothing.
func overWords(over workspace.TakeOver) string {
	if over.Most == 0 {
		return ""
	}
	return fmt.Sprintf("Up to %s of them are taken over, %s or more are new: %s.\n", assay.Thousands(over.Most), assay.Thousands(over.New), priceWords(over.Cost))
}

// leftToAsk says what of a run has its answer, and what the rest costs.
func leftToAsk(over workspace.TakeOver) string {
	flying := ""
	if over.Away > 0 {
		flying = assay.Thousands(over.Away) + " are in flight, "
	}
	if over.Over > 0 {
		flying += assay.Thousands(over.Over) + " are not needed as rounds of pairs ended early, "
	}
	return fmt.Sprintf("%s of them have an answer, %s%s are new: %s.\n", assay.Thousands(over.Most), flying, assay.Thousands(over.New), priceWords(over.Cost))
}

// priceWords are a price in words.
func priceWords(p plan.Price) string {
	return fmt.Sprintf("%s expected, %s to %s", p.Expected, p.Low, p.High)
}

// budgetWords say what may be spent, and whether it covers what is expected of what is new.
func budgetWords(budget *assay.Money, expected assay.Cost) string {
	switch {
	case budget == nil:
		return ""
	case expected.Sum > *budget:
		return fmt.Sprintf("Budget: %s. It does not cover what is expected: the run stops when it is spent.\n", *budget)
	}
	return fmt.Sprintf("Budget: %s.\n", *budget)
}

// leftWords say what is left of a budget, and whether it covers what is expected.
func leftWords(run store.Run, budget assay.Money, expected assay.Cost) string {
	used := run.Spent + run.Reserved + run.Perhaps
	text := fmt.Sprintf("%s of the budget of %s is spent or reserved", used, budget)
	if expected.Sum > 0 && expected.Sum > budget-used {
		text += ": what is left does not cover what is expected"
	}
	return text
}

// leftOfBudget is the same as a line of its own; empty where anything may be spent.
func leftOfBudget(run store.Run, budget *assay.Money, expected assay.Cost) string {
	if budget == nil {
		return ""
	}
	return leftWords(run, *budget, expected) + ".\n"
}

// aheadBudget says what may be spent on what `assay run` would send: of a new run all that the study says, else what is left.
func aheadBudget(a *workspace.Ahead, study *assay.Money, all assay.Cost) string {
	switch {
	case a == nil || a.Refused != nil || a.Run.No == 0 && a.Over.Most == 0:
		return budgetWords(study, all)
	case a.Run.No == 0:
		return budgetWords(study, a.Over.Cost.Expected)
	}
	budget, expected := a.Run.Budget, a.Over.Cost.Expected
	if a.Edit != nil {
		budget = a.Edit.Budget
	}
	if a.Run.State == store.RunClosed && (a.Edit == nil || !a.Edit.Grows) {
		expected = assay.Cost{} // nothing would be asked
	}
	return leftOfBudget(a.Run, budget, expected)
}

// printRest says what a run still sends and for how much, under a budget.
func printRest(ctx context.Context, w *World, h *home, run store.Run, budget assay.Money) error {
	rest, err := h.Rest(ctx, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s kept, %s in flight, at most %s new: %s\n", assay.Count(rest.Answered, "answer"),
		assay.Thousands(rest.Away), assay.Thousands(rest.Left), priceWords(rest.Cost))
	fmt.Fprintln(w.Stderr, leftWords(run, budget, rest.Cost.Expected))
	return nil
}
