package driving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/reading"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/state"
	"assay/internal/study/plan"
)

type runFlags struct {
	study    shell.StudyFlags
	home     shell.HomeFlags
	budget   string
	note, by string
	settings snapshot.Settings
	scope    shell.ScopeFlags
	interval time.Duration
	yes      bool
	rehearse bool
	anew     bool
	detach   bool
	truth    bool
	settle   string
	shown    listenFlags
}

// Run makes the command `assay run`.
func Run(w *shell.World) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:     "run [STUDY]",
		GroupID: shell.GroupRun,
		Short:   "Send a study, or go on with its run; it ends with what was found",
		Long: "Runs a study: what can go out goes out, what comes back is kept, and the next wave is made from it, until everything " +
			"is answered.\n" +
			"Run it again to go on after a stop, a crash or Ctrl-C: nothing that has an answer is asked again.\n" +
			"An edit that changes no request (description, analyses, require, notify, budget, deadline, stop_if, labels, notes, caps of " +
			"live calls)\n" +
			"changes the run in place: an open run goes on with it, a closed one is analysed again. An edit that only adds (lanes, " +
			"items, judges, stages,\n" +
			"repeats) extends the run, after a question that says what is new and what it costs. After any other edit a new run takes " +
			"over what was answered\n" +
			"to equal questions, what judges and programs said of equal answers, and the labels that people gave them; an open run has " +
			"to be finished or\n" +
			"cancelled first. The difference is shown first.\n\n" +
			"--settle \"a, b\" buys the comparisons that would tell two lanes apart that a finished run cannot, and extends the run with " +
			"them. A question says\n" +
			"how many and what they cost; the same command goes on after a stop, and buys nothing twice. Where answers are judged one by " +
			"one, items tell\n" +
			"lanes apart: it names how many and the command that asks them.\n\n" +
			"It ends with what was found, in a few sentences and a table, and with what to type next.\n\n" +
			"--rehearse runs the whole study against the built-in simulator in seconds, with its own ledger, no key and no cost.",
		Args: shell.StudyArg(w),
		RunE: func(c *cobra.Command, args []string) error { return runStudy(c, w, shell.StudyFile(w, args), f) },
	}
	f.study.Register(c)
	f.home.Register(c)
	f.scope.Register(c)
	flags := c.Flags()
	flags.BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	flags.BoolVar(&f.rehearse, "rehearse", false, "run against the built-in simulator")
	flags.Uint64Var(&f.settings.Luck, "luck", 0, "with --rehearse: other answers and verdicts of the same models, by this number")
	flags.BoolVar(&f.truth, "truth", false,
		"with --rehearse: end with what was found beside what is true")
	flags.BoolVar(&f.anew, "new", false, "begin a new run: everything is asked again")
	flags.BoolVar(&f.detach, "detach", false, "stop when the first wave is in flight")
	flags.StringSliceVar(&f.settings.Lanes, "lane", nil, "only these lanes; globs allowed")
	flags.StringSliceVar(&f.settings.Stages, "stage", nil, "only these stages")
	flags.IntVar(&f.settings.Limit, "limit", 0, "only the first N items of each input that is asked")
	flags.StringVar(&f.budget, "budget", "", "the most this run may spend; with --settle: the most that settling may cost")
	flags.StringVar(&f.settle, "settle", "", "buy the comparisons that tell two lanes of a finished run apart, such as \"haiku, mini.low\"")
	flags.BoolVar(&f.settings.VerifyFirst, "verify-first", false,
		"batches: show each lane's first question and answer, and ask before the rest goes")
	flags.BoolVar(&f.settings.NoCanary, "no-canary", false, "send batches without asking one request live first")
	flags.DurationVar(&f.interval, "interval", 0, "look at jobs this often (default: 3s at first, then less often)")
	f.shown.register(c)
	flags.StringVar(&f.note, "note", "", "a note kept with the run")
	flags.StringVar(&f.by, "by", "", "who runs it (default: the login name); some providers see it")
	return c
}

