package cli

import (
	"time"

	"github.com/spf13/cobra"
)

func batchResumeCommand(w *World) *cobra.Command {
	var home homeFlags
	var f watchFlags
	var now bool
	c := &cobra.Command{
		Use:   "resume [BATCH…]",
		Short: "Drive batches to their end",
		Long:  "Looks at the jobs again and again, fetches what is done, and sends again what failed without an answer, until all has come to an end.\nCtrl-C leaves the jobs alone; resume again to go on. With --once it does what can be done now and stops, for cron.",
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
			if now {
				f.until = once
			}
			return watchBatches(ctx, w, h, runs, f)
		},
	}
	home.register(c)
	c.Flags().DurationVar(&f.interval, "interval", 5*time.Minute, "between two looks at a job")
	c.Flags().BoolVar(&now, "once", false, "do what can be done now, then stop")
	c.Flags().StringArrayVar(&f.notify, "notify", nil, "where to send the news at the end, as a notification URL or ${VARIABLE}")
	return c
}

func batchWatchCommand(w *World) *cobra.Command {
	var home homeFlags
	var interval time.Duration
	c := &cobra.Command{
		Use:   "watch [BATCH…]",
		Short: "Show the progress of batches until they have ended; `assay batch resume` drives them",
		RunE: func(c *cobra.Command, args []string) error {
			if interval <= 0 {
				return usage("such as 2s", "--interval: want a time above 0")
			}
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
			return watch(ctx, w, h, runs, interval)
		},
	}
	home.register(c)
	c.Flags().DurationVar(&interval, "interval", 2*time.Second, "between two looks")
	return c
}
