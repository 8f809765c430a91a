package driving

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/quote"
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
	c.Flags().DurationVar(&f.interval, "interval", 0, "look at jobs this often (default: 15s at first, then less often)")
	c.Flags().BoolVar(&f.proceed, "proceed", false, "say yes to the first answers that were shown")
	c.Flags().BoolVar(&f.reconciled, "reconciled", false, "go on although jobs at the providers could not be compared with the ledger: "+
		"what they did may be paid twice")
	c.Flags().StringVar(&f.budget, "budget", "", "change what the run may spend; a higher one is asked about at a terminal")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "raise the budget without asking")
	c.Flags().StringArrayVar(&f.notify, "notify", nil, "where to send the news, too, as a notification URL or ${VARIABLE}")
	return c
}

func resumeRuns(ctx context.Context, w *shell.World, refs []string, f resumeFlags) error {
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
			shell.Complain(w, err)
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
		err := DriveAll(ctx, w, h, runs[rehearsal], DriveOptions{Once: f.once, Interval: f.interval, Notify: f.notify})
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

// WriteOrder writes an order for the process that drives the run.
func WriteOrder(ctx context.Context, h *shell.Home, run store.Run, o store.Order) error {
	_, err := h.PutOrder(ctx, run, o)
	return err
}

// printOrder prints what became of an order.
func printOrder(ctx context.Context, w *shell.World, h *shell.Home, no int64) error {
	o, err := h.Ledger.Reader.Order(ctx, no)
	if err != nil {
		return err
	}
	answer := o.Answer
	if o.Obeyed.IsZero() {
		answer = "the order waits for the process that drives the run"
	}
	_, err = fmt.Fprintf(w.Stderr, "%s: %s\n", o.Kind, answer)
	return err
}

// orderFlags are those of a command that gives an order.
type orderFlags struct {
	shell.HomeFlags
	yes bool
}

// orderCommand returns a command that gives an order. When another process drives the run, that process carries it out; else we do.
// What cannot be taken back is asked about first.
func orderCommand(w *shell.World, use, short string, order func(args []string) (store.Order, error)) *cobra.Command {
	var f orderFlags
	c := &cobra.Command{
		Use:     use,
		GroupID: shell.GroupRun,
		Short:   short,
		Args:    shell.UpTo(strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(use))[1:]...),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := order(args)
			if err != nil {
				return err
			}
			return carryOutOrder(c.Context(), w, shell.FirstOf(args), o, f)
		},
	}
	f.Register(c)
	if c.Name() == "retry" {
		c.Flags().BoolVarP(&f.yes, "yes", "y", false, "retry without asking")
	}
	return c
}

func carryOutOrder(ctx context.Context, w *shell.World, ref string, o store.Order, f orderFlags) error {
	h, run, err := f.Ordered(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	if run.State == store.RunClosed && o.Kind == store.OrderCancel {
		fmt.Fprintf(w.Stderr, "run %s has ended already, and nothing was cancelled\n", run.ID)
		return nil
	}
	if done, err := nothingToJudge(ctx, w, h, run, o); done || err != nil {
		return err
	}
	if err := h.Decidable(ctx, run, o); err != nil {
		return err
	}
	if err := confirmOrder(ctx, w, h, run, o, ref, f.yes); err != nil {
		return err
	}
	if o, err = retryLive(run, o); err != nil {
		return err
	}
	no, err := h.PutOrder(ctx, run, o)
	if err != nil {
		return err
	}
	err = driveRun(ctx, w, h, run, driveAfter(run, o))
	if printErr := printOrder(context.WithoutCancel(ctx), w, h, no); err == nil {
		err = printErr
	}
	return err
}

// driveAfter returns how far a run is driven after an order: what can be done now is done. Of a batch file, what is sent
// again goes out, and what is asked live is waited for.
func driveAfter(run store.Run, o store.Order) DriveOptions {
	b, batch := batchrun.Of(run)
	switch {
	case !batch || o.Kind != store.OrderRetry:
		return DriveOptions{Once: true}
	case b.File.Mode == assay.ModeLive:
		return DriveOptions{}
	}
	return DriveOptions{Detach: true}
}

// retryLive has a retry of a batch file that is asked live sent live again.
func retryLive(run store.Run, o store.Order) (store.Order, error) {
	b, batch := batchrun.Of(run)
	if !batch || o.Kind != store.OrderRetry || b.File.Mode != assay.ModeLive {
		return o, nil
	}
	var r engine.Retry
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return o, err
	}
	r.Mode = store.Live
	text, err := json.Marshal(r)
	o.Args = string(text)
	return o, err
}

