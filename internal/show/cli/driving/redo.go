package driving

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
)

type redoFlags struct {
	home shell.HomeFlags
	workspace.Redo
	yes    bool
	detach bool
}

// Redo makes the command `assay redo`.
func Redo(w *shell.World) *cobra.Command {
	var f redoFlags
	c := &cobra.Command{
		Use:     "redo [RUN] --lane LANE --item ITEM",
		GroupID: shell.GroupRun,
		Short:   "Ask again what has an answer, as one more draw",
		Long: "Asks a lane again about an item. The answer that is there stays: the new one is a further draw of the same question, and " +
			"every table\n" +
			"counts it as that. A conversation is asked again from its first turn, and the judges of its stage read it too; stages that " +
			"continue it\n" +
			"or compare it keep to the draws and pairs of the plan. In a judge or compare stage LANE is the judge, and its new answer is " +
			"one more vote.\n\n" +
			"When another process drives the run, that process carries it out; else this one does.",
		Args: shell.UpTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return redo(c.Context(), w, shell.FirstOf(args), f) },
	}
	f.home.Register(c)
	flags := c.Flags()
	flags.StringVar(&f.Lane, "lane", "", "the lane that answers")
	flags.StringArrayVar(&f.Items, "item", nil, "the item's id (repeatable)")
	flags.StringVar(&f.Stage, "stage", "", "the stage; needed where the lane answers in several")
	flags.StringVar(&f.Branch, "branch", "", "only this branch")
	flags.IntVar(&f.Draw, "draw", 0, "only this draw")
	flags.BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	flags.BoolVar(&f.detach, "detach", false, "stop when it is in flight")
	return c
}

func redo(ctx context.Context, w *shell.World, ref string, f redoFlags) error {
	if f.Lane == "" || len(f.Items) == 0 {
		return shell.Usage("assay results RUN shows lanes and items", "assay redo needs --lane and --item")
	}
	h, run, err := f.home.Ordered(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	redone, err := h.Home.Redo(ctx, run, f.Redo)
	if err != nil {
		return err
	}
	if err := confirmRedo(w, h, run, redone, f); err != nil {
		return err
	}
	for _, o := range redone.Orders {
		if err := WriteOrder(ctx, h, run, o); err != nil {
			return err
		}
	}
	return driveRun(ctx, w, h, run, DriveOptions{Detach: f.detach})
}

// confirmRedo prints what is asked again and what it costs by what the same lanes have cost in this run, and asks.
func confirmRedo(w *shell.World, h *shell.Home, run store.Run, r workspace.Redone, f redoFlags) error {
	if h.Rehearsal {
		return nil
	}
	n := int64(0)
	for _, a := range r.Adds {
		n += a.Requests
	}
	fmt.Fprintf(w.Stderr, "%s, by what the same lanes have cost so far; %s kept.\nAsked again, as further draws:\n",
		quote.PayNow(r.Cost, n, true), assay.Count(r.Stays, "answer"))
	for _, a := range r.Adds {
		fmt.Fprintf(w.Stderr, "  stage %s, lane %s: %s, %s\n", a.Stage, a.Lane, assay.Count(a.Requests, "request"), priceWords(a.Cost))
	}
	if run.Budget != nil {
		fmt.Fprintln(w.Stderr, leftWords(run, *run.Budget, r.Cost.Expected))
	}
	return shell.Ask(w, f.yes, "Send?")
}
