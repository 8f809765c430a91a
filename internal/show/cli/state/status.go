// Package state has the commands that print how runs and jobs are, from the ledger.
package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type statusFlags struct {
	home     shell.HomeFlags
	segments bool
	doubts   bool
	refresh  bool
	json     bool
	watch    bool
	interval time.Duration
	reach    shell.ReachFlags
}

// Status makes the command `assay status`.
func Status(w *shell.World) *cobra.Command {
	var f statusFlags
	c := &cobra.Command{
		Use:     "status [RUN]",
		GroupID: shell.GroupLook,
		Short:   "Print the state of a run: one sentence first",
		Long: "Prints the state of a run, from the ledger alone; --refresh asks the providers first. RUN is an id, the beginning of one, " +
			"the name of a study or batch file,\n" +
			"the id of a job, or latest (the default): the newest open run, else the newest run, and a rehearsal only where there " +
			"is no real run.\n" +
			"--watch shows the progress of one run or several until they are closed; `assay resume` drives them.",
		Args: func(c *cobra.Command, args []string) error {
			if f.watch {
				return nil
			}
			return shell.UpTo("RUN")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.watch {
				return f.watchAll(c.Context(), w, args)
			}
			if f.reach.Wish.Provider == "" {
				return f.home.Looking(w, func(ctx context.Context, h *shell.Home,
					run store.Run) error {
					return f.print(ctx, w, h, run)
				})(c, args)
			}
			if len(args) == 0 {
				return shell.Usage("assay jobs --elsewhere lists them", "--provider: %s needs the id of a job that was made elsewhere",
					c.CommandPath())
			}
			job, err := shell.Elsewhere(c.Context(), w, args[0], f.reach)
			if err != nil {
				return err
			}
			return writeJobs(w, []batchrun.Job{job.Row()})
		},
	}
	f.home.Register(c)
	f.reach.RegisterPlace(c, "RUN is the id of a job at this provider that was made elsewhere")
	c.Flags().BoolVar(&f.segments, "segments", false, "list segments and their jobs; in the JSON, too")
	c.Flags().BoolVar(&f.doubts, "doubts", false,
		"list the live requests that may be billed without an answer")
	c.Flags().BoolVar(&f.refresh, "refresh", false, "ask the providers first where open jobs stand; nothing is sent or fetched")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.watch, "watch", false, "show the progress until the run is closed; several RUNs may be named")
	c.Flags().DurationVar(&f.interval, "interval", 2*time.Second, "with --watch: between two looks")
	for _, other := range []string{"json", "refresh", "segments", "doubts", "provider"} {
		c.MarkFlagsMutuallyExclusive("watch", other)
	}
	return c
}

func (f statusFlags) print(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	if f.refresh {
		if err := refreshed(ctx, w, h, run); err != nil {
			return err
		}
	}
	if f.json {
		return statusJSON(ctx, w, h, run, f.segments)
	}
	return PrintStatus(ctx, w, h, run, StatusDetail{note: true, segments: f.segments, doubts: f.doubts})
}

// refreshed asks the providers for the state of the open jobs of a run.
func refreshed(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return err
	}
	defer e.Close()
	asked, wrong, err := e.Refresh(ctx, run.No)
	for _, why := range wrong {
		fmt.Fprintln(w.Stderr, "assay:", why)
	}
	if err == nil {
		fmt.Fprintf(w.Stderr, "asked the providers about %s\n", assay.Count(asked, "open job"))
	}
	return err
}

// StatusDetail holds what is printed beside the states of lanes.
type StatusDetail struct{ note, segments, doubts bool }

// PrintStatus prints how a run is: a sentence, its lanes, and what it waits for.
func PrintStatus(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, more StatusDetail) error {
	is, err := runs.Of(ctx, h.Results(), run)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.Stdout, term.Wrapped(shell.Watermark(h)+is.Sentence(), w.OutWidth(), ""))
	if more.note {
		fmt.Fprintln(w.Stdout, noteLine(run.By, run.Note, run.Created.Local().Format("2006-01-02 15:04")))
	}
	t := term.Table{Head: []string{"STAGE", "LANE", "STATE", "PLANNED", "OPEN", "ANSWERED", "CUT", "EMPTY", "REFUSED", "REJECTED",
		"ERRORED", "EXPIRED", "CANCELLED", "LOST", "NOTE"}, Right: map[int]bool{},
		Spare: []string{"OPEN", "CANCELLED", "EXPIRED", "LOST", "EMPTY", "REFUSED", "CUT", "ERRORED", "REJECTED"}}
	for i := 3; i < 14; i++ {
		t.Right[i] = true
	}
	redos, err := h.Ledger.Reader.Redos(ctx, run.No)
	if err != nil {
		return err
	}
	for _, l := range is.Far.Lanes {
		cells := []any{l.Stage, l.Name, LaneState(run, l.Lane), assay.Thousands(l.Wanted), assay.Thousands(l.Lane.Open)}
		for _, e := range assay.Endings() {
			cells = append(cells, assay.Thousands(l.Endings[e]))
		}
		t.Add(append(cells, runs.LaneNote(l.Lane, redos))...)
	}
	if len(is.Far.Lanes) > 0 {
		if err := t.Write(w.Stdout); err != nil {
			return err
		}
	}
	if _, batch := batchrun.Of(run); batch {
		fmt.Fprintln(w.Stdout)
		if err := printJobs(ctx, w, h, run); err != nil {
			return err
		}
	}
	if err := errors.Join(printTuned(w, h, run), printGatesOf(ctx, w, h, run), printRoundsOf(ctx, w, h, run)); err != nil {
		return err
	}
	if err := errors.Join(printStranded(ctx, w, h, run), printWaitingForProgram(ctx, w, h, run), printDoubtSum(ctx, w, h, run, more),
		printNotes(ctx, w, h, run), printCaches(ctx, w, h, run), printDoubles(ctx, w, h, run)); err != nil {
		return err
	}
	is.Listed = more.segments
	if err := printWaits(ctx, w, h, is); err != nil || !more.segments {
		return err
	}
	return printSegments(ctx, w, h, run)
}

