// Package driving has the commands that begin runs, drive them to their end and change what they do.
package driving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/engine/live"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/reading"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/state"
	"assay/internal/show/cli/term"
	"assay/internal/study"
)

// DriveOptions are how runs are driven.
type DriveOptions struct {
	Detach bool // stop when everything that can go out now is in flight
	Once   bool // one round, for cron
	Quiet  bool // no summary at the end
	truth  bool // of a rehearsal: a table of what is true at the end
	shown  listenFlags

	Interval time.Duration // between looks at a job; 0: as usual
	Notify   []string      // where to send the news, beside where the study wants it
}

// Driven is a run that is driven, and what that came to.
type Driven struct {
	Run   store.Run
	study *study.Study // nil: as the ledger has it
	st    engine.RunStatus
	begun bool // what follows is what the drive came to
	err   error
}

// driveOnce works on a run until it is closed or waits for a decision, and prints how it ended.
func driveOnce(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, s *study.Study,
	o DriveOptions) (c runs.Standing, err error) {
	d := &Driven{Run: run, study: s}
	if err := Work(ctx, w, h, []*Driven{d}, o); err != nil {
		return c, err
	}
	return conclude(ctx, w, h, d, o)
}

// DriveAll works on runs at the same time, and prints how each ended, one after the other. The gravest of their errors counts.
func DriveAll(ctx context.Context, w *shell.World, h *shell.Home, runs []store.Run, o DriveOptions) error {
	if len(runs) == 1 {
		return driveRun(ctx, w, h, runs[0], o)
	}
	all := make([]*Driven, len(runs))
	for i, run := range runs {
		all[i] = &Driven{Run: run}
	}
	if err := Work(ctx, w, h, all, o); err != nil {
		return err
	}
	var worst error
	for _, d := range all {
		c, err := conclude(ctx, w, h, d, o)
		yes, err := goesOn(ctx, w, h, c, o, err)
		if yes {
			err = Drive(ctx, w, h, d.Run, d.study, o)
		}
		if err != nil && ctx.Err() == nil {
			err = shell.Told(w, fmt.Errorf("run %s: %w", d.Run.ID, err))
		}
		if worse(err, worst) {
			worst = err
		}
	}
	return worst
}

// Work drives runs at the same time and shows how they move. An error is one that concerns all of them.
func Work(ctx context.Context, w *shell.World, h *shell.Home, all []*Driven, o DriveOptions) error {
	runs := make([]store.Run, len(all))
	for i, d := range all {
		runs[i] = d.Run
	}
	if err := h.Ready(ctx); err != nil {
		if _, ok := errors.AsType[*workspace.ArtifactsError](err); ok {
			return &shell.ExitError{Code: shell.ExitFailed, Err: err, Hint: kept(err, "`assay resume "+h.Named(runs[0])+"` goes on")}
		}
		return err
	}
	serving, end := context.WithCancel(ctx)
	shown, err := pulse{home: h.Home, ready: func() bool { return true }}.serve(serving, o.shown, w)
	if err != nil {
		end()
		return err
	}
	taken, err := hooked{home: h.Home}.serve(serving, o.shown, w)
	if err != nil {
		end()
		return errors.Join(err, shown())
	}
	defer func() { end(); taken(); _ = shown() }() // they end with the drive
	one, err := progress.NewProgress(ctx, w, h, runs...)
	if err != nil {
		return err
	}
	defer one.Close()
	var wg sync.WaitGroup
	lines := &term.Lines{To: w.Stderr}
	for _, d := range all {
		if h.Rehearsal {
			fmt.Fprintf(w.Stderr, "REHEARSAL of %s against the simulator: run %s\n", d.Run.Study, d.Run.ID)
		} else {
			fmt.Fprintf(w.Stderr, "run %s of %s\n", d.Run.ID, d.Run.Study)
		}
		p := one
		if len(all) > 1 && !w.Draws() { // lines of each, with its name
			own := *w
			own.Stderr = &term.Prefixed{To: lines, Prefix: d.Run.ID + ": "}
			if p, err = progress.NewProgress(ctx, &own, h, d.Run); err != nil {
				return err
			}
		}
		wg.Go(func() { d.work(ctx, h, p, o) })
	}
	wg.Wait()
	return one.Close()
}

// work drives the run, and keeps what that came to.
func (d *Driven) work(ctx context.Context, h *shell.Home, p *progress.Progress, o DriveOptions) {
	if d.study == nil {
		if d.study, d.err = h.Planner.Study(ctx, d.Run); d.err != nil {
			return
		}
	}
	e, err := h.Engine(ctx, d.Run, d.study)
	if err != nil {
		d.err = err
		return
	}
	defer e.Close()
	d.begun = true
	d.st, d.err = h.Drive(ctx, d.Run, e, workspace.Drive{
		Once: o.Once, Detach: o.Detach, Interval: o.Interval, Moved: p.Show, Held: p.Held, Gone: p.World.TakenOver, Away: p.Away,
		Stopping: p.Stopping, Unwritten: p.Unwritten,
	})
}

