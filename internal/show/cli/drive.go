package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/engine/live"
	"assay/internal/send/workspace"
	"assay/internal/study"
)

type driveOptions struct {
	detach bool // stop when everything that can go out now is in flight
	once   bool // one round, for cron
	quiet  bool // no summary at the end
	truth  bool // of a rehearsal: a table of what is true at the end

	interval time.Duration // between looks at a job; 0: as usual
}

// driveOnce works on a run until it is closed or waits for a decision, and says how it ended.
func driveOnce(ctx context.Context, w *World, h *home, run store.Run, s *study.Study, o driveOptions) (c workspace.Conclusion, err error) {
	goesOn := "`assay resume " + h.named(run) + "` goes on"
	if err := h.Ready(ctx); err != nil {
		if _, ok := errors.AsType[*workspace.ArtifactsError](err); ok {
			return c, &exitError{code: exitFailed, err: err, hint: kept(err, goesOn)}
		}
		return c, err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return c, err
	}
	defer e.Close()
	progress, err := newProgress(ctx, w, h, run)
	if err != nil {
		return c, err
	}
	defer progress.close()
	if h.Rehearsal {
		fmt.Fprintf(w.Stderr, "REHEARSAL of %s against the simulator: run %s\n", run.Study, run.ID)
	} else {
		fmt.Fprintf(w.Stderr, "run %s of %s\n", run.ID, run.Study)
	}
	st, err := h.Drive(ctx, run, e, workspace.Drive{
		Once: o.once, Detach: o.detach, Interval: o.interval, Moved: progress.show, Held: progress.held, Gone: w.takenOver, Away: progress.away, Stopping: progress.stopping,
	})
	if err := progress.close(); err != nil {
		return c, err
	}
	if ctx.Err() != nil {
		fmt.Fprintf(w.Stderr, "\n%s; `assay resume %s` goes on with the run\n", detached(context.WithoutCancel(ctx), h, run), h.named(run))
		if _, ok := errors.AsType[*live.LostAnswersError](err); ok {
			return c, err
		}
		return c, ctx.Err()
	}
	if err != nil {
		return c, &exitError{code: exitFailed, err: err, hint: kept(err, goesOn)}
	}
	if c, err = h.Conclude(ctx, run, st); err != nil {
		return c, err
	}
	if err := errors.Join(printStatus(ctx, w, h, c.Run, statusDetail{}), printUnjudged(ctx, w, h, c.Run)); err != nil {
		return c, err
	}
	result := h.resultOf(c)
	if c.Run.State == store.RunClosed && !o.quiet && !o.detach && !o.once {
		if err := printEnd(ctx, w, h, c.Run, o); err != nil {
			return c, err
		}
	}
	if err := sendNews(ctx, w, h, c, s, result); err != nil {
		fmt.Fprintln(w.Stderr, "assay:", err)
	}
	if o.detach && c.Stop == workspace.StopOpen { // as was wanted
		fmt.Fprintf(w.Stderr, "%s; `assay resume %s` goes on with it\n", detached(ctx, h, run), h.named(run))
		return c, nil
	}
	return c, result
}

// kept is the hint after an error that stopped a run. That nothing is lost is said where every answer that came back is kept.
func kept(err error, goesOn string) string {
	if _, ok := errors.AsType[*live.LostAnswersError](err); ok {
		return goesOn
	}
	return "nothing is lost; " + goesOn
}

// takenOver says that a run goes on after the process that drove it.
func (w *World) takenOver(holder string) {
	fmt.Fprintf(w.Stderr, "%s, which drove this run, is gone: going on from where it was\n", processOf(holder))
}

// detached says what goes on without us, and what has not gone out.
func detached(ctx context.Context, h *home, run store.Run) string {
	text := "detached: jobs that were sent go on at the providers"
	if away, err := h.JobsAway(ctx, run); err == nil && !away {
		text = "stopped: nothing is in flight"
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return text
	}
	unsent, err := runs.Unsent(ctx, h.results(), run, lanes)
	if err != nil {
		return text
	}
	return text + notSent(unsent)
}

// notSent says what no provider has yet, and why, most requests first.
func notSent(unsent []store.Segment) string {
	if len(unsent) == 0 {
		return ""
	}
	by := map[string]int64{}
	for _, g := range unsent {
		by[cmp.Or(assay.Clean(g.Reason, 200), "it is not due yet")] += g.Requests - g.Done()
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

// resultOf says in words how a run stands after a drive, with the exit code that goes with it; nil: it is done.
func (h *home) resultOf(c workspace.Conclusion) error {
	id := h.named(c.Run)
	switch c.Stop {
	case workspace.StopSegmentsHeld:
		return &exitError{code: exitHeld, err: fmt.Errorf("%s held", assay.Count(c.Held, "segment")), hint: "assay status " + id + " --segments, then assay resolve"}
	case workspace.StopLaneHeld:
		return &exitError{code: exitHeld, err: fmt.Errorf("lane %s is held: %s", c.Lane.Name, c.Lane.Reason), hint: "fix it, then assay retry " + id}
	case workspace.StopVerify:
		return &exitError{code: exitHeld, err: errors.New("first answers wait for a yes"), hint: "`assay resume " + id + " --proceed` sends the rest, `assay cancel " + id + "` ends the run"}
	case workspace.StopBudget:
		return &exitError{code: exitBudget, err: errors.New("stopped by the budget"), hint: "raise it with assay resume " + id + " --budget AMOUNT"}
	case workspace.StopLanePaused:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("lane %s is paused", c.Lane.Name), hint: "assay tune " + id + " --unpause " + results.ShellWord(c.Lane.Name) + ", then assay resume " + id}
	case workspace.StopLaneStopped:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("lane %s is stopped: %s", c.Lane.Name, c.Lane.Reason), hint: "fix it, then assay retry " + id}
	case workspace.StopOpen:
		return &exitError{code: exitIncomplete, err: errors.New("the run goes on"), hint: "assay resume " + id}
	case workspace.StopIncomplete:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("done, but %s", c.Run.Result), hint: "assay errors " + id}
	}
	return nil
}
