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
	"assay/internal/send/workers"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// printWaits prints what an open run waits for, by when its results have to be collected, who drives it, and what to type next.
func printWaits(ctx context.Context, w *shell.World, h *shell.Home, s runs.Standing) error {
	run, p := s.Run, s.Far
	if h.Temporary != "" {
		return nil
	}
	if run.State == store.RunClosed {
		if advice := s.Advice(h.Named(run)); advice != "" {
			fmt.Fprintln(w.Stdout, "\n"+term.Wrapped("Next: "+advice+".", w.OutWidth(), ""))
		}
		return nil
	}
	troubles, err := h.Ledger.Pages.Troubles(ctx, run.No, progress.MaxTroubles+1)
	if err != nil {
		return err
	}
	left, known := timeLeft(w, s)
	who, err := driversOf(ctx, h, s)
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
	if before := s.Needs.CollectBefore; !before.IsZero() {
		fmt.Fprintf(w.Stdout, "Collect before %s: then a provider deletes results.\n", before.Local().Format(time.DateTime))
	}
	if run.Budget != nil && p.InFlight+p.Live == 0 && s.Cause != runs.CauseBudget {
		fmt.Fprintf(w.Stdout, "Nothing is in flight. Of the budget of %s, %s is left.\n", run.Budget,
			*run.Budget-run.Spent-run.Reserved-run.Perhaps)
	}
	fmt.Fprintln(w.Stdout, term.Wrapped(who, w.OutWidth(), ""))
	return nil
}

// timeLeft returns how long a run still takes at its pace; not known where no process drives it.
func timeLeft(w *shell.World, s runs.Standing) (time.Duration, bool) {
	pace, known := s.Far.Pace(w.Now())
	return pace.Left, known && s.Alive
}

// stoodStill returns for how long a segment has not moved, where its steps do not work.
func stoodStill(t store.Trouble, now time.Time) string {
	if t.Still.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (no call has succeeded for %s)", max(now.Sub(t.Still), 0).Round(time.Second))
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

// DriversOf returns who drives an open run; where nobody does, what to type.
func DriversOf(ctx context.Context, h *shell.Home, run store.Run) (string, error) {
	s, err := runs.Of(ctx, h.Results(), run)
	if err != nil {
		return "", err
	}
	return driversOf(ctx, h, s)
}

func driversOf(ctx context.Context, h *shell.Home, s runs.Standing) (string, error) {
	all, err := h.Ledger.Leases.Drivers(ctx, s.Run.No)
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
	return "No process drives it. Next: " + s.Advice(h.Named(s.Run)) + ".", nil
}

// printTuned prints which limits were set while the run went on.
func printTuned(w *shell.World, h *shell.Home, run store.Run) error {
	words, err := workspace.TunedWords(run)
	if err == nil && words != "" && run.State != store.RunClosed {
		_, err = fmt.Fprintf(w.Stdout, "Tuned: %s. `assay tune %s --reset` goes back to the study's limits.\n", words, h.Named(run))
	}
	return err
}