// conclude prints the state of a run after a drive, and sends the news of it.
func conclude(ctx context.Context, w *shell.World, h *shell.Home, d *Driven, o DriveOptions) (c runs.Standing, err error) {
	run, err := d.Run, d.err
	if ctx.Err() != nil {
		fmt.Fprintf(w.Stderr, "\n%s; `assay resume %s` goes on with the run\n", detached(context.WithoutCancel(ctx), h, run), h.Named(run))
		if _, ok := errors.AsType[*live.LostAnswersError](err); ok {
			return c, err
		}
		return c, ctx.Err()
	}
	if err != nil && !d.begun {
		return c, err
	}
	if err != nil {
		return c, &shell.ExitError{Code: shell.ExitFailed, Err: err, Hint: kept(err, "`assay resume "+h.Named(run)+"` goes on")}
	}
	if c, err = h.Conclude(ctx, run, d.st); err != nil {
		return c, err
	}
	if err := errors.Join(state.PrintStatus(ctx, w, h, c.Run, state.StatusDetail{}), state.PrintUnjudged(ctx, w, h, c.Run)); err != nil {
		return c, err
	}
	result := resultOf(h, c)
	if err := end(ctx, w, h, c.Run, o); err != nil {
		return c, err
	}
	if err := sendNews(ctx, w, h, c, o.Notify...); err != nil {
		fmt.Fprintln(w.Stderr, "assay:", err)
	}
	if o.Detach && goesOnLater(c) { // as was wanted
		fmt.Fprintf(w.Stderr, "%s; `assay resume %s` goes on with it\n", detached(ctx, h, run), h.Named(run))
		return c, nil
	}
	return c, result
}

// end prints what a closed run found, or keeps it for lists where nothing is to be printed.
func end(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, o DriveOptions) error {
	switch {
	case run.State != store.RunClosed:
		return nil
	case o.Quiet || o.Detach || o.Once:
		return reading.KeepEnd(ctx, w, h, run)
	}
	return reading.PrintEnd(ctx, w, h, run, reading.End{Truth: o.truth})
}

// kept returns the hint after an error that stopped a run. That nothing is lost is said where every answer that came back is kept.
func kept(err error, goesOn string) string {
	if _, ok := errors.AsType[*live.LostAnswersError](err); ok {
		return goesOn
	}
	return "nothing is lost; " + goesOn
}

// detached returns what goes on without us, and what has not gone out.
func detached(ctx context.Context, h *shell.Home, run store.Run) string {
	text := "detached: jobs that were sent go on at the providers"
	if away, err := h.JobsAway(ctx, run); err == nil && !away {
		text = "stopped: nothing is in flight"
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return text
	}
	unsent, err := runs.Unsent(ctx, h.Results(), run, lanes)
	if err != nil {
		return text
	}
	return text + notSent(unsent)
}

// notSent returns what no provider has yet, and why, most requests first.
func notSent(unsent []store.Segment) string {
	if len(unsent) == 0 {
		return ""
	}
	by := map[string]int64{}
	for _, g := range unsent {
		by[cmp.Or(assay.Clean(g.Reason.String(), 200), "it is not due yet")] += g.Requests - g.Done()
	}
	reasons := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	const most = 3
	var why []string
	for _, r := range reasons[:min(most, len(reasons))] {
		why = append(why, fmt.Sprintf("%s: %s", assay.Thousands(by[r]), r))
	}
	if len(reasons) > most {
		why = append(why, "…")
	}
	return fmt.Sprintf("; NOT SENT: %s (%s)", assay.Count(runs.Waiting(unsent), "request"), strings.Join(why, "; "))
}

// resultOf returns in words the state of a run after a drive, with the exit code that goes with it; nil: it is done.
func resultOf(h *shell.Home, s runs.Standing) error {
	code := shell.ExitIncomplete
	_, file := batchrun.Of(s.Run)
	switch {
	case s.State == runs.StateDone, s.State == runs.StatePeople:
		return nil
	case s.Cause == runs.CauseBudget:
		code = shell.ExitBudget
	case s.State == runs.StateHeld, s.Cause == runs.CauseLane && (file || s.Lane.State == store.LaneHeld): // of a file it is all there is
		code = shell.ExitHeld
	}
	text := string(s.State)
	switch why := strings.TrimSuffix(s.Why(), "."); {
	case goesOnLater(s):
		text = "the run goes on"
	case s.State == runs.StateCancelled && why != "":
		text = "cancelled: " + strings.ToLower(why[:1]) + why[1:]
	case why != "":
		text = strings.ToLower(why[:1]) + why[1:]
	}
	return &shell.ExitError{Code: code, Err: errors.New(text), Hint: s.Advice(h.Named(s.Run))}
}

// goesOnLater reports whether nothing is wrong with a run: it is not driven to its end.
func goesOnLater(s runs.Standing) bool {
	return s.Run.State != store.RunClosed && s.State != runs.StateHeld && s.State != runs.StateJudges && s.State != runs.StateCancelled &&
		(s.State != runs.StateStopped || s.Cause == runs.CauseNobody)
}
