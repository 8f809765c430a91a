package cli

import (
	"context"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/term"
)

type statusBatchFlags struct {
	reach   reachFlags
	home    homeFlags
	json    bool
	refresh bool
	offline bool // of `list`
	rehears bool
}

func batchStatusCommand(w *World) *cobra.Command {
	var f statusBatchFlags
	c := &cobra.Command{
		Use:   "status [BATCH…]",
		Short: "Print the state of batches",
		Long:  "Prints how batches stand: those named, else all that are open, from the ledger alone; --refresh asks the providers first. A job that was made elsewhere is looked for with the keys that are set.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			h, err := f.home.open(ctx, w, f.rehears)
			if err != nil {
				return err
			}
			defer h.Close()
			refs, err := findBatches(ctx, w, h, args, f.reach)
			if err != nil {
				return err
			}
			jobs, err := h.Batches().Jobs(ctx, refs.runs...)
			if err != nil {
				return err
			}
			for _, j := range refs.foreign {
				jobs = append(jobs, j.Row())
			}
			if f.refresh && !h.Rehearsal {
				h.RefreshJobs(ctx, refs.runs, jobs)
			}
			return f.print(w, h, jobs)
		},
	}
	f.reach.registerPlace(c, "where to look for a job that was made elsewhere")
	f.home.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&f.refresh, "refresh", false, "ask the providers first where open jobs stand; nothing is sent or fetched")
	c.Flags().BoolVar(&f.rehears, "rehearsal", false, "look at the rehearsals")
	return c
}

// tracking is the list of batches for programs.
type tracking struct {
	Batches []batchrun.Job `json:"batches"`
}

func (f statusBatchFlags) print(w *World, h *home, jobs []batchrun.Job) error {
	if f.json {
		return term.WriteJSON(w.Stdout, tracking{jobs})
	}
	return writeJobs(w, h, jobs)
}

// printBatches prints the jobs of runs as the ledger knows them.
func printBatches(ctx context.Context, w *World, h *home, runs []store.Run) error {
	jobs, err := h.Batches().Jobs(ctx, runs...)
	if err != nil {
		return err
	}
	return writeJobs(w, h, jobs)
}

func writeJobs(w *World, h *home, jobs []batchrun.Job) error {
	h.watermark(w)
	t := term.Table{Head: []string{"BATCH", "FILE", "PROVIDER", "MODEL", "JOB", "CREATED", "STATUS", "REQUESTS", "DONE", "FAILED", "NOTE"}, Right: map[int]bool{7: true, 8: true, 9: true}}
	for _, j := range jobs {
		t.Add(j.Run, j.File, j.Provider, j.Model, j.ID, j.Created, j.Status, assay.Thousands(j.Requests), assay.Thousands(j.Done), assay.Thousands(j.Failed), j.Note)
	}
	return t.Write(w.Stdout)
}
