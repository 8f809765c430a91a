package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/workers"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// printWaits prints what an open run waits for, by when its results have to be collected, and who drives it.
func printWaits(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, p runs.RunProgress) error {
	if run.State == store.RunClosed || h.Temporary != "" {
		return nil
	}
	troubles, err := h.Ledger.Pages.Troubles(ctx, run.No, progress.MaxTroubles+1)
	if err != nil {
		return err
	}
	all, err := h.Ledger.Pages.Attention(ctx, []int64{run.No})
	if err != nil {
		return err
	}
	left, known, err := timeLeft(ctx, w, h, run, p)
	if err != nil {
		return err
	}
	who, err := DriversOf(ctx, h, run)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.Stdout)
	for i, t := range troubles {
		if i == progress.MaxTroubles {
			fmt.Fprintln(w.Stdout, "and further segments: --segments lists all")
			break
		}
		fmt.Fprintln(w.Stdout, progress.TroubleLine(t, w.Now())+stoodStill(t, w.Now()))
	}
	if since := p.Still(w.Now()); since != nil {
		fmt.Fprintf(w.Stdout, "No progress since %s (%s): no request has left or come back.\n", since.Local().Format(time.DateTime),
			term.Duration(w.Now().Sub(*since)))
	}
	if known {
		fmt.Fprintf(w.Stdout, "%s of %s done; about %s left at this pace.\n", assay.Thousands(p.Done()), assay.Thousands(p.Wanted),
			term.Duration(left))
	}
	if before := all[run.No].CollectBefore; !before.IsZero() {
		fmt.Fprintf(w.Stdout, "Collect before %s: then a provider deletes results.\n", before.Local().Format(time.DateTime))
	}
	if run.Budget != nil && p.InFlight+p.Live == 0 {
		fmt.Fprintf(w.Stdout, "Nothing is in flight. Of the budget of %s, %s is left.\n", run.Budget,
			*run.Budget-run.Spent-run.Reserved-run.Perhaps)
	}
	fmt.Fprintln(w.Stdout, who)
	if slices.ContainsFunc(troubles, func(t store.Trouble) bool { return t.Wait.After(w.Now()) }) {
		fmt.Fprintf(w.Stdout, "A wait that a provider asked for is cut short by `assay resume %s`, where no process is at work on it.\n",
			h.Named(run))
	}
	return nil
}

// timeLeft returns how long a run still takes at its pace; not known where no process drives it.
func timeLeft(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, p runs.RunProgress) (time.Duration, bool, error) {
	pace, known := p.Pace(w.Now())
	if !known {
		return 0, false, nil
	}
	_, alive, err := runs.Alive(ctx, h.Results(), run, w.Now())
	return pace.Left, alive, err
}

// stoodStill returns for how long a segment has not moved, where its steps do not work.
func stoodStill(t store.Trouble, now time.Time) string {
	if t.Still.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (no call has succeeded for %s)", max(now.Sub(t.Still), 0).Round(time.Second))
}

// printOwed prints that jobs at a provider are to be compared with the ledger, before anything is sent or once more at the end.
func printOwed(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	if run.Reconcile != "" {
		fmt.Fprintf(w.Stdout, "\nNothing is sent before the jobs at its providers were compared with the ledger: %s.\n",
			assay.Clean(run.Reconcile, 500))
	}
	all, err := h.Ledger.Pages.Attention(ctx, []int64{run.No})
	if owed := all[run.No]; owed.Owed > 0 {
		fmt.Fprintf(w.Stdout, "\n%s at its provider to be looked for once more, from %s on: a create call was taken for lost, or a list "+
			"could not be read. `assay resume %s` or `assay resume --all` does it.\n", assay.Count(owed.Owed, "job"),
			owed.OwedFrom.Local().Format(time.DateTime), h.Named(run))
	}
	return err
}

// printNotes names the service tiers of answers that the price list does not have, and models that answered in place of those asked,
// each once.
func printNotes(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	tiers, err := h.Ledger.Reader.EventsOf(ctx, run.No, store.TierEvent)
	served, also := h.Ledger.Reader.EventsOf(ctx, run.No, store.ServedEvent)
	err = errors.Join(err, also)
	named := map[string]bool{}
	for _, e := range slices.Concat(tiers, served) {
		if !named[e.Text] {
			fmt.Fprintln(w.Stdout, assay.Clean("Note: "+e.Text+".", 500))
		}
		named[e.Text] = true
	}
	return err
}

