package driving

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
)

// theRun returns the run of this study in this folder: the one there is, or a new one. It reports whether the study of a closed run
// was changed: then it is only analysed again.
func theRun(ctx context.Context, w *shell.World, h *shell.Home, want workspace.Wanted,
	f runFlags) (run store.Run, revised bool, err error) {
	if err := printLock(ctx, w, h, want); err != nil {
		return run, false, err
	}
	run, err = h.Run(ctx, want, workspace.Doorkeeper{
		Waiting: func() { fmt.Fprintln(w.Stderr, workspace.ErrBeginning) },
		Resumed: func(now workspace.Current) error {
			again, err := resumed(ctx, w, h, now, f.budget)
			revised = now.Edit != nil && now.Run.State == store.RunClosed && !again
			return err
		},
		Confirm: func(donors []store.Run, since *workspace.Edit) error {
			for _, r := range donors {
				if r.State == store.RunOpen {
					fmt.Fprintf(w.Stderr,
						"run %s is ended: what it has not sent waits in lanes that are stopped or held, and is sent as the "+
							"study is now\n", r.ID)
				}
			}
			over, err := h.TakesOver(ctx, want, donors)
			if err != nil {
				return err
			}
			q := question{pay: OverWords(over), parts: over.Parts, budget: BudgetWords(want.Budget, over.Cost.Expected)}
			if since != nil {
				q.why = fmt.Sprintf("since run %s the study changed: %s%s\n", since.Run.ID, since.Difference, NotExtended(since))
			}
			if len(donors) > 0 {
				q.why += fmt.Sprintf("answers of %s to equal questions are taken over at no cost%s; --new asks everything again\n",
					runNames(donors), labelWords(over.Labels))
			}
			return confirm(w, want, q, f)
		},
		Extend: func(now workspace.Current, over workspace.TakeOver) error {
			q := question{grows: true, parts: over.Parts}
			q.why = fmt.Sprintf("run %s is extended: %s (--new asks everything again, in a run of its own)\n", now.Run.ID, now.Edit.Words())
			budget := now.Edit.Budget
			if f.budget != "" {
				budget = want.Budget
			}
			if now.Edit.Plan != nil { // other pairs than those of a new run
				want.Plan = now.Edit.Plan
			}
			q.pay, q.budget = LeftToAsk(over), LeftOfBudget(now.Run, budget, over.Cost.Expected)
			return confirm(w, want, q, f)
		},
	})
	return run, revised, err
}

// NotExtended returns why a run does not go on with an edit; empty where it was not looked into.
func NotExtended(e *workspace.Edit) string {
	if e.Why == "" {
		return ""
	}
	return " (a new run is begun: " + e.Why + ")"
}

// labelWords returns how many labels of people are taken over besides; empty: none.
func labelWords(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", with up to %s that people gave on what is as it was", assay.Count(n, "label"))
}

// runNames names a few runs, and counts more.
func runNames(runs []store.Run) string {
	if len(runs) == 1 {
		return "run " + runs[0].ID
	}
	return fmt.Sprintf("%d closed runs of this study (the newest is %s)", len(runs), runs[0].ID)
}

// resumed prints that a run is there already, and changes its budget where one is named. It reports whether something is tried
// again.
func resumed(ctx context.Context, w *shell.World, h *shell.Home, now workspace.Current, budget string) (bool, error) {
	if e := now.Edit; e != nil && !e.Grows {
		fmt.Fprintf(w.Stderr, "the study changed only in %s: nothing is asked again\n", e.Words())
	}
	if e := now.Edit; e != nil && budget == "" && e.OwnBudget() {
		fmt.Fprintf(w.Stderr, "the run keeps the budget that was set for it, %s, whatever the study says now; --budget changes it\n",
			orNoLimit(now.Run.Budget))
	}
	again, err := TryAgain(ctx, w, h, now.Run)
	if err != nil {
		return again, err
	}
	if now.Run.State == store.RunClosed && !again {
		fmt.Fprintf(w.Stderr, "run %s of this study is closed; --new asks everything again, `assay retry %s` what has no answer\n",
			now.Run.ID, h.Named(now.Run))
		return again, nil
	}
	fmt.Fprintf(w.Stderr, "going on with run %s\n", now.Run.ID)
	if now.Partial {
		fmt.Fprintln(w.Stderr, "it was begun about a part of the study; once it is closed, the same command asks the rest")
	}
	m, err := ParseBudget(budget)
	if m == nil || err != nil {
		return again, err
	}
	fmt.Fprintf(w.Stderr, "it may spend %s from now on\n", m)
	return again, h.Ledger.Runs.SetBudget(ctx, now.Run.No, m)
}

// TryAgain gives lanes that a wrong key or an empty account stopped another try, and prints that.
func TryAgain(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) (bool, error) {
	lanes, err := h.TryAgain(ctx, run)
	for _, l := range lanes {
		fmt.Fprintf(w.Stderr, "lane %s is tried again; what had stopped it: %s\n", l.Name, l.Reason)
	}
	return len(lanes) > 0, err
}

// orNoLimit returns a budget in words.
func orNoLimit(m *assay.Money) string {
	if m == nil {
		return "no limit"
	}
	return m.String()
}

