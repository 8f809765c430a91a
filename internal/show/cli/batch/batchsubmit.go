package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/driving"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

type submitFlags struct {
	reach       shell.ReachFlags
	home        shell.HomeFlags
	note        string
	budget      string
	most        *assay.Money // the budget; nil: there is none
	size        int
	concurrency int
	yes         bool
	watch       bool
	anew        bool
	rehearse    bool
	interval    time.Duration
	notify      []string
	estimate    bool
	json        bool
}

func batchSubmitCommand(w *shell.World) *cobra.Command {
	var f submitFlags
	c := &cobra.Command{
		Use:   "submit FILE…",
		Short: "Check batch files and send them",
		Long: "Checks every file from end to end, prints the price, asks, and sends: recorded first, cut under the provider's limits, " +
			"one job for each model.\n" +
			"Where something is wrong with any of the files, nothing is sent. Submitting the same file again goes on with it; --new " +
			"sends it anew.",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return shell.Usage("assay help batch", "assay batch submit needs FILE")
			}
			if f.estimate {
				return estimateFiles(c.Context(), w, args, f)
			}
			return submitFiles(c.Context(), w, args, f)
		},
	}
	f.reach.Register(c)
	f.home.Register(c)
	c.Flags().StringVar(&f.note, "note", "", "a note kept with the batch")
	c.Flags().StringVar(&f.budget, "budget", "", "the most that each file may cost")
	c.Flags().IntVar(&f.size, "size", 0, "most requests in a job, below the provider's limit")
	c.Flags().IntVar(&f.concurrency, "concurrency", 0, "live requests at a time (0: 4)")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "send without asking")
	c.Flags().BoolVar(&f.watch, "wait", false, "stay and drive it until everything is back")
	c.Flags().BoolVar(&f.anew, "new", false, "send a file again that was sent before")
	c.Flags().BoolVar(&f.rehearse, "rehearse", false, "send to the built-in simulator, without key and cost")
	c.Flags().BoolVar(&f.estimate, "estimate", false, "print what the files would cost; nothing leaves this machine")
	c.Flags().BoolVar(&f.json, "json", false, "with --estimate: print JSON")
	c.Flags().DurationVar(&f.interval, "interval", 0, "with --wait: between two looks at a job")
	c.Flags().StringArrayVar(&f.notify, "notify", nil, "with --wait: where to send the news, as a notification URL or ${VARIABLE}")
	return c
}

// upload is one file that is ready to go.
type upload struct {
	*workspace.BatchFile
	run   store.Run // where it was sent before
	fresh bool
}

func submitFiles(ctx context.Context, w *shell.World, names []string, f submitFlags) error {
	most, err := driving.ParseBudget(f.budget)
	if err != nil {
		return err
	}
	f.most = most
	all, err := checkFiles(ctx, w, names, f)
	if err != nil {
		return err
	}
	f.home.Waits(w)
	h, err := f.home.OpenHome(ctx, w, f.rehearse)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Ready(ctx); err != nil {
		return err
	}
	for i := range all {
		if err := sentBefore(ctx, w, h, &all[i], f); err != nil {
			return err
		}
	}
	if err := confirmFiles(w, h, all, f); err != nil {
		return err
	}
	for i := range all {
		if err := beginFile(ctx, h, &all[i], f); err != nil {
			return err
		}
	}
	var runs []store.Run
	stay := f.watch || f.rehearse
	for _, p := range all {
		runs = append(runs, p.run)
		stay = stay || p.Batch.File.Mode == assay.ModeLive
	}
	return driving.DriveAll(ctx, w, h, runs, driving.DriveOptions{Detach: !stay, Interval: f.interval, Notify: f.notify})
}

// checkFiles reads every file from end to end. Problems of all of them are listed at once.
func checkFiles(ctx context.Context, w *shell.World, names []string, f submitFlags) ([]upload, error) {
	var out []upload
	var problems assay.Problems
	for _, name := range names {
		file, found, err := checkFile(ctx, w, name, f.reach)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
		if file == nil {
			continue
		}
		file.Batch.Size, file.Batch.Width = f.size, f.concurrency
		out = append(out, upload{BatchFile: file})
		if f.rehearse {
			continue
		}
		if err := cmp.Or(tooFew(file), w.Workspace().Resolver().Lacks(file.Target), reachable(w, file.Target)); err != nil {
			return nil, err
		}
	}
	for _, q := range problems.Warnings() {
		w.Warn(q.String())
	}
	if bad := problems.Errors(); len(bad) > 0 {
		return nil, bad
	}
	return out, nil
}

// estimateFiles prints what files would cost.
func estimateFiles(ctx context.Context, w *shell.World, names []string, f submitFlags) error {
	costs := []batchrun.Cost{}
	for _, name := range names {
		file, problems, err := checkFile(ctx, w, name, f.reach)
		if err != nil {
			return err
		}
		if file == nil {
			return problems.Errors()
		}
		costs = append(costs, batchrun.Estimate(name, &file.Batch.File)...)
	}
	if f.json {
		return term.WriteJSON(w.Stdout, costs)
	}
	t := term.Table{Head: []string{"FILE", "PROVIDER", "MODEL", "MODE", "REQUESTS", "EXPECTED", "AT MOST"},
		Right: map[int]bool{4: true, 5: true, 6: true}}
	for _, c := range costs {
		t.Add(c.File, c.Provider, c.Model, c.Mode, assay.Thousands(c.Requests), c.Expected, c.High)
	}
	if err := t.Write(w.Stdout); err != nil {
		return err
	}
	fmt.Fprintln(w.Stderr, "EXPECTED guesses the output; AT MOST is every answer at its limit")
	return nil
}

