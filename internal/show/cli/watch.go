package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/keep/store"
)

func watchCommand(w *World) *cobra.Command {
	var f homeFlags
	var interval time.Duration
	c := &cobra.Command{
		Use:     "watch [RUN…]",
		GroupID: groupLook,
		Short:   "Show the progress of runs until they are closed; `assay resume` drives them",
		RunE: func(c *cobra.Command, args []string) error {
			if interval <= 0 {
				return usage("such as 2s", "--interval: want a time above 0")
			}
			h, runs, err := f.findAll(c.Context(), w, args)
			if err != nil {
				return err
			}
			defer h.Close()
			return watch(c.Context(), w, h, runs, interval)
		},
	}
	f.register(c)
	c.Flags().DurationVar(&interval, "interval", 2*time.Second, "between two looks")
	return c
}

// findAll finds runs that are in one home.
func (f homeFlags) findAll(ctx context.Context, w *World, refs []string) (*home, []store.Run, error) {
	h, run, err := f.find(ctx, w, firstOf(refs))
	if err != nil {
		return nil, nil, err
	}
	runs := []store.Run{run}
	for _, ref := range refs[min(1, len(refs)):] {
		other, run, err := f.find(ctx, w, ref)
		if err == nil {
			other.Close()
			if other.Rehearsal != h.Rehearsal {
				err = usage("watch it on its own", "run %s is in another ledger: rehearsals have their own", run.ID)
			}
		}
		if err != nil {
			h.Close()
			return nil, nil, err
		}
		runs = append(runs, run)
	}
	return h, runs, nil
}

// watch shows every change of runs, from the ledger alone.
func watch(ctx context.Context, w *World, h *home, runs []store.Run, interval time.Duration) error {
	p, err := newProgress(ctx, w, h, runs...)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		if err := p.show(ctx); err != nil {
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
		if err := w.clock().Sleep(ctx, interval); err != nil {
			return err
		}
	}
	if err := p.close(); err != nil {
		return err
	}
	for _, run := range runs {
		if err := printStatus(ctx, w, h, run, statusDetail{}); err != nil {
			return err
		}
	}
	return nil
}
