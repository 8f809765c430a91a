package state

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/workers"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
)

// printStranded names the segments, and lanes without any, that wait for a worker with their key.
func printStranded(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	all, err := workers.WaitingForKeys(ctx, h.Home, run)
	if err != nil || len(all) == 0 {
		return err
	}
	who := "worker"
	if run.Study == workspace.GatewayStudy {
		who = "gateway"
	}
	fmt.Fprintf(w.Stdout, "\nNo %s that is alive can go on with:\n", who)
	for _, k := range all {
		names, what := k.Lanes, "lane"
		if len(k.Segments) > 0 {
			names, what = nil, "segment"
		}
		for _, no := range k.Segments {
			names = append(names, fmt.Sprint(no))
		}
		fmt.Fprintf(w.Stdout, "  %s of %s (%s): %s\n", assay.Count(len(names), what), k.Provider, first(names), strandedHint(run, k, who))
	}
	return nil
}

// first joins the first of many names.
func first(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// printWaitingForProgram names the stages that wait for a worker which may run their programs.
func printWaitingForProgram(ctx context.Context, w *shell.World, h *shell.Home, run store.Run) error {
	stages, err := workers.WaitingForProgram(ctx, h.Home, run)
	if err != nil || len(stages) == 0 {
		return err
	}
	fmt.Fprintf(w.Stdout, "\nA program judges in %s, and no worker that is alive may run it: start `assay worker --programs`, or `assay "+
		"resume %s`, on a machine that has %s\n", strings.Join(stages, ", "), run.ID, run.Folder)
	return nil
}

// strandedHint returns what would take segments up.
func strandedHint(run store.Run, k workers.WaitingForKey, who string) string {
	which := k.Variable
	if which == "" {
		which = "a key of " + k.Provider
	}
	if k.Account != "" {
		which += " (the key with the fingerprint " + k.Account + ")"
	}
	start := "start `assay worker`"
	if who == "gateway" {
		start = "start `assay gateway`"
	}
	return start + ", or `assay resume " + run.ID + "`, where " + which + " is set"
}