func checkFile(ctx context.Context, w *shell.World, name string, reach shell.ReachFlags) (*workspace.BatchFile, assay.Problems, error) {
	file, problems, err := w.Workspace().CheckBatch(ctx, name, reach.Model, reach.Asked())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, shell.Usage("", "there is no file %s", name)
	case errors.Is(err, workspace.ErrNoFile):
		return nil, nil, shell.Usage("", "%s is not a file", name)
	}
	return file, problems, err
}

// tooFew is an error where a model is asked fewer requests than a batch of its provider must have.
func tooFew(file *workspace.BatchFile) error {
	v, _ := catalog.Default().Vendor(file.Target.Kind)
	for _, l := range file.Batch.File.Lanes {
		if file.Target.Mode == assay.ModeBatch && l.Requests < int64(v.Limits.Least) {
			return shell.Usage("--live asks them one by one, at the full price", "%s has %s for %s, and %s takes no batch of fewer than %d",
				file.Name, assay.Count(l.Requests, "request"), l.Model, v.Title, v.Limits.Least)
		}
	}
	return nil
}

// reachable reports whether there is a key for the provider.
func reachable(w *shell.World, t batchrun.Target) error {
	_, err := w.Workspace().Dial(t)
	if errors.Is(err, engine.ErrNoKey) {
		return shell.Usage("or rehearse without keys: --rehearse", "%s cannot be reached: %s", t.Name, err)
	}
	if err != nil {
		return shell.Usage("--key-env names the variable that holds the key", "%s cannot be reached: %s", t.Name, err)
	}
	return nil
}

// sentBefore finds the run of a file that was sent before: it is gone on with, never sent twice.
func sentBefore(ctx context.Context, w *shell.World, h *shell.Home, p *upload, f submitFlags) error {
	p.fresh = true
	if f.anew {
		return nil
	}
	run, found, err := h.SentBefore(ctx, p.BatchFile)
	if err != nil || !found {
		return err
	}
	p.run, p.fresh = run, false
	fmt.Fprintf(w.Stderr, "%s was submitted before as batch %s; --new sends it anew\n", p.Name, run.ID)
	_, err = driving.TryAgain(ctx, w, h, run)
	return err
}

// confirmFiles prints what goes where and for how much, and asks.
func confirmFiles(w *shell.World, h *shell.Home, all []upload, f submitFlags) error {
	var price plan.Price
	var n int64
	text := ""
	for _, p := range all {
		if !p.fresh {
			continue
		}
		for _, l := range p.Batch.File.Lanes {
			price = price.Plus(plan.Price{Expected: l.Expected, High: l.High})
		}
		n += p.Batch.File.Requests
		text += describe(p.Batch.File, h.Rehearsal)
		if f.most != nil {
			text += covers(p.Batch.File, *f.most)
		}
	}
	if n > 0 && !bool(h.Rehearsal) {
		text = quote.PayNow(price, n, true) + ".\n" + text
	}
	fmt.Fprint(w.Stderr, text)
	if n == 0 || h.Rehearsal {
		return nil
	}
	return shell.Ask(w, f.yes, "Send?")
}

// covers returns what a budget does not cover of a file; empty: it covers what is expected.
func covers(file batchfile.File, budget assay.Money) string {
	var expected assay.Cost
	for _, l := range file.Lanes {
		expected = expected.Add(l.Expected)
	}
	if expected.Sum <= budget {
		return ""
	}
	return fmt.Sprintf("  The budget of %s does not cover what is expected: what does not fit waits.\n", budget)
}

// describe returns what a file is and what it may cost.
func describe(file batchfile.File, rehearsal bool) string {
	how := "as a batch"
	if file.Mode == assay.ModeLive {
		how = "live"
	}
	where := file.Provider
	if rehearsal {
		where += " (simulated)"
	}
	var expected, high assay.Cost
	text := ""
	for _, l := range file.Lanes {
		text += fmt.Sprintf("  %s: %s, %s\n", l.Name, assay.Count(l.Requests, "request"), money(l.Expected, l.High))
		expected, high = expected.Add(l.Expected), high.Add(l.High)
	}
	head := fmt.Sprintf("%s: %s to %s, %s; %s\n", file.Name, assay.Count(file.Requests, "request"), where, how, money(expected, high))
	if len(file.Lanes) == 1 {
		return head + "  model " + file.Lanes[0].Model + "\n"
	}
	return head + text
}

// beginFile records a file; from then on it is safe.
func beginFile(ctx context.Context, h *shell.Home, p *upload, f submitFlags) error {
	if !p.fresh {
		return nil
	}
	var err error
	p.run, err = h.BeginBatch(ctx, p.BatchFile, f.note, f.most)
	return err
}

// money returns a span of costs for people.
func money(expected, high assay.Cost) string {
	if expected.Priced == 0 && expected.Unknown > 0 {
		return "price unknown"
	}
	return fmt.Sprintf("%s, at most %s", expected, high)
}