// printDoubles names the jobs that a run has one too many of, with what they did.
func printDoubles(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	all, err := h.Ledger.Reader.EventsOf(ctx, run.No, store.DoubleEvent)
	for i, e := range all {
		if i == 0 {
			fmt.Fprintln(w.Stdout,
				"\nJobs that were made twice, by a create call that came to nothing that could be seen and was sent again, "+
					"or by another copy of this ledger:")
		}
		of := ""
		if e.Segment != 0 {
			of = fmt.Sprintf("segment %d: ", e.Segment)
		}
		fmt.Fprintln(w.Stdout, assay.Clean("  "+of+e.Text, 500))
	}
	return err
}

// DriversOf returns who drives an open run.
func DriversOf(ctx context.Context, h *shell.Home, run store.Run) (string, error) {
	all, err := h.Ledger.Leases.Drivers(ctx, run.No)
	if err != nil {
		return "", err
	}
	var names []string
	for _, d := range all {
		if !h.Gone(d.Holder) {
			names = append(names, shell.ProcessOf(d.Holder))
		}
	}
	if len(names) > 0 {
		return "At work on it: " + strings.Join(names, ", ") + ".", nil
	}
	switch alive, err := workers.Alive(ctx, h.Home); {
	case errors.Is(err, workers.ErrUnseen):
		return "Whether workers are alive is not known: " + err.Error() + ".", nil
	case err != nil || alive:
		return "Left to the workers.", err
	}
	away, err := h.JobsAway(ctx, run)
	if err != nil {
		return "", err
	}
	also := ""
	if away {
		also = "; jobs at the providers go on"
	}
	if paused, err := pausedLanes(ctx, h, run); err != nil || paused != "" {
		return fmt.Sprintf("No process drives it%s. Paused: %s. `assay tune %s --unpause LANE`, then `assay resume %s` goes on with it.",
			also, paused, h.Named(run), h.Named(run)), err
	}
	if only, err := onlyStopped(ctx, h, run); err != nil || only {
		return fmt.Sprintf("No process drives it%s. What is left is in lanes that are stopped or held: `assay retry %s` sends it anyway.",
			also, h.Named(run)), err
	}
	if short, err := shortOfMoney(ctx, h, run); err != nil || short {
		return fmt.Sprintf("No process drives it%s. What is left does not fit into the budget: `assay resume %s --budget AMOUNT` raises "+
			"it and goes on.", also, h.Named(run)), err
	}
	proceed, err := waitsForYes(ctx, h, run)
	return fmt.Sprintf("No process drives it%s. `assay resume %s%s` goes on with it.", also, h.Named(run), proceed), err
}

// recentEvents is how far back the history is read for what stopped a run.
const recentEvents = 20

// shortOfMoney reports whether it is the budget that stopped a run.
func shortOfMoney(ctx context.Context, h *shell.Home, run store.Run) (bool, error) {
	if run.Budget == nil {
		return false, nil
	}
	waiting, err := h.Ledger.Reader.Segments(ctx, run.No, store.Staged, store.Uploaded)
	if err != nil || slices.ContainsFunc(waiting, engine.OverBudget) {
		return err == nil, err
	}
	events, err := h.Ledger.Pages.EventsBefore(ctx, run.No, 0, recentEvents)
	return slices.ContainsFunc(events, func(e store.Event) bool { return e.Kind == "budget" }), err
}

// pausedLanes names the lanes of a run that are paused.
func pausedLanes(ctx context.Context, h *shell.Home, run store.Run) (string, error) {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	var names []string
	for _, l := range lanes {
		if l.State == store.LanePaused && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", "), err
}

// waitsForYes returns what has to be added to go on with a run whose first answers wait for a yes.
func waitsForYes(ctx context.Context, h *shell.Home, run store.Run) (string, error) {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if slices.ContainsFunc(lanes, func(l store.Lane) bool { return l.Canary == store.CanaryShown && l.State == store.LaneOpen }) {
		return " --proceed", err
	}
	return "", err
}

// onlyStopped reports whether all that is left of a run is in lanes that are stopped or held for a reason that `resume` does not put
// right: it tries those again that a key or an empty account stopped.
func onlyStopped(ctx context.Context, h *shell.Home, run store.Run) (bool, error) {
	all, err := runs.ProgressOf(ctx, h.Results(), run)
	if err != nil || all[run.No].Complete() {
		return false, err
	}
	for _, l := range all[run.No].Lanes {
		if l.Complete() {
			continue
		}
		if l.State == store.LaneOpen || engine.StoppedByAccount(l.Lane) || l.InFlight > 0 || l.Canary == store.CanaryShown {
			return false, nil
		}
	}
	return true, nil
}

// printTuned prints which limits were set while the run went on.
func printTuned(w *shell.World, h *shell.Home, run store.Run) error {
	words, err := workspace.TunedWords(run)
	if err == nil && words != "" && run.State != store.RunClosed {
		_, err = fmt.Fprintf(w.Stdout, "Tuned: %s. `assay tune %s --reset` goes back to the study's limits.\n", words, h.Named(run))
	}
	return err
}
