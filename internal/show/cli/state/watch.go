package state

import (
	"context"
	"time"

	"assay/internal/keep/store"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
)

// watchAll shows the progress of runs until they are closed, and then their state.
func (f statusFlags) watchAll(ctx context.Context, w *shell.World, args []string) error {
	if f.interval <= 0 {
		return shell.Usage("such as 2s", "--interval: want a time above 0")
	}
	h, runs, err := f.home.FindAll(ctx, w, args)
	if err != nil {
		return err
	}
	defer h.Close()
	return watch(ctx, w, h, runs, f.interval)
}

// watch shows every change of runs, from the ledger alone.
func watch(ctx context.Context, w *shell.World, h *shell.Home, runs []store.Run, interval time.Duration) error {
	p, err := progress.NewProgress(ctx, w, h, runs...)
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		if err := p.Show(ctx); err != nil {
			return err
		}
		open := 0
		for i, run := range runs {
			if runs[i], err = h.Ledger.Reader.Run(ctx, run.No); err != nil {
				return err
			}
			if runs[i].State != store.RunClosed {
				open++
			}
		}
		if open == 0 {
			break
		}
		if err := w.Clock().Sleep(ctx, interval); err != nil {
			return err
		}
	}
	if err := p.Close(); err != nil {
		return err
	}
	for _, run := range runs {
		if err := PrintStatus(ctx, w, h, run, StatusDetail{}); err != nil {
			return err
		}
	}
	return nil
}
