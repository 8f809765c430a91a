package driving

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/ratelimit"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/state"
	"assay/internal/show/cli/term"
	"assay/internal/study"
	"assay/internal/study/plan"
)

type tuneFlags struct {
	home        shell.HomeFlags
	lanes       []string
	providers   []string
	concurrency int
	rate        string
	budget      string
	pause       []string
	unpause     []string
	reset       bool
	yes         bool
}

// Tune makes the command `assay tune`.
func Tune(w *shell.World) *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:     "tune [RUN]",
		GroupID: shell.GroupRun,
		Short:   "Change the limits of a run while it goes on",
		Long: `Changes what a run may send, while it goes on: every process that works on it follows within seconds, and the run's history says so.

--concurrency and --rate are about live requests: of every lane, of the lanes of --lane, or of all lanes of a provider together with --provider. They stand in place of what the study says, for this run only; --reset takes them back. A lane that is paused sends nothing new, live or as a batch; what is in flight is waited for, and its jobs are collected. A budget that is lowered stops what is not sent yet.

Without a change it prints the limits. The limits of a study can be edited in its file, too: ` + "`assay run`" + ` then goes on with them.`,
		Args: shell.UpTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			return tune(c.Context(), w, shell.FirstOf(args), f, c.Flags().Changed("concurrency"))
		},
	}
	f.home.Register(c)
	c.Flags().StringSliceVar(&f.lanes, "lane", nil, "set the limits of these lanes (default: every lane)")
	c.Flags().StringSliceVar(&f.providers, "provider", nil, "set the limits of all lanes of these providers together")
	c.Flags().IntVar(&f.concurrency, "concurrency", 0, "most live requests in flight")
	c.Flags().StringVar(&f.rate, "rate", "", "live requests, such as 5/s or 300/min")
	c.Flags().StringVar(&f.budget, "budget", "", "what the run may spend, such as \"80 USD\"")
	c.Flags().StringSliceVar(&f.pause, "pause", nil, "send nothing new in these lanes")
	c.Flags().StringSliceVar(&f.unpause, "unpause", nil, "go on with lanes that are paused")
	c.Flags().BoolVar(&f.reset, "reset", false, "go back to the study's limits; pauses and the budget stay")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "raise a budget without asking")
	return c
}

func tune(ctx context.Context, w *shell.World, ref string, f tuneFlags, counted bool) error {
	t, err := f.read(counted)
	if err != nil {
		return err
	}
	h, run, err := f.home.Ordered(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	if err := f.known(run, lanes); err != nil {
		return err
	}
	nothing := !t.Reset && t.Limits == (store.Limits{}) && t.Budget == nil && len(t.Pause)+len(t.Unpause) == 0
	if nothing {
		return printLimits(ctx, w, h, run, lanes)
	}
	if run.State == store.RunClosed {
		return shell.Usage("", "run %s is closed: it sends nothing more", run.ID)
	}
	if t.Budget != nil {
		if err := confirmBudget(ctx, w, h, run, *t.Budget, f.yes); err != nil {
			return err
		}
	}
	words, err := h.Tune(ctx, run, t)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "run %s: %s\n", run.ID, words)
	if run, err = h.Ledger.Reader.Run(ctx, run.No); err != nil {
		return err
	}
	if err := warnTighter(ctx, w, h, run, lanes, t); err != nil {
		return err
	}
	who, err := state.DriversOf(ctx, h, run)
	if err == nil {
		fmt.Fprintln(w.Stdout, who)
	}
	return err
}

// read reads what is to be changed.
func (f tuneFlags) read(counted bool) (workspace.Tune, error) {
	t := workspace.Tune{Lanes: f.lanes, Providers: f.providers, Reset: f.reset, Pause: f.pause, Unpause: f.unpause}
	if counted && f.concurrency < 1 {
		return t, shell.Usage("--pause LANE sends nothing, --reset goes back to the study's limits",
			"--concurrency: want at least 1, got %d", f.concurrency)
	}
	t.Limits.Concurrency = f.concurrency
	if f.rate != "" {
		rate, ok := study.ParseRate(f.rate)
		if !ok {
			return t, shell.Usage("", "--rate: want a rate, such as 5/s or 300/min, got %q", f.rate)
		}
		t.Limits.Rate = float64(rate)
	}
	var err error
	if t.Budget, err = ParseBudget(f.budget); err != nil {
		return t, err
	}
	if t.Limits == (store.Limits{}) && len(t.Lanes)+len(t.Providers) > 0 {
		return t, shell.Usage("", "--lane and --provider say what --concurrency and --rate are for: give one of these")
	}
	for _, name := range t.Pause {
		if slices.Contains(t.Unpause, name) {
			return t, shell.Usage("", "lane %s: --pause or --unpause, not both", name)
		}
	}
	return t, nil
}

