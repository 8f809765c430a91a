package state

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/keep/store"
	"assay/internal/show/cli/progress"
	"assay/internal/show/cli/shell"
)

// Watch makes the command `assay watch`.
func Watch(w *shell.World) *cobra.Command {
	var f shell.HomeFlags
	var interval time.Duration
	c := &cobra.Command{
		Use:     "watch [RUN…]",
		GroupID: shell.GroupLook,
		Short:   "Show the progress of runs until they are closed; `assay resume` drives them",
		RunE: func(c *cobra.Command, args []string) error {
			if interval <= 0 {
				return shell.Usage("such as 2s", "--interval: want a time above 0")
			}
			h, runs, err := f.FindAll(c.Context(), w, args)
			if err != nil {
				return err
			}
			defer h.Close()
			return watch(c.Context(), w, h, runs, interval)
		},
	}
	f.Register(c)
	c.Flags().DurationVar(&interval, "interval", 2*time.Second, "between two looks")
	return c
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
