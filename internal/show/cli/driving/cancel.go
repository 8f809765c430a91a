package driving

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
)

// Cancel makes the command `assay cancel`.
func Cancel(w *shell.World) *cobra.Command {
	var f orderFlags
	var reach shell.ReachFlags
	var all bool
	c := &cobra.Command{
		Use:     "cancel [RUN…]",
		GroupID: shell.GroupRun,
		Short:   "Cancel a run's jobs; what the providers still hand out is kept",
		Long: "Stops the jobs of runs. What was done is kept. The exit code is 3 where requests have no answer, 0 where all have one, " +
			"and 0 where the run has\n" +
			"ended already. With --provider, RUN is the id of a job at that provider that was made elsewhere.",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case reach.Wish.Provider != "":
				return cancelElsewhere(c.Context(), w, args, reach)
			case all && len(args) > 0:
				return shell.Usage("name runs, or say --all", "assay cancel --all takes no RUN")
			case all:
				return cancelOpen(c.Context(), w, f)
			case len(args) == 0:
				args = []string{""}
			}
			return cancelRuns(c.Context(), w, args, f)
		},
	}
	f.Register(c)
	reach.RegisterPlace(c, "RUN is the id of a job at this provider that was made elsewhere")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "cancel without asking")
	c.Flags().BoolVar(&all, "all", false, "all open runs of this home")
	return c
}

// cancelRuns cancels runs one after the other. The gravest of their errors counts.
func cancelRuns(ctx context.Context, w *shell.World, refs []string, f orderFlags) error {
	var worst error
	for _, ref := range refs {
		err := carryOutOrder(ctx, w, ref, store.Order{Kind: store.OrderCancel}, f)
		if err != nil && len(refs) > 1 {
			err = shell.Told(w, err)
		}
		if worse(err, worst) {
			worst = err
		}
	}
	return worst
}

// cancelOpen cancels all open runs of a home, after a question.
func cancelOpen(ctx context.Context, w *shell.World, f orderFlags) error {
	open, err := f.OpenRuns(ctx, w.Workspace())
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(r store.Run) bool { return r.State != store.RunOpen })
	if len(open) == 0 {
		fmt.Fprintln(w.Stderr, "no run is open")
		return nil
	}
	what := assay.Count(len(open), "open run")
	if err := (shell.Doubt{Question: "Cancel " + what + "?", Verb: "cancel " + what, Declined: "nothing was cancelled"}).Ask(w,
		f.yes); err != nil {
		return err
	}
	var refs []string
	for _, run := range open {
		refs = append(refs, run.ID)
	}
	return cancelRuns(ctx, w, refs, f)
}

// cancelElsewhere asks a provider to stop jobs that were made elsewhere.
func cancelElsewhere(ctx context.Context, w *shell.World, ids []string, reach shell.ReachFlags) error {
	if len(ids) == 0 {
		return shell.Usage("assay jobs --elsewhere lists them", "--provider: assay cancel needs the id of a job that was made elsewhere")
	}
	for _, id := range ids {
		j, err := shell.Elsewhere(ctx, w, id, reach)
		if err == nil {
			err = j.Cancel(ctx)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w.Stderr, "%s was asked to stop %s\n", j.Target.Name, j.Status.Job)
	}
	return nil
}
