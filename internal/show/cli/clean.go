package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/inventory"
	"assay/internal/keep/store"
	"assay/internal/send/engine/runs"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
)

type cleanFlags struct {
	home   shell.HomeFlags
	remote bool
	yes    bool
	check  bool
	hash   bool
}

func cleanCommand(w *shell.World) *cobra.Command {
	var f cleanFlags
	c := &cobra.Command{
		Use:     "clean [RUN]",
		GroupID: shell.GroupTools,
		Short:   "Pack the files of a run; with --remote delete what its jobs left at the providers",
		Long: "Packs the raw bytes of a closed run (zstd, each line still readable by its offset) and prints how much space that freed. " +
			"A run is packed when it\n" +
			"closes; this does it for one that could not be. Nothing that was paid for is deleted here, ever.\n" +
			"Pictures and other files that no run shows any more go.\n\n" +
			"--remote deletes what the run's jobs left at their providers, uploaded and result files, where every result is here: not of " +
			"jobs that are\n" +
			"under way, and not while results may still come late. `cleanup: true` in a study does so by itself (the default for " +
			tidyVendors() + ").\n" +
			"Uploaded pictures and documents go, too, once nothing is under way there.\n\n" +
			"--check compares the folder or bucket of artifacts with the ledger, of one run or of all, and deletes nothing: it names " +
			"artifacts that are\n" +
			"missing or damaged, and those that the ledger does not know. --hash reads all their bytes and compares the SHA-256.",
		Args: shell.UpTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.hash && !f.check:
				return shell.Usage("add --check", "--hash belongs to --check")
			case f.check && f.remote:
				return shell.Usage("leave one of them out", "--check deletes nothing, and --remote does")
			case f.check:
				return checkArtifacts(c.Context(), w, args, f)
			}
			return clean(c.Context(), w, shell.FirstOf(args), f)
		},
	}
	f.home.Register(c)
	c.Flags().BoolVar(&f.remote, "remote", false, "delete what the jobs left at the providers")
	c.Flags().BoolVar(&f.check, "check", false, "compare artifacts and ledger, and delete nothing; without RUN of all runs")
	c.Flags().BoolVar(&f.hash, "hash", false, "with --check: read all bytes, and compare their SHA-256")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "delete without asking")
	return c
}

// tidyVendors names the vendors whose files are deleted there unless a study says no.
func tidyVendors() string {
	var names []string
	for _, v := range catalog.Default().Vendors() {
		if v.Limits.Tidy {
			names = append(names, v.Name)
		}
	}
	return strings.Join(names, ", ")
}

func clean(ctx context.Context, w *shell.World, ref string, f cleanFlags) error {
	h, run, err := f.home.FindRun(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	if f.remote {
		fmt.Fprintf(w.Stderr,
			"What the jobs of run %s left at their providers is deleted there, for good; what came from them stays here.\n", run.ID)
		if err := (shell.Doubt{Question: "Delete?", Verb: "delete", Declined: "nothing was removed"}).Ask(w, f.yes); err != nil {
			return err
		}
	}
	s, err := h.Planner.Study(ctx, run)
	if err != nil {
		return err
	}
	e, err := h.Engine(ctx, run, s)
	if err != nil {
		return err
	}
	defer e.Close()
	if _, err := h.ReleaseEnded(ctx, run); err != nil { // a process that was killed is at work on nothing
		return err
	}
	done, err := e.Clean(ctx, run.No, runs.Remote(f.remote))
	var held *store.HeldError
	if errors.As(err, &held) {
		return &shell.ExitError{Code: shell.ExitFailed, Err: fmt.Errorf("%s is at work on run %s", held.Holder, run.ID),
			Hint: "try again when it is done"}
	}
	if err != nil {
		return err
	}
	if err := cleanShown(ctx, w, h); err != nil {
		return err
	}
	return printCleaned(w, run, done, f)
}

// cleanShown removes files that requests showed and that no run shows any more: a run that was given up while it was prepared leaves them.
// In a home with artifacts of runs that the ledger does not know nothing is removed: those may show them.
func cleanShown(ctx context.Context, w *shell.World, h *shell.Home) error {
	known, err := h.Ledger.Reader.Runs(ctx, "")
	if err != nil {
		return err
	}
	c := inventory.Check{Ledger: h.Ledger, Files: h.Files}
	if strange, err := c.Unknown(ctx, known); err != nil || len(strange) > 0 {
		return err
	}
	all, _, err := c.Shown(ctx, known)
	if err != nil {
		return err
	}
	n, bytes := 0, int64(0)
	for _, d := range all {
		if d.Kind != inventory.Extra {
			continue
		}
		if err := h.Files.Remove(ctx, d.Run, d.Name); err != nil {
			return err
		}
		n, bytes = n+1, bytes+d.Bytes
	}
	if n > 0 {
		fmt.Fprintf(w.Stdout, "%s that no run shows %s removed: %s freed\n", assay.Count(n, "file"), assay.Verb(n, "was", "were"),
			assay.Size(bytes))
	}
	return nil
}

func printCleaned(w *shell.World, run store.Run, done runs.Cleaned, f cleanFlags) error {
	switch {
	case done.Open:
		fmt.Fprintf(w.Stdout, "run %s is open: its %s are packed when it closes\n", run.ID, assay.Size(done.Before))
	default:
		fmt.Fprintf(w.Stdout, "run %s takes %s here; %s freed\n", run.ID, assay.Size(done.After), assay.Size(done.Before-done.After))
	}
	if !f.remote {
		return nil
	}
	fmt.Fprintf(w.Stdout, "%s cleaned at the providers\n", assay.Count(done.Removed, "segment"))
	if done.Uploads > 0 {
		fmt.Fprintf(w.Stdout, "%s that requests showed deleted there\n", assay.Count(done.Uploads, "file"))
	}
	for _, why := range done.Kept {
		fmt.Fprintln(w.Stdout, "kept:", why)
	}
	if len(done.Kept) > 0 {
		return &shell.ExitError{Code: shell.ExitIncomplete,
			Err: fmt.Errorf("%s kept at the providers", assay.Count(len(done.Kept), "segment"))}
	}
	return nil
}
