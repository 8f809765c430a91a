package planning

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/driving"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
)

// ahead returns what `assay run` would do with a planned study in this home; nil where there is no ledger yet. What the
// plan can show goes by the runs before it.
func ahead(c *cobra.Command, w *shell.World, d *plan.Input, p *plan.Plan, name string, f planFlags) (*workspace.Ahead, error) {
	if p.Reckon(nil, f.points); !f.pilot.home.HasHome(w, false) {
		return nil, nil
	}
	h, err := f.pilot.home.OpenHome(c.Context(), w, false)
	if err != nil { // the plan itself needs no ledger
		fmt.Fprintf(w.Stderr, "what was run before is not known: %s\n", err)
		return nil, nil
	}
	defer h.Close()
	want := workspace.Wanted{
		File: name, Input: d, Plan: p, Study: f.study.StudyOptions,
		Settings: snapshot.Settings{Lanes: f.lanes, Stages: f.stages, Limit: f.limit},
	}
	seen, err := h.Varied(c.Context(), want)
	if err != nil {
		return nil, err
	}
	p.Reckon(seen, f.points)
	a, err := h.Ahead(c.Context(), want)
	return &a, err
}

// aheadWords returns what `assay run` would do, and for how much.
func aheadWords(a *workspace.Ahead) string {
	switch {
	case a == nil:
		return ""
	case a.Refused != nil:
		return fmt.Sprintf("`assay run` would be refused: %s.\n", a.Refused)
	case a.Run.No != 0 && a.Edit != nil && a.Edit.Grows:
		return fmt.Sprintf("`assay run` would extend run %s: %s.\n%s%s", a.Run.ID, a.Edit.Words(), drawnWords(a.Edit),
			driving.LeftToAsk(a.Over))
	case a.Run.No != 0 && a.Run.State == store.RunClosed && a.Edit != nil:
		return fmt.Sprintf("Run %s is closed, and the study changed only in %s since: nothing would be asked again.\n", a.Run.ID,
			a.Edit.Words())
	case a.Run.No != 0 && a.Run.State == store.RunClosed:
		return fmt.Sprintf("Run %s of this study is closed: nothing would be asked again.\n", a.Run.ID)
	case a.Run.No != 0:
		return fmt.Sprintf("Run %s is open, and `assay run` goes on with it. %s", a.Run.ID, driving.LeftToAsk(a.Over))
	}
	var b strings.Builder
	if a.Edit != nil {
		fmt.Fprintf(&b, "Since run %s the study changed: %s%s.\n", a.Edit.Run.ID, a.Edit.Difference, driving.NotExtended(a.Edit))
	}
	b.WriteString(driving.OverWords(a.Over))
	return b.String()
}

// drawnWords returns how many requests a run has that keeps the pairs it drew; empty: as many as a new one.
func drawnWords(e *workspace.Edit) string {
	if e.Plan == nil {
		return ""
	}
	all := e.Plan.Sum(func(plan.Part) bool { return true })
	return fmt.Sprintf("The pairs that it drew stay, and others are drawn in addition: it has %s in all then.\n",
		assay.Count(all.Requests, "request"))
}

// aheadBudget returns what may be spent on what `assay run` would send: of a new run all that the study says, else what is left.
func aheadBudget(a *workspace.Ahead, study *assay.Money, all assay.Cost) string {
	switch {
	case a == nil || a.Refused != nil || a.Run.No == 0 && a.Over.Most == 0:
		return driving.BudgetWords(study, all)
	case a.Run.No == 0:
		return driving.BudgetWords(study, a.Over.Cost.Expected)
	}
	budget, expected := a.Run.Budget, a.Over.Cost.Expected
	if a.Edit != nil {
		budget = a.Edit.Budget
	}
	if a.Run.State == store.RunClosed && (a.Edit == nil || !a.Edit.Grows) {
		expected = assay.Cost{} // nothing would be asked
	}
	return driving.LeftOfBudget(a.Run, budget, expected)
}
