package cli

import (
	"time"

	"github.com/spf13/cobra"
)

func batchWatchCommand(w *World) *cobra.Command {
	var home homeFlags
	var f watchFlags
	c := &cobra.Command{
		Use:   "watch [BATCH…]",
		Short: "Stay with batches until everything is back",
		Long:  "Looks at the jobs again and again, fetches what is done, and sends again what failed without an answer, until all has come to an end.\nCtrl-C leaves the jobs alone; watch again to go on.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := home.open(ctx, w, false)
			if err != nil {
				return err
			}
			defer h.Close()
			runs, err := ownBatches(ctx, w, h, args, reachFlags{}, "assay batch status looks at it, assay batch collect fetches it", "")
			if err != nil {
				return err
			}
			return watchBatches(ctx, w, h, runs, f)
		},
	}
	home.register(c)
	c.Flags().DurationVar(&f.interval, "interval", 5*time.Minute, "between two looks at a job")
	c.Flags().StringArrayVar(&f.notify, "notify", nil, "where to send the news at the end, as a notification URL or ${VARIABLE}")
	return c
}
