package cli

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
	"assay/internal/find/results"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/engine/live"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/term"
	"assay/internal/study"
)

type driveOptions struct {
	detach bool // stop when everything that can go out now is in flight
	once   bool // one round, for cron
	quiet  bool // no summary at the end
	truth  bool // of a rehearsal: a table of what is true at the end

	interval time.Duration // between looks at a job; 0: as usual
	notify   []string      // where to send the news, beside where the study wants it
}

// driven is a run that is driven, and what that came to.
type driven struct {
	run   store.Run
	study *study.Study // nil: as the ledger has it
	st    engine.Standing
	begun bool // what follows is what the drive came to
	err   error
}

// driveOnce works on a run until it is closed or waits for a decision, and prints how it ended.
func driveOnce(ctx context.Context, w *World, h *home, run store.Run, s *study.Study, o driveOptions) (c workspace.Conclusion, err error) {
	d := &driven{run: run, study: s}
	if err := work(ctx, w, h, []*driven{d}, o); err != nil {
		return c, err
	}
	return conclude(ctx, w, h, d, o)
}

// driveAll works on runs at the same time, and prints how each ended, one after the other. The gravest of their errors counts.
func driveAll(ctx context.Context, w *World, h *home, runs []store.Run, o driveOptions) error {
	if len(runs) == 1 {
		return driveRun(ctx, w, h, runs[0], o)
	}
	all := make([]*driven, len(runs))
	for i, run := range runs {
		all[i] = &driven{run: run}
	}
	if err := work(ctx, w, h, all, o); err != nil {
		return err
	}
	var worst error
	for _, d := range all {
		c, err := conclude(ctx, w, h, d, o)
		yes, err := goesOn(ctx, w, h, c, o, err)
		if yes {
			err = drive(ctx, w, h, d.run, d.study, o)
		}
		if err != nil && ctx.Err() == nil {
			complain(w, fmt.Errorf("run %s: %w", d.run.ID, err))
		}
		if worse(err, worst) {
			worst = err
		}
	}
	return worst
}

// work drives runs at the same time and shows how they move. An error is one that concerns all of them.
func work(ctx context.Context, w *World, h *home, all []*driven, o driveOptions) error {
	runs := make([]store.Run, len(all))
	for i, d := range all {
		runs[i] = d.run
	}
	if err := h.Ready(ctx); err != nil {
		if _, ok := errors.AsType[*workspace.ArtifactsError](err); ok {
			return &exitError{code: exitFailed, err: err, hint: kept(err, "`assay resume "+h.named(runs[0])+"` goes on")}
		}
		return err
	}
	one, err := newProgress(ctx, w, h, runs...)
	if err != nil {
		return err
	}
	defer one.close()
	var wg sync.WaitGroup
	lines := &term.Lines{To: w.Stderr}
	for _, d := range all {
		if h.Rehearsal {
			fmt.Fprintf(w.Stderr, "REHEARSAL of %s against the simulator: run %s\n", d.run.Study, d.run.ID)
		} else {
			fmt.Fprintf(w.Stderr, "run %s of %s\n", d.run.ID, d.run.Study)
		}
		p := one
		if len(all) > 1 && !w.draws() { // lines of each, with its name
			own := *w
			own.Stderr = &term.Prefixed{To: lines, Prefix: d.run.ID + ": "}
			if p, err = newProgress(ctx, &own, h, d.run); err != nil {
				return err
			}
		}
		wg.Go(func() { d.work(ctx, h, p, o) })
	}
	wg.Wait()
	return one.close()
}

// work drives the run, and keeps what that came to.
func (d *driven) work(ctx context.Context, h *home, p *progress, o driveOptions) {
	if d.study == nil {
		if d.study, d.err = h.Planner.Study(ctx, d.run); d.err != nil {
			return
		}
	}
	e, err := h.Engine(ctx, d.run, d.study)
	if err != nil {
		d.err = err
		return
	}
	defer e.Close()
	d.begun = true
	d.st, d.err = h.Drive(ctx, d.run, e, workspace.Drive{
		Once: o.once, Detach: o.detach, Interval: o.interval, Moved: p.show, Held: p.held, Gone: p.world.takenOver, Away: p.away, Stopping: p.stopping,
	})
}

// conclude prints how a run stands after a drive, and sends the news of it.
func conclude(ctx context.Context, w *World, h *home, d *driven, o driveOptions) (c workspace.Conclusion, err error) {
	run, err := d.run, d.err
	if ctx.Err() != nil {
		fmt.Fprintf(w.Stderr, "\n%s; `assay resume %s` goes on with the run\n", detached(context.WithoutCancel(ctx), h, run), h.named(run))
		if _, ok := errors.AsType[*live.LostAnswersError](err); ok {
			return c, err
		}
		return c, ctx.Err()
	}
	if err != nil && !d.begun {
		return c, err
	}
	if err != nil {
		return c, &exitError{code: exitFailed, err: err, hint: kept(err, "`assay resume "+h.named(run)+"` goes on")}
	}
	if c, err = h.Conclude(ctx, run, d.st); err != nil {
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
	if err := sendNews(ctx, w, h, c, append(slices.Clone(d.study.Notify.List), o.notify...), result); err != nil {
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
		code := exitIncomplete
		if _, batch := batchrun.Of(c.Run); batch { // of a file it is all there is
			code = exitHeld
		}
		return &exitError{code: code, err: fmt.Errorf("lane %s is stopped: %s", c.Lane.Name, c.Lane.Reason), hint: "fix it, then assay retry " + id}
	case workspace.StopOpen:
		return &exitError{code: exitIncomplete, err: errors.New("the run goes on"), hint: "assay resume " + id}
	case workspace.StopIncomplete:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("done, but %s", c.Run.Result), hint: "assay errors " + id}
	}
	return nil
}
