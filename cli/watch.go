package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"assay/store"
)

func watchCommand(w *World) *cobra.Command {
	var f homeFlags
	var interval time.Duration
	c := &cobra.Command{
		Use:     "watch [RUN]",
		GroupID: groupLook,
		Short:   "Look at a run until it is closed; `resume` drives it",
		Args:    upTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			h, run, err := f.find(c.Context(), w, firstOf(args))
			if err != nil {
				return err
			}
			defer h.Close()
			return watch(c.Context(), w, h, run, interval)
		},
	}
	f.register(c)
	c.Flags().DurationVar(&interval, "interval", 2*time.Second, "between two looks")
	return c
}

// watch tells every change of a run, from the ledger alone.
func watch(ctx context.Context, w *World, h *home, run store.Run, interval time.Duration) error {
	p, err := newProgress(ctx, w, h, run)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		if err := p.show(ctx); err != nil {
			return err
		}
		now, err := h.ledger.Run(ctx, run.No)
		if err != nil {
			return err
		}
		if now.State == store.RunClosed {
			if err := p.close(); err != nil {
				return err
			}
			return printStatus(ctx, w, h, now, false)
		}
		if err := w.clock().Sleep(ctx, interval); err != nil {
			return err
		}
	}
}