// ParseBudget reads --budget; nil: it was not given.
func ParseBudget(text string) (*assay.Money, error) {
	if text == "" {
		return nil, nil
	}
	m, err := assay.ParseMoney(text)
	if err != nil {
		return nil, shell.Usage("", "--budget: %s", err)
	}
	return &m, nil
}

// Runnable returns what keeps a good study from being run: keys and programs that are missing.
func Runnable(w *shell.World, d *plan.Input, p *plan.Plan, name string, rehearse bool) error {
	problems := w.Workspace().Missing(d, p, name, workspace.Rehearsal(rehearse))
	for _, q := range problems.Warnings() {
		w.Warn(q.String())
	}
	if problems = problems.Errors(); len(problems) > 0 {
		return problems
	}
	if p.Empty() {
		return shell.Usage("", "there is nothing to send")
	}
	return nil
}

// question is the question that a person answers before anything is paid.
type question struct {
	pay    string              // what is paid now: the first of it
	why    string              // what a run is begun from, or extended with
	parts  []workspace.NewPart // what is asked, and what each of it costs
	budget string              // what may be spent
	grows  bool                // an open or closed run is extended
}

// left returns how many requests of a part of the plan send a canary ahead, if any does: those that are new. A lane that a run has
// asked before has had its canary.
func (q question) left(of plan.Part) int64 {
	for _, n := range q.parts {
		if n.Stage == of.Stage && n.Lane.Name == of.Lane.Name && n.Turn == of.Turn {
			if q.grows && n.New < n.Requests {
				return 0
			}
			return n.New
		}
	}
	return 0
}

// confirm prints what is paid now, for whom, how long it takes and what may be spent, and asks; `assay plan` says more. Without a
// terminal and without --yes nothing is sent.
func confirm(w *shell.World, want workspace.Wanted, q question, f runFlags) error {
	if f.rehearse {
		fmt.Fprint(w.Stderr, q.why)
		return nil
	}
	d, p := want.Input, want.Plan
	fmt.Fprint(w.Stderr, q.pay, q.why)
	for _, line := range quote.Bill(asked(q.parts)) {
		fmt.Fprintln(w.Stderr, "  "+line)
	}
	if len(q.parts) > 0 {
		fmt.Fprintln(w.Stderr, quote.Times(d, p)+quote.Guessed(p))
	}
	fmt.Fprint(w.Stderr, q.budget)
	for _, n := range p.Said(q.left) {
		fmt.Fprintln(w.Stderr, "Note: "+n+".")
	}
	space := w.Workspace()
	for _, k := range space.Keys(d, p) {
		to := k.Provider
		if host := space.Accounts(d.Study).Address(k.Provider); host != "" {
			to += " is asked at " + host
		} else {
			to += " is asked"
		}
		fmt.Fprintln(w.Stderr, to+withKey(w, k)+".")
	}
	return shell.Ask(w, f.yes, "Send?")
}

// asked returns what is left of a plan as a bill has it.
func asked(parts []workspace.NewPart) []quote.Row {
	var rows []quote.Row
	for _, n := range parts {
		r := quote.Row{Provider: n.Lane.Provider, Model: n.Lane.Model, Requests: n.New, Exact: n.Exact, Cost: n.Cost,
			Live: n.Mode == assay.ModeLive}
		if n.New == n.Requests {
			r.Batches = len(n.Segments)
		}
		rows = append(rows, r)
	}
	return rows
}

// withKey names the variable that holds the key of a provider.
func withKey(w *shell.World, k plan.Key) string {
	for _, name := range k.Names {
		if w.IsSet(name) {
			return " with the key in " + name
		}
	}
	return ", without a key"
}

// OverWords returns what is paid now for a new run, and what it takes over of others.
func OverWords(over workspace.TakeOver) string {
	rest := ""
	if over.Most > 0 {
		rest = "; " + quote.UpTo(over.Exact) + are(over.Most) + " taken over"
	}
	return quote.PayNow(over.Cost, over.New, over.Exact) + rest + ".\n"
}

// LeftToAsk returns what is paid now for a run that goes on, and what of it has its answer.
func LeftToAsk(over workspace.TakeOver) string {
	rest := ""
	if over.Most > 0 {
		rest = fmt.Sprintf("; %s %s an answer", assay.Thousands(over.Most), assay.Verb(over.Most, "has", "have"))
	}
	if over.Away > 0 {
		rest += "; " + are(over.Away) + " in flight"
	}
	if over.Over > 0 {
		rest += "; " + are(over.Over) + " not needed as rounds of pairs ended early"
	}
	return quote.PayNow(over.Cost, over.New, over.Exact) + rest + ".\n"
}

func are(n int64) string { return assay.Thousands(n) + assay.Verb(n, " is", " are") }

// BudgetWords returns what may be spent, and whether it covers what is expected of what is new.
func BudgetWords(budget *assay.Money, expected assay.Cost) string {
	switch {
	case budget == nil:
		return ""
	case expected.Sum > *budget:
		return fmt.Sprintf("Budget: %s. It does not cover what is expected: the run stops when it is spent.\n", *budget)
	}
	return fmt.Sprintf("Budget: %s.\n", *budget)
}

// LeftOfBudget returns the same as a line of its own; empty where anything may be spent.
func LeftOfBudget(run store.Run, budget *assay.Money, expected assay.Cost) string {
	if budget == nil {
		return ""
	}
	return leftWords(run, *budget, expected) + ".\n"
}
