package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/term"
)

// driveFor works on a batch run until it is closed, nothing moves any more, or until says so.
func driveFor(ctx context.Context, w *World, h *home, run store.Run, interval time.Duration, until func(engine.Standing) bool) (engine.Standing, error) {
	p, err := newProgress(ctx, w, h, run)
	if err != nil {
		return engine.Standing{}, err
	}
	defer p.close()
	return p.drive(ctx, h, run, interval, until)
}

// drive works on one of the runs whose progress is shown.
func (p *progress) drive(ctx context.Context, h *home, run store.Run, interval time.Duration, until func(engine.Standing) bool) (engine.Standing, error) {
	st, err := h.DriveBatch(ctx, run, workspace.BatchDrive{Interval: interval, Moved: p.show, Held: p.held, Away: p.away, Until: until})
	if err != nil && ctx.Err() == nil {
		return st, &exitError{code: exitFailed, err: err, hint: kept(err, "`assay batch resume "+run.ID+"` goes on")}
	}
	return st, err
}

// once ends a drive when nothing more can be done at once.
func once(engine.Standing) bool { return true }

// sendOff drives files until their jobs are made, and prints what they became.
func sendOff(ctx context.Context, w *World, h *home, runs []store.Run) error {
	end := w.Now().Add(workspace.Patience)
	standings := make([]engine.Standing, len(runs))
	for i, run := range runs {
		st, err := driveFor(ctx, w, h, run, 0, h.Sent(ctx, run, end))
		if err != nil {
			return interruptedAt(w, run, err)
		}
		standings[i] = st
	}
	if err := printBatches(ctx, w, h, runs); err != nil {
		return err
	}
	for _, run := range runs {
		fmt.Fprintf(w.Stderr, "recorded as batch %s: `assay batch resume %s` brings it back, `assay batch status %s` looks\n", run.ID, run.ID, run.ID)
	}
	return stuck(ctx, h, runs, standings)
}

// stuck is the gravest of what waits for a person or for money; nil: nothing does.
func stuck(ctx context.Context, h *home, runs []store.Run, standings []engine.Standing) error {
	var worst error
	for i, run := range runs {
		if err := stuckAt(ctx, h, run, standings[i]); worse(err, worst) {
			worst = err
		}
	}
	return worst
}

func stuckAt(ctx context.Context, h *home, run store.Run, st engine.Standing) error {
	s, err := h.Batches().Stuck(ctx, run, st)
	switch {
	case err != nil:
		return err
	case s.Lane != nil:
		return &exitError{code: exitHeld, err: fmt.Errorf("batch %s: %s is %s: %s", run.ID, s.Lane.Name, s.Lane.State, s.Lane.Reason),
			hint: "fix it, then assay batch retry " + h.named(run)}
	case len(s.Held) > 0:
		return &exitError{code: exitHeld, err: fmt.Errorf("batch %s: %s held: %s", run.ID, assay.Count(len(s.Held), "job"), s.Held[0].Reason),
			hint: "assay status " + h.named(run) + " --segments, then assay resolve"}
	case s.Budget:
		return &exitError{code: exitBudget, err: fmt.Errorf("batch %s was stopped by the budget", run.ID), hint: "raise it with assay resume " + h.named(run) + " --budget AMOUNT"}
	}
	return nil
}

func interruptedAt(w *World, run store.Run, err error) error {
	if _, ok := err.(*exitError); !ok {
		fmt.Fprintf(w.Stderr, "\ndetached: jobs go on at the provider; `assay batch resume %s` goes on\n", run.ID)
	}
	return err
}

type watchFlags struct {
	interval time.Duration
	until    func(engine.Standing) bool // nil: they have ended
	notify   []string
}

// watchBatches drives runs to their end, all at the same time, sends the news, and prints what they came to.
func watchBatches(ctx context.Context, w *World, h *home, runs []store.Run, f watchFlags) error {
	if err := h.Ready(ctx); err != nil {
		return err
	}
	shared := &term.Lines{To: w.Stderr}
	all, err := newProgress(ctx, w, h, runs...)
	if err != nil {
		return err
	}
	defer all.close()
	var wg sync.WaitGroup
	failed, standings := make([]error, len(runs)), make([]engine.Standing, len(runs))
	for i, run := range runs {
		if run.State == store.RunClosed {
			continue
		}
		// The first look is now, whenever the last one was.
		if err := give(ctx, h, run, store.Order{Kind: store.OrderCollect}); err != nil {
			return err
		}
		if w.draws() { // one picture of all of them
			wg.Go(func() { standings[i], failed[i] = all.drive(ctx, h, run, f.interval, f.until) })
			continue
		}
		own := *w
		own.Stderr = shared
		if len(runs) > 1 {
			own.Stderr = &term.Prefixed{To: shared, Prefix: run.ID + ": "}
		}
		wg.Go(func() { standings[i], failed[i] = driveFor(ctx, &own, h, run, f.interval, f.until) })
	}
	wg.Wait()
	if err := all.close(); err != nil {
		return err
	}
	for i, err := range failed {
		if err != nil {
			return interruptedAt(w, runs[i], err)
		}
	}
	if err := printBatches(ctx, w, h, runs); err != nil {
		return err
	}
	result := finished(ctx, h, runs, standings)
	news := "done"
	if result != nil {
		news = result.Error()
	}
	if err := h.NotifyBatches(ctx, runs, f.notify, news); err != nil {
		fmt.Fprintln(w.Stderr, "assay:", err)
	}
	return result
}

// finished is an error where runs have come to their end without all answers.
func finished(ctx context.Context, h *home, runs []store.Run, standings []engine.Standing) error {
	if err := stuck(ctx, h, runs, standings); err != nil {
		return err
	}
	for _, r := range runs {
		run, err := h.Ledger.Reader.Run(ctx, r.No)
		if err != nil {
			return err
		}
		switch {
		case run.State != store.RunClosed:
			return &exitError{code: exitIncomplete, err: fmt.Errorf("batch %s goes on", run.ID), hint: "assay batch resume " + run.ID}
		case run.Result != store.ResultDone:
			return &exitError{code: exitIncomplete, err: fmt.Errorf("batch %s is done, but %s", run.ID, run.Result),
				hint: "assay batch errors " + run.ID + " says why, assay batch retry " + run.ID + " sends them again"}
		}
	}
	return nil
}

// orderBatch gives an order for a batch; what can be done of it now is done.
func orderBatch(ctx context.Context, w *World, h *home, run store.Run, o store.Order) error {
	if err := give(ctx, h, run, o); err != nil {
		return err
	}
	_, err := driveFor(ctx, w, h, run, 0, once)
	return err
}
