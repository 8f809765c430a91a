package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/backup"
	"assay/internal/send/origin"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/export/folder"
)

func backupCommand(w *shell.World) *cobra.Command {
	var f shell.HomeFlags
	c := &cobra.Command{
		Use:     "backup FILE",
		GroupID: shell.GroupTools,
		Short:   "Save the ledger and all raw bytes into one file, while runs go on",
		Long: "Saves a home into one file: the ledger as it is at one moment, with what has not been written back to its main file yet, " +
			"then the raw bytes\n" +
			"of all runs, each with its hash. Runs may go on meanwhile. A copy of ledger.db alone is no backup: what was written last is " +
			"in ledger.db-wal.\n\n" +
			"A ledger in PostgreSQL is saved with pg_dump, then its bucket; docs/machines.md says how.",
		Args: shell.UpTo("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return saveHome(c.Context(), w, f, shell.FirstOf(args)) },
	}
	f.Register(c)
	return c
}

func saveHome(ctx context.Context, w *shell.World, f shell.HomeFlags, name string) error {
	if name == "" {
		return shell.Usage("", "assay backup needs FILE")
	}
	if !f.HasHome(w, false) {
		return shell.Usage("--home names one", "there is no home of runs at %s", f.Dir(w.Workspace()))
	}
	h, err := f.OpenHome(ctx, w, false)
	if err != nil {
		return err
	}
	defer h.Close()
	if h.Ledger.Postgres() {
		return shell.Usage("docs/machines.md says how", "a ledger in PostgreSQL is saved with pg_dump, and then its artifacts")
	}
	at := h.Files.String()
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return shell.Usage("save the bucket with its own tools, after the ledger", "the artifacts are not in a folder: %s", at)
	}
	out, err := folder.NewFile(w.Disk.Path(name), folder.Keep)
	if err != nil {
		return shell.Usage("name another FILE", "write the backup: %s", err)
	}
	defer out.Abort()
	m, err := backup.Write(ctx, backup.Home{Snapshot: h.Ledger.Snapshot, Folder: at}, out, w.Now())
	if err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	size := int64(0)
	for _, e := range m.Entries {
		size += e.Size
	}
	fmt.Fprintf(w.Stderr, "%s saved in %s: the ledger and %s, %s\n", f.Dir(w.Workspace()), name,
		assay.Count(len(m.Entries)-1, "file"), assay.Size(size))
	return nil
}

func restoreCommand(w *shell.World) *cobra.Command {
	var home string
	c := &cobra.Command{
		Use:     "restore FILE",
		GroupID: shell.GroupTools,
		Short:   "Put a backup back: nothing is sent before the providers' jobs were compared with it",
		Long: "Puts a file of `assay backup` into a new home, after all of it was checked by its hashes. What was sent since " +
			"the backup is " +
			"not in it: so\n" +
			"open runs compare the jobs at their providers with the ledger before they send anything, and take over what those answer. " +
			"Live answers\n" +
			"since then cannot be recovered.",
		Args: shell.UpTo("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return putBack(c.Context(), w, home, shell.FirstOf(args)) },
	}
	c.Flags().StringVar(&home, "home", "", "folder of ledger and artifacts, which must be empty or not be there (default: assay-data here "+
		"or above; ASSAY_HOME)")
	return c
}

func putBack(ctx context.Context, w *shell.World, home, name string) error {
	if name == "" {
		return shell.Usage("", "assay restore needs FILE")
	}
	place := workspace.Place{Home: home}
	dir := place.Dir(w.Workspace())
	in, err := os.Open(w.Disk.Path(name))
	if err != nil {
		return shell.Usage("FILE is what assay backup wrote", "read the backup %s: %s", name, assay.FileReason(err))
	}
	defer in.Close()
	m, err := backup.Restore(ctx, in, dir)
	switch {
	case errors.Is(err, fs.ErrExist):
		return shell.Usage("move it away, or name another folder with --home", "put the backup back: %s", err)
	case errors.Is(err, backup.ErrDamaged):
		return shell.Usage("nothing was put back; FILE is what assay backup wrote", "put %s back: %s", filepath.Base(name), err)
	case err != nil:
		return err
	}
	h, err := place.Open(ctx, w.Workspace(), false)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := origin.OweAll(ctx, h.Ledger, "it was put back from a backup of "+m.Made.Local().Format(time.DateTime)); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "put back into %s: the ledger and %s, as of %s\n", dir, assay.Count(len(m.Entries)-1, "file"),
		m.Made.Local().Format(time.DateTime))
	fmt.Fprintln(w.Stderr, "`assay resume --all` compares the jobs at the providers with it before it sends anything")
	return nil
}