// printCaches prints how many requests read from providers' caches, and where these are paid for and hardly read.
func printCaches(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	segments, err := h.Ledger.Reader.Segments(ctx, run.No)
	if err != nil {
		return err
	}
	var all runs.Cache
	for _, c := range runs.Caches(segments) {
		all.Requests, all.Hits = all.Requests+c.Requests, all.Hits+c.Hits
		if c.Low() {
			fmt.Fprintln(w.Stdout, c.Warning())
		}
	}
	if all.Hits > 0 {
		fmt.Fprintf(w.Stdout, "Prompt cache: %s.\n", all.Words())
	}
	return nil
}

// LaneState returns the state of a lane: when its run is closed, an open one takes no more requests.
func LaneState(run store.Run, l store.Lane) string {
	if run.State == store.RunClosed && l.State == store.LaneOpen {
		return string(store.RunClosed)
	}
	return string(l.State)
}

// printDoubtSum prints what was perhaps spent: on answers whose cost is not known, on jobs of lost create calls, and on live calls that may
// be billed without an answer, which are listed where that is asked for.
func printDoubtSum(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, more StatusDetail) error {
	sum, err := h.Ledger.Reader.DoubtSum(ctx, run.No)
	if err == nil && sum.Lost > 0 {
		fmt.Fprintf(w.Stdout, "A job of %s may show yet: up to %s, which the budget counts until it was looked for once more.\n",
			assay.Count(sum.Creates, "lost create call"), sum.Lost)
	}
	if kept := run.Perhaps - sum.Cost.Sum - sum.Lost; err == nil && kept > 0 {
		what := "Results that the provider never handed out may be billed"
		if run.Unpriced > 0 {
			what = "What " + assay.Count(run.Unpriced, "answer") + " cost is not known"
		}
		fmt.Fprintf(w.Stdout, "%s: up to %s, which the budget counts.\n", what, kept)
	}
	if err != nil || sum.Calls == 0 {
		return err
	}
	cost := "at most " + sum.Cost.Sum.String()
	if sum.Cost.Unknown > 0 {
		cost = fmt.Sprintf("%s for %d of them, the others have no known price", cost, sum.Cost.Priced)
	}
	fmt.Fprintf(w.Stdout, "%s may be billed without an answer that is kept (%s; the budget counts it)",
		assay.Count(int(sum.Calls), "live call"), cost)
	if more.doubts {
		fmt.Fprintln(w.Stdout, ":")
		return printDoubts(ctx, w, h, run)
	}
	_, err = fmt.Fprintf(w.Stdout, ": `assay status %s --doubts` lists them.\n", h.Named(run))
	return err
}

// printDoubts lists the live requests that may be billed twice.
func printDoubts(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	for d, err := range h.Ledger.Reader.Doubts(ctx, run.No) {
		if err != nil {
			return err
		}
		note := "in flight when its worker stopped"
		if d.Lost {
			note = "reply lost"
		}
		if d.Times > 1 {
			note += fmt.Sprintf(", %d times", d.Times)
		}
		fmt.Fprintf(w.Stdout, "  lane %s, item %q (%s), %s\n", d.Lane, d.Item, d.Key, note)
	}
	return nil
}

func printSegments(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	all, err := h.Ledger.Reader.Segments(ctx, run.No)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.Stdout)
	t := term.Table{Head: []string{"SEGMENT", "STAGE", "LANE", "TURN", "MODE", "STATE", "REQUESTS", "DONE", "JOB", "WORD", "COLLECT BEFORE",
		"REASON"}, Right: map[int]bool{0: true, 3: true, 6: true, 7: true}}
	for _, g := range all {
		before := ""
		reported, _ := runs.Reported(g)
		if !g.CollectBefore.IsZero() {
			before = g.CollectBefore.Local().Format(time.DateTime)
		}
		t.Add(g.No, g.Stage, g.Lane, g.Turn, g.Mode, g.State, assay.Thousands(g.Requests), assay.Thousands(max(g.Done(), reported)), g.Job,
			g.JobWord, before, g.Reason)
	}
	return t.Write(w.Stdout)
}

// printJobs prints the jobs of batch files as the ledger knows them.
func printJobs(ctx context.Context, w *shell.World, h *shell.Home, all ...store.Run) error {
	jobs, err := h.Batches().Jobs(ctx, all...)
	if err != nil {
		return err
	}
	return writeJobs(w, jobs)
}

func writeJobs(w *shell.World, jobs []batchrun.Job) error {
	t := term.Table{Head: []string{"FILE", "PROVIDER", "MODEL", "JOB", "CREATED", "STATUS", "REQUESTS", "DONE", "FAILED", "NOTE"},
		Right: map[int]bool{6: true, 7: true, 8: true}}
	for _, j := range jobs {
		reported, _ := runs.Reported(j.Segment)
		t.Add(j.File, j.Provider, j.Model, j.ID, shell.ShortMoment(&j.Created), j.Status, assay.Thousands(j.Requests),
			assay.Thousands(max(j.Done, reported)), assay.Thousands(j.Failed), j.Note)
	}
	return t.Write(w.Stdout)
}
