package driving

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
)

type resumeFlags struct {
	home    shell.HomeFlags
	all     bool
	once    bool
	proceed bool

	reconciled bool
	budget     string
	yes        bool
	notify     []string

	interval time.Duration
	shown    listenFlags
}

// Resume makes the command `assay resume`.
func Resume(w *shell.World) *cobra.Command {
	var f resumeFlags
	c := &cobra.Command{
		Use:     "resume [RUN…]",
		GroupID: shell.GroupRun,
		Short:   "Drive open runs to their end",
		Long: "Drives runs that are open: looks at jobs, collects what is ready, and sends the next wave; several runs at the same " +
			"time. With --once it does what can be done now and stops, for cron; what a provider hands out of jobs that are " +
			"not done is fetched, too.",
		RunE: func(c *cobra.Command, args []string) error { return resumeRuns(c.Context(), w, args, f) },
	}
	f.home.Register(c)
	c.Flags().BoolVar(&f.all, "all", false, "all open runs of this home, and closed ones that owe a look at a provider's jobs")
	c.Flags().BoolVar(&f.once, "once", false, "do what can be done now, then stop")
	c.Flags().DurationVar(&f.interval, "interval", 0, "look at jobs this often (default: 3s at first, then less often)")
	f.shown.register(c)
	c.Flags().BoolVar(&f.proceed, "proceed", false, "say yes to the first answers that were shown")
	c.Flags().BoolVar(&f.reconciled, "reconciled", false, "go on without comparing the jobs at the providers first: may pay twice")
	c.Flags().StringVar(&f.budget, "budget", "", "change what the run may spend")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "raise the budget without asking")
	c.Flags().StringArrayVar(&f.notify, "notify", nil, "where to send the news, too, as a notification URL or ${VARIABLE}")
	return c
}

func resumeRuns(ctx context.Context, w *shell.World, refs []string, f resumeFlags) error {
	if err := f.shown.check(w); err != nil {
		return err
	}
	if !f.once {
		f.home.Waits(w)
	}
	if f.all {
		if len(refs) > 0 {
			return shell.Usage("name runs, or say --all", "assay resume --all takes no RUN")
		}
		open, err := f.home.OpenRuns(ctx, w.Workspace())
		if err != nil {
			return err
		}
		for _, r := range open {
			refs = append(refs, r.ID)
		}
		if len(refs) == 0 {
			fmt.Fprintln(w.Stderr, "no run is open, and none owes a look at a provider's jobs")
			return nil
		}
	}
	if len(refs) == 0 {
		refs = []string{""}
	}
	return resumeAll(ctx, w, refs, f)
}

// resumeAll drives runs at the same time: those of each home together.
func resumeAll(ctx context.Context, w *shell.World, refs []string, f resumeFlags) error {
	var worst error
	homes, runs := map[bool]*shell.Home{}, map[bool][]store.Run{}
	defer func() {
		for _, h := range homes {
			h.Close()
		}
	}()
	for _, ref := range refs {
		h, run, err := prepareResume(ctx, w, ref, f)
		if err != nil && len(refs) > 1 {
			err = shell.Told(w, err)
		}
		if worse(err, worst) {
			worst = err
		}
		if err != nil {
			continue
		}
		if homes[h.Rehearsal] != nil {
			h.Close()
		} else {
			homes[h.Rehearsal] = h
		}
		runs[h.Rehearsal] = append(runs[h.Rehearsal], run)
	}
	for rehearsal, h := range homes {
		err := DriveAll(ctx, w, h, runs[rehearsal], DriveOptions{Once: f.once, Interval: f.interval, Notify: f.notify, shown: f.shown})
		if worse(err, worst) {
			worst = err
		}
	}
	return worst
}

// worse reports whether a has the exit code that wins over b's: 2, 1, 5, 4, 6, 3.
func worse(a, b error) bool {
	rising := []int{shell.ExitDone, shell.ExitIncomplete, shell.ExitGate, shell.ExitBudget, shell.ExitHeld, shell.ExitFailed,
		shell.ExitUsage}
	return slices.Index(rising, shell.ExitCode(a)) > slices.Index(rising, shell.ExitCode(b))
}

// prepareResume finds a run and does to it what the flags ask for before it is driven.
func prepareResume(ctx context.Context, w *shell.World, ref string, f resumeFlags) (h *shell.Home, run store.Run, err error) {
	if h, run, err = f.home.Ordered(ctx, w, ref); err != nil {
		return nil, run, err
	}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	budget, err := ParseBudget(f.budget)
	if err != nil {
		return h, run, err
	}
	if budget != nil {
		if err := confirmBudget(ctx, w, h, run, *budget, f.yes); err != nil {
			return h, run, err
		}
		if _, err := h.Tune(ctx, run, workspace.Tune{Budget: budget}); err != nil {
			return h, run, err
		}
		fmt.Fprintf(w.Stderr, "it may spend %s from now on\n", budget)
	}
	if f.reconciled {
		if err := h.Ledger.Work.Reconciled(ctx, run.No, "a person goes on without it"); err != nil {
			return h, run, err
		}
	}
	if _, err := TryAgain(ctx, w, h, run); err != nil {
		return h, run, err
	}
	if !f.all { // cron does as providers ask
		n, err := h.Ledger.Work.Hurry(ctx, run.No)
		if err != nil {
			return h, run, err
		}
		if n > 0 {
			fmt.Fprintf(w.Stderr, "%s that a provider asked to wait: tried now\n", assay.Count(n, "segment"))
		}
	}
	// with --once, and for a batch file, jobs are looked at now, however short ago the last look was
	if _, batch := batchrun.Of(run); (batch || f.once) && run.State != store.RunClosed {
		if err := WriteOrder(ctx, h, run, store.Order{Kind: store.OrderCollect}); err != nil {
			return h, run, err
		}
	}
	if f.proceed {
		return h, run, WriteOrder(ctx, h, run, store.Order{Kind: store.OrderProceed})
	}
	return h, run, nil
}

// driveRun drives a run from its own snapshot.
func driveRun(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o DriveOptions) error {
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return err
	}
	return Drive(ctx, w, h, run, s, o)
}