// known wants all names to be the run's.
func (f tuneFlags) known(run store.Run, lanes []store.Lane) error {
	var names, providers []string
	for _, l := range lanes {
		names, providers = append(names, l.Name), append(providers, l.Provider)
	}
	for _, c := range []struct {
		flag, kind  string
		want, there []string
	}{{"--lane", "lane", f.lanes, names}, {"--pause", "lane", f.pause, names}, {"--unpause", "lane", f.unpause, names},
		{"--provider", "provider", f.providers, providers}} {
		slices.Sort(c.there)
		c.there = slices.Compact(c.there)
		for _, name := range c.want {
			if !slices.Contains(c.there, name) {
				return shell.Usage(assay.ThereAre(c.there), "%s: run %s has no %s %q", c.flag, run.ID, c.kind, name)
			}
		}
	}
	return nil
}

// confirmBudget prints what a run still sends under another budget, and asks where there is a terminal and the budget grows.
func confirmBudget(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, budget assay.Money, yes bool) error {
	if run.State != store.RunOpen {
		return nil
	}
	if err := printRest(ctx, w, h, run, budget); err != nil {
		return err
	}
	if bool(h.Rehearsal) || !w.Terminal.In || run.Budget == nil || budget <= *run.Budget {
		return nil
	}
	return shell.Doubt{Question: fmt.Sprintf("Let run %s spend up to %s?", run.ID, budget), Verb: "raise the budget",
		Declined: "the budget stays " + run.Budget.String()}.Ask(w, yes)
}

// limitsOf returns the limits of a lane and of its provider as they count now; false: it cannot be asked live.
func limitsOf(ctx context.Context, h *shell.Home, run store.Run, l store.Lane) (lane, account ratelimit.Caps, live bool) {
	r, err := h.Planner.Route(ctx, run, l.Stage, l.Name, store.Live)
	if err != nil {
		return ratelimit.Caps{}, ratelimit.Caps{}, false
	}
	return r.Live.Lane, r.Live.Account, true
}

// warnTighter prints where the limits of a provider keep lanes from using what was set for them.
func warnTighter(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, lanes []store.Lane, t workspace.Tune) error {
	named := map[string]bool{}
	for _, l := range lanes {
		if named[l.Provider] || len(t.Lanes) > 0 && !slices.Contains(t.Lanes, l.Name) || len(t.Providers) > 0 {
			continue
		}
		_, account, _ := limitsOf(ctx, h, run, l)
		less := account.Concurrency > 0 && account.Concurrency < t.Limits.Concurrency ||
			account.Every() > 0 && t.Limits.Rate > 0 && account.Every() > (ratelimit.Caps{Rate: t.Limits.Rate}).Every()
		if less {
			named[l.Provider] = true
			fmt.Fprintf(w.Stderr, "all lanes of provider %s together have %s: --provider %s changes that\n", l.Provider,
				capWords(account), l.Provider)
		}
	}
	return nil
}

// capWords returns what caps allow.
func capWords(c ratelimit.Caps) string {
	rate := c.Rate
	if every := c.Pause.Seconds(); every > 0 && (rate == 0 || 1/every < rate) {
		rate = 1 / every
	}
	words := workspace.LimitWords(store.Limits{Concurrency: c.Concurrency, Rate: rate})
	if words == "" {
		return "no limit of ours"
	}
	return words
}

// printLimits prints what a run may send.
func printLimits(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, lanes []store.Lane) error {
	budget := "no budget"
	if run.Budget != nil {
		budget = fmt.Sprintf("budget %s, %s of it spent or reserved", run.Budget, run.Spent+run.Reserved+run.Perhaps)
	}
	fmt.Fprintf(w.Stdout, "run %s of %s, %s: %s\n", run.ID, run.Study, run.State, budget)
	t := term.Table{Head: []string{"STAGE", "LANE", "STATE", "LIVE REQUESTS", "PROVIDER", "OF ALL ITS LANES"}}
	for _, l := range lanes {
		lane, account, live := limitsOf(ctx, h, run, l)
		own, all := capWords(lane), capWords(account)
		if !live {
			own, all = "none", ""
		}
		t.Add(l.Stage, l.Name, state.LaneState(run, l), own, l.Provider, all)
	}
	return t.Write(w.Stdout)
}

// priceWords returns a price in words.
func priceWords(p plan.Price) string {
	return fmt.Sprintf("%s expected, %s to %s", p.Expected, p.Low, p.High)
}

// leftWords returns what is left of a budget, and whether it covers what is expected.
func leftWords(run store.Run, budget assay.Money, expected assay.Cost) string {
	used := run.Spent + run.Reserved + run.Perhaps
	text := fmt.Sprintf("%s of the budget of %s is spent or reserved", used, budget)
	if expected.Sum > 0 && expected.Sum > budget-used {
		text += ": what is left does not cover what is expected"
	}
	return text
}

// printRest prints what a run still sends and for how much, under a budget.
func printRest(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, budget assay.Money) error {
	rest, err := h.Rest(ctx, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "%s kept, %s in flight, at most %s new: %s\n", assay.Count(rest.Answered, "answer"),
		assay.Thousands(rest.Away), assay.Thousands(rest.Left), priceWords(rest.Cost))
	fmt.Fprintln(w.Stderr, leftWords(run, budget, rest.Cost.Expected))
	return nil
}