// confirmOrder asks before what cannot be taken back: a run that was not named is cancelled, or requests are paid for.
func confirmOrder(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o store.Order, ref string, yes bool) error {
	switch {
	case h.Rehearsal:
		return nil
	case o.Kind == store.OrderCancel && ref == "":
		return shell.Doubt{Question: "Cancel run " + run.ID + "?", Verb: "cancel run " + run.ID + ", or name the run",
			Declined: "nothing was cancelled"}.Ask(w, yes)
	case o.Kind == store.OrderRetry:
		return confirmRetry(ctx, w, h, run, o, yes)
	}
	return nil
}

// confirmRetry prints what a retry sends and for how much, and asks.
func confirmRetry(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o store.Order, yes bool) error {
	var r engine.Retry
	if err := json.Unmarshal([]byte(o.Args), &r); err != nil {
		return err
	}
	if len(r.Verdicts) > 0 {
		return confirmRejudge(ctx, w, h, run, r.Verdicts, yes)
	}
	a, err := h.Again(ctx, run, r.Endings())
	if err != nil {
		return err
	}
	for _, e := range assay.Endings() {
		if n := a.Left[e]; n > 0 && (e == assay.Empty || e == assay.Rejected) {
			fmt.Fprintf(w.Stderr, "%s left alone: --only %s sends %s again\n", assay.Count(n, string(e)+" request"), e,
				assay.Verb(n, "it", "them"))
		}
	}
	if a.Ended+a.Unsent == 0 {
		return nil
	}
	if err := warnOfEdit(ctx, w, h, run); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s.\nrun %s: %s kept, %s to be sent again, %s not sent yet and to be sent; the price goes by what has been "+
		"paid or was expected\n", quote.PayNow(a.Cost, a.Ended+a.Unsent, true), run.ID, assay.Count(a.Kept, "answer"),
		assay.Count(a.Ended, "request"), assay.Thousands(a.Unsent))
	if run.Budget != nil {
		fmt.Fprintln(w.Stderr, leftWords(run, *run.Budget, a.Cost.Expected))
	}
	return shell.Ask(w, yes, "Send?")
}

// warnOfEdit prints what was changed in the study of a run since it began: what is sent again goes as it was.
func warnOfEdit(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	since, file, err := workspace.ChangedSince(ctx, h.Home, run)
	if err != nil || len(since) == 0 {
		return err
	}
	if short, err := filepath.Rel(w.Disk.Path("."), file); err == nil && filepath.IsLocal(short) {
		file = short
	}
	fmt.Fprintf(w.Stderr, "since run %s began the study changed: %s; a retry sends requests as they were, `assay run %s%s` as "+
		"they are now\n", run.ID, since, results.ShellWord(file), h.Typed)
	return nil
}

// Resolve makes the command `assay resolve`.
func Resolve(w *shell.World) *cobra.Command {
	var resend, drop bool
	var adopt string
	c := orderCommand(w, "resolve RUN SEGMENT", "Decide about a segment that is held", func(args []string) (store.Order, error) {
		if len(args) != 2 {
			return store.Order{}, shell.Usage("assay status RUN --segments lists them", "assay resolve needs RUN and SEGMENT")
		}
		no, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return store.Order{}, shell.Usage("assay status RUN --segments lists them", "segment %q is not a number", args[1])
		}
		r := engine.Resolve{Job: adopt}
		chosen := 0
		for do, yes := range map[engine.Do]bool{engine.DoResend: resend, engine.DoDrop: drop, engine.DoAdopt: adopt != ""} {
			if yes {
				r.Do = do
				chosen++
			}
		}
		if chosen != 1 {
			return store.Order{}, shell.Usage("", "choose one of --resend, --adopt JOB, --drop")
		}
		text, err := json.Marshal(r)
		return store.Order{Kind: store.OrderResolve, Segment: no, Args: string(text)}, err
	})
	c.Flags().BoolVar(&resend, "resend", false, "send it again: the job surely does not exist")
	c.Flags().StringVar(&adopt, "adopt", "", "the job that it became")
	c.Flags().BoolVar(&drop, "drop", false, "give it up")
	return c
}
