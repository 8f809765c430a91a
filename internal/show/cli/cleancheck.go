package cli

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/inventory"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/cli/shell"
)

// checkArtifacts prints how the artifacts of a run, or of all, differ from what the ledger knows.
func checkArtifacts(ctx context.Context, w *shell.World, args []string, f cleanFlags) error {
	var h *shell.Home
	var runs []store.Run
	var err error
	if len(args) > 0 {
		var run store.Run
		h, run, err = f.home.FindRun(ctx, w, args[0])
		runs = []store.Run{run}
	} else if h, err = f.home.OpenHome(ctx, w, false); err == nil {
		runs, err = h.Ledger.Reader.Runs(ctx, "")
	}
	if h != nil {
		defer h.Close()
	}
	if err != nil {
		return err
	}
	c := inventory.Check{Ledger: h.Ledger, Files: h.Files, Hash: f.hash, Others: batchrun.Kept}
	var sum inventory.Sum
	var all []inventory.Difference
	found := func(more []inventory.Difference, of inventory.Sum, err error) error {
		for _, d := range more {
			fmt.Fprintln(w.Stdout, differenceLine(d))
		}
		all = append(all, more...)
		sum.Runs, sum.Artifacts, sum.Bytes = sum.Runs+of.Runs, sum.Artifacts+of.Artifacts, sum.Bytes+of.Bytes
		return err
	}
	for _, run := range runs {
		if err := found(c.Run(ctx, run)); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		for _, shelf := range []func() ([]inventory.Difference, inventory.Sum, error){
			func() ([]inventory.Difference, inventory.Sum, error) { return c.Clients(ctx) },
			func() ([]inventory.Difference, inventory.Sum, error) { return c.Shown(ctx, runs) },
		} {
			more, of, err := shelf()
			of.Runs = 0
			if err := found(more, of, err); err != nil {
				return err
			}
		}
		more, err := c.Unknown(ctx, runs)
		if err := found(more, inventory.Sum{}, err); err != nil {
			return err
		}
	}
	return checked(w, h, all, sum, f)
}

func differenceLine(d inventory.Difference) string {
	name := "run " + d.Run + ", all of it"
	switch {
	case slices.Contains(artifacts.Shelves(), d.Run):
		name = d.Run + "/" + d.Name
	case d.Name != "":
		name = "run " + d.Run + ", " + d.Name
	}
	return fmt.Sprintf("%-10s %s (%s): %s", d.Kind, name, assay.Size(d.Bytes), d.Why)
}

// checked prints the sum. Artifacts that are missing or damaged make the exit code that of something incomplete.
func checked(w *shell.World, h *shell.Home, all []inventory.Difference, sum inventory.Sum, f cleanFlags) error {
	n := map[inventory.Kind]int{}
	for _, d := range all {
		n[d.Kind]++
	}
	how := "by name and size (--hash compares their bytes)"
	if f.hash {
		how = "by name, size and SHA-256"
	}
	fmt.Fprintf(w.Stdout, "%s of %s in %s, %s, compared %s: %d missing, %d damaged, %d extra, %d unfinished\n",
		assay.Count(sum.Artifacts, "artifact"), assay.Count(sum.Runs, "run"), h.Files, assay.Size(sum.Bytes), how,
		n[inventory.Missing], n[inventory.Damaged], n[inventory.Extra], n[inventory.Unfinished])
	if bad := n[inventory.Missing] + n[inventory.Damaged]; bad > 0 {
		return &shell.ExitError{Code: shell.ExitIncomplete, Err: fmt.Errorf("%s missing or damaged", assay.Count(bad, "artifact")),
			Hint: "verdicts and results in the ledger stay; put the artifacts back from a copy, or `assay resume` makes or fetches again " +
				"what an open run still needs"}
	}
	return nil
}