func runStudy(c *cobra.Command, w *shell.World, name string, f runFlags) error {
	ctx := c.Context()
	if f.settings.Luck != 0 && !f.rehearse {
		return shell.Usage("add --rehearse", "--luck belongs to --rehearse")
	}
	if f.settings.VerifyFirst && f.settings.NoCanary {
		return shell.Usage("leave one of them out", "--verify-first shows the answer that --no-canary does not ask for")
	}
	if f.truth && !f.rehearse {
		return shell.Usage("add --rehearse", "--truth belongs to --rehearse")
	}
	if err := f.shown.check(w); err != nil {
		return err
	}
	if err := f.scope.Apply(w, name, &f.study); err != nil {
		return err
	}
	budget, err := ParseBudget(f.budget)
	if err != nil {
		return err
	}
	f.study.Running = true
	want, err := wanted(c, w, name, f, budget)
	if err != nil {
		return err
	}
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, f.rehearse)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Ready(ctx); err != nil { // before a run is begun
		return err
	}
	if f.settle != "" {
		return buyComparisons(ctx, w, h, want, f)
	}
	run, revised, err := theRun(ctx, w, h, want, f)
	for n := 0; errors.Is(err, workspace.ErrMoved) && n < mostReadings; n++ {
		fmt.Fprintln(w.Stderr, "the study or its items were changed meanwhile: they are read again")
		if want, err = wanted(c, w, name, f, budget); err == nil {
			run, revised, err = theRun(ctx, w, h, want, f)
		}
	}
	if err != nil {
		return err
	}
	if revised {
		return analyseAgain(ctx, w, h, run)
	}
	if f.detach {
		if left, err := handOver(ctx, w, h, run); left || err != nil {
			return err
		}
	}
	return Drive(ctx, w, h, run, want.Input.Study, DriveOptions{Detach: f.detach, Interval: f.interval, truth: f.truth, shown: f.shown})
}

// mostReadings bounds how often a study is read again that is changed while it is read.
const mostReadings = 5

// wanted reads and plans a study that is to be run.
func wanted(c *cobra.Command, w *shell.World, name string, f runFlags, budget *assay.Money) (workspace.Wanted, error) {
	o := plan.Options{Lanes: f.settings.Lanes, Stages: f.settings.Stages, Limit: f.settings.Limit, NoCanary: f.settings.NoCanary}
	d, p, err := shell.Planned(c, w, name, f.study, o, &shell.Seen{HomeFlags: f.home, Rehearsal: f.rehearse})
	if err == nil {
		err = Runnable(w, d, p, name, f.rehearse)
	}
	if err != nil {
		return workspace.Wanted{}, err
	}
	if f.settings.VerifyFirst {
		printUnverified(w, p)
	}
	return workspace.Wanted{
		File: name, Input: d, Plan: p, Study: f.study.StudyOptions, Settings: f.settings, Budget: workspace.BudgetOf(d.Study, budget),
		Note: f.note, By: f.by, New: f.anew,
	}, nil
}

// analyseAgain prints the state of a closed run and its findings, under the analyses that its study has now.
func analyseAgain(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	if err := state.PrintStatus(ctx, w, h, run, state.StatusDetail{}); err != nil {
		return err
	}
	found, err := findings.Of(ctx, h.Results(), run, findings.Query{})
	if err != nil || len(found.Report.Tables) == 0 {
		return err
	}
	for _, text := range found.Warnings {
		fmt.Fprintln(w.Stderr, text)
	}
	outline, err := reading.OutlineOf(ctx, w, h, found)
	if err != nil {
		return err
	}
	all := []*reading.Analysed{{Findings: found, Outline: outline}}
	return cmp.Or(reading.PrintAnalysed(w, all, reading.AnalyseFlags{}), reading.VerdictOf(all))
}
