package cli

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/term"
)

// elsewhere looks for a job that this ledger did not make, at the provider that the flags name.
func elsewhere(ctx context.Context, w *World, id string, reach reachFlags) (batchrun.Foreign, error) {
	at, err := w.workspace().Resolver().Keyed(reach.asked())
	if err != nil {
		return batchrun.Foreign{}, err
	}
	return batchrun.Search(ctx, id, at, w.workspace().Dial)
}

// listElsewhere lists the jobs at the providers that this ledger did not make.
func listElsewhere(ctx context.Context, w *World, h *home, reach reachFlags) ([]runs.JobRow, error) {
	ours, err := h.Ledger.Reader.Jobs(ctx, 0)
	if err != nil {
		return nil, err
	}
	targets, err := w.workspace().Resolver().Keyed(reach.asked())
	if err != nil {
		return nil, err
	}
	var rows []runs.JobRow
	for _, t := range targets {
		found, err := batchrun.List(ctx, t, w.workspace().Dial, ours)
		if err != nil {
			fmt.Fprintf(w.Stderr, "%s: its jobs cannot be listed: %s\n", t.Name, err)
		}
		if found.More {
			fmt.Fprintf(w.Stderr, "%s: the newest %d jobs are shown\n", t.Name, batchrun.MaxListed)
		}
		for _, j := range found.Jobs {
			rows = append(rows, runs.JobRow{Provider: j.Provider, Job: j.ID, Study: j.File, Model: j.Model, State: j.Status, Role: "elsewhere", Reason: j.Note,
				Requests: j.Requests, Answered: j.Done - j.Failed, Failed: j.Failed, Created: j.Created})
		}
	}
	return rows, nil
}

// printJobs prints the jobs of batch files as the ledger knows them.
func printJobs(ctx context.Context, w *World, h *home, all ...store.Run) error {
	jobs, err := h.Batches().Jobs(ctx, all...)
	if err != nil {
		return err
	}
	return writeJobs(w, jobs)
}

func writeJobs(w *World, jobs []batchrun.Job) error {
	t := term.Table{Head: []string{"FILE", "PROVIDER", "MODEL", "JOB", "CREATED", "STATUS", "REQUESTS", "DONE", "FAILED", "NOTE"}, Right: map[int]bool{6: true, 7: true, 8: true}}
	for _, j := range jobs {
		reported, _ := runs.Reported(j.Segment)
		t.Add(j.File, j.Provider, j.Model, j.ID, shortMoment(&j.Created), j.Status, assay.Thousands(j.Requests), assay.Thousands(max(j.Done, reported)), assay.Thousands(j.Failed), j.Note)
	}
	return t.Write(w.Stdout)
}
